"""Labelled data as positive-unlabelled or positive-negative-unlabelled data, and simulated data of the papers.

All functions raise TypeError or ValueError for a parameter out of range, and for `y` that does not hold true labels.
"""

from __future__ import annotations

import numbers
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_bool, check_float, check_int, check_random_state
from fastpu.common._types import LabelsLike, RandomState
from fastpu.data._simulated import make_four_normals, make_pu_toy1, make_pu_toy2, make_trifurcate, make_two_normals
from fastpu.data._validate import check_binary

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


def __dir__() -> list[str]:
    return __all__


class PUSplit(NamedTuple):
    """Rows of a positive-unlabelled training set and of a test set, and the labels to train with.

    Attributes
    ----------
    train : ndarray of int
        Numbers of the training rows, ascending.
    test : ndarray of int
        Numbers of the test rows, ascending.
    y_train : ndarray of int8
        Labels of the training rows: +1, and 0 where the label is hidden.
    prior : float
        The true class prior, as the scenario defines it. On real data it would have to be estimated.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    y_train: NDArray[np.int8]
    prior: float


class PNUSplit(NamedTuple):
    """Rows of a training, a validation and a test set, and the labels to train with.

    Attributes
    ----------
    train, valid, test : ndarray of int
        Numbers of the rows of each set, ascending.
    y_train : ndarray of int8
        Labels of the training rows: +1, -1, and 0 where the label is hidden.
    """

    train: NDArray[np.intp]
    valid: NDArray[np.intp]
    test: NDArray[np.intp]
    y_train: NDArray[np.int8]


@answers_unknown_keywords
def split_single_set(
    y: LabelsLike,
    *,
    train: float = 0.70,
    labeled: float = 0.25,
    stratify: bool = True,
    random_state: RandomState = None,
) -> PUSplit:
    """Split labelled data and hide labels in the single-training-set scenario.

    Training rows are drawn from all rows, and then labelled rows from the positive ones among them. Labelled and
    unlabelled training rows together are a sample of the population, so the unlabelled rows have a smaller share of
    positives than the population.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} (0 is negative) or booleans. Both kinds must occur.
    train : float or int, default 0.70
        How many rows are training rows: a float in (0, 1] is a share of all rows, an int a number. The others are the
        test set, which is empty for 1.0.
    labeled : float or int, default 0.25
        How many rows are labelled: a float in (0, 1] is a share of the positive training rows, rounded to the nearest
        row but at least one; an integer is a number of rows.
    stratify : bool, default True
        Whether training and test set get the same share of positives, to the nearest row, and if possible a row of each
        kind. Otherwise training rows are drawn from all rows alike.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

    Returns
    -------
    PUSplit
        Named tuple ``(train, test, y_train, prior)``. `prior` is the share of positives among all training rows, as
        ``scenario="single_set"`` defines it.

    Raises
    ------
    TypeError, ValueError
        If `y` does not hold true labels, a parameter is out of range, or there are not enough positives to label or
        no row would be unlabelled.

    Notes
    -----
    O(n) time and memory. The defaults are the protocol of section 4.1.2 of "PUAL: A Classifier on Trifurcate
    Positive-Unlabeled Data".

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.datasets import split_single_set
    >>> y = np.array([1] * 40 + [-1] * 60)
    >>> split = split_single_set(y, random_state=0)
    >>> split.train.size, split.test.size, int(np.sum(split.y_train == 1)), split.prior
    (70, 30, 7, 0.4)
    """
    positive = check_binary(y, name="y")
    n_train = _count("train", train, positive.size, "rows")
    stratify, rng = check_bool("stratify", stratify), check_random_state(random_state)
    in_train = _draw(positive, n_train, stratify, rng)
    rows = np.flatnonzero(in_train)
    candidates = rows[positive[rows]]
    if candidates.size == 0:
        raise ValueError(f"train must leave positives to label in the training set, got none among {rows.size} rows")
    n_labeled = _count("labeled", labeled, candidates.size, "positive training rows")
    if n_labeled == rows.size:
        raise ValueError(
            f"train and labeled must leave unlabelled training rows, got {rows.size} training rows that are all "
            f"positive and labelled"
        )
    is_labeled = np.zeros(positive.size, dtype=np.bool_)
    is_labeled[rng.permutation(candidates)[:n_labeled]] = True
    return PUSplit(rows, np.flatnonzero(~in_train), is_labeled[rows].astype(np.int8), candidates.size / rows.size)


@answers_unknown_keywords
def split_case_control(
    y: LabelsLike,
    *,
    labeled: float = 0.25,
    unlabeled: float = 0.70,
    stratify: bool = True,
    random_state: RandomState = None,
) -> PUSplit:
    """Split labelled data and hide labels in the case-control scenario.

    Labelled rows are drawn from all positives first. The remaining rows stand for the population: unlabelled training
    rows are drawn from them, and the rest is the test set, which has the same class prior as the unlabelled rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} (0 is negative) or booleans. Both kinds must occur.
    labeled : float or int, default 0.25
        How many rows are labelled: a float in (0, 1] is a share of all positive rows, rounded to the nearest row but at
        least one; an integer is a number of rows.
    unlabeled : float or int, default 0.70
        How many of the remaining rows are unlabelled training rows: a float in (0, 1] is a share of them, an int a
        number. The others are the test set, which is empty for 1.0.
    stratify : bool, default True
        Whether the unlabelled rows and the test set get the same share of positives, to the nearest row, and if
        possible a row of each kind. Otherwise unlabelled rows are drawn from all remaining rows alike.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

    Returns
    -------
    PUSplit
        Named tuple ``(train, test, y_train, prior)``. `prior` is the share of positives among the unlabelled training
        rows, as ``scenario="case_control"`` defines it.

    Raises
    ------
    TypeError, ValueError
        If `y` does not hold true labels, a parameter is out of range, or there are not enough positives to label.

    Notes
    -----
    O(n) time and memory. The protocol is that of section 4.2.3 of "PUAL: A Classifier on Trifurcate Positive-Unlabeled
    Data", with labeled = 7/17 or 7/37 there. With so many positives taken out, `prior` is smaller than the rate in the
    whole data.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.datasets import split_case_control
    >>> y = np.array([1] * 40 + [-1] * 60)
    >>> split = split_case_control(y, labeled=10, random_state=0)
    >>> split.train.size, split.test.size, int(np.sum(split.y_train == 1)), round(split.prior, 2)
    (73, 27, 10, 0.33)
    """
    positive = check_binary(y, name="y")
    candidates = np.flatnonzero(positive)
    n_labeled = _count("labeled", labeled, candidates.size, "positive rows")
    stratify, rng = check_bool("stratify", stratify), check_random_state(random_state)
    is_labeled = np.zeros(positive.size, dtype=np.bool_)
    is_labeled[rng.permutation(candidates)[:n_labeled]] = True
    remaining = np.flatnonzero(~is_labeled)
    n_unlabeled = _count("unlabeled", unlabeled, remaining.size, "rows that are not labelled")
    drawn = _draw(positive[remaining], n_unlabeled, stratify, rng)
    in_train = is_labeled.copy()
    in_train[remaining[drawn]] = True
    rows = np.flatnonzero(in_train)
    prior = float(np.mean(positive[remaining[drawn]]))
    return PUSplit(rows, np.flatnonzero(~in_train), is_labeled[rows].astype(np.int8), prior)


@answers_unknown_keywords
def hide_labels(
    y: LabelsLike, *, fraction: float = 0.85, stratify: bool = True, random_state: RandomState = None
) -> NDArray[np.int8]:
    """Hide the labels of a random share of the rows: positive-negative-unlabelled data.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} (0 is negative) or booleans. One kind is enough.
    fraction : float, default 0.85
        The share of the rows whose labels are hidden, in [0, 1].
    stratify : bool, default True
        Whether the same share of positives and of negatives is hidden, to the nearest row. Each kind then keeps at
        least one label unless `fraction` is 1. Otherwise the rows are drawn from all rows alike, and one kind may lose
        all its labels.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

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
    y: LabelsLike,
    *,
    train: float = 0.70,
    valid: float = 0.15,
    test: float = 0.15,
    hidden: float = 0.85,
    random_state: RandomState = None,
) -> PNUSplit:
    """Split labelled data for a semi-supervised experiment.

    The rows are split at random into a training, a validation and a test set with the same share of positives in each,
    to the nearest row. Then the labels of some training rows are hidden, the same share of positives and of negatives.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels: {1, -1}, {1, 0} (0 is negative) or booleans. Both kinds must occur.
    train, valid, test : float, default 0.70, 0.15, 0.15
        The shares of the rows in each set, in (0, 1). They must sum to 1.
    hidden : float, default 0.85
        The share of the training labels to hide, in [0, 1].
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator of the draw. An int gives the same result in every call. A generator is drawn from, and so
        advances. None takes a fresh seed.

    Returns
    -------
    PNUSplit
        Named tuple ``(train, valid, test, y_train)``. Each set has at least one row of each kind.

    Raises
    ------
    TypeError, ValueError
        If `y` does not hold true labels or has fewer than three rows of a kind, or a parameter is out of range.

    Notes
    -----
    O(n log n) time, O(n) memory. The defaults are the protocol of section 5.3 of Yang, Xu, He, Cao and Huang, "Boosting
    for semi-supervised AUC optimisation: algorithm and theory" (in Chinese), which draws 15 such splits, selects on the
    mean of the validation sets and reports the mean of the test sets. That the hidden labels are stratified as well is
    our choice; the paper leaves it open.

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
        sizes = _apportion(rows.size * np.array(shares), rows.size)
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
    counts = _apportion(fraction * np.array([rows.size for rows in groups]), n_hidden)
    for rows, count in zip(groups, counts, strict=True):
        keep = 1 if fraction < 1 and rows.size else 0
        labels[rng.permutation(rows)[: min(int(count), rows.size - keep)]] = 0
    return labels


def _count(name: str, value: object, n: int, what: str) -> int:
    """Return the number of rows, out of `n`, that `value` asks for: a float in (0, 1] is a share of them."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return max(1, round(check_float(name, value, low=0, high=1, open_low=True) * n))
    size = check_int(name, value, low=1)
    if size > n:
        raise ValueError(f"{name} must be at most {n}, the number of {what}, got {size}")
    return size


def _draw(positive: NDArray[np.bool_], count: int, stratify: bool, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw rows without replacement, as a mask."""
    drawn = np.zeros(positive.size, dtype=np.bool_)
    if not stratify:
        drawn[rng.permutation(positive.size)[:count]] = True
        return drawn
    groups = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    sizes = np.array([rows.size for rows in groups])
    counts = _apportion(count * sizes / positive.size, count)
    for one, other in ((0, 1), (1, 0)):
        left = sizes - counts
        if sizes[one] and counts[one] == 0 and counts[other] > 1:
            counts += np.where(np.arange(2) == one, 1, -1)
        elif sizes[one] > 1 and left[one] == 0 and left[other] > 1:
            counts -= np.where(np.arange(2) == one, 1, -1)
    for rows, taken in zip(groups, counts, strict=True):
        drawn[rng.permutation(rows)[: int(taken)]] = True
    return drawn


def _apportion(quotas: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Round quotas to integers that sum to `total`: largest remainders are rounded up first."""
    sizes = np.floor(quotas).astype(np.int64)
    order = np.argsort(-(quotas - sizes), kind="stable")
    sizes[order[: total - int(sizes.sum())]] += 1
    return sizes
