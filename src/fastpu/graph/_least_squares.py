"""The closed form of GLLC and of the biased LS-SVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu import _core
from fastpu.graph._arguments import PualRound
from fastpu.graph._fit import Solved, closed_form
from fastpu.graph._quadratic import Quadratic, Smooth, is_right
from fastpu.graph._rows import empty, row_strips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastpu.graph._arguments import Point
    from fastpu.graph._features import Features
    from fastpu.graph._fit import Hook
    from fastpu.graph._quadratic import Local

__all__ = ["solve_least_squares"]


def solve_least_squares(features: Features, local: Local, points: Sequence[Point], hook: Hook) -> list[Solved]:
    """Solve for points that differ in C_pos alone.

    With the unlabelled mean at 0 and m that of the positives, the intercept goes out and leaves

        (lam + 2 C_pos (Z_p - m)'(Z_p - m) + 2 C_unl Z_u'Z_u + 2 Z'RZ + k m m') beta = 2 k m,
        1/k = 1 / (2 C_pos n_pos) + 1 / (2 C_unl n_unl).
    """
    rows = features.rows
    weights_pos, weights_unl = rows.weigh(rows.pos), rows.weigh(rows.unl)
    mass_pos, mass_unl = float(weights_pos.sum()), float(weights_unl.sum())
    share_pos = weights_pos / mass_pos
    mean = share_pos @ features.pos
    spread = _spread(features.pos, mean, None if rows.weights is None else weights_pos, rows.n_threads)
    solved = []
    for point in points:
        of_pos, of_unl = 2 * point.C_pos * mass_pos, 2 * point.C_unl * mass_unl
        total = of_pos + of_unl
        k = of_pos * (of_unl / total)
        smooth = Smooth(features, local, point, _with_means(2 * point.C_pos, spread, k, mean))
        last = 2 * k * mean[None, :]
        corner = np.ascontiguousarray(smooth.factor[-mean.size :, -mean.size :])
        _core.tiled_solve(corner, last, transpose=True, n_threads=rows.n_threads)
        targets = -2 * k * rows.share_unl
        targets[rows.pos] = 2 * k * share_pos
        weights = of_unl * rows.share_unl
        weights[rows.pos] = of_pos * share_pos
        quadratic = Quadratic(features, local, point.lam, weights, targets)
        minimum = quadratic.solve(smooth, smooth.betas(last)[0])
        offset = (of_pos - of_unl) / total - quadratic.mean(minimum.f)
        scores = minimum.f + offset
        lacks = np.where(rows.is_unl, -1.0, 1.0) - scores
        objective = 0.5 * (point.lam * features.square(minimum.beta) + float(weights @ (lacks * lacks)))
        objective += local.value(minimum.f)
        gap = 0.5 * minimum.excess
        record = closed_form(objective, gap, is_right=is_right(gap, objective, total, minimum.misfit, 0.0))
        is_over = hook is not None and hook(PualRound(**vars(point), n_iter=0, objective=objective, gap=gap))
        if is_over:
            record["status"] = "callback"
        solved.append(Solved(point, minimum.beta, offset, scores, record))
        if is_over:
            break
    return solved


def _spread(
    z: NDArray[np.float64], mean: NDArray[np.float64], weights: NDArray[np.float64] | None, n_threads: int
) -> NDArray[np.float64]:
    """Return (Z - m)'(Z - m), every row as often as its weight says."""
    apart = empty(z.shape, "centred rows of the positives")
    for block in row_strips(*z.shape):
        np.subtract(z[block], mean, out=apart[block])
        if weights is not None:
            apart[block] *= np.sqrt(weights[block])[:, None]
    return _core.tiled_gram(apart, n_threads=n_threads)


def _with_means(factor: float, spread: NDArray[np.float64], k: float, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return factor * spread + k m m'."""
    found = empty(spread.shape, "the matrix of the positives")
    for block in row_strips(*spread.shape):
        np.multiply(spread[block], factor, out=found[block])
        found[block] += k * np.outer(mean[block], mean)
    return found
