"""Models made of the solutions of PUAL, GLLC and the biased LS-SVM, and the warnings about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fastpu import _core
from fastpu.common._warn import one_verdict, span_of, warn
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.pual._features import Features
from fastpu.pual._options import BlsSvmOptions, GllcOptions
from fastpu.pual._parameter_points import Point
from fastpu.pual._systems import PointsOfSystem
from fastpu.pual.pual_machine import PualMachine


@dataclass(frozen=True)
class JudgedModel:
    """A model, and what is said of it if it calls all training rows the same ("" if it does not)."""

    machine: PualMachine
    verdict: str


def judged_models(
    system: PointsOfSystem, solutions: Sequence[_core.PualSolution], features: Features, options: BlsSvmOptions
) -> dict[int, JudgedModel]:
    """Return the models of the solutions by the numbers of their points; a callback may have ended the last ones."""
    pairs = zip(system.points, solutions, strict=False)
    models = [_judged_model(point, solution, features, options) for point, solution in pairs]
    return dict(zip(system.numbers, models, strict=False))


def _judged_model(
    point: Point, solution: _core.PualSolution, features: Features, options: BlsSvmOptions
) -> JudgedModel:
    status, rows, alpha = solution.status, features.rows, solution.alpha
    history = {"n_iter": solution.iterations, "objective": solution.objectives, "gap": solution.gaps}
    params = {"C_pos": point.C_pos, "C_unl": point.C_unl, "lam": point.lam, "sigma": point.sigma}
    kernel, matrix = rows.kernel, rows.matrix
    expansion = features.expansion(solution.beta, solution.offset)
    machine = PualMachine(
        n_features=matrix.n_features,
        feature_names=matrix.feature_names,
        kernel=kernel.name,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        function=kernel.function,
        threshold=0.0,
        n_iter=int(solution.iterations[-1]),
        converged=status in {"gap", "closed_form"},
        status=status,
        objective=solution.objectives,
        history=history,
        params={"method": options.function, **params, **options.params()},
        gap=float(solution.gaps[-1]),
        alpha=alpha if alpha.size else None,  # none of a closed form
        nystroem_residual=features.residual,
        support=expansion.support,
        dual_coef=expansion.dual_coef,
        intercept=expansion.intercept,
        coef=expansion.coef,
        support_dense=expansion.vectors.dense,
        support_data=expansion.vectors.data,
        support_indices=expansion.vectors.indices,
        support_indptr=expansion.vectors.indptr,
    )
    return JudgedModel(machine, "" if status == "callback" else one_verdict(*span_of(solution.scores)))


def finished_models(
    models: Mapping[int, JudgedModel], options: BlsSvmOptions, tol: float = np.inf
) -> list[PualMachine]:
    """Return the models in the order of their points; warn once of those that failed.

    A model has failed if its gap is larger than `tol` times the objective, or if the scores have rounding errors.
    """
    in_order = [models[number] for number in sorted(models)]
    _warn_of_unsolved([model.machine for model in in_order], options, tol)
    same = [model for model in in_order if model.verdict]
    if same:
        some = f"{len(same)} of {len(in_order)} models, the first with " if len(in_order) > 1 else ""
        warn(
            f"{options.function}: for {some}{_parameters(same[0].machine, options)}: the model {same[0].verdict}; "
            f"change C_pos, C_unl or lam, or rank by the scores (with_threshold)",
            DegenerateModelWarning,
        )
    return [model.machine for model in in_order]


def _warn_of_unsolved(machines: Sequence[PualMachine], options: BlsSvmOptions, tol: float) -> None:
    unsolved = [machine for machine in machines if machine.status in {"max_iter", "precision"}]
    if not unsolved:
        return
    worst = max(unsolved, key=lambda machine: machine.gap / max(machine.objective[-1], 1e-300))
    some = f"{len(unsolved)} of {len(machines)} models, the worst with " if len(machines) > 1 else ""
    warn(
        f"{options.function}: for {some}{_parameters(worst, options)}: {_unsolved_text(worst, tol)}",
        ConvergenceWarning,
    )


def _unsolved_text(model: PualMachine, tol: float) -> str:
    objective = float(model.objective[-1])
    if model.gap <= tol * objective:
        return (
            f"not the minimum: the columns of X differ so much in size that float64 has no digits left for some of "
            f"them. The objective {objective:.6g} is an estimated {model.gap:.3g} above the minimum; scale the "
            f"features of X, or raise lam"
        )
    reason = (
        "raise max_iter, or accept a larger tol"
        if model.status == "max_iter"
        else "float64 has no digits left for more; lower C_pos, scale the features of X, or accept a larger tol"
    )
    return (
        f"not converged after {model.n_iter} steps: the duality gap {model.gap:.3g} exceeds tol * objective = "
        f"{tol * objective:.3g} (tol = {tol:g}); {reason}"
    )


def _parameters(model: PualMachine, options: BlsSvmOptions) -> str:
    names = ("C_pos", "C_unl", "lam", "sigma") if isinstance(options, GllcOptions) else ("C_pos", "C_unl", "lam")
    return ", ".join(f"{name} = {model.params[name]:g}" for name in names)
