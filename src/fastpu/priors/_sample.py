"""Which rows an estimate of the prior counts: the positive and the unlabelled ones, some of them together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._types import GroupsLike, LabelsLike
from fastpu.data._clusters import cluster_numbers, effective_number
from fastpu.data._folds import fold_sizes, stratified_folds
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels
from fastpu.priors._likelihood import SINGLE, PerRow

_MOST_FOLDS = 5


@dataclass(frozen=True)
class Sample:
    """Numbers of positive and of unlabelled rows, some of them repeated; each row is by itself."""

    pos: NDArray[np.int64]
    unl: NDArray[np.int64]

    @property
    def n_independent_unl(self) -> int:
        """How many unlabelled rows are compared where each independent one counts once."""
        return self.unl.size

    @property
    def per_row(self) -> PerRow:
        """How many independent rows each row counts for."""
        return SINGLE

    def redrawn(self, generator: np.random.Generator) -> Sample:
        """Draw as many positive and as many unlabelled rows with replacement; they are never all copies of one row."""
        parts = []
        for rows in (self.pos, self.unl):
            drawn = rows[:1]
            while drawn[0] == drawn[-1]:
                drawn = np.sort(rows[generator.integers(0, rows.size, rows.size)])
            parts.append(drawn)
        return Sample(parts[0], parts[1])

    def folds(self, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Return the folds of the positive and of the unlabelled rows, and how many there are.

        A repeated row is in one fold.
        """
        distinct = [np.unique(rows, return_inverse=True) for rows in (self.pos, self.unl)]
        n_folds = min(_MOST_FOLDS, *(rows.size for rows, _ in distinct))
        pos, unl = (generator.permutation(rows.size)[inverse] % n_folds for rows, inverse in distinct)
        return pos.astype(np.int64), unl.astype(np.int64), n_folds

    def independent(
        self, score_pos: NDArray[np.float64], score_unl: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the places, among the positive and among the unlabelled rows, of rows that are independent: all."""
        return np.arange(score_pos.size), np.arange(score_unl.size)


@dataclass(frozen=True)
class GroupedSample(Sample):
    """A sample in which rows belong together: `group` has the number of the group of each row of the table."""

    group: NDArray[np.int32]

    @property
    def n_independent_unl(self) -> int:
        """How many groups have unlabelled rows."""
        return np.unique(self.group[self.unl]).size

    @property
    def per_row(self) -> PerRow:
        """How many independent rows each row counts for, if the rows of a group are all alike."""
        return PerRow(*(effective_number(self.group, rows) / rows.size for rows in (self.pos, self.unl)))

    def redrawn(self, generator: np.random.Generator) -> GroupedSample:
        """Draw as many groups with replacement, with all of their rows; each kind of rows is of two groups or more."""
        own = np.unique(self.group[np.concatenate([self.pos, self.unl])])
        while True:
            times = np.zeros(int(own[-1]) + 1, dtype=np.int64)
            np.add.at(times, own[generator.integers(0, own.size, own.size)], 1)
            pos, unl = (np.repeat(rows, times[self.group[rows]]) for rows in (self.pos, self.unl))
            if all(np.unique(self.group[rows]).size > 1 for rows in (pos, unl)):
                return GroupedSample(pos, unl, self.group)

    def folds(self, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Return the folds of the positive and of the unlabelled rows, and how many there are; a group is in one."""
        labels = np.repeat(np.array([1, 0], dtype=np.int8), [self.pos.size, self.unl.size])
        own = self.group[np.concatenate([self.pos, self.unl])]
        sizes = fold_sizes(labels, own)
        n_folds = min(_MOST_FOLDS, sizes[1], sizes[0])
        fold: NDArray[np.int64] = np.empty(labels.size, dtype=np.int64)
        for number, (_, held_out) in enumerate(stratified_folds(labels, n_folds, generator, own)):
            fold[held_out] = number
        return fold[: self.pos.size], fold[self.pos.size :], n_folds

    def independent(
        self, score_pos: NDArray[np.float64], score_unl: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return one row of each group that has positive rows, and one of each that has unlabelled rows.

        It is the row with the median score of those, the lower one of two.
        """
        return _medians(self.group[self.pos], score_pos), _medians(self.group[self.unl], score_unl)


def _medians(group: NDArray[np.int32], score: NDArray[np.float64]) -> NDArray[np.intp]:
    order = np.lexsort((score, group))
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    size = np.diff(first, append=group.size)
    return np.sort(order[first + (size - 1) // 2])


def sample_of(
    X: object,
    y: LabelsLike,
    n_rows: int,
    function: str,
    groups: GroupsLike | None = None,
    has_score: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], Sample]:
    """Return the numbers of the rows that are not labelled negative, and the sample of these.

    The sample numbers the rows that are left. `groups` says which of all n_rows rows belong together, and `has_score`
    which of them count, if not all do.
    """
    warn_of_other_order(X, y=y, groups=groups)
    labels = check_labels(y, n_rows)
    if (labels == -1).any() and not (labels == 0).any():
        raise ValueError(
            f"y holds -1 and no 0, which is ambiguous: if -1 means unlabelled, pass fastpu.as_labels(y, unlabeled=-1); "
            f"if it means labelled negative, {function} lacks unlabelled rows, whose share of positives it estimates"
        )
    is_counted = labels >= 0 if has_score is None else (labels >= 0) & has_score
    counted = np.flatnonzero(is_counted).astype(np.int64)
    pos, unl = np.flatnonzero(labels[counted] == 1), np.flatnonzero(labels[counted] == 0)
    for name, rows in (("positive", pos), ("unlabelled", unl)):
        if rows.size < 2:
            scored = "" if has_score is None else " with a score"
            raise ValueError(f"y must have at least two {name} rows{scored} for {function}, got {rows.size}")
    group = cluster_numbers(groups, n_rows)
    if group is None:
        return counted, Sample(pos, unl)
    group = group[counted]
    for name, rows in (("positive", pos), ("unlabelled", unl)):
        if np.unique(group[rows]).size < 2:
            raise ValueError(f"groups must have at least two groups with {name} rows, got one")
    return counted, GroupedSample(pos, unl, group)
