"""The closed form of GLLC and the biased LS-SVM, refined on the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from fastpu import _core
from fastpu.common._progress import Report
from fastpu.pual._features import weighted_gram
from fastpu.pual._models import Solution
from fastpu.pual._refinement import Quadratic, is_right, residuals
from fastpu.pual._systems import PointsOfSystem
from fastpu.pual.pual_machine import PualRound


def solve_least_squares(system: PointsOfSystem, report: Report | None) -> list[Solution]:
    """Solve for points that differ in C_pos alone; a callback may leave out the last ones.

    With the unlabelled mean at 0 and m that of the positives, the intercept goes out and leaves

        (lam + 2 C_pos (Z_p - m)'(Z_p - m) + 2 C_unl Z_u'Z_u + 2 Z'RZ + k m m') beta = 2 k m,
        1/k = 1 / (2 C_pos n_pos) + 1 / (2 C_unl n_unl).
    """
    term = system.neighbour_term
    features, rows = term.features, term.features.rows
    weights_pos, weights_unl = rows.weights_of(rows.pos), rows.weights_of(rows.unl)
    mass_pos, mass_unl = float(weights_pos.sum()), float(weights_unl.sum())
    share_pos = weights_pos / mass_pos
    mean = share_pos @ features.pos
    spread = weighted_gram(features.pos - mean, weights_pos, rows.n_threads)
    right: NDArray[np.float64] = np.zeros(len(features.gram_unl))
    right[-mean.size :] = 2 * mean
    solved = []
    for point in system.points:
        of_pos, of_unl = 2 * point.C_pos * mass_pos, 2 * point.C_unl * mass_unl
        total = of_pos + of_unl
        k = of_pos * (of_unl / total)
        _core.factor_pual_system(
            term.with_unlabeled(point.C_unl),
            2 * point.C_pos * spread + k * np.outer(mean, mean),
            term.factor,
            C_unl=point.C_unl,
            lam=point.lam,
            n_threads=rows.n_threads,
        )
        targets = -2 * k * rows.share_unl
        targets[rows.pos] = 2 * k * share_pos
        weights = of_unl * rows.share_unl
        weights[rows.pos] = of_pos * share_pos
        quadratic = Quadratic(term, point.lam, weights, targets)
        first = cho_solve((term.factor.T, False), k * right, check_finite=False)
        beta, f, excess, misfit = quadratic.minimum(residuals([quadratic], first[None])[0])
        offset = (of_pos - of_unl) / total - quadratic.mean(f)
        scores = f + offset
        lacks = np.where(rows.is_unl, -1.0, 1.0) - scores
        objective = 0.5 * (point.lam * float(beta @ beta) + float(weights @ (lacks * lacks)))
        objective += term.value(f)
        gap = 0.5 * excess
        status = "closed_form" if is_right(gap, objective, total, misfit, 0.0) else "precision"
        if report is not None and report(
            PualRound(point.C_pos, point.C_unl, point.lam, point.sigma, n_iter=0, objective=objective, gap=gap)
        ):
            status = "callback"
        history = {"n_iter": np.zeros(1, dtype=np.int64), "objective": np.array([objective]), "gap": np.array([gap])}
        solved.append(Solution(point, beta, offset, scores, status, history))
        if status == "callback":
            break
    return solved
