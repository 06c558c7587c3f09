"""ISVM and IPSI: a large-margin classifier and the labels of the unlabelled rows, by turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import is_sequence
from fastpu.common._progress import make_report
from fastpu.common._sharing import marked
from fastpu.common._types import LabelsLike, MatrixLike, RoundCallback, VectorLike
from fastpu.model._with_profile import with_profiles
from fastpu.svm._default_cost import default_cost
from fastpu.svm._label_fits import fit_costs
from fastpu.svm._label_iteration import LabelIteration
from fastpu.svm._margin_costs import check_costs
from fastpu.svm._margin_rows import MarginOptions, MarginRows, open_margin_rows
from fastpu.svm._margin_warnings import warn_of_flaws
from fastpu.svm._row_costs import MOST_COST
from fastpu.svm.linear_machine import LinearMachine
from fastpu.svm.margin_round import MarginRound


@answers_unknown_keywords
@marked(shares=("C",))
def fit_isvm(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C: float | Sequence[float] | NDArray[Any] | None = None,
    tol: float = 1e-3,
    max_iter: int = 100,
    solver_tol: float = 1e-9,
    solver_max_iter: int | None = None,
    check_increase: bool = True,
    solver: Literal["exact", "iadmm"] = "exact",
    sample_weight: VectorLike | None = None,
    n_threads: int | None = None,
    callback: RoundCallback[MarginRound] | None = None,
    progress: bool = False,
) -> LinearMachine | list[LinearMachine]:
    """ISVM, the iterative SVM: fit a linear SVM, label the unlabelled rows by it, and repeat.

    It is for a linear boundary where classes overlap and no prior is known, for text (CSR), and for more columns than
    rows. The one parameter to choose is `C`. Standardise columns of numbers. Where positives are rare, `predict` calls
    too many rows positive: the scores still rank, and `LinearMachine.with_threshold` matches a prior.

    Let the labels y be +1 on the labelled rows, and +1 or -1 on each unlabelled row. With n_+ rows labelled +1 and n_-
    rows labelled -1, let

        S(f, y) = |w|^2 / 2 + C [ 1/n_+ sum_(y_i = 1) L(f(x_i)) + 1/n_- sum_(y_i = -1) L(-f(x_i)) ],    f(x) = w'x + b,

    and L(z) = max(0, 1 - z). The first classifier f_0 minimises S with all unlabelled rows labelled -1. Then, for k =
    0, 1, ..., the labels y_k give the unlabelled rows the signs of f_k (-1 where it is 0), and f_(k+1) minimises S(.,
    y_k). The iteration ends with

    - status "labels": y_(k+1) = y_k, a fixed point;
    - status "tol": S(f_(k+1), y_(k+1)) differs from S(f_k, y_k) by at most a share `tol`;
    - status "increase": the new labels would raise S, S(f_(k+1), y_(k+1)) > S(f_(k+1), y_k). They can, because they
      change n_+ and n_-;
    - status "no_negative": f_(k+1) calls no unlabelled row negative, so that S is not defined. No minimiser does so,
      which means that a sub-problem was not solved.

    The model is f_(k+1). It keeps the labels y_(k+1) if "tol", `max_iter` or the callback ends the iteration, and y_k
    otherwise.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Bring the features to one
        scale, for example by standardising them.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    C : float, sequence of floats or None, default None
        The cost of errors, > 0. A larger value allows fewer errors on the training rows. A sequence gives a list of
        models, which are, bit by bit, those of single fits. What depends on `X` alone is computed once for all of them.
        Without a callback several are fitted at a time, each in a thread.

        None takes 80 n_pos / (s^2 sqrt(max(n_pos, d))). Here n_pos is the number of labelled rows, or the sum of their
        weights if that is more; s^2 is the mean squared distance of rows from their mean, which is d for standardised
        columns. The model keeps the value in its `params`.
    tol : float, default 1e-3
        The iteration ends when S changes by at most this share, >= 0. With 0 it goes on until S does not change at all
        or another status ends it, which takes finitely many steps.
    max_iter : int, default 100
        The most steps after f_0, >= 1. Two or three are usual.
    solver_tol : float, default 1e-9
        The duality gap at which the solver of a sub-problem stops, as a share of the objective, in (0, 1).
    solver_max_iter : int, optional
        The most iterations of the solver in one sub-problem, >= 1. By default each solver has its own limit.
    check_increase : bool, default True
        Whether the status "increase" ends the iteration, as in the paper; S(f_k, y_k) then never increases. With False,
        models of the paper's examples are slightly better on new rows, but labels can go round in a cycle. A cycle is
        recognised, and ends the iteration with the status "max_iter".
    solver : {"exact", "iadmm"}, default "exact"
        "exact" is an interior-point and active-set method for up to 2000 features. It tries coordinate descent first
        for CSR, and for more than 200 features. For more than 2000 features it is coordinate descent, or sequential
        minimal optimisation where that converges slowly. "iadmm" is the paper's alternating direction method, with the
        errors of its print corrected.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row, in n_+, n_- and the sums. Rows of weight 0
        are left out. A common factor of all weights changes only the default of `C`.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: MarginRound) -> bool | None``, called after each of the classifiers f_0, f_1 and so on. If it
        returns True, the fit ends. Values of `C` that have not been fitted by then are left out.
    progress : bool, default False
        Whether to show a progress bar that counts the classifiers f_0, f_1 and so on. The bar is that of tqdm; without
        tqdm a line is printed to standard error every ten seconds.

    Returns
    -------
    LinearMachine, or a list of them if `C` is a sequence
        The model, with `coef`, `intercept`, `pseudo_labels`, `status` and `history`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or if `y` has labelled negatives, no positive or no unlabelled row. The
        message names the argument, what is expected and what came.
    MemoryError
        If there is too little memory. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` is reached, or a sub-problem is not solved to `solver_tol`. The message gives its duality gap.
    DegenerateModelWarning
        If the iteration ends with "no_negative", or the model calls all training rows the same.
    EstimateWarning
        If the model calls far more unlabelled rows positive than can be: where a share r of the labelled rows and a
        share q of the unlabelled ones score above a threshold, at most q / r of the unlabelled rows are positive. The
        warning comes if by that bound a fifth or more of the rows that are called positive are negative. The scores may
        still rank well, so `select` does not leave out such a model.

    Notes
    -----
    Each step is one sub-problem: a weighted SVM whose intercept is not penalised. Without a start it costs 10 to 20
    times O(n d^2), and less from the last solution. Memory is O(n + d^2) beside `X`. The minimising w is unique, but S
    can have an interval of best intercepts, about 2 wide for small `C`; the model has the middle of it.

    References
    ----------
    Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples", (2.2) and
    Algorithm 1.

    Examples
    --------
    >>> import fastpu
    >>> X, truth = fastpu.datasets.make_two_normals(200, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=20, random_state=0)
    >>> rows, y = X[split.train], split.y_train
    >>> model = fastpu.fit_isvm(rows, y, C=1.0)
    >>> model.status
    'labels'
    >>> [m.coef.shape for m in fastpu.fit_isvm(rows, y, C=[0.1, 1.0, 10.0])]
    [(2,), (2,), (2,)]
    """
    options = MarginOptions.checked(
        max_iter=max_iter,
        solver_tol=solver_tol,
        solver_max_iter=solver_max_iter,
        solver=solver,
        n_threads=n_threads,
    )
    iteration = LabelIteration.checked(
        loss="hinge", init="hinge", tol=tol, check_increase=check_increase, max_iter=options.max_iter
    )
    params = {**iteration.params(), **options.params()}
    with make_report(callback, progress, total=None, description="ISVM") as on_round:
        rows = open_margin_rows(X, y, sample_weight, "fit_isvm", options.n_threads, is_relative=True)
        costs = _costs_for(rows, C)
        fits = fit_costs(costs, rows, iteration, options, "fit_isvm", params, on_round)
    warn_of_flaws([fit.flaws for fit in fits], "fit_isvm")
    models = with_profiles([fit.model for fit in fits], X, y, sample_weight)
    return models if is_sequence(C) else models[0]


@answers_unknown_keywords
@marked(shares=("C",))
def fit_ipsi(
    X: MatrixLike,
    y: LabelsLike,
    *,
    C: float | Sequence[float] | NDArray[Any] | None = None,
    init: Literal["hinge", "psi", "isvm"] = "hinge",
    tol: float = 1e-3,
    max_iter: int = 100,
    solver_tol: float = 1e-9,
    solver_max_iter: int | None = None,
    check_increase: bool = True,
    solver: Literal["exact", "iadmm"] = "exact",
    sample_weight: VectorLike | None = None,
    n_threads: int | None = None,
    callback: RoundCallback[MarginRound] | None = None,
    progress: bool = False,
) -> LinearMachine | list[LinearMachine]:
    """IPSI, iterative psi-learning: the iterative SVM with the psi loss, which bounds the influence of an outlier.

    It is for data that suit `fit_isvm`, but have rows far on the wrong side: wrong labels, or outliers among the
    unlabelled rows. With a small `C` it can collapse to a model that calls all rows the same.

    Let the labels y be +1 on the labelled rows, and +1 or -1 on each unlabelled row. With n_+ rows labelled +1 and n_-
    rows labelled -1, let

        S(f, y) = |w|^2 / 2 + C [ 1/n_+ sum_(y_i = 1) L(f(x_i)) + 1/n_- sum_(y_i = -1) L(-f(x_i)) ],    f(x) = w'x + b,

    with the psi loss L(z) = min(1, max(0, 1 - z)) = max(0, 1 - z) + min(z, 0). For k = 0, 1, ..., the labels y_k give
    the unlabelled rows the signs of f_k (-1 where it is 0), and f_(k+1) is to minimise S(., y_k). The minimiser is
    sought by the difference-of-convex iteration from f_k: min(z, 0) is replaced by s z, with s = 1 where z < 0 at the
    last classifier and 0 elsewhere. This is a convex problem. It is solved again and again, until the set of rows with
    s = 1 comes back. S never increases on the way. The end is a fixed point of that iteration, not always the least
    minimum.

    The outer iteration ends with

    - status "labels": y_(k+1) = y_k, a fixed point;
    - status "tol": S(f_(k+1), y_(k+1)) differs from S(f_k, y_k) by at most a share `tol`;
    - status "increase": the new labels would raise S, S(f_(k+1), y_(k+1)) > S(f_(k+1), y_k);
    - status "no_negative": f_(k+1) calls no unlabelled row negative, so that S is not defined;
    - status "collapsed": w is 0 (see Notes).

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features. float32 and float64, in C order or CSR, are used without a copy. Bring the features to one
        scale, for example by standardising them.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    C : float, sequence of floats or None, default None
        The cost of errors, > 0. A larger value allows fewer errors on the training rows. A sequence gives a list of
        models, which are, bit by bit, those of single fits. What depends on `X` alone is computed once for all of them.
        Without a callback several are fitted at a time, each in a thread.

        None takes 80 n_pos / (s^2 sqrt(max(n_pos, d))). Here n_pos is the number of labelled rows, or the sum of their
        weights if that is more; s^2 is the mean squared distance of rows from their mean, which is d for standardised
        columns. The model keeps the value in its `params`.
    init : {"hinge", "psi", "isvm"}, default "hinge"
        The start f_0. "hinge" minimises S with the loss max(0, 1 - z) and all unlabelled rows labelled -1. "psi" goes
        on from there by the difference-of-convex iteration with the same labels, as the paper prints it. "isvm" is the
        model of `fit_isvm`, with its `pseudo_labels` as y_0.
    tol : float, default 1e-3
        The iteration ends when S changes by at most this share, >= 0. With 0 it goes on until S does not change at all
        or another status ends it, which takes finitely many steps.
    max_iter : int, default 100
        The most steps after f_0, >= 1. One or two are usual.
    solver_tol : float, default 1e-9
        The duality gap at which the solver of a sub-problem stops, as a share of the objective, in (0, 1).
    solver_max_iter : int, optional
        The most iterations of the solver in one sub-problem, >= 1. By default each solver has its own limit.
    check_increase : bool, default True
        Whether the status "increase" ends the iteration, as in the paper; S(f_k, y_k) then never increases. With False,
        models of the paper's examples are slightly better on new rows, but labels can go round in a cycle. A cycle is
        recognised, and ends the iteration with the status "max_iter".
    solver : {"exact", "iadmm"}, default "exact"
        "exact" is an interior-point and active-set method for up to 2000 features. It tries coordinate descent first
        for CSR, and for more than 200 features. For more than 2000 features it is coordinate descent, or sequential
        minimal optimisation where that converges slowly. "iadmm" is the paper's alternating direction method, with the
        errors of its print corrected.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row, in n_+, n_- and the sums. Rows of weight 0
        are left out. A common factor of all weights changes only the default of `C`.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: MarginRound) -> bool | None``, called after each of the classifiers f_0, f_1 and so on. If it
        returns True, the fit ends. Values of `C` that have not been fitted by then are left out.
    progress : bool, default False
        Whether to show a progress bar that counts the classifiers f_0, f_1 and so on. The bar is that of tqdm; without
        tqdm a line is printed to standard error every ten seconds.

    Returns
    -------
    LinearMachine, or a list of them if `C` is a sequence
        The model, with `coef`, `intercept`, `pseudo_labels`, `status` and `history`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or if `y` has labelled negatives, no positive or no unlabelled row. The
        message names the argument, what is expected and what came.
    MemoryError
        If there is too little memory. The message says how many bytes were wanted.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` is reached, or a sub-problem is not solved to `solver_tol`. The message gives its duality gap.
    DegenerateModelWarning
        If the psi loss has collapsed, if the iteration ends with "no_negative", or if the model calls all training rows
        the same.
    EstimateWarning
        If the model calls far more unlabelled rows positive than can be: where a share r of the labelled rows and a
        share q of the unlabelled ones score above a threshold, at most q / r of the unlabelled rows are positive. The
        warning comes if by that bound a fifth or more of the rows that are called positive are negative.

    Notes
    -----
    For small `C` the minimum of S with the psi loss is at w = 0, where S = C and all rows are called the same. This is
    always so if C < 1 / (2 D^2), with D the largest distance between rows of opposite label. A classifier with w = 0
    ends the iteration with the status "collapsed", even if no unlabelled row is called negative. Do not use such a
    model: raise `C`. In the paper's first example, about half of its values of `C` collapse from the start "psi", and
    two fifths from the others.

    A step takes some three sub-problems. Each is a weighted SVM, which costs 10 to 20 times O(n d^2) without a start,
    and less from the last solution.

    References
    ----------
    Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples", Algorithms 1, 2.

    Examples
    --------
    >>> import fastpu
    >>> X, truth = fastpu.datasets.make_two_normals(200, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=20, random_state=0)
    >>> model = fastpu.fit_ipsi(X[split.train], split.y_train, C=10.0)
    >>> model.status, model.pseudo_labels.shape
    ('labels', (146,))
    """
    options = MarginOptions.checked(
        max_iter=max_iter,
        solver_tol=solver_tol,
        solver_max_iter=solver_max_iter,
        solver=solver,
        n_threads=n_threads,
    )
    iteration = LabelIteration.checked(
        loss="psi", init=init, tol=tol, check_increase=check_increase, max_iter=options.max_iter
    )
    params = {"init": iteration.init, **iteration.params(), **options.params()}
    with make_report(callback, progress, total=None, description="IPSI") as on_round:
        rows = open_margin_rows(X, y, sample_weight, "fit_ipsi", options.n_threads, is_relative=True)
        costs = _costs_for(rows, C)
        fits = fit_costs(costs, rows, iteration, options, "fit_ipsi", params, on_round)
    warn_of_flaws([fit.flaws for fit in fits], "fit_ipsi")
    models = with_profiles([fit.model for fit in fits], X, y, sample_weight)
    return models if is_sequence(C) else models[0]


def _costs_for(rows: MarginRows, C: float | Sequence[float] | NDArray[Any] | None) -> list[float]:
    """Return the values of C, or its default; raise ValueError for one that leaves a row no cost, or overflows."""
    costs = [default_cost(rows.matrix, rows.is_labelled, rows.weights)] if C is None else check_costs(C)
    weights = rows.weights
    least = 1 / rows.is_labelled.size if weights is None else float(weights.min()) / float(weights.sum())
    for cost in costs:
        if not (cost * least > 0 and cost <= MOST_COST):
            raise ValueError(
                f"C must be at most {MOST_COST:g}, and so large that the cost of each row, C divided by the rows of "
                f"its label, is not 0 in float64, got {cost!r}"
            )
    return costs
