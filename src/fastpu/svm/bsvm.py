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
from fastpu.svm._svm_options import SvmOptions
from fastpu.svm._svm_point import SvmPoint, entries_together
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
    """Biased SVM (BSVM): a C-SVM of positive against unlabelled rows, with a cost for each of the two.

    It is for a smooth boundary in standardised columns, or for text (linear kernel, CSR), with some ten labelled rows
    or more. You choose the two costs, for example by `select`. With fewer labelled rows `fit_bagging_svm` ranks better.

    The fit minimises over w, b in the feature space of the kernel

        |w|^2 / 2 + C C_pos sum_P max(0, 1 - f(x_i)) + C C_unl sum_U max(0, 1 + f(x_i)),    f(x) = w'phi(x) + b.

    The unlabelled rows stand in for negatives. The smaller `C_unl` is, the less the positives hidden among them matter.
    If a model calls all rows positive, or none, one of the costs is far too large.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64 in C order, and CSR, are used without a copy. Kernel values have the
        type of `X`, but float64 for "poly". With ``kernel="precomputed"``: the symmetric matrix of kernel values
        between every two rows, of shape (n, n), dense.
    y : array-like of shape (n,)
        +1 for labelled positives and 0 for unlabelled rows. Also taken: {1, 0}, bool and {1, nan}; `fastpu.as_labels`
        converts other codings.
    C_pos, C_unl : float or sequence of floats
        Costs > 0 of a positive and of an unlabelled row, to be chosen on held-out rows. C_pos = C_unl * n_unl / n_pos
        gives both groups the same total cost. Sequences of `C_pos`, `C_unl`, `C` and `gamma`, of one length, fit a
        model for each entry and give a list of them. With the kernels "rbf", "poly" and "precomputed" these models
        share kernel rows and start from each other's solutions, unless there is a callback or a progress bar.
    C : float or sequence of floats, default 1.0
        > 0. It multiplies both costs.
    kernel : str or callable, default "linear"
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
        Weights >= 0 of the rows, which multiply the costs. A weight has the effect of repeating the row. Rows of weight
        0 are left out.
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
        If an argument is not as described, or if `y` has labelled negatives, no positive or no unlabelled row. The
        message names the argument, what is expected and what came.
    MemoryError
        If there is no memory for the work. The message says how much was wanted.

    Warns
    -----
    ConvergenceWarning
        If the fit ends before it meets `tol`, because `max_iter` is reached or because rounding leaves nothing to gain.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative.

    Notes
    -----
    With the linear kernel the engine of `fit_isvm` solves the problem: by coordinate descent for sparse or many
    features, O(entries of X) a round, else by an interior point method in some 15 passes of O(n d^2). With other
    kernels the solver is sequential minimal optimisation: an update costs O(n) and, unless they are cached, two kernel
    rows of O(n d). Memory: `cache_mb`, a copy of the rows (none for the linear kernel), the support vectors, and some
    200 bytes a row.

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
        SvmPoint(
            BiasedSvm.checked(C=cost, C_pos=cost_pos, C_unl=cost_unl, sample_weight=sample_weight),
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
        for cost, cost_pos, cost_unl, width in entries_together(C=C, C_pos=C_pos, C_unl=C_unl, gamma=gamma)
    ]
    models = fit_points(X, y, points, sample_weight=sample_weight, callback=callback, progress=progress)
    models = with_profiles(models, X, y, sample_weight)
    return models if is_sequence(C) or is_sequence(C_pos) or is_sequence(C_unl) or is_sequence(gamma) else models[0]
