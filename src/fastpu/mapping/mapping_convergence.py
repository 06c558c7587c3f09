"""Mapping convergence from positive and unlabelled rows: SMC and SVMC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_bool, check_float, check_int, check_random_state
from fastpu.common._progress import make_report
from fastpu.common._warn import one_verdict, warn
from fastpu.data._matrix import Matrix
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._kernels import users_table
from fastpu.kernels._scales import check_training_rows
from fastpu.mapping._loop import Groups, MappingRound, Outcome, converge
from fastpu.mapping._stages import SvmStages, user_mapping, user_separation
from fastpu.mapping.mapping_machine import MappingMachine, MappingScorer, StageScorers
from fastpu.model._profile import keeps_profile
from fastpu.svm._arguments import check_options, seed_param
from fastpu.svm._solver import KernelSolver, Solved, open_solver, warn_of_worst

_HELD_OUT = 0.2  # share of the labelled positives that is held out by default with max_pos_reject
# Share of the positives that a boundary may reject without a warning. In 80 runs on Letter, digits and breast cancer
# every run that ended above this share had lost at least 4 points of F1 by going on for too long, and no run below it
# had lost any.
_MUCH = 0.2


@answers_unknown_keywords
@keeps_profile
def fit_smc(
    X: object,
    y: object,
    *,
    nu_map: float = 0.01,
    C: float = 1.0,
    nu: float | None = None,
    psi1: object = None,
    psi2: object = None,
    max_iter: int = 100,
    max_pos_reject: float | None = None,
    hold_out: float | None = None,
    kernel: str | Callable[..., object] = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    solver_max_iter: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[MappingRound], bool | None] | None = None,
    progress: bool = False,
) -> MappingMachine | MappingScorer:
    """SMC, mapping convergence: fit an SVM to P against the rows of U rejected so far, until it rejects no more.

    It is for positives that are a class of their own among many, with a gap around it, as one letter of 26. Where
    classes overlap it rejects nearly all rows in the end: take another method there. With many unlabelled rows
    `fit_svmc` is faster.

    Rows with h < 0 are negative, rows with h >= 0 positive:

        h_0 = psi1(P, U),  N = {x in U: h_0(x) < 0},  P_0 = U without N                  (mapping)
        h_i = psi2(P, N),  N_i = {x in P_(i-1): h_i(x) < 0},  P_i = P_(i-1) without N_i,
        N = N and N_i,     i = 1, 2, ... until N_i is empty                               (convergence)

    and the last h_i is the result: the SVM of P against all rejected rows of U. psi1 is the one-class SVM of P with
    its threshold lowered until all of P is inside. psi2 is the C-SVM of P against N, which minimises
    |w|^2 / 2 + C sum max(0, 1 - y f(x)), or the nu-SVM if `nu` is given. Errors are those of `fit_svm`, also if `y` has
    labelled negatives, no positive or no unlabelled row, or if a stage of yours returns something else.

    Parameters
    ----------
    X, n_threads, progress
        As in `fit_svm`.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; also {1, 0}, bool or {1, nan}. See `fastpu.as_labels`.
    nu_map : float, default 0.01
        nu of the one-class SVM, in (0, 1]; raised to 1 / (number of positives).
    C : float, default 1.0
        > 0, cost of every row of the C-SVM. With too small a C the boundary rejects labelled positives, and hidden
        positives of U with them. These then count as negatives and push the next boundary further into P. So scale
        `X`, and prefer a large C.
    nu : float, optional
        In (0, 1]: psi2 is the nu-SVM. At most 0.999 of the largest nu that has a solution,
        2 min(|P|, |N|) / (|P| + |N|), is used.
    psi1 : function or estimator, optional
        In place of the one-class SVM. A function ``psi1(P, U)`` of two matrices of rows returns a score function (or
        something with a `decision_function`), which gives the scores of the rows of a matrix and should leave all of
        P positive. An estimator with `fit` and `decision_function` is copied and fitted on P alone; where its
        threshold leaves rows of P outside, it is lowered to the least score of P.
    psi2 : function or estimator, optional
        In place of the SVM; `C` and `nu` are then not used. A function ``psi2(P, N)`` as above; an estimator is copied
        and fitted on the rows of P followed by those of N with labels +1 and -1. Rows are passed dense or as CSR,
        like `X`, and never made dense.
    max_iter : int, default 100
        Most fits of psi2.
    max_pos_reject : float, optional
        In [0, 1): stop when a boundary rejects a larger share of the held-out positives, and keep the one before it.
    hold_out : float, optional
        Share, in (0, 1), of the labelled positives that are not trained on, and by which each boundary is judged. By
        default 0.2 if `max_pos_reject` is given. Otherwise none are held out, and boundaries are judged by the
        positives that they were trained on.
    kernel, gamma, degree, coef0
        As in `fit_svm`, for both stages; "scale" takes the variance of all of `X`.
    cache_mb : float, default 200
        Most memory for kernel rows, in MiB, which all fits share.
    tol : float, default 1e-3
        Each SVM is fitted until no KKT condition is violated by more.
    solver_max_iter : int, optional
        Most updates of a pair of dual variables in each SVM; by default 10^7, or 100 n if that is more.
    random_state : int >= 0, numpy.random.Generator or None
        Draws the held-out positives; nothing else is random.
    callback : callable, optional
        ``callback(info: MappingRound) -> bool``, called after each fit of psi2; True stops with its boundary.

    Returns
    -------
    MappingMachine, or MappingScorer where the boundary is one of a user's stage
        With the log (`history`), the boundary of every iteration (`staged_decision_function`, `at`), and the labels
        of U by membership (`unlabeled_set`). `predict` says +1 where the last h is > 0.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` is reached, or an SVM does not meet `tol`.
    DegenerateModelWarning
        If the mapping rejects nothing of U or all of it, in which case the 5 % of U with the lowest scores are taken as
        strong negatives. If the boundary that is kept rejects more than 20 % of the labelled positives, if all
        unlabelled rows were rejected, or if only the mapping is kept because of `max_pos_reject`.

    Notes
    -----
    Every fit is an SVM on P and N, and N grows up to |U| (see `fit_svm` for the cost). It uses the cached kernel rows,
    and a C-SVM starts from the alpha of the one before. Scoring the rest of U then takes |P_i| n_support kernel values.
    P_i shrinks with every fit, so there are at most |P_0| + 1 fits. Memory: `cache_mb`, about 100 bytes a row, and the
    support vectors of all boundaries, each once. There is no `sample_weight`, because nu, the fallback of 5 % and the
    shares above depend on numbers of rows, which weights do not change.

    References
    ----------
    Yu (2003), SVMC: single-class classification with support vector machines; sections 3 and 4.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (500, 2))
    >>> inside = np.linalg.norm(X, axis=1) < 1
    >>> y = inside & (rng.random(500) < 0.5)  # half of what lies in the circle is labelled
    >>> model = fastpu.fit_smc(X, y, C=100)
    >>> model.status
    'converged'
    >>> model.predict([[0.0, 0.0], [1.5, 0.0]])
    array([ 1, -1])
    """
    return _fit("fit_smc", "SMC", locals(), reset=False)


@answers_unknown_keywords
@keeps_profile
def fit_svmc(
    X: object,
    y: object,
    *,
    nu_map: float = 0.01,
    C: float = 1.0,
    nu: float | None = None,
    repair: bool = True,
    psi1: object = None,
    psi2: object = None,
    max_iter: int = 100,
    max_pos_reject: float | None = None,
    hold_out: float | None = None,
    kernel: str | Callable[..., object] = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    solver_max_iter: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[MappingRound], bool | None] | None = None,
    progress: bool = False,
) -> MappingMachine | MappingScorer:
    """SVMC: mapping convergence in which only the support vectors of the last boundary stay in N.

    It is for data that suit `fit_smc` and have many unlabelled rows.

    As `fit_smc`, with one more step in the loop: after each fit N is reset to its negative support vectors (alpha >
    0), so that h_(i+1) is fitted to P, SV(h_i) and N_i alone. That is much faster if U is large, but a later boundary
    may call rows positive that were dropped, because it was not fitted to them. When no new rows are rejected, `repair`
    puts such rows back into N, and goes on without dropping rows until there are none. Errors and warnings are those of
    `fit_smc`.

    Parameters
    ----------
    X, y, nu_map, C, psi1, max_iter, max_pos_reject, hold_out, kernel, gamma, degree, coef0, cache_mb, tol, \
solver_max_iter, random_state, n_threads, callback, progress
        As in `fit_smc`.
    nu : float, optional
        As in `fit_smc`. nu is a share of |P| + |N| rows, so that its meaning changes as N shrinks: prefer `C`.
    repair : bool, default True
        False is the algorithm of the paper, which does not put rows back.
    psi2 : function or estimator, optional
        As in `fit_smc`. The rows of N that are kept are those in `support_` of the estimator that was fitted, or
        that the function returned: an integer array of numbers of the rows of P followed by those of N. Without one,
        all of N is kept, and SVMC is SMC.

    Returns
    -------
    MappingMachine, or MappingScorer where the boundary is one of a user's stage
        As in `fit_smc`; with `repair` no rejected row outside the last N has a score >= 0.

    Notes
    -----
    A fit costs an SVM on |P| + |SV(h_i)| + |N_i| rows, the first one on |P| + |N_0|, and |P_i| n_support kernel values;
    repair adds those of the rejected rows and a few small fits. `sample_weight` is left out as in `fit_smc`.

    The claim of the paper that the support vectors and N_i are all that h_(i+1) needs does not hold in general. With
    a very local kernel (Letter recognition, gamma = 1 on [0, 1]) ``repair=False`` loses a third of the F1 of SMC or
    more, and ``repair=True`` gets it back.

    References
    ----------
    Yu (2003), SVMC: single-class classification with support vector machines; section 4.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (500, 2))
    >>> inside = np.linalg.norm(X, axis=1) < 1
    >>> y = inside & (rng.random(500) < 0.5)  # half of what lies in the circle is labelled
    >>> model = fastpu.fit_svmc(X, y, C=100)
    >>> bool(np.mean((model.unlabeled_set == 1) == inside[model.unlabeled_rows]) > 0.98)
    True
    >>> n_neg = model.history["n_neg"]  # of the mapping, and of each fit
    >>> bool(n_neg[1] > 300), bool(n_neg[2] < 50)
    (True, True)
    """
    return _fit("fit_svmc", "SVMC", locals(), reset=True)


# ------------------------------------------------------------------------------------------------------ fit


def _fit(function: str, title: str, given: Mapping[str, Any], *, reset: bool) -> MappingMachine | MappingScorer:
    repair = reset and check_bool("repair", given["repair"])
    settings = _check_settings(given)
    options = check_options(given, limit="solver_max_iter")  # max_iter is the limit of the loop
    generator = check_random_state(given["random_state"])
    psi1, psi2 = given["psi1"], given["psi2"]
    matrix = check_training_rows(given["X"], options.kernel, function, solves=psi1 is None or psi2 is None)
    warn_of_other_order(given["X"], y=given["y"])
    labels = check_labels(given["y"], matrix.n_rows, pu_only=function)
    groups = _groups(labels, settings.hold_out, generator)

    is_spmatrix = isinstance(given["X"], sp.spmatrix)
    table = None if psi1 is None and psi2 is None else users_table(matrix, is_spmatrix=is_spmatrix)
    users_map = None if psi1 is None else user_mapping(psi1, table)
    users_separate = None if psi2 is None else user_separation(psi2, table)
    with make_report(given["callback"], given["progress"], total=settings.max_iter, description=title) as report:
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
            on_iteration=report,
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
