"""What arguments of public functions may be, in words that an editor shows and a type checker tests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray


class SparseLike(Protocol):
    """A SciPy sparse matrix or array. CSR is used as it is, other formats are converted."""

    def tocsr(self) -> Any: ...


class TableLike(Protocol):
    """A frame or table of any library (pandas, polars, pyarrow, narwhals), or binned features: it has a shape."""

    @property
    def shape(self) -> Any: ...


#: Rows of features: an array or nested sequence of shape (n, d), a SciPy sparse matrix, a frame, or binned features.
MatrixLike: TypeAlias = ArrayLike | SparseLike | TableLike

#: One label a row: an array, a sequence, or a column of a frame.
LabelsLike: TypeAlias = ArrayLike | Sequence[Any] | TableLike

#: One number a row: an array, a sequence, or a column of a frame.
VectorLike: TypeAlias = ArrayLike | TableLike

#: One name of a group a row: numbers, strings, or anything else that can be compared for equality.
GroupsLike: TypeAlias = ArrayLike | Sequence[Hashable] | TableLike

#: A seed, a generator that is drawn from, or None for fresh random numbers.
RandomState: TypeAlias = int | np.random.Generator | None

#: How the labelled and the unlabelled rows were drawn, which says what a prior is a share of.
Scenario: TypeAlias = Literal["case_control", "single_set"]

#: The kernels that are known by a name.
KernelName: TypeAlias = Literal["linear", "poly", "rbf", "sigmoid", "precomputed"]

#: A kernel of your own: it takes two matrices of rows, A and B, and returns a matrix of shape (len(A), len(B)).
KernelFunction: TypeAlias = Callable[[Any, Any], ArrayLike | SparseLike]

#: A kernel: one of the names, or a function.
KernelLike: TypeAlias = KernelName | KernelFunction

#: The width of a kernel: a number > 0, or the rule that computes it from `X`.
GammaLike: TypeAlias = float | Literal["scale", "auto"]


class ScoresRows(Protocol):
    """A fitted model of any library that gives each row a score."""

    def decision_function(self, X: Any, /) -> Any: ...


class EstimatorLike(Protocol):
    """A classifier of scikit-learn's kind, which is cloned before it is fitted."""

    def fit(self, X: Any, y: Any, /) -> Any: ...


class Splitter(Protocol):
    """A splitter of scikit-learn's kind, such as `StratifiedKFold(5)`."""

    def split(self, X: Any, y: Any = None, groups: Any = None, /) -> Iterable[Any]: ...


#: Columns: one of them or several, by their names or numbers, a slice, or a mask with an entry for each column.
ColumnsLike: TypeAlias = str | int | slice | Sequence[str | int] | NDArray[Any]

#: Folds: their number, a pair (training rows, held-out rows) for each of them, or a splitter.
FoldsLike: TypeAlias = int | Sequence[tuple[ArrayLike, ArrayLike]] | Splitter

_RoundT = TypeVar("_RoundT")

#: What a fit calls after each round: it takes the record of that round, and True ends the fit.
RoundCallback: TypeAlias = Callable[[_RoundT], bool | None]
