"""GLLC: squared losses on positives and unlabelled rows, and a penalty for neighbours whose scores differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._sharing import marked
from fastpu.model._profile import keeps_profile
from fastpu.pual._arguments import Point, PualOptions, PualRound
from fastpu.pual._fit import PualSolution, Report, fit_points
from fastpu.pual._quadratic import NeighbourTerm, Quadratic, SystemFactor, is_right, residuals
from fastpu.pual._rows import gram
from fastpu.pual.pual_machine import PualMachine


@answers_unknown_keywords
@keeps_profile
@marked(shares=("C_pos", "C_unl", "lam", "sigma"), shares_together=True)
def fit_gllc(
    X: object,
    y: object,
    *,
    C_pos: float | Sequence[float] | NDArray[Any] = 1.0,
    C_unl: float | Sequence[float] | NDArray[Any] = 0.1,
    lam: float | Sequence[float] | NDArray[Any] = 1.0,
    sigma: float | str | Sequence[float | str] | NDArray[Any] = "median",
    n_neighbors: int = 5,
    graph: object = None,
    kernel: str | Callable[..., object] = "linear",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    n_components: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[PualRound], bool | None] | None = None,
    progress: bool = False,
) -> PualMachine | list[PualMachine]:
    """GLLC, the global and local learning classifier: `fit_pual` with the squared loss on the positives too.

    It is for data that suit `fit_pual`, without labelled positives that lie far out. The fit is one linear system,
    without iterations.

    The fit minimises over w, b in the feature space of the kernel, with f(x) = w'phi(x) + b and f'Rf as in `fit_pual`,

        lam/2 |w|^2 + C_pos sum_P (1 - f(x_i))^2 + C_unl sum_U (1 + f(x_i))^2 + f'Rf

    in closed form. Errors and warnings are those of `fit_pual`; costs too, without the steps and with one Cholesky
    factor for each (C_pos, C_unl, lam, sigma).

    Parameters
    ----------
    X, y, C_pos, C_unl, lam, sigma, n_neighbors, graph, kernel, gamma, degree, coef0, n_components, random_state, \
n_threads
        As in `fit_pual`.
    callback : callable, optional
        ``callback(info: PualRound) -> bool`` after every model; True ends the fit, and later models are left out.
    progress : bool, default False
        Show a progress bar (tqdm if installed) that counts the models.

    Returns
    -------
    PualMachine, or a list of them if a parameter is a sequence
        Its `gap` is what rounding errors leave of the gradient, and its `alpha` is None.

    References
    ----------
    Ke, Jing, Lv, Zhang and Hu (2018), Global and local learning from positive and unlabeled examples, as (4) of Wang,
    Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data".

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]]
    >>> model = fastpu.fit_gllc(X, [0, 0, 1, 1, 0, 0], lam=0.01, n_neighbors=1)
    >>> model.predict(X)
    array([-1, -1,  1,  1, -1,  1])
    """
    given = locals()
    return fit_points(PualOptions("fit_gllc", "GLLC", given), given, solve_least_squares)


def solve_least_squares(neighbour_term: NeighbourTerm, points: Sequence[Point], report: Report) -> list[PualSolution]:
    """Solve for points that differ in C_pos alone.

    With the unlabelled mean at 0 and m that of the positives, the intercept goes out and leaves

        (lam + 2 C_pos (Z_p - m)'(Z_p - m) + 2 C_unl Z_u'Z_u + 2 Z'RZ + k m m') beta = 2 k m,
        1/k = 1 / (2 C_pos n_pos) + 1 / (2 C_unl n_unl).
    """
    features = neighbour_term.features
    rows = features.rows
    weights_pos, weights_unl = rows.weigh(rows.pos), rows.weigh(rows.unl)
    mass_pos, mass_unl = float(weights_pos.sum()), float(weights_unl.sum())
    share_pos = weights_pos / mass_pos
    mean = share_pos @ features.pos
    spread = gram(features.pos - mean, weights_pos, rows.n_threads)
    right = np.zeros(len(features.gram_unl))
    right[-mean.size :] = 2 * mean
    solved = []
    for point in points:
        of_pos, of_unl = 2 * point.C_pos * mass_pos, 2 * point.C_unl * mass_unl
        total = of_pos + of_unl
        k = of_pos * (of_unl / total)
        system = SystemFactor(neighbour_term, point, 2 * point.C_pos * spread + k * np.outer(mean, mean))
        targets = -2 * k * rows.share_unl
        targets[rows.pos] = 2 * k * share_pos
        weights = of_unl * rows.share_unl
        weights[rows.pos] = of_pos * share_pos
        quadratic = Quadratic(neighbour_term, point.lam, weights, targets)
        beta, f, excess, misfit = quadratic.solve(system, residuals([quadratic], system.solve(k * right)[None])[0])
        offset = (of_pos - of_unl) / total - quadratic.mean(f)
        scores = f + offset
        lacks = np.where(rows.is_unl, -1.0, 1.0) - scores
        objective = 0.5 * (point.lam * float(beta @ beta) + float(weights @ (lacks * lacks)))
        objective += neighbour_term.value(f)
        gap = 0.5 * excess
        status = "closed_form" if is_right(gap, objective, total, misfit, 0.0) else "precision"
        if report is not None and report(PualRound(**vars(point), n_iter=0, objective=objective, gap=gap)):
            status = "callback"
        history = {"n_iter": np.zeros(1, dtype=np.int64), "objective": np.array([objective]), "gap": np.array([gap])}
        solved.append(PualSolution(point, beta, offset, scores, status, history))
        if status == "callback":
            break
    return solved
