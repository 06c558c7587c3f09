"""The compiled core as Python sees it. Private: `fastpu` checks what goes in here."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__version__: str
_Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
_Csr: TypeAlias = tuple[_Floats, NDArray[np.int32], NDArray[np.int64], tuple[int, int]]
_Matrix: TypeAlias = _Floats | _Csr

class BinnedFeatures:
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def cut_starts(self) -> NDArray[np.int64]: ...
    @property
    def cut_values(self) -> NDArray[np.float64]: ...
    def codes(self) -> NDArray[np.uint8] | NDArray[np.uint16]: ...
    def column(self, feature: int) -> NDArray[np.uint32]: ...
    def take(self, rows: NDArray[np.int64], n_threads: int) -> BinnedFeatures: ...
    def same_cuts(self, other: BinnedFeatures) -> bool: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: tuple[Any, ...]) -> None: ...

class StumpBoostResult:
    @property
    def features(self) -> NDArray[np.int32]: ...
    @property
    def thresholds(self) -> NDArray[np.float64]: ...
    @property
    def polarity(self) -> NDArray[np.int8]: ...
    @property
    def alphas(self) -> NDArray[np.float64]: ...
    @property
    def deltas(self) -> NDArray[np.float64]: ...
    @property
    def z(self) -> NDArray[np.float64]: ...
    @property
    def objective(self) -> NDArray[np.float64]: ...
    @property
    def eval_auc(self) -> NDArray[np.float64]: ...
    @property
    def best_round(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def low(self) -> float: ...
    @property
    def last_gain(self) -> float: ...

class HullDistance:
    def __init__(self, rows: NDArray[np.float64], *, n_threads: int, isa: str) -> None: ...
    def nearest(self, point: NDArray[np.float64], *, max_steps: int) -> dict[str, Any]: ...

class StopFlag:
    def __init__(self) -> None: ...
    def watch(self) -> None: ...
    def raise_(self) -> None: ...

class LargeMarginEngine:
    def __init__(self, data: _Matrix, *, n_threads: int, isa: str) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    def solve(
        self,
        labels: NDArray[np.int8],
        costs: NDArray[np.float64],
        slopes: NDArray[np.uint8] | None,
        *,
        solver: str,
        tol: float,
        max_iter: int,
        rho: float,
        eps: float,
        start: dict[str, Any] | None,
        callback: Callable[[int, float, float], bool] | None,
    ) -> dict[str, Any]: ...

class SvmEngine:
    def __init__(
        self,
        data: _Matrix,
        *,
        kernel: str,
        gamma: float,
        degree: int,
        coef0: float,
        function: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]] | None,
        cache_bytes: int,
        n_threads: int,
        isa: str,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    def solve(
        self,
        problem: str,
        rows: NDArray[np.int64],
        labels: NDArray[np.int8] | None,
        costs: NDArray[np.float64],
        *,
        nu: float,
        start: NDArray[np.float64] | None,
        tol: float,
        max_iter: int,
        callback: Callable[[int, float, float, int], bool] | None,
    ) -> dict[str, Any]: ...
    def scores(
        self, support: NDArray[np.int64], coefs: NDArray[np.float64], intercept: float, rows: NDArray[np.int64]
    ) -> NDArray[np.float64]: ...
    def solve_bags(
        self,
        positives: NDArray[np.int64],
        bags: NDArray[np.int64],
        *,
        cost_pos: NDArray[np.float64],
        cost_unl: float,
        tol: float,
        max_iter: int,
        score_rows: NDArray[np.int64],
    ) -> dict[str, Any]: ...

def bin_features(
    matrix: _Matrix, max_bins: int, sample_weight: NDArray[np.float64] | None, n_threads: int
) -> BinnedFeatures: ...
def isa_levels() -> list[str]: ...
def kernel_scores(
    support: _Matrix,
    x: _Matrix,
    coefs: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    *,
    kernel: str,
    gamma: float,
    degree: int,
    coef0: float,
    n_threads: int,
    isa: str,
) -> NDArray[np.float64]: ...
def stump_boost(
    features: _Matrix | BinnedFeatures,
    labels: NDArray[np.int8],
    sample_weight: NDArray[np.float64] | None,
    *,
    loss: str,
    gamma: float,
    rho: float,
    n_rounds: int,
    step: str,
    stop_tol: float,
    max_bins: int,
    most_distinct: int,
    eval_features: _Matrix | BinnedFeatures | None,
    eval_labels: NDArray[np.int8] | None,
    eval_weight: NDArray[np.float64] | None,
    early_stopping_rounds: int,
    callback: Callable[[int, int, float, int, float, float, float, float, float], bool] | None,
    n_threads: int,
    isa: str,
) -> StumpBoostResult: ...
def stump_scores(
    matrix: _Matrix | BinnedFeatures,
    features: NDArray[np.int32],
    thresholds: NDArray[np.float64],
    polarity: NDArray[np.int8],
    alphas: NDArray[np.float64],
    *,
    n_features: int,
    low: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def knn_edges(
    indices: NDArray[np.int64], squared: NDArray[np.float64], is_union: bool, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...
def knn_search(
    x: _Matrix, n_neighbors: int, *, n_threads: int, isa: str, method: str = ""
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def knn_similarity(
    values: NDArray[np.float64], columns: NDArray[np.int32], row_start: NDArray[np.int64], sigma: float, n_threads: int
) -> tuple[
    tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]],
    tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]],
]: ...

class PualDual:
    def __init__(self, factor: NDArray[np.float64], *, n_threads: int, isa: str) -> None: ...
    @property
    def n_rows(self) -> int: ...
    def solve(
        self,
        cost: float,
        *,
        solver: str,
        tol: float,
        max_iter: int,
        mu: float,
        callback: Callable[[int, float, float], bool] | None,
    ) -> dict[str, Any]: ...

def kernel_matrix(
    x: _Matrix,
    columns: NDArray[np.int64],
    *,
    kernel: str,
    gamma: float,
    degree: int,
    coef0: float,
    n_threads: int,
    isa: str,
) -> NDArray[np.float64]: ...
def tiled_cholesky(a: NDArray[np.float64], *, n_threads: int) -> int: ...
def tiled_gram(a: NDArray[np.float64], *, n_threads: int) -> NDArray[np.float64]: ...
def tiled_pivoted_cholesky(
    a: NDArray[np.float64], *, limit: float, n_threads: int
) -> tuple[int, NDArray[np.int64]]: ...
def tiled_product(
    a: NDArray[np.float64], b: NDArray[np.float64], *, transpose_a: bool, transpose_b: bool, n_threads: int
) -> NDArray[np.float64]: ...
def tiled_solve(factor: NDArray[np.float64], b: NDArray[np.float64], *, transpose: bool, n_threads: int) -> None: ...
def fit_nnpu(
    x: _Matrix,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    start: dict[str, Any],
    *,
    risk: dict[str, Any],
    training: dict[str, Any],
    eval_x: _Matrix | None,
    eval_labels: NDArray[np.int8] | None,
    callback: Callable[[int, float, float, float, int, float], bool] | None,
    n_threads: int,
    isa: str,
    chosen: NDArray[np.int64] | None = None,
    eval_weights: NDArray[np.float64] | None = None,
) -> dict[str, Any]: ...
def fit_upu(
    x: _Matrix,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    *,
    loss: str,
    prior: float,
    lam: float,
    tol: float,
    max_iter: int,
    callback: Callable[[int, float, float], bool] | None,
    n_threads: int,
    isa: str,
) -> dict[str, Any]: ...
def nnpu_scores(x: _Matrix, at: dict[str, Any], *, n_threads: int, isa: str) -> NDArray[np.float64]: ...
def svm_path(
    data: _Matrix,
    rows: NDArray[np.int64],
    labels: NDArray[np.int8],
    costs: NDArray[np.float64],
    *,
    kernel: str,
    gamma: float,
    degree: int,
    coef0: float,
    function: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]] | None,
    lam_min: float,
    max_events: int,
    cache_bytes: int,
    n_threads: int,
    isa: str,
    callback: Callable[[int, int, float, int, float], bool] | None,
) -> dict[str, Any]: ...
