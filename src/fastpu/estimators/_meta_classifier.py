"""What the classifiers around another classifier share: their fit, thresholds, probabilities and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from fastpu.common._types import EstimatorLike, GroupsLike, LabelsLike, MatrixLike, VectorLike
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._tables import known_table
from fastpu.data._validate import check_sample_weight
from fastpu.estimators._clone_rows import CloneRows
from fastpu.estimators._inner_estimator import (
    THRESHOLDS,
    check_estimator_of,
    check_takes_weights,
    refuse_pu_classifier,
    response_of,
    scores_of,
    takes_groups,
    weight_name,
)
from fastpu.estimators._pu_classifier import PUClassifier, require_classes, require_distinct_names
from fastpu.model._cut import CutRows, threshold_at, threshold_of_first, threshold_of_prior
from fastpu.model._prior import check_prior

if TYPE_CHECKING:
    from typing_extensions import Self


class MetaClassifier(MetaEstimatorMixin, PUClassifier):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier around another one, `estimator`, which is fitted to the labels 1 and 0 alone.

    A subclass has `_fit`, which sets all attributes but those that every class has. Its scores are those of
    `estimator_`, unless it has `_scores` too.
    """

    estimator: EstimatorLike
    estimator_: Any
    # A parameter of the classes that take other scores too.
    response_method: Literal["auto", "predict_proba", "decision_function"] = "predict_proba"
    response_method_: str
    _needs_negatives = False  # whether labels of 0 mean negative to `estimator`, with weights that say how surely

    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: VectorLike | None = None,
        groups: GroupsLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows, as `estimator` takes them.
        y : array-like of shape (n,)
            Labels: two values, the larger one positive and the other one unlabelled, or -1, 0 and 1 for negative,
            unlabelled and positive. `fastpu.estimators` says how labels are read.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0. They are passed to the fits of `estimator`, which has to take them, and count as the notes of
            the class say. Rows of weight 0 are left out.
        groups : array-like of shape (n,), optional
            A label of any kind for each row, which says which rows belong together, such as those of one customer.
            Bags, folds and spies hold whole groups, so that rows are scored by fits that have not seen their group.
            `estimator` gets the groups too if its fit takes `groups`, or if it is a search, whose folds may need them.
            With metadata routing it gets them if it has asked for them.
        **fit_params
            Further arguments of the fit of `estimator`; what has an entry for each row is cut like the rows.

        Returns
        -------
        MetaClassifier
            This classifier.

        Raises
        ------
        TypeError
            If `estimator` lacks the method that gives scores, or weights are passed and it takes none.
        ValueError
            If an argument is not as described, or there are too few rows of a group.
        """
        training = self._begin(X, y, sample_weight, groups, fit_params)
        self._fit(training)
        self.response_method_, self.threshold_ = training.response, THRESHOLDS[training.response]
        self.classes_ = training.classes
        return self

    def _begin(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: VectorLike | None,
        groups: GroupsLike | None,
        params: Mapping[str, Any],
    ) -> CloneRows:
        check_estimator_of(self, self.estimator)
        if self._needs_negatives:
            refuse_pu_classifier(self, self.estimator)
        self._read_columns(X, reset=True)
        (X,) = indexable(X)
        n_rows = _num_samples(X)
        labels, codes = self._read_labels(y, n_rows)
        warn_of_other_order(X, y=y, sample_weight=sample_weight, groups=groups)
        clusters = cluster_numbers(groups, n_rows)
        weights = check_sample_weight(sample_weight, n_rows)
        require_classes(labels, codes, weights)
        fit_arguments, estimator_weights = dict(params), weights
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=weights, groups=groups, **params)
            fit_arguments = dict(routed.estimator.fit)
            estimator_weights = fit_arguments.pop("sample_weight", None)
        elif groups is not None and takes_groups(self.estimator):
            fit_arguments["groups"] = groups
        name = weight_name(self.estimator)
        if name in fit_arguments:
            raise TypeError(
                f"{name} must not be passed to fit: pass the weights as sample_weight, and fit hands them on as {name}"
            )
        if estimator_weights is not None:
            check_takes_weights(self, self.estimator)
        response = response_of(self, self.estimator, self.response_method)
        return CloneRows(
            X, labels.classes, codes, weights, self.estimator, response, fit_arguments, estimator_weights, clusters
        )

    def _scores(self, X: Any) -> NDArray[np.float64]:
        self._read_columns(X, reset=False)
        return scores_of(self.estimator_, X, self.response_method_)

    def _rows_to_cut(self, codes: NDArray[np.int8] | None) -> CutRows:  # noqa: ARG002 - for subclasses
        """Return the unlabelled training rows by scores of parts that were not fitted to them, or raise ValueError.

        They are unlabelled by `codes`, or by the labels of the fit.
        """
        raise ValueError(
            f"X_unl must be given for with_threshold, got None: {type(self).__name__} has no out-of-bag scores, and "
            f"its training rows have other scores than new rows have; pass unlabelled rows that it was not fitted to"
        )

    def _move_threshold(self, prior: Any, k: Any, value: Any, X_unl: Any, codes: NDArray[np.int8] | None) -> None:
        if value is not None:
            self.threshold_ = threshold_at(value)[0]
            return
        if prior is not None:
            check_prior(prior)  # before the scores, which may take long
        rows = self._rows_to_cut(codes) if X_unl is None else CutRows(self._scores(X_unl))
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

    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
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
