"""Scorers for scikit-learn's searches: by positive and unlabelled rows, or by the labelled rows alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRequest

from fastpu.common._params import check_k
from fastpu.common._text import short
from fastpu.common._types import GroupsLike, Scenario
from fastpu.data._validate import check_vector
from fastpu.estimators._pu_classifier import has_unlabeled, label_vector, labelled_rows
from fastpu.metrics import average_precision, err_star, lift_at_k, precision_at_k, pu_auc, puf_score
from fastpu.model._prior import PriorEstimate, check_prior, check_scenario, take_prior_in

#: Criteria whose metric takes groups.
_TAKE_GROUPS = ("pu_auc", "lift", "precision_at_k", "average_precision")


@dataclass(frozen=True)
class PUScorer:
    """A criterion for scikit-learn's searches: ``scorer(estimator, X, y)`` returns a float, and larger is better.

    `estimator` is a fitted classifier, or a Pipeline that ends in one. It has `classes_`, and `decision_function` or
    `predict_proba`, whose probabilities are cut at 1/2. `X` has the shape (n, d), and `y` holds labels like those of
    the fit. The label ``classes_[1]`` is positive. With the labels -1, 0 and 1 rows of 0 are unlabelled; with two
    labels those of the smaller label are.

    `puf_scorer`, `err_star_scorer`, `pu_auc_scorer`, `lift_scorer`, `precision_at_k_scorer` and
    `average_precision_scorer` make such scorers. They can be pickled.

    Attributes
    ----------
    criterion : {"puf", "err_star", "pu_auc", "lift", "precision_at_k", "average_precision"}
        The metric.
    prior : float, or None
        P(Y = 1), for the criteria that need it.
    scenario : {"case_control", "single_set"}
        How the rows were drawn, which says what `prior` is a share of.
    k : int, float or None
        How many rows are flagged, for the criteria that need it.
    groups_request : bool, str or None
        What `set_score_request` was told of groups; None before it is called.
    """

    criterion: str
    prior: float | None
    scenario: Scenario
    k: float | None = None
    groups_request: bool | str | None = field(default=None, init=False)

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
        if groups and self.criterion not in _TAKE_GROUPS:
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
        if self.criterion == "puf":
            return puf_score(labels, scores, scenario=self.scenario)
        k = cast("float", self.k)  # of those criteria that have one
        if self.criterion == "lift":
            return float(lift_at_k(labels, scores, k, groups=groups))
        prior = check_prior(self.prior)
        if self.criterion == "precision_at_k":
            return float(precision_at_k(labels, scores, k, prior, scenario=self.scenario, groups=groups))
        if self.criterion == "average_precision":
            return float(average_precision(labels, scores, prior, scenario=self.scenario, groups=groups))
        if self.criterion == "err_star":
            return -err_star(labels, scores, prior=prior, scenario=self.scenario)
        return float(pu_auc(labels, scores, prior=prior, scenario=self.scenario, groups=groups))


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


@dataclass(frozen=True)
class LabeledScorer:
    """A scorer of scikit-learn that judges by labelled rows alone: ``scorer(estimator, X, y)`` returns a float.

    `labeled_scorer` makes it. `estimator` is a fitted classifier with `classes_`, or a Pipeline that ends in one. `X`
    has the shape (n, d). If `y` holds the labels -1, 0 and 1, rows of 0 are left out; of two labels both count.

    Attributes
    ----------
    scoring : str or callable
        The scorer of scikit-learn, or its name.
    """

    scoring: Any

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        values = label_vector(y)
        kept = labelled_rows(values, estimator.classes_)
        if kept is not None:
            X, values = _safe_indexing(X, kept), values[kept]
        return float(get_scorer(self.scoring)(estimator, X, values))


def labeled_scorer(scoring: Any) -> LabeledScorer:
    """Return a scorer of scikit-learn that leaves unlabelled rows out if y holds -1, 0 and 1.

    Without it scikit-learn takes the three labels for three classes: "roc_auc" fails and asks for `multi_class`, and
    "average_precision" and "f1" fail too.

    Parameters
    ----------
    scoring : str or callable
        A scorer of scikit-learn for two classes, or its name, such as "roc_auc".

    Returns
    -------
    LabeledScorer
        A function ``scorer(estimator, X, y)`` for ``scoring=``. It can be pickled if `scoring` can.

    Raises
    ------
    ValueError
        If scikit-learn has no such scorer.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from fastpu.datasets import make_four_normals, split_pnu
    >>> from fastpu.estimators import PNUAUCBoostClassifier, labeled_scorer
    >>> X, truth = make_four_normals(900, random_state=0)
    >>> split = split_pnu(truth, hidden=0.8, random_state=0)
    >>> boosting = PNUAUCBoostClassifier(n_rounds=20)
    >>> scores = cross_val_score(boosting, X[split.train], split.y_train, scoring=labeled_scorer("roc_auc"), cv=3)
    >>> bool(scores.min() > 0.9)
    True
    """
    get_scorer(scoring)
    return LabeledScorer(scoring)


def puf_scorer(*, scenario: Scenario = "case_control") -> PUScorer:
    """Return a scorer by `fastpu.metrics.puf_score`, which needs no prior.

    Parameters
    ----------
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows that are judged together are one sample.

    Returns
    -------
    PUScorer
        A function ``scorer(estimator, X, y)`` for ``scoring=`` of scikit-learn. It can be pickled.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from fastpu.datasets import make_two_normals, split_case_control
    >>> from fastpu.estimators import ISVMClassifier, puf_scorer
    >>> X, truth = make_two_normals(400, random_state=0)
    >>> split = split_case_control(truth, labeled=40, random_state=0)
    >>> scores = cross_val_score(ISVMClassifier(), X[split.train], split.y_train == 1, scoring=puf_scorer(), cv=3)
    >>> scores.shape
    (3,)
    """
    return PUScorer("puf", None, check_scenario(scenario))


def err_star_scorer(*, prior: float | PriorEstimate, scenario: Scenario = "case_control") -> PUScorer:
    """Return a scorer by the negative of `fastpu.metrics.err_star`, because scikit-learn maximises.

    Parameters
    ----------
    prior : float or PriorEstimate
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows that are judged together.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows that are judged together are one sample.

    Returns
    -------
    PUScorer
        A function ``scorer(estimator, X, y)`` for ``scoring=`` of scikit-learn. It can be pickled.

    Examples
    --------
    >>> from fastpu.estimators import ISVMClassifier, err_star_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
    >>> round(err_star_scorer(prior=0.5)(ISVMClassifier().fit(X, y), X, y), 3)
    -0.0
    """
    return PUScorer("err_star", *take_prior_in(scenario, prior))


def pu_auc_scorer(*, prior: float | PriorEstimate, scenario: Scenario = "case_control") -> PUScorer:
    """Return a scorer by `fastpu.metrics.pu_auc`, the AUC against negatives that are not known.

    Parameters
    ----------
    prior : float or PriorEstimate
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows that are judged together.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows that are judged together are one sample.

    Returns
    -------
    PUScorer
        A function ``scorer(estimator, X, y)`` for ``scoring=`` of scikit-learn. It can be pickled.

    Examples
    --------
    >>> from fastpu.estimators import ISVMClassifier, pu_auc_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [3.0]], [0, 0, 1, 1, 0]
    >>> round(pu_auc_scorer(prior=0.25)(ISVMClassifier().fit(X, y), X, y), 3)
    0.944
    """
    return PUScorer("pu_auc", *take_prior_in(scenario, prior))


def lift_scorer(k: float) -> PUScorer:
    """Return a scorer by `fastpu.metrics.lift_at_k`, which needs no prior.

    Parameters
    ----------
    k : int or float
        How many unlabelled rows are flagged: an integer is their number, and a float in (0, 1] their share. Pass a
        share, because the number of rows depends on the fold.

    Returns
    -------
    PUScorer
        A function ``scorer(estimator, X, y)`` for ``scoring=`` of scikit-learn. It can be pickled.

    Examples
    --------
    >>> from fastpu.estimators import ISVMClassifier, lift_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [3.0]], [0, 0, 1, 1, 0]
    >>> lift_scorer(1 / 3)(ISVMClassifier().fit(X, y), X, y)
    1.5
    """
    check_k(k)
    return PUScorer("lift", None, "case_control", k)


def precision_at_k_scorer(k: float, prior: float | PriorEstimate, *, scenario: Scenario = "case_control") -> PUScorer:
    """Return a scorer by `fastpu.metrics.precision_at_k`.

    It orders models as `lift_scorer` does, unless the precision reaches 1, where it is cut off.

    Parameters
    ----------
    k : int or float
        How many unlabelled rows are flagged: an integer is their number, and a float in (0, 1] their share. Pass a
        share, because the number of rows depends on the fold.
    prior : float or PriorEstimate
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows that are judged together.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows that are judged together are one sample.

    Returns
    -------
    PUScorer
        A function ``scorer(estimator, X, y)`` for ``scoring=`` of scikit-learn. It can be pickled.

    Examples
    --------
    >>> from fastpu.estimators import ISVMClassifier, precision_at_k_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [3.0]], [0, 0, 1, 1, 0]
    >>> precision_at_k_scorer(1, prior=0.25)(ISVMClassifier().fit(X, y), X, y)
    0.375
    """
    check_k(k)
    return PUScorer("precision_at_k", *take_prior_in(scenario, prior), k)


def average_precision_scorer(prior: float | PriorEstimate, *, scenario: Scenario = "case_control") -> PUScorer:
    """Return a scorer by `fastpu.metrics.average_precision`.

    Parameters
    ----------
    prior : float or PriorEstimate
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows that are judged together.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows that are judged together are one sample.

    Returns
    -------
    PUScorer
        A function ``scorer(estimator, X, y)`` for ``scoring=`` of scikit-learn. It can be pickled.

    Examples
    --------
    >>> from fastpu.estimators import ISVMClassifier, average_precision_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [3.0]], [0, 0, 1, 1, 0]
    >>> average_precision_scorer(prior=0.25)(ISVMClassifier().fit(X, y), X, y)
    0.875
    """
    return PUScorer("average_precision", *take_prior_in(scenario, prior))
