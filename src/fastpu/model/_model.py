"""What every fitted model has in common."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastpu.common._params import check_choice
from fastpu.common._text import short
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import warn
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._tables import is_lazy
from fastpu.data._validate import check_labels, check_matrix, check_sample_weight
from fastpu.exceptions import EstimateWarning
from fastpu.model._calibration import METHODS, calibrate, check_calibration, of_both
from fastpu.model._cut import CutRows, check_one, threshold_at, threshold_of_first, threshold_of_prior
from fastpu.model._fields import encode_field, field_specs, freeze
from fastpu.model._file import file_name, write_model_file
from fastpu.model._lazy import computed, of_partitions
from fastpu.model._prior import PriorEstimate, check_prior, proper_prior, take_prior_in
from fastpu.model._scored import Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self  # in typing from Python 3.11


_MOST_FEATURES = 2**63 - 1
#: The classes of models that `load` knows, by their names.
MODEL_CLASSES: dict[str, type[Model]] = {}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Model(ABC):
    """A fitted model: immutable, with read-only arrays.

    Attributes
    ----------
    n_features : int
        Number of features of the training data.
    feature_names : tuple, or None
        Their names, if the training data had names: strings, or numbers, None and tuples of them.
    threshold : float
        `predict` calls a row positive if its score is larger.
    threshold_rule : str
        Where the threshold comes from.
    n_iter : int
        Number of rounds or iterations kept. Early stopping drops the last ones that were run; `history` has these too.
    converged : bool
        Whether the fit ended as it was asked to: by a stopping rule before the iterations ran out, or with all the
        rounds that were asked for.
    status : str
        Why the fit stopped.
    objective : ndarray of float64
        Value of the objective after each iteration that was kept.
    history : mapping of str to ndarray
        What the loop recorded, for every iteration that was run.
    params : mapping of str to object
        The function that made the model ("method") and its arguments that influence the result.
    calibration : str or None
        "beta", "sigmoid" or "isotonic" if `with_probabilities` has given the model probabilities.
    calibration_prior : float or None
        The share of positives among unlabelled rows that these hold for.
    calibration_knots : ndarray of float64, or None
        Scores, rising, between which log odds ("beta") or probabilities ("isotonic") lie on lines. Of "sigmoid": one
        score c.
    calibration_values : ndarray of float64, or None
        The log odds or probabilities at the knots. Of "sigmoid": a and b of z = a (s - c) + b.

    Notes
    -----
    A subclass is a dataclass with the same four options. It implements `_decision_function`, says
    through `_ndim` which of its arrays do not have one dimension, and checks in `_check_fields`
    whatever its kernel relies on, for a loaded file may say anything.
    """

    n_features: int
    feature_names: tuple[Hashable, ...] | None
    threshold: float
    threshold_rule: str = "zero"
    n_iter: int
    converged: bool
    status: str
    objective: NDArray[np.float64]
    history: Mapping[str, NDArray[Any]]
    params: Mapping[str, object]
    calibration: str | None = None
    calibration_prior: float | None = None
    calibration_knots: NDArray[np.float64] | None = None
    calibration_values: NDArray[np.float64] | None = None

    _ndim: ClassVar[Mapping[str, int]] = {}

    def __init_subclass__(cls, *, is_base: bool = False, **kwargs: Any) -> None:
        """Let `load` know the class, unless it is only a base of the classes that fits return."""
        super().__init_subclass__(**kwargs)
        if is_base:
            return
        known = MODEL_CLASSES.get(cls.__name__)
        if known is not None and known.__module__ != cls.__module__ and known.__module__.startswith("fastpu."):
            raise TypeError(f"there is a model class {cls.__name__} in {known.__module__} already")
        MODEL_CLASSES[cls.__name__] = cls

    def __post_init__(self) -> None:
        for name, spec in field_specs(type(self)).items():
            object.__setattr__(self, name, freeze(name, getattr(self, name), spec))
        if not 1 <= self.n_features <= _MOST_FEATURES:
            bound = ">= 1" if self.n_features < 1 else f"<= {_MOST_FEATURES}"
            raise ValueError(f"n_features must be {bound}, got {short(self.n_features)}")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(f"feature_names must have {self.n_features} names, got {len(self.feature_names)}")
        if self.n_iter < 0:
            raise ValueError(f"n_iter must be >= 0, got {self.n_iter}")
        if np.isnan(self.threshold):
            raise ValueError("threshold must be a number, got nan")
        check_calibration(self.calibration, self.calibration_prior, self.calibration_knots, self.calibration_values)
        self._check_fields()

    def _check_fields(self) -> None:  # noqa: B027 - a hook, and most models have nothing to add
        """Raise ValueError if the arrays do not fit each other: the kernel relies on it."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, which makes the arrays read-only again.
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return _restore, (type(self), fields)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_features={self.n_features}, n_iter={self.n_iter}, "
            f"converged={self.converged}, status={self.status!r}, threshold={self.threshold:.6g})"
        )

    def decision_function(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the scores of the rows of `X`; larger is more positive.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
            float32 and float64, C-contiguous or CSR, are used without a copy. Of a Dask array or frame the scores are
            computed when they are asked for, partition by partition. Without rows there are no scores, and no error.
        n_threads : int, optional
            Most threads to use; by default the CPUs this process may use.

        Returns
        -------
        ndarray of shape (n,)
            Of a Dask array another one, of a Dask frame a Dask series.

        Raises
        ------
        TypeError, ValueError
            If `X` is not such a matrix, or has other features than the training data.
        """
        threads = resolve_n_threads(n_threads)
        if is_lazy(X):
            lazy: NDArray[np.float64] = of_partitions(
                X, partial(self.decision_function, n_threads=n_threads), np.float64, self
            )
            return lazy
        return self._checked_scores(X, "X", threads)

    def predict(self, X: object, *, n_threads: int | None = None) -> NDArray[np.int64]:
        """Return +1 for the rows of `X` whose score exceeds `threshold`, and -1 for the others.

        Parameters and errors are those of `decision_function`.
        """
        if is_lazy(X):
            lazy: NDArray[np.int64] = of_partitions(X, partial(self.predict, n_threads=n_threads), np.int64, self)
            return lazy
        scores = self.decision_function(X, n_threads=n_threads)
        signs: NDArray[np.int64] = np.where(scores > self.threshold, np.int64(1), np.int64(-1))
        return signs

    def with_threshold(
        self,
        *,
        prior: float | PriorEstimate | None = None,
        k: float | None = None,
        value: float | None = None,
        X_unl: object = None,
        n_threads: int | None = None,
    ) -> Self:
        """Return this model with another threshold: by a class prior, by a number of rows, or a given one.

        The number of unlabelled rows that the new model calls positive is as near to what is asked for as their scores
        allow. The threshold is the midpoint between two neighbouring scores, or, where that is nearest, the highest
        score (nothing is called positive) or a number just below the lowest (everything is). Rows with equal scores
        cannot be told apart, so ties may keep the number away; of two cuts equally near, the lower one is taken.
        Exactly one of `prior`, `k` and `value` is given; `threshold_rule` says which, and files keep it.

        Parameters
        ----------
        prior : float or PriorEstimate, optional
            P(Y = 1) among the unlabelled rows, in (0, 1): that share of them is called positive. Of an estimate with an
            interval `threshold_rule` says how many rows the ends of the interval would call positive.
        k : int or float, optional
            How many of the rows to call positive (an integer), as many as can be checked, or a share of them (a float).
        value : float, optional
            The threshold itself; no rows are needed.
        X_unl : array-like, sparse matrix or DataFrame of shape (n, n_features), optional
            Unlabelled rows that the model was **not** fitted to, such as `prior` speaks of, or as many as `k` is chosen
            from: it scores those of its training as it scores no other. By default the unlabelled training rows, by
            their out-of-bag scores, which forests, bags of boosted trees and bagging SVMs have. Of a Dask collection
            the scores are computed now, on its workers.
        n_threads : int, optional
            As in `decision_function`.

        Returns
        -------
        Model
            A new model of the same class that shares the arrays of this one.

        Warns
        -----
        DegenerateModelWarning
            If the new model calls all rows positive, or none, and `k` does not ask for that.
        EstimateWarning
            If `prior` is an estimate whose `allowed` shares are far from it: the warning, and `threshold_rule`, say
            how many rows their ends would call positive.

        Raises
        ------
        TypeError, ValueError
            If not exactly one of `prior`, `k` and `value` is given, one is out of its range, `X_unl` is refused by
            `decision_function`, or it is left out and the model has no out-of-bag scores of unlabelled rows.
        """
        check_one(prior, k, value, X_unl)
        threads = resolve_n_threads(n_threads)
        if value is not None:
            threshold, rule = threshold_at(value)
        else:
            if prior is not None:
                check_prior(prior)  # before the scores, which may take long
            rows = self._unlabelled() if X_unl is None else CutRows(self._scores_in_memory(X_unl, "X_unl", threads))
            threshold, rule = threshold_of_first(rows, k) if prior is None else threshold_of_prior(rows, prior)
        return dataclasses.replace(self, threshold=threshold, threshold_rule=rule)

    def with_probabilities(
        self,
        *,
        prior: float | PriorEstimate,
        y: object,
        X: object = None,
        scenario: str = "case_control",
        method: str = "beta",
        sample_weight: object = None,
        n_threads: int | None = None,
    ) -> Self:
        r"""Return this model with a map from its scores to probabilities, for `predict_proba`.

        The probability g(s) of a row with the score s minimises an estimate of the expected loss that needs no
        negative row, as :math:`\pi \operatorname{mean}_P` stands for the sum over the positive rows of U. With q(s) for
        the share of U that scores below s, and all slopes :math:`a \ge 0`:

        .. math:: \text{"beta":}\quad & g(s) = \frac{1}{1 + e^{-z}},\ z = a_1 s + a_2 \log q(s)
                - a_3 \log(1 - q(s)) + b:\quad
            \min \operatorname{mean}_U \log(1 + e^z) - \pi \operatorname{mean}_P z

            \text{"sigmoid":}\quad & z = a (s - c) + b\ \text{alone, by the same minimum}

            \text{"isotonic":}\quad & g \text{ increasing, in } [0, 1]:\quad
            \min \operatorname{mean}_U g^2 - 2 \pi \operatorname{mean}_P g

        So the mean of the probabilities over U is :math:`\pi` (of "isotonic": less by what is cut off at 1), and they
        rise with the score. `predict` and `threshold` stay as they are.

        Parameters
        ----------
        prior : float or PriorEstimate
            As in `fastpu.metrics.err_star`: :math:`\pi` itself in ``"case_control"``.
        y : array-like of shape (n,)
            +1 positive, 0 unlabelled; at least one of each. Labelled negatives (-1) only count as rows that `prior` of
            ``"single_set"`` speaks of.
        X : array-like, sparse matrix or DataFrame of shape (n, n_features), optional
            Rows that the model has **not** been fitted to: it scores those of its training better than new ones, and
            their probabilities would be too near 0 and 1. Labelled rows must be a random sample of the positives. By
            default the training rows, in their order, by their out-of-bag scores: each by the trees that were not
            fitted to it. Forests and bags of boosted trees have such scores.
        scenario : {"case_control", "single_set"}, default "case_control"
            As in `fastpu.metrics.err_star`. With ``"single_set"`` `prior` is converted, (prior n - n_pos) / n_unl, and
            the probabilities are those of a row that has no label.
        method : {"beta", "sigmoid", "isotonic"}, default "beta"
            "beta" follows the score and its place among the unlabelled rows, which tells the first few from all others,
            with slopes that are smaller for few labelled rows. "sigmoid" is two numbers, for scores that behave like
            log odds. "isotonic" is a step function with lines between its steps, for hundreds of labelled rows, which
            assumes nothing but the order.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; a weight counts as that many repetitions of the row. Where "beta" asks how many labelled rows
            there are, they count as (sum of weights)^2 / (sum of squared weights).
        n_threads : int, optional
            As in `decision_function`.

        Returns
        -------
        Model
            A new model of the same class that shares the arrays of this one.

        Warns
        -----
        EstimateWarning
            If the labelled positives have lower scores than the unlabelled rows on average, and every row gets the
            prior; if they have so high ones that "beta" or "sigmoid" is a step, and a twentieth of them lie below
            it; or if the mean of "isotonic" over U misses the prior by more than a quarter of it. If `prior` is an
            estimate whose `allowed` shares are far from it, to which the probabilities are in proportion.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, `prior` is not possible in ``"single_set"``, or a score is infinite. If
            `X` is left out and the model has no out-of-bag scores.

        Notes
        -----
        After scoring O(n log n) time and O(n) memory. Penalties give the slopes a minimum where labelled positives
        score higher than the best share :math:`\pi` of the unlabelled rows: of "beta" :math:`\pi \max(5/n, .01)/2`
        times their sum of squares, with n labelled rows and scores of unit spread in U; of "sigmoid" 5e-6 a^2. "beta"
        keeps z at some 200 scores, with lines between these, and flat beyond.

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
        given, drawn_as = take_prior_in(scenario, prior)
        check_choice("method", method, METHODS)
        threads = resolve_n_threads(n_threads)
        scores = self._out_of_bag() if X is None else self._scores_in_memory(X, "X", threads)
        if scores is None:
            raise ValueError(
                "X must be given for a model without out-of-bag scores, got None; pass rows that it was not fitted to"
            )
        has_score = ~np.isnan(scores) if X is None else None
        labels = check_labels(computed(y), scores.size)
        weights = check_sample_weight(computed(sample_weight), scores.size)
        warn_of_other_order(X, y=y, sample_weight=sample_weight)
        scored = Scored(scores, labels, weights, has_score)
        share = proper_prior(given, drawn_as, **scored.masses)
        return self._with_calibration(method, scored, share, caller="with_probabilities")

    def _with_calibration(self, method: str, scored: Scored, prior: float, *, caller: str) -> Self:
        """Return this model with probabilities, calibrated for a prior among the unlabelled rows; warn as `caller`."""
        knots, values, trouble = calibrate(method, scored, prior)
        if trouble:
            warn(f"{caller}: {trouble}", EstimateWarning)
        return dataclasses.replace(
            self, calibration=method, calibration_prior=prior, calibration_knots=knots, calibration_values=values
        )

    def predict_proba(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the probabilities of both classes for the rows of `X`.

        Parameters and errors are those of `decision_function`; a model without probabilities has a ValueError.

        Returns
        -------
        ndarray of shape (n, 2)
            P(Y = -1 | x) and P(Y = +1 | x), as `with_probabilities` has calibrated them. Of Dask collections: lazy.
        """
        method, knots, values = self.calibration, self.calibration_knots, self.calibration_values
        if method is None or knots is None or values is None:
            raise ValueError(
                "the model has scores only: call with_probabilities(prior=..., X=..., y=...) first, with rows that it "
                "was not fitted to, and predict_proba of the model that it returns"
            )
        if is_lazy(X):
            lazy: NDArray[np.float64] = of_partitions(
                X, partial(self.predict_proba, n_threads=n_threads), np.float64, self, of_classes=True
            )
            return lazy
        return of_both(method, knots, values, self.decision_function(X, n_threads=n_threads))

    def save(self, path: object) -> None:
        """Write the model to a file that `fastpu.load` reads.

        The file is an uncompressed .npz: arrays and a JSON header with a format version, no pickle. The name is taken
        exactly as given. A file of that name stays whole until the new one is complete, and stays if writing fails or
        the process is killed; the new one gets its permissions.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            If the file cannot be written.
        TypeError
            If `path` is not such a name, or the model holds a function of the user's.
        ValueError
            If `path` is a device or pipe, or holds a null character.
        """
        name = file_name(path)
        arrays: dict[str, NDArray[Any]] = {}
        fields = {
            field: encode_field(field, getattr(self, field), spec, arrays)
            for field, spec in field_specs(type(self)).items()
        }
        header = {"fastpu": version("fastpu"), "class": type(self).__name__, "fields": fields}
        write_model_file(name, header, arrays)

    def _checked_scores(self, X: object, name: str, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of unchecked rows; those whose sums overflow in both directions have none."""
        matrix = self._check_input(X, name)
        return refuse_nan_scores(self._decision_function(matrix, n_threads), name) if matrix.n_rows else np.empty(0)

    def _scores_in_memory(self, X: object, name: str, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of at least one row; of a Dask collection they, not its rows, are fetched."""
        scores: NDArray[np.float64] = (
            computed(self.decision_function(X)) if is_lazy(X) else self._checked_scores(X, name, n_threads)
        )
        if not scores.size:
            raise ValueError(f"{name} must have at least 1 row, got none")
        return scores

    def _check_input(self, X: object, name: str) -> Any:
        """Return `X` in the form that `_decision_function` takes."""
        return check_matrix(
            X, name=name, n_features=self.n_features, feature_names=self.feature_names, may_be_empty=True
        )

    def _out_of_bag(self) -> NDArray[np.float64] | None:
        """Return scores of the training rows, labelled ones too, by parts that were not fitted to them, or None."""
        return None

    def _unlabelled(self) -> CutRows:
        """Return the unlabelled training rows by scores of parts that were not fitted to them, or raise ValueError."""
        raise ValueError(
            "X_unl must be given for with_threshold, got None: the model has no out-of-bag scores, and it scores the "
            "rows that it was fitted to as it scores no other; pass unlabelled rows that it was not fitted to"
        )

    @abstractmethod
    def _decision_function(self, matrix: Any, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of a checked matrix."""


def refuse_nan_scores(scores: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return the scores of the rows called `name`, of shape (n,) or (n, m), or raise ValueError where one is NaN."""
    if (without := np.isnan(scores)).any():
        row = int(np.argmax(without.reshape(len(scores), -1).any(axis=1)))
        raise ValueError(f"{name} has entries so large that its scores overflow, first in row {row}")
    return scores


def _restore(cls: type[Model], fields: dict[str, Any]) -> Model:
    for value in fields.values():
        # An array out of a pickle or a deep copy is ours alone: no second copy is needed.
        for array in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    return cls(**fields)
