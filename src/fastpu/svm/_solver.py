"""The code that the support vector machines share: the solver and its kernel cache, the model, the warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._progress import on_round
from fastpu.common._warn import warn
from fastpu.data._matrix import Matrix
from fastpu.exceptions import ConvergenceWarning
from fastpu.kernels._kernels import Kernel, for_core, linear_coef, resolve_gamma, value_dtype
from fastpu.svm._arguments import Options
from fastpu.svm.kernel_machine import KernelMachine

UNFINISHED = ("max_iter", "precision")  #: the statuses of a solver that stopped early
Problem: TypeAlias = Literal["c_svm", "nu_svm", "one_class"]


@dataclass(frozen=True)
class SvmRound:
    """One working set of the solver, some hundred rows whose dual variables it optimised, as a callback sees it.

    Attributes
    ----------
    n_steps, max_iter : int
        Updates of a pair of dual variables so far, and the most there may be. 0 in the steps of the engine that
        solves C-SVMs with the linear kernel.
    objective : float
        Value of the dual problem, which is minimised, after it.
    violation : float
        Largest violation of the optimality (KKT) conditions before it, among the active rows; inf in the
        steps of the linear engine.
    n_active : int
        Rows whose dual variables are not shrunk, that is not held at a bound for the time being.
    """

    n_steps: int
    max_iter: int
    objective: float
    violation: float
    n_active: int


# --------------------------------------------------------------------------------------------------- solver


@dataclass(frozen=True)
class Task:
    """The problem that a method solves; `arguments` are the method's own, for the `params` of the model."""

    function: str
    title: str
    problem: Problem
    arguments: Mapping[str, object]
    nu: float = 0.0


# What rounding changes of a score, as a share of the sum of kernel values without the intercept.
_ROUNDING = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-6}


@dataclass(frozen=True)
class Solved:
    """The solution for some of the rows, in the order of `rows`.

    The dual variables of nu-SVM are divided by `margin`. `coef` holds the coefficients from which objective, gap and
    violation were computed, if these are more accurate than sums over alpha; else it is None. `lowest_inside` is the
    least score of the rows that a one-class SVM has not counted out (alpha < cost), at most 0.
    """

    rows: NDArray[np.int64]
    labels: NDArray[np.int8] | None
    alpha: NDArray[np.float64]
    intercept: float
    decision: NDArray[np.float64]
    objective: float
    gap: float
    violation: float
    margin: float
    n_steps: int
    status: str
    history: dict[str, NDArray[Any]]
    coef: NDArray[np.float64] | None = None
    lowest_inside: float = 0.0

    @property
    def is_support(self) -> NDArray[np.bool_]:
        return self.alpha > 0

    @property
    def dual_coef(self) -> NDArray[np.float64]:
        return self.alpha if self.labels is None else self.alpha * self.labels

    def of_support(self) -> Solved:
        """Return what it says of the support vectors alone, in the order of their numbers."""
        kept = np.flatnonzero(self.is_support)
        kept = kept[np.argsort(self.rows[kept])]
        labels = None if self.labels is None else self.labels[kept]
        return replace(self, rows=self.rows[kept], labels=labels, alpha=self.alpha[kept], decision=np.empty(0))


