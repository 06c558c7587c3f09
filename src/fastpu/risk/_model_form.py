"""The form of f: linear in the rows, linear in Gaussian basis functions, or a network with one hidden layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastpu.common._params import MANY, check_int
from fastpu.common._types import MatrixLike
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._training_rows import TrainingRows
from fastpu.kernels._gauss_basis import default_bandwidth, gauss_features, open_centers

_MOST_HIDDEN = 10**6


class Basis(NamedTuple):
    """What f is linear in: the rows, or basis functions around centres."""

    features: Matrix
    centers: Matrix | None
    bandwidth: float | None


@dataclass(frozen=True, kw_only=True)
class ModelForm:
    """The checked form of f: `model` is "linear", "gauss" or "mlp".

    `n_centers`, `centers` and `bandwidth` are read by "gauss" alone, and `n_hidden` by "mlp".
    """

    model: str
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
            return Basis(rows.matrix, None, None)
        return self.basis_around(self.draw_centers(rows, generator), rows, n_threads)

    def draw_centers(self, rows: TrainingRows, generator: np.random.Generator) -> Matrix:
        """Return the caller's centres, or draw some."""
        return open_centers(rows.matrix, self.centers, self.n_centers, rows.weights, generator)

    def basis_around(self, centers: Matrix, rows: TrainingRows, n_threads: int) -> Basis:
        bandwidth = self.bandwidth or default_bandwidth(rows.matrix, rows.weights, centers)
        return Basis(DenseMatrix(gauss_features(rows.matrix, centers, bandwidth, n_threads)), centers, bandwidth)


def check_n_centers(n_centers: object) -> int:
    return min(check_int("n_centers", n_centers, low=1), MANY)


def check_n_hidden(n_hidden: object) -> int:
    return check_int("n_hidden", n_hidden, low=1, high=_MOST_HIDDEN)
