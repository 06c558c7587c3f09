"""Fast learning from positive and unlabelled data.

Labels are +1 (positive), 0 (unlabelled) and -1 (negative, where a method takes it); scores are larger for what
is more positive. Every ``fit_*`` function returns an immutable model.
"""

from importlib.metadata import version as _version

from fastpu import datasets, metrics
from fastpu._model import Model, load
from fastpu._warnings import ConvergenceWarning, DegenerateModelWarning
from fastpu.binned_features import BinnedFeatures, bin_features
from fastpu.labels import as_labels, stack
from fastpu.stump_boost import BoostRound, fit_pnu_adaboost, fit_pnu_auc_boost, fit_rankboost_auc
from fastpu.stump_ensemble import StumpEnsemble

__version__ = _version("fastpu")

__all__ = [
    "BinnedFeatures",
    "BoostRound",
    "ConvergenceWarning",
    "DegenerateModelWarning",
    "Model",
    "StumpEnsemble",
    "__version__",
    "as_labels",
    "bin_features",
    "datasets",
    "fit_pnu_adaboost",
    "fit_pnu_auc_boost",
    "fit_rankboost_auc",
    "load",
    "metrics",
    "stack",
]


def __dir__() -> list[str]:
    return __all__
