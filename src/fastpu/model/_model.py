"""A fitted model: its scores, and the thresholds and probabilities that they can be given."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from fastpu.common._params import check_choice
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, Scenario, VectorLike
from fastpu.common._warn import warn
from fastpu.data._missing_scores import KINDS, rows_with_scores
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._tables import is_lazy
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.exceptions import EstimateWarning
from fastpu.model._calibration import METHODS, calibrate, of_both
from fastpu.model._cut import CutRows, check_one_rule, threshold_at, threshold_of_first, threshold_of_prior
from fastpu.model._group_scores import GroupScores
from fastpu.model._lazy import computed, of_partitions
from fastpu.model._prior import PriorEstimate, check_prior, proper_prior, take_prior_in
from fastpu.model._scoring import ScoringModel

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self  # in typing from Python 3.11


# A subclass is a dataclass with the same four options. It implements `_decision_function`, says through `_ndim` which
# of its arrays do not have one dimension, and checks in `_check_fields` whatever its kernel relies on, because a loaded
# file may say anything.
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Model(ScoringModel, is_base=True):
    """A fitted model: immutable, with read-only arrays.

    Attributes
    ----------
    n_features : int
        The number of features of the training data.
    feature_names : tuple, or None
        The titles of the columns, if the training data had titles: strings, numbers, None, or tuples of these.
    threshold : float
        `predict` calls a row positive if its score is larger than this.
    threshold_rule : str
        Where the threshold comes from, in words.
    n_iter : int
        The number of rounds or iterations that the model keeps. Early stopping drops the last rounds; `history` still
        has them.
    converged : bool
        Whether the fit is complete: it met its stopping rule before the iterations ran out, or made all the rounds that
        were asked for.
    status : str
        Why the fit stopped.
    objective : ndarray of float64
        Value of the objective after each iteration that the model keeps.
    history : mapping of str to ndarray
        What the loop recorded: a read-only dict of arrays, with one entry for every iteration. Of boosted trees some
        arrays may have more entries than others.
    params : mapping of str to object
        The name of the function that made the model ("method"), and those of its arguments that influence the result.
    calibration : str or None
        "beta", "sigmoid" or "isotonic" if `with_probabilities` has given the model probabilities, else None.
    calibration_prior : float or None
        The share of positives among unlabelled rows for which the probabilities hold.
    calibration_knots : ndarray of float64, or None
        Rising scores. Between them log odds ("beta") or probabilities ("isotonic") lie on straight lines. For "sigmoid"
        it is one score c.
    calibration_values : ndarray of float64, or None
        The log odds or probabilities at the knots. For "sigmoid" they are a and b in z = a (s - c) + b.

    Notes
    -----
    Every fit returns a subclass, whose docstring names the arrays that it has learned.
    """

    def with_threshold(
        self,
        *,
        prior: float | PriorEstimate | None = None,
        k: float | None = None,
        value: float | None = None,
        X_unl: MatrixLike | None = None,
        y: LabelsLike | None = None,
        n_threads: int | None = None,
    ) -> Self:
        """Return this model with another threshold: by a class prior, by a number of rows, or a number of your own.

        Pass exactly one of `prior`, `k` and `value`. With `prior` or `k`, `predict` of the new model calls as many
        unlabelled rows positive as you ask for, or as near to it as equal scores allow: rows with equal scores stay
        together. The threshold is the midpoint between two neighbouring scores. Of two thresholds that are equally
        near, the lower one is taken. If no row is to be called positive, it is the highest score; if all are, it is a
        number just below the lowest score. `threshold_rule` says where the threshold comes from, and files keep it.

        Parameters
        ----------
        prior : float or PriorEstimate, optional
            The share of positives P(Y = 1) among the unlabelled rows, in (0, 1): this share of them is called positive.
            For an estimate with an interval, `threshold_rule` also says how many rows the ends of the interval would
            call positive.
        k : int or float, optional
            How many rows to call positive: an int >= 1, such as the number that you can check in a night, or a float in
            (0, 1], which is a share of the rows.
        value : float, optional
            The threshold itself, any number but NaN. It needs no rows.
        X_unl : array-like, sparse matrix or DataFrame of shape (n, n_features), optional
            Unlabelled rows that the model was **not** fitted to, because a model gives its training rows other scores
            than new rows. By default the unlabelled training rows with their out-of-bag scores, which forests, bags of
            boosted trees and bagging SVMs have. For a Dask collection the scores are computed at once, on its workers.
        y : array-like of shape (n,), optional
            Labels of the training rows, in their order: the rows that are 0 are divided. By default the labels of the
            fit. Pass labels that have -1 for rows that were checked and found negative, if the fit got these as
            unlabelled rows, of a larger weight: they are not among the rows whose share is asked for.
        n_threads : int, optional
            The most threads to use, >= 1. By default, one for each CPU that this process may use.

        Returns
        -------
        Model
            A new model of the same class. It shares the arrays of this one.

        Warns
        -----
        DegenerateModelWarning
            If the new model calls all rows positive, or none, unless `k` asks for it. Also if it misses what was asked
            by more than a tenth, and by more than a row, as it does where many rows have one score.
        EstimateWarning
            - If `prior` is an estimate whose `allowed` shares are far from it. The warning and `threshold_rule` say how
              many rows the ends of `allowed` would call positive.
            - If unlabelled training rows have no out-of-bag score (NaN): they are left out.

        Raises
        ------
        TypeError, ValueError
            If not exactly one of `prior`, `k` and `value` is passed, if one is out of its range, if
            `decision_function` refuses `X_unl`, or if `X_unl` is left out and the model has no out-of-bag scores of
            unlabelled rows. Also if `y` is passed with `X_unl` or `value`, or does not fit the labels of the fit.

        Notes
        -----
        The threshold is a quantile of the n rows that are divided. So the share s of all rows of the same population
        that is called positive has a standard error of sqrt(s (1 - s) / n): 0.003 for a share of 0.05 by 5,000 rows.
        With `prior`, `threshold_rule` gives the exact 90 % interval of this share, by Clopper and Pearson. The rows
        count as drawn one by one, with weights as (sum of weights)^2 / (sum of squared weights) of them. So where rows
        belong together the interval is too narrow. Trees that were fitted to groups give none.
        """
        check_one_rule(prior, k, value, X_unl, y)
        threads = resolve_n_threads(n_threads)
        if value is not None:
            threshold, rule = threshold_at(value)
        else:
            if prior is not None:
                check_prior(prior)  # before the scores, which may take long
            rows = (
                self._rows_to_cut(y)
                if X_unl is None
                else CutRows(self._scores_in_memory(X_unl, "X_unl", threads), are_grouped=self._has_groups())
            )
            threshold, rule = threshold_of_first(rows, k) if prior is None else threshold_of_prior(rows, prior)
        return dataclasses.replace(self, threshold=threshold, threshold_rule=rule)

    def with_probabilities(
        self,
        *,
        prior: float | PriorEstimate,
        y: LabelsLike,
        X: MatrixLike | None = None,
        scenario: Scenario = "case_control",
        method: Literal["beta", "sigmoid", "isotonic"] = "beta",
        sample_weight: VectorLike | None = None,
        n_threads: int | None = None,
    ) -> Self:
        r"""Return this model with a curve from its scores to probabilities, for `predict_proba`.

        A row with the score s gets the probability g(s). The curve g minimises an estimate of the expected loss that
        needs no labelled negatives: the unknown positive rows of U are replaced by the labelled ones, in the term
        :math:`\pi \operatorname{mean}_P`. Below, q(s) is the share of U with scores below s, and all slopes a are
        :math:`\ge 0`:

        .. math:: \text{"beta":}\quad & g(s) = \frac{1}{1 + e^{-z}},\ z = a_1 s + a_2 \log q(s)
                - a_3 \log(1 - q(s)) + b:\quad
            \min \operatorname{mean}_U \log(1 + e^z) - \pi \operatorname{mean}_P z

            \text{"sigmoid":}\quad & z = a (s - c) + b\ \text{alone, by the same minimum}

            \text{"isotonic":}\quad & g \text{ increasing, in } [0, 1]:\quad
            \min \operatorname{mean}_U g^2 - 2 \pi \operatorname{mean}_P g

        The mean of the probabilities over U is :math:`\pi` ("isotonic" cuts them off at 1, so its mean may be
        smaller), and they rise with the score. `predict` and `threshold` stay as they are.

        Parameters
        ----------
        prior : float or PriorEstimate
            The share of positives P(Y = 1), in (0, 1): among the unlabelled rows with ``scenario="case_control"``,
            where it is :math:`\pi` itself, and among all rows with ``"single_set"``.
        y : array-like of shape (n,)
            Labels of `X`, or of the training rows: +1 for labelled positive rows, 0 for unlabelled rows; there must be
            one of each. Labelled negatives (-1) only count as rows of the population of ``"single_set"``.
        X : array-like, sparse matrix or DataFrame of shape (n, n_features), optional
            Rows that the model was **not** fitted to. A model separates its training rows better than new ones, so
            probabilities from them would be too near 0 and 1. The labelled rows must be a random sample of the
            positives. By default the training rows, in their order, with their out-of-bag scores, which forests and
            bags of boosted trees have.
        scenario : {"case_control", "single_set"}, default "case_control"
            How the rows were drawn. "case_control": the unlabelled rows are a sample of the population, drawn apart
            from the labelled ones. "single_set": all rows are one sample, and some of its positives were labelled.
            `prior` is then converted to (prior n - n_pos) / n_unl, and the probabilities are those of rows without a
            label.
        method : {"beta", "sigmoid", "isotonic"}, default "beta"
            The shape of the curve. "beta" uses the score and its rank among the unlabelled rows, which tells the first
            few rows from all others; the fewer labelled rows there are, the flatter it is. "sigmoid" has two
            parameters, and suits scores that behave like log odds. "isotonic" assumes only that probabilities rise with
            the score, and needs hundreds of labelled rows.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0. A weight counts as that many repetitions of the row. The number of labelled rows, which "beta"
            depends on, is (sum of weights)^2 / (sum of squared weights).
        n_threads : int, optional
            The most threads to use, >= 1. By default, one for each CPU that this process may use.

        Returns
        -------
        Model
            A new model of the same class that shares the arrays of this one.

        Warns
        -----
        EstimateWarning
            - If the labelled positives have lower scores than the unlabelled rows on average. Every row then gets the
              prior as its probability.
            - If the scores of the labelled positives are so high that "beta" or "sigmoid" is nearly a step, with more
              than a twentieth of the labelled positives below it.
            - If the mean of "isotonic" over U misses the prior by more than a quarter of it.
            - If `prior` is an estimate whose `allowed` shares are far from it, because probabilities are proportional
              to the prior.
            - If labelled positive or unlabelled training rows have no out-of-bag score (NaN): they are left out.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, `prior` is not possible in ``"single_set"``, a score is infinite, or
            `X` is left out and the model has no out-of-bag scores.

        Notes
        -----
        O(n log n) time and O(n) memory, after scoring. A penalty keeps the slopes finite where labelled positives score
        higher than the best share :math:`\pi` of the unlabelled rows. For "beta" it is :math:`\pi \max(5/n, .01)/2`
        times the sum of squared slopes, with n labelled rows and scores of unit spread in U; for "sigmoid" it is
        5e-6 a^2. "beta" stores z at some 200 scores, with straight lines between them, and is constant beyond them.

        References
        ----------
        Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods",
        1999; Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD
        2002; Kull, Silva Filho and Flach, "Beta calibration", AISTATS 2017; du Plessis, Niu and Sugiyama,
        "Convex formulation for learning from positive and unlabeled data", ICML 2015, for the risk without negatives.

        Examples
        --------
        >>> import numpy as np
        >>> import fastpu
        >>> rng = np.random.default_rng(0)
        >>> truth = np.repeat([True, True, False], [200, 300, 700])
        >>> X = (rng.normal(size=1200) + 2 * truth)[:, None]
        >>> y = np.arange(1200) < 200  # 200 labelled positives, and 300 among 1000 unlabelled rows
        >>> model = fastpu.fit_upu(X[::2], y[::2], prior=0.3)
        >>> model = model.with_probabilities(prior=0.3, X=X[1::2], y=y[1::2])
        >>> model.predict_proba([[-1.0], [1.0], [3.0]]).round(1)
        array([[1. , 0. ],
               [0.7, 0.3],
               [0. , 1. ]])
        """
        number, drawn_as = take_prior_in(scenario, prior)
        check_choice("method", method, METHODS)
        threads = resolve_n_threads(n_threads)
        scores = self._out_of_bag() if X is None else self._scores_in_memory(X, "X", threads)
        if scores is None:
            raise ValueError(
                "X must be given for a model without out-of-bag scores, got None: pass rows that it was not fitted to"
            )
        has_score = ~np.isnan(scores) if X is None else None
        labels = check_labels(computed(y), scores.size)
        weights = check_sample_weight(computed(sample_weight), scores.size)
        warn_of_other_order(X, y=y, sample_weight=sample_weight)
        scored = GroupScores(scores, labels, weights, has_score)
        if X is None:
            weighs = True if weights is None else weights > 0
            kinds = {KINDS[label]: (labels == label) & weighs for label in (1, 0)}
            rows_with_scores("with_probabilities", "scores", scores, kinds)
        share = proper_prior(number, drawn_as, n_pos=scored.mass_pos, n_unl=scored.mass_unl, n_neg=scored.mass_neg)
        return self._with_calibration(method, scored, share, caller="with_probabilities")

    def _with_calibration(self, method: str, scored: GroupScores, prior: float, *, caller: str) -> Self:
        """Return this model with probabilities, calibrated for a prior among the unlabelled rows; warn as `caller`."""
        knots, values, trouble = calibrate(method, scored, prior)
        if trouble:
            warn(f"{caller}: {trouble}", EstimateWarning)
        return dataclasses.replace(
            self, calibration=method, calibration_prior=prior, calibration_knots=knots, calibration_values=values
        )

    def predict_proba(self, X: MatrixLike, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the probabilities of both classes for the rows of `X`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
            Rows, as `decision_function` takes them.
        n_threads : int, optional
            The most threads to use, >= 1. By default, one for each CPU that this process may use.

        Returns
        -------
        ndarray of shape (n, 2)
            P(Y = -1 | x) and P(Y = +1 | x), from the curve that `with_probabilities` has fitted. For a Dask collection
            they are computed when they are asked for.

        Raises
        ------
        TypeError, ValueError
            If `X` is not such a matrix, has other features than the training data, or `with_probabilities` was not
            called.
        """
        method, knots, values = self.calibration, self.calibration_knots, self.calibration_values
        if method is None or knots is None or values is None:
            how = (
                "with_probabilities(prior=..., X=..., y=...) with rows that it was not fitted to"
                if self._out_of_bag() is None
                else "with_probabilities(prior=..., y=...) with the training labels, for its out-of-bag scores"
            )
            raise ValueError(
                f"the model has scores but no probabilities: call {how}; then call predict_proba of the model that "
                "this returns"
            )
        if is_lazy(X):
            lazy: NDArray[np.float64] = of_partitions(
                X, partial(self.predict_proba, n_threads=n_threads), np.float64, self, of_classes=True
            )
            return lazy
        return of_both(method, knots, values, self.decision_function(X, n_threads=n_threads))

    def _rows_to_cut(self, y: LabelsLike | None) -> CutRows:  # noqa: ARG002 - for subclasses
        """Return the unlabelled training rows by scores of parts that were not fitted to them, or raise ValueError.

        They are unlabelled by `y`, or by the labels of the fit.
        """
        raise ValueError(
            "X_unl must be given for with_threshold, got None: the model has no out-of-bag scores, and its training "
            "rows have other scores than new rows have; pass unlabelled rows that it was not fitted to"
        )
