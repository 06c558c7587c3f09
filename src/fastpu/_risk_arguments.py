"""The arguments that `fit_upu` and `fit_nnpu` share, and what their callbacks see."""

from __future__ import annotations

from dataclasses import dataclass

from fastpu._gauss_basis import is_bandwidth
from fastpu._validate import check_choice, check_float, check_int

__all__ = ["RiskRound", "Shape", "Training", "check_shape", "check_training"]

_LOSSES = ("sigmoid", "logistic", "squared")
_MODELS = ("linear", "gauss", "mlp")
_MANY = 2**62
_MOST_HIDDEN = 10**6
_MLP_DECAY = 0.005  # the weight decay of the reference setting


@dataclass(frozen=True)
class RiskRound:
    """One epoch of Adam, or one step of Newton's method, as a callback sees it.

    Attributes
    ----------
    round, n_rounds : int
        Its number, from 1, and the most there may be.
    risk : float
        Of Adam the mean risk of the batches of the epoch, each before its step; of Newton's method the risk after it.
    eval_risk : float, or None
        The risk of the evaluation set after the epoch.
    n_reversed : int
        Batches of the epoch whose step was taken back by nnPU's rule.
    """

    round: int
    n_rounds: int
    risk: float
    eval_risk: float | None
    n_reversed: int


@dataclass(frozen=True)
class Shape:
    """What f is and what it is fitted by."""

    model: str
    loss: str
    n_hidden: int
    n_centers: int
    centers: object
    bandwidth: float | None

    def params(self) -> dict[str, object]:
        """Return those that influence the model."""
        found: dict[str, object] = {"loss": self.loss, "model": self.model}
        if self.model == "mlp":
            found["n_hidden"] = self.n_hidden
        if self.model == "gauss":
            found["n_centers"] = self.n_centers if self.centers is None else None
            found["bandwidth"] = self.bandwidth
        return found


def check_shape(
    *, model: object, loss: object, n_hidden: object, n_centers: object, centers: object, bandwidth: object
) -> Shape:
    kind = check_choice("model", model, _MODELS)
    for name, value in (("centers", centers), ("bandwidth", bandwidth)):
        if kind != "gauss" and value is not None:
            raise ValueError(f"{name} is for model='gauss', got it with model={kind!r}")
    width = None
    if bandwidth is not None:
        width = check_float("bandwidth", bandwidth, low=0, open_low=True)
        if not is_bandwidth(width):
            raise ValueError(f"bandwidth must be such that its square is a number > 0, got {width:g}")
    return Shape(
        model=kind,
        loss=check_choice("loss", loss, _LOSSES),
        n_hidden=check_int("n_hidden", n_hidden, low=1, high=_MOST_HIDDEN),
        n_centers=min(check_int("n_centers", n_centers, low=1), _MANY),
        centers=centers,
        bandwidth=width,
    )


@dataclass(frozen=True)
class Training:
    """The arguments of a fit by Adam."""

    lam: float
    learning_rate: float
    weight_decay: float
    batch_size: int | None
    n_epochs: int
    patience: int | None

    def params(self) -> dict[str, object]:
        """Return those that influence the model."""
        return {
            "learning_rate": self.learning_rate,
            "weight_decay": self.weight_decay,
            "batch_size": self.batch_size,
            "n_epochs": self.n_epochs,
            "early_stopping_rounds": self.patience,
        }


def check_training(
    shape: Shape,
    *,
    lam: float,
    learning_rate: object,
    weight_decay: object,
    batch_size: object,
    n_epochs: object,
    early_stopping_rounds: object,
    eval_set: object,
) -> Training:
    patience = None
    if early_stopping_rounds is not None:
        patience = check_int("early_stopping_rounds", early_stopping_rounds, low=1)
        if eval_set is None:
            raise ValueError("early_stopping_rounds needs an eval_set to judge the epochs by")
    decay = _MLP_DECAY if shape.model == "mlp" else 0.0
    return Training(
        lam=lam,
        learning_rate=check_float("learning_rate", learning_rate, low=0, open_low=True),
        weight_decay=decay if weight_decay is None else check_float("weight_decay", weight_decay, low=0),
        batch_size=None if batch_size is None else check_int("batch_size", batch_size, low=1),
        n_epochs=check_int("n_epochs", n_epochs, low=1),
        patience=patience,
    )
