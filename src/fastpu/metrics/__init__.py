"""Criteria that judge scores: AUC, pairwise risks, F1, and those that need no labelled negatives.

All are called as ``metric(y, scores, ...)``, with one label and one score for each row. What `y` holds says what must
be known: true labels of all rows in `auc` and `f1` (of predictions in place of scores), labelled negatives in `pn_risk`
and `un_risk`, and elsewhere the labels that fits take, +1 for labelled positive and 0 for unlabelled rows; `prior`
(`pu_auc`, `err_star`, `error_rate`, `precision_at_k`, `average_precision`) must be known beside them.
"""

from fastpu.metrics._decisions import err_star, error_rate, f1, puf_score
from fastpu.metrics._pairs import auc, pn_risk, pu_auc, pu_risk, un_risk
from fastpu.metrics._ranked_rows import RankingCurve, RankingEstimate
from fastpu.metrics._ranking import average_precision, lift_at_k, precision_at_k, ranking_curve, recall_at_k

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
