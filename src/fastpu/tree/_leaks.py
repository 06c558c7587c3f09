"""Columns that know the labels: by them, labelled and unlabelled rows are told apart better than classes can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._binomial import largest_shares
from fastpu.common._text import where_column
from fastpu.common._warn import warn
from fastpu.data._clusters import effective_number
from fastpu.exceptions import LabelWarning
from fastpu.tree._tree_rows import BaggedRows
from fastpu.tree.tree_ensemble import TreeEnsemble

PERFECT = 0.998  # AUC of labelled against unlabelled rows, of out-of-bag scores or of a column
_NEARLY = 0.99  # AUC from which on columns are looked at: in a forest of many columns a single one has less weight
FEWEST_POS, FEWEST_UNL = 10, 100  # with fewer rows classes that are merely far apart are separated as well
_MOST_TRIED = 5  # columns, those of the largest gains
_MOST_NAMED = 3  # of these, if no column does it alone
_MOST_HIDDEN = 2 * (1 - PERFECT)  # share of positives among the unlabelled rows that an AUC of PERFECT leaves possible
_LEAST_PART = 0.5  # of the labelled rows, with entries that hardly any unlabelled row has
_RICH = 30.0  # times the ratio of labelled to unlabelled rows, in bins of columns that are looked at further
_TAIL = 0.01  # error probability of the bound of the share of unlabelled rows with such entries


def warn_of_leaks(function: str, model: TreeEnsemble, rows: BaggedRows) -> None:
    """Warn if labelled and unlabelled rows are told apart nearly perfectly, and name the columns that do it.

    With a share s of positives among the unlabelled rows, and labels at random, the AUC between the groups is at most
    1 - s / 2. Entries that a share r of the positives has are those of s r of the unlabelled rows, and more. So an
    AUC of nearly 1 says that hardly any unlabelled row is positive, or that the scores know more than the class: which
    rows were labelled. A column of which half of the labelled rows have entries that nearly no unlabelled row has
    says the same: it may be a flag that not all labelled rows carry.
    """
    scores = model.oob_decision_function
    if scores is None:
        return
    counted = [rows.counted(label) for label in (1, 0)]
    has_score = ~np.isnan(scores)
    pos, unl = (scores[of_label & has_score] for of_label in counted)
    if pos.size < FEWEST_POS or unl.size < FEWEST_UNL:
        return
    # Half of the labelled rows have no larger score than their median, so more than this share above it is too much.
    ranked = np.sort(pos)
    median = (ranked[(pos.size - 1) // 2] + ranked[pos.size // 2]) / 2  # np.median takes as long as all the rest here
    above = np.count_nonzero(unl > median) / unl.size
    if above > 2 * (1 - _NEARLY):
        return
    reached = auc_of_scores(pos, unl)
    if reached < _NEARLY and above > _MOST_HIDDEN:
        return
    reason = _what_tells_them_apart(model, rows, counted, reached)
    if reason:
        warn(
            f"{function}: {reason}. If the labelled rows are a random sample of the positives, this means that hardly "
            f"any unlabelled row is positive. Check whether a column was made from the labels or together with them, "
            f"such as the date or the outcome of the check that proved a case, or whether it has gaps or another "
            f"source where rows are unlabelled. If so, leave it out. If several rows belong together, such as those of "
            f"one customer, pass groups. If you know that hardly any unlabelled row is positive, ignore this",
            LabelWarning,
        )


def _what_tells_them_apart(
    model: TreeEnsemble, rows: BaggedRows, counted: list[NDArray[np.bool_]], reached: float
) -> str:
    """Return what tells labelled from unlabelled rows too well, or "": columns, or scores with the AUC `reached`."""
    n_independent = effective_number(rows.clusters, counted[1])
    if reached < _NEARLY and not _is_enough(n_independent):
        return ""
    gains = model.feature_importances
    tried = [int(feature) for feature in np.argsort(-gains, kind="stable")[:_MOST_TRIED] if gains[feature] > 0]
    pos, others = np.flatnonzero(counted[0]), np.flatnonzero(~(counted[0] | counted[1]))
    counts = {feature: _counts(rows.bins(feature), pos, others) for feature in tried}
    counts = {feature: of_both for feature, of_both in counts.items() if _may_tell_apart(*of_both)}
    n_pos, n_unl = pos.size, np.count_nonzero(counted[1])
    by_scores = "out-of-bag scores tell labelled from unlabelled rows nearly perfectly"
    alone = [feature for feature in counts if _separates(*counts[feature])] if reached >= _NEARLY else []
    if alone:
        return f"{by_scores}, and so by {_listed(alone, model)} alone"
    parts = []
    for feature in counts:
        if (part := _part_apart(*counts[feature], n_independent)) is not None:
            having = f"only {part[1]} of {n_unl} unlabelled rows have" if part[1] else (
                f"none of {n_unl} unlabelled rows has"
            )  # fmt: skip
            where = where_column(feature, model.feature_names)
            parts.append(f"in {where} {part[0]} of {n_pos} labelled rows have entries that {having}")
    if parts:
        return "; ".join(parts[:_MOST_NAMED])
    if reached < PERFECT:
        return ""
    columns = f"; the columns with the largest gains are {_listed(tried[:_MOST_NAMED], model)}" if tried else ""
    return by_scores + columns


def _listed(features: list[int], model: TreeEnsemble) -> str:
    places = [where_column(feature, model.feature_names) for feature in features]
    return places[0] if len(places) == 1 else f"{', '.join(places[:-1])} and {places[-1]}"


def auc_of_scores(pos: NDArray[np.float64], unl: NDArray[np.float64]) -> float:
    """Return the share of pairs in which the score of `pos` is the larger one, ties one half."""
    ranked = np.sort(unl)
    wins = np.searchsorted(ranked, pos, side="left").sum() + np.searchsorted(ranked, pos, side="right").sum()
    return float(wins) / (2 * pos.size * unl.size)


def _counts(
    codes: NDArray[np.unsignedinteger[Any]], pos: NDArray[np.intp], others: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many labelled and how many unlabelled rows each bin of a column holds; `others` are neither."""
    in_all = np.bincount(codes)
    of_pos, of_others = (np.bincount(codes[group], minlength=in_all.size) for group in (pos, others))
    return of_pos.astype(np.float64), (in_all - of_pos - of_others).astype(np.float64)


