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

def bin_features(
    matrix: _Matrix, max_bins: int, sample_weight: NDArray[np.float64] | None, n_threads: int
) -> BinnedFeatures: ...
def isa_levels() -> list[str]: ...
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
    eval_features: _Matrix | BinnedFeatures | None,
    eval_labels: NDArray[np.int8] | None,
    early_stopping_rounds: int,
    callback: Callable[[int, int, float, int, float, float, float, float, float], bool] | None,
    n_threads: int,
    isa: str,
) -> dict[str, Any]: ...
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
