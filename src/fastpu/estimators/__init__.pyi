"""The types of `fastpu.estimators`, written by tests/estimators/write_stub.py from what is made at import."""

from typing import Any
from fastpu.svm.bagging_svm import BagRound
from fastpu.boosting._stump_boost import BoostRound
from fastpu.estimators._forest import BoostedTrees
from fastpu.boosting._boosted_trees import BoostedTreesRound
from fastpu.estimators._boosting import Boosting
from collections.abc import Callable
from fastpu.estimators._base import FastpuClassifier
from fastpu.estimators._forest import Forest
from fastpu.forest._arguments import ForestRound
from fastpu.estimators._risk import InEpochs
from typing import Literal
from fastpu.boosting._boosted_trees import LossName
from fastpu.mapping._loop import MappingRound
from fastpu.margin._arguments import MarginRound
from fastpu.estimators._path import OnPUPath
from fastpu.estimators._path import OnPath
from fastpu.estimators._svm import OneClassSVM
from fastpu.estimators._auc import PNUAUC
from fastpu.estimators._boosting import PNUAdaBoost
from fastpu.path._fit import PathRound
from fastpu.pual._arguments import PualRound
from fastpu.risk._arguments import RiskRound
from fastpu.estimators._auc import SAMULT
from typing_extensions import Self
from fastpu.svm._solver import SvmRound
from fastpu.estimators._svm import WithCosts
from fastpu.estimators._graph import WithLandmarks
from fastpu.estimators._risk import WithPrior
from fastpu.estimators._checks import EXPECTED_FAILED_CHECKS as EXPECTED_FAILED_CHECKS
from fastpu.estimators._elkan_noto import ElkanNotoClassifier as ElkanNotoClassifier
from fastpu.estimators._scorers import LabeledScorer as LabeledScorer
from fastpu.estimators._pu_bagging import PUBaggingClassifier as PUBaggingClassifier
from fastpu.estimators._scorers import PUScorer as PUScorer
from fastpu.estimators._sar import SARClassifier as SARClassifier
from fastpu.estimators._two_step import TwoStepClassifier as TwoStepClassifier
from fastpu.estimators._weighted_unlabeled import WeightedUnlabeledClassifier as WeightedUnlabeledClassifier
from fastpu.estimators._scorers import average_precision_scorer as average_precision_scorer
from fastpu.estimators._scorers import err_star_scorer as err_star_scorer
from fastpu.estimators._scorers import labeled_scorer as labeled_scorer
from fastpu.estimators._scorers import lift_scorer as lift_scorer
from fastpu.estimators._scorers import precision_at_k_scorer as precision_at_k_scorer
from fastpu.estimators._scorers import pu_auc_scorer as pu_auc_scorer
from fastpu.estimators._scorers import puf_scorer as puf_scorer
import numpy as np

__all__ = ["BLSSVMClassifier", "BPSIClassifier", "BSVMClassifier", "BaggingSVMClassifier", "BoostedTreesClassifier",
        "EXPECTED_FAILED_CHECKS", "ElkanNotoClassifier", "ForestClassifier", "GLLCClassifier", "IPSIClassifier",
        "ISVMClassifier", "LSAUCClassifier", "LabeledScorer", "NNPUClassifier", "NuSVMClassifier",
        "OneClassSVMClassifier", "PNUAUCBoostClassifier", "PNUAUCClassifier", "PNUAdaBoostClassifier",
        "PUALClassifier", "PUBaggingClassifier", "PUSVMPathClassifier", "PUScorer", "RankBoostAUCClassifier",
        "SAMULTClassifier", "SARClassifier", "SMCClassifier", "SVMCClassifier", "SVMClassifier", "SVMPathClassifier",
        "TwoStepClassifier", "UPUClassifier", "WeightedUnlabeledClassifier", "average_precision_scorer",
        "err_star_scorer", "labeled_scorer", "lift_scorer", "precision_at_k_scorer", "pu_auc_scorer", "puf_scorer"]

