"""The whole regularisation path of an SVM, SvmPath and PU-SvmPath: the model, and its fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float
from fastpu.common._progress import make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.data._matrix import Matrix
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._training_rows import require_both
from fastpu.data._validate import check_labels
from fastpu.kernels._expansion import linear_scores
from fastpu.kernels._kernels import centred, linear_coef, resolve_gamma
from fastpu.kernels._scales import check_training_rows
from fastpu.model._prior import PriorEstimate
from fastpu.path._fit import PathOptions, PathRound, check_costs, check_path_options, follow_path, warn_of_path
from fastpu.path._points import PathPoints, path_fields
from fastpu.path._selection import best_machine, curve_on_path
from fastpu.svm._svm_problem import check_supervised
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
    kernel, gamma, degree, coef0, function
        As in `KernelMachine`.
    train_dense, train_data, train_indices, train_indptr : ndarray or None
        The training rows `rows`, dense or CSR; none for a precomputed kernel.
    violation : float
        Largest violation of the optimality conditions at the breakpoints, in units of f(x): of all for the linear
        kernel of up to 128 features, else of those where the scores of all rows were computed, the last one included.
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
        scoring: str | Callable[..., float] = "puf",
        X: object = None,
        y: object = None,
        *,
        prior: float | PriorEstimate | None = None,
        scenario: str = "case_control",
        n_folds: int | None = None,
        random_state: object = None,
        n_threads: int | None = None,
    ) -> KernelMachine:
        """Return the machine of the best lam, found exactly over the whole path.

        The criteria depend on which rows are called positive alone. On a segment lam f(x) is linear in lam, so every
        row changes sides at most once, at a lam that is computed; between two such lam of any two rows the criterion is
        constant. All these intervals are tried, not a grid.

        Parameters
        ----------
        scoring : {"puf", "err_star", "f1", "error", "end"} or callable, default "puf"
            The largest `fastpu.metrics.puf_score`, the smallest `fastpu.metrics.err_star`; for rows with true labels,
            the largest F1 of the positive class or the smallest share of rows called wrong, where every label but +1
            is negative; or the end of the path, which needs no rows. A function ``scoring(y, predicted) -> float``,
            with the labels of the rows and +1 or -1 for each, is maximised; it is called once for each interval.
        X, y : array-like of shapes (n, d) and (n,), optional
            Held-out rows, with labels +1 (positive) and 0 (unlabelled), but for "puf" and "err_star" -1 as well. None:
            the training rows, whose negatives count as unlabelled; better pass `n_folds` then.
        prior : float or PriorEstimate, optional
            Needed by "err_star", as in `fastpu.metrics.err_star`.
        scenario : {"case_control", "single_set"}, default "case_control"
            As in the metrics.
        n_folds : int, optional
            Number of folds, >= 2, in place of `X` and `y`: a path for the training rows of each fold is judged on the
            rows that were left out. The paths are merged on lam n_train / n, for the losses of fewer rows sum to less,
            and the rows of all folds are counted together.
        random_state : None, int or numpy.random.Generator
            Of the folds.
        n_threads : int, optional
            As in `decision_function`. The paths of folds take the `cache_mb` of this one.

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
        given = locals()
        curve = curve_on_path(given.pop("self"), **given)
        best = best_machine(self, curve, resolve_n_threads(n_threads))
        machine = self.at(best.pop("lam"))
        return replace(machine, params={**machine.params, **best})


