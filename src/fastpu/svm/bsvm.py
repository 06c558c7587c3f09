"""Biased SVM: positive against unlabelled rows with two costs."""

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
from fastpu.svm._svm_methods import BiasedSvm
from fastpu.svm._svm_point import entries_together
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.svm_round import SvmRound


@answers_unknown_keywords
@marked(svm_method=BiasedSvm, takes_many=("C_pos", "C_unl", "C", "gamma"))
def fit_bsvm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C_pos: float | Sequence[float] | NDArray[Any],
    C_unl: float | Sequence[float] | NDArray[Any],
    C: float | Sequence[float] | NDArray[Any] = 1.0,
    kernel: KernelLike = "linear",
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
    """Biased SVM (BSVM): a C-SVM of positive against unlabelled rows, with a cost for each of the two kinds.

    It is for a smooth boundary in standardised columns, or for text (linear kernel, CSR), with some ten labelled rows
    or more. You choose the two costs, for example by `select`. With fewer labelled rows `fit_bagging_svm` ranks better.

    The fit minimises over w, b in the feature space of the kernel

        |w|^2 / 2 + C C_pos sum_P max(0, 1 - f(x_i)) + C C_unl sum_U max(0, 1 + f(x_i)),    f(x) = w'phi(x) + b.

    The unlabelled rows stand in for negatives. The smaller `C_unl` is, the less harm the positives hidden among them
    do. If a model calls all rows positive, or none, one of the costs is far too large.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Kernel values are of the type
        of `X`, and float64 for "poly". With ``kernel="precomputed"`` it is the symmetric dense matrix of shape (n, n)
        that holds the kernel value of every two rows.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    C_pos, C_unl : float or sequence of floats
        The cost of an error on a positive and on an unlabelled row, > 0. Choose them on held-out rows, for example by
        `select`. With C_pos = C_unl * n_unl / n_pos both groups have the same total cost.

        Each of `C_pos`, `C_unl`, `C` and `gamma` may be a sequence. All sequences must have one length; the fit then
        returns a list with a model for each entry. With the kernels "rbf", "poly" and "precomputed" these models share
        kernel rows and start from each other's solutions, unless there is a callback or a progress bar.
    C : float or sequence of floats, default 1.0
        A factor of both costs, > 0.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default "linear"
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
        Weights >= 0, which multiply the costs. A weight counts as that many repetitions of the row. Rows of weight 0
        are left out.
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
        If an argument is not as described, or if `y` has labelled negatives, no positive or no unlabelled row. The
        message names the argument, what is expected and what came.
    MemoryError
        If there is too little memory. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If the fit ends before it meets `tol`: after `max_iter` steps, or because rounding errors hide any further gain.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative.

    Notes
    -----
    With the linear kernel and up to 2000 features the solver is an interior point method, in some 15 passes of O(n
    d^2). Coordinate descent, in O(entries of X) a round, is tried first for CSR and for more than 200 features, and is
    the solver for more than 2000. With other kernels it is sequential minimal optimisation: a step costs O(n) and,
    unless they are cached, two kernel rows of O(n d). Memory: `cache_mb`, a copy of the rows (none for the linear
    kernel), the support vectors, and some 200 bytes a row.

    References
    ----------
    Liu, Dai, Li, Lee and Yu (2003), Building text classifiers using positive and unlabeled examples.

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]]
    >>> model = fastpu.fit_bsvm(X, [0, 0, 1, 1, 0, 0], C_pos=30, C_unl=10)
    >>> model.predict(X)
    array([-1, -1,  1,  1, -1,  1])
    """
    points = [
        BiasedSvm.point(
            C=cost,
            C_pos=cost_pos,
            C_unl=cost_unl,
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
        for cost, cost_pos, cost_unl, width in entries_together(C=C, C_pos=C_pos, C_unl=C_unl, gamma=gamma)
    ]
    models = fit_points(X, y, points, sample_weight=sample_weight, callback=callback, progress=progress)
    models = with_profiles(models, X, y, sample_weight)
    return models if is_sequence(C) or is_sequence(C_pos) or is_sequence(C_unl) or is_sequence(gamma) else models[0]
