"""Training rows with a solver of dual problems, the solutions that it finds, and the models that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._progress import on_round
from fastpu.data._kept_rows import RowArrays, row_arrays
from fastpu.data._matrix import Floats, Matrix
from fastpu.kernels._function_kernel import for_core
from fastpu.kernels._kernel import Kernel, resolve_gamma, value_dtype
from fastpu.kernels._shifted_rows import linear_coef
from fastpu.svm._svm_options import SvmOptions
from fastpu.svm._svm_problem import ProblemKind
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.svm_round import SvmRound

SvmReport: TypeAlias = Callable[[SvmRound], bool]

# What rounding changes of a score, as a share of the sum of kernel values without the intercept.
_ROUNDING = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-6}


@dataclass(frozen=True)
class SolverEnd:
    """Where the solver of one problem ended."""

    status: str
    n_steps: int
    objective: float
    gap: float
    violation: float

    @property
    def is_unfinished(self) -> bool:
        """Whether the solver stopped before the solution met `tol`, and nobody asked it to."""
        return self.status in ("max_iter", "precision")


@dataclass(frozen=True)
class SvmFit:
    """The solution of a dual problem of some kind for some of the rows, in the order of `rows`.

    `labels` are +1 and -1; the rows of a one-class SVM are all +1. The dual variables of nu-SVM are divided by
    `margin`. `coef` holds the coefficients from which objective, gap and violation were computed, if these are more
    accurate than sums over alpha; else it is None. `lowest_inside` is the least score of the rows that a one-class SVM
    has not counted out (alpha < cost), at most 0. `history` has the columns of the model's history.
    """

    kind: ProblemKind
    rows: NDArray[np.int64]
    labels: NDArray[np.int8]
    alpha: NDArray[np.float64]
    intercept: float
    decision: NDArray[np.float64]
    margin: float
    end: SolverEnd
    history: dict[str, NDArray[Any]]
    coef: NDArray[np.float64] | None = None
    lowest_inside: float = 0.0

    @property
    def is_support(self) -> NDArray[np.bool_]:
        return self.alpha > 0

    @property
    def dual_coef(self) -> NDArray[np.float64]:
        return self.alpha * self.labels

    def of_support(self) -> SvmFit:
        """Return what it says of the support vectors alone, in the order of their numbers."""
        kept = np.flatnonzero(self.is_support)
        kept = kept[np.argsort(self.rows[kept])]
        return replace(
            self, rows=self.rows[kept], labels=self.labels[kept], alpha=self.alpha[kept], decision=np.empty(0)
        )


def history_of(end: SolverEnd, n_rows: int, rounds: _core.SvmRounds | None = None) -> dict[str, NDArray[Any]]:
    """Return the history of a fit to so many rows: its rounds, if they are known, and the end."""
    if rounds is None:
        return {
            "objective": np.array([end.objective]),
            "violation": np.array([end.violation]),
            "n_active": np.array([n_rows]),
            "n_steps": np.array([end.n_steps]),
        }
    return {
        "n_steps": np.append(rounds.n_steps, end.n_steps),
        "objective": np.append(rounds.objective, end.objective),
        "violation": np.append(rounds.violation, end.violation),
        "n_active": np.append(rounds.n_active, n_rows),
    }


@dataclass(frozen=True, eq=False)
class Expansion:
    """What a model keeps of its support vectors: their numbers, factors, and rows, or `coef` for the linear kernel."""

    support: NDArray[np.int64]
    dual_coef: NDArray[np.float64]
    alpha: NDArray[np.float64]
    coef: NDArray[np.float64] | None
    vectors: RowArrays[Floats]

    def make_read_only(self) -> None:
        """Let the model take the arrays, which nobody else holds, without a copy."""
        for array in (self.support, self.dual_coef, self.alpha, self.coef):
            if array is not None:
                array.flags.writeable = False
        self.vectors.make_read_only()


@dataclass(frozen=True)
class KernelRows:
    """Training rows with their kernel (its gamma a number), and the models that are made of them."""

    matrix: Matrix
    kernel: Kernel
    options: SvmOptions

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of kernel values."""
        return value_dtype(self.kernel.name, self.matrix.dtype)

    def expansion(
        self, support: NDArray[np.int64], dual_coef: NDArray[np.float64], coef: NDArray[np.float64] | None = None
    ) -> Expansion:
        """Return what a model keeps of the support vectors; `coef` if they are known, for the linear kernel."""
        vectors: RowArrays[Floats] = RowArrays()
        if self.kernel.name == "linear":
            coef = linear_coef(self.matrix, support, dual_coef) if coef is None else coef
        elif self.kernel.name != "precomputed":
            vectors = row_arrays(self.matrix[support])
        expansion = Expansion(support, dual_coef, np.abs(dual_coef), coef, vectors)
        expansion.make_read_only()
        return expansion

    def threshold(self, fit: SvmFit) -> float:
        """Return 0, or for one class the boundary: a row that is on it, within tol and rounding, is inside."""
        if not self._has_boundary(fit):
            return 0.0
        rounding = _ROUNDING[self.dtype] * fit.margin
        return max(fit.lowest_inside, -self.options.tol) - rounding

    def _has_boundary(self, fit: SvmFit) -> bool:
        return fit.kind == "one_class" and fit.margin > self.options.tol  # without a margin scores mean nothing

    def machine(self, fit: SvmFit, params: dict[str, object]) -> KernelMachine:
        """Return the model of a solution."""
        found = fit.of_support()
        expansion, kernel = self.expansion(found.rows, found.dual_coef, fit.coef), self.kernel
        return KernelMachine(
            n_features=self.matrix.n_features,
            feature_names=self.matrix.feature_names,
            threshold=self.threshold(fit),
            threshold_rule="the boundary, within tol" if self._has_boundary(fit) else "zero",
            n_iter=fit.end.n_steps,
            converged=fit.end.status in {"tol", "gap"},
            status=fit.end.status,
            objective=fit.history["objective"],
            history=fit.history,
            params=params,
            kernel=kernel.name,
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.coef0,
            function=kernel.function,
            support=expansion.support,
            dual_coef=expansion.dual_coef,
            alpha=expansion.alpha,
            coef=expansion.coef,
            support_dense=expansion.vectors.dense,
            support_data=expansion.vectors.data,
            support_indices=expansion.vectors.indices,
            support_indptr=expansion.vectors.indptr,
            intercept=fit.intercept,
            gap=fit.end.gap,
            violation=fit.end.violation,
            margin=fit.margin,
        )


