"""The arguments that `fit_upu` and `fit_nnpu` share, and what their callbacks see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastpu.common._params import MANY, check_choice, check_int
from fastpu.data._matrix import Matrix
from fastpu.data._training_rows import TrainingRows
from fastpu.kernels._gauss_basis import check_bandwidth, default_bandwidth, open_centers

_MOST_HIDDEN = 10**6


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
    """The form of f, and the loss in the risk that it minimises ("" for a method that has but one)."""

    model: str
    loss: str
    n_hidden: int
    n_centers: int
    centers: object
    bandwidth: float | None

    def params(self) -> dict[str, object]:
        params: dict[str, object] = {"loss": self.loss} if self.loss else {}
        params["model"] = self.model
        if self.model == "mlp":
            params["n_hidden"] = self.n_hidden
        if self.model == "gauss":
            params["n_centers"] = self.n_centers if self.centers is None else None
            params["bandwidth"] = self.bandwidth
        return params

    def basis(
        self, rows: TrainingRows, generator: np.random.Generator, check_room: Callable[[int], None] | None = None
    ) -> tuple[Matrix | None, float | None]:
        """Return the centres of basis functions and their bandwidth, or None for both where there are none."""
        if self.model != "gauss":
            return None, None
        centers = open_centers(rows.matrix, self.centers, self.n_centers, rows.weights, generator)
        if check_room is not None:
            check_room(centers.n_rows)
        return centers, self.bandwidth or default_bandwidth(rows.matrix, rows.weights, centers)


def check_shape(given: Mapping[str, Any], models: Sequence[str], losses: Sequence[str] = ()) -> Shape:
    """Check those of a function's arguments, by their names, that say what f is and what it minimises."""
    kind, centers = check_choice("model", given["model"], models), given["centers"]
    return Shape(
        model=kind,
        loss=check_choice("loss", given["loss"], losses) if losses else "",
        n_hidden=check_int("n_hidden", given.get("n_hidden", 1), low=1, high=_MOST_HIDDEN),
        n_centers=min(check_int("n_centers", given["n_centers"], low=1), MANY),
        centers=centers,
        bandwidth=check_bandwidth(kind, centers, given["bandwidth"]),
    )
