"""The kernel forms as printed in the papers: with the kernel matrix in place of the derived matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._progress import make_callback
from fastpu.common._warnings import ConvergenceWarning, PaperFormWarning, warn
from fastpu.graph._arguments import PualRound
from fastpu.graph._fit import closed_form, make_model, open_rows
from fastpu.graph._rows import expansion_rows, kernel_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastpu.graph._arguments import Point, PualOptions
    from fastpu.graph._rows import Rows
    from fastpu.graph.pual_machine import PualMachine
    from fastpu.kernels._kernels import Kernel

__all__ = ["PaperAdmm", "PaperKernel", "fit_paper_points", "mean_difference"]

_COLUMNS = 256  # columns of the kernel matrix that are computed at a time
_POWER_STEPS = 100
_SAFE = 0.5  # the default mu gives mu times the largest eigenvalue this value: below 1 the iteration converges
_LARGEST = 1e100  # largest kernel value: parameters are as large at most, so that no product of two overflows
_BLOWN_UP = 1e8  # the iteration counts as diverging once scores have grown by this factor


@dataclass(frozen=True)
class PaperKernel:
    """The parts of the kernel matrix that the printed updates use: K_pp, and sums of its columns."""

    rows: Rows
    kernel: Kernel
    K_pp: NDArray[np.float64]
    of_pos: NDArray[np.float64]  # K 1_p on all rows
    of_unl: NDArray[np.float64]  # K 1_u
    n_pos: int
    n_unl: int

    @classmethod
    def of(cls, rows: Rows, kernel: Kernel) -> PaperKernel:
        def columns(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
            values = kernel_columns(rows, kernel, numbers)
            size = max(float(values.max(initial=0)), -float(values.min(initial=0)))
            if size > _LARGEST:
                raise ValueError(
                    f"X must have entries so small that squares of sums of kernel values do not overflow, got "
                    f"{size:g}; scale X"
                )
            return values

        pos = columns(rows.pos)
        of_unl: NDArray[np.float64] = np.zeros(rows.n)
        for first in range(0, rows.unl.size, _COLUMNS):
            of_unl += columns(rows.unl[first : first + _COLUMNS]).sum(axis=1)
        return cls(rows, kernel, pos[rows.pos], pos.sum(axis=1), of_unl, rows.pos.size, rows.unl.size)

    @property
    def of_unl_at_pos(self) -> NDArray[np.float64]:
        return self.of_unl[self.rows.pos]

    @property
    def among_unl(self) -> float:
        """1_u'K 1_u."""
        return float(self.of_unl[self.rows.unl].sum())

    def model(
        self, options: PualOptions, point: Point, omega: NDArray[np.float64], intercept: float, record: dict[str, Any]
    ) -> PualMachine:
        """Return f = K omega + intercept."""
        fields: dict[str, Any] = {"intercept": intercept}
        if self.kernel.name == "linear":
            fields["coef"] = np.asarray(self.rows.matrix.table().T @ omega, dtype=np.float64).reshape(-1)
        else:
            fields |= {**expansion_rows(self.rows, self.kernel, np.arange(self.rows.n)), "dual_coef": omega}
        return make_model(self.rows, self.kernel, options, point, record, fields)


def mean_difference(paper: PaperKernel, options: PualOptions, point: Point, _: object) -> PualMachine:
    """GLLC in the paper's form: a scaled difference of mean kernel values with positives and unlabelled rows."""
    n_pos, n_unl, C_pos, C_unl = paper.n_pos, paper.n_unl, point.C_pos, point.C_unl
    total = 2 * (C_pos * n_pos + C_unl * n_unl)
    factor = 8 * C_pos * C_unl * n_pos * n_unl / total
    omega = np.where(paper.rows.is_unl, -factor / n_unl, factor / n_pos)
    scores = factor * (paper.of_pos / n_pos - paper.of_unl / n_unl)
    share = 2 * (C_pos * scores[paper.rows.pos].sum() + C_unl * scores[paper.rows.unl].sum()) / total
    intercept = float(2 * (C_pos * n_pos - C_unl * n_unl) / total - share)
    f = scores + intercept
    lack_pos, lack_unl = 1 - f[paper.rows.pos], 1 + f[paper.rows.unl]
    return paper.model(
        options, point, omega, intercept, closed_form(float(C_pos * lack_pos @ lack_pos + C_unl * lack_unl @ lack_unl))
    )


