"""A classifier for labels that are not missing at random, around any classifier of scikit-learn's kind."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import assert_all_finite

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_int
from fastpu.common._types import ColumnsLike, EstimatorLike
from fastpu.common._warn import warn
from fastpu.data._columns import chosen_columns
from fastpu.estimators._clone_rows import CloneRows
from fastpu.estimators._inner_estimator import (
    check_estimator_of,
    check_takes_weights,
    refuse_pu_classifier,
    response_of,
)
from fastpu.estimators._meta_classifier import WithProbabilities
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning, EstimateWarning

_EDGE = 1e-12  # probabilities are kept this far from 0 and 1, where their logarithms are infinite


@answers_unknown_keywords
@dataclass(eq=False, repr=False)
class SARClassifier(WithProbabilities):
    r"""Learn from labels that are not missing at random, by expectation maximisation around any classifier (SAR-EM).

    It is for labels that are not missing at random, where you know which columns (distance, ward, date) decide how
    often positives are labelled.

    Some positives are labelled more often than others: a row is positive with the probability f(x), and a positive row
    is labelled with the probability e(z), its propensity, where z are some columns of x. What is maximised, over a
    classifier f and a propensity model e, is the log likelihood of the labels s (1 labelled, 0 not) with weights w,

    .. math:: \sum_i w_i \left( s_i \log f(x_i) e(z_i) + (1 - s_i) \log (1 - f(x_i) e(z_i)) \right).

    Every iteration takes q = f (1 - e) / (1 - f e), the probability that an unlabelled row is positive. Then it fits
    `estimator` to the labelled rows and to each unlabelled row twice: as positive with the weight w q, and as negative
    with the weight w (1 - q). And it fits `propensity_estimator` to tell labelled rows, with the weight w, from
    unlabelled rows, with the weight w q. If both maximise a likelihood the objective never falls. Every third iteration
    starts at a q that is extrapolated from the two before (SQUAREM), unless the labels are less likely there. This
    takes far fewer iterations.

    Parameters
    ----------
    estimator : classifier with predict_proba, whose fit takes sample_weight
        f, in scikit-learn's form, for positive and negative rows. Clones of it are fitted to the labels 1 and 0. A PU
        classifier, which would take 0 for unlabelled, is refused. A classifier that fits its training rows without
        error, such as a deep tree, finds no positive among the unlabelled rows, and neither does one whose
        probabilities stay far from 1. Its random states should be fixed numbers, or the iterations do not converge.
    propensity_estimator : classifier, optional
        e, with the same requirements as `estimator`. By default LogisticRegression on columns that are divided by their
        standard deviation; these must hold finite numbers.
    propensity_columns : str, int, slice, list of str or of int, or mask, optional
        The columns that decide how likely a positive row is to be labelled, by their names or numbers. By default all
        columns, with an `EstimateWarning`, because nothing is identified then.
    max_iter : int, default 200
        The most iterations, >= 1.
    tol : float, default 1e-4
        The iterations end when q changes by at most this on average over the unlabelled rows, >= 0.

    Attributes
    ----------
    estimator_ : classifier
        f, fitted.
    propensity_estimator_ : classifier
        e, fitted to the columns `propensity_columns_`.
    propensity_columns_ : ndarray of int
        The numbers of these columns.
    propensity_ : ndarray of float64, shape (n,)
        e of the training rows: how likely a row like this is to be labelled if it is positive.
    posterior_ : ndarray of float64, shape (n,)
        The probability that a training row is positive, given its label too: 1 for labelled rows, q for the others.
    prior_ : float
        The share of positives among the unlabelled rows, the mean of q.
    history_ : dict of ndarrays
        Of each iteration "log_likelihood", for each row on average, "change", the residual that `tol` is for, and
        "prior".
    n_iter_, converged_ : int, bool
    threshold_ : float
        1/2, for `predict_proba`.
    classes_ : ndarray of shape (2,)
        The two labels that `predict` returns; the second one is positive.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of columns, and their names if `X` was a frame with names that are strings.

    Notes
    -----
    An iteration takes two fits, one of them to n_pos + 2 n_unl rows; two more are needed if the labels turn out less
    likely at an extrapolated start. `predict_proba` is f, the probability for a row whose label is not known. Sample
    weights count as repetitions of rows if they do so for both estimators. A `ConvergenceWarning` says that q still
    changes by more than `tol` at the end, and a `DegenerateModelWarning` that no unlabelled row is found positive, or
    every one.

    With the labels -1, 0 and 1 rows of -1 are negative, with the term w log(1 - f), and have no part in e.

    **What the data can tell.** They show only the product f e. Two assumptions tell f and e apart: that e depends on
    few columns, and that among rows with the same z some are surely positive (f near 1). Without the second, f may be
    larger and e smaller by a factor that depends on z, and the data are just as likely; the shape of a logistic curve
    then decides. If e may depend on all columns, f and e of one kind can change places, and an `EstimateWarning` says
    that nothing is identified.

    References
    ----------
    Bekker, Robberechts and Davis, "Beyond the selected completely at random assumption for learning from positive and
    unlabeled data", ECML PKDD 2019. Varadhan and Roland, "Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm", Scandinavian Journal of Statistics 35, 2008 (SQUAREM).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from fastpu.estimators import SARClassifier
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(4000) < 0.4
    >>> X = np.column_stack([rng.normal(np.where(positive, 2, -2)), rng.normal(size=4000)])
    >>> labelled = positive & (rng.random(4000) < 1 / (1 + np.exp(-2 * X[:, 1])))  # the second column decides
    >>> clf = SARClassifier(LogisticRegression(), propensity_columns=[1]).fit(X, labelled)
    >>> print(f"{clf.prior_:.2f} of the others are positive, {positive[~labelled].mean():.2f} in truth")
    0.25 of the others are positive, 0.25 in truth
    """

    estimator: EstimatorLike
    _needs_negatives = True
    _: KW_ONLY
    propensity_estimator: EstimatorLike | None = None
    propensity_columns: ColumnsLike | None = None
    max_iter: int = 200
    tol: float = 1e-4

    def _fit(self, classifier: CloneRows) -> None:
        max_iter, tol = check_int("max_iter", self.max_iter, low=1), check_float("tol", self.tol, low=0)
        check_takes_weights(self, self.estimator)
        classifier.require_groups(self)
        propensity, scaler = self._propensity_of(classifier)
        steps = _EmSteps(classifier, propensity)
        fitted = steps.first()
        trail = [fitted.posterior]
        history: dict[str, list[float]] = {"log_likelihood": [], "change": [], "prior": []}
        while len(history["change"]) < max_iter:
            start, fitted, trail = steps.next(fitted, trail)
            history["log_likelihood"].append(steps.log_likelihood(fitted))
            history["change"].append(steps.mean_of_unlabeled(np.abs(fitted.posterior - start)))
            history["prior"].append(steps.mean_of_unlabeled(fitted.posterior))
            if history["change"][-1] <= tol:
                break
        self.estimator_, self.propensity_estimator_ = fitted.classifier, fitted.propensity
        if scaler is not None:
            self.propensity_estimator_ = Pipeline([("scale", scaler), ("logistic", fitted.propensity)])
        self.propensity_, self.posterior_ = fitted.e, fitted.posterior
        self.history_ = {name: np.array(values) for name, values in history.items()}
        self.n_iter_, residual = len(history["change"]), history["change"][-1]
        self.converged_, self.prior_ = residual <= tol, history["prior"][-1]
        if not self.converged_:
            warn(
                f"SARClassifier ended after max_iter={max_iter} iterations, while the probabilities of the unlabelled "
                f"rows still changed by {residual:.2g} on average (tol={tol:g})",
                ConvergenceWarning,
            )
        one = 1 / classifier.rows(0).size
        if not one <= self.prior_ <= 1 - one:
            warn(
                f"SARClassifier finds {'no' if self.prior_ < one else 'every'} unlabelled row positive, as one of its "
                f"models fits the rows without error: regularise estimator and propensity_estimator",
                DegenerateModelWarning,
            )

    def _propensity_of(self, classifier: CloneRows) -> tuple[CloneRows, StandardScaler | None]:
        """Return the rows of the propensity model, and their scaler if it is the default model."""
        n_features, names = getattr(self, "n_features_in_", None), getattr(self, "feature_names_in_", None)
        X, chosen = classifier.X, self.propensity_columns
        if n_features is not None:
            self.propensity_columns_ = chosen_columns(
                "propensity_columns", chosen, n_features, None if names is None else tuple(names)
            )
        elif chosen is not None:
            raise ValueError("propensity_columns must be None where the rows are texts and have no columns")
        if chosen is None or self.propensity_columns_.size == n_features:
            warn(
                "propensity_columns are all columns, so that the data cannot tell how likely a row is to be positive "
                "from how likely a positive row is to be labelled: choose the columns that the latter depends on",
                EstimateWarning,
            )
        else:
            X = _safe_indexing(X if hasattr(X, "shape") else np.asarray(X), self.propensity_columns_, axis=1)
        estimator, scaler = self.propensity_estimator, None
        if estimator is None:
            X, scaler = _scaled(X, classifier.weights)
            estimator = LogisticRegression()
        check_estimator_of(self, estimator, "propensity_estimator")
        refuse_pu_classifier(self, estimator, "propensity_estimator")
        response_of(self, estimator, "predict_proba", "propensity_estimator")
        check_takes_weights(self, estimator, "propensity_estimator")
        rows = replace(classifier, X=X, estimator=estimator, params={}, estimator_weights=classifier.weights)
        return rows, scaler


def _scaled(X: Any, weights: NDArray[np.float64] | None) -> tuple[Any, StandardScaler]:
    """Return columns divided by their standard deviation, for the default propensity estimator, and their scaler."""
    scaler = StandardScaler(with_mean=not sp.issparse(X))
    try:
        scaled = scaler.fit(X, sample_weight=weights).transform(X)
        assert_all_finite(scaled)
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"propensity_columns must hold finite numbers for the default propensity_estimator ({reason}); for other "
            f"columns pass a propensity_estimator that takes them, such as a Pipeline that encodes or fills them"
        ) from error
    return scaled, scaler


@dataclass(frozen=True)
class _EmIteration:
    """The models of one iteration, and for every row their probabilities f and e, and P(positive | row and label)."""

    classifier: Any
    propensity: Any
    f: NDArray[np.float64]
    e: NDArray[np.float64]
    posterior: NDArray[np.float64]


@dataclass(frozen=True)
class _EmSteps:
    """The fits of the expectation maximisation, to the same rows with the columns of each of the two models."""

    classifier: CloneRows
    propensity: CloneRows

    def first(self) -> _EmIteration:
        """Return a classifier of labelled positives against all others, each of weight 1/2, and a propensity model."""
        labeled, mass = self.classifier.codes == 1, self.classifier.mass
        rows, share = np.flatnonzero(mass > 0), float(np.average(labeled, weights=mass))
        model = self.classifier.fit(rows, labeled[rows], np.where(labeled[rows], 0.5 / share, 0.5 / (1 - share)))
        f = _probabilities(self.classifier, model)
        return self._with_propensity(model, f, np.where(labeled, 1.0, f))

    def following(self, q: NDArray[np.float64]) -> _EmIteration:
        """Return the models for these probabilities of the rows to be positive."""
        pos, unl, neg = (self.classifier.rows(code) for code in (1, 0, -1))
        rows = np.concatenate([pos, unl, unl, neg])
        share = np.concatenate([q[pos], q[unl], 1 - q[unl], np.ones(neg.size)])
        model = self.classifier.fit(rows, np.arange(rows.size) < pos.size + unl.size, share)
        return self._with_propensity(model, _probabilities(self.classifier, model), q)

    def next(
        self, fitted: _EmIteration, trail: list[NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], _EmIteration, list[NDArray[np.float64]]]:
        """Return the probabilities that an iteration starts from, its models, and those of the iterations in a row."""
        if len(trail) == 3:
            start = self._extrapolated(*trail)
            leap = self.following(start)
            if self.log_likelihood(leap) >= self.log_likelihood(fitted):
                return start, leap, [leap.posterior]
            trail = trail[-1:]
        following = self.following(fitted.posterior)
        return fitted.posterior, following, [*trail, following.posterior]

    def _extrapolated(self, *trail: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where three probabilities of the rows in a row lead to, by their logits (SQUAREM's third step)."""
        rows = self.classifier.rows(0)
        first, second, third = (logit(np.clip(q[rows], _EDGE, 1 - _EDGE)) for q in trail)
        step = second - first
        bend = third - second - step
        size, curvature = (np.average(values**2, weights=self.classifier.mass[rows]) for values in (step, bend))
        length = float(np.sqrt(size / curvature)) if size > curvature > 0 else 1.0  # 1 is the last of the three
        q: NDArray[np.float64] = trail[-1].copy()
        q[rows] = expit(first + 2 * length * step + length**2 * bend)
        return q

    def _with_propensity(self, classifier: Any, f: NDArray[np.float64], q: NDArray[np.float64]) -> _EmIteration:
        """Return the classifier with the propensity model that these probabilities of the rows give."""
        codes, rows = self.classifier.codes, np.concatenate([self.classifier.rows(1), self.classifier.rows(0)])
        model = self.propensity.fit(rows, codes[rows] == 1, q[rows])
        e = _probabilities(self.propensity, model)
        return _EmIteration(
            classifier, model, f, e, np.select([codes == 1, codes == -1], [1.0, 0.0], f * (1 - e) / (1 - f * e))
        )

    def log_likelihood(self, fitted: _EmIteration) -> float:
        """Return the log likelihood of the labels, for each row on average."""
        codes, both = self.classifier.codes, fitted.f * fitted.e
        of_row = np.select([codes == 1, codes == -1], [np.log(both), np.log1p(-fitted.f)], np.log1p(-both))
        return float(np.average(of_row, weights=self.classifier.mass))

    def mean_of_unlabeled(self, values: NDArray[np.float64]) -> float:
        rows = self.classifier.rows(0)
        return float(np.average(values[rows], weights=self.classifier.mass[rows]))


def _probabilities(training: CloneRows, model: Any) -> NDArray[np.float64]:
    return np.clip(training.scores(model, np.arange(training.codes.size)), _EDGE, 1 - _EDGE)
