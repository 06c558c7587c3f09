"""Criteria of a decision: F1 for true labels, PUF and Err* for positive and unlabelled rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float
from fastpu.common._types import LabelsLike, Scenario, VectorLike
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_binary, check_sample_weight, label_counts
from fastpu.metrics._intervals import warn_of_open_range
from fastpu.metrics._labelled_scores import read_rows
from fastpu.model._prior import PriorEstimate, check_prior_in, check_scenario, prior_among_unlabeled


@answers_unknown_keywords
def f1(y: LabelsLike, y_pred: LabelsLike, *, sample_weight: VectorLike | None = None) -> float:
    r"""Return the F1 score of the positive class: the harmonic mean of precision and recall.

    .. math:: F_1 = \frac{2 TP}{2 TP + FP + FN}

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} or booleans. Labels of one kind are enough. Leave unlabelled rows out.
    y_pred : array-like of shape (n,)
        Predicted labels in one of these codings, as from ``model.predict(X)``. If you have scores, pass
        ``scores > threshold``.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0, by default 1. A weight counts as that many repetitions of the row.

    Returns
    -------
    float
        In [0, 1]; 0 if no row is positive and none is called positive (0/0).

    Raises
    ------
    TypeError, ValueError
        If an argument holds more than two kinds of labels, lengths differ, or a weight is negative.

    Examples
    --------
    >>> from fastpu.metrics import f1
    >>> f1([1, 1, 1, -1, -1], [1, 1, -1, 1, -1])
    0.6666666666666666
    """
    warn_of_other_order(y, other="y", y_pred=y_pred, sample_weight=sample_weight)
    positive = check_binary(y, name="y", both=False)
    called = check_binary(y_pred, name="y_pred", both=False)
    if called.size != positive.size:
        raise ValueError(f"y_pred must have {positive.size} entries, got {called.size}")
    weights = weights_of(sample_weight, positive.size, "sample_weight")
    mass = scale_down(weights, float(weights.max()))
    heavy = float(mass[positive].sum()) + float(mass[called].sum())
    return min(1.0, 2 * float(mass[positive & called].sum()) / heavy) if heavy else 0.0


@answers_unknown_keywords
def err_star(
    y: LabelsLike,
    scores: VectorLike,
    *,
    prior: float | PriorEstimate,
    scenario: Scenario = "case_control",
    threshold: float = 0.0,
    sample_weight: VectorLike | None = None,
) -> float:
    r"""Return Err*, which orders decisions as the error rate does and needs no labelled negatives.

    .. math:: \mathrm{Err}^* = w \Pr(f > t) + (1 - w) \Pr(f \le t \mid Y = 1), \qquad w = \frac{1}{1 + 2 \pi}

    The smaller, the better. The error rate is :math:`(1 + 2 \pi) \mathrm{Err}^* - \pi`. The first probability is a
    share of the unlabelled rows in ``"case_control"``, and of all rows in ``"single_set"``. The second one is a share
    of the labelled positives, which must be a random sample of the positives.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. Labelled negative
        rows (-1) are left out with ``scenario="case_control"``, and are part of the population with ``"single_set"``.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Use scores of rows that the model was not fitted to.
    prior : float or PriorEstimate
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows, the labelled ones included. An estimate of `fastpu.priors` is always that of the unlabelled rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the unlabelled rows are a sample of the population, drawn apart from
        the labelled ones. "single_set": all rows together are that sample.
    threshold : float, default 0.0
        Rows whose score is larger are called positive. Pass `model.threshold` for the decisions of a model.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0, by default 1. A weight counts as that many repetitions of the row.

    Returns
    -------
    float
        In [0, 1]. The error rate that follows from it is an estimate and can fall below 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or a `prior` of ``"single_set"`` is smaller than the share of rows that are
        labelled positive.

    Warns
    -----
    EstimateWarning
        If `prior` is an estimate that is only an upper bound, or that allows priors whose values differ by more than
        0.05. The warning gives the smallest and the largest of these.

    Notes
    -----
    O(n) time and memory.

    References
    ----------
    Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples", eq. (4.1).

    Examples
    --------
    >>> from fastpu.metrics import err_star
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [2.0, 1.0, -1.0, 3.0, 1.5, 0.5, -0.5, -2.0, -1.0]
    >>> value = err_star(y, scores, prior=0.5)
    >>> value
    0.325
    >>> round(2 * value - 0.5, 3)  # the error rate
    0.15
    """
    decision, share, drawn_as = _decision_and_prior("err_star", y, scores, prior, scenario, threshold, sample_weight)
    value = decision.err_star(share, drawn_as)
    warn_of_open_range("err_star", "value", prior, value, lambda other: decision.err_star(other, drawn_as))
    return value


@answers_unknown_keywords
def error_rate(
    y: LabelsLike,
    scores: VectorLike,
    *,
    prior: float | PriorEstimate,
    scenario: Scenario = "case_control",
    threshold: float = 0.0,
    sample_weight: VectorLike | None = None,
) -> float:
    r"""Return the estimated share of rows that a decision calls wrongly; needs no labelled negatives.

    .. math:: \Pr(\hat y \ne Y) = \Pr(f > t) + 2 \pi \Pr(f \le t \mid Y = 1) - \pi

    Here :math:`\pi` is the prior. The first probability is a share of the unlabelled rows in ``"case_control"``, and of
    all rows in ``"single_set"``. The second one is a share of the labelled positives, which must be a random sample of
    the positives. The estimate is ``(1 + 2 * prior) * err_star(...) - prior``, so both order decisions alike.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. Labelled negative
        rows (-1) are left out with ``scenario="case_control"``, and are part of the population with ``"single_set"``.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Use scores of rows that the model was not fitted to.
    prior : float or PriorEstimate
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows, the labelled ones included. An estimate of `fastpu.priors` is always that of the unlabelled rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the unlabelled rows are a sample of the population, drawn apart from
        the labelled ones. "single_set": all rows together are that sample.
    threshold : float, default 0.0
        Rows whose score is larger are called positive. Pass `model.threshold` for the decisions of a model.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0, by default 1. A weight counts as that many repetitions of the row.

    Returns
    -------
    float
        At most 1. It can fall below 0 where the true error rate is small.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or a `prior` of ``"single_set"`` is smaller than the share of rows that are
        labelled positive.

    Warns
    -----
    EstimateWarning
        If `prior` is an estimate that is only an upper bound, or that allows priors whose values differ by more than
        0.05. The warning gives the smallest and the largest of these.

    Notes
    -----
    O(n) time and memory.

    References
    ----------
    Du Plessis, Niu and Sugiyama (2014), Analysis of learning from positive and unlabeled data, NIPS.

    Examples
    --------
    >>> from fastpu.metrics import error_rate
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [2.0, 1.0, -1.0, 3.0, 1.5, 0.5, -0.5, -2.0, -1.0]
    >>> round(error_rate(y, scores, prior=0.5), 3)
    0.15
    """
    decision, share, drawn_as = _decision_and_prior("error_rate", y, scores, prior, scenario, threshold, sample_weight)
    value = decision.error_rate(share, drawn_as)
    warn_of_open_range("error_rate", "error rate", prior, value, lambda other: decision.error_rate(other, drawn_as))
    return value


def _decision_and_prior(
    function: str,
    y: LabelsLike,
    scores: VectorLike,
    prior: float | PriorEstimate,
    scenario: str,
    threshold: float,
    sample_weight: VectorLike | None,
) -> tuple[Decision, float, str]:
    share, drawn_as = check_prior_in(scenario, prior)
    decision = decision_on(function, y, scores, drawn_as, threshold, sample_weight)
    decision.check_prior(share, drawn_as)
    return decision, share, drawn_as


@answers_unknown_keywords
def puf_score(
    y: LabelsLike,
    scores: VectorLike,
    *,
    scenario: Scenario = "case_control",
    threshold: float = 0.0,
    sample_weight: VectorLike | None = None,
) -> float:
    r"""Return the PU F-score, which rewards recall and few positive calls and needs neither negatives nor a prior.

    .. math:: \mathrm{PUF} = \frac{\Pr(f > t \mid Y = 1)^2}{\Pr(f > t)}
        = \frac{\mathrm{precision} \cdot \mathrm{recall}}{\Pr(Y = 1)}

    The larger, the better. It can exceed 1, and a decision that calls every row positive has 1. The numerator is the
    square of a share of the labelled positives, which must be a random sample of the positives. The denominator is a
    share of the unlabelled rows in ``"case_control"``, and of all rows in ``"single_set"``.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. Labelled negative
        rows (-1) are left out with ``scenario="case_control"``, and are part of the population with ``"single_set"``.
    scores : array-like of shape (n,)
        One score for each row, larger for rows that are more likely positive. Infinite scores are allowed. Rows
        whose score is NaN, as out-of-bag scores may be, are left out, with a warning.
        Use scores of rows that the model was not fitted to.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the unlabelled rows are a sample of the population, drawn apart from
        the labelled ones. "single_set": all rows together are that sample.
    threshold : float, default 0.0
        Rows whose score is larger are called positive. Pass `model.threshold` for the decisions of a model.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0, by default 1. A weight counts as that many repetitions of the row.

    Returns
    -------
    float
        At least 0; 0 if no row is called positive.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Notes
    -----
    O(n) time and memory.

    References
    ----------
    Lee and Liu (2003), Learning with positive and unlabeled examples using weighted logistic regression, ICML.

    Examples
    --------
    >>> from fastpu.metrics import puf_score
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> scores = [2.0, 1.0, -1.0, 3.0, 1.5, 0.5, -0.5, -2.0, -1.0]
    >>> puf_score(y, scores)
    1.40625
    """
    scenario = check_scenario(scenario)
    return decision_on("puf_score", y, scores, scenario, threshold, sample_weight).puf(scenario)


@dataclass(frozen=True)
class Decision:
    """What a decision calls positive: its share of the labelled and of the other rows, and the weight of each kind.

    The other rows are the unlabelled ones, with the labelled negative ones in a single set.
    """

    recall: float
    share_other: float
    mass_pos: float
    mass_unl: float
    mass_neg: float = 0.0

    def share(self, scenario: str) -> float:
        if scenario == "case_control":
            return self.share_other
        mass_other = self.mass_unl + self.mass_neg
        return (self.recall * self.mass_pos + self.share_other * mass_other) / (self.mass_pos + mass_other)

    def check_prior(self, prior: float, scenario: str) -> None:
        """Raise ValueError if by the prior fewer rows are positive, or negative, than are labelled so."""
        prior_among_unlabeled(prior, n_pos=self.mass_pos, n_unl=self.mass_unl, n_neg=self.mass_neg, scenario=scenario)

    def err_star(self, prior: float, scenario: str) -> float:
        weight = 1 / (1 + 2 * prior)
        return weight * self.share(scenario) + (1 - weight) * (1 - self.recall)

    def error_rate(self, prior: float, scenario: str) -> float:
        return (1 + 2 * prior) * self.err_star(prior, scenario) - prior

    def puf(self, scenario: str) -> float:
        share = self.share(scenario)
        return self.recall**2 / share if share > 0 else 0.0


def in_sample(labels: NDArray[np.int8], scenario: str) -> NDArray[np.bool_]:
    """Return which of the rows that are not labelled positive are of the population: in a single set all of them."""
    rows: NDArray[np.bool_] = labels == 0 if scenario == "case_control" else labels != 1
    return rows


def decision_on(
    function: str,
    y: LabelsLike,
    scores: VectorLike,
    scenario: str,
    threshold: float,
    sample_weight: VectorLike | None = None,
) -> Decision:
    """Check labels, scores and weights, and count what is above the threshold."""
    cut = check_float("threshold", threshold, allow_inf=True)
    read = read_rows(function, y, scores, counted=(1, 0) if scenario == "case_control" else (1, 0, -1))
    every = weights_of(sample_weight, read.every.size, "sample_weight")
    labels, values, weights = read.labels, read.scores, read.of_rows(every)
    shares = []
    for rows in (labels == 1, in_sample(labels, scenario)):
        largest = float(weights[rows].max())
        if largest == 0:
            raise ValueError(
                "sample_weight must be positive for at least one positive and one unlabelled row, got only zeros for "
                "one of them"
            )
        mass = scale_down(weights[rows], largest)  # scaled by the largest of all, those of a group may become 0
        shares.append(min(1.0, float(mass[values[rows] > cut].sum()) / float(mass.sum())))
    scaled = scale_down(every, float(every.max()))
    return Decision(*shares, *(float(scaled[read.every == label].sum()) for label in (1, 0, -1)))


def weights_of(sample_weight: VectorLike | None, n_rows: int, name: str) -> NDArray[np.float64]:
    weights = check_sample_weight(sample_weight, n_rows, name=name)
    return np.ones(n_rows) if weights is None else weights


def require_pu(labels: NDArray[np.int8], where: str, function: str) -> None:
    """Raise ValueError unless there are positive and unlabelled rows; `where` and `function` are for the message."""
    n_pos, n_unl, n_neg = label_counts(labels)
    if not (n_pos and n_unl):
        raise ValueError(
            f"{where} must hold positive rows (+1) and unlabelled ones (0) for {function}, got {n_pos} positive, "
            f"{n_unl} unlabelled and {n_neg} negative"
        )


def scale_down(weights: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """Return weights divided by a power of two that brings `largest` to between 1/2 and 1."""
    return np.ldexp(weights, -math.frexp(largest)[1])
