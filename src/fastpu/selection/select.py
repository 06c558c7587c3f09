"""Choice of parameters by a criterion on held-out rows that needs no labelled negatives."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.common._frame import frame_of
from fastpu.common._frozen import FrozenMapping
from fastpu.common._functions import check_function
from fastpu.common._params import check_choice, check_int, check_random_state
from fastpu.common._sharing import bound_arguments, shared_parameters, shares_together
from fastpu.common._text import describe, short
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import (
    FoldsLike,
    GroupsLike,
    LabelsLike,
    MatrixLike,
    RandomState,
    Scenario,
    ScoresRows,
    VectorLike,
)
from fastpu.data._clusters import cluster_numbers
from fastpu.data._folds import Fold, fold_sizes, stratified_folds
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._table_rows import TableRows
from fastpu.data._validate import check_labels, check_sample_weight, check_vector
from fastpu.model._prior import PriorEstimate, check_scenario, take_prior_in
from fastpu.selection._criteria import Criterion, CriterionName, check_scoring
from fastpu.selection._grid import FitSignature, Grid, check_grid
from fastpu.selection._search import Search
from fastpu.selection._selection_prior import SelectionPrior, fit_with_prior
from fastpu.selection._splits import FoldSplits, Split, check_folds, is_splitter
from fastpu.selection._trials import TrialSetup

if TYPE_CHECKING:
    import pandas as pd


_MAY_PASS = ("not_converged", "degenerate")
_MOST_SHOWN = 6  # tied points that a printed result names


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The result of `select`. Printed, it also names the points that are as good as the chosen one.

    Attributes
    ----------
    best_params : mapping
        The chosen parameters.
    best_score : float
        Their value of the criterion: the mean over the folds, or the value on the validation set.
    table : mapping of str to ndarray
        Columns with an entry for each point, in the order in which the points were tried: "param_<name>" for every
        parameter of the grid, "score", "fold_0", "fold_1", ... for each fold, "status" ("ok", "not_converged",
        "degenerate" or "failed", the worst of the folds), "message" (the warning of the fit, or why it failed),
        "seconds" (of all its fits) and "stage" ("grid" or "greedy"). `to_frame` gives it as a pandas frame.
    model : object
        The model that `fit` returned for all rows and `best_params`.
    best_index : int
        Row of the chosen point in the table.
    scoring : str
        The criterion.
    tied : ndarray of int64
        Rows in the table of all points with the best score (within 1e-12), the chosen one included. If there are
        several, the criterion cannot tell them apart, and the one that was tried first was chosen.
    """

    best_params: Mapping[str, Any]
    best_score: float
    table: Mapping[str, NDArray[Any]]
    model: Any
    best_index: int
    scoring: str
    tied: NDArray[np.int64]

    def __repr__(self) -> str:
        return (
            f"Selection(best_params={dict(self.best_params)!r}, {self.scoring}={self.best_score:.6g}, "
            f"{self.table['score'].size} points tried{self._ties_text()})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return `table` as a pandas frame, with a row for each point that was tried.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return frame_of(self.table)

    def _ties_text(self) -> str:
        """Say which points share the best score, by the parameters in which they differ."""
        if self.tied.size < 2:
            return ""
        columns = {key.removeprefix("param_"): self.table[key] for key in self.table if key.startswith("param_")}
        values = {name: [short(column[i]) for i in self.tied.tolist()] for name, column in columns.items()}
        differing = {name: of_name for name, of_name in values.items() if len(set(of_name)) > 1}
        points = [
            ", ".join(f"{name}={of_name[i]}" for name, of_name in differing.items()) for i in range(len(self.tied))
        ]
        more = f" and {len(points) - _MOST_SHOWN} more" if len(points) > _MOST_SHOWN else ""
        named = f": {'; '.join(points[:_MOST_SHOWN])}{more}" if differing else ""
        return f"; {self.tied.size} of them have this score, and the one tried first was chosen{named}"


def select(
    fit: Callable[..., ScoresRows | Sequence[ScoresRows]],
    X: MatrixLike,
    y: LabelsLike,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    *,
    scoring: CriterionName | Callable[[Any, Any, Any], float] = "puf",
    cv: FoldsLike = 4,
    validation: tuple[MatrixLike, LabelsLike] | None = None,
    refine: Literal["greedy"] | None = None,
    random_state: RandomState = None,
    prior: float | PriorEstimate | None = None,
    scenario: Scenario = "case_control",
    k: float | None = None,
    sample_weight: VectorLike | None = None,
    groups: GroupsLike | None = None,
    admit: Sequence[Literal["not_converged", "degenerate"]] = (),
    n_threads: int | None = None,
    **fit_params: Any,
) -> Selection:
    """Choose the parameters of a fit by a criterion on held-out rows, and fit all rows with the best ones.

    This is a grid search for data without labelled negatives, for which no accuracy can be computed. For a ranking take
    ``scoring="lift"`` with a share `k`; for a classifier take "err_star" if the prior is known, and "puf" if it is not.
    With fewer than some twenty labelled rows leave the parameters at their defaults: so few rows can hardly tell two
    values apart.

    Each point of the grid is fitted to the rows outside each fold and judged on the rows in it. The score of the point
    is the mean over the folds. With a validation set, each point is fitted to all rows and judged on that set.

    Parameters
    ----------
    fit : callable
        Any `fit_*` function of fastpu, or a function of yours ``fit(X, y, **params)``. It returns an object with
        `decision_function`, and with `threshold` if that is not 0.
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        Rows, as `fit` takes them. With ``kernel="precomputed"`` the folds hold out rows and columns alike.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows and, for a `fit` that takes them, -1 for labelled
        negative rows. `fastpu.as_labels` converts other codings.
    grid : dict of lists, or list of such dicts
        Values of each parameter. All combinations are tried, in the order of nested loops: the last parameter changes
        fastest. The dicts of a list are tried one after the other.
    scoring : {"puf", "err_star", "error", "auc", "lift", "average_precision"} or callable, default "puf"
        The criterion.

        - "puf" (`metrics.puf_score`) is maximised.
        - "err_star" (`metrics.err_star`) is minimised. It needs `prior`.
        - "error", the error rate, is minimised. It needs true labels: a `validation` set that has them, or a `y`
          without unlabelled rows.
        - "auc" is maximised. It compares positives with labelled negatives, or with unlabelled rows if no row is
          labelled negative.
        - "lift" (`metrics.lift_at_k`) is maximised. It needs `k`, and depends on the order of the rows alone.
        - "average_precision" (`metrics.average_precision`) is maximised. It needs `prior`, and depends on the order of
          the rows alone.
        - A callable ``scoring(model, X, y) -> float`` gets the held-out rows and their labels, and is maximised.
    cv : int, sequence of pairs of arrays, or splitter, default 4
        The folds.

        - A number of folds >= 2. The rows of each kind of label are dealt to them separately. With `groups` the folds
          hold whole groups.
        - A sequence with a pair (numbers of training rows, numbers of held-out rows) for each fold.
        - A splitter such as scikit-learn's `StratifiedKFold`. It gets `groups`, which `GroupKFold` and others heed.
    validation : (X, y), optional
        Rows and labels to judge by in place of folds. For "error" and "auc" the labels are true ones, {1, -1}, {1, 0}
        or booleans; for the other criteria they are +1 and 0 (unlabelled).
    refine : {"greedy"}, optional
        "greedy" goes on from the best point of the grid. In each round, each numeric parameter with at least two values
        in the grid is made 10 % larger and 10 % smaller, one parameter at a time (whole numbers change by at least 1).
        The search goes to the best of these points if it is better, and ends otherwise. By default only the grid is
        tried.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the folds. If `fit` takes a `random_state`, all fits get the same seed: this int,
        or one that is drawn. None takes a fresh seed.
    prior : float or PriorEstimate, optional
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows. The criteria "err_star" and "average_precision" need it.

        A `fit` that needs a `prior` gets this one too: with its `scenario` if it takes one, and else converted to the
        share among the unlabelled rows. A `fit` that needs none, such as `fit_forest` with ``loss="gini"``, gets none.
        To fit with another prior than that of the criterion, put it into the grid: ``{"prior": [0.1]}``.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the unlabelled rows are a sample of the population. "single_set": all
        rows together are one. It matters to "puf" and "err_star". For "average_precision" it only says what `prior` is
        a share of.
    k : int or float, optional
        For "lift", which needs it: how many of the held-out unlabelled rows are flagged. A float in (0, 1] is a share
        of them, which does not depend on the size of the folds; an int >= 1 is a number of rows.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0 of the rows, for fits and scores. "lift", "average_precision", callables and validation sets are
        scored without weights.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. Folds
        then hold out whole groups, so that points are judged by rows of new groups. A `fit` that takes groups gets them
        too. The value of a criterion on held-out rows counts rows, whatever their groups, as the metrics do: only the
        interval of a metric depends on groups.
    admit : sequence of {"not_converged", "degenerate"}, default ()
        Which flawed models may be chosen. By default a point is inadmissible, and has the worst possible score, if any
        of its fits warns with ConvergenceWarning ("not_converged") or DegenerateModelWarning ("degenerate"). A point
        whose fit fails is always inadmissible.
    n_threads : int, optional
        The most threads to use, >= 1. By default one fit is made after the other, each with the threads that it uses by
        default. The result is the same for any number.

        With a number, and joblib installed, the fits are made by that many processes with one thread each. Without
        joblib each fit uses that many threads. Grids of kernel machines always do (see Notes).
    **fit_params
        Further arguments of every fit. `sample_cost` is cut by rows, as `sample_weight` is.

    Returns
    -------
    Selection
        With `best_params`, `best_score`, `table`, `to_frame()` and `model`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `fit` returns no such object, no point is admissible, or all fits fail. The
        message gives the reason of the first point.

    Warns
    -----
    FailedFitWarning
        If some points of the grid failed. The message says how many, and why the first one did.
    ConvergenceWarning
        If the greedy search still finds better points after 1000 rounds.

    Notes
    -----
    Ties: of points with equal scores (within 1e-12) the one that was tried first is chosen, so the order of the grid
    decides. `tied` lists them, and the printed result names them. PUF and Err* take few values with few labelled rows,
    so ties are frequent.

    Some functions take a sequence of values for a parameter and return a list of models that share work, as `fit_isvm`
    does for `C`. Points that differ in such a parameter alone are fitted in one call. The function names these
    parameters in its attribute `shares`, a tuple of names; a function of yours may have one too. If its attribute
    `shares_together` is true, as that of `fit_pual`, points that differ in several of these parameters are fitted in
    one call, which gets sequences of one length for all of them.

    A `fit` that takes a `prior` is given one, unless its attribute `prior_where` says when it needs one: a pair of the
    name of a parameter and of the values of that parameter, as `fit_forest` has.

    Grids of kernel machines are solved as one problem: `fit_svm`, `fit_bsvm` and `fit_nu_svm` with the kernel "rbf",
    "poly" or "precomputed", over costs, `nu` and `gamma`, on folds. All widths and folds share squared distances, all
    costs and folds share kernel rows, and each fit starts from the solution of its neighbour and ends where it meets
    `tol`, as a fit of its own does: scores differ by about `tol`. Memory is `cache_mb`, and some 20 MB a thread.

    Of the fits on folds, only warnings of categories that are not fastpu's are shown. Warnings that make a point
    inadmissible are in the table, and the final fit shows all of its own. Python records warnings for a whole process,
    so calls from several threads at once may note each other's warnings: use processes (`n_threads`) instead.

    Time: a fit for each point and fold, and one more; a large grid of kernel machines takes half of that or less.
    Memory: a copy of the rows of one fold at a time, or of a few with several processes.

    References
    ----------
    Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples", sections 4, 5.
    Wang, Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data", section 4.2.4 (greedy moves).

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> X, truth = fastpu.datasets.make_two_normals(300, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=40, random_state=0)
    >>> chosen = fastpu.select(
    ...     fastpu.fit_bsvm, X[split.train], split.y_train, {"C_pos": [0.1, 1.0, 10.0], "C_unl": [0.1, 1.0]},
    ...     scoring="err_star", prior=split.prior, random_state=0,
    ... )
    >>> chosen.table["score"].shape
    (6,)
    >>> bool(np.mean(chosen.model.predict(X[split.test]) != truth[split.test]) < 0.25)
    True
    """
    expected = (
        "a function of X and y such as fastpu.fit_forest (for a classifier take scikit-learn's GridSearchCV with a "
        "scorer of fastpu.estimators)"
    )
    check_function("fit", fit, expected, arguments=("X", "y"), has_keywords=True, may_be_class=True)
    arguments = FitSignature.of(fit)
    checked = check_grid(grid, arguments)
    drawn_as = check_scenario(scenario)
    given_prior = None if prior is None else SelectionPrior(*take_prior_in(drawn_as, prior))
    criterion = check_scoring(scoring, given_prior, drawn_as, k)
    if refine is not None:
        check_choice("refine", refine, ("greedy",), " or None")
    rows = TableRows(X)
    warn_of_other_order(rows.X, y=y, sample_weight=sample_weight, groups=groups)
    labels = check_labels(y, rows.n_rows)
    generator = check_random_state(random_state)
    seed = random_state if isinstance(random_state, int | np.integer) else int(generator.integers(2**32))
    fixed = _fixed_arguments(arguments, checked.names, fit_params, seed)
    by_row = _by_row(arguments, fixed, sample_weight, rows.n_rows)
    clusters = cluster_numbers(groups, rows.n_rows)
    if clusters is not None and arguments.takes("groups"):
        by_row["groups"] = clusters
    most_threads = None if n_threads is None else resolve_n_threads(n_threads)
    jobs, threads_of_a_fit = _processes(most_threads, arguments)
    shares, together = shared_parameters(fit), shares_together(fit)
    is_square = _is_square(fit, fixed, checked)
    if given_prior is not None:
        fit_alone, fit = fit, fit_with_prior(fit, arguments, fixed, checked, labels, given_prior)
        if fit is fit_alone and not criterion.takes_prior:
            raise ValueError(
                f"prior must be None where neither scoring nor fit needs it, got {given_prior.value:g} for scoring="
                f"{criterion.name!r} and {arguments.function}"
            )
    threads = {} if threads_of_a_fit is None else {"n_threads": threads_of_a_fit}
    setup = TrialSetup(fit, fixed | threads, threads_of_a_fit, criterion, _admitted(admit))
    source: FoldSplits | list[Split]
    if validation is None:
        folds = _folds(cv, labels, clusters, generator, criterion)
        source = FoldSplits(rows, labels, by_row, folds, is_square=is_square)
    else:
        source = [Split(rows.X, labels, by_row, *_validation_rows(validation, criterion), None)]
    search = Search(setup, source, checked, shares, together, jobs=jobs, n_threads=most_threads)
    chosen = search.try_all()
    if refine is not None:
        chosen = search.refine(chosen, arguments)
    threads_of_last_fit = {} if threads_of_a_fit is None else {"n_threads": most_threads}
    model = fit(X, labels, **{**threads_of_last_fit, **fixed}, **by_row, **search.points[chosen])
    return Selection(
        best_params=FrozenMapping(search.points[chosen]),
        best_score=search.scores[chosen],
        table=FrozenMapping(search.table()),
        model=model,
        best_index=chosen,
        scoring=criterion.name,
        tied=search.tied_with(chosen),
    )


# ------------------------------------------------------------------------------------------------ arguments


def _admitted(admit: Sequence[str]) -> tuple[str, ...]:
    if isinstance(admit, str) or not isinstance(admit, Iterable):
        raise TypeError(f"admit must be a list of strings, got {describe(admit)}")
    return tuple(check_choice("admit", flaw, _MAY_PASS) for flaw in admit)


def _fixed_arguments(
    arguments: FitSignature, in_grid: Sequence[str], fit_params: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Return the arguments of every fit that are not in the grid: the user's, and what `select` knows."""
    for name in fit_params:
        arguments.check(name, "an argument of select")
        if name in in_grid:
            raise ValueError(f"{name} must be either in grid or an argument, got both")
    fixed = dict(fit_params)
    if arguments.takes("random_state") and "random_state" not in in_grid:
        fixed["random_state"] = seed
    return fixed


def _by_row(arguments: FitSignature, fixed: dict[str, Any], sample_weight: object, n_rows: int) -> dict[str, Any]:
    """Return the arguments that have an entry for every row, taken out of `fixed`."""
    by_row: dict[str, Any] = {}
    if (weights := check_sample_weight(sample_weight, n_rows)) is not None:
        arguments.check("sample_weight", "an argument of select")
        by_row["sample_weight"] = weights
    if fixed.get("sample_cost") is not None:
        by_row["sample_cost"] = check_vector("sample_cost", fixed.pop("sample_cost"), n=n_rows, allow_inf=True)
    return by_row


def _is_square(fit: Any, fixed: Mapping[str, Any], grid: Grid) -> bool:
    """Return whether X is a kernel matrix, of which folds select columns as well."""
    if any("precomputed" in values.get("kernel", ()) for values in grid.dicts):
        raise ValueError("kernel='precomputed' must be an argument of its own, not in grid")
    kernel = {**bound_arguments(fit), **fixed}.get("kernel")
    return isinstance(kernel, str) and kernel == "precomputed"


def _folds(
    cv: Any,
    labels: NDArray[np.int8],
    clusters: NDArray[np.int32] | None,
    generator: np.random.Generator,
    criterion: Criterion,
) -> list[Fold]:
    criterion.check_rows(labels, "y")
    if not isinstance(cv, numbers.Integral):
        grouped = () if clusters is None else (clusters,)
        pairs = cv.split(np.empty((labels.size, 0)), labels, *grouped) if is_splitter(cv) else cv
        folds = check_folds(pairs, labels.size, others="an integer >= 2, a splitter of scikit-learn's kind,")
    else:
        n_folds = check_int("cv", cv, low=2)
        of = "rows" if clusters is None else "groups with rows"
        for code, kind in ((1, "positive"), (0, "unlabelled"), (-1, "negative")):
            count = fold_sizes(labels, clusters)[code]
            if 0 < count < n_folds:
                hint = f"pass cv={count} or less" if count > 2 else "pass cv=2"
                if count == 1:
                    one = f"one {kind} row" if clusters is None else f"one group with {kind} rows"
                    hint = f"{one} cannot be both fitted and held out: pass validation"
                raise ValueError(
                    f"cv = {n_folds} folds need at least {n_folds} {of} of each kind, got {count} {kind}; {hint}"
                )
        folds = stratified_folds(labels, n_folds, generator, clusters)
    for number, (_, held_out) in enumerate(folds):
        criterion.check_held_out(labels[held_out], f"fold {number} of {len(folds)}")
    return folds


def _validation_rows(validation: object, criterion: Criterion) -> tuple[Any, Any]:
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        raise TypeError(f"validation must be a pair (X, y), got {describe(validation)}")
    held_out = TableRows(validation[0], name="X of validation")
    return held_out.X, criterion.check_validation(validation[1], held_out.n_rows)


def _processes(threads: int | None, arguments: FitSignature) -> tuple[int, int | None]:
    """Return the number of processes, and the `n_threads` of a fit in each of them; None for a fit that takes none."""
    if threads is None:
        return 1, None
    jobs = 1 if find_spec("joblib") is None else threads
    return jobs, threads // jobs if arguments.takes("n_threads") else None