@dataclass(frozen=True)
class PaperAdmm:
    """Algorithm 2 of the paper with the kernel matrix in place of Phi; mu = 0 stands for a step that converges."""

    mu: float
    tol: float
    max_iter: int

    def __call__(
        self, paper: PaperKernel, options: PualOptions, point: Point, hook: Callable[[PualRound], bool] | None
    ) -> PualMachine:
        mu = self.mu or _safe_mu(paper, point)
        C_pos, C_unl, n_pos = point.C_pos, point.C_unl, paper.n_pos
        total = 2 * C_unl * paper.n_unl + mu * n_pos
        of_unl, among_unl = paper.of_unl_at_pos, paper.among_unl
        u, h = np.zeros(n_pos), np.zeros(n_pos)
        log: list[tuple[int, float]] = []
        best: tuple[float, NDArray[np.float64], float, NDArray[np.float64]] | None = None
        status, limit = "max_iter", np.inf
        n_iter = 0
        while n_iter < self.max_iter and status == "max_iter":
            x = u + mu * (1 - h)
            c = (x.sum() - 2 * C_unl * paper.n_unl) / total
            on_pos, on_unl = x - mu * c, -2 * C_unl * (1 + c)
            with np.errstate(over="ignore", invalid="ignore"):
                scores = paper.K_pp @ on_pos + on_unl * of_unl
                sum_unl = of_unl @ on_pos + on_unl * among_unl
                intercept = c - (mu * scores.sum() + 2 * C_unl * sum_unl) / total
                f = scores + intercept
                d = 1 + u / mu - f
                u, last_h = np.clip(mu * d, 0, C_pos), h
                h = d - u / mu
                size = max(float(np.linalg.norm(f)), float(np.linalg.norm(h)), np.sqrt(n_pos))
                residual = max(float(np.linalg.norm(1 - f - h)), float(np.linalg.norm(h - last_h))) / size
            n_iter += 1
            if n_iter == 1:
                limit = _BLOWN_UP * (1 + float(np.abs(f).max()))
            if not (np.isfinite(residual) and float(np.abs(f).max()) < limit):
                status = "diverged"
                break
            log.append((n_iter, residual))
            if best is None or residual <= best[0]:
                omega = np.full(paper.rows.n, on_unl)
                omega[paper.rows.pos] = on_pos
                best = (residual, omega, float(intercept), u)
            if residual <= self.tol:
                status = "residual"
            elif hook is not None and hook(PualRound(**vars(point), n_iter=n_iter, objective=residual, gap=np.nan)):
                status = "callback"
        if best is None:
            raise ValueError(f"X and mu must be so small that the iteration has a first step, got mu={mu:g}; scale X")
        steps = np.array([step for step, _ in log])
        residuals = np.array([residual for _, residual in log])
        history = {"n_iter": steps, "objective": residuals, "gap": np.full(steps.size, np.nan)}
        record = {
            "status": status,
            "n_iter": n_iter,
            "gap": np.nan,
            "alpha": best[3],
            "mu": mu,
            "history": history,
        }
        return paper.model(options, point, best[1], best[2], record)


def _gain(paper: PaperKernel, point: Point, mu: float) -> float:
    """Return mu times the largest eigenvalue of G, the map from one iterate to the next."""
    total = 2 * point.C_unl * paper.n_unl + mu * paper.n_pos
    inner = paper.K_pp.sum(axis=1)
    t = (mu * inner + 2 * point.C_unl * paper.of_unl_at_pos) / total
    q = (
        mu * mu * inner.sum() + 4 * mu * point.C_unl * paper.of_unl_at_pos.sum() + 4 * point.C_unl**2 * paper.among_unl
    ) / total**2
    vector = np.ones(paper.n_pos) + 0.5 * np.cos(np.arange(paper.n_pos))
    largest = 0.0
    for _ in range(_POWER_STEPS):
        vector /= max(float(np.linalg.norm(vector)), 1e-300)
        mean = vector.sum()
        vector = paper.K_pp @ vector - mean * t - (t @ vector) + (q + 1 / total) * mean
        largest = max(largest, float(np.linalg.norm(vector)))
    return mu * largest


def _safe_mu(paper: PaperKernel, point: Point) -> float:
    """Return a mu whose `_gain` is _SAFE, or a little less."""
    mu = _SAFE / max(_gain(paper, point, 1e-12) / 1e-12, 1e-300)
    for _ in range(50):
        gain = _gain(paper, point, mu)
        if gain <= _SAFE * (1 + 1e-6):
            break
        mu *= 0.999 * _SAFE / gain
    return mu


def fit_paper_points(
    X: object,
    y: object,
    points: Sequence[Point],
    *,
    is_one: bool,
    options: PualOptions,
    solver: Callable[..., PualMachine],
    callback: object,
    progress: object,
) -> PualMachine | list[PualMachine]:
    """Fit the printed form for all points; points that differ only in parameters that it ignores share a model."""
    with make_callback(callback, progress, total=None, description=options.title) as hook, one_blas_thread():
        rows, kernel = open_rows(X, y, options)
        paper = PaperKernel.of(rows, kernel)
        models = []
        for point in points:
            models.append(solver(paper, options, point.with_sigma(None), hook))
            if models[-1].status == "callback":
                break
    warn(
        f"{options.function}: kernel_form='paper' puts the kernel matrix where the paper derives another one, and does "
        "not minimise the paper's objective: lam, sigma, n_neighbors and graph have no influence, the unlabelled rows "
        "have a linear loss, and for PUAL the step mu changes the solution; kernel_form='exact' is what was derived",
        PaperFormWarning,
    )
    _warn(options, points, models)
    return models[0] if is_one else models


def _warn(options: PualOptions, points: Sequence[Point], models: Sequence[PualMachine]) -> None:
    for status, what, advice in (
        ("diverged", "the iteration diverged", "pass a smaller mu, or none for a safe one"),
        ("max_iter", "the residuals did not fall below tol", "raise max_iter, or accept a larger tol"),
    ):
        bad = [i for i, model in enumerate(models) if model.status == status]
        if bad:
            model, point = models[bad[0]], points[bad[0]]
            where = "" if len(models) == 1 else f"{len(bad)} of {len(models)} models, the first with "
            warn(
                f"{options.function}: for {where}C_pos = {point.C_pos:g}, C_unl = {point.C_unl:g}: {what} with "
                f"mu = {model.mu:g} after {model.n_iter} iterations, from a relative residual of "
                f"{model.objective.min():.3g} (tol = {options.values['tol']:g}); {advice}",
                ConvergenceWarning,
            )