@dataclass(frozen=True)
class KernelRows:
    """Training rows with their kernel (its gamma a number), and the models that are made of them."""

    matrix: Matrix
    kernel: Kernel
    options: Options

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of kernel values."""
        return value_dtype(self.kernel.name, self.matrix.dtype)

    def vectors(
        self, support: NDArray[np.int64], dual_coef: NDArray[np.float64], coef: NDArray[np.float64] | None = None
    ) -> dict[str, Any]:
        """Return the fields of a `KernelMachine` that depend on the rows and the kernel, with `coef` if it is known."""
        kernel = self.kernel
        fields: dict[str, Any] = {
            **kernel.fields(self.matrix),
            "support": support,
            "dual_coef": dual_coef,
            "alpha": np.abs(dual_coef),
        }
        if kernel.name == "linear":
            fields["coef"] = linear_coef(self.matrix, support, dual_coef) if coef is None else coef
        elif kernel.name != "precomputed":
            fields |= self.matrix[support].fields("support")
        for value in fields.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # nobody else holds these arrays, so the model need not copy them
        return fields

    def border(self, solved: Solved) -> dict[str, Any]:
        """Return threshold and rule: a row of one class that is on the boundary, within tol and rounding, is inside."""
        tol = self.options.tol
        if solved.labels is not None or not solved.margin > tol:  # without a margin scores mean nothing
            return {"threshold": 0.0}
        rounding = _ROUNDING[self.dtype] * solved.margin
        return {"threshold": max(solved.lowest_inside, -tol) - rounding, "threshold_rule": "the boundary, within tol"}

    def machine(self, solved: Solved, params: dict[str, object], **fields: Any) -> KernelMachine:
        """Return the model of a solution, in which `fields` replace those that it would have."""
        support = solved.of_support()
        known: dict[str, Any] = {
            **self.vectors(support.rows, support.dual_coef, solved.coef),
            **self.border(solved),
            "n_iter": solved.n_steps,
            "converged": solved.status in {"tol", "gap"},
            "status": solved.status,
            "objective": solved.history["objective"],
            "history": solved.history,
            "params": params,
            "intercept": solved.intercept,
            "gap": solved.gap,
            "violation": solved.violation,
            "margin": solved.margin,
        }
        return KernelMachine(**{**known, **fields})


@dataclass(frozen=True)
class KernelSolver(KernelRows):
    """Training rows with a solver, whose cache of kernel rows serves all problems on them."""

    engine: _core.SvmEngine

    def solve(
        self,
        problem: Problem,
        rows: NDArray[np.int64],
        labels: NDArray[np.int8] | None,
        cost: NDArray[np.float64],
        *,
        nu: float = 0.0,
        start: NDArray[np.float64] | None = None,
        limit: int | None = None,
        report: Callable[[SvmRound], bool] | None = None,
    ) -> Solved:
        """Solve the problem of some rows, each with its label (None for one-class) and box, in `limit` pair updates."""
        limit = self.options.steps(rows.size) if limit is None else limit
        result = self.engine.solve(
            problem,
            rows,
            labels,
            cost,
            nu=nu,
            start=start,
            options=_core.SmoOptions(tol=self.options.tol, max_steps=limit),
            callback=on_round(report, lambda n_steps, *rest: SvmRound(n_steps, limit, *rest)),
        )
        numbers = (result["alpha"], result["decision"], [result["intercept"], result["objective"]])
        if not all(np.isfinite(values).all() for values in numbers):
            raise ValueError(
                f"X must have entries so small that kernel values do not overflow {self.dtype}; "
                f"scale X, or pass float64 or another kernel"
            )
        known: dict[str, Any] = dict(result)
        last = {**known, "n_active": rows.size}
        history = {name: np.append(values, last[name]) for name, values in result["history"].items()}
        return Solved(rows=rows, labels=labels, **{**known, "history": history})


def open_solver(matrix: Matrix, options: Options, weights: NDArray[np.float64] | None = None) -> KernelSolver:
    """Make a solver for checked rows; `weights` say how often each counts where gamma follows their variance."""
    kernel = resolve_gamma(options.kernel, matrix, weights)
    rows, function = for_core(kernel, matrix.convert(value_dtype(kernel.name, matrix.dtype), sparse=matrix.is_sparse))
    engine = _core.SvmEngine(
        rows,
        kernel=kernel.core_params,
        function=function,
        cache_bytes=options.cache_bytes,
        n_threads=options.n_threads,
    )
    return KernelSolver(matrix, kernel, options, engine)


# ------------------------------------------------------------------------------------------------- warnings


def warn_of_unfinished(subject: str, status: str, numbers: Mapping[str, Any], training: KernelRows) -> None:
    """Warn that the solver stopped early: after how many steps, how far from the optimum, and what would help."""
    options, n_steps = training.options, numbers["n_steps"]
    state = (
        f"the largest KKT violation is {numbers['violation']:.3g}, above tol = {options.tol:g}, and the duality gap "
        f"{numbers['gap']:.3g} at the objective {numbers['objective']:.6g}"
    )
    if status == "max_iter":
        advice = f"raise {options.limit}, scale the features of X, or accept a larger tol"
        text = f"{subject} ran all {options.limit} = {n_steps} pair updates: {state}; {advice}"
    else:
        more = " or pass float64 rows" if training.dtype == np.float32 else ""
        text = (
            f"{subject} ended after {n_steps} pair updates at the precision of {training.dtype} kernel values: "
            f"{state}; accept a larger tol{more}"
        )
    warn(text, ConvergenceWarning)


def warn_of_worst(
    what: str, each: str, statuses: Mapping[int, str], columns: Mapping[str, Any], training: KernelRows
) -> None:
    """Warn of the worst of several fits, by their numbers, if some stopped early; `columns` have an entry for each."""
    unfinished = [number for number, status in statuses.items() if status in UNFINISHED]
    if unfinished:
        worst = max(unfinished, key=lambda number: float(columns["violation"][number]))
        numbers = {name: column[worst] for name, column in columns.items()}
        share = f"{len(unfinished)} of {len(columns['violation'])} {what}"
        subject = f"{share} did not converge: the worst, {each} {worst},"
        warn_of_unfinished(subject, statuses[worst], numbers, training)
