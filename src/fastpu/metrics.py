"""Criteria that judge scores: AUC, pairwise risks, F1, and those that need no labelled negatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu._pu_criteria import err_star, puf_score, scale_down
from fastpu._validate import check_binary, check_sample_weight, check_vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["auc", "err_star", "f1", "pn_risk", "pu_risk", "puf_score", "un_risk"]


def auc(y_true: object, score: object, *, sample_weight: object = None) -> float:
    r"""Return the area under the ROC curve, with ties counted one half.

    .. math:: \mathrm{AUC} = \frac{\sum_{i \in P} \sum_{k \in N} w_i w_k
        \left([s_i > s_k] + \tfrac12 [s_i = s_k]\right)}{\sum_{i \in P} w_i \sum_{k \in N} w_k}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} or booleans; both kinds must occur. Unlabelled rows have no
        place here: leave them out.
    score : array-like of shape (n,)
        Larger is more positive; may be infinite.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; a weight counts as that many repetitions of the row.

    Returns
    -------
    float
        In [0, 1]; 1/2 for scores that are all equal. Without weights it is the exact ratio of two
        integers, rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If lengths differ, a score is NaN, a weight is negative, the labels are of three kinds, or
        one of the two kinds is missing (or has no weight).

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from fastpu.metrics import auc
    >>> auc([1, 1, -1, -1], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    positive = check_binary(y_true)
    scores = check_vector("score", score, n=positive.size, inf="allow")
    weights = check_sample_weight(sample_weight, positive.size)
    if weights is None:
        return _win_share(scores[positive], scores[~positive])
    return _weighted_win_share(scores[positive], scores[~positive], weights[positive], weights[~positive])


def f1(y_true: object, y_pred: object, *, sample_weight: object = None) -> float:
    r"""Return the F1 score of the positive class: the harmonic mean of precision and recall.

    .. math:: F_1 = \frac{2 TP}{2 TP + FP + FN}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} or booleans. Unlabelled rows have no place here: leave them out.
    y_pred : array-like of shape (n,)
        Predicted labels, in any of these codings, as from ``model.predict(X)``. For scores pass
        ``score > threshold``.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; a weight counts as that many repetitions of the row.

    Returns
    -------
    float
        In [0, 1]; 0 where no row is positive or called positive (0/0).

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold two kinds of labels, lengths differ, or a weight is negative.

    Examples
    --------
    >>> from fastpu.metrics import f1
    >>> f1([1, 1, 1, -1, -1], [1, 1, -1, 1, -1])
    0.6666666666666666
    """
    positive = check_binary(y_true, both=False)
    called = check_binary(y_pred, name="y_pred", both=False)
    if called.size != positive.size:
        raise ValueError(f"y_pred must have {positive.size} entries, got {called.size}")
    weights = check_sample_weight(sample_weight, positive.size)
    if weights is None:
        twice_hit = 2 * int(np.count_nonzero(positive & called))
        total = int(np.count_nonzero(positive)) + int(np.count_nonzero(called))
        return twice_hit / total if total else 0.0
    mass = scale_down(weights, float(weights.max()))
    heavy = float(mass[positive].sum()) + float(mass[called].sum())
    return min(1.0, 2 * float(mass[positive & called].sum()) / heavy) if heavy else 0.0


def pn_risk(score_pos: object, score_neg: object) -> float:
    r"""Return the share of (positive, negative) pairs in the wrong order, ties counted one half.

    .. math:: R_{PN} = \frac{1}{n_p n_n} \sum_{i \in P} \sum_{k \in N}
        \left([s_i < s_k] + \tfrac12 [s_i = s_k]\right) = 1 - \mathrm{AUC}

    Parameters
    ----------
    score_pos, score_neg : array-like of shapes (n_p,) and (n_n,)
        Scores of the positive and of the negative rows; larger is more positive, infinite allowed.

    Returns
    -------
    float
        In [0, 1], the exact ratio rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If an argument is empty, is not one-dimensional or holds NaN.

    Notes
    -----
    O(n log n) time, O(n) memory for n = n_p + n_n.

    Examples
    --------
    >>> from fastpu.metrics import pn_risk
    >>> pn_risk([0.9, 0.4], [0.4, 0.1])
    0.125
    """
    return _risk(score_pos, score_neg, "score_pos", "score_neg")


def pu_risk(score_pos: object, score_unl: object) -> float:
    r"""Return the share of (positive, unlabelled) pairs in the wrong order, ties counted one half.

    If a share :math:`\theta_p` of the unlabelled rows is positive (and :math:`\theta_n = 1 -
    \theta_p`), then in expectation :math:`R_{PU} = \theta_n R_{PN} + \theta_p / 2`.

    Parameters
    ----------
    score_pos, score_unl : array-like of shapes (n_p,) and (n_u,)
        Scores of the labelled positive and of the unlabelled rows; larger is more positive,
        infinite allowed.

    Returns
    -------
    float
        In [0, 1], the exact ratio rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If an argument is empty, is not one-dimensional or holds NaN.

    Notes
    -----
    O(n log n) time, O(n) memory for n = n_p + n_u.

    Examples
    --------
    >>> from fastpu.metrics import pu_risk
    >>> pu_risk([0.9, 0.4], [0.9, 0.4, 0.1, 0.1])
    0.25
    """
    return _risk(score_pos, score_unl, "score_pos", "score_unl")


def un_risk(score_unl: object, score_neg: object) -> float:
    r"""Return the share of (unlabelled, negative) pairs in the wrong order, ties counted one half.

    If a share :math:`\theta_p` of the unlabelled rows is positive (and :math:`\theta_n = 1 -
    \theta_p`), then in expectation :math:`R_{UN} = \theta_p R_{PN} + \theta_n / 2`.

    Parameters
    ----------
    score_unl, score_neg : array-like of shapes (n_u,) and (n_n,)
        Scores of the unlabelled and of the labelled negative rows; larger is more positive,
        infinite allowed.

    Returns
    -------
    float
        In [0, 1], the exact ratio rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If an argument is empty, is not one-dimensional or holds NaN.

    Notes
    -----
    O(n log n) time, O(n) memory for n = n_u + n_n.

    Examples
    --------
    >>> from fastpu.metrics import un_risk
    >>> un_risk([0.9, 0.1], [0.4, 0.1])
    0.375
    """
    return _risk(score_unl, score_neg, "score_unl", "score_neg")


def _risk(high: object, low: object, high_name: str, low_name: str) -> float:
    scores = check_vector(high_name, high, inf="allow"), check_vector(low_name, low, inf="allow")
    return _win_share(scores[1], scores[0])


def _win_share(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the share of pairs with a above b, ties one half: a ratio of exact integers."""
    a, b = np.sort(a), np.sort(b)  # sorted needles make the search run through memory in order
    below = np.searchsorted(b, a, side="left")
    not_above = np.searchsorted(b, a, side="right")
    twice_won = int(below.sum()) + int(not_above.sum())
    return twice_won / (2 * a.size * b.size)


def _weighted_win_share(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    weight_a: NDArray[np.float64],
    weight_b: NDArray[np.float64],
) -> float:
    weight_a, weight_b = _scaled(weight_a), _scaled(weight_b)
    order = np.argsort(b, kind="stable")
    b = b[order]
    mass = np.concatenate([[0.0], np.cumsum(weight_b[order])])
    won = mass[np.searchsorted(b, a, side="left")] + mass[np.searchsorted(b, a, side="right")]
    return min(1.0, float(weight_a @ won) / (2.0 * float(weight_a.sum()) * float(mass[-1])))


def _scaled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights scaled, exactly, by a power of two, so that no product overflows."""
    largest = float(weights.max())
    if largest == 0:
        raise ValueError(
            "sample_weight must have a positive entry among the positive and among the negative "
            "rows, got zeros only for one of them"
        )
    return scale_down(weights, largest)
