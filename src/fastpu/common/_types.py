"""What arguments of public functions may be, in words that an editor shows and a type checker tests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike


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

_RoundT = TypeVar("_RoundT")

#: What a fit calls after each round: it takes the record of that round, and True ends the fit.
RoundCallback: TypeAlias = Callable[[_RoundT], bool | None]
