"""Scorers by positive and unlabelled rows for scikit-learn's searches: a class for each criterion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest

from fastpu.common._text import short
from fastpu.common._types import GroupsLike, Scenario
from fastpu.data._validate import check_vector
from fastpu.estimators._pu_classifier import has_unlabeled, label_vector
from fastpu.metrics import average_precision, err_star, lift_at_k, precision_at_k, pu_auc, puf_score


@dataclass(frozen=True)
class PUScorer(ABC):
    """A criterion for scikit-learn's searches: ``scorer(estimator, X, y)`` returns a float, and larger is better.

    `estimator` is a fitted classifier, or a Pipeline that ends in one. It has `classes_`, and `decision_function` or
    `predict_proba`, whose probabilities are cut at 1/2. `X` has the shape (n, d), and `y` holds labels like those of
    the fit. The label ``classes_[1]`` is positive. With the labels -1, 0 and 1 rows of 0 are unlabelled; with two
    labels those of the smaller label are.

    `puf_scorer`, `err_star_scorer`, `pu_auc_scorer`, `lift_scorer`, `precision_at_k_scorer` and
    `average_precision_scorer` make such scorers, each of a class of its own, whose attributes are the arguments of that
    function. They can be pickled.

    Attributes
    ----------
    criterion : {"puf", "err_star", "pu_auc", "lift", "precision_at_k", "average_precision"}
        The name of the metric.
    groups_request : bool, str or None
        What `set_score_request` was told of groups; None before it is called.
    """

    groups_request: bool | str | None = field(default=None, init=False)

    criterion: ClassVar[str]
    takes_groups: ClassVar[bool] = True  # whether groups change anything in the metric

    def set_score_request(self, *, groups: bool | str | None) -> PUScorer:
        """Say whether scikit-learn's metadata routing hands the groups of the held-out rows to this scorer.

        The score stays that of the rows. By groups it is judged whether chance explains it: whether a prior is refused
        or warned of because an AUC or a precision above 1 would follow.

        Parameters
        ----------
        groups : bool, str or None
            True to be given what is passed as `groups`; a string to be given what is passed under that name. None and
            False to be given nothing.

        Returns
        -------
        PUScorer
            This scorer, which is changed in place, as scikit-learn's own scorers are.

        Raises
        ------
        TypeError
            If the metric takes no groups: they change nothing in `puf_score` and `err_star`.
        RuntimeError
            If metadata routing is not enabled.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "set_score_request needs metadata routing: sklearn.set_config(enable_metadata_routing=True)"
            )
        if groups and not self.takes_groups:
            raise TypeError(
                f"groups must not be requested by a scorer of {self.criterion!r}: they change nothing in it"
            )
        object.__setattr__(self, "groups_request", groups)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what this scorer asks scikit-learn's metadata routing for.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        request = MetadataRequest(owner=type(self).__name__)
        if self.groups_request is not None:
            request.score.add_request(param="groups", alias=self.groups_request)
        return request

    def __call__(self, estimator: Any, X: Any, y: Any, groups: GroupsLike | None = None) -> float:
        labels = _pu_labels(label_vector(y), np.asarray(estimator.classes_))
        if hasattr(estimator, "decision_function"):
            given = estimator.decision_function(X)
        else:
            given = np.asarray(estimator.predict_proba(X))[:, 1] - 0.5
        scores = check_vector("scores of the estimator", given, n=labels.size, allow_inf=True)
        return self._value(labels, scores, groups)

    @abstractmethod
    def _value(self, labels: NDArray[np.int8], scores: NDArray[np.float64], groups: GroupsLike | None) -> float:
        """Return the criterion for rows with these labels (+1, 0 and perhaps -1) and scores; larger is better."""


@dataclass(frozen=True)
class PufScorer(PUScorer):
    """A scorer by `puf_score`, which needs no prior."""

    scenario: Scenario

    criterion: ClassVar[str] = "puf"
    takes_groups: ClassVar[bool] = False

    def _value(self, labels: NDArray[np.int8], scores: NDArray[np.float64], groups: GroupsLike | None) -> float:
        del groups  # they change nothing in this metric
        return puf_score(labels, scores, scenario=self.scenario)


@dataclass(frozen=True)
class ErrStarScorer(PUScorer):
    """A scorer by the negative of `err_star`."""

    prior: float
    scenario: Scenario

    criterion: ClassVar[str] = "err_star"
    takes_groups: ClassVar[bool] = False

    def _value(self, labels: NDArray[np.int8], scores: NDArray[np.float64], groups: GroupsLike | None) -> float:
        del groups  # they change nothing in this metric
        return -err_star(labels, scores, prior=self.prior, scenario=self.scenario)


@dataclass(frozen=True)
class PUAUCScorer(PUScorer):
    """A scorer by `pu_auc`."""

    prior: float
    scenario: Scenario

    criterion: ClassVar[str] = "pu_auc"

    def _value(self, labels: NDArray[np.int8], scores: NDArray[np.float64], groups: GroupsLike | None) -> float:
        return float(pu_auc(labels, scores, prior=self.prior, scenario=self.scenario, groups=groups))


@dataclass(frozen=True)
class LiftScorer(PUScorer):
    """A scorer by `lift_at_k`, which needs no prior."""

    k: float

    criterion: ClassVar[str] = "lift"

    def _value(self, labels: NDArray[np.int8], scores: NDArray[np.float64], groups: GroupsLike | None) -> float:
        return float(lift_at_k(labels, scores, self.k, groups=groups))


@dataclass(frozen=True)
class PrecisionAtKScorer(PUScorer):
    """A scorer by `precision_at_k`."""

    k: float
    prior: float
    scenario: Scenario

    criterion: ClassVar[str] = "precision_at_k"

    def _value(self, labels: NDArray[np.int8], scores: NDArray[np.float64], groups: GroupsLike | None) -> float:
        return float(precision_at_k(labels, scores, self.k, self.prior, scenario=self.scenario, groups=groups))


@dataclass(frozen=True)
class AveragePrecisionScorer(PUScorer):
    """A scorer by `average_precision`."""

    prior: float
    scenario: Scenario

    criterion: ClassVar[str] = "average_precision"

    def _value(self, labels: NDArray[np.int8], scores: NDArray[np.float64], groups: GroupsLike | None) -> float:
        return float(average_precision(labels, scores, self.prior, scenario=self.scenario, groups=groups))


def _pu_labels(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int8]:
    """Return the labels as the metrics take them: +1, 0 for unlabelled and, where y has all three, -1."""
    if classes.size != 2:
        raise ValueError(f"estimator must have two classes, got {short(classes.tolist())}")
    positive = y == classes[1]
    if has_unlabeled(y, classes):
        unlabeled = y == 0
    else:
        unlabeled = y == classes[0]
        if not (positive | unlabeled).all():
            unknown = y[~(positive | unlabeled)][0]
            raise ValueError(f"y must hold the classes {classes.tolist()} of the estimator, got {short(unknown)}")
    if not positive.any() or not unlabeled.any():
        raise ValueError(
            f"y must hold positive and unlabelled rows to judge by, got {np.count_nonzero(positive)} positive and "
            f"{np.count_nonzero(unlabeled)} unlabelled; StratifiedKFold keeps their shares in every fold"
        )
    labels = np.full(y.size, -1, np.int8)
    labels[positive], labels[unlabeled] = 1, 0
    return labels
