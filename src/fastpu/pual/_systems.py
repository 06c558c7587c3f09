"""Points that share a linear system, and the matrix of each system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.pual._features import Features
from fastpu.pual._neighbours import Neighbours
from fastpu.pual._parameter_points import Point


class NeighbourTerm:
    """The neighbours' term for one sigma and these features: R, and Z'RZ."""

    def __init__(self, features: Features, R: Any) -> None:
        self.features, self.R = features, R
        self._gram = features.quadratic_form(R) if R.nnz else None
        #: Where the core writes the factor of a system: allocating a matrix takes as long as copying one.
        self.factor: NDArray[np.float64] = np.empty(features.gram_unl.shape)
        self._last: tuple[float, NDArray[np.float64]] | None = None

    def with_unlabeled(self, C_unl: float) -> NDArray[np.float64]:
        """Return 2 C_unl Z_u'Z_u + 2 Z'RZ, which is kept for the next lam."""
        if self._last is None or self._last[0] != C_unl:
            self._last = None  # frees its memory before the new matrix is made
            matrix = 2 * C_unl * self.features.gram_unl
            if self._gram is not None:
                matrix += self._gram
                matrix += self._gram
            self._last = C_unl, matrix
        return self._last[1]

    def times(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return R f."""
        return np.asarray(self.R @ scores)

    def value(self, scores: NDArray[np.float64]) -> float:
        """Return f'Rf."""
        return max(float(scores @ self.times(scores)), 0.0)


@dataclass(frozen=True)
class PointsOfSystem:
    """Points that differ in C_pos alone, with their numbers among all points, and what they share."""

    numbers: list[int]
    points: list[Point]
    neighbour_term: NeighbourTerm
    C_unl: float
    lam: float


def systems(points: Sequence[Point], features: Features, neighbours: Neighbours) -> Iterator[PointsOfSystem]:
    """Group the points by sigma, then by C_unl, then by lam; each group comes in the order of its first point."""
    for sigma, of_sigma in _groups(points, range(len(points)), "sigma"):
        term = NeighbourTerm(features, neighbours.laplacian(sigma))
        for C_unl, of_unl in _groups(points, of_sigma, "C_unl"):
            for lam, numbers in _groups(points, of_unl, "lam"):
                yield PointsOfSystem(numbers, [points[i] for i in numbers], term, C_unl, lam)


def _groups(points: Sequence[Point], numbers: Sequence[int], name: str) -> list[tuple[float, list[int]]]:
    """Group the points of these numbers by the value of a parameter."""
    groups: dict[float, list[int]] = {}
    for i in numbers:
        groups.setdefault(getattr(points[i], name), []).append(i)
    return list(groups.items())
