"""Columns that know the labels: by them, out-of-bag scores tell labelled from unlabelled rows nearly perfectly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import where_column
from fastpu.common._warn import warn
from fastpu.exceptions import LabelWarning
from fastpu.tree._tree_rows import BaggedRows
from fastpu.tree.tree_ensemble import TreeEnsemble

PERFECT = 0.998  # AUC of labelled against unlabelled rows, of out-of-bag scores or of a column
_NEARLY = 0.99  # AUC from which on columns are looked at: in a forest of many columns a single one has less weight
FEWEST_POS, FEWEST_UNL = 10, 100  # with fewer rows classes that are merely far apart are separated as well
_MOST_TRIED = 5  # columns, those of the largest gains
_MOST_NAMED = 3  # of these, if no column does it alone


def warn_of_leaks(function: str, model: TreeEnsemble, rows: BaggedRows) -> None:
    """Warn if out-of-bag scores tell labelled from unlabelled rows nearly perfectly, and name the columns that do it.

    With a share s of positives among the unlabelled rows, and labels at random, the AUC between the groups is at most
    1 - s / 2. So an AUC of nearly 1 says that hardly any unlabelled row is positive, or that the scores know more than
    the class: which rows were labelled.
    """
    scores = model.oob_decision_function
    if scores is None:
        return
    groups = [np.flatnonzero(rows.counted(label) & ~np.isnan(scores)) for label in (1, 0)]
    pos, unl = groups
    if pos.size < FEWEST_POS or unl.size < FEWEST_UNL:
        return
    # Half of the labelled rows have no larger score than their median, so more than this share above it is too much.
    if float(np.mean(scores[unl] > np.median(scores[pos]))) > 2 * (1 - _NEARLY):
        return
    reached = auc_of_scores(scores[pos], scores[unl])
    if reached < _NEARLY:
        return
    gains = model.feature_importances
    tried = [int(feature) for feature in np.argsort(-gains, kind="stable")[:_MOST_TRIED] if gains[feature] > 0]
    alone = [feature for feature in tried if _separates(rows.bins(feature), pos, unl)]
    if reached < PERFECT and not alone:
        return
    if alone:
        by = f", and so by {_listed(alone, model)} alone"
    elif tried:
        by = f"; the columns with the largest gains are {_listed(tried[:_MOST_NAMED], model)}"
    else:
        by = ""
    warn(
        f"{function}: out-of-bag scores tell labelled from unlabelled rows nearly perfectly{by}. If the labelled rows "
        f"are a random sample of the positives, this means that hardly any unlabelled row is positive. Check whether a "
        f"column was made from the labels or together with them, such as the date or the outcome of the check that "
        f"proved a case, or whether it has gaps or another source where rows are unlabelled. If so, leave it out. If "
        f"several rows belong together, such as those of one customer, pass groups. If you know that hardly any "
        f"unlabelled row is positive, ignore this",
        LabelWarning,
    )


def _listed(features: list[int], model: TreeEnsemble) -> str:
    places = [where_column(feature, model.feature_names) for feature in features]
    return places[0] if len(places) == 1 else f"{', '.join(places[:-1])} and {places[-1]}"


def auc_of_scores(pos: NDArray[np.float64], unl: NDArray[np.float64]) -> float:
    """Return the share of pairs in which the score of `pos` is the larger one, ties one half."""
    ranked = np.sort(pos)
    below = np.searchsorted(ranked, unl, side="left") + np.searchsorted(ranked, unl, side="right")
    return 1.0 - float(below.mean()) / (2 * pos.size)


def _separates(codes: NDArray[np.unsignedinteger[Any]], pos: NDArray[np.intp], unl: NDArray[np.intp]) -> bool:
    """Tell whether the bins of a column separate the groups: in their order, or by how many of each are labelled."""
    n_codes = int(codes.max()) + 1
    of_pos, of_unl = (np.bincount(codes[group], minlength=n_codes).astype(np.float64) for group in (pos, unl))
    in_order = _auc_of_counts(np.arange(n_codes), np.arange(n_codes), of_pos, of_unl)
    # Without the row itself: where each row has a bin of its own, the share of labelled rows says nothing.
    share_pos = (of_pos - 1) / np.maximum(of_pos + of_unl - 1, 1)
    share_unl = of_pos / np.maximum(of_pos + of_unl - 1, 1)
    by_share = _auc_of_counts(share_pos, share_unl, of_pos, of_unl)
    return max(in_order, 1 - in_order, by_share) >= PERFECT


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
