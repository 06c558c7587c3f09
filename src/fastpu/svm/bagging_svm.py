"""Bagging SVM: the mean of many SVMs, each of the positive rows against some of the unlabelled ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import MANY, check_float, check_int, check_random_state
from fastpu.common._progress import make_report
from fastpu.common._text import describe, short
from fastpu.common._warn import span_of, warn_if_alike
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels
from fastpu.kernels._expansion import linear_scores
from fastpu.kernels._kernels import linear_coef
from fastpu.kernels._scales import check_training_rows
from fastpu.model._calibration import of_training_rows
from fastpu.model._cut import CutRows
from fastpu.model._profile import keeps_profile
from fastpu.svm._arguments import check_options, seed_param
from fastpu.svm._fit import linear_engine, solve_linear
from fastpu.svm._solver import KernelSolver, open_solver, warn_of_worst
from fastpu.svm.kernel_machine import KernelMachine

_MOST_DRAWS = 2**28  # most row numbers in all bags together: 2 GiB
_CHUNK_BYTES = 1 << 26  # bytes of scores and coefficients of the bags that are fitted at a time
_SHARING_BAGS = 3  # fewer bags have no common start
_SMALL_BAG, _MANY_BAGS, _FEW_BAGS = 20, 35, 11  # 35 bags where they have up to 20 rows, else 11
_HISTORY = ("n_steps", "objective", "gap", "violation")


@dataclass(frozen=True)
class BagRound:
    """One bag of a bagging SVM that is fitted, as a callback sees it.

    Attributes
    ----------
    bag, n_bags : int
        The number of this bag, from 1, and of the bags asked for.
    n_steps : int
        Pair updates that its SVM took.
    objective, gap, violation : float
        Dual objective, duality gap and largest KKT violation of its SVM at the end.
    """

    bag: int
    n_bags: int
    n_steps: int
    objective: float
    gap: float
    violation: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BaggingSVM(KernelMachine):
    """The mean of the SVMs of all bags, which is a kernel machine with the support vectors of any of them.

    Attributes
    ----------
    bags : ndarray of int64, shape (n_bags, K)
        Numbers of the unlabelled rows in each bag, repeats included.
    oob_decision_function : ndarray of float64, shape (n,)
        Out-of-bag scores of the training rows: for an unlabelled row the mean over the bags that it is not in. NaN for
        labelled rows, which are in every bag, and where an unlabelled row is in every bag too.
    oob_predict_proba : ndarray of float64, shape (n, 2)
        Probabilities by these scores, after `with_probabilities`.
    bag_intercepts : ndarray of float64, shape (n_bags,)
    support, dual_coef, alpha, intercept, coef : ndarray and float
        As in `KernelMachine`, dual_coef and intercept the means over the bags, alpha the absolute value of the former.
    gap, violation : float
        The largest of any bag.
    n_iter : int
        Number of bags.
    status : str
        "tol" if every bag met it, "gap" if the others met the duality gap of `fit_svm`, else "max_iter" or "precision"
        if some did neither, or "callback".
    objective : ndarray of float64, shape (n_bags,)
    history : mapping
        "n_steps", "objective", "gap" and "violation" of each bag.
    """

    bags: NDArray[np.int64]
    oob_decision_function: NDArray[np.float64]
    bag_intercepts: NDArray[np.float64]

    _ndim: ClassVar[Mapping[str, int]] = {**KernelMachine._ndim, "bags": 2}

    def _check_fields(self) -> None:
        super()._check_fields()
        if not len(self.bags) == self.bag_intercepts.size == self.n_iter:
            raise ValueError(f"a model of {self.n_iter} bags must have as many entries in bags and bag_intercepts")
        n_rows = self.oob_decision_function.size
        if self.bags.size and (self.bags.min() < 0 or self.bags.max() >= n_rows):
            raise ValueError(f"bags must hold row numbers in [0, {n_rows})")

    @property
    def oob_predict_proba(self) -> NDArray[np.float64]:
        """Probabilities of both classes for the training rows by their out-of-bag scores, NaN where a row has none.

        They are there after `with_probabilities`, which takes rows that the model was not fitted to, as no labelled row
        is out of a bag. Before, there is an AttributeError.
        """
        return of_training_rows(
            self.calibration, self.calibration_knots, self.calibration_values, self.oob_decision_function
        )

    def _out_of_bag(self) -> NDArray[np.float64]:
        return self.oob_decision_function

    def _unlabelled(self) -> CutRows:
        return CutRows.out_of_bag(self.oob_decision_function, ~np.isnan(self.oob_decision_function))


@answers_unknown_keywords
@keeps_profile
def fit_bagging_svm(
    X: object,
    y: object,
    *,
    C: float = 1.0,
    n_bags: int | None = None,
    bag_ratio: float | None = 1.0,
    kernel: str | Callable[..., object] = "linear",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    cache_mb: float = 200,
    tol: float = 1e-3,
    max_iter: int | None = None,
    sample_weight: object = None,
    groups: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[BagRound], bool | None] | None = None,
    progress: bool = False,
) -> BaggingSVM:
    """Bagging SVM (BASVM): the mean of SVMs, each of all positives against a few unlabelled rows.

    It is for few positives, many unlabelled rows, and a smooth boundary in standardised columns. For columns of several
    kinds take `fit_forest`. `BaggingSVM.oob_decision_function` ranks the unlabelled rows without a second fit.

    Each of T bags holds all n_pos positive rows and K unlabelled rows, drawn with replacement, which stand in for
    negatives. Its SVM minimises

        |w|^2 / 2 + C sum_P max(0, 1 - f_t(x_i)) + C n_pos / K sum_(bag t) max(0, 1 + f_t(x_i)),

    so that both sides weigh the same, and f = (f_1 + ... + f_T) / T. Few of the hidden positives are in any one bag,
    and the mean evens out the harm that they do. Errors are those of `fit_svm`, and a ValueError if `y` has labelled
    negatives, no positive or no unlabelled row.

    Parameters
    ----------
    X, degree, coef0, tol, n_threads, progress
        As in `fit_svm`.
    y, kernel
        As in `fit_bsvm`.
    C : float, default 1.0
        > 0, the cost of a positive row.
    n_bags : int, optional
        T, the number of bags; by default 35 if they have up to 20 unlabelled rows, else 11.
    bag_ratio : float or None, default 1.0
        > 0; K = `bag_ratio` n_pos, rounded, at least 1. With None as many rows are drawn as are unlabelled (a
        bootstrap).
    gamma : float, "scale" or "auto", default "scale"
        One for all bags: "scale" takes the variance of all of `X`.
    cache_mb : float, default 200
        Most memory for kernel rows, in MiB, which all bags share.
    max_iter : int, optional
        Most pair updates in a bag.
    sample_weight : None
        Refused with a TypeError if given: a row that is there twice is drawn twice as often, which no weight in the
        loss makes up for. Repeat rows, or use `fit_bsvm`.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. Each bag then
        leaves some 37 % of the groups of the unlabelled rows out, and an unlabelled row is scored out of bag by the
        bags that hold no row of its group. Positive rows are in every bag, so unlabelled rows of their groups get no
        out-of-bag score.
    random_state : int >= 0, numpy.random.Generator or None
        Draws the bags; the model is the same for every `n_threads`.
    callback : callable, optional
        ``callback(info: BagRound) -> bool``, called after every bag in their order; True ends the fit with the bags so
        far.

    Returns
    -------
    BaggingSVM
        With `oob_decision_function`, which scores the unlabelled training rows by the bags that they are not in.

    Warns
    -----
    ConvergenceWarning
        If the SVM of any bag does not meet `tol`.
    DegenerateModelWarning
        If the model calls all training rows positive, or all negative.

    Notes
    -----
    T fits as in `fit_svm` on n_pos + K rows, several at a time with a kernel; then the scores of the training rows,
    O(n n_support d), or O(n d T) with the linear kernel. With another kernel, bags of at least half as many rows as are
    unlabelled start from the SVM of all rows, in which each unlabelled row counts as often as it is in a bag on
    average.

    References
    ----------
    Mordelet and Vert (2014), A bagging SVM to learn from positive and unlabeled examples.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> hidden = np.repeat([True, False], 40)
    >>> X = rng.standard_normal((80, 2)) + 2.0 * hidden[:, None]
    >>> y = hidden & (np.arange(80) < 20)
    >>> model = fastpu.fit_bagging_svm(X, y, random_state=0)
    >>> model.bags.shape
    (35, 20)
    >>> bool(np.nanmean(model.oob_decision_function[20:40]) > np.nanmean(model.oob_decision_function[40:]))
    True
    """
    if sample_weight is not None:
        raise TypeError(
            f"sample_weight must be None for fit_bagging_svm, where a repeated row is drawn more often: repeat rows, "
            f"or use fit_bsvm; got {describe(sample_weight)}"
        )
    C = check_float("C", C, low=0, open_low=True)
    options = check_options(locals())
    matrix = check_training_rows(X, options.kernel, "fit_bagging_svm")
    warn_of_other_order(X, y=y, groups=groups)
    labels = check_labels(y, matrix.n_rows, pu_only="fit_bagging_svm")
    unlabelled = np.flatnonzero(labels == 0).astype(np.int64)
    ratio = None if bag_ratio is None else check_float("bag_ratio", bag_ratio, low=0, open_low=True)
    n_pos = labels.size - unlabelled.size
    size = unlabelled.size if ratio is None else max(1, round(min(ratio * n_pos, MANY)))
    usual = _MANY_BAGS if size <= _SMALL_BAG else _FEW_BAGS
    n_bags = usual if n_bags is None else check_int("n_bags", n_bags, low=1)
    if n_bags * size > _MOST_DRAWS:
        raise ValueError(
            f"n_bags and bag_ratio must ask for at most {_MOST_DRAWS} row numbers, got {short(n_bags)} bags of "
            f"{short(size)}"
        )
    generator = check_random_state(random_state)
    clusters = cluster_numbers(groups, matrix.n_rows)
    bags = _draw_bags(unlabelled, clusters, n_bags, size, generator)

    with make_report(callback, progress, total=n_bags, description="bagging SVM") as report:
        work = _Bags(open_solver(matrix, options), labels == 1, bags, C, report, clusters)
        work.fit()
    params = {
        "method": "fit_bagging_svm",
        "C": C,
        "n_bags": n_bags,
        "bag_ratio": ratio,
        **options.params(),
        "random_state": seed_param(random_state),
    }
    model = work.model(unlabelled, params)
    warn_of_worst("bags of fit_bagging_svm", "bag", dict(enumerate(work.statuses)), model.history, work.training)
    if model.status in {"tol", "gap", "precision"}:
        warn_if_alike("fit_bagging_svm", span_of(work.totals / model.n_iter), "change the costs or the kernel")
    return model


def _draw_bags(
    unlabelled: NDArray[np.int64],
    clusters: NDArray[np.int32] | None,
    n_bags: int,
    size: int,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw the unlabelled rows of each bag; with clusters from those that as many draws as there are hit."""
    if clusters is None:
        return unlabelled[generator.integers(0, unlabelled.size, size=(n_bags, size))]
    own = np.unique(clusters[unlabelled])
    bags: NDArray[np.int64] = np.empty((n_bags, size), dtype=np.int64)
    for bag in bags:
        drawn = own[generator.integers(0, own.size, size=own.size)]
        rows = unlabelled[np.isin(clusters[unlabelled], drawn)]
        bag[:] = rows[generator.integers(0, rows.size, size=size)]
    return bags


