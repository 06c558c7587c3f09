"""The fits for several values of C: one after the other, or in a pool of threads, with the same models."""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from fastpu.common._params import check_float, entries_of
from fastpu.svm._margin_fit import MarginFit
from fastpu.svm._margin_problem import MarginSolver
from fastpu.svm._margin_rows import MarginOptions, MarginRows
from fastpu.svm._margin_warnings import FitFlaws, find_flaws
from fastpu.svm.linear_machine import LinearMachine

# Fits to fewer entries take about a millisecond each, and would spend as much on waiting for each other.
_LEAST_ENTRIES = 4096
_MOST_AHEAD = 4  # fits that are begun before the first of them has ended, for each thread


@dataclass(frozen=True)
class FittedCost:
    model: LinearMachine
    flaws: FitFlaws


def check_costs(C: object) -> list[float]:
    """Return the one value of C, or the values of a sequence of them."""
    return [check_float(name, cost, low=0, open_low=True) for name, cost in entries_of("C", C).items()]


def fit_each_cost(
    costs: Sequence[float],
    fit: Callable[[MarginSolver, float], MarginFit],
    rows: MarginRows,
    options: MarginOptions,
    function: str,
    params: Mapping[str, object],
    *,
    is_heard: bool,
) -> list[FittedCost]:
    """Return the fits for all values of C.

    If a callback hears of them they run one after the other, so that it sees their rounds in order, until it stops one.
    """
    is_small = rows.matrix.entries.size < _LEAST_ENTRIES
    n_workers = 1 if is_heard or is_small else min(options.n_threads, len(costs))
    solver = MarginSolver(rows, options.core_options, max(1, options.n_threads // n_workers))

    def fit_cost(C: float) -> FittedCost:
        fitted = fit(solver, C)
        return FittedCost(fitted.model(rows, {"method": function, "C": C, **params}), find_flaws(fitted, rows, options))

    if n_workers > 1:
        return _in_threads(costs, fit_cost, n_workers, rows)
    fits: list[FittedCost] = []
    for C in costs:
        fits.append(fit_cost(C))
        if fits[-1].model.status == "callback":
            break
    return fits


def _in_threads(
    costs: Sequence[float], fit_cost: Callable[[float], FittedCost], n_workers: int, rows: MarginRows
) -> list[FittedCost]:
    """Fit several values of C at a time; the core solves sub-problems without Python's lock."""
    fits: list[FittedCost] = []
    running: deque[Future[FittedCost]] = deque()
    with ThreadPoolExecutor(n_workers) as pool:
        try:
            for C in costs:
                if len(running) == _MOST_AHEAD * n_workers:
                    fits.append(running.popleft().result())
                try:
                    # A copy of the context has what this thread has told NumPy and this package about warnings.
                    running.append(pool.submit(contextvars.copy_context().run, fit_cost, C))
                except RuntimeError:  # the system refuses another thread: this one goes on alone
                    fits += [future.result() for future in running]
                    running.clear()
                    fits.append(fit_cost(C))
            return fits + [future.result() for future in running]
        except BaseException:  # Ctrl-C as well: the other fits end soon, as their solver looks for this now and then
            rows.engine.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
