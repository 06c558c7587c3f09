"""What the classifiers around another classifier share: its fits to some of the rows, its scores, and metadata."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import (
    _check_method_params,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from fastpu.common._methods import DECLARED
from fastpu.common._params import check_choice, check_int
from fastpu.common._text import describe
from fastpu.data._folds import stratified_folds
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._tables import known_table
from fastpu.data._validate import check_sample_weight
from fastpu.estimators._pu_classifier import PUClassifier, require_classes, require_distinct_names
from fastpu.model._cut import CutRows, threshold_at, threshold_of_first, threshold_of_prior
from fastpu.model._prior import check_prior
from fastpu.selection._parts import check_folds

if TYPE_CHECKING:
    from typing_extensions import Self


THRESHOLDS = {"predict_proba": 0.5, "decision_function": 0.0}  #: the scores above which the base estimator predicts 1


@dataclasses.dataclass(frozen=True)
class CloneRows:
    """The rows of one fit, and the estimator of which clones are fitted to some of them.

    `X` are rows as the user gave them, converted only if they could not be indexed by rows. `response` is the method of
    the estimator whose values are the scores. `params` are further arguments of its fit; those with an entry for each
    row are cut like the rows. Metadata routing may make `estimator_weights` differ from the user's `weights`.
    """

    X: Any
    classes: NDArray[Any]
    codes: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    estimator: Any
    response: str
    params: Mapping[str, Any]
    estimator_weights: NDArray[np.float64] | None

    @property
    def mass(self) -> NDArray[np.float64]:
        """The weights of the rows, all 1 if there are none."""
        return np.ones(self.codes.size) if self.weights is None else self.weights

    def rows(self, code: int) -> NDArray[np.intp]:
        """Return the numbers of the rows of positive weight that have this code."""
        return np.flatnonzero((self.codes == code) & (self.mass > 0))

    def require_groups(self, owner: Any) -> None:
        """Raise ValueError unless there are positive and unlabelled rows of positive weight."""
        for code, kind in ((1, "positive"), (0, "unlabelled")):
            if not self.rows(code).size:
                raise ValueError(f"y must hold {kind} rows of positive weight for {type(owner).__name__}, got none")

    def fit(
        self,
        rows: NDArray[np.intp],
        positive: NDArray[np.bool_],
        share: NDArray[np.float64] | None = None,
        seed: int | None = None,
    ) -> Any:
        """Return a clone of the estimator that is fitted to rows by their numbers, which may repeat.

        Its labels are 1 for `positive` and 0 for the others. `share` multiplies the weights of the rows. `seed` is
        for the random states in the estimator, which are left as they are where it is None.
        """
        machine = clone(self.estimator)
        if seed is not None:
            names = sorted(name for name in machine.get_params() if name.rpartition("__")[2] == "random_state")
            seeds = np.random.default_rng(seed).integers(2**31 - 1, size=len(names))
            machine.set_params(**dict(zip(names, map(int, seeds), strict=True)))
        given = _check_method_params(self.X, self.params, indices=rows)
        weights = share
        if self.estimator_weights is not None:
            weights = self.estimator_weights[rows] * (1.0 if share is None else share)
        if weights is not None:
            given[str(weight_name(self.estimator))] = weights
        machine.fit(self._cut(rows), positive.astype(np.intp), **given)
        return machine

    def scores(self, machine: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return scores_of(machine, self._cut(rows), self.response)

    def _cut(self, rows: NDArray[np.intp]) -> Any:
        if np.array_equal(rows, np.arange(self.codes.size)):
            return self.X  # all rows, without a copy
        return _safe_indexing(self.X, rows)


class MetaClassifier(MetaEstimatorMixin, PUClassifier):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier around another one, `estimator`, which is fitted to the labels 1 and 0 alone.

    A subclass has `_fit`, which sets all attributes but those that every class has. Its scores are those of
    `estimator_`, unless it has `_scores` too.
    """

    estimator: Any
    estimator_: Any
    response_method: str = "predict_proba"  # a parameter of classes that take other scores too
    response_method_: str
    _needs_negatives = False  # whether labels of 0 mean negative to `estimator`, with weights that say how surely

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows as `estimator` takes them.
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0 in the fits of `estimator`, which has to take them, and in what the class says. Rows of weight
            0 are left out.
        **fit_params
            Further arguments of the fit of `estimator`; what has an entry for each row is cut like the rows.

        Returns
        -------
        MetaClassifier
            This classifier.

        Raises
        ------
        TypeError
            If `estimator` lacks the method that gives scores, or takes no weights where there are some.
        ValueError
            If an argument is not as described, or there are too few rows of a group.
        """
        training = self._begin(X, y, sample_weight, fit_params)
        self._fit(training)
        self.response_method_, self.threshold_ = training.response, THRESHOLDS[training.response]
        self.classes_ = training.classes
        return self

    def _begin(self, X: Any, y: Any, sample_weight: Any, params: Mapping[str, Any]) -> CloneRows:
        check_estimator_of(self, self.estimator)
        if self._needs_negatives:
            refuse_pu_classifier(self, self.estimator)
        self._read_columns(X, reset=True)
        (X,) = indexable(X)
        n_rows = _num_samples(X)
        labels, codes = self._read_labels(y, n_rows)
        warn_of_other_order(X, y=y, sample_weight=sample_weight)
        weights = check_sample_weight(sample_weight, n_rows)
        require_classes(labels, codes, weights)
        given, estimator_weights = dict(params), weights
        if get_config()["enable_metadata_routing"]:
            given = dict(process_routing(self, "fit", sample_weight=weights, **params).estimator.fit)
            estimator_weights = given.pop("sample_weight", None)
        name = weight_name(self.estimator)
        if name in given:
            raise TypeError(f"{name} must be passed as sample_weight, which becomes it")
        if estimator_weights is not None:
            check_takes_weights(self, self.estimator)
        response = response_of(self, self.estimator, self.response_method)
        return CloneRows(X, labels.classes, codes, weights, self.estimator, response, given, estimator_weights)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        self._read_columns(X, reset=False)
        return scores_of(self.estimator_, X, self.response_method_)

    def _unlabelled(self) -> CutRows:
        """Return the unlabelled training rows by scores of parts that were not fitted to them, or raise ValueError."""
        raise ValueError(
            f"X_unl must be given for with_threshold, got None: {type(self).__name__} has no out-of-bag scores, and it "
            f"scores the rows that it was fitted to as it scores no other; pass unlabelled rows that it has not seen"
        )

    def _move_threshold(self, prior: Any, k: Any, value: Any, X_unl: Any) -> None:
        if value is not None:
            self.threshold_ = threshold_at(value)[0]
            return
        if prior is not None:
            check_prior(prior)  # before the scores, which may take long
        rows = self._unlabelled() if X_unl is None else CutRows(self._scores(X_unl))
        self.threshold_ = (threshold_of_first(rows, k) if prior is None else threshold_of_prior(rows, prior))[0]

    def _read_columns(self, X: Any, *, reset: bool) -> None:
        """Note the number and the names of the columns, or compare them; rows that are texts have none."""
        known_table(X)  # refuses rows that are not in memory
        if getattr(X, "ndim", 2) != 1:
            require_distinct_names(X)
            validate_data(self, X, skip_check_array=True, reset=reset)

    def get_metadata_routing(self) -> Any:
        """Return the MetadataRouter from `fit` to that of `estimator`, as scikit-learn's user guide describes."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


