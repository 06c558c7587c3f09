"""The SVMs of the bags: each is fitted, and added to sums for their mean and for the scores of the training rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._progress import Report
from fastpu.kernels._expansion import linear_scores
from fastpu.kernels._shifted_rows import linear_coef
from fastpu.svm._kernel_solver import KernelSolver, SolverEnd, open_solver
from fastpu.svm._linear_solver import linear_engine, solve_linear
from fastpu.svm.bagging_machine import BaggingSVM, BagRound

_CHUNK_BYTES = 1 << 26  # bytes of scores and coefficients of the bags that are fitted at a time
_SHARING_BAGS = 3  # fewer bags have no common start


@dataclass(frozen=True)
class Bags:
    """The rows of all bags: the positives, which are in each, and the unlabelled rows of each, a row of `draws`.

    `clusters` has the number of the group of every row, or is None.
    """

    is_positive: NDArray[np.bool_]
    draws: NDArray[np.int64]
    clusters: NDArray[np.int32] | None

    @property
    def positives(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.is_positive).astype(np.int64)

    @property
    def signs(self) -> NDArray[np.int8]:
        signs: NDArray[np.int8] = np.where(self.is_positive, np.int8(1), np.int8(-1))
        return signs

    def is_out(self, number: int) -> NDArray[np.bool_]:
        """Return whether each row is out of a bag: with clusters, whether none of its cluster is in it."""
        in_bag = self.draws[number]
        if self.clusters is not None:
            return ~np.isin(self.clusters, self.clusters[np.concatenate([in_bag, self.positives])])
        is_out: NDArray[np.bool_] = np.ones(self.is_positive.size, dtype=np.bool_)
        is_out[in_bag] = False
        return is_out


@dataclass(frozen=True)
class BagCosts:
    """The cost of a positive row, and of each draw of an unlabelled one: both sides of a bag cost the same."""

    positive: float
    unlabelled: float

    @staticmethod
    def of(C: float, bags: Bags) -> BagCosts:
        of_draw = C * int(np.count_nonzero(bags.is_positive)) / bags.draws.shape[1]
        if not 0 < of_draw * bags.draws.size < np.inf:
            raise ValueError(f"C / bag_ratio must be a positive number, got {of_draw}")
        if not min(C, of_draw) / bags.draws.size >= np.finfo(np.float64).tiny:
            raise ValueError(f"C must be so large that the cost of a row does not underflow in a mean of bags, got {C}")
        return BagCosts(C, of_draw)


@dataclass(frozen=True)
class BagFit:
    """The SVM of one bag: its support vectors among all rows, and the scores of all of these.

    `coef` are the coefficients of a linear SVM.
    """

    support: NDArray[np.int64]
    dual_coef: NDArray[np.float64]
    coef: NDArray[np.float64] | None
    intercept: float
    decision: NDArray[np.float64]
    end: SolverEnd


def fit_bags(training: KernelSolver, bags: Bags, costs: BagCosts, *, is_heard: bool) -> Iterator[BagFit]:
    """Yield the SVM of each bag in their order; fewer are fitted at a time if a callback is to hear of each soon."""
    if training.kernel.name == "linear":
        yield from _fit_linear(training, bags, costs)
        return
    n_bags, size = bags.draws.shape
    positives, n_rows = bags.positives, bags.is_positive.size
    start = _common_start(training, bags, costs)
    # Many bags at a time keep several threads busy.
    per_bag = 8 * (n_rows + min(n_rows, positives.size + bags.draws.size))
    n_at_once = min(n_bags, max(1, _CHUNK_BYTES // per_bag))
    if is_heard:
        n_at_once = min(n_at_once, 4 * training.options.n_threads)
    for first in range(0, n_bags, n_at_once):
        solutions = training.engine.solve_bags(
            positives,
            bags.draws[first : first + n_at_once],
            cost_pos=np.full(positives.size, costs.positive),
            cost_unl=costs.unlabelled,
            options=training.options.core_options(positives.size + size),
            start=start,
            score_rows=np.arange(n_rows, dtype=np.int64),
        )
        support, coefs, decision = solutions.support, solutions.coefs, solutions.decision
        ends = zip(
            solutions.status,
            solutions.n_steps.tolist(),
            solutions.objective.tolist(),
            solutions.gap.tolist(),
            solutions.violation.tolist(),
            strict=True,
        )
        for bag, (end, intercept) in enumerate(zip(ends, solutions.intercept.tolist(), strict=True)):
            yield BagFit(support, coefs[:, bag], None, intercept, decision[:, bag], SolverEnd(*end))


def _common_start(training: KernelSolver, bags: Bags, costs: BagCosts) -> NDArray[np.float64] | None:
    """Return the share of its cost at which alpha of every row starts in each bag.

    It comes from the SVM of all rows in which each unlabelled one counts as often as it is in a bag on average.
    None if bags are so few or so small that they would take less time than this SVM.
    """
    n_bags, size = bags.draws.shape
    n_unlabelled = int(np.count_nonzero(~bags.is_positive))
    if n_bags < _SHARING_BAGS or 2 * size < n_unlabelled:
        return None
    # The engine of this SVM is not kept, so that its cache does not add to those of the bags.
    alone = open_solver(training.matrix, training.options)
    cost = np.where(bags.is_positive, costs.positive, costs.unlabelled * size / n_unlabelled)
    rows = np.arange(bags.is_positive.size, dtype=np.int64)
    return alone.solve("c_svm", rows, bags.signs, cost).alpha / cost


def _fit_linear(training: KernelSolver, bags: Bags, costs: BagCosts) -> Iterator[BagFit]:
    """Yield the SVM of each bag with the linear kernel, each solved as `fit_svm` does."""
    engine, signs = linear_engine(training), bags.signs
    for draws in bags.draws:
        cost = np.zeros(signs.size)
        cost[bags.is_positive] = costs.positive
        np.add.at(cost, draws, costs.unlabelled)
        fit = solve_linear(training, engine, signs, cost)
        of_support = fit.of_support()
        support, dual_coef = of_support.rows, of_support.dual_coef
        coef = linear_coef(training.matrix, support, dual_coef) if fit.coef is None else fit.coef
        scores = linear_scores(training.matrix, coef, fit.intercept, training.options.n_threads)
        yield BagFit(support, dual_coef, coef, fit.intercept, scores, fit.end)


class BagSums:
    """The bags fitted so far, summed up one after the other: sums do not depend on how many are fitted at a time."""

    def __init__(self, training: KernelSolver, bags: Bags) -> None:
        n_rows = bags.is_positive.size
        self._training, self._bags = training, bags
        self._coef: NDArray[np.float64] | None = None
        if training.kernel.name == "linear":
            self._coef = np.zeros(training.matrix.n_features)
        self._totals: NDArray[np.float64] = np.zeros(n_rows)  # sums of the scores of all bags,
        self._oob_totals: NDArray[np.float64] = np.zeros(n_rows)  # and of those a row is not in
        self._oob_counts: NDArray[np.int64] = np.zeros(n_rows, dtype=np.int64)
        self._dual_coef: NDArray[np.float64] = np.zeros(n_rows)
        self._is_support: NDArray[np.bool_] = np.zeros(n_rows, dtype=np.bool_)
        self._intercepts: list[float] = []
        self.ends: list[SolverEnd] = []
        self.is_stopped = False

    def add_all(self, training: KernelSolver, costs: BagCosts, on_round: Report | None) -> None:
        """Fit the bags and add each, until the callback stops the fit."""
        n_bags = len(self._bags.draws)
        for number, fit in enumerate(fit_bags(training, self._bags, costs, is_heard=on_round is not None)):
            self._add(number, fit)
            end = fit.end
            info = BagRound(number + 1, n_bags, end.n_steps, end.objective, end.gap, end.violation)
            if on_round is not None and on_round(info):
                self.is_stopped = True
                return

    def _add(self, number: int, fit: BagFit) -> None:
        scores, coefs = fit.decision, fit.dual_coef
        if not (np.isfinite(scores).all() and np.isfinite(coefs).all()):
            dtype = self._training.dtype
            raise ValueError(f"X must have smaller entries, because kernel values overflow {dtype}; scale X")
        is_out = self._bags.is_out(number)
        self._totals += scores
        self._oob_totals[is_out] += scores[is_out]
        self._oob_counts += is_out
        self._dual_coef[fit.support] += coefs
        self._is_support[fit.support[coefs != 0]] = True
        if self._coef is not None and fit.coef is not None:
            self._coef += fit.coef
        self._intercepts.append(fit.intercept)
        self.ends.append(fit.end)

    def mean_scores(self) -> NDArray[np.float64]:
        """Return the scores of the training rows by the mean of the SVMs."""
        return self._totals / len(self.ends)

    def _status(self) -> str:
        if self.is_stopped:
            return "callback"
        others = [end.status for end in self.ends if end.status not in {"tol", "gap"}]
        if others:
            return others[0]
        return "gap" if any(end.status == "gap" for end in self.ends) else "tol"

    def model(self, params: dict[str, object]) -> BaggingSVM:
        """Return the mean of the SVMs of the bags that were kept."""
        ends, n_done, intercepts = self.ends, len(self.ends), np.array(self._intercepts)
        objective = np.array([end.objective for end in ends])
        gap, violation = np.array([end.gap for end in ends]), np.array([end.violation for end in ends])
        out_of_bag = np.full(self._totals.size, np.nan)
        rows = np.flatnonzero(~self._bags.is_positive & (self._oob_counts > 0))
        out_of_bag[rows] = self._oob_totals[rows] / self._oob_counts[rows]
        support = np.flatnonzero(self._is_support).astype(np.int64)
        status = self._status()
        coef = None if self._coef is None else self._coef / n_done
        expansion = self._training.expansion(support, self._dual_coef[support] / n_done, coef)
        matrix, kernel = self._training.matrix, self._training.kernel
        return BaggingSVM(
            n_features=matrix.n_features,
            feature_names=matrix.feature_names,
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
            threshold=0.0,
            n_iter=n_done,
            converged=status in {"tol", "gap"},
            status=status,
            objective=objective,
            history={
                "n_steps": np.array([end.n_steps for end in ends]),
                "objective": objective,
                "gap": gap,
                "violation": violation,
            },
            params=params,
            intercept=float(intercepts.mean()),
            gap=float(gap.max()),
            violation=float(violation.max()),
            margin=1.0,
            bags=self._bags.draws[:n_done],
            oob_decision_function=out_of_bag,
            bag_intercepts=intercepts,
        )
