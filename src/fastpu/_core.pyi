"""The compiled core as Python sees it. Private: `fastpu` checks what goes in here."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu.data._matrix import Floats, Matrix
from fastpu.data.binned_features import BinnedFeatures as _Binned

__version__: str
MOST_CUTS: int
MOST_CATEGORIES_IN_SETS: int
_Matrix: TypeAlias = Floats | Matrix  # an array is a dense matrix

# The classes and functions of the core.

# Structs of options. Each field is given by its name; one that is left out has the default of its C++ header.

class BoostedTreesOptions:
    def __init__(
        self,
        *,
        loss: str = ...,
        gamma: float = ...,
        prior: float = ...,
        n_rounds: int = ...,
        learning_rate: float = ...,
        max_leaves: int = ...,
        max_depth: int = ...,
        min_leaf_rows: float = ...,
        min_leaf_hessian: float = ...,
        lam: float = ...,
        subsample_unl: float = ...,
        max_features: int = ...,
        n_bags: int = ...,
        repeats_pos: int = ...,
        bag_unl: Sequence[int] = ...,
        replace_unl: bool = ...,
        seed: int = ...,
        early_stopping_rounds: int = ...,
    ) -> None: ...
    @property
    def loss(self) -> str: ...
    @property
    def gamma(self) -> float: ...
    @property
    def prior(self) -> float: ...
    @property
    def n_rounds(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def max_leaves(self) -> int: ...
    @property
    def max_depth(self) -> int: ...
    @property
    def min_leaf_rows(self) -> float: ...
    @property
    def min_leaf_hessian(self) -> float: ...
    @property
    def lam(self) -> float: ...
    @property
    def subsample_unl(self) -> float: ...
    @property
    def max_features(self) -> int: ...
    @property
    def n_bags(self) -> int: ...
    @property
    def repeats_pos(self) -> int: ...
    @property
    def bag_unl(self) -> NDArray[np.int64]: ...
    @property
    def replace_unl(self) -> bool: ...
    @property
    def seed(self) -> int: ...
    @property
    def early_stopping_rounds(self) -> int: ...

class ForestOptions:
    def __init__(
        self,
        *,
        loss: str = ...,
        prior: float = ...,
        random_cuts: bool = ...,
        n_trees: int = ...,
        first_tree: int = ...,
        first_set: int = ...,
        seed: int = ...,
        repeats_pos: int = ...,
        bag_unl: Sequence[int] = ...,
        replace_unl: bool = ...,
        max_features: int = ...,
        min_leaf_rows: int = ...,
        max_depth: int = ...,
        max_leaves: int = ...,
    ) -> None: ...
    @property
    def loss(self) -> str: ...
    @property
    def prior(self) -> float: ...
    @property
    def random_cuts(self) -> bool: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def first_tree(self) -> int: ...
    @property
    def first_set(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def repeats_pos(self) -> int: ...
    @property
    def bag_unl(self) -> NDArray[np.int64]: ...
    @property
    def replace_unl(self) -> bool: ...
    @property
    def max_features(self) -> int: ...
    @property
    def min_leaf_rows(self) -> int: ...
    @property
    def max_depth(self) -> int: ...
    @property
    def max_leaves(self) -> int: ...

class KernelParams:
    def __init__(
        self,
        *,
        kind: str = ...,
        gamma: float = ...,
        degree: int = ...,
        coef0: float = ...,
    ) -> None: ...
    @property
    def kind(self) -> str: ...
    @property
    def gamma(self) -> float: ...
    @property
    def degree(self) -> int: ...
    @property
    def coef0(self) -> float: ...

class MarginOptions:
    def __init__(
        self,
        *,
        solver: str = ...,
        tol: float = ...,
        violation: float = ...,
        max_iter: int = ...,
    ) -> None: ...
    @property
    def solver(self) -> str: ...
    @property
    def tol(self) -> float: ...
    @property
    def violation(self) -> float: ...
    @property
    def max_iter(self) -> int: ...

class NnpuOptions:
    def __init__(
        self,
        *,
        loss: str = ...,
        prior: float = ...,
        beta: float = ...,
        gamma_nn: float = ...,
        lam: float = ...,
        learning_rate: float = ...,
        scale: float = ...,
        n_epochs: int = ...,
        batch_size: int = ...,
        seed: int = ...,
        early_stopping_rounds: int = ...,
    ) -> None: ...
    @property
    def loss(self) -> str: ...
    @property
    def prior(self) -> float: ...
    @property
    def beta(self) -> float: ...
    @property
    def gamma_nn(self) -> float: ...
    @property
    def lam(self) -> float: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def scale(self) -> float: ...
    @property
    def n_epochs(self) -> int: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def early_stopping_rounds(self) -> int: ...

class PualDualOptions:
    def __init__(
        self,
        *,
        tol: float = ...,
        max_iter: int = ...,
    ) -> None: ...
    @property
    def tol(self) -> float: ...
    @property
    def max_iter(self) -> int: ...

class SmoOptions:
    def __init__(
        self,
        *,
        tol: float = ...,
        max_steps: int = ...,
    ) -> None: ...
    @property
    def tol(self) -> float: ...
    @property
    def max_steps(self) -> int: ...

class StumpLossInfo:
    @property
    def name(self) -> str: ...
    @property
    def low(self) -> float: ...
    @property
    def only_ranks(self) -> bool: ...

class StumpBoostOptions:
    def __init__(
        self,
        *,
        loss: str = ...,
        gamma: float = ...,
        rho: float = ...,
        step: str = ...,
        n_rounds: int = ...,
        stop_tol: float = ...,
        early_stopping_rounds: int = ...,
    ) -> None: ...
    @property
    def loss(self) -> str: ...
    @property
    def gamma(self) -> float: ...
    @property
    def rho(self) -> float: ...
    @property
    def step(self) -> str: ...
    @property
    def n_rounds(self) -> int: ...
    @property
    def stop_tol(self) -> float: ...
    @property
    def early_stopping_rounds(self) -> int: ...

LEAST_PATH_COST: float
MOST_PATH_COST: float

class SvmPathOptions:
    def __init__(
        self,
        *,
        lam_min: float = ...,
        max_events: int = ...,
        cache_bytes: int = ...,
    ) -> None: ...
    @property
    def lam_min(self) -> float: ...
    @property
    def max_events(self) -> int: ...
    @property
    def cache_bytes(self) -> int: ...

class UpuOptions:
    def __init__(
        self,
        *,
        loss: str = ...,
        prior: float = ...,
        lam: float = ...,
        tol: float = ...,
        max_iter: int = ...,
    ) -> None: ...
    @property
    def loss(self) -> str: ...
    @property
    def prior(self) -> float: ...
    @property
    def lam(self) -> float: ...
    @property
    def tol(self) -> float: ...
    @property
    def max_iter(self) -> int: ...

class TreeLossOptions:
    def __init__(self, *, loss: str = ..., gamma: float = ..., prior: float = ...) -> None: ...
    @property
    def loss(self) -> str: ...
    @property
    def gamma(self) -> float: ...
    @property
    def prior(self) -> float: ...

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
    @property
    def bin_values(self) -> NDArray[np.float64]: ...
    def column(self, feature: int) -> NDArray[np.uint32]: ...
    def take(self, rows: NDArray[np.int64], n_threads: int) -> BinnedFeatures: ...
    def same_cuts(self, other: BinnedFeatures) -> bool: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: tuple[Any, ...]) -> None: ...

class SearchedFeatures: ...

class StumpBoostResult:
    @property
    def features(self) -> NDArray[np.int32]: ...
    @property
    def thresholds(self) -> NDArray[np.float64]: ...
    @property
    def polarity(self) -> NDArray[np.int8]: ...
    @property
    def missing_above(self) -> NDArray[np.int8]: ...
    @property
    def category_sets(self) -> NDArray[np.uint64]: ...
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

class MarginSolution:
    @property
    def coef(self) -> NDArray[np.float64]: ...
    @property
    def intercept(self) -> float: ...
    @property
    def intercept_low(self) -> float: ...
    @property
    def intercept_high(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def beta(self) -> NDArray[np.float64]: ...
    @property
    def decision(self) -> NDArray[np.float64]: ...
    @property
    def n_iter(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def method(self) -> str: ...

MOST_ROW_COST: float

class LargeMarginEngine:
    def __init__(self, data: _Matrix, *, n_threads: int) -> None: ...
    def solve(
        self,
        labels: NDArray[np.int8],
        costs: NDArray[np.float64],
        slopes: NDArray[np.uint8] | None,
        start: MarginSolution | None,
        options: MarginOptions,
        callback: Callable[[int, float, float], bool] | None,
        *,
        n_threads: int,
    ) -> MarginSolution: ...
    def stop(self) -> None: ...

class SvmRounds:
    @property
    def n_steps(self) -> NDArray[np.int64]: ...
    @property
    def objective(self) -> NDArray[np.float64]: ...
    @property
    def violation(self) -> NDArray[np.float64]: ...
    @property
    def n_active(self) -> NDArray[np.int64]: ...

class SvmSolution:
    @property
    def alpha(self) -> NDArray[np.float64]: ...
    @property
    def intercept(self) -> float: ...
    @property
    def margin(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def lowest_inside(self) -> float: ...
    @property
    def violation(self) -> float: ...
    @property
    def n_steps(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def decision(self) -> NDArray[np.float64]: ...
    @property
    def rounds(self) -> SvmRounds: ...

class BagSolutions:
    @property
    def intercept(self) -> NDArray[np.float64]: ...
    @property
    def objective(self) -> NDArray[np.float64]: ...
    @property
    def gap(self) -> NDArray[np.float64]: ...
    @property
    def violation(self) -> NDArray[np.float64]: ...
    @property
    def n_steps(self) -> NDArray[np.int64]: ...
    @property
    def status(self) -> list[str]: ...
    @property
    def support(self) -> NDArray[np.int64]: ...
    @property
    def coefs(self) -> NDArray[np.float64]: ...
    @property
    def decision(self) -> NDArray[np.float64]: ...

class GridChain:
    def __init__(
        self,
        *,
        gamma: float,
        rows: NDArray[np.int64],
        labels: NDArray[np.int8],  # which a one-class SVM does not read
        base: NDArray[np.float64],
        points: list[tuple[float, float, float]],
        held_out: NDArray[np.int64],
    ) -> None: ...

class GridFit:
    @property
    def support(self) -> NDArray[np.int64]: ...
    @property
    def alpha(self) -> NDArray[np.float64]: ...
    @property
    def intercept(self) -> float: ...
    @property
    def margin(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def lowest_inside(self) -> float: ...
    @property
    def violation(self) -> float: ...
    @property
    def n_steps(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def n_positive(self) -> int: ...
    @property
    def lowest_score(self) -> float: ...
    @property
    def highest_score(self) -> float: ...

class ChainSolution:
    @property
    def fits(self) -> list[GridFit]: ...
    @property
    def held_out_scores(self) -> NDArray[np.float64]: ...

class SvmEngine:
    def __init__(
        self,
        data: _Matrix,
        *,
        kernel: KernelParams | None,
        function: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]] | None,
        cache_bytes: int,
        n_threads: int,
    ) -> None: ...
    def solve(
        self,
        problem: str,
        rows: NDArray[np.int64],
        labels: NDArray[np.int8],  # which a one-class SVM does not read
        costs: NDArray[np.float64],
        *,
        nu: float,
        start: NDArray[np.float64] | None,
        options: SmoOptions,
        callback: Callable[[int, float, float, int], bool] | None,
    ) -> SvmSolution: ...
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
        options: SmoOptions,
        start: NDArray[np.float64] | None,
        score_rows: NDArray[np.int64],
    ) -> BagSolutions: ...

def c_svm_violation(
    labels: NDArray[np.int8], costs: NDArray[np.float64], alpha: NDArray[np.float64], decision: NDArray[np.float64]
) -> float: ...
def solve_svm_grid(
    data: _Matrix,
    problem: str,
    chains: list[GridChain],
    *,
    kernel: KernelParams | None,
    options: SmoOptions,
    cache_bytes: int,
    n_threads: int,
) -> list[ChainSolution]: ...

class TreeLossInfo:
    @property
    def name(self) -> str: ...
    @property
    def takes_negatives(self) -> bool: ...
    @property
    def needs_gamma(self) -> bool: ...
    @property
    def needs_prior(self) -> bool: ...
    @property
    def is_by_row(self) -> bool: ...

class TreeLoss:
    def __init__(
        self,
        labels: NDArray[np.int8],
        sample_weight: NDArray[np.float64] | None,
        options: TreeLossOptions,
        *,
        n_threads: int,
    ) -> None: ...
    def tops(self, scores: NDArray[np.floating], n_threads: int) -> NDArray[np.float64]: ...
    def sums(self, scores: NDArray[np.floating], tops: NDArray[np.float64], n_threads: int) -> NDArray[np.int64]: ...
    def objective(self, tops: NDArray[np.float64], sums: NDArray[np.int64]) -> float: ...
    def derive_alone(
        self, scores: NDArray[np.floating], n_threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def derive(
        self, scores: NDArray[np.floating], tops: NDArray[np.float64], sums: NDArray[np.int64], n_threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class EarlyStopping:
    def __init__(self, patience: int) -> None: ...
    def add(self, value: float) -> None: ...
    @property
    def best_round(self) -> int: ...
    @property
    def is_over(self) -> bool: ...

class MemberRows:
    def __init__(
        self, features: BinnedFeatures, labels: NDArray[np.int8] | None, sample_weight: NDArray[np.float64] | None,
        categorical: NDArray[np.uint8] | None, options: BoostedTreesOptions, *,
        init: tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.uint64]] | None, n_unlabelled: int,
        numbers: NDArray[np.uint32] | None, exchange: Callable[[str, bytes], bytes], n_threads: int,
    ) -> None: ...  # fmt: skip

_EvalSet: TypeAlias = tuple[_Matrix | _Binned, NDArray[np.int8], NDArray[np.float64] | None]

class _Trees:
    @property
    def nodes(self) -> NDArray[np.void]: ...
    @property
    def tree_start(self) -> NDArray[np.int64]: ...
    @property
    def category_sets(self) -> NDArray[np.uint64]: ...
    @property
    def oob_sum(self) -> NDArray[np.float64]: ...
    @property
    def oob_count(self) -> NDArray[np.int32]: ...
    @property
    def status(self) -> str: ...

class ForestResult(_Trees): ...

class BoostedTreesResult(_Trees):
    @property
    def tree_risk(self) -> NDArray[np.float64]: ...
    @property
    def risk(self) -> NDArray[np.float64]: ...
    @property
    def eval_auc(self) -> NDArray[np.float64]: ...
    @property
    def n_bags(self) -> int: ...
    @property
    def best_round(self) -> int: ...

def bin_features(
    matrix: _Matrix, max_bins: int, sample_weight: NDArray[np.float64] | None, n_threads: int,
    categorical: NDArray[np.uint8] | None = None,
    cuts: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> BinnedFeatures: ...  # fmt: skip
def boost_trees(
    features: BinnedFeatures, labels: NDArray[np.int8], sample_weight: NDArray[np.float64] | None,
    categorical: NDArray[np.uint8] | None, options: BoostedTreesOptions, *, clusters: NDArray[np.int32] | None,
    init: tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.uint64]] | None,
    init_oob_sum: NDArray[np.float64] | None, eval_set: _EvalSet | None,
    callback: Callable[[int, int, int, int, float, float], bool] | None, n_threads: int,
) -> BoostedTreesResult: ...  # fmt: skip
def boost_member_trees(
    rows: MemberRows, options: BoostedTreesOptions, *,
    init: tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.uint64]] | None, eval_set: _EvalSet | None,
    callback: Callable[[int, int, int, int, float, float], bool] | None, n_threads: int,
) -> BoostedTreesResult: ...  # fmt: skip
def check_trees(
    nodes: NDArray[np.void], tree_start: NDArray[np.int64], category_sets: NDArray[np.uint64], *, n_features: int
) -> None: ...
def draw_forest_bags(
    *, n_pos: int, n_unl: int, sample_weight: NDArray[np.float64] | None, clusters: NDArray[np.int32] | None,
    n_clusters: int, options: ForestOptions, n_threads: int,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...  # fmt: skip
def mixed_bits(values: NDArray[np.uint64]) -> NDArray[np.uint64]: ...
def derived_numbers(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]: ...
def fingerprint(
    features: BinnedFeatures, labels: NDArray[np.int8], weights: NDArray[np.float64] | None, *, first_row: int,
    n_threads: int,
) -> NDArray[np.uint64]: ...  # fmt: skip
def row_hashes(
    features: BinnedFeatures, rows: NDArray[np.int64], *, n_threads: int
) -> NDArray[np.uint64]: ...  # fmt: skip
def grow_forest(
    features: BinnedFeatures, labels: NDArray[np.int8], sample_weight: NDArray[np.float64] | None,
    categorical: NDArray[np.uint8] | None, options: ForestOptions, *, clusters: NDArray[np.int32] | None,
    oob_sum: NDArray[np.float64] | None, oob_count: NDArray[np.int32] | None,
    callback: Callable[[int, int, int], bool] | None, n_threads: int,
) -> ForestResult: ...  # fmt: skip
def grow_on_bags(
    features: BinnedFeatures, rows: NDArray[np.uint32], start: NDArray[np.int64], *, n_pos: int,
    categorical: NDArray[np.uint8] | None, options: ForestOptions, n_threads: int,
) -> ForestResult: ...  # fmt: skip
def isa_levels() -> list[str]: ...
def kernel_scores(
    support: _Matrix,
    x: _Matrix,
    coefs: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    kernel: KernelParams | None,
    *,
    n_threads: int,
) -> NDArray[np.float64]: ...
def stump_losses() -> list[StumpLossInfo]: ...
def tree_losses() -> list[TreeLossInfo]: ...
def tree_scores(
    matrix: _Matrix | BinnedFeatures, nodes: NDArray[np.void], tree_start: NDArray[np.int64],
    category_sets: NDArray[np.uint64], *, n_features: int, n_threads: int,
) -> NDArray[np.float64]: ...  # fmt: skip
def stack_binned(parts: list[BinnedFeatures], n_threads: int) -> BinnedFeatures: ...
def bin_at_every_threshold(
    matrix: _Matrix,
    sample_weight: NDArray[np.float64] | None,
    categorical: NDArray[np.uint8] | None,
    *,
    most_distinct: int,
    n_quantiles: int,
    n_threads: int,
) -> SearchedFeatures: ...

_StumpCallback: TypeAlias = Callable[[int, int, float, int, float, float, float, float, float], bool]

def stump_boost(
    features: BinnedFeatures | SearchedFeatures,
    labels: NDArray[np.int8],
    sample_weight: NDArray[np.float64] | None,
    categorical: NDArray[np.uint8] | None,
    options: StumpBoostOptions,
    *,
    eval_set: _EvalSet | None,
    callback: _StumpCallback | None,
    n_threads: int,
) -> StumpBoostResult: ...
def stump_boost_as_member(
    features: BinnedFeatures,
    labels: NDArray[np.int8] | None,
    sample_weight: NDArray[np.float64] | None,
    categorical: NDArray[np.uint8] | None,
    options: StumpBoostOptions,
    *,
    exchange: Callable[[str, bytes], bytes],
    eval_set: _EvalSet | None,
    callback: _StumpCallback | None,
    n_threads: int,
) -> StumpBoostResult: ...
def stump_scores(
    matrix: _Matrix | _Binned, features: NDArray[np.int32], thresholds: NDArray[np.float64],
    polarity: NDArray[np.int8], alphas: NDArray[np.float64], *, n_features: int, low: float,
    categorical: NDArray[np.uint8] | None = None, category_sets: NDArray[np.uint64] | None = None,
    missing_above: NDArray[np.int8] | None = None, n_threads: int,
) -> NDArray[np.float64]: ...  # fmt: skip
def knn_search(
    x: _Matrix, n_neighbors: int, *, n_threads: int, method: str = ""
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...

class PualSolution:
    @property
    def beta(self) -> NDArray[np.float64]: ...
    @property
    def offset(self) -> float: ...
    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def alpha(self) -> NDArray[np.float64]: ...
    @property
    def status(self) -> str: ...
    @property
    def iterations(self) -> NDArray[np.int64]: ...
    @property
    def objectives(self) -> NDArray[np.float64]: ...
    @property
    def gaps(self) -> NDArray[np.float64]: ...

class PualSolver:
    def __init__(
        self, x: _Matrix, *, mean: NDArray[np.float64] | None, triangle: NDArray[np.float64] | None,
        pivots: NDArray[np.int64] | None, positives: NDArray[np.float64], gram_unl: NDArray[np.float64],
        pos: NDArray[np.int64], shares_pos: NDArray[np.float64], shares_unl: NDArray[np.float64], mass_pos: float,
        mass_unl: float,
    ) -> None: ...  # fmt: skip
    def solve_pual(
        self, laplacian: _Matrix, gram: NDArray[np.float64] | None, *, C_unl: float, lam: float,
        costs: Sequence[float], options: PualDualOptions, callback: Callable[[int, int, float, float], bool] | None,
        n_threads: int,
    ) -> list[PualSolution]: ...  # fmt: skip
    def solve_least_squares(
        self, laplacian: _Matrix, gram: NDArray[np.float64] | None, *, C_unl: float, lam: float,
        costs: Sequence[float], callback: Callable[[int, int, float, float], bool] | None, n_threads: int,
    ) -> list[PualSolution]: ...  # fmt: skip

def kernel_matrix(
    x: _Matrix,
    y: _Matrix,
    kernel: KernelParams | None,
    *,
    n_threads: int,
) -> NDArray[np.float64]: ...
def tiled_cholesky(a: NDArray[np.float64], *, n_threads: int) -> int: ...
def tiled_product(a: NDArray[np.float64], b: NDArray[np.float64], *, n_threads: int) -> NDArray[np.float64]: ...
def tiled_symmetric_product(
    a: NDArray[np.float64], b: NDArray[np.float64], *, n_threads: int
) -> NDArray[np.float64]: ...

class UpuResult:
    @property
    def coef(self) -> NDArray[np.float64]: ...
    @property
    def intercept(self) -> float: ...
    @property
    def risks(self) -> NDArray[np.float64]: ...
    @property
    def decrement(self) -> float: ...
    @property
    def status(self) -> str: ...

class Net:
    def __init__(self, *, hidden_coef: Floats, hidden_intercept: Floats, coef: Floats, intercept: float) -> None: ...
    @property
    def hidden_coef(self) -> Floats: ...
    @property
    def hidden_intercept(self) -> Floats: ...
    @property
    def coef(self) -> Floats: ...
    @property
    def intercept(self) -> float: ...

class NetTraining:
    @property
    def net(self) -> Net: ...
    @property
    def risk(self) -> NDArray[np.float64]: ...
    @property
    def positive(self) -> NDArray[np.float64]: ...
    @property
    def negative(self) -> NDArray[np.float64]: ...
    @property
    def n_reversed(self) -> NDArray[np.int64]: ...
    @property
    def eval_risk(self) -> NDArray[np.float64]: ...
    @property
    def best_epoch(self) -> int: ...
    @property
    def status(self) -> str: ...

def fit_nnpu(
    x: _Matrix, labels: NDArray[np.int8], weights: NDArray[np.float64] | None, start: Net, options: NnpuOptions, *,
    chosen: NDArray[np.int64] | None,
    eval_rows: tuple[_Matrix, NDArray[np.int8] | None, NDArray[np.float64] | None] | None,
    callback: Callable[[int, float, float, float, int, float], bool] | None, n_threads: int,
) -> NetTraining: ...  # fmt: skip
def fit_upu(
    x: _Matrix, labels: NDArray[np.int8], weights: NDArray[np.float64] | None, options: UpuOptions, *,
    callback: Callable[[int, float], bool] | None, n_threads: int,
) -> UpuResult: ...  # fmt: skip
def nnpu_scores(x: _Matrix, at: Net, *, n_threads: int) -> NDArray[np.float64]: ...

class SvmPathResult:
    @property
    def status(self) -> str: ...
    @property
    def heavier(self) -> int: ...
    @property
    def start_alpha(self) -> NDArray[np.float64]: ...
    @property
    def knots(self) -> NDArray[np.float64]: ...
    @property
    def offsets(self) -> NDArray[np.float64]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def objective(self) -> NDArray[np.float64]: ...
    @property
    def norm(self) -> NDArray[np.float64]: ...
    @property
    def n_margin(self) -> NDArray[np.int64]: ...
    @property
    def change_start(self) -> NDArray[np.int64]: ...
    @property
    def change_row(self) -> NDArray[np.int32]: ...
    @property
    def change_alpha(self) -> NDArray[np.float64]: ...
    @property
    def event_knot(self) -> NDArray[np.int64]: ...
    @property
    def event_kind(self) -> NDArray[np.uint8]: ...
    @property
    def event_row(self) -> NDArray[np.int32]: ...
    @property
    def violation(self) -> float: ...

def svm_path(
    data: _Matrix, rows: NDArray[np.int64], labels: NDArray[np.int8], costs: NDArray[np.float64],
    options: SvmPathOptions, *, kernel: KernelParams | None,
    function: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]] | None, n_threads: int,
    callback: Callable[[int, int, float, int, float], bool] | None,
) -> SvmPathResult: ...  # fmt: skip
