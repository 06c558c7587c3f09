"""Labelled data as positive-unlabelled or positive-negative-unlabelled data, and simulated data of the papers.

All functions raise TypeError or ValueError for a parameter out of range, and for `y` that does not hold true labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_bool, check_float, check_random_state
from fastpu.data._pu_splits import PUSplit, apportion, split_case_control, split_single_set
from fastpu.data._simulated import make_four_normals, make_pu_toy1, make_pu_toy2, make_trifurcate, make_two_normals
from fastpu.data._validate import check_binary

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = [
    "PNUSplit",
    "PUSplit",
    "hide_labels",
    "make_four_normals",
    "make_pu_toy1",
    "make_pu_toy2",
    "make_trifurcate",
    "make_two_normals",
    "split_case_control",
    "split_pnu",
    "split_single_set",
]


class PNUSplit(NamedTuple):
    """Rows of a training, a validation and a test set, and the labels to train with."""

    train: NDArray[np.intp]
    """Row numbers of the training set, ascending."""
    valid: NDArray[np.intp]
    """Row numbers of the validation set, ascending."""
    test: NDArray[np.intp]
    """Row numbers of the test set, ascending."""
    y_train: NDArray[np.int8]
    """Labels of the training rows: +1, -1, and 0 where the label is hidden."""


@answers_unknown_keywords
def hide_labels(
    y: object, *, fraction: float = 0.85, stratify: bool = True, random_state: object = None
) -> NDArray[np.int8]:
    """Hide the labels of a random share of the rows: positive-negative-unlabelled data.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} (0 is negative) or booleans.
    fraction : float, default=0.85
        Share of the rows whose labels are hidden, in [0, 1].
    stratify : bool, default=True
        Whether the share is the same among positives and negatives, to the nearest row. Then each
        of the two keeps at least one label unless `fraction` is 1. Otherwise the rows are drawn
        from all alike, and one kind may lose all its labels.
    random_state : None, int or numpy.random.Generator
        Seed or source of the draw. A generator is advanced.

    Returns
    -------
    ndarray of int8, shape (n,)
        +1 and -1 where the label is known, 0 where it is hidden.

    Notes
    -----
    O(n) time and memory. ``round(fraction * n)`` labels are hidden, apart from those that
    stratification keeps.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.datasets import hide_labels
    >>> y = np.array([1] * 40 + [-1] * 60)
    >>> hidden = hide_labels(y, fraction=0.85, random_state=0)
    >>> [int(np.sum(hidden == label)) for label in (1, 0, -1)]
    [6, 85, 9]
    """
    positive = check_binary(y, name="y", both=False)
    fraction = check_float("fraction", fraction, low=0, high=1)
    rng = check_random_state(random_state)
    return _hide(positive, fraction, check_bool("stratify", stratify), rng)


@answers_unknown_keywords
def split_pnu(
    y: object,
    *,
    train: float = 0.70,
    valid: float = 0.15,
    test: float = 0.15,
    hidden: float = 0.85,
    random_state: object = None,
) -> PNUSplit:
    """Split labelled data for a semi-supervised experiment.

    The rows are split at random into a training, a validation and a test set with the same share
    of positives in each (to the nearest row); then the labels of a share of the training rows are
    hidden, again the same share of the positives and of the negatives.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} (0 is negative) or booleans; both kinds must occur.
    train, valid, test : float, default=0.70, 0.15, 0.15
        Shares of the rows, in (0, 1), that sum to 1.
    hidden : float, default=0.85
        Share of the training labels to hide, in [0, 1]; see `hide_labels`.
    random_state : None, int or numpy.random.Generator
        Seed or source of the draw. A generator is advanced.

    Returns
    -------
    PNUSplit
        Named tuple ``(train, valid, test, y_train)``: ascending row numbers of the three sets,
        each with at least one row of either kind, and the labels +1, 0, -1 of the training rows.

    Raises
    ------
    TypeError, ValueError
        If `y` does not hold true labels, a kind has fewer than three rows, or a parameter is out
        of range.

    Notes
    -----
    O(n log n) time, O(n) memory. The defaults are the protocol of section 5.3 of Yang, Xu, He,
    Cao and Huang, "Boosting for semi-supervised AUC optimisation: algorithm and theory" (in
    Chinese), which draws 15 such splits, selects on the mean of the validation sets and reports
    the mean of the test sets. That the hidden labels are stratified as well is our choice; the
    paper leaves it open.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.datasets import split_pnu
    >>> y = np.array([1] * 40 + [-1] * 60)
    >>> split = split_pnu(y, random_state=0)
    >>> split.train.size, split.valid.size, split.test.size
    (70, 15, 15)
    >>> [int(np.sum(split.y_train == label)) for label in (1, 0, -1)]
    [4, 60, 6]
    """
    positive = check_binary(y, name="y")
    shares = [
        check_float(name, share, low=0, high=1, open_low=True, open_high=True)
        for name, share in (("train", train), ("valid", valid), ("test", test))
    ]
    if abs(sum(shares) - 1) > 1e-9:
        raise ValueError(f"train, valid and test must sum to 1, got {sum(shares):g}")
    hidden = check_float("hidden", hidden, low=0, high=1)
    rng = check_random_state(random_state)
    part = np.empty(positive.size, dtype=np.int8)
    for label, members in ((1, positive), (-1, ~positive)):
        rows = np.flatnonzero(members)
        if rows.size < len(shares):
            raise ValueError(
                f"y must have at least {len(shares)} rows of each kind, one for each set, "
                f"got {rows.size} of label {label}"
            )
        sizes = apportion(rows.size * np.array(shares), rows.size)
        while sizes.min() == 0:
            sizes[np.argmax(sizes)] -= 1
            sizes[np.argmin(sizes)] += 1
        part[rng.permutation(rows)] = np.repeat(np.arange(len(shares), dtype=np.int8), sizes)
    rows_train, rows_valid, rows_test = (np.flatnonzero(part == k) for k in range(3))
    y_train = _hide(positive[rows_train], hidden, True, rng)
    return PNUSplit(rows_train, rows_valid, rows_test, y_train)


def _hide(positive: NDArray[np.bool_], fraction: float, stratify: bool, rng: np.random.Generator) -> NDArray[np.int8]:
    labels: NDArray[np.int8] = np.where(positive, np.int8(1), np.int8(-1))
    n_hidden = round(fraction * labels.size)
    if not stratify:
        labels[rng.permutation(labels.size)[:n_hidden]] = 0
        return labels
    groups = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    counts = apportion(fraction * np.array([rows.size for rows in groups]), n_hidden)
    for rows, count in zip(groups, counts, strict=True):
        keep = 1 if fraction < 1 and rows.size else 0
        labels[rng.permutation(rows)[: min(int(count), rows.size - keep)]] = 0
    return labels
