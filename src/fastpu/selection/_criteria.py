"""Criteria by which `select` judges models on held-out rows: a class for each, and one for a function of the user's."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from fastpu.common._functions import check_function
from fastpu.common._params import check_choice, check_k, check_scores_rows
from fastpu.common._text import describe, short
from fastpu.data._validate import check_binary, check_labels, check_vector, label_counts
from fastpu.metrics import auc
from fastpu.metrics._decisions import Decision, decision_on, require_pu
from fastpu.metrics._precision import average_precision
from fastpu.metrics._recall import lift_at_k
from fastpu.model._model import Model
from fastpu.selection._selection_prior import SelectionPrior
from fastpu.selection._splits import Split

#: The criteria that are known by a name.
CriterionName: TypeAlias = Literal["puf", "err_star", "error", "auc", "lift", "average_precision"]


@dataclass(frozen=True)
class JudgedRows:
    """Held-out rows with their scores and the threshold of the model that is judged."""

    y: NDArray[Any]
    scores: NDArray[np.float64]
    threshold: float
    weight: NDArray[np.float64] | None


class Criterion(ABC):
    """A criterion; `sign` is +1 if larger values are better."""

    sign: ClassVar[int]
    takes_prior: ClassVar[bool] = False
    needs_scores_alone: ClassVar[bool] = True  # not the model

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    def worst(self) -> float:
        """The value that no model can be worse than."""
        return -self.sign * float("inf")

    def check_rows(self, labels: NDArray[np.int8], where: str) -> None:  # noqa: B027 - functions take any rows
        """Raise ValueError unless the criterion can judge by rows with these labels; `where` names them in messages."""

    def check_held_out(self, labels: NDArray[np.int8], where: str) -> None:  # noqa: B027 - few criteria count them
        """Raise ValueError if the held-out rows are too few; `where` says in messages which rows these are."""

    def check_validation(self, y: object, n_rows: int) -> Any:
        """Return the labels of a validation set, as the criterion reads them."""
        where = "y of validation"
        labels = check_labels(y, n_rows, name=where)
        self.check_rows(labels, where)
        self.check_held_out(labels, where)
        return labels

    @abstractmethod
    def value(self, model: Any, split: Split, n_threads: int | None) -> float:
        """Return the value for a model on the held-out rows of a split."""


@dataclass(frozen=True)
class UserCriterion(Criterion):
    """A function of the user's, of the model and the held-out rows; larger values are better."""

    function: Callable[..., Any]
    sign: ClassVar[int] = 1
    needs_scores_alone: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def check_validation(self, y: object, n_rows: int) -> Any:  # noqa: ARG002 - the labels are the user's own affair
        return y

    def value(self, model: Any, split: Split, n_threads: int | None) -> float:  # noqa: ARG002
        value = self.function(model, split.X_held_out, split.y_held_out)
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError(f"scoring must return a number, got {describe(value)}")
        return float(value)


class ScoreCriterion(Criterion):
    """A criterion of the scores of the held-out rows, and of the threshold."""

    def value(self, model: Any, split: Split, n_threads: int | None) -> float:
        check_scores_rows(model)
        y = split.y_held_out
        if isinstance(model, Model):
            scores = model.decision_function(split.X_held_out, n_threads=n_threads)
        else:
            scores = check_vector(
                "scores of the model", model.decision_function(split.X_held_out), n=y.size, allow_inf=True
            )
        threshold = float(getattr(model, "threshold", 0.0))
        return self.of_rows(JudgedRows(y, scores, threshold, split.weight_held_out))

    @abstractmethod
    def of_rows(self, rows: JudgedRows) -> float:
        """Return the value for these rows and scores."""


class PuCriterion(ScoreCriterion):
    """A criterion of positive and unlabelled rows, which needs no labelled negatives."""

    def check_rows(self, labels: NDArray[np.int8], where: str) -> None:
        require_pu(labels, where, f"scoring={self.name!r}")


@dataclass(frozen=True)
class Puf(PuCriterion):
    scenario: str
    name: ClassVar[str] = "puf"
    sign: ClassVar[int] = 1

    def of_rows(self, rows: JudgedRows) -> float:
        return _decision(self.name, rows, self.scenario).puf(self.scenario)


class PriorCriterion(PuCriterion):
    """A criterion that needs the prior."""

    prior: SelectionPrior
    takes_prior: ClassVar[bool] = True

    def check_rows(self, labels: NDArray[np.int8], where: str) -> None:
        super().check_rows(labels, where)
        self.prior.among_unlabelled(labels)  # a check


@dataclass(frozen=True)
class ErrStar(PriorCriterion):
    prior: SelectionPrior
    name: ClassVar[str] = "err_star"
    sign: ClassVar[int] = -1

    def of_rows(self, rows: JudgedRows) -> float:
        return _decision(self.name, rows, self.prior.scenario).err_star(self.prior.value, self.prior.scenario)


