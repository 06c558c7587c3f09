"""Biased least-squares SVM: squared losses on positives and unlabelled rows, with two costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._sharing import marked
from fastpu.model._profile import keeps_profile
from fastpu.pual._arguments import PualOptions, PualRound
from fastpu.pual._fit import fit_points
from fastpu.pual.gllc import solve_least_squares
from fastpu.pual.pual_machine import PualMachine


@answers_unknown_keywords
@keeps_profile
@marked(shares=("C_pos", "C_unl", "lam"), shares_together=True)
def fit_bls_svm(
    X: object,
    y: object,
    *,
    C_pos: float | Sequence[float] | NDArray[Any] = 1.0,
    C_unl: float | Sequence[float] | NDArray[Any] = 0.1,
    lam: float | Sequence[float] | NDArray[Any] = 1.0,
    sample_weight: object = None,
    kernel: str | Callable[..., object] = "linear",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    n_components: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[PualRound], bool | None] | None = None,
    progress: bool = False,
) -> PualMachine | list[PualMachine]:
    """Biased least-squares SVM (BLS-SVM): `fit_gllc` without neighbours.

    It is the quickest classifier with a kernel and a cost for each group. Fit it beside `fit_gllc` to see what
    neighbours contribute.

    The fit minimises over w, b in the feature space of the kernel, with f(x) = w'phi(x) + b,

        lam/2 |w|^2 + C_pos sum_P (1 - f(x_i))^2 + C_unl sum_U (1 + f(x_i))^2

    in closed form; with weights, each row's loss counts as often as its weight says. Errors and warnings are those of
    `fit_pual`, time and memory those of `fit_gllc`.

    Parameters
    ----------
    X, y, C_pos, C_unl, lam, kernel, gamma, degree, coef0, n_components, random_state, n_threads
        As in `fit_pual`.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; equal to repeating rows. Rows of weight 0 are left out. Landmarks are drawn from the others,
        whatever their weights are.
    callback, progress
        As in `fit_gllc`.

    Returns
    -------
    PualMachine, or a list of them if a parameter is a sequence
        Its `gap` is what rounding errors leave of the gradient, and its `alpha` is None.

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
    given = locals()
    return fit_points(PualOptions("fit_bls_svm", "BLS-SVM", given), given, solve_least_squares)
