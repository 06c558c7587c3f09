"""The form of f among the arguments of LSAUC, SAMULT and PNU-AUC, until these make a `ModelForm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fastpu.common._params import MANY, check_choice, check_int
from fastpu.data._matrix import DenseMatrix
from fastpu.data._training_rows import TrainingRows
from fastpu.kernels._gauss_basis import check_bandwidth, default_bandwidth, gauss_features, open_centers
from fastpu.risk._model_form import Basis, check_n_hidden
from fastpu.risk._risk_models import make_model

__all__ = ["Basis", "Shape", "make_model"]


class Shape:
    """The form of f, and the loss in the risk that it minimises ("" for a method that has but one).

    Both are checked among a function's arguments, by their names; `other` is said of what another function takes.
    """

    def __init__(
        self, given: Mapping[str, Any], models: Sequence[str], losses: Sequence[str] = (), other: str = ""
    ) -> None:
        self.model = check_choice("model", given["model"], models, other)
        self.loss = check_choice("loss", given["loss"], losses, other) if losses else ""
        self.n_hidden = check_n_hidden(given.get("n_hidden", 1))
        self.n_centers = min(check_int("n_centers", given["n_centers"], low=1), MANY)
        self.centers = given["centers"]
        self.bandwidth = check_bandwidth(self.model, self.centers, given["bandwidth"])

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
        self,
        rows: TrainingRows,
        generator: np.random.Generator,
        n_threads: int,
        check_room: Callable[[int], None] | None = None,
    ) -> Basis:
        if self.model != "gauss":
            return Basis(rows.matrix, None, None)
        centers = open_centers(rows.matrix, self.centers, self.n_centers, rows.weights, generator)
        if check_room is not None:
            check_room(centers.n_rows)
        bandwidth = self.bandwidth or default_bandwidth(rows.matrix, rows.weights, centers)
        return Basis(DenseMatrix(gauss_features(rows.matrix, centers, bandwidth, n_threads)), centers, bandwidth)
