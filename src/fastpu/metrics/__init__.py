"""Criteria that judge scores: AUC, pairwise risks, F1, and those that need no labelled negatives.

What an argument is called says what must be known. `y_true` (`auc`, `f1`) holds true labels of all rows, and
`score_neg` (`pn_risk`, `un_risk`) the scores of rows known to be negative. `score_pos` and `score_unl` (all others) are
scores of labelled positive and of unlabelled rows, and no true label is needed; `prior` (`pu_auc`, `err_star`,
`error_rate`, `precision_at_k`, `average_precision`) must be known beside them.
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
