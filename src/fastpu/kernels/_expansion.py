"""Models with a kernel, and functions that are a weighted sum of kernels between a row and some training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._types import KernelFunction
from fastpu.data._kept_rows import check_kept_rows, kept_rows
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._validate import check_matrix, is_rising
from fastpu.kernels._kernel import Kernel, value_dtype
from fastpu.kernels._kernel_values import kernel_values
from fastpu.model._block_scores import score_rows
from fastpu.model._model import Model

_VECTOR_KERNELS = ("poly", "rbf", "sigmoid", "callable")  # kernels that need the support vectors for scores


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KernelModel(Model, is_base=True):
    """A model with a kernel; see `KernelMachine` for what the fields mean."""

    kernel: str
    gamma: float | None
    degree: int
    coef0: float
    function: KernelFunction | None = None

    @property
    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.function)

    def _check_fields(self) -> None:
        self._kernel.check()

    def _check_input(self, X: object, name: str) -> Any:
        if self.kernel != "precomputed":
            return super()._check_input(X, name)
        matrix = check_matrix(X, name=name, sparse=False, feature_names=self.feature_names, may_be_empty=True)
        if matrix.n_features != self.n_features:
            raise ValueError(
                f"{name} must have a column for each of the {self.n_features} training rows for the precomputed "
                f"kernel, K(x, training row), got {matrix.n_features}"
            )
        return matrix


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KernelExpansion(KernelModel, is_base=True):
    """f(x) = sum_s dual_coef[s] K(support vector s, x) + intercept; see `KernelMachine` for what the fields mean."""

    support: NDArray[np.int64]
    dual_coef: NDArray[np.float64]
    intercept: float
    coef: NDArray[np.float64] | None = None
    support_dense: NDArray[np.float32] | NDArray[np.float64] | None = None
    support_data: NDArray[np.float32] | NDArray[np.float64] | None = None
    support_indices: NDArray[np.int32] | None = None
    support_indptr: NDArray[np.int64] | None = None

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
        super()._check_fields()
        if (self.kernel == "linear") != (self.coef is not None):
            raise ValueError("coef must be there for the kernel 'linear', and for no other")
        if self.coef is not None and (self.coef.size != self.n_features or not np.isfinite(self.coef).all()):
            raise ValueError(f"coef must have {self.n_features} finite entries")
        if self.kernel == "precomputed" and self.support.size and self.support[-1] >= self.n_features:
            raise ValueError(f"support must be < {self.n_features}, the number of training rows")
        check_kept_rows(
            self,
            "support",
            (self.support.size, self.n_features),
            wanted=self.kernel in _VECTOR_KERNELS,
            otherwise=f"support vectors must be there in one form for the kernels {', '.join(_VECTOR_KERNELS)}",
        )

    @property
    def support_vectors(self) -> Any:
        """The rows `support` of the training data: an ndarray, a SciPy CSR array, or None where none are kept."""
        return None if self.kernel not in _VECTOR_KERNELS else kept_rows(self, "support").table()

    # ---------------------------------------------------------------------------------------------- scoring

    def _decision_function(self, matrix: Matrix, n_threads: int) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.coef is not None:
                return linear_scores(matrix, self.coef, self.intercept, n_threads)
            if not self.support.size:
                return np.full(matrix.n_rows, self.intercept)
            if self.kernel == "precomputed":
                columns: NDArray[np.float64] = np.zeros(self.n_features)
                columns[self.support] = self.dual_coef
                return linear_scores(matrix, columns, self.intercept, n_threads)
            vectors = kept_rows(self, "support")
            return kernel_sums(matrix, vectors, self._kernel, self.dual_coef, self.intercept, n_threads)


def kernel_sums(
    matrix: Matrix, vectors: Matrix, kernel: Kernel, coef: NDArray[np.float64], intercept: float, n_threads: int
) -> NDArray[np.float64]:
    """Return sum_s coef[s] K(vector s, x) + intercept for each row x, of any form; not of a precomputed kernel."""
    if kernel.function is not None:
        scores: NDArray[np.float64] = np.empty(matrix.n_rows)
        for rows in matrix.blocks(vectors.n_rows):
            block = matrix[rows].convert(matrix.dtype, sparse=vectors.is_sparse)
            scores[rows] = np.einsum("ij,j->i", kernel_values(kernel, block, vectors, n_threads), coef) + intercept
        return scores
    sparse = matrix.is_sparse or vectors.is_sparse
    dtype = value_dtype(kernel.name, np.result_type(matrix.dtype, vectors.dtype))
    vectors = vectors.convert(dtype, sparse=sparse)
    coefs, intercepts = coef[:, None], np.array([intercept])

    def score(rows: Matrix) -> NDArray[np.float64]:
        return _core.kernel_scores(vectors, rows, coefs, intercepts, kernel.core_params, n_threads=n_threads)[:, 0]

    return score_rows(matrix, dtype, score, sparse=sparse)


def linear_scores(matrix: Matrix, coef: NDArray[np.float64], intercept: float, n_threads: int) -> NDArray[np.float64]:
    """Return x'coef + intercept for each row x, in float64; the same bits for every number of threads."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not matrix.is_sparse:  # the coefficients are the only vector
            linear = Kernel("linear", None, 0, 0.0)
            return kernel_sums(matrix, DenseMatrix(coef[None]), linear, np.ones(1), intercept, n_threads)
        # SciPy multiplies by a copy of entries that are not float64, so these are copied a block at a time.
        blocks = matrix.blocks() if matrix.dtype == np.float32 else [slice(None)]
        return np.concatenate([matrix[rows].table() @ coef + intercept for rows in blocks])