class PNUAUCBoostClassifier(Boosting):
    def __init__(self, *, n_rounds: int = 200, gamma: float = 0.5, rho: float = 0.01,
        max_bins: int | Literal['exact'] | None = None, step: Literal['jensen', 'line_search'] = 'jensen',
        early_stopping_rounds: int | None = None, n_folds: int = 5, stop_tol: float = 1e-09,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[BoostRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self: ...
    n_rounds: int; gamma: float; rho: float; max_bins: int | Literal['exact'] | None
    step: Literal['jensen', 'line_search']; early_stopping_rounds: int | None; n_folds: int; stop_tol: float
    random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[BoostRound], bool | None] | None; progress: bool

class RankBoostAUCClassifier(Boosting):
    def __init__(self, *, n_rounds: int = 200, rho: float = 0.01, max_bins: int | Literal['exact'] | None = None,
        step: Literal['jensen', 'line_search'] = 'jensen', early_stopping_rounds: int | None = None, n_folds: int = 5,
        stop_tol: float = 1e-09, random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None, callback: Callable[[BoostRound], bool | None] | None = None,
        progress: bool = False, calibration: str | None = None, calibration_prior: float | None = None,
        calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self: ...
    n_rounds: int; rho: float; max_bins: int | Literal['exact'] | None; step: Literal['jensen', 'line_search']
    early_stopping_rounds: int | None; n_folds: int; stop_tol: float
    random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[BoostRound], bool | None] | None; progress: bool

class PNUAdaBoostClassifier(PNUAdaBoost):
    def __init__(self, *, n_rounds: int = 200, gamma: float = 0.5, max_bins: int | Literal['exact'] | None = None,
        early_stopping_rounds: int | None = None, n_folds: int = 5, stop_tol: float = 1e-09,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[BoostRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self: ...
    n_rounds: int; gamma: float; max_bins: int | Literal['exact'] | None; early_stopping_rounds: int | None
    n_folds: int; stop_tol: float; random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[BoostRound], bool | None] | None; progress: bool

class ForestClassifier(Forest):
    def __init__(self, *, n_trees: int = 500, criterion: Literal['gini', 'nnpu', 'upu'] = 'gini',
        prior: float | None = None, scenario: Literal['case_control', 'single_set'] = 'case_control',
        splitter: Literal['random', 'best'] = 'random', bag_ratio: float | None = 2.0,
        max_features: Literal['sqrt', 'all'] | float = 'sqrt', min_leaf_rows: int = 3, max_depth: int | None = None,
        max_leaves: int | None = None, max_bins: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[ForestRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, init_model: Any = None) -> Self: ...
    n_trees: int; criterion: Literal['gini', 'nnpu', 'upu']; prior: float | None
    scenario: Literal['case_control', 'single_set']; splitter: Literal['random', 'best']; bag_ratio: float | None
    max_features: Literal['sqrt', 'all'] | float; min_leaf_rows: int; max_depth: int | None; max_leaves: int | None
    max_bins: int | None; random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[ForestRound], bool | None] | None; progress: bool

class BoostedTreesClassifier(BoostedTrees):
    def __init__(self, *, loss: LossName = 'pnu_auc', prior: float | None = None,
        scenario: Literal['case_control', 'single_set'] = 'case_control', gamma: float = 0.5, n_rounds: int = 100,
        learning_rate: float = 0.05, max_leaves: int = 4, max_depth: int | None = None,
        min_leaf_rows: int | None = None, min_leaf_hessian: float = 0.001, l2: float = 10.0, n_bags: int = 1,
        bag_ratio: float | None = None, subsample_unl: float = 1.0, colsample: float = 1.0,
        max_bins: int | None = None, early_stopping_rounds: int | None = None, n_folds: int = 5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[BoostedTreesRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None, init_model: Any = None) -> Self: ...
    loss: LossName; prior: float | None; scenario: Literal['case_control', 'single_set']; gamma: float; n_rounds: int
    learning_rate: float; max_leaves: int; max_depth: int | None; min_leaf_rows: int | None; min_leaf_hessian: float
    l2: float; n_bags: int; bag_ratio: float | None; subsample_unl: float; colsample: float; max_bins: int | None
    early_stopping_rounds: int | None; n_folds: int
    random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[BoostedTreesRound], bool | None] | None; progress: bool

class LSAUCClassifier(FastpuClassifier):
    def __init__(self, *, lam: float = 0.001, model: str = 'linear', n_centers: int = 200, centers: object = None,
        bandwidth: float | None = None, tol: float = 1e-10, max_iter: int = 1000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    lam: float; model: str; n_centers: int; centers: object; bandwidth: float | None; tol: float; max_iter: int
    random_state: int | np.random.Generator | np.random.RandomState | None

class SAMULTClassifier(SAMULT):
    def __init__(self, *, gamma: float = 0.5, lam: float = 0.001, model: str = 'linear', n_centers: int = 200,
        centers: object = None, bandwidth: float | None = None, tol: float = 1e-10, max_iter: int = 1000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    gamma: float; lam: float; model: str; n_centers: int; centers: object; bandwidth: float | None; tol: float
    max_iter: int; random_state: int | np.random.Generator | np.random.RandomState | None

class PNUAUCClassifier(PNUAUC):
    def __init__(self, *, prior: float | str = 'bbe', scenario: str = 'case_control', eta: float = 0.0,
        lam: float = 0.001, model: str = 'linear', n_centers: int = 200, centers: object = None,
        bandwidth: float | None = None, tol: float = 1e-10, max_iter: int = 1000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    prior: float | str; scenario: str; eta: float; lam: float; model: str; n_centers: int; centers: object
    bandwidth: float | None; tol: float; max_iter: int
    random_state: int | np.random.Generator | np.random.RandomState | None

class BSVMClassifier(WithCosts):
    def __init__(self, *, C_pos: float | None = None, C_unl: float | None = None, C: float = 1.0,
        kernel: str | Callable[..., object] = 'linear', gamma: float | str = 'scale', degree: int = 3,
        coef0: float = 0.0, cache_mb: float = 200, tol: float = 0.001, max_iter: int | None = None,
        n_threads: int | None = None, callback: Callable[[SvmRound], bool | None] | None = None,
        progress: bool = False, calibration: str | None = None, calibration_prior: float | None = None,
        calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    C_pos: float | None; C_unl: float | None; C: float; kernel: str | Callable[..., object]; gamma: float | str
    degree: int; coef0: float; cache_mb: float; tol: float; max_iter: int | None
    callback: Callable[[SvmRound], bool | None] | None; progress: bool

class BaggingSVMClassifier(FastpuClassifier):
    def __init__(self, *, C: float = 1.0, n_estimators: int | None = None, bag_size: int | None = None,
        kernel: str | Callable[..., object] = 'linear', gamma: float | str = 'scale', degree: int = 3,
        coef0: float = 0.0, cache_mb: float = 200, tol: float = 0.001, max_iter: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[BagRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any) -> Self: ...
    C: float; n_estimators: int | None; bag_size: int | None; kernel: str | Callable[..., object]; gamma: float | str
    degree: int; coef0: float; cache_mb: float; tol: float; max_iter: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[BagRound], bool | None] | None; progress: bool

class SMCClassifier(FastpuClassifier):
    def __init__(self, *, nu_map: float = 0.01, C: float = 1.0, nu: float | None = None, psi1: object = None,
        psi2: object = None, max_iter: int = 100, max_pos_reject: float | None = None, hold_out: float | None = None,
        kernel: str | Callable[..., object] = 'rbf', gamma: float | str = 'scale', degree: int = 3, coef0: float = 0.0,
        cache_mb: float = 200, tol: float = 0.001, solver_max_iter: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[MappingRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any) -> Self: ...
    nu_map: float; C: float; nu: float | None; psi1: object; psi2: object; max_iter: int; max_pos_reject: float | None
    hold_out: float | None; kernel: str | Callable[..., object]; gamma: float | str; degree: int; coef0: float
    cache_mb: float; tol: float; solver_max_iter: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[MappingRound], bool | None] | None; progress: bool

class SVMCClassifier(FastpuClassifier):
    def __init__(self, *, nu_map: float = 0.01, C: float = 1.0, nu: float | None = None, repair: bool = True,
        psi1: object = None, psi2: object = None, max_iter: int = 100, max_pos_reject: float | None = None,
        hold_out: float | None = None, kernel: str | Callable[..., object] = 'rbf', gamma: float | str = 'scale',
        degree: int = 3, coef0: float = 0.0, cache_mb: float = 200, tol: float = 0.001,
        solver_max_iter: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[MappingRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any) -> Self: ...
    nu_map: float; C: float; nu: float | None; repair: bool; psi1: object; psi2: object; max_iter: int
    max_pos_reject: float | None; hold_out: float | None; kernel: str | Callable[..., object]; gamma: float | str
    degree: int; coef0: float; cache_mb: float; tol: float; solver_max_iter: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[MappingRound], bool | None] | None; progress: bool

class ISVMClassifier(FastpuClassifier):
    def __init__(self, *, C: float | None = None, tol: float = 0.001, max_iter: int = 100, solver_tol: float = 1e-09,
        solver_max_iter: int | None = None, check_increase: bool = True, solver: str = 'auto',
        n_threads: int | None = None, callback: Callable[[MarginRound], bool | None] | None = None,
        progress: bool = False, calibration: str | None = None, calibration_prior: float | None = None,
        calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    C: float | None; tol: float; max_iter: int; solver_tol: float; solver_max_iter: int | None; check_increase: bool
    solver: str; callback: Callable[[MarginRound], bool | None] | None; progress: bool

class IPSIClassifier(FastpuClassifier):
    def __init__(self, *, C: float | None = None, init: str = 'hinge', tol: float = 0.001, max_iter: int = 100,
        solver_tol: float = 1e-09, solver_max_iter: int | None = None, check_increase: bool = True,
        solver: str = 'auto', n_threads: int | None = None,
        callback: Callable[[MarginRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    C: float | None; init: str; tol: float; max_iter: int; solver_tol: float; solver_max_iter: int | None
    check_increase: bool; solver: str; callback: Callable[[MarginRound], bool | None] | None; progress: bool

class BPSIClassifier(WithCosts):
    def __init__(self, *, C_pos: float | None = None, C_unl: float | None = None, C: float = 1.0, max_iter: int = 100,
        solver_tol: float = 1e-09, solver_max_iter: int | None = None, solver: str = 'auto',
        n_threads: int | None = None, callback: Callable[[MarginRound], bool | None] | None = None,
        progress: bool = False, calibration: str | None = None, calibration_prior: float | None = None,
        calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    C_pos: float | None; C_unl: float | None; C: float; max_iter: int; solver_tol: float; solver_max_iter: int | None
    solver: str; callback: Callable[[MarginRound], bool | None] | None; progress: bool

class PUALClassifier(WithLandmarks):
    def __init__(self, *, C_pos: float = 1.0, C_unl: float = 0.1, lam: float = 1.0, sigma: float | str = 'median',
        n_neighbors: int = 5, kernel: str | Callable[..., object] = 'linear', gamma: float | str = 'scale',
        degree: int = 3, coef0: float = 0.0, tol: float = 1e-09, max_iter: int = 200, n_components: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[PualRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, graph: Any = None) -> Self: ...
    C_pos: float; C_unl: float; lam: float; sigma: float | str; n_neighbors: int; kernel: str | Callable[..., object]
    gamma: float | str; degree: int; coef0: float; tol: float; max_iter: int; n_components: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[PualRound], bool | None] | None; progress: bool

class GLLCClassifier(WithLandmarks):
    def __init__(self, *, C_pos: float = 1.0, C_unl: float = 0.1, lam: float = 1.0, sigma: float | str = 'median',
        n_neighbors: int = 5, kernel: str | Callable[..., object] = 'linear', gamma: float | str = 'scale',
        degree: int = 3, coef0: float = 0.0, n_components: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[PualRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, graph: Any = None) -> Self: ...
    C_pos: float; C_unl: float; lam: float; sigma: float | str; n_neighbors: int; kernel: str | Callable[..., object]
    gamma: float | str; degree: int; coef0: float; n_components: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[PualRound], bool | None] | None; progress: bool

class BLSSVMClassifier(WithLandmarks):
    def __init__(self, *, C_pos: float = 1.0, C_unl: float = 0.1, lam: float = 1.0,
        kernel: str | Callable[..., object] = 'linear', gamma: float | str = 'scale', degree: int = 3,
        coef0: float = 0.0, n_components: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[PualRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    C_pos: float; C_unl: float; lam: float; kernel: str | Callable[..., object]; gamma: float | str; degree: int
    coef0: float; n_components: int | None; random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[PualRound], bool | None] | None; progress: bool

class UPUClassifier(WithPrior):
    def __init__(self, *, prior: float | str = 'bbe', scenario: str = 'case_control', lam: float | None = None,
        loss: str = 'logistic', model: str = 'linear', n_centers: int = 200, centers: object = None,
        bandwidth: float | None = None, n_hidden: int = 100, tol: float = 1e-10, max_iter: int = 200,
        learning_rate: float | None = None, weight_decay: float | None = None, batch_size: int | str | None = 'auto',
        n_epochs: int | None = None, validation_fraction: float = 0.1,
        early_stopping_rounds: int | str | None = 'auto',
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[RiskRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self: ...
    prior: float | str; scenario: str; lam: float | None; loss: str; model: str; n_centers: int; centers: object
    bandwidth: float | None; n_hidden: int; tol: float; max_iter: int; learning_rate: float | None
    weight_decay: float | None; batch_size: int | str | None; n_epochs: int | None; validation_fraction: float
    early_stopping_rounds: int | str | None; random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[RiskRound], bool | None] | None; progress: bool

class NNPUClassifier(InEpochs):
    def __init__(self, *, prior: float | str = 'bbe', scenario: str = 'case_control', lam: float | None = None,
        loss: str = 'logistic', model: str = 'linear', beta: float = 0.0, gamma_nn: float = 1.0, n_centers: int = 200,
        centers: object = None, bandwidth: float | None = None, n_hidden: int = 100,
        learning_rate: float | None = None, weight_decay: float | None = None, batch_size: int | str | None = 'auto',
        n_epochs: int | None = None, validation_fraction: float = 0.1,
        early_stopping_rounds: int | str | None = 'auto',
        random_state: int | np.random.Generator | np.random.RandomState | None = None, n_threads: int | None = None,
        callback: Callable[[RiskRound], bool | None] | None = None, progress: bool = False,
        calibration: str | None = None, calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self: ...
    prior: float | str; scenario: str; lam: float | None; loss: str; model: str; beta: float; gamma_nn: float
    n_centers: int; centers: object; bandwidth: float | None; n_hidden: int; learning_rate: float | None
    weight_decay: float | None; batch_size: int | str | None; n_epochs: int | None; validation_fraction: float
    early_stopping_rounds: int | str | None; random_state: int | np.random.Generator | np.random.RandomState | None
    callback: Callable[[RiskRound], bool | None] | None; progress: bool

class PUSVMPathClassifier(OnPUPath):
    def __init__(self, *, cost_pos: float | None = None, cost_unl: float = 1.0,
        kernel: str | Callable[..., object] = 'linear', gamma: float | str = 'scale', degree: int = 3,
        coef0: float = 0.0, lam_min: float = 0.0, max_events: int | None = None, cache_mb: float = 200,
        n_threads: int | None = None, callback: Callable[[PathRound], bool | None] | None = None,
        progress: bool = False, criterion: str | Callable[..., float] = 'puf', lam: float | None = None,
        cv: int | None = 5, prior: float | None = None, scenario: str = 'case_control',
        random_state: int | np.random.Generator | np.random.RandomState | None = None, calibration: str | None = None,
        calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any) -> Self: ...
    cost_pos: float | None; cost_unl: float; kernel: str | Callable[..., object]; gamma: float | str; degree: int
    coef0: float; lam_min: float; max_events: int | None; cache_mb: float
    callback: Callable[[PathRound], bool | None] | None; progress: bool; criterion: str | Callable[..., float]
    lam: float | None; cv: int | None; prior: float | None; scenario: str
    random_state: int | np.random.Generator | np.random.RandomState | None

class SVMClassifier(FastpuClassifier):
    def __init__(self, *, C: float = 1.0, kernel: str | Callable[..., object] = 'rbf', gamma: float | str = 'scale',
        degree: int = 3, coef0: float = 0.0, cache_mb: float = 200, tol: float = 0.001, max_iter: int | None = None,
        n_threads: int | None = None, callback: Callable[[SvmRound], bool | None] | None = None,
        progress: bool = False, calibration: str | None = None, calibration_prior: float | None = None,
        calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, sample_cost: Any = None) -> Self: ...
    C: float; kernel: str | Callable[..., object]; gamma: float | str; degree: int; coef0: float; cache_mb: float
    tol: float; max_iter: int | None; callback: Callable[[SvmRound], bool | None] | None; progress: bool

class NuSVMClassifier(FastpuClassifier):
    def __init__(self, *, nu: float = 0.5, kernel: str | Callable[..., object] = 'rbf', gamma: float | str = 'scale',
        degree: int = 3, coef0: float = 0.0, cache_mb: float = 200, tol: float = 0.001, max_iter: int | None = None,
        n_threads: int | None = None, callback: Callable[[SvmRound], bool | None] | None = None,
        progress: bool = False, calibration: str | None = None, calibration_prior: float | None = None,
        calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    nu: float; kernel: str | Callable[..., object]; gamma: float | str; degree: int; coef0: float; cache_mb: float
    tol: float; max_iter: int | None; callback: Callable[[SvmRound], bool | None] | None; progress: bool

class SVMPathClassifier(OnPath):
    def __init__(self, *, kernel: str | Callable[..., object] = 'rbf', gamma: float | str = 'scale', degree: int = 3,
        coef0: float = 0.0, lam_min: float = 0.0, max_events: int | None = None, cache_mb: float = 200,
        n_threads: int | None = None, callback: Callable[[PathRound], bool | None] | None = None,
        progress: bool = False, lam: float | None = None, criterion: str | Callable[..., float] = 'f1',
        cv: int | None = 5, prior: float | None = None, scenario: str = 'case_control',
        random_state: int | np.random.Generator | np.random.RandomState | None = None, calibration: str | None = None,
        calibration_prior: float | None = None, calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any, sample_cost: Any = None) -> Self: ...
    kernel: str | Callable[..., object]; gamma: float | str; degree: int; coef0: float; lam_min: float
    max_events: int | None; cache_mb: float; callback: Callable[[PathRound], bool | None] | None; progress: bool
    lam: float | None; criterion: str | Callable[..., float]; cv: int | None; prior: float | None; scenario: str
    random_state: int | np.random.Generator | np.random.RandomState | None

class OneClassSVMClassifier(OneClassSVM):
    def __init__(self, *, nu: float = 0.1, kernel: str | Callable[..., object] = 'rbf', gamma: float | str = 'scale',
        degree: int = 3, coef0: float = 0.0, cache_mb: float = 200, tol: float = 0.001, max_iter: int | None = None,
        n_threads: int | None = None, callback: Callable[[SvmRound], bool | None] | None = None,
        progress: bool = False, calibration: str | None = None, calibration_prior: float | None = None,
        calibration_cv: int = 5) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    nu: float; kernel: str | Callable[..., object]; gamma: float | str; degree: int; coef0: float; cache_mb: float
    tol: float; max_iter: int | None; callback: Callable[[SvmRound], bool | None] | None; progress: bool
