"""The closed form of GLLC and of the biased LS-SVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu.graph._arguments import PualRound
from fastpu.graph._fit import Solved, closed_form
from fastpu.graph._quadratic import Quadratic, Smooth, is_right, residuals
from fastpu.graph._rows import gram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastpu.graph._arguments import Point
    from fastpu.graph._features import Features
    from fastpu.graph._fit import Hook
    from fastpu.graph._quadratic import Local


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
    spread = gram(features.pos - mean, weights_pos, rows.n_threads)
    right = np.zeros(features.rank)
    right[-mean.size :] = 2 * mean
    solved = []
    for point in points:
        of_pos, of_unl = 2 * point.C_pos * mass_pos, 2 * point.C_unl * mass_unl
        total = of_pos + of_unl
        k = of_pos * (of_unl / total)
        smooth = Smooth(features, local, point, 2 * point.C_pos * spread + k * np.outer(mean, mean))
        targets = -2 * k * rows.share_unl
        targets[rows.pos] = 2 * k * share_pos
        weights = of_unl * rows.share_unl
        weights[rows.pos] = of_pos * share_pos
        quadratic = Quadratic(features, local, point.lam, weights, targets)
        minimum = quadratic.solve(smooth, residuals([quadratic], smooth.solve(k * right)[None])[0])
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
