"""Biased SVM: positive against unlabelled rows with two costs."""

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
from fastpu.svm._svm_methods import BiasedSvm
from fastpu.svm._svm_options import SvmOptions
from fastpu.svm._svm_point import SvmPoint, entries_together
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.svm_round import SvmRound


@answers_unknown_keywords
@keeps_profile
@marked(svm_method=BiasedSvm, takes_many=("C_pos", "C_unl", "C", "gamma"))
def fit_bsvm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C_pos: float | Sequence[float] | NDArray[Any],
    C_unl: float | Sequence[float] | NDArray[Any],
    C: float | Sequence[float] | NDArray[Any] = 1.0,
    kernel: str | Callable[..., object] = "linear",
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
    """Biased SVM (BSVM): a C-SVM of positive against unlabelled rows, with a cost for each of the two.

    It is for a smooth boundary in standardised columns, or for text (linear kernel, CSR), with some ten labelled rows
    or more, and two costs that you choose, for example by `select`. With fewer labelled rows `fit_bagging_svm` ranks
    better.

    The fit minimises over w, b in the feature space of the kernel

        |w|^2 / 2 + C C_pos sum_P max(0, 1 - f(x_i)) + C C_unl sum_U max(0, 1 + f(x_i)),    f(x) = w'phi(x) + b.

    The unlabelled rows stand in for negatives, and the smaller `C_unl` is, the less the positives hidden among them
    matter. A model that calls all rows positive, or none, means that one of the costs is far too large. Errors,
    warnings, time and memory are those of `fit_svm`, with a ValueError if `y` has labelled negatives, no positive or no
    unlabelled row.

    Parameters
    ----------
    X, gamma, degree, coef0, cache_mb, tol, max_iter, n_threads, callback, progress
        As in `fit_svm`.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; also {1, 0}, bool or {1, nan}. See `fastpu.as_labels`.
    C_pos, C_unl : float or sequence of floats
        Costs > 0 of a positive and of an unlabelled row, to be chosen on held-out rows. C_pos = C_unl * n_unl / n_pos
        gives both groups the same total cost. Sequences of these, `C` and `gamma` as those of `C` in `fit_svm`.
    C : float or sequence of floats, default 1.0
        > 0, multiplies both.
    kernel : str or callable, default "linear"
        As in `fit_svm`.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0 that multiply the costs; equal to repeating rows. Rows of weight 0 are left out.

    Returns
    -------
    KernelMachine, or a list of them if an argument is a sequence

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
    return models if is_sequence(C) or is_sequence(C_pos) or is_sequence(C_unl) or is_sequence(gamma) else models[0]
