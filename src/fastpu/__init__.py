"""Fast learning from positive and unlabelled data.

Labels are +1 (positive), 0 (unlabelled) and -1 (negative, where a method takes it); scores are larger for what
is more positive. Every ``fit_*`` function returns an immutable model.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version

from fastpu import audit, baselines, datasets, exceptions, metrics, models, objectives, plot, priors
from fastpu.boosting.boosted_trees import fit_boosted_trees
from fastpu.boosting.stump_boost import fit_pnu_auc_boost
from fastpu.data.binned_features import bin_features
from fastpu.data.labels import as_labels, stack
from fastpu.forest.forest import fit_forest
from fastpu.knn.knn_graph import knn_graph, knn_similarity
from fastpu.mapping.mapping_convergence import fit_smc, fit_svmc
from fastpu.model._load import load
from fastpu.model._model import Model
from fastpu.path.svm_path import fit_pu_svm_path, fit_svm_path
from fastpu.pual.gllc import fit_gllc
from fastpu.pual.pual import fit_pual
from fastpu.risk.nnpu import fit_nnpu
from fastpu.risk.upu import fit_upu
from fastpu.selection.select import select
from fastpu.svm.bagging_svm import fit_bagging_svm
from fastpu.svm.bsvm import fit_bsvm
from fastpu.svm.isvm import fit_ipsi, fit_isvm

__version__ = _version("fastpu")

__all__ = [
    "Model",
    "__version__",
    "as_labels",
    "audit",
    "baselines",
    "bin_features",
    "datasets",
    "exceptions",
    "fit_bagging_svm",
    "fit_boosted_trees",
    "fit_bsvm",
    "fit_forest",
    "fit_gllc",
    "fit_ipsi",
    "fit_isvm",
    "fit_nnpu",
    "fit_pnu_auc_boost",
    "fit_pu_svm_path",
    "fit_pual",
    "fit_smc",
    "fit_svm_path",
    "fit_svmc",
    "fit_upu",
    "knn_graph",
    "knn_similarity",
    "load",
    "metrics",
    "models",
    "objectives",
    "plot",
    "priors",
    "select",
    "stack",
]
_WITH_EXTRAS = ("dask", "estimators")  # modules that need optional packages, imported when they are first named


def __getattr__(name: str) -> object:
    if name in _WITH_EXTRAS:
        return _import_module(f"fastpu.{name}")
    modules = audit, baselines, datasets, exceptions, metrics, models, objectives, plot, priors
    place = "fastpu.estimators" if name.endswith("Classifier") else ""
    place = next((module.__name__ for module in modules if name in module.__all__), place)
    raise AttributeError(f"module 'fastpu' has no attribute {name!r}" + (f"; look in {place}" if place else ""))


def __dir__() -> list[str]:
    return sorted([*__all__, *_WITH_EXTRAS])
