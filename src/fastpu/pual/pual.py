"""PUAL: hinge loss on positives, squared loss on unlabelled rows, and a penalty for neighbours whose scores differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import MANY, check_float, check_int
from fastpu.common._progress import on_round
from fastpu.common._sharing import marked
from fastpu.model._profile import keeps_profile
from fastpu.pual._arguments import Point, PualOptions, PualRound
from fastpu.pual._fit import PualSolution, Report, fit_points
from fastpu.pual._quadratic import NeighbourTerm, Quadratic, Residual, SystemFactor, is_right, residuals
from fastpu.pual.pual_machine import PualMachine


@answers_unknown_keywords
@keeps_profile
@marked(shares=("C_pos", "C_unl", "lam", "sigma"), shares_together=True)
def fit_pual(
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
    tol: float = 1e-9,
    max_iter: int = 200,
    n_components: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[PualRound], bool | None] | None = None,
    progress: bool = False,
) -> PualMachine | list[PualMachine]:
    """PUAL, a PU classifier with an asymmetric loss, for positives on both sides of the negatives.

    It is for data in which some positives lie far out, neighbours tend to be of the same class, and no prior is known:
    some thousand rows with a kernel, 100,000 with a linear model. `fit_gllc` is quicker, and often as good.

    The fit minimises over w, b in the feature space of the kernel, with f(x) = w'phi(x) + b,

        lam/2 |w|^2 + C_pos sum_P max(0, 1 - f(x_i)) + C_unl sum_U (1 + f(x_i))^2 + f'Rf,
        f'Rf = 1/(2n) sum_ij w_ij (f(x_i) - f(x_j))^2,

    where w_ij = exp(-|x_i - x_j|^2 / sigma) between rows that are among each other's `n_neighbors` nearest ones, and 0
    between others. Labelled positives far on their side of the boundary cost nothing, and so do not move it.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        float32 and float64. With ``kernel="precomputed"`` the symmetric matrix of K between all rows.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; also {1, 0}, bool or {1, nan}. See `fastpu.as_labels`.
    C_pos, C_unl : float or sequence of floats, defaults 1.0 and 0.1
        Costs > 0 of a positive and of an unlabelled row. Losses are sums, as in the paper.
    lam : float or sequence of floats, default 1.0
        Weight > 0 of |w|^2.
    sigma : "median", float or sequence of these, default "median"
        > 0, a squared length, in the units of X squared: the scale of the similarities. "median" is the median of the
        squared lengths of the graph's edges (if that is 0, of those that are not 0), so that similarities lie around
        exp(-1) whatever the scale of the rows and the number of columns; `params` has the number. The paper has 1.0. It
        has no influence if `graph` is a pair.
        `C_pos`, `C_unl`, `lam` and `sigma` may be sequences of one length, with an entry for each model. The result is
        then the list of the models that the single values give, and neighbours, kernel values and factors are computed
        once for all models that share them.
    n_neighbors : int, default 5
        Neighbours of a row; 0 does without the last term.
    graph : (W, R) or KNNGraph, optional
        What `knn_similarity` or `knn_graph` returned for `X`, in place of a search. Do not pass it to `fastpu.select`,
        whose folds have graphs of their own.
    kernel : str or callable, default "linear"
        As in `fit_svm`. It has to be positive semidefinite; "sigmoid" is so for some data only.
    gamma, degree, coef0
        As in `fit_svm`.
    tol : float, default 1e-9
        In (0, 1): the largest duality gap at the end, relative to the objective.
    max_iter : int, default 200
        Most steps of the solver.
    n_components : int, optional
        Number of landmarks of Nystroem's method, for more rows than a kernel matrix has room for. The landmarks are
        rows drawn by `random_state`, and the kernel is replaced by one of that rank which has the same values among
        them.
    random_state : int or Generator, optional
    n_threads, progress
        As in `fit_svm`; BLAS's threads are included.
    callback : callable, optional
        ``callback(info: PualRound) -> bool`` after every step; True ends the fit, and later models are left out.

    Returns
    -------
    PualMachine, or a list of them if a parameter is a sequence

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `y` has labelled negatives, no positive or no unlabelled row. The message
        names the argument. There is no `sample_weight`: a row that is repeated changes the neighbours.
    MemoryError
        If there is too little memory for the matrices; the message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If the gap is not below tol, with its value.
    DegenerateModelWarning
        If the model calls all training rows positive or all negative. That can be the minimum.
    ScaleWarning
        If columns are on very different scales, or `sigma` is so small that neighbours have no influence.

    Notes
    -----
    The problem is solved in its dual, a box-constrained quadratic programme of the size of the positives, whose Q is
    the block of the positives in Z (lam + Z'SZ)^-1 Z' + 1 1' / (2 C_unl n_unl). The linear form takes O(n d^2) for
    products that all parameters share, O(d^3 + n_pos d^2) for each (lam, C_unl, sigma), and O(n_pos d^2) for each of
    some 15 steps; memory is O(n d + d^2), and with more features than rows that of a kernel. A kernel takes O(n^3), and
    a third of n^3 multiplications for each (lam, C_unl, sigma), and memory for four matrices of n x n. Nystroem's
    method is the linear form with `n_components` features.

    R has a factor 1/n and the losses are sums: the weight of the neighbours falls as n grows. Scale the features.

    References
    ----------
    Wang, Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data", (5) to (8), Algorithms 1, 2.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-4, 1, (40, 1)), rng.normal(4, 1, (40, 1)), rng.normal(0, 1, (80, 1))])
    >>> y = np.arange(160) % 80 % 40 < 20 * (np.arange(160) < 80)
    >>> model = fastpu.fit_pual(X, y, C_unl=0.1, lam=0.1, kernel="rbf")
    >>> model.predict([[-4.0], [0.0], [4.0]])
    array([ 1, -1,  1])
    >>> [m.status for m in fastpu.fit_pual(X, y, lam=[0.1, 1.0, 10.0], kernel="rbf")]
    ['gap', 'gap', 'gap']
    """
    given = locals()
    tolerance = check_float("tol", tol, low=0, high=1, open_low=True, open_high=True)
    steps = check_int("max_iter", max_iter, low=1)
    options = PualOptions("fit_pual", "PUAL", given, tol=tolerance, max_iter=steps)
    return fit_points(options, given, partial(_solve_dual, tol=tolerance, max_iter=min(steps, MANY)))


def _solve_dual(
    neighbour_term: NeighbourTerm, points: Sequence[Point], report: Report, *, tol: float, max_iter: int
) -> list[PualSolution]:
    """Solve for points that differ in C_pos alone."""
    system, features = SystemFactor(neighbour_term, points[0]), neighbour_term.features
    n_threads = features.rows.n_threads
    n_unl, C_unl = features.rows.unl.size, points[0].C_unl
    H = system.last()
    with_intercept = np.column_stack([H, np.full(len(H), 1 / math.sqrt(2 * C_unl * n_unl))])
    dual = _core.PualDual(with_intercept, n_threads=n_threads)

    def info(number: int, n_iter: int, objective: float, gap: float) -> PualRound:
        return PualRound(**vars(points[number]), n_iter=n_iter, objective=objective, gap=gap)

    costs, callback = [point.C_pos for point in points], on_round(report, info)
    solutions = dual.solve(costs, tol=tol, max_iter=max_iter, callback=callback)
    alphas = np.array([solution["alpha"] for solution in solutions])
    betas = system.betas(_core.tiled_product(alphas, H, n_threads=n_threads))
    weights = np.where(features.rows.is_unl, 2 * C_unl, 0.0)
    targets = -alphas.sum(axis=1)[:, None] / n_unl * features.rows.is_unl
    targets[:, features.rows.pos] = alphas
    quadratics = [Quadratic(neighbour_term, points[0].lam, weights, each) for each in targets]
    starts = residuals(quadratics, betas)
    return [  # fewer than points if the callback ended the fit
        _finish(system, *of_point, tol) for of_point in zip(points, solutions, quadratics, starts, strict=False)
    ]


def _finish(
    system: SystemFactor,
    point: Point,
    solution: _core.DualSolution,
    quadratic: Quadratic,
    start: Residual,
    tol: float,
) -> PualSolution:
    """Return the minimum for alpha, with objective and gap computed from the scores of the rows."""
    alpha, rows, C_unl = solution["alpha"], system.features.rows, point.C_unl
    n_unl, total = rows.unl.size, float(alpha.sum())
    beta, f, excess, misfit = quadratic.solve(system, start, 0.01 * tol * solution["objective"])
    offset = total / (2 * C_unl * n_unl) - 1 - quadratic.mean(f)
    scores = f + offset
    lacks, of_unl = 1 - scores[rows.pos], 1 + scores[rows.unl]
    hinge = point.C_pos * np.maximum(lacks, 0)
    ridge = 0.5 * point.lam * float(beta @ beta)
    objective = ridge + float(hinge.sum()) + C_unl * float(of_unl @ of_unl) + quadratic.neighbour_term.value(f)
    gap = max(float((hinge - alpha * lacks).sum()), 0.0) + 0.5 * excess
    size = point.C_pos * alpha.size + C_unl * n_unl
    status = solution["status"]
    if status in {"gap", "precision"}:
        status = "gap" if is_right(gap, objective, size, misfit, 2 * tol) else "precision"
    history = {
        "n_iter": np.append(solution["iterations"], solution["n_iter"]),
        "objective": np.append(solution["objectives"], objective),
        "gap": np.append(solution["gaps"], gap),
    }
    return PualSolution(point, beta, offset, scores, status, history, alpha)
