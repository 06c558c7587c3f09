"""A test that labels are missing completely at random, column by column."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastpu.common._blas_threads import one_blas_thread
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._text import short
from fastpu.common._threads import resolve_n_threads
from fastpu.data._columns import chosen_columns
from fastpu.data._matrix import Matrix
from fastpu.data._table_rows import TableRows
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.model._prior import PriorEstimate, check_scenario, proper_prior, take_prior_in
from fastpu.model._threshold import between
from fastpu.priors._rows import sample_of
from fastpu.priors._scores import held_out_scores, open_rankers

_PURE = 0.9  # share of the unlabelled rows that are compared that must be positive by the prior
_FEWEST = 10  # rows of either kind that are compared
_MOST_PERMUTATIONS = 10**6
_MOST_DIVISIONS = 1000
_BLOCK = 1 << 20  # entries of permutations that are drawn at a time
_ROUNDING = 1e-9  # of a difference of shares: permutations that give the same one count


@dataclass(frozen=True, eq=False)
class ScarTest:
    """How labelled and unlabelled positive rows differ in each column: what `scar_test` returns.

    Printed, it is a table, the columns with the smallest p-values first.

    Attributes
    ----------
    columns : tuple of str or int
        Names of the columns, or their numbers where they have no names.
    difference : ndarray of float64
        The share of the labelled rows above `cut` minus that of the unlabelled rows, of those that are compared, at the
        cut where it is furthest from 0: positive where labelled rows have the larger values.
    cut : ndarray of float64
        Missing entries are below all numbers: -inf parts them from the others. NaN for columns of categories.
    p_value : ndarray of float64
        Of each column by itself: twice the mean of `p_divisions`, 1 at most. NaN where too few rows can be compared
        by any division, and 1 for a constant column.
    p_adjusted : ndarray of float64
        By Holm's correction for the number of columns that could be tested, without constant ones: all columns below
        0.05 are false findings with a probability of 5 % at most.
    p_divisions : ndarray of float64 of shape (n_columns, n_divisions)
        The p-value by the scores of each division of the rows into folds. Its spread says how much of the p-value is
        the chance of how rows are divided. NaN where too few rows can be compared, which counts as 1.
    n_labeled, n_unlabeled : ndarray of int64
        How many rows were compared; like `difference`, `cut` and `purity` of the division with the median difference.
    purity : ndarray of float64
        The share of positives among these unlabelled rows, by the prior; NaN if their number was given.
    category : tuple
        Of a column of categories the one whose shares of labelled and unlabelled rows differ most, by `difference`, in
        place of a cut; NaN stands for missing entries. None for a column of numbers.
    """

    columns: tuple[str | int, ...]
    difference: NDArray[np.float64]
    cut: NDArray[np.float64]
    p_value: NDArray[np.float64]
    p_adjusted: NDArray[np.float64]
    p_divisions: NDArray[np.float64]
    n_labeled: NDArray[np.int64]
    n_unlabeled: NDArray[np.int64]
    purity: NDArray[np.float64]
    category: tuple[object, ...]

    def __repr__(self) -> str:
        names = [str(column) for column in self.columns]
        width = max(6, *(len(name) for name in names))
        head = f"{'column':<{width}}  difference        cut  labelled  unlabelled  p-value  adjusted  by division"
        lines = [
            f"{names[i]:<{width}}  {self.difference[i]:>+10.2f} {self._where(i):>10}  {self.n_labeled[i]:>8}  "
            f"{self.n_unlabeled[i]:>10}  {self.p_value[i]:>7.3g}  {self.p_adjusted[i]:>8.3g}  "
            f"{np.nanmin(self.p_divisions[i]):.2g} to {np.nanmax(self.p_divisions[i]):.2g}"
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


@answers_unknown_keywords
def scar_test(
    X: object,
    y: object,
    *,
    prior: float | PriorEstimate | None = None,
    scenario: str = "case_control",
    n_top: int | None = None,
    columns: object = None,
    fit: Callable[[Any, NDArray[np.int64]], Any] | None = None,
    n_permutations: int = 999,
    n_divisions: int = 10,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
) -> ScarTest:
    """Test, column by column, that labelled rows are a random sample of the positives ("SCAR").

    If they are, labelled and unlabelled positives differ in no column. The unlabelled positives are not known, but some
    can be found: for each column, rows are scored by models of the *other* columns, fitted to labelled against
    unlabelled rows of other folds, so that neither the column nor the own label of a row decides what it is compared
    with. Of the rows with the largest scores, nearly all of which are positive, labelled and unlabelled ones are
    compared in the column: by the largest difference of their shares above a cut (Kolmogorov and Smirnov), or of their
    shares in a category, and how often a difference is as large if labels are dealt out to these rows at random. Errors
    are those of `bbe`.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        At least two columns; the unit of a column does not matter to the default `fit`. Missing entries and categories
        are taken as they are: a missing entry is compared as one below all numbers.
    prior : float or PriorEstimate, optional
        P(Y = 1), in (0, 1): among the unlabelled rows in ``"case_control"``, among all rows, the labelled ones
        included, in ``"single_set"``, which is converted; if in doubt, pass too small a one. It says how many
        of the largest scores are compared: as many as leave 90 % of the unlabelled rows among them positive, a share
        that is estimated by prior (labelled rows above / n_pos) / (unlabelled rows above / n_unl). The other 10 %
        could change the difference by as much at most; that is taken off before it is compared with chance.
    scenario : {"case_control", "single_set"}, default "case_control"
        As in `fastpu.metrics.err_star`; only with a prior.
    n_top : int, optional
        In place of `prior`: the number of unlabelled rows, at least 10, with the largest scores that are taken for
        positive. The test holds its level only if they are.
    columns : str, int, slice, list of str or of int, or mask, optional
        The columns to be tested, by default all.
    fit : callable, optional
        As in `bbe`; it gets the rows without the column. Scores that one has, as `bbe` takes them, are of no use here:
        the model that made them has seen the column.
    n_permutations : int, default 999
        From 1 to 10^6. No p-value is below 2 / (n_permutations + 1); for d columns take 40 d or more.
    n_divisions : int, default 10
        From 1 to 1000. So many times rows are divided into folds anew and tested: which rows have the largest scores
        depends on it, and a single p-value may be anything between 0.01 and 0.9 for another `random_state`. With 1 it
        is that p-value itself, without the factor of 2.
    y, random_state, n_threads
        As in `km2`.

    Returns
    -------
    ScarTest
        Of each column the difference, its p-value, and that by Holm's correction.

    Notes
    -----
    **A small p-value** says that labels depend on this column or on others that go along with it: where positives of
    one kind are labelled, more of the unlabelled rows with large scores are negative than the prior says, and columns
    that tell the classes apart then differ a little, too. Begin with the column of the largest difference.

    **A large one** proves little: columns cannot be tested where the others do not tell positive rows, and what the
    labels depend on may be no column at all. Without a region of surely positive rows nothing can be tested, for U can
    always be taken for a mixture of rows like the labelled ones and others.

    In simulations of labels at random, with the true prior, none of 120 p-values was below 0.05, and where labels
    depended on a column its own was in 88 to 95 % (600 rows, six columns). Single divisions found it in 97 %: the
    factor of 2 is the price of an answer that does not hang on the seed. By single divisions, with `n_top` of half of
    the positives, 2 to 8 % of the p-values of labels at random were below 0.05 where classes hardly overlap, and up to
    40 % where they do.

    Five fits to four fifths of the rows for each column and division, and O(n_permutations m) for the m rows that are
    compared. A column has the same draws whatever columns stand beside it.

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
    counted, sample = sample_of(X, y, rows.n_rows, "scar_test")
    rows = rows.only(counted)
    matrix = check_matrix(rows.X, finite=False, categories="learn")
    if (prior is None) == (n_top is None):
        came = "None for both" if prior is None else f"{short(prior)} and {short(n_top)}"
        raise TypeError(f"one of prior and n_top must be given, to find unlabelled rows that are positive, got {came}")
    given, drawn_as = (None, check_scenario(scenario)) if prior is None else take_prior_in(scenario, prior)
    share = proper_prior(given, drawn_as, n_pos=sample.pos.size, n_unl=sample.unl.size)
    most = 0 if n_top is None else check_int("n_top", n_top, low=_FEWEST, high=sample.unl.size)
    count = check_int("n_permutations", n_permutations, low=1, high=_MOST_PERMUTATIONS)
    divided = check_int("n_divisions", n_divisions, low=1, high=_MOST_DIVISIONS)
    if matrix.n_features < 2:
        raise ValueError("X must have at least 2 columns: rows that are alike in the others are compared in each")
    numbers, names = chosen_columns("columns", columns, matrix.n_features, matrix.feature_names), matrix.feature_names
    # Every column has the same draws, so that none has another p-value for those beside it.
    seed = int(generator.integers(2**63))
    tests = []
    for number in numbers.tolist():
        values, categories = _entries(matrix, number), matrix.categories.get(str(number))
        if (values == values[0]).all():
            tests.append([_constant(float(values[0]), categories)] * divided)
            continue
        draws = np.random.default_rng(seed)
        rankers = open_rankers(rows.without_column(number), fit, draws, threads)
        divisions = []
        for _ in range(divided):
            with one_blas_thread() if fit is None else contextlib.nullcontext():
                score_pos, score_unl = held_out_scores(sample, rankers, draws)
            pos, unl, purity = _top(score_pos, score_unl, None if prior is None else share, most)
            entries = values[sample.pos[pos]], values[sample.unl[unl]]
            tested = (
                _difference(*entries, purity, count, draws)
                if categories is None
                else _difference_of_categories(*entries, purity, count, draws)
            )
            divisions.append(_division(tested, categories, pos.size, unl.size, np.nan if prior is None else purity))
        tests.append(divisions)
    typical = [_typical(divisions) for divisions in tests]
    p_value = np.array([_p_of_all(divisions) for divisions in tests])
    return ScarTest(
        columns=tuple(int(number) if names is None else names[number] for number in numbers),
        difference=np.array([division.difference for division in typical]),
        cut=np.array([division.cut for division in typical]),
        p_value=p_value,
        p_adjusted=_holm(p_value, is_open=np.array([division.n_labeled > 0 for division in typical])),
        p_divisions=np.array([[division.p_value for division in divisions] for divisions in tests]),
        n_labeled=np.array([division.n_labeled for division in typical]),
        n_unlabeled=np.array([division.n_unlabeled for division in typical]),
        purity=np.array([division.purity for division in typical]),
        category=tuple(division.category for division in typical),
    )