class WithProbabilities(MetaClassifier):
    """A classifier around another one whose scores are probabilities of the positive class."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of ``classes_[0]`` and ``classes_[1]`` for rows as `decision_function` takes them.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        check_is_fitted(self)
        positive = self._probabilities(self._scores(X))
        return np.column_stack([1.0 - positive, positive])

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores


def check_estimator_of(owner: Any, estimator: Any, name: str = "estimator") -> None:
    """Raise TypeError or ValueError unless `estimator` can be cloned and fitted to parts of the rows."""
    is_instance = hasattr(estimator, "get_params") and not isinstance(estimator, type)
    if not is_instance or not hasattr(estimator, "fit"):
        raise TypeError(
            f"{name} of {type(owner).__name__} must be a classifier as scikit-learn has them, such as "
            f"LogisticRegression(), got {describe(estimator)}"
        )
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"{name} must not take a kernel matrix, which cannot be cut by rows, got {describe(estimator)}"
        )


def refuse_pu_classifier(owner: Any, estimator: Any, name: str = "estimator") -> None:
    """Raise TypeError for a classifier that learns from unlabelled rows itself, be it in a Pipeline or a search."""
    inner = estimator
    while not isinstance(inner, PUClassifier):
        steps = getattr(inner, "steps", None)
        inner = steps[-1][1] if steps else getattr(inner, "estimator", None)
        if inner is None:
            return
    method = getattr(type(inner), "_function", None)
    if method is not None and "U" not in DECLARED[method.__name__].groups:
        return
    kind = type(inner).__name__
    raise TypeError(
        f"{name} of {type(owner).__name__} must be a classifier of positive and negative rows, such as "
        f"LogisticRegression() or HistGradientBoostingClassifier(), got {kind}, to which rows of label 0 are "
        f"unlabelled: {type(owner).__name__} says by weights how surely such a row is negative, and {kind} would allow "
        f"for hidden positives a second time; use {kind} by itself"
    )


def response_of(owner: Any, estimator: Any, method: object, name: str = "estimator") -> str:
    """Return the method whose values are the scores: "auto" is the first that the estimator has."""
    check_choice("response_method", method, ("auto", *THRESHOLDS))
    known = [response for response in THRESHOLDS if hasattr(estimator, response)]
    wanted = [response for response in known if method in ("auto", response)]
    if not wanted:
        needed = " or ".join(THRESHOLDS) if method == "auto" else str(method)
        has = f", but has {known[0]}" if known else ""
        if needed == "predict_proba":
            has += "; put scikit-learn's CalibratedClassifierCV around it"
        raise TypeError(
            f"{name} of {type(owner).__name__} must have {needed}, which {describe(estimator)} has not{has}"
        )
    return wanted[0]


def scores_of(machine: Any, X: Any, response: str) -> NDArray[np.float64]:
    """Return the scores of rows for the label 1 by an estimator that was fitted to the labels 0 and 1."""
    values = np.asarray(getattr(machine, response)(X), dtype=np.float64)
    if response == "predict_proba":
        if values.ndim != 2 or values.shape[1] != 2:
            raise ValueError(
                f"predict_proba of {type(machine).__name__} must give two columns, got the shape {values.shape}"
            )
        values = values[:, 1]
    if values.ndim != 1:
        raise ValueError(
            f"decision_function of {type(machine).__name__} must give one score per row, got the shape {values.shape}"
        )
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise ValueError(f"{response} of {type(machine).__name__} must not give NaN, got it in row {missing[0]}")
    return values


def weight_name(estimator: Any) -> str | None:
    """Return the keyword for weights in the fit of an estimator, or None; that of the last step for a Pipeline."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    steps, inner = getattr(estimator, "steps", None), getattr(estimator, "estimator", None)
    if steps:
        name, last = steps[-1]
        within = weight_name(last)
        is_routed = within is None or get_config()["enable_metadata_routing"]
        return within if is_routed else f"{name}__{within}"
    if inner is not None and hasattr(estimator, "get_metadata_routing"):  # a search passes on what its estimator takes
        return weight_name(inner)
    return None


