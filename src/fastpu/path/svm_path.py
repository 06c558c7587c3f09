"""The whole regularisation path of an SVM: `fit_svm_path` and `fit_pu_svm_path`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_int
from fastpu.common._progress import Report, make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import GammaLike, KernelLike, LabelsLike, MatrixLike, RoundCallback, VectorLike
from fastpu.data._kept_rows import RowArrays, float64_row_arrays
from fastpu.data._matrix import Matrix
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._training_rows import require_both
from fastpu.data._validate import check_labels
from fastpu.kernels._check_rows import check_training_rows
from fastpu.kernels._kernel import check_kernel, resolve_gamma
from fastpu.model._with_profile import with_profile
from fastpu.path._follow import follow_path, history_of, is_complete, weights_of
from fastpu.path._options import PathOptions, check_row_costs
from fastpu.path._path_warnings import warn_of_path
from fastpu.path._points import PathRound
from fastpu.path.path_model import SVMPath
from fastpu.svm._svm_options import check_cache
from fastpu.svm._svm_problem import check_supervised


@answers_unknown_keywords
def fit_svm_path(
    X: MatrixLike,
    y: LabelsLike,
    *,
    sample_cost: VectorLike | None = None,
    kernel: KernelLike = "rbf",
    gamma: GammaLike = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    lam_min: float = 0.0,
    max_events: int | None = None,
    cache_mb: float = 200,
    n_threads: int | None = None,
    callback: RoundCallback[PathRound] | None = None,
    progress: bool = False,
) -> SVMPath:
    """Find all solutions of the weighted SVM over its regularisation, with every breakpoint (SvmPath).

    It is for labelled positives and labelled negatives, up to a few thousand rows, if you want the best cost of all
    rather than the best of a grid, or want to see how the machine changes with it. For one given cost take
    `fastpu.baselines.fit_svm`.

    The fit finds, for all lam > 0 at once, the minimisers over w, b in the feature space of the kernel of

        sum_i c_i max(0, 1 - y_i (w'phi(x_i) + b)) + lam |w|^2 / 2,

    where a row with c_i = inf must have y_i f(x_i) >= 1. For a given lam this is the C-SVM with C_i = c_i / lam.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. They are converted to float64 once if they have another dtype. With ``kernel="precomputed"``
        it is the symmetric dense matrix of shape (n, n) that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for positive rows, -1 for negative rows. Unlabelled rows (0) are refused; they are for
        `fit_pu_svm_path`.
    sample_cost : array-like of shape (n,), optional
        The costs c of the rows, by default 1. Each is 0, infinite, or in [1e-100, 1e100]; infinite costs are allowed in
        one of the classes. Rows of cost 0 are left out.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "rbf"
        The kernel K(x, z) of two rows, which must be positive semidefinite:

        - "linear" is x'z.
        - "poly" is (gamma x'z + coef0)^degree.
        - "rbf" is exp(-gamma |x - z|^2).
        - "sigmoid" is tanh(gamma x'z + coef0). It is positive semidefinite for some data only. Where the path meets a
          direction of negative curvature, it ends with the status "indefinite".
        - "precomputed" says that `X` holds the kernel values.
        - A function ``k(A, B)`` gets two matrices of rows and returns their kernel values as a matrix of shape (len(A),
          len(B)). It must be symmetric, which is tested on a sample of rows.
    gamma : float, "scale" or "auto", default "scale"
        The width of the kernels "rbf", "poly" and "sigmoid", > 0. The larger it is for "rbf", the closer two rows must
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`, rows of cost 0 left
        out. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    lam_min : float, default 0.0
        The path stops at this lam, >= 0, or at its last breakpoint if that is larger; below the last breakpoint f does
        not change any more, and is known for every lam. With 0 the path goes on to its last breakpoint, or until
        float64 is too coarse to show the margin.
    max_events : int, optional
        The most events of the path, >= 1: rows that arrive at the margin or leave it (`SVMPath.events`). The path ends
        at the breakpoint where it has had so many. By default 50 n + 1000, some ten times what paths have.
    cache_mb : float, default 200
        The most memory for kernel rows, in MiB, > 0. It changes the time, not the path: if it holds fewer than n^2
        values of 8 bytes, rows are computed again.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The path is the same, bit
        by bit, for any number.
    callback : callable, optional
        ``callback(info: PathRound) -> bool | None``, called at every breakpoint. If it returns True, the path ends
        there.
    progress : bool, default False
        Whether to show a progress bar that counts breakpoints. The bar is that of tqdm; without tqdm a line is printed
        to standard error every ten seconds.

    Returns
    -------
    SVMPath
        The path. `at` gives the machine at any lam, and `select` the best one. `decision_function` and `predict` are
        those of the end of the path.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `y` has unlabelled rows, no positive or no negative row. The message
        names the argument.
    MemoryError
        If there is too little memory for the kernel rows or the path.

    Warns
    -----
    ConvergenceWarning
        If the path ends early: status "max_events", "stalled", "precision" or "indefinite".
    DegenerateModelWarning
        If w = 0 for every lam (status "trivial"): all rows are then called the same.
    ScaleWarning
        If columns are on very different scales.

    Notes
    -----
    A path is trivial if the cost-weighted mean of the class whose costs sum to less lies in the convex hull of the
    other class (reduced by its costs). This is common where few positives are labelled and all others count as
    negative.

    Each breakpoint with m rows on the margin takes O(n m + m^2), and the kernel values take n^2 d. A path has some
    0.1 n to 4 n breakpoints. Memory: `cache_mb`, m^2 / 2 values, a copy of the rows, and m values for each breakpoint.

    Rows that arrive at the margin together, repeated rows and singular systems are dealt with by a directional
    quadratic programme at the breakpoint. Newton steps keep rounding errors from adding up. Rows that are nearer to
    each other than some 1e-7 of their norm in feature space are the same to a kernel matrix in float64. With the linear
    kernel and up to 128 columns no kernel matrix is formed: the path carries lam w itself, and a column a million times
    as large as others does no harm to it.

    References
    ----------
    Hastie, Rosset, Tibshirani and Zhu (2004), The entire regularization path for the support vector machine.

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [1.0], [1.5], [2.0], [2.5], [4.0]]
    >>> path = fastpu.fit_svm_path(X, [-1, -1, 1, -1, 1, 1], kernel="linear")
    >>> path.lams.round(3)
    array([10.  ,  2.  ,  0.75])
    >>> path.at(0.5).predict(X)
    array([-1, -1, -1,  1,  1,  1])
    >>> path.status
    'zero'
    """
    options = PathOptions(
        kernel=check_kernel(kernel, gamma, degree, coef0),
        lam_min=check_float("lam_min", lam_min, low=0),
        max_events=None if max_events is None else check_int("max_events", max_events, low=1),
        cache_bytes=check_cache(cache_mb),
        n_threads=resolve_n_threads(n_threads),
    )
    matrix = check_training_rows(X, options.kernel, "fit_svm_path")
    labels = check_supervised(y, matrix.n_rows, "fit_svm_path")
    costs = np.ones(matrix.n_rows) if sample_cost is None else check_row_costs(sample_cost, labels, "sample_cost")
    require_both(labels, costs, "fit_svm_path", ("positive", "negative"))
    with make_report(callback, progress, total=None, description="SVM path") as report:
        path = _path_of_rows(matrix, labels, costs, options, {"method": "fit_svm_path"}, report)
    warn_of_path("fit_svm_path", path)
    return path if path.kernel == "precomputed" else with_profile(path, *path.rows_and_labels())


@answers_unknown_keywords
def fit_pu_svm_path(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C_pos: float = math.inf,
    C_unl: float = 1.0,
    kernel: KernelLike = "linear",
    gamma: GammaLike = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    lam_min: float = 0.0,
    max_events: int | None = None,
    cache_mb: float = 200,
    n_threads: int | None = None,
    callback: RoundCallback[PathRound] | None = None,
    progress: bool = False,
) -> SVMPath:
    """PU-SvmPath: find all solutions of the SVM that must call every labelled positive positive.

    It is for positives whose labels are certain, classes that overlap little, and up to a few thousand rows:
    `SVMPath.select` then finds the best regularisation of all. Where classes overlap, give a finite `C_pos`, or all
    rows may be called positive.

    The fit finds, for all lam > 0 at once, the minimisers over w, b in the feature space of the kernel of

        C_unl sum_U max(0, 1 + f(x_i)) + lam |w|^2 / 2   subject to  f(x_i) >= 1 for all labelled positives,

    or, with a finite `C_pos` for positives that may be wrong, of C_pos sum_P max(0, 1 - f(x_i)) + C_unl sum_U max(0, 1
    + f(x_i)) + lam |w|^2 / 2. A `C_pos` that no dual variable reaches on the path has the effect of an infinite one.
    With an infinite `C_pos` the path is trivial if the mean of the unlabelled rows lies in the convex hull of the
    labelled ones: all rows are then called positive. Use `SVMPath.select` to choose lam.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. They are converted to float64 once if they have another dtype. With ``kernel="precomputed"``
        it is the symmetric dense matrix of shape (n, n) that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    C_pos : float, default inf
        The cost of an error on a labelled positive row: infinite, or in [1e-100, 1e100].
    C_unl : float, default 1.0
        The cost of an error on an unlabelled row, in [1e-100, 1e100]. Unlabelled rows count as negative.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "linear"
        The kernel K(x, z) of two rows, which must be positive semidefinite:

        - "linear" is x'z.
        - "poly" is (gamma x'z + coef0)^degree.
        - "rbf" is exp(-gamma |x - z|^2).
        - "sigmoid" is tanh(gamma x'z + coef0). It is positive semidefinite for some data only. Where the path meets a
          direction of negative curvature, it ends with the status "indefinite".
        - "precomputed" says that `X` holds the kernel values.
        - A function ``k(A, B)`` gets two matrices of rows and returns their kernel values as a matrix of shape (len(A),
          len(B)). It must be symmetric, which is tested on a sample of rows.
    gamma : float, "scale" or "auto", default "scale"
        The width of the kernels "rbf", "poly" and "sigmoid", > 0. The larger it is for "rbf", the closer two rows must
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`, rows of cost 0 left
        out. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    lam_min : float, default 0.0
        The path stops at this lam, >= 0, or at its last breakpoint if that is larger; below the last breakpoint f does
        not change any more, and is known for every lam. With 0 the path goes on to its last breakpoint, or until
        float64 is too coarse to show the margin.
    max_events : int, optional
        The most events of the path, >= 1: rows that arrive at the margin or leave it (`SVMPath.events`). The path ends
        at the breakpoint where it has had so many. By default 50 n + 1000, some ten times what paths have.
    cache_mb : float, default 200
        The most memory for kernel rows, in MiB, > 0. It changes the time, not the path: if it holds fewer than n^2
        values of 8 bytes, rows are computed again.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The path is the same, bit
        by bit, for any number.
    callback : callable, optional
        ``callback(info: PathRound) -> bool | None``, called at every breakpoint. If it returns True, the path ends
        there.
    progress : bool, default False
        Whether to show a progress bar that counts breakpoints. The bar is that of tqdm; without tqdm a line is printed
        to standard error every ten seconds.

    Returns
    -------
    SVMPath
        The path. Its `labels` are -1 for unlabelled rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `y` has labelled negatives, no positive or no unlabelled row. The message
        names the argument.
    MemoryError
        If there is too little memory for the kernel rows or the path.

    Warns
    -----
    ConvergenceWarning
        If the path ends early: status "max_events", "stalled", "precision" or "indefinite".
    DegenerateModelWarning
        If w = 0 for every lam (status "trivial"): all rows are then called the same.
    ScaleWarning
        If columns are on very different scales.

    Notes
    -----
    Each breakpoint with m rows on the margin takes O(n m + m^2), and the kernel values take n^2 d. A path has some 0.1
    n to 4 n breakpoints. Memory: `cache_mb`, m^2 / 2 values, a copy of the rows, and m values for each breakpoint. With
    the linear kernel and up to 128 columns no kernel matrix is formed. Newton steps keep rounding errors from adding
    up. Rows that are nearer to each other than some 1e-7 of their norm in feature space are the same to a kernel matrix
    in float64.

    References
    ----------
    Yao, Tang and Li, "The entire solution path for support vector machine in positive and unlabeled classification".

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]]
    >>> path = fastpu.fit_pu_svm_path(X, [0, 0, 1, 1, 0, 0])
    >>> path.predict(X)
    array([-1, -1,  1,  1, -1, -1])
    >>> path.select("puf", X, [0, 0, 1, 1, 0, 0]).params["lam"] > 0
    True
    """
    cost_pos = check_float("C_pos", C_pos, low=0, open_low=True, allow_inf=True)
    cost_unl = check_float("C_unl", C_unl, low=0, open_low=True)
    options = PathOptions(
        kernel=check_kernel(kernel, gamma, degree, coef0),
        lam_min=check_float("lam_min", lam_min, low=0),
        max_events=None if max_events is None else check_int("max_events", max_events, low=1),
        cache_bytes=check_cache(cache_mb),
        n_threads=resolve_n_threads(n_threads),
    )
    matrix = check_training_rows(X, options.kernel, "fit_pu_svm_path")
    warn_of_other_order(X, y=y)
    is_pos = check_labels(y, matrix.n_rows, pu_only="fit_pu_svm_path") == 1
    labels = np.where(is_pos, np.int8(1), np.int8(-1))
    costs = check_row_costs(np.where(is_pos, cost_pos, cost_unl), labels, "C_pos or C_unl")
    own = {"method": "fit_pu_svm_path", "C_pos": cost_pos, "C_unl": cost_unl}
    with make_report(callback, progress, total=None, description="SVM path") as report:
        path = _path_of_rows(matrix, labels, costs, options, own, report)
    warn_of_path("fit_pu_svm_path", path)
    return path if path.kernel == "precomputed" else with_profile(path, *path.rows_and_labels())


def _path_of_rows(
    matrix: Matrix,
    labels: NDArray[np.int8],
    costs: NDArray[np.float64],
    options: PathOptions,
    own_params: Mapping[str, Any],
    report: Report | None,
) -> SVMPath:
    """Follow the path of the rows whose cost is not 0."""
    rows = np.flatnonzero(costs > 0).astype(np.int64)
    counts = None if rows.size == costs.size else (costs > 0).astype(np.float64)
    kernel = resolve_gamma(options.kernel, matrix, counts)
    result = follow_path(
        matrix, rows, labels[rows], costs[rows], kernel, options.n_threads, options.limits(rows.size), report=report
    )
    history = history_of(result)
    is_kept = kernel.name != "precomputed"
    train = float64_row_arrays(matrix[rows]) if is_kept else RowArrays[NDArray[np.float64]]()
    return SVMPath(
        n_features=matrix.n_features,
        feature_names=matrix.feature_names,
        threshold=0.0,
        n_iter=history["lam"].size,
        converged=is_complete(result),
        status=result.status,
        objective=history["objective"],
        history=history,
        params={**own_params, **options.params()},
        kernel=kernel.name,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        function=kernel.function,
        rows=rows,
        labels=labels[rows],
        costs=costs[rows],
        heavier=result.heavier,
        start_alpha=result.start_alpha,
        knots=result.knots,
        offsets=result.offsets,
        weights=weights_of(result),
        change_start=result.change_start,
        change_row=result.change_row,
        change_alpha=result.change_alpha,
        event_knot=result.event_knot,
        event_kind=result.event_kind,
        event_row=result.event_row,
        violation=result.violation,
        train_dense=train.dense,
        train_data=train.data,
        train_indices=train.indices,
        train_indptr=train.indptr,
    )