class _Division(NamedTuple):
    """The test of a column by the scores of one division of the rows into folds."""

    difference: float
    cut: float
    p_value: float
    n_labeled: int
    n_unlabeled: int
    purity: float
    category: object = None


def _entries(matrix: Matrix, number: int) -> NDArray[np.float64]:
    """Return the entries of a column, or the places of its categories; missing ones are -inf, below all others."""
    column = matrix.table()[:, [number]]
    values = np.array(column.toarray() if matrix.is_sparse else column, dtype=np.float64).ravel()
    values[np.isnan(values)] = -np.inf
    return values


def _constant(value: float, categories: tuple[Any, ...] | None) -> _Division:
    """Return the test of a column of one value, on which labels cannot depend: no rows have to be compared."""
    return _division((0.0, value, 1.0), categories, 0, 0, np.nan)


def _division(
    tested: tuple[float, float, float], categories: tuple[Any, ...] | None, n_pos: int, n_unl: int, purity: float
) -> _Division:
    """Return a test with the cut of a column of numbers, or the category of one of categories in its place."""
    difference, cut, p_value = tested
    if categories is None:
        return _Division(difference, cut, p_value, n_pos, n_unl, purity)
    category = categories[int(cut)] if cut >= 0 else np.nan
    return _Division(difference, np.nan, p_value, n_pos, n_unl, purity, category)


