"""Criteria by which `select` judges models on held-out rows, and the fits that are given their prior."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from fastpu.common._functions import check_function
from fastpu.common._params import check_choice, check_k, check_scores_rows
from fastpu.common._sharing import bound_arguments
from fastpu.common._text import describe, short
from fastpu.data._validate import check_binary, check_labels, check_vector, label_counts
from fastpu.metrics import auc
from fastpu.metrics._decisions import call_rows, require_pu
from fastpu.metrics._precision import average_precision
from fastpu.metrics._recall import lift_at_k
from fastpu.model._model import Model
from fastpu.model._prior import check_scenario, needs_prior, prior_among_unlabeled, take_prior_in
from fastpu.selection._grid import FitSignature, Grid
from fastpu.selection._splits import Split

#: The criteria that are known by a name.
CriterionName: TypeAlias = Literal["puf", "err_star", "error", "auc", "lift", "average_precision"]
_SIGNS = {"puf": 1, "err_star": -1, "error": -1, "auc": 1, "lift": 1, "average_precision": 1}
_WANT_PRIOR = ("err_star", "average_precision")
_WANT_UNLABELED = ("puf", "err_star", "lift", "average_precision")


@dataclass(frozen=True)
class Criterion:
    """A criterion and its arguments; `sign` is +1 if larger values are better, `function` that of a user, if any.

    The prior belongs to the scenario `prior_in`, which an estimate may make another than that of the criterion.
    """

    name: str
    sign: int
    function: Callable[..., Any] | None
    prior: float
    prior_in: str
    scenario: str
    k: float | None = None

    @property
    def takes_prior(self) -> bool:
        return self.name in _WANT_PRIOR and self.function is None

    @property
    def worst(self) -> float:
        """The value that no model can be worse than."""
        return -self.sign * float("inf")

    def check_rows(self, labels: NDArray[np.int8], where: str) -> None:
        """Raise ValueError unless the criterion can judge by rows with these labels; `where` names them in messages."""
        if self.function is not None:  # whatever its name
            return
        n_pos, n_unl, n_neg = label_counts(labels)
        if self.name in _WANT_UNLABELED:
            require_pu(labels, where, f"scoring={self.name!r}")
        if self.name == "auc" and not (n_pos and (n_unl or n_neg)):
            raise ValueError(f"{where} must hold positive and other rows for scoring='auc', got {n_pos} positive")
        if self.name == "error" and n_unl:
            raise ValueError(
                f"{where} must hold true labels for scoring='error', got {n_unl} unlabelled rows: pass "
                f"validation=(X_val, y_val) with true labels, or choose another criterion"
            )
        if self.takes_prior:
            self.prior_by(labels)

    def prior_by(self, labels: NDArray[np.int8]) -> float:
        """Return the prior among the unlabelled rows, of rows with these labels."""
        n_pos, n_unl, n_neg = label_counts(labels)
        return prior_among_unlabeled(self.prior, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg, scenario=self.prior_in)

    def check_held_out(self, labels: NDArray[np.int8], where: str) -> None:
        """Raise ValueError if `k` flags more unlabelled rows than are held out."""
        n_unl = label_counts(labels)[1]
        if self.k is not None and 0 < n_unl < self.k:  # a share of them is at most 1
            raise ValueError(
                f"k must be at most {n_unl}, the number of unlabelled rows in {where}, got {short(self.k)}; the share "
                f"of rows that will be flagged, a float in (0, 1], fits any number of rows"
            )

    def check_validation(self, y: object, n_rows: int) -> Any:
        """Return the labels of a validation set, as the criterion reads them."""
        where = "y of validation"
        if self.function is not None:
            return y
        if self.name in ("error", "auc"):
            positive = check_binary(y, name=where, both=self.name == "auc")
            if positive.size != n_rows:
                raise ValueError(f"{where} must have one entry per row of the data ({n_rows}), got {positive.size}")
            return np.where(positive, np.int8(1), np.int8(-1))
        labels = check_labels(y, n_rows, name=where)
        self.check_rows(labels, where)
        self.check_held_out(labels, where)
        return labels

    def __call__(self, model: Any, split: Split, n_threads: int | None) -> float:
        """Return the value for a model on the held-out rows of a split."""
        y, weight = split.y_held_out, split.weight_held_out
        if self.function is not None:
            value = self.function(model, split.X_held_out, y)
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise TypeError(f"scoring must return a number, got {describe(value)}")
            return float(value)
        check_scores_rows(model)
        if isinstance(model, Model):
            scores = model.decision_function(split.X_held_out, n_threads=n_threads)
        else:
            scores = check_vector(
                "scores of the model", model.decision_function(split.X_held_out), n=y.size, allow_inf=True
            )
        threshold = float(getattr(model, "threshold", 0.0))
        if self.name == "error":
            return float(np.average((scores > threshold) != (y == 1), weights=weight))
        positive = y == 1
        if self.name == "auc":
            used = positive | (y == (-1 if (y == -1).any() else 0))
            return auc(positive[used], scores[used], sample_weight=None if weight is None else weight[used])
        if self.name == "lift":
            return float(lift_at_k(y, scores, cast("float", self.k)))
        if self.name == "average_precision":
            return float(average_precision(y, scores, prior=self.prior_by(y)))
        called = call_rows(self.name, y, scores, self.scenario, threshold, weight)
        return called.puf(self.scenario) if self.name == "puf" else called.err_star(self.prior, self.scenario)


def check_scoring(scoring: object, prior: object, scenario: object, k: float | None) -> Criterion:
    scenario = check_scenario(scenario)
    number, prior_in = (0.5, scenario) if prior is None else take_prior_in(scenario, prior)
    if k is not None and scoring != "lift":
        raise ValueError(f"k must be None unless scoring='lift', got {short(k)} for scoring={describe(scoring)}")
    other = " or a function of a model, X and y"
    if callable(scoring):
        expected = f"one of {', '.join(map(repr, _SIGNS))}{other}"
        function = check_function("scoring", scoring, expected, arguments=("model", "X", "y"))
        return Criterion(getattr(scoring, "__name__", type(scoring).__name__), 1, function, number, prior_in, scenario)
    name = check_choice("scoring", scoring, tuple(_SIGNS), other)
    if name in _WANT_PRIOR and prior is None:
        raise ValueError(f"prior must be given for scoring={name!r}, got None")
    if name == "lift":
        check_k(k)
    return Criterion(name, _SIGNS[name], None, number, prior_in, prior_in if name == "err_star" else scenario, k)


# ---- The prior of a criterion as that of the fits ----


@dataclass(frozen=True)
class _WithPrior:
    """A fit that is given a prior, and its scenario, where it needs one and has none of its own."""

    fit: Callable[..., Any]
    prior: Mapping[str, Any]

    def __call__(self, X: object, y: object, **arguments: Any) -> Any:
        return self.fit(X, y, **{**(self.prior if self.applies(arguments) else {}), **arguments})

    def applies(self, arguments: Mapping[str, Any]) -> bool:
        fixed = {**bound_arguments(self.fit), **arguments}
        return "prior" not in fixed and needs_prior(self.fit, fixed)


def with_prior(
    fit: Callable[..., Any],
    arguments: FitSignature,
    fixed: Mapping[str, Any],
    grid: Grid,
    labels: NDArray[np.int8],
    criterion: Criterion,
) -> Callable[..., Any]:
    """Return `fit` with the prior of the criterion at the points of the grid that need one, or `fit` if none does."""
    if arguments.takes("prior"):
        prior: dict[str, Any] = {"prior": criterion.prior}
        if arguments.takes("scenario"):
            prior["scenario"] = criterion.prior_in
        elif (labels == 0).any():
            prior["prior"] = criterion.prior_by(labels)
        fit_with_prior = _WithPrior(fit, prior)
        if any(fit_with_prior.applies({**fixed, **point}) for point, _ in grid.points()):
            return fit_with_prior
    if not criterion.takes_prior:
        raise ValueError(
            f"prior must be None where neither scoring nor fit needs it, got {criterion.prior:g} for scoring="
            f"{criterion.name!r} and {arguments.function}"
        )
    return fit
