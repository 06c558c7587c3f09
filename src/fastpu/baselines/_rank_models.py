"""The models of AUC by squared losses: one for each ridge weight, all from one quadratic, with their warnings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.baselines._pair_options import PairOptions
from fastpu.baselines._squared_pairs import PairLoss, PairTerm, Solution, solve_by_steps, solve_directly
from fastpu.baselines.rank_machine import RankMachine
from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._text import where_column
from fastpu.common._warn import warn
from fastpu.data._training_rows import TrainingRows
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._basis import Basis
from fastpu.kernels._scales import warn_of_scales
from fastpu.model._threshold import ScoredRowsInMemory

_MOST_DIRECT = 2000  # weights of a linear model whose matrix is made and factored


def solve_pairs(
    options: PairOptions, rows: TrainingRows, basis: Basis, terms: list[PairTerm]
) -> list[tuple[float, Solution]]:
    """Return each ridge weight with the minimum of the objective."""
    is_linear = options.model == "linear"
    if not is_linear or any(options.lams):  # else the scale of columns does not matter
        warn_of_scales(rows.matrix)
    solutions = []
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        loss = PairLoss(basis.features, rows, terms)
        is_direct = not is_linear or basis.features.n_features <= _MOST_DIRECT
        A = loss.matrix() if is_direct else np.zeros((0, 0))
        for lam in options.lams:
            _check_finite(options, rows, lam, loss.sizes + lam, loss.right, A)
            if is_direct:
                # Basis functions are in [0, 1], and their matrix has all digits that they have.
                solution = solve_directly(loss, A, lam, on_rows=is_linear)
            else:
                solution = solve_by_steps(loss, lam, options.tol, options.max_iter)
            _check_finite(options, rows, lam, solution.coef, np.array([*solution.residuals, *solution.objective]))
            solutions.append((lam, solution))
    return solutions


def _check_finite(options: PairOptions, rows: TrainingRows, lam: float, *arrays: NDArray[np.float64]) -> None:
    if all(np.isfinite(array).all() for array in arrays):
        return
    values = rows.matrix.entries
    at = max(int(values.argmax()), int(values.argmin()), key=lambda k: abs(float(values[k])))
    column = int(rows.matrix.indices[at]) if rows.matrix.is_sparse else at % rows.matrix.n_features
    raise ValueError(
        f"X must hold numbers whose squares can be added up for {options.function}, with lam = {lam:g} beside them, "
        f"got the largest {values[at]:g} in {where_column(column, rows.matrix.feature_names)}; scale the features, or "
        f"lower lam"
    )


def make_rank_models(
    options: PairOptions,
    rows: TrainingRows,
    basis: Basis,
    solutions: list[tuple[float, Solution]],
    own_params: dict[str, object],
    advice: str = "",
) -> list[RankMachine]:
    """Return the model of each solution.

    `own_params` are the parameters that the function alone has, for the record of the model. `advice` says what helps
    if the objective has no minimum.
    """
    models = []
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for lam, solution in solutions:
            params = {"method": options.function, **own_params, "lam": lam, **options.params()}
            models.append(_make_rank_model(options, rows, basis, solution, params, advice))
    return models


def _make_rank_model(
    options: PairOptions,
    rows: TrainingRows,
    basis: Basis,
    solution: Solution,
    params: dict[str, object],
    advice: str,
) -> RankMachine:
    history = {"residual": np.array(solution.residuals)}
    if solution.smallest is not None:
        history["smallest_eigenvalue"] = np.array([solution.smallest])
    centers = basis.center_arrays
    model = RankMachine(
        n_features=rows.matrix.n_features,
        feature_names=rows.matrix.feature_names,
        threshold=0.0,
        basis=basis.name,
        bandwidth=basis.bandwidth,
        centers_dense=centers.dense,
        centers_data=centers.data,
        centers_indices=centers.indices,
        centers_indptr=centers.indptr,
        n_iter=len(solution.objective) - 1,
        converged=solution.status in ("closed_form", "singular", "tol"),
        status=solution.status,
        objective=np.array(solution.objective),
        history=history,
        params=params,
        coef=solution.coef,
        intercept=0.0,
    )
    scored = ScoredRowsInMemory(rows.labels, rows.weights, rows.matrix, options.threads)
    model = scored.with_threshold(model)
    n_positive = int(np.count_nonzero(scored.scores(model) > model.threshold))
    trouble = ""
    if solution.status == "indefinite":
        reason = "" if solution.smallest is None else f": the smallest eigenvalue of A + lam is {solution.smallest:.3g}"
        trouble = f"the objective has no minimum{reason}. {advice}"
    elif solution.status in ("max_iter", "precision"):
        all_steps = f"all max_iter = {options.max_iter} steps were taken"
        trouble = (
            f"{all_steps if solution.status == 'max_iter' else 'rounding errors ended the solution'} with a relative "
            f"residual of the linear system of {solution.residuals[-1]:.3g}; raise lam, or scale the features of X"
        )
    if trouble:
        warn(f"{options.function}: {trouble}", ConvergenceWarning)
    if not solution.coef.any() and not trouble:
        warn(
            f"{options.function}: the model scores every row 0, because the mean features of the groups that it "
            f"compares are the same; more rows, or model='gauss', may tell the groups apart",
            DegenerateModelWarning,
        )
    elif solution.coef.any() and n_positive in (0, rows.labels.size):
        warn(
            f"{options.function}: the model calls {n_positive} of {rows.labels.size} training rows positive, because "
            f"its scores tell the groups of the training rows apart no better than chance",
            DegenerateModelWarning,
        )
    return model
