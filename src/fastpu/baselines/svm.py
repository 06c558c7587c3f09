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
from fastpu.svm._svm_options import SvmOptions
from fastpu.svm._svm_point import SvmPoint, entries_together
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
        Rows of features. float32 and float64 in C order, and CSR, are used without a copy. Kernel values have the
        type of `X`, but float64 for "poly". With ``kernel="precomputed"``: the symmetric matrix of kernel values
        between every two rows, of shape (n, n), dense.
    y : array-like of shape (n,)
        +1 for positive and -1 for negative rows. Unlabelled rows (0) are refused.
    C : float or sequence of floats, default 1.0
        > 0. A larger value allows fewer errors on the training rows. Sequences of `C` and `gamma`, of one length, fit a
        model for each entry and give a list of them. With the kernels "rbf", "poly" and "precomputed" these models
        share kernel rows and start from each other's solutions, unless there is a callback or a progress bar. Each
        meets `tol`.
    sample_cost : array-like of shape (n,), optional
        Costs >= 0 of the rows, which multiply `C`. Rows of cost 0 are left out.
    kernel : str or callable, default "rbf"
        "linear" is x'z, "poly" (gamma x'z + coef0)^degree, "rbf" exp(-gamma |x - z|^2), and "sigmoid" tanh(gamma x'z +
        coef0). With "precomputed" `X` holds the kernel values. A function k(A, B) returns the kernel between the rows
        of two matrices, of shape (len(A), len(B)). It gets rows of `X`, dense or CSR as `X` is, on the calling thread.
        It must be symmetric: a sample of rows is tested before the fit. "sigmoid" is not positive definite, so that
        the dual problem is not convex: the fit then ends at one of several stationary points.
    gamma : float, "scale" or "auto", or a sequence of these, default "scale"
        Width of the kernels "rbf", "poly" and "sigmoid". "scale" is 1 / (d var(X)), with the variance of all entries
        of `X` (rows of cost 0 left out, the others counted by `sample_weight`). "auto" is 1 / d.
    degree : int, default 3
        Degree of the kernel "poly".
    coef0 : float, default 0.0
        Constant of the kernels "poly" and "sigmoid".
    cache_mb : float, default 200
        Most memory for kernel rows, in MiB. It changes the time, not the model. The linear kernel needs none.
    tol : float, default 1e-3
        The fit ends when no optimality (KKT) condition is violated by more than this, as in LIBSVM.
    max_iter : int, optional
        Most updates of a pair of dual variables; by default 10^7, or 100 n if that is more.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0 of the rows. A weight has the effect of repeating the row. Rows of weight 0 are left out.
    n_threads : int, optional
        Most threads to use; by default the CPUs that this process may use. The model does not depend on it.
    callback : callable, optional
        ``callback(info: SvmRound) -> bool`` is called after every working set of rows. If it returns True, the fit
        ends.
    progress : bool, default False
        Show a progress bar that counts working sets (with tqdm if it is installed).

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names the argument, what is expected and what came.
    MemoryError
        If there is no memory for the work. The message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If the fit ends before it meets `tol`, because `max_iter` is reached or because rounding leaves nothing to gain.
        The warning has the violation and the duality gap. There is none where the linear kernel reaches a gap of 1e-9
        of the primal objective.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative.

    Notes
    -----
    The solver is sequential minimal optimisation with second-order working sets and shrinking. An update costs O(n)
    and, unless they are cached, two kernel rows of O(n d). The number of updates grows faster than n, and with C. For
    "rbf" and dense float64 rows the steps take kernel values in float32 where that is enough, and the result is checked
    in float64. Memory: `cache_mb`, a copy of the rows (none for the linear kernel), the support vectors, and some 200
    bytes a row.

    With the linear kernel the engine of `fit_isvm` solves the problem, for dense rows and for CSR. Sparse or many
    features are solved by coordinate descent, O(entries of X) a round, and by conjugate gradients among the rows
    between their bounds, as long as that converges. All else, up to 2000 features, is solved by an interior point
    method in some 15 passes of O(n d^2), whatever `C` is. The descent ends where `tol` is met, which can be far from
    the least objective where `C` is large. The interior point method ends at a duality gap of 1e-9 of the objective.
    `gap` is that of the coefficients that are kept. Pair updates follow only where `tol` is not met yet; they go first
    where dense rows have more than 200 features, and more features than there are rows. With a `max_iter` only pair
    updates are made.

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
        SvmPoint(
            CSvm.checked(C=cost, sample_cost=sample_cost, sample_weight=sample_weight),
            SvmOptions.checked(
                kernel=kernel,
                gamma=width,
                degree=degree,
                coef0=coef0,
                cache_mb=cache_mb,
                tol=tol,
                max_iter=max_iter,
                n_threads=n_threads,
            ),
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
    """nu-SVM, supervised: the C-SVM whose share of support vectors is chosen in place of C.

    It is for labelled positives and labelled negatives, where you would rather name a share of errors than a cost. For
    positive and unlabelled rows take `fit_bsvm` or `fit_bagging_svm`.

    The fit minimises the dual alpha'Q alpha / 2 with 0 <= alpha_i <= w_i, y'alpha = 0 and sum alpha = nu W, where w are
    the weights and W their sum. Then it divides alpha and the intercept by the margin rho of the solution, so that free
    support vectors have f = +1 and -1, as LIBSVM does.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64 in C order, and CSR, are used without a copy. Kernel values have the
        type of `X`, but float64 for "poly". With ``kernel="precomputed"``: the symmetric matrix of kernel values
        between every two rows, of shape (n, n), dense.
    y : array-like of shape (n,)
        +1 for positive and -1 for negative rows. Unlabelled rows (0) are refused.
    nu : float or sequence of floats, default 0.5
        In (0, 1]: at most this share of the rows lies within the margin or on its wrong side, and at least this share
        are support vectors. It must be at most 2 min(W+, W-) / W, with the weights W+ and W- of the two classes, so
        that the default is refused where fewer than a quarter of the rows are of one class. Sequences of `nu` and
        `gamma`, of one length, fit a model for each entry and give a list of them.
    kernel : str or callable, default "rbf"
        "linear" is x'z, "poly" (gamma x'z + coef0)^degree, "rbf" exp(-gamma |x - z|^2), and "sigmoid" tanh(gamma x'z +
        coef0). With "precomputed" `X` holds the kernel values. A function k(A, B) returns the kernel between the rows
        of two matrices, of shape (len(A), len(B)). It gets rows of `X`, dense or CSR as `X` is, on the calling thread.
        It must be symmetric: a sample of rows is tested before the fit. "sigmoid" is not positive definite, so that
        the dual problem is not convex: the fit then ends at one of several stationary points.
    gamma : float, "scale" or "auto", or a sequence of these, default "scale"
        Width of the kernels "rbf", "poly" and "sigmoid". "scale" is 1 / (d var(X)), with the variance of all entries
        of `X` (counted by `sample_weight`). "auto" is 1 / d.
    degree : int, default 3
        Degree of the kernel "poly".
    coef0 : float, default 0.0
        Constant of the kernels "poly" and "sigmoid".
    cache_mb : float, default 200
        Most memory for kernel rows, in MiB. It changes the time, not the model. The linear kernel needs none.
    tol : float, default 1e-3
        The fit ends when no optimality (KKT) condition is violated by more than this, as in LIBSVM.
    max_iter : int, optional
        Most updates of a pair of dual variables; by default 10^7, or 100 n if that is more.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0 of the rows. A weight has the effect of repeating the row. Rows of weight 0 are left out.
    n_threads : int, optional
        Most threads to use; by default the CPUs that this process may use. The model does not depend on it.
    callback : callable, optional
        ``callback(info: SvmRound) -> bool`` is called after every working set of rows. If it returns True, the fit
        ends.
    progress : bool, default False
        Show a progress bar that counts working sets (with tqdm if it is installed).

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence
        Its `margin` is rho, and its `objective` that of the dual before the division.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `nu` is too large for the classes; the message has the largest that is
        possible. The message names the argument, what is expected and what came.
    MemoryError
        If there is no memory for the work. The message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If the fit ends before it meets `tol`, because `max_iter` is reached or because rounding leaves nothing to gain.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative. Also if rho is 0 within `tol`, because the
        kernel cannot reach as few errors as `nu` allows: the scores then mean nothing.

    Notes
    -----
    The solver is sequential minimal optimisation with second-order working sets and shrinking. An update costs O(n)
    and, unless they are cached, two kernel rows of O(n d). Memory: `cache_mb`, a copy of the rows, the support vectors,
    and some 200 bytes a row.

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
        SvmPoint(
            NuSvm.checked(nu=share, sample_weight=sample_weight),
            SvmOptions.checked(
                kernel=kernel,
                gamma=width,
                degree=degree,
                coef0=coef0,
                cache_mb=cache_mb,
                tol=tol,
                max_iter=max_iter,
                n_threads=n_threads,
            ),
        )
        for share, width in entries_together(nu=nu, gamma=gamma)
    ]
    models = fit_points(X, y, points, sample_weight=sample_weight, callback=callback, progress=progress)
    models = with_profiles(models, X, y, sample_weight)
    return models if is_sequence(nu) or is_sequence(gamma) else models[0]


@answers_unknown_keywords
@marked(svm_method=OneClassSvm, takes_many=("nu", "gamma"))
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
    """One-class SVM: a region that holds all but a share of the rows, from rows of one kind alone.

    It is for when there are no unlabelled rows like those to be judged. Where there are some, methods that use them are
    better: `nu` and `gamma` cannot be chosen by positive rows alone.

    The fit minimises the dual alpha'K alpha / 2 with 0 <= alpha_i <= w_i and sum alpha = nu W, where w are the weights
    and W their sum; f(x) = sum_i alpha_i K(x_i, x) - rho.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features of the class, for example the labelled positives. float32 and float64 in C order, and CSR, are
        used without a copy. Kernel values have the type of `X`, but float64 for "poly". With ``kernel="precomputed"``:
        the symmetric matrix of kernel values between every two rows, of shape (n, n), dense.
    nu : float or sequence of floats, default 0.1
        In (0, 1]: at most this share of the rows lies outside, and at least this share are support vectors. Sequences
        of `nu` and `gamma`, of one length, fit a model for each entry and give a list of them.
    kernel : str or callable, default "rbf"
        "linear" is x'z, "poly" (gamma x'z + coef0)^degree, "rbf" exp(-gamma |x - z|^2), and "sigmoid" tanh(gamma x'z +
        coef0). With "precomputed" `X` holds the kernel values. A function k(A, B) returns the kernel between the rows
        of two matrices, of shape (len(A), len(B)). It gets rows of `X`, dense or CSR as `X` is, on the calling thread.
        It must be symmetric: a sample of rows is tested before the fit. "sigmoid" is not positive definite, so that
        the dual problem is not convex: the fit then ends at one of several stationary points.
    gamma : float, "scale" or "auto", or a sequence of these, default "scale"
        Width of the kernels "rbf", "poly" and "sigmoid". "scale" is 1 / (d var(X)), with the variance of all entries
        of `X` (counted by `sample_weight`). "auto" is 1 / d.
    degree : int, default 3
        Degree of the kernel "poly".
    coef0 : float, default 0.0
        Constant of the kernels "poly" and "sigmoid".
    cache_mb : float, default 200
        Most memory for kernel rows, in MiB. It changes the time, not the model. The linear kernel needs none.
    tol : float, default 1e-3
        The fit ends when no optimality (KKT) condition is violated by more than this, as in LIBSVM.
    max_iter : int, optional
        Most updates of a pair of dual variables; by default 10^7, or 100 n if that is more.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0 of the rows. A weight has the effect of repeating the row. Rows of weight 0 are left out.
    n_threads : int, optional
        Most threads to use; by default the CPUs that this process may use. The model does not depend on it.
    callback : callable, optional
        ``callback(info: SvmRound) -> bool`` is called after every working set of rows. If it returns True, the fit
        ends.
    progress : bool, default False
        Show a progress bar that counts working sets (with tqdm if it is installed).

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
        If there is no memory for the work. The message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If the fit ends before it meets `tol`, because `max_iter` is reached or because rounding leaves nothing to gain.
    DegenerateModelWarning
        If the model calls all training rows negative, or if rho is 0 within `tol`. The latter happens with the linear
        kernel where rows lie on all sides of the origin: the scores then mean nothing.

    Notes
    -----
    The solver is sequential minimal optimisation with second-order working sets and shrinking. An update costs O(n)
    and, unless they are cached, two kernel rows of O(n d). Memory: `cache_mb`, a copy of the rows, the support vectors,
    and some 200 bytes a row.

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
        SvmPoint(
            OneClassSvm.checked(nu=share, sample_weight=sample_weight),
            SvmOptions.checked(
                kernel=kernel,
                gamma=width,
                degree=degree,
                coef0=coef0,
                cache_mb=cache_mb,
                tol=tol,
                max_iter=max_iter,
                n_threads=n_threads,
            ),
        )
        for share, width in entries_together(nu=nu, gamma=gamma)
    ]
    models = fit_points(X, None, points, sample_weight=sample_weight, callback=callback, progress=progress)
    models = with_profiles(models, X, None, sample_weight)
    return models if is_sequence(nu) or is_sequence(gamma) else models[0]