def _may_tell_apart(of_pos: NDArray[np.float64], of_unl: NDArray[np.float64]) -> bool:
    """Tell whether a column can be one of those that `_separates` or `_part_apart` find, at a tenth of their time.

    Both find bins with at least half of the labelled rows, and with at most 2 `_MOST_HIDDEN` of the unlabelled ones. In
    those of them with less than `_RICH` times the ratio of labelled to unlabelled rows that all rows have, there are
    less than 2 `_RICH` `_MOST_HIDDEN` of the labelled rows, about a quarter. So the others have as many or more.
    """
    n_pos, n_unl = float(of_pos.sum()), float(of_unl.sum())
    is_rich = of_pos * n_unl >= _RICH * n_pos * of_unl
    return float(of_pos[is_rich].sum()) >= (_LEAST_PART - 2 * _RICH * _MOST_HIDDEN) * n_pos


def _shares_without_the_row(
    of_pos: NDArray[np.float64], of_unl: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for a labelled and for an unlabelled row of each bin, the share of labelled rows among the others there.

    Without the row itself: where each row has a bin of its own, the share of labelled rows says nothing.
    """
    others = np.maximum(of_pos + of_unl - 1, 1)
    return (of_pos - 1) / others, of_pos / others


def _separates(of_pos: NDArray[np.float64], of_unl: NDArray[np.float64]) -> bool:
    """Tell whether the bins of a column separate the groups: in their order, or by how many of each are labelled."""
    n_pairs = float(of_pos.sum()) * float(of_unl.sum())
    in_order = float(of_pos @ (2 * np.cumsum(of_unl) - of_unl)) / (2 * n_pairs)
    if max(in_order, 1 - in_order) >= PERFECT:
        return True
    return _auc_of_counts(*_shares_without_the_row(of_pos, of_unl), of_pos, of_unl) >= PERFECT


def _is_enough(n_unl: float) -> bool:
    """Tell whether so many unlabelled rows can show that hardly any of them is positive."""
    return float(largest_shares(np.zeros(1), n_unl, _TAIL)[0]) <= _MOST_HIDDEN


def _part_apart(
    of_pos: NDArray[np.float64], of_unl: NDArray[np.float64], n_independent: float
) -> tuple[int, int] | None:
    """Return how many labelled and unlabelled rows have some entries that are nearly those of labelled rows alone.

    The entries are those beyond a cut, to either side, or in bins with a large share of labelled rows. At least half
    of the labelled rows have them, and if these are a random sample of the positives, hardly any unlabelled row is
    positive. None if there are no such entries.
    """
    n_pos, n_unl = of_pos.sum(), of_unl.sum()
    up_to = np.cumsum(of_pos), np.cumsum(of_unl)
    share_pos, share_unl = _shares_without_the_row(of_pos, of_unl)
    cuts = np.sort(share_pos[of_pos > 0])
    by_share = (_sum_from(cuts, share_pos, of_pos), _sum_from(cuts, share_unl, of_unl))
    parts = [up_to, (n_pos - up_to[0], n_unl - up_to[1]), by_share]
    part_pos, part_unl = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    is_candidate = (part_pos >= _LEAST_PART * n_pos) & (part_unl <= _MOST_HIDDEN * n_unl)  # bounds of others are larger
    if not is_candidate.any():
        return None
    part_pos, part_unl = part_pos[is_candidate], part_unl[is_candidate]
    most = largest_shares(part_unl * (n_independent / n_unl), n_independent, _TAIL) / (part_pos / n_pos)
    best = int(np.argmin(most))
    return (int(part_pos[best]), int(part_unl[best])) if most[best] <= _MOST_HIDDEN else None


def _sum_from(
    cuts: NDArray[np.float64], values: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return for each cut the sum of the counts whose value is at least that."""
    order = np.argsort(values)
    sums = np.concatenate([[0.0], np.cumsum(counts[order])])
    from_cut: NDArray[np.float64] = sums[-1] - sums[np.searchsorted(values[order], cuts, side="left")]
    return from_cut


def _auc_of_counts(
    value_pos: NDArray[Any], value_unl: NDArray[Any], of_pos: NDArray[np.float64], of_unl: NDArray[np.float64]
) -> float:
    """Return the AUC of the values of bins that hold these numbers of rows of each group."""
    order = np.argsort(value_unl)
    sums, ranked = np.concatenate([[0.0], np.cumsum(of_unl[order])]), value_unl[order]
    below = (
        sums[np.searchsorted(ranked, value_pos, side="left")] + sums[np.searchsorted(ranked, value_pos, side="right")]
    )
    return float(of_pos @ below) / (2 * float(of_pos.sum()) * float(of_unl.sum()))
