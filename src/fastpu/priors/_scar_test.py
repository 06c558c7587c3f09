"""A test that labels are missing completely at random, column by column."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._frame import frame_of
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._text import short
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import ColumnsLike, GroupsLike, LabelsLike, MatrixLike, RandomState, Scenario, ScoresRows
from fastpu.data._columns import chosen_columns
from fastpu.data._matrix import Matrix
from fastpu.data._table_rows import TableRows
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.model._prior import PriorEstimate, check_scenario, proper_prior, take_prior_in
from fastpu.priors._held_out_scores import Ranker, held_out_scores, open_rankers
from fastpu.priors._sample import Sample, sample_of
from fastpu.priors._two_samples import FEWEST, Difference, difference_above_a_cut, difference_of_categories, holm

if TYPE_CHECKING:
    import pandas as pd

_PURE = 0.9  # share of the unlabelled rows that are compared that must be positive by the prior
_MOST_PERMUTATIONS = 10**6
_MOST_DIVISIONS = 1000


@dataclass(frozen=True, eq=False)
class ScarTest:
    """How labelled and unlabelled positive rows differ in each column: the result of `scar_test`.

    Printed, it is a table, with the smallest p-values first.

    Attributes
    ----------
    columns : tuple of str or int
        Names of the columns, or their numbers where they have no names.
    difference : ndarray of float64
        The share of the compared labelled rows above `cut` minus that of the compared unlabelled rows, at the cut where
        it is furthest from 0. It is positive where labelled rows have the larger values.
    cut : ndarray of float64
        The cut of each column. Missing entries are below all numbers: a cut of -inf separates them from the others. NaN
        for columns of categories.
    p_value : ndarray of float64
        The p-value of each column by itself: 1 for a constant column, NaN where too few rows can be compared.
    p_adjusted : ndarray of float64
        The p-values after Holm's correction for the number of columns that could be tested, without constant ones. With
        a probability of 95 % or more, no column is below 0.05 by chance alone.
    p_halves : ndarray of float64 of shape (n_columns, n_divisions)
        The p-value by the scores of half of the divisions into folds, for random halves. They spread about `p_value` as
        much as p-values of other seeds (`random_state`) do. NaN where too few rows can be compared.
    n_labeled, n_unlabeled : ndarray of int64
        How many labelled and how many unlabelled rows were compared; with `groups`, how many groups.
    purity : ndarray of float64
        The estimated share of positives among the compared unlabelled rows, by the prior; NaN if `n_top` was passed.
    category : tuple
        For a column of categories, the category whose shares differ most, by `difference`; NaN stands for missing
        entries. None for a column of numbers.
    """

    columns: tuple[str | int, ...]
    difference: NDArray[np.float64]
    cut: NDArray[np.float64]
    p_value: NDArray[np.float64]
    p_adjusted: NDArray[np.float64]
    p_halves: NDArray[np.float64]
    n_labeled: NDArray[np.int64]
    n_unlabeled: NDArray[np.int64]
    purity: NDArray[np.float64]
    category: tuple[object, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas frame, one row each, in their order.

        "p_least_half" and "p_largest_half" are the ends of `p_halves`.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        tested = np.isfinite(self.p_halves)
        columns = {
            "difference": self.difference,
            "cut": self.cut,
            "category": np.array(self.category, dtype=object),
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "purity": self.purity,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "p_least_half": np.where(
                tested.any(axis=1), np.min(self.p_halves, axis=1, where=tested, initial=1.0), np.nan
            ),
            "p_largest_half": np.where(
                tested.any(axis=1), np.max(self.p_halves, axis=1, where=tested, initial=0.0), np.nan
            ),
        }
        return frame_of(columns, index=self.columns, index_name="column")

    def __repr__(self) -> str:
        names = [str(column) for column in self.columns]
        width = max(6, *(len(name) for name in names))
        head = f"{'column':<{width}}  difference        cut  labelled  unlabelled  p-value  adjusted  by halves"
        lines = [
            f"{names[i]:<{width}}  {self.difference[i]:>+10.2f} {self._where(i):>10}  {self.n_labeled[i]:>8}  "
            f"{self.n_unlabeled[i]:>10}  {self.p_value[i]:>7.3g}  {self.p_adjusted[i]:>8.3g}  {self._halves(i)}"
            if np.isfinite(self.p_value[i])
            else f"{names[i]:<{width}}  cannot be tested: too few unlabelled rows are surely positive"
            for i in np.lexsort([-np.abs(self.difference), self.p_value]).tolist()
        ]
        return "\n".join([head, *lines])

    def _where(self, i: int) -> str:
        """Return the cut of a column, or its category, as the table shows it."""
        category = self.category[i]
        if self.cut[i] == -np.inf or (isinstance(category, float) and np.isnan(category)):
            return "missing"
        return f"{self.cut[i]:.4g}" if category is None else short(category)

    def _halves(self, i: int) -> str:
        known = self.p_halves[i][np.isfinite(self.p_halves[i])]
        return f"{known.min():.2g} to {known.max():.2g}" if known.size else "none"


@answers_unknown_keywords
def scar_test(
    X: MatrixLike,
    y: LabelsLike,
    *,
    prior: float | PriorEstimate | None = None,
    scenario: Scenario = "case_control",
    n_top: int | None = None,
    columns: ColumnsLike | None = None,
    groups: GroupsLike | None = None,
    fit: Callable[[Any, NDArray[np.int64]], ScoresRows] | None = None,
    n_permutations: int = 999,
    n_divisions: int = 10,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> ScarTest:
    """Test, column by column, that labelled rows are a random sample of the positives ("SCAR").

    If labels are at random, labelled and unlabelled positives differ in no column. The unlabelled positives are not
    known, but some can be found. For each column, rows are scored by models of the *other* columns, which are fitted to
    tell labelled from unlabelled rows of other folds. So neither the column nor a row's own label decides which rows
    are compared. Nearly all rows with the largest scores are positive. Among these, labelled and unlabelled rows are
    compared in the column, by the largest difference of their shares above a cut (Kolmogorov and Smirnov), or of their
    shares in a category. The p-value is how often a difference is as large if labels are dealt out to these rows at
    random.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of features, with at least two columns. The units of columns do not matter to the default `fit`. Missing
        entries and categories are taken as they are: a missing entry is compared as a number below all others.
    y : array-like of shape (n,)
        Labels: +1 (or True) for labelled positive rows, 0 (False or missing) for unlabelled rows. There must be at
        least two of each. Labelled negative rows (-1) are left out.
    prior : float or PriorEstimate, optional
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows, the labelled ones included. An estimate of `fastpu.priors` is always that of the unlabelled rows. If
        in doubt, pass too small a prior.

        It decides how many rows are compared: as many of the largest scores as leave 90 % of the unlabelled rows among
        them positive. That share is estimated by prior (labelled rows above / n_pos) / (unlabelled rows above / n_unl).
        The other 10 % could change the difference by 10 % at most, which is taken off before the difference is compared
        with chance.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the labelled and the unlabelled rows are two samples. "single_set": all
        rows together are one sample, and the prior is converted to that of the unlabelled rows.
    n_top : int, optional
        In place of `prior`: how many unlabelled rows, those with the largest scores, are taken for positive, >= 10. The
        test is valid only if they are positive.
    columns : str, int, slice, list of str or of int, or mask, optional
        The columns to test, by their names or numbers. By default all.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. Folds
        then hold out whole groups, and each group counts once: by that row whose score is the median of its labelled
        rows, and by one of its unlabelled rows in the same way. `prior` and `n_top` are then shares and numbers of
        groups. Without `groups`, p-values are far too small where whole groups are labelled and their rows are alike.
    fit : callable, optional
        A function ``fit(X, y) -> model`` with `y` in {1, 0}, whose ``model.decision_function(X)`` is larger for rows
        that are more like the positive ones. It gets rows of the kind that you pass, without the column that is tested.
        By default two models are added up: 100 boosted stumps (`fastpu.fit_pnu_auc_boost`), and squared-loss AUC in 200
        Gaussian basis functions (`fastpu.baselines.fit_ls_auc`). If entries are missing or columns have categories, a
        forest of 200 trees takes the place of the second. Scores that you have cannot be passed: their model has seen
        the column.
    n_permutations : int, default 999
        The number of permutations, from 1 to 10^6. No p-value is below 1 / (n_permutations + 1); for d columns take 20
        d or more.
    n_divisions : int, default 10
        The number of divisions of the rows into folds, from 1 to 1000. A row's score is the mean over them. With more
        divisions the p-value depends less on `random_state`.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the folds and the permutations. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The result is the same
        for any number.

    Returns
    -------
    ScarTest
        For each column the difference, its p-value, and the p-value after Holm's correction.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `fit` returns no model with scores.

    Warns
    -----
    EstimateWarning
        If `prior` is an estimate and the data allow very different priors.

    Notes
    -----
    **A small p-value** says that labels depend on this column or on others that go along with it. If only positives of
    one kind are labelled, more of the unlabelled rows with large scores are negative than the prior says; columns that
    tell the classes apart then differ a little, too. So begin with the column of the largest difference.

    **A large p-value** proves little. A column cannot be tested if the other columns do not tell which rows are
    positive, and labels may depend on something that is not a column. Without a region of surely positive rows nothing
    can be tested.

    In simulations of labels at random, with 600 rows, six columns and a linear `fit`, 4 to 6 % of the p-values were
    below 0.05 where `n_top` was half of the positives, and less than 1 % with the true prior, because 10 % of impurity
    is taken off. More are below 0.05 if the classes overlap so much that many of the `n_top` rows are negative. Where
    labels depended on a column (log odds of one for each standard deviation), its p-value was below 0.05 in 85 to 100 %
    with the true prior. p-values in mid-range differ from seed to seed by a standard deviation of .05 to .09, which
    `p_halves` shows, and 1.4 to 2 times as much with a single division.

    For each column and division five models are fitted to four fifths of the rows. For the m rows that are compared,
    the permutations take O(n_permutations n_divisions m). A column has the same draws whatever columns stand beside it.
    20,800 rows with 13 columns, two of them of categories, took 98 seconds of one processor. Where that is too long,
    test fewer `columns`, or take fewer `n_divisions`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.priors import scar_test
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(1500) < 0.4
    >>> X = rng.standard_normal((1500, 3)) + 3 * positive[:, None] * [1, 1, 0]
    >>> labelled = positive & (rng.random(1500) < 1 / (1 + np.exp(-2 * X[:, 2])))  # the last column decides
    >>> test = scar_test(X, labelled, prior=0.25, random_state=0)
    >>> test.columns[np.argmax(np.abs(test.difference))], bool(test.p_adjusted[2] < 0.01)
    (2, True)
    """
    threads, generator = resolve_n_threads(n_threads), check_random_state(random_state)
    require_rows(X, "scar_test")
    rows = TableRows(X)
    counted, sample = sample_of(X, y, rows.n_rows, "scar_test", groups)
    rows = rows.only(counted)
    matrix = check_matrix(rows.X, finite=False, takes_categories=True)
    selected = _selection(prior, scenario, n_top, sample)
    count = check_int("n_permutations", n_permutations, low=1, high=_MOST_PERMUTATIONS)
    divided = check_int("n_divisions", n_divisions, low=1, high=_MOST_DIVISIONS)
    if matrix.n_features < 2:
        raise ValueError("X must have at least 2 columns: rows that are alike in the others are compared in each")
    numbers, names = chosen_columns("columns", columns, matrix.n_features, matrix.feature_names), matrix.feature_names
    # Every column has the same draws, so that none has another p-value for those beside it.
    seed = int(generator.integers(2**63))
    tests = []
    for number in numbers.tolist():
        column = _Column(_entries(matrix, number), matrix.categories.get(str(number)))
        if column.is_constant:
            tests.append(_constant(column, divided))
            continue
        draws = np.random.default_rng(seed)
        rankers = open_rankers(rows.without_column(number), fit, draws, threads)
        with one_blas_thread() if fit is None else contextlib.nullcontext():
            scores = _Scores.of_divisions(sample, rankers, divided, draws)
        tests.append(_test_of(column, sample, scores, selected, count, draws))
    p_value = np.array([test.difference.p_value for test in tests])
    return ScarTest(
        columns=tuple(int(number) if names is None else names[number] for number in numbers),
        difference=np.array([test.difference.value for test in tests]),
        cut=np.array([test.difference.where if test.column.categories is None else np.nan for test in tests]),
        p_value=p_value,
        p_adjusted=holm(p_value, is_open=np.array([not test.column.is_constant for test in tests])),
        p_halves=np.array([test.p_halves for test in tests]),
        n_labeled=np.array([test.n_labeled for test in tests]),
        n_unlabeled=np.array([test.n_unlabeled for test in tests]),
        purity=np.array([test.purity for test in tests]),
        category=tuple(test.column.category_at(test.difference.where) for test in tests),
    )


@dataclass(frozen=True)
class _ByPrior:
    """As many rows are compared as leave most of the unlabelled ones among them positive, by this prior."""

    prior: float


@dataclass(frozen=True)
class _ByNumber:
    """So many unlabelled rows are compared, which are taken for positive."""

    n_top: int


def _selection(
    prior: float | PriorEstimate | None, scenario: str, n_top: int | None, sample: Sample
) -> _ByPrior | _ByNumber:
    """Return which rows are compared, by the one argument of two that is passed."""
    if n_top is None and prior is not None:
        number, drawn_as = take_prior_in(scenario, prior)
        return _ByPrior(proper_prior(number, drawn_as, n_pos=sample.pos.size, n_unl=sample.unl.size))
    if n_top is not None and prior is None:
        proper_prior(None, check_scenario(scenario), n_pos=sample.pos.size, n_unl=sample.unl.size)
        return _ByNumber(check_int("n_top", n_top, low=FEWEST, high=sample.n_independent_unl))
    passed = "None for both" if prior is None else f"{short(prior)} and {short(n_top)}"
    raise TypeError(
        f"pass either prior or n_top, which say how many of the unlabelled rows with the largest scores are taken for "
        f"positive; got {passed}"
    )


@dataclass(frozen=True)
class _Column:
    """The entries of a column, or the places of its categories; missing ones are -inf, below all others."""

    entries: NDArray[np.float64]
    categories: tuple[Any, ...] | None

    @property
    def is_constant(self) -> bool:
        return bool((self.entries == self.entries[0]).all())

    def category_at(self, where: float) -> object:
        """Return the category of a place, NaN for the missing one; None for columns of numbers."""
        if self.categories is None:
            return None
        return self.categories[int(where)] if where >= 0 else np.nan


def _entries(matrix: Matrix, number: int) -> NDArray[np.float64]:
    column = matrix.table()[:, [number]]
    values = np.array(column.toarray() if matrix.is_sparse else column, dtype=np.float64).ravel()
    values[np.isnan(values)] = -np.inf
    return values


@dataclass(frozen=True)
class _Scores:
    """Scores of the positive and of the unlabelled rows, a line for each division of the rows into folds."""

    pos: NDArray[np.float64]
    unl: NDArray[np.float64]

    @classmethod
    def of_divisions(cls, sample: Sample, rankers: list[Ranker], n: int, generator: np.random.Generator) -> _Scores:
        scores = [held_out_scores(sample, rankers, generator) for _ in range(n)]
        return cls(np.array([pos for pos, _ in scores]), np.array([unl for _, unl in scores]))

    def mean(self, divisions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.pos[divisions].mean(axis=0), self.unl[divisions].mean(axis=0)


@dataclass(frozen=True)
class _ColumnTest:
    """The test of one column, and its p-values by halves of the divisions."""

    column: _Column
    difference: Difference
    p_halves: NDArray[np.float64]
    n_labeled: int
    n_unlabeled: int
    purity: float


def _constant(column: _Column, n_divisions: int) -> _ColumnTest:
    """Return the test of a column of one value, on which labels cannot depend: no rows have to be compared."""
    return _ColumnTest(column, Difference(0.0, float(column.entries[0]), 1.0), np.ones(n_divisions), 0, 0, np.nan)


def _test_of(
    column: _Column,
    sample: Sample,
    scores: _Scores,
    selected: _ByPrior | _ByNumber,
    n_permutations: int,
    generator: np.random.Generator,
) -> _ColumnTest:
    """Compare the rows with the largest mean scores of all divisions, and then those of halves of the divisions."""
    n_divisions = len(scores.pos)
    test = _one_test(column, sample, *scores.mean(np.arange(n_divisions)), selected, n_permutations, generator)
    halves = [generator.permutation(n_divisions)[: (n_divisions + 1) // 2] for _ in range(n_divisions)]
    p_halves = [
        _one_test(column, sample, *scores.mean(half), selected, n_permutations, generator).difference.p_value
        for half in halves
    ]
    return replace(test, p_halves=np.array(p_halves))


def _one_test(
    column: _Column,
    sample: Sample,
    score_pos: NDArray[np.float64],
    score_unl: NDArray[np.float64],
    selected: _ByPrior | _ByNumber,
    n_permutations: int,
    generator: np.random.Generator,
) -> _ColumnTest:
    of_pos, of_unl = sample.independent(score_pos, score_unl)
    pos, unl, purity = _top(score_pos[of_pos], score_unl[of_unl], selected)
    entries = column.entries[sample.pos[of_pos[pos]]], column.entries[sample.unl[of_unl[unl]]]
    compare = difference_above_a_cut if column.categories is None else difference_of_categories
    difference = compare(*entries, purity, n_permutations, generator)
    shown = purity if isinstance(selected, _ByPrior) else np.nan
    return _ColumnTest(column, difference, np.zeros(0), pos.size, unl.size, shown)


def _top(
    score_pos: NDArray[np.float64], score_unl: NDArray[np.float64], selected: _ByPrior | _ByNumber
) -> tuple[NDArray[np.intp], NDArray[np.intp], float]:
    """Return the places of the labelled and of the unlabelled rows to compare, and the purity of the latter.

    The purity is the share of positives. The rows are those whose score exceeds that of one unlabelled row, the first
    that is left out. Given this row, those above it are a random draw from all that exceed its score, labelled or not.
    """
    falling = np.sort(score_unl)[::-1]
    limits = np.append(falling[1:], -np.inf)
    n_unl = np.searchsorted(-falling, -limits)  # rows above each limit: ties with it are left out
    n_pos = score_pos.size - np.searchsorted(np.sort(score_pos), limits, side="right")
    if isinstance(selected, _ByNumber):
        place, purity = selected.n_top - 1, 1.0
    else:
        purities = selected.prior * (n_pos / score_pos.size) / (np.maximum(n_unl, 1) / score_unl.size)
        enough = np.flatnonzero((n_unl >= FEWEST) & (n_pos >= FEWEST) & (purities >= _PURE))
        if not enough.size:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.nan
        place = int(enough[-1])
        purity = min(1.0, float(purities[place]))
    return np.flatnonzero(score_pos > limits[place]), np.flatnonzero(score_unl > limits[place]), purity
