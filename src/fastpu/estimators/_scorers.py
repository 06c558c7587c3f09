"""Functions that make scorers for scikit-learn's searches: by positive and unlabelled rows, or by labelled ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing

from fastpu.common._params import check_k
from fastpu.common._types import Scenario
from fastpu.estimators._pu_classifier import label_vector, labelled_rows
from fastpu.estimators._pu_scorers import (
    AveragePrecisionScorer,
    ErrStarScorer,
    LiftScorer,
    PrecisionAtKScorer,
    PUAUCScorer,
    PufScorer,
    PUScorer,
)
from fastpu.model._prior import PriorEstimate, check_scenario, take_prior_in


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
    return PufScorer(check_scenario(scenario))


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
    return ErrStarScorer(*take_prior_in(scenario, prior))


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
    return PUAUCScorer(*take_prior_in(scenario, prior))


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
    return LiftScorer(k)


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
    return PrecisionAtKScorer(k, *take_prior_in(scenario, prior))


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
    return AveragePrecisionScorer(*take_prior_in(scenario, prior))
