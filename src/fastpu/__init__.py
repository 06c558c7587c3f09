"""Fast learning from positive and unlabelled data.

Labels are +1 (positive), 0 (unlabelled) and -1 (negative, where a method takes it); scores are larger for what
is more positive. Every ``fit_*`` function returns an immutable model.
"""

from importlib.metadata import version as _version

from fastpu import datasets, metrics, priors
from fastpu._margin_arguments import MarginRound
from fastpu._model import Model, load
from fastpu._svm import SvmRound
from fastpu._warnings import ConvergenceWarning, DegenerateModelWarning, EstimateWarning
from fastpu.bagging_svm import BaggingSVM, BagRound, fit_bagging_svm
from fastpu.binned_features import BinnedFeatures, bin_features
from fastpu.bpsi import fit_bpsi
from fastpu.bsvm import fit_bsvm
from fastpu.isvm import fit_ipsi, fit_isvm
from fastpu.kernel_machine import KernelMachine
from fastpu.labels import as_labels, stack
from fastpu.linear_machine import LinearMachine
from fastpu.ls_auc import fit_ls_auc, fit_pnu_auc, fit_samult
from fastpu.mapping_convergence import MappingRound, fit_smc, fit_svmc
from fastpu.mapping_machine import MappingMachine, MappingScorer
from fastpu.rank_machine import RankMachine
from fastpu.selection import Selection, select
from fastpu.stump_boost import BoostRound, fit_pnu_adaboost, fit_pnu_auc_boost, fit_rankboost_auc
from fastpu.stump_ensemble import StumpEnsemble
from fastpu.svm import fit_nu_svm, fit_one_class_svm, fit_svm

__version__ = _version("fastpu")

__all__ = [
    "BagRound",
    "BaggingSVM",
    "BinnedFeatures",
    "BoostRound",
    "ConvergenceWarning",
    "DegenerateModelWarning",
    "EstimateWarning",
    "KernelMachine",
    "LinearMachine",
    "MappingMachine",
    "MappingRound",
    "MappingScorer",
    "MarginRound",
    "Model",
    "RankMachine",
    "Selection",
    "StumpEnsemble",
    "SvmRound",
    "__version__",
    "as_labels",
    "bin_features",
    "datasets",
    "fit_bagging_svm",
    "fit_bpsi",
    "fit_bsvm",
    "fit_ipsi",
    "fit_isvm",
    "fit_ls_auc",
    "fit_nu_svm",
    "fit_one_class_svm",
    "fit_pnu_adaboost",
    "fit_pnu_auc",
    "fit_pnu_auc_boost",
    "fit_rankboost_auc",
    "fit_samult",
    "fit_smc",
    "fit_svm",
    "fit_svmc",
    "load",
    "metrics",
    "priors",
    "select",
    "stack",
]


def __dir__() -> list[str]:
    return __all__
