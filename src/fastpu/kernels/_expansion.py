"""Functions that are a weighted sum of kernels between a row and some of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastpu import _core
from fastpu.common._params import forced_isa
from fastpu.data._validate import is_rising
from fastpu.kernels._kernels import (
    Kernel,
    call_kernel,
    check_csr,
    check_dense,
    check_kernel_fields,
    check_scored_rows,
    convert_rows,
    row_blocks,
    row_dtype,
    score_rows,
    slice_rows,
    user_rows,
    value_dtype,
)
from fastpu.model._model import Model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fastpu.kernels._kernels import Native

__all__ = ["KernelExpansion", "linear_scores"]

_AT_ONCE = 8  # linear models that score a block of rows together
_VECTOR_KERNELS = ("poly", "rbf", "sigmoid", "callable")  # those that score with support vectors


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KernelExpansion(Model, is_base=True):
    """f(x) = sum_s dual_coef[s] K(support vector s, x) + intercept; `predict` says +1 where f(x) > 0.

    Attributes
    ----------
    support : ndarray of int64, shape (n_support,)
        Numbers of the support vectors among the rows of the training `X`, ascending.
    dual_coef : ndarray of float64, shape (n_support,)
        Their factors.
    intercept : float
    kernel : str
        "linear", "poly", "rbf", "sigmoid", "precomputed" or "callable".
    gamma : float, or None
        The number that was used, whatever `gamma` was given as; None where the kernel has none.
    degree : int
    coef0 : float
    coef : ndarray of float64, shape (n_features,), or None
        For the linear kernel: f(x) = coef'x + intercept, and no support vectors are kept.
    support_vectors : ndarray, SciPy CSR array or None
        The rows `support` of the training `X`; None for a linear and a precomputed kernel.
    support_dense, support_data, support_indices, support_indptr : ndarray or None
        The arrays that `support_vectors` is made of: the first for dense rows, the others for CSR.
    function : callable or None
        The user's kernel. A model with one can be pickled if the function can, but not saved.

    Notes
    -----
    With ``kernel="precomputed"``, `decision_function` and `predict` take K(x, training row) for every training row,
    shape (n, number of training rows); only the columns `support` matter. With a function of the user's, rows are
    passed to it in blocks, in the form (dense or CSR) of the training rows.

    Scoring n rows of d features costs O(n n_support d), or O(n d) with the linear kernel. A matrix of another form or
    dtype than the training rows is converted in blocks of a few MiB.
    """

    support: NDArray[np.int64]
    dual_coef: NDArray[np.float64]
    intercept: float
    kernel: str
    gamma: float | None
    degree: int
    coef0: float
    coef: NDArray[np.float64] | None = None
    support_dense: NDArray[np.float32] | NDArray[np.float64] | None = None
    support_data: NDArray[np.float32] | NDArray[np.float64] | None = None
    support_indices: NDArray[np.int32] | None = None
    support_indptr: NDArray[np.int64] | None = None
    function: Callable[..., Any] | None = None

    _ndim: ClassVar[Mapping[str, int]] = {"support_dense": 2}

    # ------------------------------------------------------------------------------------------- the fields

    def _check_fields(self) -> None:
        n_support = self.support.size
        if self.dual_coef.size != n_support:
            raise ValueError(f"a model of {n_support} support vectors must have as many entries in dual_coef")
        if n_support and (self.support[0] < 0 or not is_rising(self.support, strictly=True)):
            raise ValueError("support must hold ascending row numbers")
        if not np.isfinite(self.dual_coef).all():
            raise ValueError("dual_coef must be finite")
        if not np.isfinite(self.intercept):
            raise ValueError(f"intercept must be finite, got {self.intercept}")
        check_kernel_fields(Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.function))
        self._check_coef()
        self._check_vectors()

    def _check_coef(self) -> None:
        if (self.kernel == "linear") != (self.coef is not None):
            raise ValueError("coef must be there for the kernel 'linear', and for no other")
        if self.coef is not None and (self.coef.size != self.n_features or not np.isfinite(self.coef).all()):
            raise ValueError(f"coef must have {self.n_features} finite entries")
        if self.kernel == "precomputed" and self.support.size and self.support[-1] >= self.n_features:
            raise ValueError(f"support must be < {self.n_features}, the number of training rows")

    def _check_vectors(self) -> None:
        csr = (self.support_data, self.support_indices, self.support_indptr)
        n_forms = (self.support_dense is not None) + all(array is not None for array in csr)
        n_arrays = (self.support_dense is not None) + sum(array is not None for array in csr)
        if n_forms != (self.kernel in _VECTOR_KERNELS) or n_arrays not in {0, 1, 3}:
            raise ValueError(f"support vectors must be there in one form for the kernels {', '.join(_VECTOR_KERNELS)}")
        shape = (self.support.size, self.n_features)
        if self.support_dense is not None:
            check_dense(self.support_dense, shape, "support")
        data, indices, indptr = csr
        if data is not None and indices is not None and indptr is not None:
            check_csr(data, indices, indptr, shape, "support")

    @property
    def support_vectors(self) -> Any:
        """The rows `support` of the training data: an ndarray, a SciPy CSR array, or None where none are kept."""
        return None if self.kernel not in _VECTOR_KERNELS else user_rows(self._vectors())

    def _vectors(self) -> Native:
        if self.support_dense is not None:
            return self.support_dense
        csr: Any = (self.support_data, self.support_indices, self.support_indptr)
        return (*csr, (self.support.size, self.n_features))

    # ---------------------------------------------------------------------------------------------- scoring

    def _check_input(self, X: object, name: str) -> Any:
        if self.kernel != "precomputed":
            return super()._check_input(X, name)
        return check_scored_rows(X, name, n_features=self.n_features, feature_names=self.feature_names)

    def _decision_function(self, matrix: Any, n_threads: int) -> NDArray[np.float64]:
        native = matrix.native
        with np.errstate(over="ignore", invalid="ignore"):
            if self.coef is not None:
                scores = self._linear_scores(native, self.coef, n_threads)
            elif not self.support.size:
                scores = np.full(matrix.n_rows, self.intercept)
            elif self.function is not None:
                scores = self._scores_by_function(native, self.function)
            elif self.kernel == "precomputed":
                columns: NDArray[np.float64] = np.zeros(self.n_features)
                columns[self.support] = self.dual_coef
                scores = self._linear_scores(native, columns, n_threads)
            else:
                scores = self._scores_by_kernel(native, n_threads)
        if np.isnan(scores).any():
            row = int(np.argmax(np.isnan(scores)))
            raise ValueError(f"X has entries so large that kernel values overflow {matrix.dtype}, first in row {row}")
        return scores

    def _linear_scores(self, native: Native, coef: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
        return linear_scores(native, coef[None, :], np.array([self.intercept]), n_threads)[:, 0]

    def _scores_by_kernel(self, native: Native, n_threads: int) -> NDArray[np.float64]:
        vectors = self._vectors()
        sparse = isinstance(native, tuple) or isinstance(vectors, tuple)
        dtype = value_dtype(self.kernel, np.result_type(row_dtype(native), row_dtype(vectors)))
        vectors = convert_rows(vectors, dtype, sparse=sparse)
        coefs, intercepts = self.dual_coef[:, None], np.array([self.intercept])
        isa = forced_isa(_core.isa_levels())

        def score(rows: Native) -> NDArray[np.float64]:
            return _core.kernel_scores(
                vectors,
                rows,
                coefs,
                intercepts,
                kernel=self.kernel,
                gamma=1.0 if self.gamma is None else self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                n_threads=n_threads,
                isa=isa,
            )

        return score_rows(native, dtype, score, sparse=sparse)[:, 0]

    def _scores_by_function(self, native: Native, function: Callable[..., Any]) -> NDArray[np.float64]:
        vectors = self._vectors()
        support = user_rows(vectors)
        scores: NDArray[np.float64] = np.empty(_n_rows(native))
        for rows in row_blocks(native, self.support.size):
            block = convert_rows(slice_rows(native, rows), row_dtype(native), sparse=isinstance(vectors, tuple))
            if isinstance(block, np.ndarray):
                block = block.view()
                block.flags.writeable = False  # it may be the caller's own matrix
            values = call_kernel(function, user_rows(block), support)
            scores[rows] = np.einsum("ij,j->i", values, self.dual_coef) + self.intercept
        return scores


def _n_rows(native: Native) -> int:
    return native[3][0] if isinstance(native, tuple) else len(native)


def linear_scores(
    native: Native, coefs: NDArray[np.float64], intercepts: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]:
    """Return x'coefs[m] + intercepts[m] for each row x and model m, in float64.

    The same bits for every number of threads, and for every number of models.
    """
    scores: NDArray[np.float64] = np.empty((_n_rows(native), len(coefs)))
    isa = forced_isa(_core.isa_levels())
    for first in range(0, len(coefs), _AT_ONCE):
        models = slice(first, first + _AT_ONCE)
        scores[:, models] = _few_linear_scores(native, coefs[models], intercepts[models], n_threads, isa)
    return scores


def _few_linear_scores(
    native: Native, coefs: NDArray[np.float64], intercepts: NDArray[np.float64], n_threads: int, isa: str
) -> NDArray[np.float64]:
    if isinstance(native, tuple):
        columns = np.ascontiguousarray(coefs.T)
        scores: NDArray[np.float64] = np.empty((_n_rows(native), len(coefs)))
        for rows in row_blocks(native):
            scores[rows] = user_rows(slice_rows(native, rows)) @ columns + intercepts
        return scores

    def score(rows: Native) -> NDArray[np.float64]:
        # The coefficients are the support vectors, each of a model of its own.
        return _core.kernel_scores(
            coefs,
            rows,
            np.eye(len(coefs)),
            intercepts,
            kernel="linear",
            gamma=1.0,
            degree=1,
            coef0=0.0,
            n_threads=n_threads,
            isa=isa,
        )

    return score_rows(native, np.dtype(np.float64), score, sparse=False)
