"""Points that share a linear system, and the neighbours' term of each system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.data._matrix import CsrMatrix
from fastpu.pual._features import Features
from fastpu.pual._neighbours import Neighbours
from fastpu.pual._parameter_points import Point
from fastpu.pual.pual_machine import PualRound


@dataclass(frozen=True)
class PointsOfSystem:
    """Points that differ in C_pos alone, with their numbers among all points, and what they share.

    `laplacian` is R for their sigma, and `gram` is Z'RZ, or None where R is 0.
    """

    numbers: list[int]
    points: list[Point]
    laplacian: CsrMatrix
    gram: NDArray[np.float64] | None
    C_unl: float
    lam: float

    @property
    def costs(self) -> list[float]:
        return [point.C_pos for point in self.points]

    def round(self, number: int, n_iter: int, objective: float, gap: float) -> PualRound:
        """Return what a callback gets of a round of the core, for the point of this number among these."""
        point = self.points[number]
        return PualRound(point.C_pos, point.C_unl, point.lam, point.sigma, n_iter, objective, gap)


def systems(points: Sequence[Point], features: Features, neighbours: Neighbours) -> Iterator[PointsOfSystem]:
    """Group the points by sigma, then by C_unl, then by lam; each group comes in the order of its first point."""
    for sigma, of_sigma in _groups(points, range(len(points)), lambda point: point.sigma):
        R = neighbours.laplacian(sigma)
        laplacian, gram = CsrMatrix.of(R), features.quadratic_form(R) if R.nnz else None
        for C_unl, of_unl in _groups(points, of_sigma, lambda point: point.C_unl):
            for lam, numbers in _groups(points, of_unl, lambda point: point.lam):
                yield PointsOfSystem(numbers, [points[i] for i in numbers], laplacian, gram, C_unl, lam)


def _groups(
    points: Sequence[Point], numbers: Sequence[int], parameter: Callable[[Point], float]
) -> list[tuple[float, list[int]]]:
    """Group the points of these numbers by the value of a parameter."""
    groups: dict[float, list[int]] = {}
    for i in numbers:
        groups.setdefault(parameter(points[i]), []).append(i)
    return list(groups.items())
