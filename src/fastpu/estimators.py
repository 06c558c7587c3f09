"""Every fit function as a scikit-learn classifier (the extra ``fastpu[sklearn]``), and scorers."""

from __future__ import annotations

from fastpu._estimator_auc import LSAUCClassifier, PNUAUCClassifier, SAMULTClassifier
from fastpu._estimator_boosting import PNUAdaBoostClassifier, PNUAUCBoostClassifier, RankBoostAUCClassifier
from fastpu._estimator_checks import EXPECTED_FAILED_CHECKS
from fastpu._estimator_mapping import SMCClassifier, SVMCClassifier
from fastpu._estimator_margin import BPSIClassifier, IPSIClassifier, ISVMClassifier
from fastpu._estimator_path import PUSVMPathClassifier, SVMPathClassifier
from fastpu._estimator_pual import BLSSVMClassifier, GLLCClassifier, PUALClassifier
from fastpu._estimator_risk import NNPUClassifier, UPUClassifier
from fastpu._estimator_scorers import PUScorer, err_star_scorer, pu_auc_scorer, puf_scorer
from fastpu._estimator_svm import (
    BaggingSVMClassifier,
    BSVMClassifier,
    NuSVMClassifier,
    OneClassSVMClassifier,
    SVMClassifier,
)

__all__ = [
    "BLSSVMClassifier",
    "BPSIClassifier",
    "BSVMClassifier",
    "BaggingSVMClassifier",
    "EXPECTED_FAILED_CHECKS",
    "GLLCClassifier",
    "IPSIClassifier",
    "ISVMClassifier",
    "LSAUCClassifier",
    "NNPUClassifier",
    "NuSVMClassifier",
    "OneClassSVMClassifier",
    "PNUAUCBoostClassifier",
    "PNUAUCClassifier",
    "PNUAdaBoostClassifier",
    "PUALClassifier",
    "PUSVMPathClassifier",
    "PUScorer",
    "RankBoostAUCClassifier",
    "SAMULTClassifier",
    "SMCClassifier",
    "SVMCClassifier",
    "SVMClassifier",
    "SVMPathClassifier",
    "UPUClassifier",
    "err_star_scorer",
    "pu_auc_scorer",
    "puf_scorer",
]
