"""Biased SVM: positive against unlabelled rows with two costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float
from fastpu.common._sharing import marked
from fastpu.data._training_rows import require_both
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.model._profile import keeps_profile
from fastpu.svm._arguments import cost_per_row
from fastpu.svm._fit import Posed
from fastpu.svm._grid import fit_posed
from fastpu.svm._solver import SvmRound, Task
from fastpu.svm.kernel_machine import KernelMachine


def _pose(n_rows: int, y: object, given: Mapping[str, Any]) -> Posed:
    costs = {name: check_float(name, given[name], low=0, open_low=True) for name in ("C", "C_pos", "C_unl")}
    labels = check_labels(y, n_rows, pu_only="fit_bsvm")
    weights = check_sample_weight(given["sample_weight"], n_rows)
    by_group = np.where(labels == 1, costs["C_pos"], costs["C_unl"])
    cost = cost_per_row(n_rows, {"C": costs["C"]}, {"C_pos or C_unl": by_group, "sample_weight": weights})
    signs = np.where(labels == 1, np.int8(1), np.int8(-1))
    require_both(signs, cost, "fit_bsvm", ("positive", "unlabelled"))
    return Posed(Task("fit_bsvm", "biased SVM", "c_svm", costs), signs, cost, weights)


@answers_unknown_keywords
@keeps_profile
@marked(poses_svm=_pose, takes_many=("C_pos", "C_unl", "C", "gamma"))
def fit_bsvm(
    X: object,
    y: object,
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
    sample_weight: object = None,
    n_threads: int | None = None,
    callback: Callable[[SvmRound], bool | None] | None = None,
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
    return fit_posed(fit_bsvm, locals())