@answers_unknown_keywords
def fit_svm_path(
    X: object,
    y: object,
    *,
    sample_cost: object = None,
    kernel: str | Callable[..., object] = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    lam_min: float = 0.0,
    max_events: int | None = None,
    cache_mb: float = 200,
    n_threads: int | None = None,
    callback: Callable[[PathRound], bool | None] | None = None,
    progress: bool = False,
) -> SVMPath:
    """All solutions of the weighted SVM over its regularisation, with every breakpoint (SvmPath).

    It is for labelled positives and labelled negatives, up to a few thousand rows, if you want the best cost of all
    rather than the best of a grid, or want to see how the machine changes with it. For one given cost take `fit_svm`.

    The fit finds, for all lam > 0 at once, the minimisers over w, b in the feature space of the kernel of

        sum_i c_i max(0, 1 - y_i (w'phi(x_i) + b)) + lam |w|^2 / 2,

    where a row with c_i = inf must have y_i f(x_i) >= 1. This is the C-SVM of `fit_svm` with C_i = c_i / lam.
    Errors are those of `fit_svm`.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Converted to float64 once if it has another dtype. With ``kernel="precomputed"`` the symmetric matrix of K
        between every two rows, shape (n, n), dense.
    y : array-like of shape (n,)
        +1 positive, -1 negative. Unlabelled rows (0) are for `fit_pu_svm_path`.
    sample_cost : array-like of shape (n,), optional
        c, 1 by default, each 0, inf (allowed in one of the classes) or in [1e-100, 1e100]. Rows of cost 0 are left out.
    kernel : str or callable, default "rbf"
        As in `fit_svm`. It must be positive semidefinite, as "sigmoid" and some functions are not: where the path meets
        a direction of negative curvature it ends with status "indefinite".
    gamma, degree, coef0, n_threads, progress
        As in `fit_svm`.
    lam_min : float, default 0.0
        Where the path stops, unless its last breakpoint is above: then f does not change any more, and is known for
        every lam. With 0 it goes on until then, or until float64 does not show the margin.
    max_events : int, optional
        The path ends at the breakpoint where it has had so many events (rows that arrive at the margin or leave it,
        `SVMPath.events`); by default 50 n + 1000, some ten times what paths have.
    cache_mb : float, default 200
        Most memory for kernel rows, in MiB. With less than n^2 values (8 bytes each) rows are computed again.
    callback : callable, optional
        ``callback(info: PathRound) -> bool``, called at every breakpoint; True ends the path.

    Returns
    -------
    SVMPath

    Warns
    -----
    ConvergenceWarning
        If the path ends early: status "max_events", "stalled", "precision" or "indefinite".
    DegenerateModelWarning
        If w = 0 for every lam (status "trivial"): the mean of the class whose costs sum to less, weighted by them, can
        be had from the other class within its costs. It is common where few positives are labelled and all others
        count as negative.

    Notes
    -----
    O(n m + m^2) for each breakpoint with m rows on the margin, and n^2 d for kernel values; some 0.1 n to 4 n
    breakpoints. Memory: `cache_mb`, m^2 / 2 values, a copy of the rows, and m values for each breakpoint.

    Rows that arrive at the margin together, repeated rows and singular systems are dealt with by a directional
    quadratic program at the breakpoint; Newton steps keep rounding from adding up. Rows that are nearer to each other
    than some 1e-7 of their norm in feature space are the same to a kernel matrix in float64. The linear kernel of up to
    128 columns is not formed: the path carries lam w itself, and a column a million times as large as others does no
    harm to it.

    References
    ----------
    Hastie, Rosset, Tibshirani and Zhu (2004), The entire regularization path for the support vector machine.

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [1.0], [1.5], [2.0], [2.5], [4.0]]
    >>> path = fastpu.fit_svm_path(X, [-1, -1, 1, -1, 1, 1], kernel="linear")
    >>> path.lams.round(3)
    array([10.  ,  2.  ,  0.75])
    >>> path.at(0.5).predict(X)
    array([-1, -1, -1,  1,  1,  1])
    >>> path.status
    'zero'
    """
    options = check_path_options(locals())
    matrix = check_training_rows(X, options.kernel, "fit_svm_path")
    labels = check_supervised(y, matrix.n_rows, "fit_svm_path")
    costs = np.ones(matrix.n_rows) if sample_cost is None else check_costs(sample_cost, labels, "sample_cost")
    require_both(labels, costs, "fit_svm_path", ("positive", "negative"))
    return _fit("fit_svm_path", {}, matrix, labels, costs, options, callback, progress)