def _typical(divisions: list[_Division]) -> _Division:
    """Return the division with the median difference, the lower one of two, of those in which rows were compared."""
    tested = [division for division in divisions if np.isfinite(division.p_value)] or divisions
    return sorted(tested, key=lambda division: division.difference)[(len(tested) - 1) // 2]


def _p_of_all(divisions: list[_Division]) -> float:
    """Return the p-value of all divisions, NaN where none compares any rows.

    Twice the mean of p-values is one, however they depend on each other. A division without rows to compare says
    nothing against the labels, as a p-value of 1.
    """
    p_values = np.array([division.p_value for division in divisions])
    if np.isnan(p_values).all():
        return np.nan
    mean = float(np.nan_to_num(p_values, nan=1.0).mean())
    return mean if len(divisions) == 1 else min(1.0, 2 * mean)


def _top(
    score_pos: NDArray[np.float64], score_unl: NDArray[np.float64], prior: float | None, n_top: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], float]:
    """Return the numbers of the labelled and unlabelled rows to compare, and the share of positives among the latter.

    They are the rows whose score exceeds that of one unlabelled row, the first that is left out. With this row given,
    those above it are as if drawn at random from all that exceed its score, labelled or not.
    """
    falling = np.sort(score_unl)[::-1]
    limits = np.append(falling[1:], -np.inf)
    n_unl = np.searchsorted(-falling, -limits)  # rows above each limit: ties with it are left out
    n_pos = score_pos.size - np.searchsorted(np.sort(score_pos), limits, side="right")
    if prior is None:
        place, purity = n_top - 1, 1.0
    else:
        purities = prior * (n_pos / score_pos.size) / (np.maximum(n_unl, 1) / score_unl.size)
        enough = np.flatnonzero((n_unl >= _FEWEST) & (n_pos >= _FEWEST) & (purities >= _PURE))
        if not enough.size:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.nan
        place = int(enough[-1])
        purity = min(1.0, float(purities[place]))
    return np.flatnonzero(score_pos > limits[place]), np.flatnonzero(score_unl > limits[place]), purity


