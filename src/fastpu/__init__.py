"""Fast learning from positive and unlabelled data.

Labels are +1 (positive), 0 (unlabelled) and -1 (negative, where a method takes it); scores are larger for what
is more positive. Every ``fit_*`` function returns an immutable model.
"""

from importlib.metadata import version as _version

from fastpu import datasets, metrics, objectives, plot, priors
from fastpu.baselines.bls_svm import fit_bls_svm
from fastpu.baselines.ls_auc import fit_ls_auc, fit_pnu_auc, fit_samult
from fastpu.baselines.rank_machine import RankMachine
from fastpu.boosting.boosted_trees import BoostedTreesRound, fit_boosted_trees
from fastpu.boosting.stump_boost import BoostRound, fit_pnu_adaboost, fit_pnu_auc_boost, fit_rankboost_auc
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.data.binned_features import BinnedFeatures, bin_features
from fastpu.data.labels import as_labels, stack
from fastpu.exceptions import (
    ConvergenceWarning,
    DegenerateModelWarning,
    EstimateWarning,
    FailedFitWarning,
    LabelWarning,
    ScaleWarning,
)
from fastpu.forest.forest import ForestRound, fit_forest
from fastpu.judge.selection import Selection, select
from fastpu.knn.knn_graph import KNNGraph, knn_graph, knn_similarity
from fastpu.mapping.mapping_convergence import MappingRound, fit_smc, fit_svmc
from fastpu.mapping.mapping_machine import MappingMachine, MappingScorer
from fastpu.margin._arguments import MarginRound
from fastpu.margin.bpsi import fit_bpsi
from fastpu.margin.isvm import fit_ipsi, fit_isvm
from fastpu.margin.linear_machine import LinearMachine
from fastpu.model._model import Model, load
from fastpu.path.svm_path import PathRound, fit_pu_svm_path, fit_svm_path
from fastpu.path.svm_path_model import SVMPath
from fastpu.pual._arguments import PualRound
from fastpu.pual.gllc import fit_gllc
from fastpu.pual.pual import fit_pual
from fastpu.pual.pual_machine import PualMachine
from fastpu.risk._arguments import RiskRound
from fastpu.risk.nnpu import fit_nnpu
from fastpu.risk.risk_machine import RiskMachine
from fastpu.risk.risk_network import RiskNetwork
from fastpu.risk.upu import fit_upu
from fastpu.svm._solver import SvmRound
from fastpu.svm.bagging_svm import BaggingSVM, BagRound, fit_bagging_svm
from fastpu.svm.bsvm import fit_bsvm
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.svm import fit_nu_svm, fit_one_class_svm, fit_svm
from fastpu.tree.tree_ensemble import TreeEnsemble

__version__ = _version("fastpu")

__all__ = [
    "BagRound",
    "BaggingSVM",
    "BinnedFeatures",
    "BoostRound",
    "BoostedTreesRound",
    "ConvergenceWarning",
    "DegenerateModelWarning",
    "EstimateWarning",
    "FailedFitWarning",
    "ForestRound",
    "KNNGraph",
    "KernelMachine",
    "LabelWarning",
    "LinearMachine",
    "MappingMachine",
    "MappingRound",
    "MappingScorer",
    "MarginRound",
    "Model",
    "PathRound",
    "PualMachine",
    "PualRound",
    "RankMachine",
    "RiskMachine",
    "RiskNetwork",
    "RiskRound",
    "SVMPath",
    "ScaleWarning",
    "Selection",
    "StumpEnsemble",
    "SvmRound",
    "TreeEnsemble",
    "__version__",
    "as_labels",
    "bin_features",
    "datasets",
    "fit_bagging_svm",
    "fit_bls_svm",
    "fit_boosted_trees",
    "fit_bpsi",
    "fit_bsvm",
    "fit_forest",
    "fit_gllc",
    "fit_ipsi",
    "fit_isvm",
    "fit_ls_auc",
    "fit_nnpu",
    "fit_nu_svm",
    "fit_one_class_svm",
    "fit_pnu_adaboost",
    "fit_pnu_auc",
    "fit_pnu_auc_boost",
    "fit_pu_svm_path",
    "fit_pual",
    "fit_rankboost_auc",
    "fit_samult",
    "fit_smc",
    "fit_svm",
    "fit_svm_path",
    "fit_svmc",
    "fit_upu",
    "knn_graph",
    "knn_similarity",
    "load",
    "metrics",
    "objectives",
    "plot",
    "priors",
    "select",
    "stack",
]


def __dir__() -> list[str]:
    return __all__
