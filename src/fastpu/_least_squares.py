"""The closed form of GLLC and of the biased LS-SVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu import _core
from fastpu._pual import Smooth, Solved, closed_form
from fastpu._pual_arguments import PualRound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastpu._pual import Hook, Local
    from fastpu._pual_arguments import Point
    from fastpu._pual_features import Features

__all__ = ["solve_least_squares"]


def solve_least_squares(features: Features, local: Local, points: Sequence[Point], hook: Hook) -> list[Solved]:
    """Solve for points that differ in C_pos alone.

    With the unlabelled mean at 0 and m that of the positives, the intercept goes out and leaves

        (lam + 2 C_pos (Z_p - m)'(Z_p - m) + 2 C_unl Z_u'Z_u + 2 Z'RZ + k m m') beta = 2 k m,
        1/k = 1 / (2 C_pos n_pos) + 1 / (2 C_unl n_unl).
    """
    rows = features.rows
    n_pos, n_unl = rows.pos.size, rows.unl.size
    mean = features.pos.mean(axis=0)
    spread = _core.tiled_gram(features.pos - mean, n_threads=rows.n_threads)
    between = np.outer(mean, mean)
    solved = []
    for point in points:
        of_pos, of_unl = 2 * point.C_pos * n_pos, 2 * point.C_unl * n_unl
        total = of_pos + of_unl
        k = of_pos * (of_unl / total)
        smooth = Smooth(features, local, point, 2 * point.C_pos * spread + k * between)
        last = 2 * k * mean[None, :]
        corner = np.ascontiguousarray(smooth.factor[-mean.size :, -mean.size :])
        _core.tiled_solve(corner, last, transpose=True, n_threads=rows.n_threads)
        beta = smooth.betas(last)[0]
        along = float(mean @ beta[-mean.size :])
        offset = (of_pos - of_unl) / total - of_pos / total * along
        on_rows = np.where(rows.is_unl, -2 * k / n_unl, 2 * k / n_pos)
        weights = np.where(rows.is_unl, 2 * point.C_unl, 2 * point.C_pos)
        slope = of_pos * (along + offset) - of_unl * offset
        objective = max(0.5 * (total - slope), 0.0)
        record = closed_form(objective)
        is_over = hook is not None and hook(PualRound(**vars(point), n_iter=0, objective=objective, gap=0.0))
        if is_over:
            record["status"] = "callback"
        solved.append(Solved(point, beta, offset, on_rows, weights, record))
        if is_over:
            break
    return solved