@dataclass(frozen=True)
class KernelSolver(KernelRows):
    """Training rows with a solver, whose cache of kernel rows serves all problems on them."""

    engine: _core.SvmEngine

    def solve(
        self,
        kind: ProblemKind,
        rows: NDArray[np.int64],
        labels: NDArray[np.int8],
        cost: NDArray[np.float64],
        *,
        nu: float = 0.0,
        start: NDArray[np.float64] | None = None,
        limit: int | None = None,
        report: SvmReport | None = None,
    ) -> SvmFit:
        """Solve the problem of some rows, each with its label (+1 for one-class) and box, in `limit` pair updates."""
        options = self.options.core_options(rows.size, limit)
        solution = self.engine.solve(
            kind,
            rows,
            labels,
            cost,
            nu=nu,
            start=start,
            options=options,
            callback=on_round(report, lambda n_steps, *rest: SvmRound(n_steps, options.max_steps, *rest)),
        )
        alpha, decision = solution.alpha, solution.decision
        numbers = (alpha, decision, [solution.intercept, solution.objective])
        if not all(np.isfinite(values).all() for values in numbers):
            raise ValueError(
                f"X must have smaller entries, because kernel values overflow {self.dtype}; scale X, or pass float64 "
                f"or another kernel"
            )
        end = SolverEnd(
            status=solution.status,
            n_steps=solution.n_steps,
            objective=solution.objective,
            gap=solution.gap,
            violation=solution.violation,
        )
        return SvmFit(
            kind=kind,
            rows=rows,
            labels=labels,
            alpha=alpha,
            intercept=solution.intercept,
            decision=decision,
            margin=solution.margin,
            end=end,
            history=history_of(end, rows.size, solution.rounds),
            lowest_inside=solution.lowest_inside,
        )


def open_solver(matrix: Matrix, options: SvmOptions, weights: NDArray[np.float64] | None = None) -> KernelSolver:
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
