"""Support vector machines with a cost for each row: C-SVM, nu-SVM and one-class SVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import is_sequence
from fastpu.common._sharing import marked
from fastpu.common._types import GammaLike, KernelLike, LabelsLike, MatrixLike, RoundCallback, VectorLike
from fastpu.model._with_profile import with_profiles
from fastpu.svm._fit_points import fit_points
from fastpu.svm._svm_methods import CSvm, NuSvm, OneClassSvm
from fastpu.svm._svm_point import entries_together
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.svm_round import SvmRound


@answers_unknown_keywords
@marked(svm_method=CSvm, takes_many=("C", "gamma"))
def fit_svm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C: float | Sequence[float] | NDArray[Any] = 1.0,
    sample_cost: VectorLike | None = None,
    kernel: KernelLike = "rbf",
    gamma: GammaLike | Sequence[GammaLike] | NDArray[Any] = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    max_iter: int | None = None,
    sample_weight: VectorLike | None = None,
    n_threads: int | None = None,
    callback: RoundCallback[SvmRound] | None = None,
    progress: bool = False,
) -> KernelMachine | list[KernelMachine]:
    """C-SVM, supervised, with a cost for each row.

    It is for labelled positives and labelled negatives: a supervised method to compare the others with, and a solver
    for a scheme of your own that gives every row a cost. For positive and unlabelled rows take `fit_bsvm` or
    `fit_bagging_svm`.

    The fit minimises over w, b in the feature space of the kernel

        |w|^2 / 2 + sum_i C_i max(0, 1 - y_i (w'phi(x_i) + b)),    C_i = C * sample_cost_i * sample_weight_i,

    through its dual: alpha'Q alpha / 2 - sum alpha, 0 <= alpha_i <= C_i, y'alpha = 0, Q_ij = y_i y_j K(x_i, x_j).

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Kernel values are of the type
        of `X`, and float64 for "poly". With ``kernel="precomputed"`` it is the symmetric dense matrix of shape (n, n)
        that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for positive rows, -1 for negative rows. Unlabelled rows (0) are refused.
    C : float or sequence of floats, default 1.0
        The cost of errors, > 0. A larger value allows fewer errors on the training rows.

        Each of `C` and `gamma` may be a sequence. Sequences must have one length; the fit then returns a list with a
        model for each entry, each of which meets `tol`. With the kernels "rbf", "poly" and "precomputed" these models
        share kernel rows and start from each other's solutions, unless there is a callback or a progress bar.
    sample_cost : array-like of shape (n,), optional
        Costs >= 0 of the rows, which multiply `C`, by default 1. Rows of cost 0 are left out.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "rbf"
        The kernel K(x, z) of two rows:

        - "linear" is x'z.
        - "poly" is (gamma x'z + coef0)^degree.
        - "rbf" is exp(-gamma |x - z|^2).
        - "sigmoid" is tanh(gamma x'z + coef0). It is not positive definite, so the problem is not convex, and the fit
          ends at one of several stationary points.
        - "precomputed" says that `X` holds the kernel values.
        - A function ``k(A, B)`` gets two matrices of rows, dense or CSR as `X` is, and returns their kernel values as a
          matrix of shape (len(A), len(B)). It must be symmetric, which is tested on a sample of rows before the fit. It
          runs on the calling thread.
    gamma : float, "scale" or "auto", or a sequence of these, default "scale"
        The width of the kernels "rbf", "poly" and "sigmoid", > 0. The larger it is for "rbf", the closer two rows must
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`, in which a row
        counts by its weight and rows of cost 0 are left out. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    cache_mb : float, default 200
        The most memory for kernel rows, in MiB, > 0. It changes the time, not the model. The linear kernel needs none.
    tol : float, default 1e-3
        The largest violation of an optimality (KKT) condition, > 0, with which the fit ends. It is that of LIBSVM.
    max_iter : int, optional
        The most steps of the solver, >= 1. A step changes a pair of dual variables. By default 10^7, or 100 n if that
        is more.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: SvmRound) -> bool | None``, called after every working set of rows. If it returns True, the fit
        ends with the solution so far.
    progress : bool, default False
        Whether to show a progress bar that counts working sets of rows. The bar is that of tqdm; without tqdm a line is
        printed to standard error every ten seconds.

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence
        The machine, with `support`, `dual_coef`, `coef` (linear kernel), `intercept`, `gap`, `status` and `history`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names the argument, what is expected and what came.
    MemoryError
        If there is too little memory. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If the fit ends before it meets `tol`: after `max_iter` steps, or because rounding errors hide any further gain.
        The warning has the violation and the duality gap. There is none where the linear kernel reaches a gap of 1e-9
        of the primal objective.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative.

    Notes
    -----
    The solver is sequential minimal optimisation with second-order working sets and shrinking. A step costs O(n) and,
    unless they are cached, two kernel rows of O(n d). The number of steps grows faster than n, and with C. For "rbf"
    and dense float64 rows the steps take kernel values in float32 where that is enough, and the result is checked in
    float64. Memory: `cache_mb`, a copy of the rows (none for the linear kernel), the support vectors, and some 200
    bytes a row.

    The linear kernel has two other solvers. With up to 2000 features it is an interior point method, in some 15 passes
    of O(n d^2), whatever `C` is; it ends at a duality gap of 1e-9 of the objective. Coordinate descent, in O(entries of
    X) a round, and conjugate gradients among the rows between their bounds are tried first for CSR and for more than
    200 features, and are the solver for more than 2000. The descent ends where `tol` is met, which can be far from the
    least objective where `C` is large. Sequential minimal optimisation follows if `tol` is not met yet. With a
    `max_iter` it is the only solver. `gap` is that of the coefficients that are kept.

    Where several intercepts are optimal, the model has the midpoint of their interval.

    References
    ----------
    Fan, Chen and Lin (2005), Working set selection using second order information for training SVM. Chang and Lin
    (2011), LIBSVM.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> model = fastpu.baselines.fit_svm(X, [1, 1, -1, -1], C=10, gamma=2.0)
    >>> model.predict(X)
    array([ 1,  1, -1, -1])
    >>> model.support
    array([0, 1, 2, 3])
    >>> [m.support.size for m in fastpu.baselines.fit_svm(X, [1, 1, -1, -1], C=[0.1, 10], gamma=2.0)]
    [4, 4]
    """
    points = [
        CSvm.point(
            C=cost,
            sample_cost=sample_cost,
            sample_weight=sample_weight,
            kernel=kernel,
            gamma=width,
            degree=degree,
            coef0=coef0,
            cache_mb=cache_mb,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
        )
        for cost, width in entries_together(C=C, gamma=gamma)
    ]
    models = fit_points(X, y, points, sample_weight=sample_weight, callback=callback, progress=progress)
    models = with_profiles(models, X, y, sample_weight)
    return models if is_sequence(C) or is_sequence(gamma) else models[0]


@answers_unknown_keywords
@marked(svm_method=NuSvm, takes_many=("nu", "gamma"))
def fit_nu_svm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    nu: float | Sequence[float] | NDArray[Any] = 0.5,
    kernel: KernelLike = "rbf",
    gamma: GammaLike | Sequence[GammaLike] | NDArray[Any] = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    max_iter: int | None = None,
    sample_weight: VectorLike | None = None,
    n_threads: int | None = None,
    callback: RoundCallback[SvmRound] | None = None,
    progress: bool = False,
) -> KernelMachine | list[KernelMachine]:
    """nu-SVM, supervised: a C-SVM that is told a share of errors in place of the cost C.

    It is for labelled positives and labelled negatives, where you would rather name a share of errors than a cost. For
    positive and unlabelled rows take `fastpu.fit_bsvm` or `fastpu.fit_bagging_svm`.

    The fit minimises the dual alpha'Q alpha / 2 with Q_ij = y_i y_j K(x_i, x_j), 0 <= alpha_i <= w_i, y'alpha = 0 and
    sum alpha = nu W, where w are the weights and W is their sum. Then it divides alpha and the intercept by the margin
    rho of the solution, so that support vectors on the margin have f = +1 or -1, as LIBSVM does.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Kernel values are of the type
        of `X`, and float64 for "poly". With ``kernel="precomputed"`` it is the symmetric dense matrix of shape (n, n)
        that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for positive rows, -1 for negative rows. Unlabelled rows (0) are refused.
    nu : float or sequence of floats, default 0.5
        In (0, 1]. At most this share of the rows lies within the margin or on its wrong side, and at least this share
        are support vectors. It must be at most 2 min(W+, W-) / W, with W+ and W- the sums of the weights of the two
        classes; so the default is refused if fewer than a quarter of the rows are of one class.

        Each of `nu` and `gamma` may be a sequence. Sequences must have one length; the fit then returns a list with a
        model for each entry.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "rbf"
        The kernel K(x, z) of two rows:

        - "linear" is x'z.
        - "poly" is (gamma x'z + coef0)^degree.
        - "rbf" is exp(-gamma |x - z|^2).
        - "sigmoid" is tanh(gamma x'z + coef0). It is not positive definite, so the problem is not convex, and the fit
          ends at one of several stationary points.
        - "precomputed" says that `X` holds the kernel values.
        - A function ``k(A, B)`` gets two matrices of rows, dense or CSR as `X` is, and returns their kernel values as a
          matrix of shape (len(A), len(B)). It must be symmetric, which is tested on a sample of rows before the fit. It
          runs on the calling thread.
    gamma : float, "scale" or "auto", or a sequence of these, default "scale"
        The width of the kernels "rbf", "poly" and "sigmoid", > 0. The larger it is for "rbf", the closer two rows must
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`, in which a row
        counts by its weight. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    cache_mb : float, default 200
        The most memory for kernel rows, in MiB, > 0. It changes the time, not the model. The linear kernel needs none.
    tol : float, default 1e-3
        The largest violation of an optimality (KKT) condition, > 0, with which the fit ends. It is that of LIBSVM.
    max_iter : int, optional
        The most steps of the solver, >= 1. A step changes a pair of dual variables. By default 10^7, or 100 n if that
        is more.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: SvmRound) -> bool | None``, called after every working set of rows. If it returns True, the fit
        ends with the solution so far.
    progress : bool, default False
        Whether to show a progress bar that counts working sets of rows. The bar is that of tqdm; without tqdm a line is
        printed to standard error every ten seconds.

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence
        Its `margin` is rho, and its `objective` that of the dual before the division.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `nu` is too large for the classes. The message names the argument, what
        is expected and what came.
    MemoryError
        If there is too little memory. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If the fit ends before it meets `tol`: after `max_iter` steps, or because rounding errors hide any further gain.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative. Also if rho is 0 within `tol`, because the
        kernel cannot reach as few errors as `nu` allows: the scores then mean nothing.

    Notes
    -----
    The solver is sequential minimal optimisation with second-order working sets and shrinking. A step costs O(n) and,
    unless they are cached, two kernel rows of O(n d). Memory: `cache_mb`, a copy of the rows, the support vectors, and
    some 200 bytes a row.

    References
    ----------
    Schölkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms. Chang and Lin (2001), Training
    nu-support vector classifiers.

    Examples
    --------
    >>> import fastpu
    >>> model = fastpu.baselines.fit_nu_svm([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1], nu=0.5, kernel="linear")
    >>> model.predict([[1.4], [1.6]])
    array([-1,  1])
    """
    points = [
        NuSvm.point(
            nu=share,
            sample_weight=sample_weight,
            kernel=kernel,
            gamma=width,
            degree=degree,
            coef0=coef0,
            cache_mb=cache_mb,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
        )
        for share, width in entries_together(nu=nu, gamma=gamma)
    ]
    models = fit_points(X, y, points, sample_weight=sample_weight, callback=callback, progress=progress)
    models = with_profiles(models, X, y, sample_weight)
    return models if is_sequence(nu) or is_sequence(gamma) else models[0]


@answers_unknown_keywords
def fit_one_class_svm(
    X: MatrixLike,
    *,
    nu: float | Sequence[float] | NDArray[Any] = 0.1,
    kernel: KernelLike = "rbf",
    gamma: GammaLike | Sequence[GammaLike] | NDArray[Any] = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    max_iter: int | None = None,
    sample_weight: VectorLike | None = None,
    n_threads: int | None = None,
    callback: RoundCallback[SvmRound] | None = None,
    progress: bool = False,
) -> KernelMachine | list[KernelMachine]:
    """One-class SVM: a region that holds nearly all of the rows, from rows of one kind alone.

    It is for when there are no unlabelled rows like those to be judged. Where there are some, methods that use them are
    better: `nu` and `gamma` cannot be chosen by positive rows alone.

    The fit minimises the dual alpha'K alpha / 2 with 0 <= alpha_i <= w_i and sum alpha = nu W, where w are the weights
    and W is their sum. The scores are f(x) = sum_i alpha_i K(x_i, x) - rho.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of the class, for example the labelled positives. float32 and float64, in C order or CSR, are used without
        a copy. Kernel values are of the type of `X`, and float64 for "poly". With ``kernel="precomputed"`` it is the
        symmetric dense matrix of shape (n, n) that holds the kernel value of every two rows.
    nu : float or sequence of floats, default 0.1
        In (0, 1]. At most this share of the rows lies outside, and at least this share are support vectors.

        Each of `nu` and `gamma` may be a sequence. Sequences must have one length; the fit then returns a list with a
        model for each entry.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "rbf"
        The kernel K(x, z) of two rows:

        - "linear" is x'z.
        - "poly" is (gamma x'z + coef0)^degree.
        - "rbf" is exp(-gamma |x - z|^2).
        - "sigmoid" is tanh(gamma x'z + coef0). It is not positive definite, so the problem is not convex, and the fit
          ends at one of several stationary points.
        - "precomputed" says that `X` holds the kernel values.
        - A function ``k(A, B)`` gets two matrices of rows, dense or CSR as `X` is, and returns their kernel values as a
          matrix of shape (len(A), len(B)). It must be symmetric, which is tested on a sample of rows before the fit. It
          runs on the calling thread.
    gamma : float, "scale" or "auto", or a sequence of these, default "scale"
        The width of the kernels "rbf", "poly" and "sigmoid", > 0. The larger it is for "rbf", the closer two rows must
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`, in which a row
        counts by its weight. "auto" is 1 / d.
    degree : int, default 3
        The degree of the kernel "poly", from 0 to 1000.
    coef0 : float, default 0.0
        The constant of the kernels "poly" and "sigmoid", any finite number.
    cache_mb : float, default 200
        The most memory for kernel rows, in MiB, > 0. It changes the time, not the model. The linear kernel needs none.
    tol : float, default 1e-3
        The largest violation of an optimality (KKT) condition, > 0, with which the fit ends. It is that of LIBSVM.
    max_iter : int, optional
        The most steps of the solver, >= 1. A step changes a pair of dual variables. By default 10^7, or 100 n if that
        is more.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Rows of weight 0 are left out.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: SvmRound) -> bool | None``, called after every working set of rows. If it returns True, the fit
        ends with the solution so far.
    progress : bool, default False
        Whether to show a progress bar that counts working sets of rows. The bar is that of tqdm; without tqdm a line is
        printed to standard error every ten seconds.

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence
        Its `margin` is rho, and its intercept -rho. Its `threshold` is at most `tol` below 0, so that rows on the
        boundary are inside: only training rows whose alpha is at its bound can be called -1.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names the argument, what is expected and what came.
    MemoryError
        If there is too little memory. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If the fit ends before it meets `tol`: after `max_iter` steps, or because rounding errors hide any further gain.
    DegenerateModelWarning
        If the model calls all training rows negative, or if rho is 0 within `tol`. The latter happens with the linear
        kernel where rows lie on all sides of the origin: the scores then mean nothing.

    Notes
    -----
    The solver is sequential minimal optimisation with second-order working sets and shrinking. A step costs O(n) and,
    unless they are cached, two kernel rows of O(n d). Memory: `cache_mb`, a copy of the rows, the support vectors, and
    some 200 bytes a row.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), Estimating the support of a high-dimensional
    distribution.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> model = fastpu.baselines.fit_one_class_svm(X, nu=0.05, gamma=0.1)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """
    points = [
        OneClassSvm.point(
            nu=share,
            sample_weight=sample_weight,
            kernel=kernel,
            gamma=width,
            degree=degree,
            coef0=coef0,
            cache_mb=cache_mb,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
        )
        for share, width in entries_together(nu=nu, gamma=gamma)
    ]
    models = fit_points(X, None, points, sample_weight=sample_weight, callback=callback, progress=progress)
    models = with_profiles(models, X, None, sample_weight)
    return models if is_sequence(nu) or is_sequence(gamma) else models[0]
