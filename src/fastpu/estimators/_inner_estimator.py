"""What a classifier around another one needs of that other one: checks, its scores, and what its fit takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from fastpu.common._methods import DECLARED
from fastpu.common._params import check_choice
from fastpu.common._text import describe
from fastpu.estimators._pu_classifier import PUClassifier

THRESHOLDS = {"predict_proba": 0.5, "decision_function": 0.0}  #: the scores above which the base estimator predicts 1


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


def takes_groups(estimator: Any) -> bool:
    """Tell whether the fit of an estimator takes groups of rows: itself, or for the folds of a search."""
    return isinstance(estimator, BaseSearchCV) or bool(has_fit_parameter(estimator, "groups"))