@answers_unknown_keywords
def fit_pu_svm_path(
    X: object,
    y: object,
    *,
    C_pos: float = math.inf,
    C_unl: float = 1.0,
    kernel: str | Callable[..., object] = "linear",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    lam_min: float = 0.0,
    max_events: int | None = None,
    cache_mb: float = 200,
    n_threads: int | None = None,
    callback: Callable[[PathRound], bool | None] | None = None,
    progress: bool = False,
) -> SVMPath:
    """PU-SvmPath: all solutions of the SVM that must have every labelled positive right.

    It is for positives whose labels are certain, classes that overlap little, and up to a few thousand rows:
    `SVMPath.select` then finds the best regularisation of all. Where classes overlap give a finite `C_pos`, or all
    rows may be called positive.

    The fit finds, for all lam > 0 at once, the minimisers over w, b in the feature space of the kernel of

        C_unl sum_U max(0, 1 + f(x_i)) + lam |w|^2 / 2   subject to  f(x_i) >= 1 for all labelled positives,

    or, with a finite `C_pos` for positives that may be wrong, of C_pos sum_P max(0, 1 - f(x_i)) +
    C_unl sum_U max(0, 1 + f(x_i)) + lam |w|^2 / 2. A cost that no dual variable reaches on the path is as good as
    infinite. With an infinite `C_pos` the path is trivial where the mean of the unlabelled rows lies in the convex hull
    of the labelled ones: then all rows are called positive. Use `SVMPath.select` to choose lam. Errors, warnings, time
    and memory are those of `fit_svm_path`; a ValueError also says so if `y` has labelled negatives, no positive or no
    unlabelled row.

    Parameters
    ----------
    X, gamma, degree, coef0, lam_min, max_events, cache_mb, n_threads, callback, progress
        As in `fit_svm_path`.
    y : array-like of shape (n,)
        +1 labelled positive, 0 unlabelled.
    C_pos : float, default inf
        > 0, of the labelled positives.
    C_unl : float, default 1.0
        > 0 and finite, of the unlabelled rows, which count as negative.
    kernel : str or callable, default "linear"
        As in `fit_svm_path`.

    Returns
    -------
    SVMPath
        Its `labels` are -1 for unlabelled rows.

    References
    ----------
    Yao, Tang and Li, "The entire solution path for support vector machine in positive and unlabeled classification".

    Examples
    --------
    >>> import fastpu
    >>> X = [[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]]
    >>> path = fastpu.fit_pu_svm_path(X, [0, 0, 1, 1, 0, 0])
    >>> path.predict(X)
    array([-1, -1,  1,  1, -1, -1])
    >>> path.select("puf", X, [0, 0, 1, 1, 0, 0]).params["lam"] > 0
    True
    """
    costs = {
        "C_pos": check_float("C_pos", C_pos, low=0, open_low=True, allow_inf=True),
        "C_unl": check_float("C_unl", C_unl, low=0, open_low=True),
    }
    options = check_path_options(locals())
    matrix = check_training_rows(X, options.kernel, "fit_pu_svm_path")
    warn_of_other_order(X, y=y)
    labels = check_labels(y, matrix.n_rows, pu_only="fit_pu_svm_path")
    signs = np.where(labels == 1, np.int8(1), np.int8(-1))
    by_row = np.where(labels == 1, costs["C_pos"], costs["C_unl"])
    check_costs(by_row, signs, "C_pos or C_unl")
    return _fit("fit_pu_svm_path", costs, matrix, signs, by_row, options, callback, progress)


def _fit(
    function: str,
    arguments: dict[str, float],
    matrix: Matrix,
    labels: NDArray[np.int8],
    costs: NDArray[np.float64],
    options: PathOptions,
    callback: object,
    progress: object,
) -> SVMPath:
    rows = np.flatnonzero(costs > 0).astype(np.int64)
    kernel = resolve_gamma(options.kernel, matrix, None if rows.size == costs.size else (costs > 0).astype(np.float64))
    with make_report(callback, progress, total=None, description="SVM path") as report:
        result = follow_path(matrix, kernel, rows, labels[rows], costs[rows], options, report)
    if not all(np.isfinite(result[name]).all() for name in ("knots", "offsets", "weights", "violation")):
        raise ValueError(
            "X must have entries so small that kernel values do not overflow; scale X or use another kernel"
        )
    train: dict[str, Any] = {}
    if kernel.name != "precomputed":
        train = matrix[rows].convert(np.dtype(np.float64), sparse=matrix.is_sparse).fields("train")
    model = SVMPath(
        **kernel.fields(matrix),
        threshold=0.0,
        params={"method": function, **arguments, **options.params()},
        rows=rows,
        labels=labels[rows],
        costs=costs[rows],
        **train,
        **path_fields(result),
    )
    if kernel.name == "linear" and model.lams.size:
        # The core has seen centred rows. Far from the origin a score has fewer digits than it had there.
        result["violation"] = max(result["violation"], _violation_at_end(model, options.n_threads))
        model = replace(model, violation=result["violation"])
    heavier = "positive" if result["heavier"] > 0 else "negative or unlabelled" if result["heavier"] < 0 else "other"
    warn_of_path(function, result, heavier)
    return model


def _violation_at_end(path: SVMPath, n_threads: int) -> float:
    """Return the largest violation of the optimality conditions by the linear model at the last breakpoint."""
    last, train = path.lams.size - 1, path.train()
    alpha = path.alpha_at(last)
    if path.weights is None:
        weights = linear_coef(centred(train), np.arange(alpha.size), alpha * path.labels)
    else:
        weights = path.weights[last]
    slack = path.labels * linear_scores(train, weights / path.end, float(path.intercepts[-1]), n_threads) - 1
    return float(np.maximum(np.where(alpha < path.costs, -slack, 0), np.where(alpha > 0, slack, 0)).max(initial=0))
