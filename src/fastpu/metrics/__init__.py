"""Criteria that judge scores: AUC, pairwise risks, F1, and those that need no labelled negatives.

All are called as ``metric(y, scores, ...)``, with one label and one score for each row. `auc` and `f1` need the true
label of every row, and `f1` takes predicted labels in place of scores. `pn_risk` and `un_risk` need labelled negatives.
All others take the labels that fits take: +1 for labelled positive and 0 for unlabelled rows. `pu_auc`, `err_star`,
`error_rate`, `precision_at_k` and `average_precision` also need the `prior`, the share of positives.
"""

from fastpu.metrics._curve import ranking_curve
from fastpu.metrics._decisions import err_star, error_rate, f1, puf_score
from fastpu.metrics._pairs import auc, pn_risk, pu_auc, pu_risk, un_risk
from fastpu.metrics._precision import average_precision, precision_at_k
from fastpu.metrics._ranking_estimates import RankingCurve, RankingEstimate
from fastpu.metrics._recall import lift_at_k, recall_at_k

__all__ = [
    "RankingCurve",
    "RankingEstimate",
    "auc",
    "average_precision",
    "err_star",
    "error_rate",
    "f1",
    "lift_at_k",
    "pn_risk",
    "precision_at_k",
    "pu_auc",
    "pu_risk",
    "puf_score",
    "ranking_curve",
    "recall_at_k",
    "un_risk",
]


def __dir__() -> list[str]:
    return __all__
