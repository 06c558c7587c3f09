"""Support vector machines with a cost for each row: C-SVM, nu-SVM and one-class SVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import is_sequence
from fastpu.common._sharing import marked
from fastpu.common._types import LabelsLike, MatrixLike, RoundCallback, VectorLike
from fastpu.model._profile import keeps_profile
from fastpu.svm._fit_points import fit_points
from fastpu.svm._svm_methods import CSvm, NuSvm, OneClassSvm
from fastpu.svm._svm_options import SvmOptions
from fastpu.svm._svm_point import SvmPoint, entries_together
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.svm_round import SvmRound


@answers_unknown_keywords
@keeps_profile
@marked(svm_method=CSvm, takes_many=("C", "gamma"))
def fit_svm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C: float | Sequence[float] | NDArray[Any] = 1.0,
    sample_cost: VectorLike | None = None,
    kernel: str | Callable[..., object] = "rbf",
    gamma: float | str | Sequence[float | str] | NDArray[Any] = "scale",
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

    It is for labelled positives and labelled negatives. It is the supervised method that the others can be compared
    with, and the solver for a scheme of your own that gives every row a cost. For positive and unlabelled rows take
    `fit_bsvm` or `fit_bagging_svm`.

    The fit minimises over w, b in the feature space of the kernel

        |w|^2 / 2 + sum_i C_i max(0, 1 - y_i (w'phi(x_i) + b)),    C_i = C * sample_cost_i * sample_weight_i,

    through its dual: alpha'Q alpha / 2 - sum alpha, 0 <= alpha_i <= C_i, y'alpha = 0, Q_ij = y_i y_j K(x_i, x_j).

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        float32 and float64, C-contiguous or CSR, are used without a copy; kernel values have the type of `X`, but
        float64 for "poly", for which float32 rows are converted. For "rbf" and dense float64 rows the solver's steps
        take values in float32 where that is enough, and the result is checked in float64. With
        ``kernel="precomputed"`` the symmetric matrix of K between every two rows, shape (n, n), dense.
    y : array-like of shape (n,)
        +1 positive, -1 negative. Unlabelled rows (0) are for `fit_bsvm` and others.
    C : float or sequence of floats, default 1.0
        > 0; the larger, the fewer errors on the training rows. Sequences of `C` and `gamma`, of one length, stand for
        that many models, an entry in each: a list of them comes back. With the kernels "rbf", "poly" and "precomputed"
        they share kernel rows and start from each other's solutions, if there is no callback; each meets `tol`.
    sample_cost : array-like of shape (n,), optional
        Costs >= 0 that multiply `C`; a row of cost 0 is left out.
    kernel : str or callable, default "rbf"
        "linear" x'z, "poly" (gamma x'z + coef0)^degree, "rbf" exp(-gamma |x - z|^2), "sigmoid" tanh(gamma x'z +
        coef0), "precomputed", or a function k(A, B) that returns the kernel between the rows of two matrices, shape
        (len(A), len(B)). It is called with rows of `X`, dense or CSR as `X` is, on the calling thread, and must be
        symmetric: a sample of rows is looked at before the fit. "sigmoid" is not positive definite: the dual is then
        not convex, and the fit ends at a stationary point, of which there may be several.
    gamma : float, "scale" or "auto", or a sequence of these, default "scale"
        "scale" is 1 / (d var(X)) with the variance of all entries of `X` (rows of cost 0 left out, the others counted
        by `sample_weight`), "auto" is 1 / d.
    degree : int, default 3
    coef0 : float, default 0.0
    cache_mb : float, default 200
        Most memory for kernel rows, in MiB. It changes the time only. The linear kernel needs none.
    tol : float, default 1e-3
        The fit ends when no KKT condition is violated by more, as in LIBSVM.
    max_iter : int, optional
        Most updates of a pair of dual variables; by default 10^7, or 100 n if that is more.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; equal to repeating rows.
    n_threads : int, optional
        Most threads to use; by default the CPUs this process may use. The model is bitwise the same for all.
    callback : callable, optional
        ``callback(info: SvmRound) -> bool``, called after every working set of rows; True stops the fit.
    progress : bool, default False
        Show a progress bar (tqdm if installed) that counts working sets.

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names it.
    MemoryError
        If the working memory cannot be had; the message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` is reached, or rounding leaves nothing to gain, before `tol` is met: with the violation and the
        duality gap. Not if that gap is at most 1e-9 of the primal objective with the linear kernel.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative.

    Notes
    -----
    Sequential minimal optimisation with second-order working sets and shrinking. An update costs O(n) and, unless
    they are cached, two kernel rows of O(n d); their number grows faster than n, and with C. The linear kernel forms
    no kernel rows. Memory: `cache_mb`, a copy of the rows (none for the linear kernel), the support vectors, and some
    200 bytes a row.

    With the linear kernel the engine of `fit_isvm` solves the problem, dense or CSR: for sparse or many features by
    coordinate descent, O(entries of X) a round, and conjugate gradients among the rows between their bounds, as long as
    that converges; else, up to 2000 features, by an interior point method, some 15 passes of O(n d^2) each, whatever
    `C` is. The descent ends where `tol` is met, which with a large `C` can be far from the least objective, and the
    interior point method at a duality gap of 1e-9 of it; `gap` is that of the coefficients that are kept. Pair updates
    follow only where `tol` is not met yet; they go first where dense rows have more than 200 features, and more than
    there are rows. With a `max_iter`, pair updates alone solve the problem.

    Where the intercept is not unique it is the midpoint of the interval of the best ones.

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
    return models if is_sequence(C) or is_sequence(gamma) else models[0]


@answers_unknown_keywords
@keeps_profile
@marked(svm_method=NuSvm, takes_many=("nu", "gamma"))
def fit_nu_svm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    nu: float | Sequence[float] | NDArray[Any] = 0.5,
    kernel: str | Callable[..., object] = "rbf",
    gamma: float | str | Sequence[float | str] | NDArray[Any] = "scale",
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
    the weights and W their sum; then divides alpha and the intercept by the margin rho that belongs to it, so that free
    support vectors have f = +1 and -1, as LIBSVM does. Errors, time and memory are those of
    `fit_svm`; a ValueError names the largest `nu` if it is too large for the classes.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
    y : array-like of shape (n,)
        +1 positive, -1 negative.
    nu : float or sequence of floats, default 0.5
        In (0, 1]: at most this share of the rows lies within the margin or on its wrong side, and at least this share
        are support vectors. It must be at most 2 min(W+, W-) / W, W+ and W- the weights of the two classes: the
        default is refused with a ValueError where fewer than a quarter of the rows are of one class. Sequences of `nu`
        and `gamma` as those of `C` in `fit_svm`.
    kernel, gamma, degree, coef0, cache_mb, tol, max_iter, sample_weight, n_threads, callback, progress
        As in `fit_svm`.

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence
        Its `margin` is rho, its `objective` that of the dual before the division.

    Warns
    -----
    ConvergenceWarning, DegenerateModelWarning
        As in `fit_svm`; the latter also if rho is 0 within `tol`, as it is where `nu` is smaller than any share of
        errors that the kernel can reach: the scores then mean nothing.

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
    return models if is_sequence(nu) or is_sequence(gamma) else models[0]


@answers_unknown_keywords
@keeps_profile
@marked(svm_method=OneClassSvm, takes_many=("nu", "gamma"))
def fit_one_class_svm(
    X: MatrixLike,
    *,
    nu: float | Sequence[float] | NDArray[Any] = 0.1,
    kernel: str | Callable[..., object] = "rbf",
    gamma: float | str | Sequence[float | str] | NDArray[Any] = "scale",
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
    and W their sum; f(x) = sum_i alpha_i K(x_i, x) - rho. Errors, time and memory are those of
    `fit_svm`.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of the class, for example the labelled positives.
    nu : float or sequence of floats, default 0.1
        In (0, 1]: at most this share of the rows lies outside, and at least this share are support vectors. Sequences
        of `nu` and `gamma` as those of `C` in `fit_svm`.
    kernel, gamma, degree, coef0, cache_mb, tol, max_iter, sample_weight, n_threads, callback, progress
        As in `fit_svm`.

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence
        Its `margin` is rho, and its intercept -rho. Its `threshold` is 0 less `tol` at most: rows on the boundary are
        inside, and of the training rows only some with alpha at its bound are called -1.

    Warns
    -----
    ConvergenceWarning
        As in `fit_svm`.
    DegenerateModelWarning
        If the model calls all training rows negative, or if rho is 0 within `tol`, as it is for the linear kernel
        where rows lie on all sides of the origin: the scores then mean nothing.

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
    return models if is_sequence(nu) or is_sequence(gamma) else models[0]
