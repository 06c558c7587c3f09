"""What fits return: the classes of models and results, and the records that callbacks are given.

`Model`, the base of all models, is `fastpu.Model`.
"""

from __future__ import annotations

from fastpu.baselines.rank_machine import RankMachine
from fastpu.boosting._boosted_trees_rounds import BoostedTreesRound
from fastpu.boosting._stump_rounds import BoostRound
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.data.binned_features import BinnedFeatures
from fastpu.forest._forest_growth import ForestRound
from fastpu.knn.knn_graph import KNNGraph
from fastpu.mapping.mapping_machine import MappingMachine
from fastpu.mapping.mapping_round import MappingRound
from fastpu.model._check import BatchCheck, ColumnCheck, Shift
from fastpu.model._model import Model
from fastpu.model._profile import ColumnProfiles, EntryShares, Profile
from fastpu.path._points import PathRound
from fastpu.path.path_model import SVMPath
from fastpu.pual.pual_machine import PualMachine, PualRound
from fastpu.risk.risk_machine import RiskMachine, RiskNetwork, RiskRound
from fastpu.selection.select import Selection
from fastpu.svm.bagging_machine import BaggingSVM, BagRound
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.linear_machine import LinearMachine
from fastpu.svm.margin_round import MarginRound
from fastpu.svm.svm_round import SvmRound
from fastpu.tree.tree_ensemble import TreeEnsemble

__all__ = [
    "BagRound",
    "BaggingSVM",
    "BatchCheck",
    "BinnedFeatures",
    "BoostRound",
    "BoostedTreesRound",
    "ColumnCheck",
    "ColumnProfiles",
    "EntryShares",
    "ForestRound",
    "KNNGraph",
    "KernelMachine",
    "LinearMachine",
    "MappingMachine",
    "MappingRound",
    "MarginRound",
    "Model",
    "PathRound",
    "Profile",
    "PualMachine",
    "PualRound",
    "RankMachine",
    "RiskMachine",
    "RiskNetwork",
    "RiskRound",
    "SVMPath",
    "Selection",
    "Shift",
    "StumpEnsemble",
    "SvmRound",
    "TreeEnsemble",
]


def __dir__() -> list[str]:
    return __all__