class _Bags:
    """The bags fitted so far, summed up for the mean of their SVMs and for the scores of the training rows."""

    def __init__(
        self,
        training: KernelSolver,
        is_positive: NDArray[np.bool_],
        bags: NDArray[np.int64],
        C: float,
        report: Callable[[BagRound], bool] | None,
        clusters: NDArray[np.int32] | None,
    ) -> None:
        n_rows, n_bags = training.matrix.n_rows, len(bags)
        positives = np.flatnonzero(is_positive).astype(np.int64)
        self.training, self._positives, self._bags, self._report = training, positives, bags, report
        self._clusters = clusters
        self._is_linear = training.kernel.name == "linear"
        self._engine = linear_engine(training) if self._is_linear else None
        self._signs = np.where(is_positive, np.int8(1), np.int8(-1))
        self._coef: NDArray[np.float64] = np.zeros(training.matrix.n_features if self._is_linear else 0)
        self._C, self._C_unl = C, C * positives.size / bags.shape[1]
        if not 0 < self._C_unl * bags.size < np.inf:
            raise ValueError(f"C / bag_ratio must be a positive number, got {self._C_unl}")
        if not min(self._C, self._C_unl) / bags.size >= np.finfo(np.float64).tiny:
            raise ValueError(f"C must be so large that the cost of a row does not underflow in a mean of bags, got {C}")
        self.totals: NDArray[np.float64] = np.zeros(n_rows)  # sums of the scores of all bags,
        self._oob_totals: NDArray[np.float64] = np.zeros(n_rows)  # and of those a row is not in
        self._oob_counts: NDArray[np.int64] = np.zeros(n_rows, dtype=np.int64)
        self._dual_coef: NDArray[np.float64] = np.zeros(n_rows)
        self._is_support: NDArray[np.bool_] = np.zeros(n_rows, dtype=np.bool_)
        self.statuses: list[str] = []
        self._rounds: list[BagRound] = []
        self._intercepts: list[float] = []
        self._is_stopped = False
        # Many bags at a time keep several threads busy; with a callback only a few, so that it soon hears of each bag.
        per_bag = 8 * (n_rows + min(n_rows, positives.size + bags.size))
        self._n_at_once = 1 if self._is_linear else min(n_bags, max(1, _CHUNK_BYTES // per_bag))
        if report is not None:
            self._n_at_once = min(self._n_at_once, 4 * training.options.n_threads)
        self._start = self._common_start(is_positive)

    def _common_start(self, is_positive: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Return the share of its cost at which alpha of every row starts in each bag.

        It comes from the SVM of all rows in which each unlabelled one counts as often as it is in a bag on average.
        None if bags are so few or so small that they would take less time than this SVM.
        """
        training, (n_bags, size) = self.training, self._bags.shape
        n_unlabelled = int(np.count_nonzero(~is_positive))
        if self._is_linear or n_bags < _SHARING_BAGS or 2 * size < n_unlabelled:
            return None
        # The engine of this SVM is not kept, so that its cache does not add to those of the bags.
        alone = open_solver(training.matrix, training.options)
        cost = np.where(is_positive, self._C, self._C_unl * size / n_unlabelled)
        rows = np.arange(is_positive.size, dtype=np.int64)
        return alone.solve("c_svm", rows, self._signs, cost).alpha / cost

    def fit(self) -> None:
        """Fit the bags, until the callback stops the fit."""
        solve = self._solve_linear if self._is_linear else self._solve
        for result in map(solve, range(0, len(self._bags), self._n_at_once)):
            for bag in range(len(result["status"])):
                self._add(result, bag)
                if self._report is not None and self._report(self._rounds[-1]):
                    self._is_stopped = True
                    return

    def _solve(self, first: int) -> dict[str, Any]:
        training, bags = self.training, self._bags[first : first + self._n_at_once]
        n_rows = self._positives.size + bags.shape[1]
        return training.engine.solve_bags(
            self._positives,
            bags,
            cost_pos=np.full(self._positives.size, self._C),
            cost_unl=self._C_unl,
            options=_core.SmoOptions(tol=training.options.tol, max_steps=training.options.steps(n_rows)),
            start=self._start,
            score_rows=np.arange(training.matrix.n_rows, dtype=np.int64),
        )

    def _solve_linear(self, bag: int) -> dict[str, Any]:
        """Solve one bag with the linear kernel, as `fit_svm` does."""
        training, cost = self.training, np.zeros(self._signs.size)
        cost[self._positives] = self._C
        np.add.at(cost, self._bags[bag], self._C_unl)
        solved = solve_linear(training, self._engine, self._signs, cost)
        of_support = solved.of_support()
        support, dual_coef = of_support.rows, of_support.dual_coef
        coef = linear_coef(training.matrix, support, dual_coef) if solved.coef is None else solved.coef
        self._coef += coef
        return {
            "support": support,
            "coefs": dual_coef[:, None],
            "status": [solved.status],
            "decision": linear_scores(training.matrix, coef, solved.intercept, training.options.n_threads)[:, None],
            "intercept": np.array([solved.intercept]),
            **{name: np.array([getattr(solved, name)]) for name in _HISTORY},
        }

    def _add(self, result: dict[str, Any], bag: int) -> None:
        # Bags are added one after the other, so that the sums do not depend on how many are fitted at a time.
        scores, coefs = result["decision"][:, bag], result["coefs"][:, bag]
        if not (np.isfinite(scores).all() and np.isfinite(coefs).all()):
            dtype = self.training.dtype
            raise ValueError(f"X must have entries so small that kernel values do not overflow {dtype}; scale X")
        is_out: NDArray[np.bool_] = np.ones(scores.size, dtype=np.bool_)
        in_bag = self._bags[len(self._rounds)]
        is_out[in_bag] = False
        if self._clusters is not None:
            is_out = ~np.isin(self._clusters, self._clusters[np.concatenate([in_bag, self._positives])])
        self.totals += scores
        self._oob_totals[is_out] += scores[is_out]
        self._oob_counts += is_out
        self._dual_coef[result["support"]] += coefs
        self._is_support[result["support"][coefs != 0]] = True
        self.statuses.append(result["status"][bag])
        self._intercepts.append(result["intercept"][bag].item())
        numbers = {name: result[name][bag].item() for name in _HISTORY}
        self._rounds.append(BagRound(len(self._rounds) + 1, len(self._bags), **numbers))

    def model(self, unlabelled: NDArray[np.int64], params: dict[str, object]) -> BaggingSVM:
        """Return the mean of the SVMs of the bags that were kept."""
        n_done, intercepts = len(self._rounds), np.array(self._intercepts)
        history = {name: np.array([getattr(each, name) for each in self._rounds]) for name in _HISTORY}
        out_of_bag = np.full(self.totals.size, np.nan)
        rows = unlabelled[self._oob_counts[unlabelled] > 0]
        out_of_bag[rows] = self._oob_totals[rows] / self._oob_counts[rows]
        support = np.flatnonzero(self._is_support).astype(np.int64)
        others = [status for status in self.statuses if status not in {"tol", "gap"}]
        reached = "gap" if "gap" in self.statuses else "tol"
        status = "callback" if self._is_stopped else others[0] if others else reached
        coef = self._coef / n_done if self._is_linear else None
        return BaggingSVM(
            **self.training.vectors(support, self._dual_coef[support] / n_done, coef),
            threshold=0.0,
            n_iter=n_done,
            converged=status in {"tol", "gap"},
            status=status,
            objective=history["objective"],
            history=history,
            params=params,
            intercept=float(intercepts.mean()),
            gap=float(history["gap"].max()),
            violation=float(history["violation"].max()),
            margin=1.0,
            bags=self._bags[:n_done],
            oob_decision_function=out_of_bag,
            bag_intercepts=intercepts,
        )
