"""PUAL: hinge loss on positives, squared loss on unlabelled rows, and a penalty for neighbours whose scores differ."""

from __future__ import annotations

import numpy as np

from fastpu import _core
from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_int, check_random_state
from fastpu.common._progress import Report, make_report, on_round
from fastpu.common._sharing import marked
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import GammaLike, KernelLike, LabelsLike, MatrixLike, RandomState, RoundCallback
from fastpu.kernels._kernel import check_kernel
from fastpu.model._profile import keeps_profile
from fastpu.pual._features import open_features
from fastpu.pual._models import JudgedModel, Solution, finished_models, judged_models
from fastpu.pual._neighbours import GraphLike, find_neighbours
from fastpu.pual._options import PualOptions, check_components
from fastpu.pual._parameter_points import NumberOrMany, Point, SigmaOrMany, check_points
from fastpu.pual._pual_rows import open_pual_rows
from fastpu.pual._refinement import Quadratic, Residual, betas_of, is_right, residuals
from fastpu.pual._systems import PointsOfSystem, systems
from fastpu.pual.pual_machine import PualMachine, PualRound


@answers_unknown_keywords
@keeps_profile
@marked(shares=("C_pos", "C_unl", "lam", "sigma"), shares_together=True)
def fit_pual(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C_pos: NumberOrMany = 1.0,
    C_unl: NumberOrMany = 0.1,
    lam: NumberOrMany = 1.0,
    sigma: SigmaOrMany = "median",
    n_neighbors: int = 5,
    graph: GraphLike | None = None,
    kernel: KernelLike = "linear",
    gamma: GammaLike = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    tol: float = 1e-9,
    max_iter: int = 200,
    n_components: int | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[PualRound] | None = None,
    progress: bool = False,
) -> PualMachine | list[PualMachine]:
    """PUAL, a PU classifier with an asymmetric loss, for positives on both sides of the negatives.

    It is for data in which some positives lie far out, neighbours tend to be of the same class, and no prior is known:
    some thousand rows with a kernel, 100,000 with a linear model. `fit_gllc` is quicker, and often as good.

    The fit minimises over w, b in the feature space of the kernel, with f(x) = w'phi(x) + b,

        lam/2 |w|^2 + C_pos sum_P max(0, 1 - f(x_i)) + C_unl sum_U (1 + f(x_i))^2 + f'Rf,
        f'Rf = 1/(2n) sum_ij w_ij (f(x_i) - f(x_j))^2.

    Here w_ij = exp(-|x_i - x_j|^2 / sigma) if each of the two rows is among the `n_neighbors` nearest rows of the
    other, and 0 otherwise. Labelled positives far on their side of the boundary cost nothing, and so do not move it.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        The rows, in float32 or float64. With ``kernel="precomputed"`` this is the symmetric matrix of K between all
        rows.
    y : array-like of shape (n,)
        +1 for labelled positives, 0 for unlabelled rows; also {1, 0}, bool or {1, nan}. See `fastpu.as_labels`.
    C_pos, C_unl : float or sequence of floats, defaults 1.0 and 0.1
        The cost of a positive row and of an unlabelled row, > 0. Losses are sums, not means, as in the paper.
    lam : float or sequence of floats, default 1.0
        The weight of |w|^2, > 0.
    sigma : "median", float or sequence of these, default "median"
        The scale of the similarities: a squared length > 0, in the units of X squared. "median" is the median of the
        squared lengths of the graph's edges (of the lengths that are not 0, if the median would be 0). Similarities
        then lie around exp(-1), whatever the scale of the rows and the number of columns; `params` holds the number.
        The paper uses 1.0. `sigma` has no influence if `graph` is a pair (W, R).
        `C_pos`, `C_unl`, `lam` and `sigma` may be sequences of one length, with an entry for each model. The function
        then returns a list of models, equal to those of single calls. Neighbours, kernel values and factors are
        computed once for all models that share them.
    n_neighbors : int, default 5
        The number of nearest neighbours of each row. 0 leaves the term f'Rf out.
    graph : (W, R) or KNNGraph, optional
        What `knn_similarity` or `knn_graph` returned for `X`; by default the neighbours are searched. Do not pass it
        to `fastpu.select`: each of its folds needs a graph of its own.
    kernel : str or callable, default "linear"
        "linear" is x'z, "poly" (gamma x'z + coef0)^degree, "rbf" exp(-gamma |x - z|^2), "sigmoid" tanh(gamma x'z +
        coef0). "precomputed" means that `X` is the matrix of K. A function k(A, B) must return the kernel between the
        rows of two matrices, with shape (len(A), len(B)). The kernel must be positive semidefinite; "sigmoid" is so
        for some data only.
    gamma : float, "scale" or "auto", default "scale"
        "scale" is 1 / (d var(X)), with the variance of all entries of `X`; "auto" is 1 / d.
    degree : int, default 3
        The degree of "poly".
    coef0 : float, default 0.0
        The constant in "poly" and "sigmoid".
    tol : float, default 1e-9
        The fit ends when the duality gap is at most tol times the objective; in (0, 1).
    max_iter : int, default 200
        The most steps of the solver.
    n_components : int, optional
        The number of landmarks of Nystroem's method, for more rows than a kernel matrix has room for. The landmarks
        are rows drawn by `random_state`. The kernel is replaced by one of that rank which has the same values among
        the landmarks. By default the kernel is used as it is.
    random_state : int, numpy.random.Generator or None
        Draws the landmarks.
    n_threads : int, optional
        The most threads to use, BLAS's included; by default the CPUs that this process may use.
    callback : callable, optional
        ``callback(info: PualRound) -> bool``, called after every step. True ends the fit; later models are left out.
    progress : bool, default False
        Show a progress bar (tqdm if installed) that counts the steps.

    Returns
    -------
    PualMachine, or a list of them if a parameter is a sequence

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `y` has labelled negatives, no positive or no unlabelled row. The message
        names the argument. There is no `sample_weight`: a row that is repeated changes the neighbours.
    MemoryError
        If there is too little memory for the matrices. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If the duality gap exceeds tol times the objective. The message has both.
    DegenerateModelWarning
        If the model calls all training rows positive or all negative. That can be the minimum.
    ScaleWarning
        If columns are on very different scales, or `sigma` is so small that neighbours have no influence.

    Notes
    -----
    The problem is solved in its dual, a box-constrained quadratic programme with a variable for each labelled positive.
    Its matrix is the block of the positives in Z (lam + Z'SZ)^-1 Z' + 1 1' / (2 C_unl n_unl). The linear form takes
    O(n d^2) for products that all parameters share, O(d^3 + n_pos d^2) for each (lam, C_unl, sigma), and O(n_pos d^2)
    for each of some 15 steps. Its memory is O(n d + d^2), and with more features than rows that of a kernel. A kernel
    takes O(n^3), a third of n^3 multiplications for each (lam, C_unl, sigma), and memory for four matrices of n x n.
    Nystroem's method is the linear form with `n_components` features.

    R has a factor 1/n and the losses are sums, so the weight of the neighbours falls as n grows. Scale the features.

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
    parameters = check_points(C_pos=C_pos, C_unl=C_unl, lam=lam, sigma=sigma)
    options = PualOptions(
        kernel=check_kernel(kernel, gamma, degree, coef0),
        n_neighbors=check_int("n_neighbors", n_neighbors, low=0),
        tol=check_float("tol", tol, low=0, high=1, open_low=True, open_high=True),
        max_iter=check_int("max_iter", max_iter, low=1),
        n_components=check_components(n_components),
        generator=check_random_state(random_state),
        n_threads=resolve_n_threads(n_threads),
    )
    models: dict[int, JudgedModel] = {}
    with (
        make_report(callback, progress, total=None, description="PUAL") as report,
        one_blas_thread(options.n_threads),
    ):
        rows = open_pual_rows(X, y, options)
        neighbours = find_neighbours(graph, rows, options)
        points = parameters.with_median(neighbours.median)
        for system in systems(points, open_features(rows, options), neighbours):
            solutions = _solve(system, options, report)
            models |= judged_models(system, solutions, options)
            if solutions[-1].status == "callback":
                break
    neighbours.warn_if_lost("fit_pual", [points[number] for number in models])
    machines = finished_models(models, options, tol=options.tol)
    return machines[0] if parameters.is_one else machines


def _solve(system: PointsOfSystem, options: PualOptions, report: Report | None) -> list[Solution]:
    """Solve for points that differ in C_pos alone; a callback may leave out the last ones."""
    term = system.neighbour_term
    rows = term.features.rows

    def record(number: int, n_iter: int, objective: float, gap: float) -> PualRound:
        point = system.points[number]
        return PualRound(point.C_pos, point.C_unl, point.lam, point.sigma, n_iter, objective, gap)

    found = _core.solve_pual(
        term.with_unlabeled(system.C_unl),
        term.features.pos,
        term.factor,
        [point.C_pos for point in system.points],
        options.of_dual,
        C_unl=system.C_unl,
        lam=system.lam,
        n_unl=rows.unl.size,
        n_threads=rows.n_threads,
        callback=on_round(report, record),
    )
    alphas = np.array([each.alpha for each in found])
    weights = np.where(rows.is_unl, 2 * system.C_unl, 0.0)
    targets = -alphas.sum(axis=1)[:, None] / rows.unl.size * rows.is_unl
    targets[:, rows.pos] = alphas
    quadratics = [Quadratic(term, system.lam, weights, each) for each in targets]
    starts = residuals(quadratics, betas_of(term.factor, np.array([each.half for each in found])))
    return [_finish(*of_point, options.tol) for of_point in zip(system.points, found, quadratics, starts, strict=False)]


def _finish(point: Point, found: _core.PualSolution, quadratic: Quadratic, start: Residual, tol: float) -> Solution:
    """Return the minimum for alpha, with objective and gap computed from the scores of the rows."""
    term = quadratic.neighbour_term
    alpha, rows, C_unl = found.alpha, term.features.rows, point.C_unl
    n_unl, total = rows.unl.size, float(alpha.sum())
    beta, f, excess, misfit = quadratic.minimum(start, 0.01 * tol * found.objective)
    offset = total / (2 * C_unl * n_unl) - 1 - quadratic.mean(f)
    scores = f + offset
    lacks, of_unl = 1 - scores[rows.pos], 1 + scores[rows.unl]
    hinge = point.C_pos * np.maximum(lacks, 0)
    ridge = 0.5 * point.lam * float(beta @ beta)
    objective = ridge + float(hinge.sum()) + C_unl * float(of_unl @ of_unl) + term.value(f)
    gap = max(float((hinge - alpha * lacks).sum()), 0.0) + 0.5 * excess
    size = point.C_pos * alpha.size + C_unl * n_unl
    status = found.status
    if status in {"gap", "precision"}:
        status = "gap" if is_right(gap, objective, size, misfit, 2 * tol) else "precision"
    history = {
        "n_iter": np.append(found.iterations, found.n_iter),
        "objective": np.append(found.objectives, objective),
        "gap": np.append(found.gaps, gap),
    }
    return Solution(point, beta, offset, scores, status, history, alpha)
