"""Unlabelled rows as positive and negative at once, with weights, around any classifier that takes weights."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int
from fastpu.common._types import EstimatorLike, FoldsLike, Scenario
from fastpu.estimators._clone_rows import CloneRows, folds_of
from fastpu.estimators._inner_estimator import check_takes_weights
from fastpu.estimators._meta_classifier import WithProbabilities
from fastpu.model._prior import PriorEstimate, proper_prior, take_prior_in

_SMALLEST = 1e-9  # probabilities of being labelled are kept this far from 0 and 1, where their odds are 0 or infinite


@answers_unknown_keywords
@dataclass(eq=False, repr=False)
class WeightedUnlabeledClassifier(WithProbabilities):
    r"""A classifier of unlabelled rows that count as positive and as negative, with weights that add up to the prior.

    It is for probabilities by a classifier of your own, such as LightGBM or logistic regression, if the prior is known.

    With pi = P(Y = 1) among the unlabelled rows, given by `prior`, and eta(x) = P(Y = 1 | x) among them, the
    supervised loss of a classifier f on rows like the unlabelled ones is

        pi E_P[l(f(x), 1)] + (1 - pi) E_N[l(f(x), 0)]  =  E_U[eta(x) l(f(x), 1) + (1 - eta(x)) l(f(x), 0)].

    Without eta, E_N would be (E_U - pi E_P) / (1 - pi). There positive rows count as negatives with negative weights,
    which few learners take. With eta all weights are >= 0. eta is estimated first. The densities p and u of positive
    and unlabelled rows give eta = pi p / u, and `estimator` learns p / u as the odds of being labelled:

        eta_i = min(1, k g_i / (1 - g_i)),   with k such that the eta_i of the unlabelled rows have the mean pi,

    where g_i is the probability of label 1 that an unlabelled row i gets from fits of labelled against unlabelled rows
    to the other folds. Then `estimator` is fitted to the labelled positives with the weight a each, and to every
    unlabelled row twice: as a positive with the weight a eta_i, and as a negative with the weight b (1 - eta_i). The
    factors make the classes weigh pi n_U and (1 - pi) n_U, as among the unlabelled rows:

        a = pi n_U / (n_P + pi n_U),   b = (1 - pi) n_U / (n_N + (1 - pi) n_U),

    with n_N = 0, and b = 1, where no row is labelled negative; of the labels -1, 0 and 1 rows of -1 have the weight b
    as negatives, and have no part in the eta_i. The sum of the weighted losses divided by n_U is then an estimate of
    the supervised loss, exact in the mean if the eta_i are right, and the classifier that makes it smallest gives the
    probability P(Y = 1 | x) among the unlabelled rows.

    Parameters
    ----------
    estimator : classifier with predict_proba, whose fit takes sample_weight
        A classifier in scikit-learn's form, for positive and negative rows. Clones of it are fitted to the labels 1 and
        0. A PU classifier, which would take 0 for unlabelled, is refused.
    prior : float or PriorEstimate
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows, where it is pi, or, with
        ``scenario="single_set"``, among all rows of the fit.
    scenario : {"case_control", "single_set"}, default "case_control"
        Which rows `prior` is the share of positives of. "case_control": of the unlabelled rows, which are a sample of
        the population. "single_set": of all rows, because they are one sample and some of its positives were labelled.
        pi is then (prior n - n_P) / n_U, with sums of weights in place of numbers if there are weights.
    cv : int, splitter or list of folds, default 5
        The folds by which the eta_i are estimated: a number >= 2, or a splitter or list of folds as scikit-learn's
        cross_val_predict takes it. For a number there are at most as many folds as labelled positives.
    n_rounds : int, default 1
        How many times the eta_i are estimated, >= 1. From the second time on they are min(1, k f_i), where f_i is the
        probability of the row by weighted fits to the other folds (expectation maximisation). More rounds help if
        `estimator` can represent P(Y = 1 | x) but not the odds of being labelled, such as a logistic regression where
        P(Y = 1 | x) is logistic.

    Attributes
    ----------
    unlabeled_shares_ : ndarray of shape (n,)
        eta_i of the unlabelled rows of the fit, NaN for the others.
    estimator_ : classifier
        The weighted fit.
    threshold_ : float
        1/2; the score is the probability.
    classes_ : ndarray of shape (2,)
        The two labels that `predict` returns; the second one is positive.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of columns, and their names if `X` was a frame with names that are strings.

    Notes
    -----
    `cv` fits to n rows, `cv` to n + n_U rows for every round but the first, and one such fit to all rows. Sample
    weights multiply those of the method, and stand in place of the numbers n_P, n_U and n_N.

    References
    ----------
    Elkan and Noto (2008), Learning classifiers from only positive and unlabeled data, section 3, has the weights
    without a prior, for one sample of all rows. Ward, Hastie, Barry, Elith and Leathwick (2009), Presence-only data and
    the EM algorithm, has the rounds. du Plessis, Niu and Sugiyama (2014), Analysis of learning from
    positive and unlabeled data, has the loss with E_U - pi E_P.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from fastpu.estimators import WeightedUnlabeledClassifier
    >>> rng = np.random.default_rng(0)
    >>> truth = np.concatenate([np.ones(500, bool), rng.random(2000) < 0.3])
    >>> X = rng.standard_normal((2500, 1)) + 2.0 * truth[:, None]
    >>> y = np.arange(2500) < 500
    >>> model = WeightedUnlabeledClassifier(LogisticRegression(), prior=0.3).fit(X, y)
    >>> round(float(model.predict_proba(X[500:])[:, 1].mean()), 2)
    0.3
    """

    estimator: EstimatorLike
    _needs_negatives = True
    _: KW_ONLY
    prior: float | PriorEstimate
    scenario: Scenario = "case_control"
    cv: FoldsLike = 5
    n_rounds: int = 1

    def _fit(self, training: CloneRows) -> None:
        check_takes_weights(self, self.estimator)
        n_pos, n_unl, n_neg = (float(training.mass[training.rows(code)].sum()) for code in (1, 0, -1))
        share, drawn_as = take_prior_in(self.scenario, self.prior)
        prior = proper_prior(share, drawn_as, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg)
        n_rounds = check_int("n_rounds", self.n_rounds, low=1)
        unlabelled, negative = training.rows(0), training.rows(-1)
        rows = np.sort(np.concatenate([training.rows(1), unlabelled]))
        folds = folds_of(training, rows, self.cv)
        values, shares = np.zeros(training.codes.size), np.full(training.codes.size, np.nan)
        for kept, held_out in folds:
            machine = training.fit(kept, training.codes[kept] == 1)
            g = np.clip(training.scores(machine, held_out), _SMALLEST, 1 - _SMALLEST)
            values[held_out] = g / (1 - g)
        shares[unlabelled] = shares_of(values[unlabelled], training.mass[unlabelled], prior)
        for _ in range(n_rounds - 1):
            for kept, held_out in folds:
                machine = _weighted_fit(training, np.concatenate([kept, negative]), shares, prior)
                values[held_out] = np.maximum(training.scores(machine, held_out), _SMALLEST)
            shares[unlabelled] = shares_of(values[unlabelled], training.mass[unlabelled], prior)
        self.estimator_ = _weighted_fit(training, np.concatenate([rows, negative]), shares, prior)
        self.unlabeled_shares_ = shares


def _weighted_fit(training: CloneRows, rows: NDArray[np.intp], shares: NDArray[np.float64], prior: float) -> Any:
    """Return the fit to labelled rows, and to unlabelled ones twice: as positive by their shares and as negative."""
    pos, unl, neg = (rows[training.codes[rows] == code] for code in (1, 0, -1))
    n_pos, n_unl, n_neg = (float(training.mass[group].sum()) for group in (pos, unl, neg))
    a, b = prior * n_unl / (n_pos + prior * n_unl), (1 - prior) * n_unl / (n_neg + (1 - prior) * n_unl)
    taken = np.concatenate([pos, unl, neg, unl])
    weights = np.concatenate([np.full(pos.size, a), a * shares[unl], np.full(neg.size, b), b * (1 - shares[unl])])
    is_positive = np.arange(taken.size) < pos.size + unl.size
    kept = weights > 0
    return training.fit(taken[kept], is_positive[kept], weights[kept])


def shares_of(odds: NDArray[np.float64], mass: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    """Return min(1, k odds) with the k for which their weighted mean is `prior`; odds are positive and finite.

    In falling order of the odds the first m are cut to 1: the smallest m for which k times the next is at most 1.
    """
    order = np.argsort(-odds)
    ranked, weights = odds[order], mass[order]
    cut = np.concatenate([[0.0], np.cumsum(weights)[:-1]])  # weight of the rows before each
    left = np.cumsum((weights * ranked)[::-1])[::-1]  # the sum of odds from each on
    factors = (prior * weights.sum() - cut) / left
    first = int(np.argmax(factors * ranked <= 1))
    shares: NDArray[np.float64] = np.minimum(1.0, factors[first] * odds)
    return shares
