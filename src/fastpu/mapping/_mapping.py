"""The code that SMC and SVMC share: the checks of their arguments, the call of the loop, the models, the warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._params import check_bool, check_float, check_int, check_random_state
from fastpu.common._progress import make_callback
from fastpu.common._warn import one_verdict, warn
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_labels
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._kernels import users_table
from fastpu.kernels._scales import check_training_rows
from fastpu.mapping._loop import Groups, Outcome, converge
from fastpu.mapping._stages import SvmStages, user_mapping, user_separation
from fastpu.mapping.mapping_machine import MappingMachine, MappingScorer, StageScorers
from fastpu.svm._arguments import check_options, seed_param
from fastpu.svm._solver import KernelSolver, Solved, open_solver, warn_of_worst

_HELD_OUT = 0.2  # share of the labelled positives that is held out by default with max_pos_reject
# Share of the positives that a boundary may reject without a warning. In 80 runs on Letter, digits and breast cancer
# every run that ended above this share had lost at least 4 points of F1 by going on for too long, and no run below it
# had lost any.
_MUCH = 0.2


# ------------------------------------------------------------------------------------------------------ fit


def fit_mapping(function: str, title: str, given: Mapping[str, Any], *, reset: bool) -> MappingMachine | MappingScorer:
    """Check the arguments of `fit_smc` or `fit_svmc`, run the loop, and return the model."""
    repair = reset and check_bool("repair", given["repair"])
    settings = _check_settings(given)
    options = check_options(given, limit="solver_max_iter")  # max_iter is the limit of the loop
    generator = check_random_state(given["random_state"])
    psi1, psi2 = given["psi1"], given["psi2"]
    matrix = check_training_rows(given["X"], options.kernel, function, solves=psi1 is None or psi2 is None)
    labels = check_labels(given["y"], matrix.n_rows, pu_only=function)
    groups = _groups(labels, settings.hold_out, generator)

    is_spmatrix = isinstance(given["X"], sp.spmatrix)
    table = None if psi1 is None and psi2 is None else users_table(matrix, is_spmatrix=is_spmatrix)
    users_map = None if psi1 is None else user_mapping(psi1, table)
    users_separate = None if psi2 is None else user_separation(psi2, table)
    with make_callback(given["callback"], given["progress"], total=settings.max_iter, description=title) as hook:
        training = None
        if users_map is None or users_separate is None:
            training = open_solver(matrix, options)
            stages = SvmStages(training, nu_map=settings.nu_map, C=settings.C, nu=settings.nu)
        outcome = converge(
            groups,
            users_map or stages.map,
            users_separate or stages.separate,
            reset=reset,
            repair=repair,
            max_iter=settings.max_iter,
            max_pos_reject=settings.max_pos_reject,
            on_iteration=hook,
        )
    params = {
        "method": function,
        **vars(settings),
        **({"repair": repair} if reset else {}),
        "psi1": None if psi1 is None else type(psi1).__name__,
        "psi2": None if psi2 is None else type(psi2).__name__,
        **options.params(),
        "random_state": seed_param(given["random_state"]),
    }
    model = _make_model(outcome, groups, matrix, training, params, is_spmatrix=is_spmatrix)
    _warn(outcome, model, training)
    return model


@dataclass(frozen=True)
class _Settings:
    nu_map: float
    C: float
    nu: float | None
    max_iter: int
    max_pos_reject: float | None
    hold_out: float | None


def _check_settings(given: Mapping[str, Any]) -> _Settings:
    nu, max_pos_reject, hold_out = given["nu"], given["max_pos_reject"], given["hold_out"]
    if nu is not None and given["psi2"] is not None:
        raise ValueError(f"nu must be None if psi2 is given, because psi2 replaces the SVM that has this nu, got {nu}")
    most = None
    if max_pos_reject is not None:
        most = check_float("max_pos_reject", max_pos_reject, low=0, high=1, open_high=True)
    share = None if most is None else _HELD_OUT
    if hold_out is not None:
        share = check_float("hold_out", hold_out, low=0, high=1, open_low=True, open_high=True)
    return _Settings(
        nu_map=check_float("nu_map", given["nu_map"], low=0, high=1, open_low=True),
        C=check_float("C", given["C"], low=0, open_low=True),
        nu=None if nu is None else check_float("nu", nu, low=0, high=1, open_low=True),
        max_iter=check_int("max_iter", given["max_iter"], low=1),
        max_pos_reject=most,
        hold_out=share,
    )


def _groups(labels: NDArray[np.int8], hold_out: float | None, generator: np.random.Generator) -> Groups:
    positive = np.flatnonzero(labels == 1).astype(np.int64)
    unlabeled = np.flatnonzero(labels == 0).astype(np.int64)
    if hold_out is None:
        return Groups(positive, positive[:0], unlabeled)
    if positive.size < 2:
        raise ValueError(f"y must have at least 2 positive rows for hold_out = {hold_out:g}, got {positive.size}")
    n_held_out = min(max(1, round(hold_out * positive.size)), positive.size - 1)
    order = generator.permutation(positive)
    return Groups(np.sort(order[n_held_out:]), np.sort(order[:n_held_out]), unlabeled)


# ---------------------------------------------------------------------------------------------------- model


def _make_model(
    outcome: Outcome,
    groups: Groups,
    matrix: Matrix,
    training: KernelSolver | None,
    params: dict[str, object],
    *,
    is_spmatrix: bool,
) -> MappingMachine | MappingScorer:
    history = {name: np.array(values) for name, values in outcome.log.items()}
    if params["nu"] is None:
        del history["nu"]
    left, recall = history["n_left"], 1.0 - history["pos_reject"]
    history["puf"] = np.where(left > 0, recall**2 * groups.unlabeled.size / np.maximum(left, 1), 0.0)
    machines = [b.fitted if isinstance(b.fitted, Solved) else None for b in outcome.boundaries]
    is_solved = all(machine is None or machine.status == "tol" for machine in machines)
    fields: dict[str, Any] = {
        "threshold": 0.0,
        "params": params,
        "n_iter": outcome.kept,
        "converged": outcome.status in ("converged", "max_pos_reject") and is_solved,
        "status": outcome.status,
        "objective": history["objective"][1 : outcome.kept + 1],
        "history": history,
        "unlabeled_rows": groups.unlabeled,
        "rejected_by": outcome.rejected_by,
        "used_fallback": outcome.used_fallback,
    }
    last = machines[outcome.kept]
    if training is not None and last is not None and None not in machines[1:]:
        boundaries = _boundary_fields(machines, last, training)
        return MappingMachine(**{**vars(training.machine(last, params)), **boundaries, **fields})
    stages = tuple(
        training.machine(machine, params, objective=np.array([machine.objective]), history={})
        if training is not None and machine is not None
        else boundary.fitted
        for machine, boundary in zip(machines, outcome.boundaries, strict=True)
    )
    return MappingScorer(
        n_features=matrix.n_features,
        feature_names=matrix.feature_names,
        scorers=StageScorers(matrix.is_sparse, is_spmatrix, stages),
        **fields,
    )


def _boundary_fields(machines: list[Solved | None], last: Solved, training: KernelSolver) -> dict[str, Any]:
    """Return the fields of a `MappingMachine` from which the boundary of each iteration can be drawn."""
    none = np.empty(0, dtype=np.int64)
    supports = [none if machine is None else machine.rows for machine in machines]
    support = np.concatenate(supports)
    fields: dict[str, Any] = {
        "boundary_starts": np.concatenate([[0], np.cumsum([rows.size for rows in supports])]).astype(np.int64),
        "boundary_support": support,
        "boundary_coefs": np.concatenate([np.empty(0) if m is None else m.dual_coef for m in machines]),
        "boundary_intercepts": np.array([np.nan if m is None else m.intercept for m in machines]),
        "other_rows": none,
    }
    kernel = training.kernel.name
    if kernel == "precomputed":
        return fields
    # The model keeps the support vectors of the last boundary in any case, except for the linear kernel.
    others = np.unique(support) if kernel == "linear" else np.setdiff1d(support, last.rows)
    return {**fields, "other_rows": others, **training.matrix[others].fields("other")}


# ------------------------------------------------------------------------------------------------- warnings


def _warn(outcome: Outcome, model: MappingMachine | MappingScorer, training: KernelSolver | None) -> None:
    name, history, n_iter = model.params["method"], model.history, model.n_iter
    n_left, pos_reject = int(history["n_left"][-1]), float(history["pos_reject"][n_iter])

    def degenerate(text: str) -> None:
        warn(text, DegenerateModelWarning)

    if outcome.used_fallback:
        n_new, n_unl = int(history["n_new"][0]), model.unlabeled_rows.size
        degenerate(
            f"the mapping of {name} told no strong negatives from the rest of U: it called all {n_unl} unlabelled rows "
            f"the same, and the {n_new} with its lowest scores were taken; change nu_map, the kernel or psi1"
        )
    if training is not None:
        fitted = {i: boundary.fitted for i, boundary in enumerate(outcome.boundaries)}
        statuses = {i: svm.status for i, svm in fitted.items() if isinstance(svm, Solved)}
        warn_of_worst(f"SVMs of {name}", "of iteration", statuses, history, training)
    if outcome.status == "max_iter":
        warn(
            f"{name} ran all max_iter = {n_iter} iterations: the last one rejected {history['n_new'][-1]} more "
            f"unlabelled rows and put back {history['n_back'][-1]}, with {n_left} of {model.unlabeled_rows.size} never "
            f"rejected; raise max_iter",
            ConvergenceWarning,
        )
    if outcome.status == "max_pos_reject" and n_iter == 0:
        degenerate(
            f"{name} kept only the boundary of the mapping: the first SVM rejects {history['pos_reject'][1]:.3g} of "
            f"the positives, more than max_pos_reject = {model.params['max_pos_reject']}; change C or the kernel"
        )
    elif pos_reject > _MUCH:
        degenerate(
            f"the last boundary of {name} rejects {pos_reject:.3g} of the labelled positives, and so perhaps as many "
            f"of the hidden ones, whose rejection moves it further into P: raise C, change the kernel, or set "
            f"max_pos_reject"
        )
    elif not n_left:
        degenerate(f"{name} rejected all {model.unlabeled_rows.size} unlabelled rows; raise C or change the kernel")
    span = outcome.boundaries[n_iter].span
    if n_iter and span is not None and span[2] > 0:
        degenerate(f"the last boundary of {name} {one_verdict(*span)}; raise C or change the kernel")