def _difference(
    pos: NDArray[np.float64],
    unl: NDArray[np.float64],
    purity: float,
    n_permutations: int,
    generator: np.random.Generator,
) -> tuple[float, float, float]:
    """Return the largest difference of the shares above a cut, the cut, and its p-value (Kolmogorov and Smirnov)."""
    if pos.size < _FEWEST or unl.size < _FEWEST:
        return np.nan, np.nan, np.nan
    values = np.concatenate([pos, unl])
    order = np.argsort(values, kind="stable")
    rising = values[order]
    cuts = np.flatnonzero(rising[1:] > rising[:-1])  # the last row below each cut
    if not cuts.size:
        return 0.0, float(rising[0]), 1.0
    of_row = np.where(order < pos.size, 1 / pos.size, -1 / unl.size)
    below = np.cumsum(of_row)[cuts]
    where = int(np.argmax(np.abs(below)))
    beyond = abs(float(below[where])) - (1 - purity) - _ROUNDING
    if beyond <= 0:
        p_value = 1.0
    else:
        as_large, left = 0, n_permutations
        while left:
            step = min(left, max(1, _BLOCK // values.size))
            drawn = generator.permuted(np.broadcast_to(of_row, (step, of_row.size)), axis=1)
            as_large += int(np.count_nonzero(np.abs(np.cumsum(drawn, axis=1)[:, cuts]).max(axis=1) >= beyond))
            left -= step
        p_value = (1 + as_large) / (1 + n_permutations)
    low, high = float(rising[cuts[where]]), float(rising[cuts[where] + 1])
    # Only missing entries are -inf: this cut says that they are what differs.
    return -float(below[where]), low if low == -np.inf else between(low, high), p_value


def _difference_of_categories(
    pos: NDArray[np.float64],
    unl: NDArray[np.float64],
    purity: float,
    n_permutations: int,
    generator: np.random.Generator,
) -> tuple[float, float, float]:
    """Return the largest difference of the shares of a category, its place, and the p-value.

    Permuted labels give each category so many labelled rows as a draw from all rows without replacement does.
    """
    if pos.size < _FEWEST or unl.size < _FEWEST:
        return np.nan, np.nan, np.nan
    places, kind = np.unique(np.concatenate([pos, unl]), return_inverse=True)
    totals = np.bincount(kind)

    def differences(of_pos: NDArray[np.int64]) -> NDArray[np.float64]:
        apart: NDArray[np.float64] = of_pos / pos.size - (totals - of_pos) / unl.size
        return apart

    apart = differences(np.bincount(kind[: pos.size], minlength=totals.size))
    where = int(np.argmax(np.abs(apart)))
    beyond = abs(float(apart[where])) - (1 - purity) - _ROUNDING
    if places.size == 1 or beyond <= 0:
        return float(apart[where]), float(places[where]), 1.0
    as_large, left = 0, n_permutations
    while left:
        step = min(left, max(1, _BLOCK // totals.size))
        drawn = generator.multivariate_hypergeometric(totals, pos.size, size=step, method="marginals")
        as_large += int(np.count_nonzero(np.abs(differences(drawn)).max(axis=1) >= beyond))
        left -= step
    return float(apart[where]), float(places[where]), (1 + as_large) / (1 + n_permutations)


def _holm(p_values: NDArray[np.float64], is_open: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values; NaN stays NaN, and neither it nor what is not open to doubt counts."""
    adjusted = np.where(np.isnan(p_values), np.nan, 1.0)
    tested = np.flatnonzero(np.isfinite(p_values) & (True if is_open is None else is_open))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    steps = p_values[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if order.size else steps
    return adjusted
