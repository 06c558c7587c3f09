"""BPSI: the biased SVM with the psi loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, is_sequence
from fastpu.common._progress import Report, make_report
from fastpu.common._sharing import marked
from fastpu.common._types import LabelsLike, MatrixLike, RoundCallback, VectorLike
from fastpu.model._with_profile import with_profiles
from fastpu.svm._fit_threads import fit_at_once, n_fits_at_once
from fastpu.svm._fitted_cost import FittedCost
from fastpu.svm._margin_costs import check_costs
from fastpu.svm._margin_problem import MarginSolver
from fastpu.svm._margin_rows import MarginOptions, MarginRows, open_margin_rows
from fastpu.svm._margin_warnings import warn_of_flaws
from fastpu.svm._psi_descent import descend_with_costs
from fastpu.svm._row_costs import MOST_COST, cost_per_row
from fastpu.svm.linear_machine import LinearMachine
from fastpu.svm.margin_round import MarginRound


@answers_unknown_keywords
@marked(shares=("C",))
def fit_bpsi(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C_pos: float,
    C_unl: float,
    C: float | Sequence[float] | NDArray[Any] = 1.0,
    max_iter: int = 100,
    solver_tol: float = 1e-9,
    solver_max_iter: int | None = None,
    solver: Literal["exact", "iadmm"] = "exact",
    sample_weight: VectorLike | None = None,
    n_threads: int | None = None,
    callback: RoundCallback[MarginRound] | None = None,
    progress: bool = False,
) -> LinearMachine | list[LinearMachine]:
    """BPSI, biased psi-learning: positive against unlabelled rows with two costs, and a loss of at most 1.

    It is for data that suit a linear `fastpu.fit_bsvm`, but whose hidden positives or outliers pull its boundary. With
    small costs it can collapse to a model that calls all rows the same.

    The fit goes downhill in

        |w|^2 / 2 + C C_pos sum_P psi(f(x_i)) + C C_unl sum_U psi(-f(x_i)),    f(x) = w'x + b,

    with the psi loss psi(z) = min(1, max(0, 1 - z)) = max(0, 1 - z) + min(z, 0). It starts at the solution for max(0, 1
    - z), which is that of `fastpu.fit_bsvm` with the linear kernel. Then min(z, 0) is replaced by s z, with s = 1 where
    z < 0 at the last classifier and 0 elsewhere. This is a convex problem. It is solved again and again, until the set
    of rows with s = 1 comes back. A row costs at most 1, however wrong it is, so a positive row among the unlabelled
    ones does little harm.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Bring the features to one
        scale, for example by standardising them.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    C_pos, C_unl : float
        The cost of an error on a positive and on an unlabelled row, > 0. Choose them on held-out rows. The paper has
        C_pos = C_unl (1 - v) / v with v from 0.01 to 0.15.
    C : float or sequence of floats, default 1.0
        A factor of both costs, > 0. A sequence gives a list of models, which are, bit by bit, those of single fits.
        Without a callback several are fitted at a time, each in a thread.
    max_iter : int, default 100
        The most steps after the first classifier, >= 1. Three are usual.
    solver_tol : float, default 1e-9
        The duality gap at which the solver of a sub-problem stops, as a share of the objective, in (0, 1).
    solver_max_iter : int, optional
        The most iterations of the solver in one sub-problem, >= 1. By default each solver has its own limit.
    solver : {"exact", "iadmm"}, default "exact"
        "exact" is an interior-point and active-set method for up to 2000 features. It tries coordinate descent first
        for CSR, and for more than 200 features. For more than 2000 features it is coordinate descent, or sequential
        minimal optimisation where that converges slowly. "iadmm" is the paper's alternating direction method, with the
        errors of its print corrected.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0, which multiply the costs. A weight counts as that many repetitions of the row. Rows of weight 0
        are left out.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: MarginRound) -> bool | None``, called after each of the classifiers f_0, f_1 and so on. If it
        returns True, the fit ends. Values of `C` that have not been fitted by then are left out.
    progress : bool, default False
        Whether to show a progress bar that counts the classifiers f_0, f_1 and so on. The bar is that of tqdm; without
        tqdm a line is printed to standard error every ten seconds.

    Returns
    -------
    LinearMachine, or a list of them if `C` is a sequence
        Its status is "repeat", "collapsed", "max_iter" or "callback". It has no `pseudo_labels`.

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
        If `max_iter` is reached, or a sub-problem is not solved to `solver_tol`. The message gives its duality gap.
    DegenerateModelWarning
        If the psi loss has collapsed to w = 0, as it does for small costs, or if the model calls all training rows the
        same.

    Notes
    -----
    The objective never increases. The end is a fixed point of the iteration, not always the least minimum. Each step is
    one weighted SVM: some 10 to 20 times O(n d^2) without a start, and less from the last solution.

    References
    ----------
    Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples", section 5.1 and
    Algorithm 2.

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]]
    >>> model = fastpu.baselines.fit_bpsi(X, [0, 0, 1, 1, 0, 0], C_pos=30, C_unl=10)
    >>> model.predict(X)
    array([-1, -1,  1,  1, -1,  1])
    """
    cost_pos = check_float("C_pos", C_pos, low=0, open_low=True)
    cost_unl = check_float("C_unl", C_unl, low=0, open_low=True)
    options = MarginOptions.checked(
        max_iter=max_iter,
        solver_tol=solver_tol,
        solver_max_iter=solver_max_iter,
        solver=solver,
        n_threads=n_threads,
    )
    costs = check_costs(C)
    params = {"C_pos": cost_pos, "C_unl": cost_unl, **options.params()}
    with make_report(callback, progress, total=None, description="BPSI") as on_round:
        rows = open_margin_rows(X, y, sample_weight, "fit_bpsi", options.n_threads, is_relative=False)
        of_group = np.where(rows.is_labelled, cost_pos, cost_unl)
        for extreme in (min(costs), max(costs)):  # if these are possible, so are all between them
            _costs_of_rows(rows, extreme, of_group)
        fits = _fit_costs(costs, of_group, rows, options, params, on_round)
    warn_of_flaws([fit.flaws for fit in fits], "fit_bpsi")
    models = with_profiles([fit.model for fit in fits], X, y, sample_weight)
    return models if is_sequence(C) else models[0]


def _fit_costs(
    costs: Sequence[float],
    of_group: NDArray[np.float64],
    rows: MarginRows,
    options: MarginOptions,
    params: Mapping[str, object],
    on_round: Report | None,
) -> list[FittedCost]:
    """Return the fits for all values of C, or those up to the one that a callback stops."""
    n_workers = n_fits_at_once(len(costs), rows, options.n_threads, has_callback=on_round is not None)
    solver = MarginSolver(rows, options.core_options, max(1, options.n_threads // n_workers))

    def fit_cost(C: float) -> FittedCost:
        fit = descend_with_costs(solver, C, _costs_of_rows(rows, C, of_group), options.max_iter, on_round)
        return FittedCost.of(fit, options, {"method": "fit_bpsi", "C": C, **params})

    if n_workers > 1:
        return fit_at_once(fit_cost, costs, rows, n_workers)
    fits: list[FittedCost] = []
    for C in costs:
        fits.append(fit_cost(C))
        if fits[-1].model.status == "callback":
            break
    return fits


def _costs_of_rows(rows: MarginRows, C: float, of_group: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cost of each row: C times that of its group, times its weight."""
    costs = cost_per_row(of_group.size, {"C": C}, {"C_pos or C_unl": of_group, "sample_weight": rows.weights})
    if costs.max() > MOST_COST:
        raise ValueError(
            f"C * C_pos * sample_weight and C * C_unl * sample_weight must be at most {MOST_COST:g} in every row, "
            f"got {costs.max():g}"
        )
    return costs
