"""The form of f: linear in the rows, linear in Gaussian basis functions, or a network with one hidden layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from fastpu.common._params import MANY, check_int
from fastpu.common._types import MatrixLike
from fastpu.data._training_rows import TrainingRows
from fastpu.kernels._basis import Basis, LinearBasis, basis_centers, gauss_basis

FormName: TypeAlias = Literal["linear", "gauss", "mlp"]

_MOST_HIDDEN = 10**6


@dataclass(frozen=True, kw_only=True)
class ModelForm:
    """The checked form of f: `model` is "linear", "gauss" or "mlp".

    `n_centers`, `centers` and `bandwidth` are read by "gauss" alone, and `n_hidden` by "mlp".
    """

    model: FormName
    n_centers: int
    centers: MatrixLike | None
    bandwidth: float | None
    n_hidden: int = 1

    def params(self) -> dict[str, Any]:
        """Return what a model keeps of its form."""
        if self.model == "mlp":
            return {"model": self.model, "n_hidden": self.n_hidden}
        if self.model == "gauss":
            n_centers = self.n_centers if self.centers is None else None
            return {"model": self.model, "n_centers": n_centers, "bandwidth": self.bandwidth}
        return {"model": self.model}

    def basis(self, rows: TrainingRows, generator: np.random.Generator, n_threads: int) -> Basis:
        """Return the basis functions of "gauss", or the rows themselves."""
        if self.model != "gauss":
            return LinearBasis(rows.matrix)
        centers = basis_centers(rows, self.centers, self.n_centers, generator)
        return gauss_basis(rows, centers, self.bandwidth, n_threads)


def check_n_centers(n_centers: object) -> int:
    return min(check_int("n_centers", n_centers, low=1), MANY)


def check_n_hidden(n_hidden: object) -> int:
    return check_int("n_hidden", n_hidden, low=1, high=_MOST_HIDDEN)
