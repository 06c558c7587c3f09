"""The two-step method around any classifier: reliable negatives by spies, then a fit against these."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_int, check_random_state
from fastpu.common._types import EstimatorLike
from fastpu.common._warn import warn
from fastpu.estimators._clone_rows import CloneRows
from fastpu.estimators._fastpu_classifier import seed_of
from fastpu.estimators._inner_estimator import THRESHOLDS
from fastpu.estimators._meta_classifier import MetaClassifier
from fastpu.exceptions import ConvergenceWarning, EstimateWarning


@answers_unknown_keywords
@dataclass(eq=False, repr=False)
class TwoStepClassifier(MetaClassifier):
    """The two-step method: find reliable negatives by spies, then tell positives from them.

    It is for predictions by a classifier of your own, without a prior, if positives differ clearly from most unlabelled
    rows, as in text. It also shows which rows are almost certainly negative.

    Step 1: some labelled positives, the spies, are put among the unlabelled rows, and `estimator` is fitted to the
    other positives against these. The spies then get scores like the hidden positives. The limit t is the largest score
    of a spy for which at most the share `spy_quantile` of the spies score lower. Unlabelled rows with scores below t
    are reliable negatives. If there are none, the rows with the lowest score are, with a warning.

    Step 2: `estimator` is fitted to all positives against the reliable negatives; the other unlabelled rows are left
    out. With ``max_iter > 1`` unlabelled rows that this fit calls negative become reliable negatives too, and the fit
    is repeated until there are no new ones.

    With the labels -1, 0 and 1, rows of -1 are negative in all fits. Of two labels the smaller one is unlabelled.

    Parameters
    ----------
    estimator : classifier
        A classifier in scikit-learn's form. Clones of it are fitted to the labels 1 and 0. A classifier that fits its
        training rows without error, such as a tree of full depth, gives spies and unlabelled rows the same score, so
        step 1 finds nothing: limit its depth, or take a forest.
    spy_share : float, default 0.15
        The share of the labelled positives that are spies, in (0, 1). At least one is a spy, and at most all but one.
        With `groups` whole groups are spies, as few as have that share of the positives.
    spy_quantile : float, default 0.05
        The share of the spies that may have scores below t, in [0, 1). If k of m spies have, then on average the share
        (k + 1) / (m + 1) of the hidden positives has, and counts as negative. With fewer than ``1 / spy_quantile``
        spies k is 0, and t is their lowest score.
    max_iter : int, default 1
        The most fits in step 2, >= 1.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        The method of `estimator` that gives the scores. "auto" is `predict_proba` if there is one.
    random_state : int >= 0, numpy.random.Generator, RandomState or None, default None
        Seed or generator that draws the spies. None takes a fresh seed.

    Attributes
    ----------
    reliable_negatives_ : ndarray of bool, shape (n,)
        Which unlabelled rows of the fit are negatives in the last fit of step 2.
    spies_ : ndarray of int, shape (n_spies,)
        Numbers of the spies.
    spy_threshold_ : float
        t, a score in step 1.
    estimator_ : classifier
        The last fit of step 2.
    n_iter_ : int
        Fits in step 2.
    response_method_ : str
        The method of `estimator` that gave the scores.
    threshold_ : float
        1/2 for probabilities and 0 for decision functions: the border of `estimator` between positives and reliable
        negatives.
    classes_ : ndarray of shape (2,)
        The two labels that `predict` returns; the second one is positive.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of columns, and their names if `X` was a frame with names that are strings.

    Notes
    -----
    1 + `n_iter_` fits, and scores of all unlabelled rows after each fit but the last. Sample weights count in the share
    `spy_quantile`; the spies are drawn regardless of them. A `ConvergenceWarning` tells if the last of several fits
    calls further rows negative, and an `EstimateWarning` if step 1 finds no reliable negatives. Every further fit of
    step 2 can lose positives near the border to the negatives for good, so judge ``max_iter > 1`` by held-out
    positives. There is no `predict_proba`: the probabilities of `estimator_` are for a population of positives and
    reliable negatives, without the rows that are hard to tell.

    References
    ----------
    Liu, Lee, Yu and Li (2002), Partially supervised classification of text documents (spies). Liu, Dai, Li, Lee and Yu
    (2003), Building text classifiers using positive and unlabeled examples (the repetition).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from fastpu.estimators import TwoStepClassifier
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([True, False], 500)
    >>> X = rng.standard_normal((1000, 2)) + 3.0 * truth[:, None]
    >>> labelled = truth & (rng.random(1000) < 0.3)
    >>> model = TwoStepClassifier(LogisticRegression(), random_state=0).fit(X, labelled)
    >>> bool(np.mean(truth[model.reliable_negatives_]) < 0.1)
    True
    >>> bool(np.mean(model.predict(X) == truth) > 0.95)
    True
    """

    estimator: EstimatorLike
    _: KW_ONLY
    spy_share: float = 0.15
    spy_quantile: float = 0.05
    max_iter: int = 1
    response_method: Literal["auto", "predict_proba", "decision_function"] = "auto"
    random_state: int | np.random.Generator | np.random.RandomState | None = None

    def _fit(self, training: CloneRows) -> None:
        share = check_float("spy_share", self.spy_share, low=0, high=1, open_low=True, open_high=True)
        quantile = check_float("spy_quantile", self.spy_quantile, low=0, high=1, open_high=True)
        max_iter = check_int("max_iter", self.max_iter, low=1)
        rng = check_random_state(seed_of(self.random_state))
        positive, unlabelled, negative = (training.rows(code) for code in (1, 0, -1))
        if positive.size < 2:
            raise ValueError(
                f"y must have at least 2 labelled positives, as one of them is the spy, got {positive.size}"
            )
        training.require_groups(self)
        spies = _draw_spies(positive, share, training.clusters, rng)

        machine = _against(training, np.setdiff1d(positive, spies), np.concatenate([unlabelled, spies, negative]))
        spy_scores = training.scores(machine, spies)
        limit = spy_limit(spy_scores, training.mass[spies], quantile)
        scores = training.scores(machine, unlabelled)
        is_negative = scores < limit
        if not is_negative.any() and not negative.size:
            is_negative = scores == scores.min()
            lost = float(np.average(spy_scores <= scores.min(), weights=training.mass[spies]))
            warn(
                f"TwoStepClassifier finds no unlabelled row with a score below that of the spies ({limit:.3g}), and "
                f"takes the {np.count_nonzero(is_negative)} of {unlabelled.size} with the lowest score for negative, "
                f"although {100 * lost:.0f} % of the spies have scores as low: pass more rows, or an estimator with "
                f"smoother scores (shallower trees, or more of them), or raise spy_quantile={quantile:g}",
                EstimateWarning,
            )
        n_iter, n_new = 0, 1
        while n_iter < max_iter and n_new:
            reliable = is_negative.copy()
            machine = _against(training, positive, np.concatenate([unlabelled[reliable], negative]))
            n_iter += 1
            if max_iter > 1:
                is_negative |= training.scores(machine, unlabelled) <= THRESHOLDS[training.response]
                n_new = int(np.count_nonzero(is_negative & ~reliable))
        if max_iter > 1 and n_new:
            warn(
                f"TwoStepClassifier ended after max_iter={max_iter} fits and has not converged: the last fit called "
                f"{n_new} further unlabelled rows negative; raise max_iter",
                ConvergenceWarning,
            )
        self.reliable_negatives_ = np.zeros(training.codes.size, dtype=bool)
        self.reliable_negatives_[unlabelled[reliable]] = True
        self.spies_, self.spy_threshold_ = spies, limit
        self.estimator_, self.n_iter_ = machine, n_iter


def _draw_spies(
    positive: NDArray[np.intp], share: float, clusters: NDArray[np.int32] | None, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the numbers of the spies, ascending; with groups of whole ones, but never of all."""
    n_spies = min(max(1, round(share * positive.size)), positive.size - 1)
    if clusters is None:
        return np.sort(rng.choice(positive, n_spies, replace=False))
    names, sizes = np.unique(clusters[positive], return_counts=True)
    if names.size < 2:
        raise ValueError(
            "groups must have at least 2 groups with labelled positives, as the rows of one are the spies, got 1 group"
        )
    order = rng.permutation(names.size)
    n_groups = 1 + int(np.searchsorted(np.cumsum(sizes[order]), n_spies))
    drawn = names[order[: min(n_groups, names.size - 1)]]
    return positive[np.isin(clusters[positive], drawn)]


def spy_limit(scores: NDArray[np.float64], weights: NDArray[np.float64], quantile: float) -> float:
    """Return the largest score of a spy below which the spies have at most the share `quantile` of the weight."""
    order = np.argsort(scores)
    ranked, mass = scores[order], np.cumsum(weights[order])
    first = np.searchsorted(ranked, ranked)  # the first of tied scores
    below = np.concatenate([[0.0], mass])[first]
    # The share is rounded: 0.05 * 20 spies may be a little less than 1.
    return float(ranked[below <= quantile * mass[-1] * (1 + 1e-12)][-1])


def _against(training: CloneRows, positive: NDArray[np.intp], others: NDArray[np.intp]) -> Any:
    rows = np.sort(np.concatenate([positive, others]))
    return training.fit(rows, np.isin(rows, positive))
