"""The model of both SVM paths: all solutions, and the choice of the best one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, RandomState, Scenario
from fastpu.model._prior import PriorEstimate
from fastpu.path._points import PathPoints
from fastpu.path._selection import PathScoring, best_machine, curve_on_path
from fastpu.svm.kernel_machine import KernelMachine


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SVMPath(PathPoints):
    """All solutions of a weighted SVM over its regularisation lam, from `fit_svm_path` or `fit_pu_svm_path`.

    For every lam > 0, f(x) = (sum_j a_j y_j K(x, x_j) + a0) / lam, where a and a0 are linear in lam between the
    breakpoints. `at` gives the machine at any lam, `select` the best one; `decision_function` and `predict` are those
    of the end of the path.

    Attributes
    ----------
    lams : ndarray of float64
        Breakpoints, falling: from the first, above which a is constant, to the last, and at each of them rows arrive at
        the margin or leave it. If `status` is "zero", f is the same for every lam below the last one; else the last
        entry is where the path stopped, which need not be a breakpoint.
    events : ndarray of records (lam, kind, row)
        What happened at the breakpoints: row `row` of `X` is "start" (on the margin from above the first breakpoint
        on), "from_right" (meets the margin from outside, a = 0), "from_left" (from inside, a = cost), "to_right" or
        "to_left" (leaves it). Row numbers are those of the training `X`.
    n_events : int
        How many events there are.
    coef : ndarray of float64, shape (len(lams), n_features), or None
        For the linear kernel, computed when asked for: f(x) = coef[k]'x + intercepts[k] at lams[k].
    intercepts : ndarray of float64, shape (len(lams),)
        a0 / lam.
    rows, labels, costs : ndarray of shape (n,)
        The training rows with a cost that is not 0, as numbers in `X`; their signs y and costs c.
    heavier : int
        The class whose costs sum to more: +1, -1 or 0. Above the first breakpoint all rows are called that.
    start_alpha : ndarray of float64, shape (n,)
        a above the first breakpoint.
    knots, offsets : ndarray of float64
        lam and a0 at the breakpoints and at the end of the last segment, lam = 0 if `status` is "zero".
    weights : ndarray of float64, shape (len(knots), n_features), or None
        lam w at the knots, for the linear kernel of up to 128 features: sums over a and the training rows have lost
        digits where columns are of unlike scale.
    change_start, change_row, change_alpha : ndarray
        a of rows (positions in `rows`) that changed from knot k - 1 to knot k, from change_start[k] on.
    event_knot, event_kind, event_row : ndarray
        What `events` is made of; event_row are positions in `rows`.
    kernel : str
        The name of the kernel, "precomputed", or "callable" for a function.
    gamma : float, or None
        The number that was used; None for kernels without it.
    degree : int
    coef0 : float
    function : callable, or None
        The kernel function of the caller, for the kernel "callable".
    train_dense, train_data, train_indices, train_indptr : ndarray or None
        The training rows `rows`, dense or CSR; none for a precomputed kernel.
    violation : float
        The largest violation of the optimality conditions at the breakpoints, in units of f(x). For the linear kernel
        of up to 128 features all breakpoints are checked. For others those are checked where the scores of all rows
        were computed, the last one included. A linear kernel is also checked at the last breakpoint on the rows as they
        were given.
    n_iter : int
        Number of entries of `lams`.
    status : str
        "zero" (followed down to lam = 0), "lam_min" (stopped there, above other breakpoints), "trivial" (w = 0 for
        every lam: no breakpoint), "precision" (lam is so small that float64 does not show the margin), "max_events",
        "stalled" (rounding hides which rows are on the margin, or what comes next), "indefinite" (the kernel is not
        positive semidefinite) or "callback".
    converged : bool
        Whether status is one of the first three.
    objective : ndarray of float64, shape (n_iter,)
        sum_i c_i max(0, 1 - y_i f(x_i)) + lam |w|^2 / 2 at the breakpoints.
    history : mapping
        For every breakpoint "lam", "objective", "norm" (|w|^2), "loss" (the sum of c_i max(0, 1 - y_i f(x_i))) and
        "n_margin" (rows that move below it).

    Notes
    -----
    Memory: the training rows, and the values of a that changed at each breakpoint.
    """

    def __repr__(self) -> str:
        ends = f"lams {self.lams[0]:.4g} to {self.lams[-1]:.4g}, " if self.lams.size else ""
        return f"SVMPath({ends}n_events={self.n_events}, status={self.status!r}, kernel={self.kernel!r})"

    def select(
        self,
        scoring: PathScoring = "puf",
        X: MatrixLike | None = None,
        y: LabelsLike | None = None,
        *,
        prior: float | PriorEstimate | None = None,
        scenario: Scenario = "case_control",
        n_folds: int | None = None,
        random_state: RandomState = None,
        n_threads: int | None = None,
    ) -> KernelMachine:
        """Return the machine of the best lam, found exactly over the whole path.

        The criteria depend only on which rows are called positive. Between two breakpoints lam f(x) is linear in lam,
        so a row changes sides at most once, at a lam that is computed. Between two neighbouring ones of these lam the
        criterion is constant. All these intervals are tried, not a grid.

        Parameters
        ----------
        scoring : {"puf", "err_star", "f1", "error", "end"} or callable, default "puf"
            What the best machine is.

            - "puf": the largest `fastpu.metrics.puf_score`.
            - "err_star": the smallest `fastpu.metrics.err_star`. It needs `prior`.
            - "f1": the largest F1 of the positive class, on rows with true labels. Every label but +1 is negative.
            - "error": the smallest share of rows called wrong, on rows with true labels. Every label but +1 is
              negative.
            - "end": the end of the path, which needs no rows.
            - A function ``scoring(y, predicted) -> float`` of the labels and of predictions +1 or -1 is maximised. It
              is called once for each interval.
        X, y : array-like of shapes (n, d) and (n,), optional
            Held-out rows with their labels, +1 (positive) and 0 (unlabelled); all criteria but "puf" and "err_star"
            also take -1. By default the training rows, whose negatives count as unlabelled; better pass `n_folds` then.
        prior : float or PriorEstimate, optional
            The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``,
            among all rows. "err_star" needs it, and the other criteria do not take it.
        scenario : {"case_control", "single_set"}, default "case_control"
            How the rows were drawn. "case_control": the unlabelled rows are a sample of the population, drawn apart
            from the labelled ones. "single_set": all rows are one sample, and some of its positives were labelled.
        n_folds : int, optional
            The number of folds, >= 2, in place of `X` and `y`. A path for the training rows of each fold is judged on
            the rows that were left out. The paths are merged on lam n_train / n, because the losses of fewer rows sum
            to less, and the rows of all folds are counted together.
        random_state : int >= 0, numpy.random.Generator or None, default None
            Seed or generator that draws the folds. None takes a fresh seed.
        n_threads : int, optional
            The most threads to use, >= 1. By default, one for each CPU that this process may use. The paths of folds
            take the `cache_mb` of this one.

        Returns
        -------
        KernelMachine
            ``at(lam)`` for a lam inside the best interval (its geometric mean; of equally good ones that of the
            largest lam), with "lam", "scoring", "value" and the interval "lam_low", "lam_high" in `params`. Without
            `n_folds` the value is that of this machine itself. An interval that reaches beyond the first or the last
            breakpoint of the path is taken to end there.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.

        Notes
        -----
        O(n (n_train d + changes)) time, and once more a path for each fold.
        """
        curve = curve_on_path(
            self,
            scoring,
            X,
            y,
            prior=prior,
            scenario=scenario,
            n_folds=n_folds,
            random_state=random_state,
            n_threads=n_threads,
        )
        best = best_machine(self, curve, resolve_n_threads(n_threads))
        machine = self.at(best.lam)
        return replace(machine, params={**machine.params, **best.params()})
