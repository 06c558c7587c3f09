"""The checked options of `fit_upu` and `fit_nnpu`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from fastpu.common._params import check_choice, check_float, check_int
from fastpu.risk._model_form import FormName, ModelForm

RiskLoss: TypeAlias = Literal["sigmoid", "logistic", "squared"]
#: A number of rows, "auto" for one that follows from the rows, or None for all rows in one batch.
BatchSize: TypeAlias = int | Literal["auto"] | None

_RATES: dict[FormName, float] = {
    "linear": 0.05,
    "gauss": 0.02,
    "mlp": 0.01,
}  # Adam's learning rates, chosen by measurement
_PATIENCE = 30  # early_stopping_rounds="auto"


@dataclass(frozen=True, kw_only=True)
class RiskOptions:
    """What both functions take beside the rows. Without a `lam` it follows from the rows (`RiskRows.lam`)."""

    prior: float
    scenario: str
    lam: float | None
    loss: RiskLoss
    form: ModelForm
    generator: np.random.Generator
    n_threads: int

    function: ClassVar[str]

    def params(self) -> dict[str, Any]:
        """Return what a model keeps of the loss and of the form of f."""
        return {"loss": self.loss, **self.form.params()}


@dataclass(frozen=True, kw_only=True)
class UpuOptions(RiskOptions):
    """What `fit_upu` takes: the limits of Newton's method."""

    tol: float
    max_iter: int

    function: ClassVar[str] = "fit_upu"

    def params(self) -> dict[str, Any]:
        return {**super().params(), "tol": self.tol, "max_iter": self.max_iter}


@dataclass(frozen=True, kw_only=True)
class NnpuOptions(RiskOptions):
    """What `fit_nnpu` takes: its risk, and how Adam trains.

    Without `n_epochs` their number
    depends on whether a rule may stop the fit earlier. Without `early_stopping_rounds` no rule does.
    """

    beta: float
    gamma_nn: float
    learning_rate: float
    batch_size: BatchSize
    n_epochs: int | None
    validation_fraction: float
    early_stopping_rounds: int | None

    function: ClassVar[str] = "fit_nnpu"

    def training_params(self) -> dict[str, Any]:
        """Return what a model keeps of how Adam trains."""
        return {
            "beta": self.beta,
            "gamma_nn": self.gamma_nn,
            "learning_rate": self.learning_rate,
            "batch_size": self.batch_size,
            "n_epochs": self.n_epochs,
            "validation_fraction": self.validation_fraction,
            "early_stopping_rounds": self.early_stopping_rounds,
        }


def check_lam(lam: object) -> float | None:
    return None if lam is None else check_float("lam", lam, low=0)


def check_learning_rate(learning_rate: object, model: FormName) -> float:
    """Return the caller's rate, or the default of the model."""
    if learning_rate is None:
        return _RATES[model]
    return check_float("learning_rate", learning_rate, low=0, open_low=True)


def check_batch_size(batch_size: object, model: FormName) -> BatchSize:
    if isinstance(batch_size, str):
        word: Literal["auto"] = check_choice("batch_size", batch_size, ("auto",), ", a number of rows or None")
        # A linear model has one minimum, and an epoch takes little time: all rows make one batch.
        return word if model == "mlp" else None
    return None if batch_size is None else check_int("batch_size", batch_size, low=1)


def check_patience(early_stopping_rounds: object, n_epochs: int | None) -> int | None:
    """Return the number of rounds, or None if no rule is to stop the fit."""
    if isinstance(early_stopping_rounds, str):
        check_choice("early_stopping_rounds", early_stopping_rounds, ("auto",), ", a number of epochs or None")
        return _PATIENCE if n_epochs is None else None
    if early_stopping_rounds is None:
        return None
    return check_int("early_stopping_rounds", early_stopping_rounds, low=1)
