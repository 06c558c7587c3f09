"""PUAL: hinge loss on positives, squared loss on unlabelled rows, and a penalty for neighbours whose scores differ."""

from __future__ import annotations

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_int, check_random_state
from fastpu.common._progress import make_report, on_round
from fastpu.common._sharing import marked
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import GammaLike, KernelLike, LabelsLike, MatrixLike, RandomState, RoundCallback
from fastpu.kernels._kernel import check_kernel
from fastpu.model._with_profile import with_profiles
from fastpu.pual._features import open_features
from fastpu.pual._models import JudgedModel, finished_models, judged_models
from fastpu.pual._neighbours import GraphLike, find_neighbours
from fastpu.pual._options import PualOptions, check_components
from fastpu.pual._parameter_points import NumberOrMany, SigmaOrMany, check_points
from fastpu.pual._pual_rows import open_pual_rows
from fastpu.pual._systems import systems
from fastpu.pual.pual_machine import PualMachine, PualRound


@answers_unknown_keywords
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
        Rows of features, in float32 or float64. With ``kernel="precomputed"`` it is the symmetric dense matrix of shape
        (n, n) that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    C_pos, C_unl : float or sequence of floats, defaults 1.0 and 0.1
        The costs of a positive row and of an unlabelled row, in [1e-100, 1e100]. They multiply sums, not means, as in
        the paper.

        Each of `C_pos`, `C_unl`, `lam` and `sigma` may be a sequence. All sequences must have one length; the function
        then returns a list with a model for each entry, equal to those of single calls. Neighbours, kernel values and
        factors are computed once for all models that share them.
    lam : float or sequence of floats, default 1.0
        The weight of the ridge penalty |w|^2 / 2, in [1e-100, 1e100]. A larger value makes the scores vary less.
    sigma : "median", float or sequence of these, default "median"
        The scale of the similarities: a squared length, in the units of `X` squared, in [1e-100, 1e100]. "median" is
        the median of the squared lengths of the graph's edges (if that is 0, of the lengths that are not 0).
        Similarities are then around exp(-1), whatever the scale of the rows and the number of columns. `params` holds
        the number. The paper uses 1.0. `sigma` has no influence if `graph` is a pair (W, R).
    n_neighbors : int, default 5
        The number of nearest neighbours of each row, >= 0. With 0 the term f'Rf is left out.
    graph : (W, R) or KNNGraph, optional
        What `knn_similarity` or `knn_graph` returned for `X`. By default the neighbours are searched. Do not pass it to
        `fastpu.select`: each of its folds needs a graph of its own.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "linear"
        The kernel K(x, z) of two rows, which must be positive semidefinite:

        - "linear" is x'z.
        - "poly" is (gamma x'z + coef0)^degree.
        - "rbf" is exp(-gamma |x - z|^2).
        - "sigmoid" is tanh(gamma x'z + coef0). It is positive semidefinite for some data only.
        - "precomputed" says that `X` holds the kernel values.
        - A function ``k(A, B)`` gets two matrices of rows and returns their kernel values as a matrix of shape (len(A),
          len(B)).
    gamma : float, "scale" or "auto", default "scale"
        The width of the kernels "rbf", "poly" and "sigmoid", > 0. The larger it is for "rbf", the closer two rows must
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    tol : float, default 1e-9
        The fit ends when the duality gap is at most this share of the objective, in (0, 1).
    max_iter : int, default 200
        The most steps of the solver, >= 1.
    n_components : int, optional
        The number of landmarks of Nystroem's method, >= 1, for more rows than a kernel matrix has room for. The
        landmarks are drawn from the rows. The kernel is replaced by one of that rank, which has the same values among
        the landmarks. By default the kernel is used as it is.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the landmarks. An int gives the same result in every call. A generator is drawn
        from, and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. BLAS keeps to it too.
        With another number of threads, or another BLAS, the last digits of the model may differ.
    callback : callable, optional
        ``callback(info: PualRound) -> bool | None``, called after every step of the solver. If it returns True, the fit
        ends, and later models are left out.
    progress : bool, default False
        Whether to show a progress bar that counts steps of the solver. The bar is that of tqdm; without tqdm a line is
        printed to standard error every ten seconds.

    Returns
    -------
    PualMachine, or a list of them if a parameter is a sequence
        The model, with `coef` (linear kernel) or `support` and `dual_coef`, `intercept`, `alpha`, `gap`, `status` and
        `history`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `y` has labelled negatives, no positive or no unlabelled row. The message
        names the argument, what is expected and what came.
    MemoryError
        If there is too little memory for the matrices. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If the duality gap exceeds `tol` times the objective. The message gives both.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative. The minimum itself can do so.
    ScaleWarning
        If columns are on very different scales, or `sigma` is so small that neighbours have no influence.

    Notes
    -----
    The problem is solved in its dual, a box-constrained quadratic programme with a variable for each labelled positive.
    With Z the centred rows and S the weights of the quadratic terms, its matrix is the block of the positives in Z (lam
    + Z'SZ)^-1 Z' + 1 1' / (2 C_unl n_unl). The linear form takes O(n d^2) for products that all parameters share, O(d^3
    + n_pos d^2) for each (lam, C_unl, sigma), and O(n_pos d^2) for each of some 15 steps. Its memory is O(n d + d^2),
    and with more features than rows that of a kernel. A kernel takes O(n^3), a third of n^3 multiplications for each
    (lam, C_unl, sigma), and memory for four matrices of n x n. Nystroem's method is the linear form with `n_components`
    features.

    R has a factor 1/n and the losses are sums, so the weight of the neighbours falls as n grows. Scale the features.
    There is no `sample_weight`, because a repeated row changes the neighbours.

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
        features = open_features(rows, options)
        solver = features.solver()
        for system in systems(points, features, neighbours):
            solutions = solver.solve_pual(
                system.laplacian,
                system.gram,
                C_unl=system.C_unl,
                lam=system.lam,
                costs=system.costs,
                options=options.of_dual,
                callback=on_round(report, system.round),
                n_threads=options.n_threads,
            )
            models |= judged_models(system, solutions, features, options)
            if solutions[-1].status == "callback":
                break
    neighbours.warn_if_lost("fit_pual", [points[number] for number in models])
    machines = with_profiles(finished_models(models, options, tol=options.tol), X, y)
    return machines[0] if parameters.is_one else machines
