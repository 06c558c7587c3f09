"""The arguments that `fit_upu` and `fit_nnpu` share, and what their callbacks see."""

from __future__ import annotations

from dataclasses import dataclass

from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.kernels._gauss_basis import check_bandwidth

_LOSSES = ("sigmoid", "logistic", "squared")
_MODELS = ("linear", "gauss", "mlp")
_MOST_HIDDEN = 10**6
_MLP_DECAY = 0.005  # the weight decay in the reference setting of nnPU's authors
_RATES = {"linear": 0.05, "gauss": 0.02, "mlp": 0.01}  # Adam's learning rates, chosen by measurement
_PATIENCE = 30  # early_stopping_rounds="auto"
_EPOCHS = 100  # epochs by default if no rule may stop the fit earlier
_MOST_EPOCHS = 2000  # most epochs by default if a rule may stop the fit earlier


@dataclass(frozen=True)
class RiskRound:
    """One epoch of Adam, or one step of Newton's method, as a callback sees it.

    Attributes
    ----------
    round, n_rounds : int
        The number of the epoch or step, from 1, and the most that there may be.
    risk : float
        For Adam the mean risk of the batches of the epoch, each before its step; for Newton's method the risk after the
        step.
    eval_risk : float, or None
        The risk of the evaluation set, or of the rows held out, after the epoch; None without these.
    n_reversed : int
        Batches of the epoch in which nnPU took a step back.
    """

    round: int
    n_rounds: int
    risk: float
    eval_risk: float | None
    n_reversed: int


@dataclass(frozen=True)
class Shape:
    """The form of f, and the loss in the risk that it minimises."""

    model: str
    loss: str
    n_hidden: int
    n_centers: int
    centers: object
    bandwidth: float | None

    def params(self) -> dict[str, object]:
        """Return the arguments that influence the model."""
        params: dict[str, object] = {"loss": self.loss, "model": self.model}
        if self.model == "mlp":
            params["n_hidden"] = self.n_hidden
        if self.model == "gauss":
            params["n_centers"] = self.n_centers if self.centers is None else None
            params["bandwidth"] = self.bandwidth
        return params


def check_shape(
    *, model: object, loss: object, n_hidden: object, n_centers: object, centers: object, bandwidth: object
) -> Shape:
    kind = check_choice("model", model, _MODELS)
    return Shape(
        model=kind,
        loss=check_choice("loss", loss, _LOSSES),
        n_hidden=check_int("n_hidden", n_hidden, low=1, high=_MOST_HIDDEN),
        n_centers=min(check_int("n_centers", n_centers, low=1), MANY),
        centers=centers,
        bandwidth=check_bandwidth("model", kind, centers, bandwidth),
    )


@dataclass(frozen=True)
class Rule:
    """nnPU's rule for a negative risk; by default the risk itself is minimised, as by uPU."""

    non_negative: bool = False
    beta: float = 0.0
    gamma_nn: float = 1.0

    def params(self) -> dict[str, object]:
        """Return the arguments that influence the model."""
        return {"beta": self.beta, "gamma_nn": self.gamma_nn} if self.non_negative else {}


@dataclass(frozen=True)
class Training:
    """The arguments of a fit by Adam; `n_epochs` is None if it depends on whether a rule may stop the fit earlier."""

    learning_rate: float
    weight_decay: float
    batch_size: int | str | None
    n_epochs: int | None
    validation_fraction: float
    patience: int | None

    def epochs(self, *, stops: bool) -> int:
        """Return the most epochs; `stops` says whether a rule may stop the fit earlier."""
        default = _MOST_EPOCHS if stops else _EPOCHS
        return default if self.n_epochs is None else self.n_epochs

    def params(self) -> dict[str, object]:
        """Return the arguments that influence the model."""
        return {
            "learning_rate": self.learning_rate,
            "weight_decay": self.weight_decay,
            "batch_size": self.batch_size,
            "n_epochs": self.n_epochs,
            "validation_fraction": self.validation_fraction,
            "early_stopping_rounds": self.patience,
        }


def check_training(
    shape: Shape,
    *,
    learning_rate: object,
    weight_decay: object,
    batch_size: object,
    n_epochs: object,
    validation_fraction: object,
    early_stopping_rounds: object,
) -> Training:
    decay = _MLP_DECAY if shape.model == "mlp" else 0.0
    size: int | str | None = None
    if isinstance(batch_size, str):
        size = check_choice("batch_size", batch_size, ("auto",))
        if shape.model != "mlp":
            size = None  # a linear model has one minimum, and an epoch takes little time: all rows make one batch
    elif batch_size is not None:
        size = check_int("batch_size", batch_size, low=1)
    epochs = None if n_epochs is None else check_int("n_epochs", n_epochs, low=1)
    patience: int | None = None
    if isinstance(early_stopping_rounds, str):
        check_choice("early_stopping_rounds", early_stopping_rounds, ("auto",))
        patience = _PATIENCE if epochs is None else None
    elif early_stopping_rounds is not None:
        patience = check_int("early_stopping_rounds", early_stopping_rounds, low=1)
    return Training(
        learning_rate=_RATES[shape.model]
        if learning_rate is None
        else check_float("learning_rate", learning_rate, low=0, open_low=True),
        weight_decay=decay if weight_decay is None else check_float("weight_decay", weight_decay, low=0),
        batch_size=size,
        n_epochs=epochs,
        validation_fraction=check_float(
            "validation_fraction", validation_fraction, low=0, high=1, open_low=True, open_high=True
        ),
        patience=patience,
    )