@dataclass(frozen=True)
class AveragePrecision(PriorCriterion):
    prior: SelectionPrior
    name: ClassVar[str] = "average_precision"
    sign: ClassVar[int] = 1

    def of_rows(self, rows: JudgedRows) -> float:
        return float(average_precision(rows.y, rows.scores, prior=self.prior.among_unlabelled(rows.y)))


@dataclass(frozen=True)
class Lift(PuCriterion):
    k: float
    name: ClassVar[str] = "lift"
    sign: ClassVar[int] = 1

    def check_held_out(self, labels: NDArray[np.int8], where: str) -> None:
        n_unl = label_counts(labels)[1]
        if 0 < n_unl < self.k:  # a share of them is at most 1
            raise ValueError(
                f"k must be at most {n_unl}, the number of unlabelled rows in {where}, got {short(self.k)}; the share "
                f"of rows that will be flagged, a float in (0, 1], fits any number of rows"
            )

    def of_rows(self, rows: JudgedRows) -> float:
        return float(lift_at_k(rows.y, rows.scores, self.k))


class TruthCriterion(ScoreCriterion):
    """A criterion of rows with true labels; with a validation set these may be any two."""

    needs_both_classes: ClassVar[bool]

    def check_validation(self, y: object, n_rows: int) -> Any:
        positive = check_binary(y, name="y of validation", both=self.needs_both_classes)
        if positive.size != n_rows:
            raise ValueError(f"y of validation must have one entry per row of the data ({n_rows}), got {positive.size}")
        return np.where(positive, np.int8(1), np.int8(-1))


@dataclass(frozen=True)
class ErrorRate(TruthCriterion):
    name: ClassVar[str] = "error"
    sign: ClassVar[int] = -1
    needs_both_classes: ClassVar[bool] = False

    def check_rows(self, labels: NDArray[np.int8], where: str) -> None:
        n_unl = label_counts(labels)[1]
        if n_unl:
            raise ValueError(
                f"{where} must hold true labels for scoring='error', got {n_unl} unlabelled rows: pass "
                f"validation=(X_val, y_val) with true labels, or choose another criterion"
            )

    def of_rows(self, rows: JudgedRows) -> float:
        return float(np.average((rows.scores > rows.threshold) != (rows.y == 1), weights=rows.weight))


@dataclass(frozen=True)
class Auc(TruthCriterion):
    """The AUC of positive rows against negative ones, or against unlabelled ones where no row is labelled negative."""

    name: ClassVar[str] = "auc"
    sign: ClassVar[int] = 1
    needs_both_classes: ClassVar[bool] = True

    def check_rows(self, labels: NDArray[np.int8], where: str) -> None:
        n_pos, n_unl, n_neg = label_counts(labels)
        if not (n_pos and (n_unl or n_neg)):
            raise ValueError(f"{where} must hold positive and other rows for scoring='auc', got {n_pos} positive")

    def of_rows(self, rows: JudgedRows) -> float:
        positive = rows.y == 1
        used = positive | (rows.y == (-1 if (rows.y == -1).any() else 0))
        weight = None if rows.weight is None else rows.weight[used]
        return auc(positive[used], rows.scores[used], sample_weight=weight)


def _decision(name: str, rows: JudgedRows, scenario: str) -> Decision:
    return decision_on(name, rows.y, rows.scores, scenario, rows.threshold, rows.weight)


def check_scoring(scoring: object, prior: SelectionPrior | None, scenario: str, k: float | None) -> Criterion:
    """Return the criterion of this name, or of this function."""
    if k is not None and scoring != Lift.name:
        raise ValueError(f"k must be None unless scoring='lift', got {short(k)} for scoring={describe(scoring)}")
    other = " or a function of a model, X and y"
    if callable(scoring):
        expected = f"one of {', '.join(map(repr, get_args(CriterionName)))}{other}"
        return UserCriterion(check_function("scoring", scoring, expected, arguments=("model", "X", "y")))
    name = check_choice("scoring", scoring, get_args(CriterionName), other)
    if name == Puf.name:
        return Puf(scenario)
    if name == Lift.name:
        if k is None:
            raise TypeError(
                "k must be given for scoring='lift', as a whole number of unlabelled rows or a share of them, got None"
            )
        check_k(k)
        return Lift(k)
    if name == ErrorRate.name:
        return ErrorRate()
    if name == Auc.name:
        return Auc()
    if prior is None:
        raise ValueError(f"prior must be given for scoring={name!r}, got None")
    return ErrStar(prior) if name == ErrStar.name else AveragePrecision(prior)