def check_takes_weights(owner: Any, estimator: Any, name: str = "estimator") -> None:
    if weight_name(estimator) is None:
        raise TypeError(
            f"{name} of {type(owner).__name__} must take sample_weight in its fit, which {describe(estimator)} does not"
        )


def folds_of(training: CloneRows, rows: NDArray[np.intp], cv: Any) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return (rows to fit to, rows to score) of each fold; each of `rows` is scored in one fold.

    For a number `cv` the folds are the same in every fit and have equally many positive rows; there are at most as many
    folds as positive rows, or as others. Other `cv` divide all rows of the fit, of which those in `rows` are kept.
    """
    positive = training.codes[rows] == 1
    if isinstance(cv, numbers.Integral):
        n_pos, n_other = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
        n_folds = min(check_int("cv", cv, low=2), n_pos, n_other)
        if n_folds < 2:
            raise ValueError(
                f"y must have at least 2 labelled positive rows and 2 others, to be scored by fits that have not seen "
                f"them, got {n_pos} and {n_other}"
            )
        pairs = stratified_folds(positive.astype(np.int8), n_folds, np.random.default_rng(0))
        return [(rows[kept], rows[held]) for kept, held in pairs]
    is_splitter = hasattr(cv, "split") and not isinstance(cv, str)
    pairs = cv.split(training.X, training.codes == 1) if is_splitter else cv
    all_folds = check_folds(pairs, training.codes.size, others="an integer >= 2, a splitter of scikit-learn's kind,")
    folds = [(np.intersect1d(rows, kept), np.intersect1d(rows, held)) for kept, held in all_folds]
    if not np.array_equal(np.sort(np.concatenate([held for _, held in folds])), np.sort(rows)):
        raise ValueError(f"cv must hold every row out once, got {describe(cv)}")
    return folds
