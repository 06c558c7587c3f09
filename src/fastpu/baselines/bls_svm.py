"""Biased least-squares SVM: squared losses on positives and unlabelled rows, with two costs."""

from __future__ import annotations

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_random_state
from fastpu.common._progress import make_report, on_round
from fastpu.common._sharing import marked
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import GammaLike, KernelLike, LabelsLike, MatrixLike, RandomState, RoundCallback, VectorLike
from fastpu.kernels._kernel import check_kernel
from fastpu.model._with_profile import with_profiles
from fastpu.pual._features import open_features
from fastpu.pual._models import JudgedModel, finished_models, judged_models
from fastpu.pual._neighbours import no_neighbours
from fastpu.pual._options import BlsSvmOptions, check_components
from fastpu.pual._parameter_points import NumberOrMany, check_points
from fastpu.pual._pual_rows import open_pual_rows
from fastpu.pual._systems import systems
from fastpu.pual.pual_machine import PualMachine, PualRound


@answers_unknown_keywords
@marked(shares=("C_pos", "C_unl", "lam"), shares_together=True)
def fit_bls_svm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C_pos: NumberOrMany = 1.0,
    C_unl: NumberOrMany = 0.1,
    lam: NumberOrMany = 1.0,
    sample_weight: VectorLike | None = None,
    kernel: KernelLike = "linear",
    gamma: GammaLike = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    n_components: int | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[PualRound] | None = None,
    progress: bool = False,
) -> PualMachine | list[PualMachine]:
    """Biased least-squares SVM (BLS-SVM): a squared loss with a cost for each group, in closed form.

    It is `fastpu.fit_gllc` without neighbours: the quickest classifier with a kernel and a cost for each group. Fit it
    beside `fastpu.fit_gllc` to see what neighbours contribute.

    The fit minimises over w, b in the feature space of the kernel, with f(x) = w'phi(x) + b,

        lam/2 |w|^2 + C_pos sum_P (1 - f(x_i))^2 + C_unl sum_U (1 + f(x_i))^2.

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

        Each of `C_pos`, `C_unl` and `lam` may be a sequence. All sequences must have one length; the function then
        returns a list with a model for each entry, equal to those of single calls. Kernel values and factors are
        computed once for all models that share them.
    lam : float or sequence of floats, default 1.0
        The weight of the ridge penalty |w|^2 / 2, in [1e-100, 1e100]. A larger value makes the scores vary less.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out. Landmarks are
        drawn from the other rows, whatever their weights are.
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
        ``callback(info: PualRound) -> bool | None``, called after every model. If it returns True, the fit ends, and
        later models are left out.
    progress : bool, default False
        Whether to show a progress bar that counts models. The bar is that of tqdm; without tqdm a line is printed to
        standard error every ten seconds.

    Returns
    -------
    PualMachine, or a list of them if a parameter is a sequence
        Its `gap` estimates what rounding errors leave of the gradient, and its `alpha` is None.

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
        If rounding errors leave a model that is not the minimum.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative. The minimum itself can do so.
    ScaleWarning
        If columns are on very different scales.

    Notes
    -----
    The linear form takes O(n d^2) for products that all parameters share, and O(d^3) for each (C_pos, C_unl, lam). Its
    memory is O(n d + d^2), and with more features than rows that of a kernel. A kernel takes O(n^3), and memory for
    four matrices of n x n. Nystroem's method is the linear form with `n_components` features.

    References
    ----------
    Ke, Lv, Zhang and others (2018), A biased least squares support vector machine based on Mahalanobis distance for PU
    learning, as (3) of Wang, Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data".

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]]
    >>> model = fastpu.baselines.fit_bls_svm(X, [0, 0, 1, 1, 0, 0], C_pos=1.0, C_unl=0.5, lam=0.01)
    >>> model.predict(X)
    array([-1, -1,  1,  1, -1,  1])
    """
    parameters = check_points(C_pos=C_pos, C_unl=C_unl, lam=lam, sigma=1.0)  # without neighbours sigma has no influence
    options = BlsSvmOptions(
        kernel=check_kernel(kernel, gamma, degree, coef0),
        n_components=check_components(n_components),
        generator=check_random_state(random_state),
        n_threads=resolve_n_threads(n_threads),
    )
    models: dict[int, JudgedModel] = {}
    with (
        make_report(callback, progress, total=None, description="BLS-SVM") as report,
        one_blas_thread(options.n_threads),
    ):
        rows = open_pual_rows(X, y, options, sample_weight)
        neighbours = no_neighbours(rows)
        points = parameters.with_median(neighbours.median)
        features = open_features(rows, options)
        solver = features.solver()
        for system in systems(points, features, neighbours):
            solutions = solver.solve_least_squares(
                system.laplacian,
                system.gram,
                C_unl=system.C_unl,
                lam=system.lam,
                costs=system.costs,
                callback=on_round(report, system.round),
                n_threads=options.n_threads,
            )
            models |= judged_models(system, solutions, features, options)
            if solutions[-1].status == "callback":
                break
    machines = with_profiles(finished_models(models, options), X, y, sample_weight)
    return machines[0] if parameters.is_one else machines
