"""The training rows of a forest on the workers of Dask: binned partitions, and tasks that ask them questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.dask._binning import bin_partitions
from fastpu.dask._census import take_census
from fastpu.dask._client import Client, results_of, wait_for
from fastpu.dask._collections import Partitions
from fastpu.dask._cuts import find_form
from fastpu.dask._tasks import Tasks
from fastpu.dask._worker_rows import WorkerRows, take_rows
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.data.binned_features import BinnedFeatures, stacked_bins
from fastpu.forest._forest_options import FUNCTION, ForestOptions
from fastpu.forest._forest_rows import check_chances
from fastpu.tree._binning import MAX_BINS
from fastpu.tree._fingerprint import fingerprint_of_parts, with_clusters
from fastpu.tree._init_model import check_same_arguments, check_same_rows
from fastpu.tree._tree_rows import BaggedRows, hashes_of_rows, once_a_cluster
from fastpu.tree.tree_ensemble import TreeEnsemble


@dataclass
class ForestRowsOnWorkers(BaggedRows):
    """Rows that lie on workers; the driver has their labels and weights.

    `tasks` has the binned partitions, `sizes` the number of rows of each of them.
    """

    tasks: Tasks
    sizes: Sequence[int]

    @property
    def first_row(self) -> NDArray[np.int64]:
        """The number of the first row of each partition."""
        first: NDArray[np.int64] = np.cumsum(self.sizes, dtype=np.int64) - np.asarray(self.sizes, dtype=np.int64)
        return first

    def score(self, model: Any) -> NDArray[np.float64]:
        return self._joined("scoring", _score, model)

    def hashes(self, label: int) -> NDArray[np.uint64]:
        hashes = self._joined("comparing rows", _hashes, label)
        return hashes if self.clusters is None else once_a_cluster(hashes, self.clusters[self.counted(label)])

    def bins(self, feature: int) -> NDArray[np.uint32]:
        return self._joined("looking for columns that know the labels", _bins, feature)

    def take(self, rows: NDArray[np.int64]) -> BinnedFeatures:
        """Return the rows with these numbers, which ascend."""
        first_row = self.first_row
        by_part = np.split(rows, np.searchsorted(rows, first_row[1:]))
        taken = [
            self.tasks.submit(take_rows, part, numbers - first)
            for part, numbers, first in zip(self.tasks.parts, by_part, first_row, strict=True)
            if numbers.size
        ]
        return stacked_bins(results_of(self.tasks.client, taken, "taking a profile of the rows"))

    def by_part(self, entries: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the entries of all rows as those of each partition."""
        return np.split(entries, np.cumsum(self.sizes)[:-1])

    def _joined(self, what: str, question: Any, argument: object) -> NDArray[Any]:
        """Return the answers of all partitions to ``question(partition, argument)``, one after the other."""
        answers = [self.tasks.submit(question, part, argument) for part in self.tasks.parts]
        return np.concatenate(results_of(self.tasks.client, answers, what))


@contextmanager
def read_forest_rows(
    client: Client, partitions: Partitions, options: ForestOptions, init_model: TreeEnsemble | None
) -> Iterator[ForestRowsOnWorkers]:
    """Bin the partitions on the workers until the context ends.

    Raise ValueError unless the rows are those of `init_model`, if it is given.
    """
    census = take_census(client, partitions, are_relative=True)
    form = find_form(client, partitions, census, options.max_bins or MAX_BINS, are_alike=True)
    tasks = Tasks(client, bin_partitions(client, partitions, form, census))
    try:
        wait_for(client, tasks.parts, "binning")
        read = [tasks.submit(attrgetter("labels", "weights", "fingerprint"), part) for part in tasks.parts]
        labels_of, weights_of, hashes = zip(*results_of(client, read, "reading y"), strict=True)
        labels = check_labels(np.concatenate(labels_of), census.n_rows, pu_only=FUNCTION)
        given = check_sample_weight(np.concatenate(weights_of), census.n_rows) if census.is_weighted else None
        weights = check_chances(labels, given)
        prior = options.prior_among_unlabelled(labels, weights)
        fingerprint = with_clusters(fingerprint_of_parts(hashes, form._native), census.clusters)
        check_same_arguments(init_model, options.params(form.max_bins), form, labels.size)
        check_same_rows(init_model, fingerprint)
        yield ForestRowsOnWorkers(labels, weights, form, prior, fingerprint, census.clusters, tasks, census.sizes)
    finally:
        tasks.close()


# ---- On a worker ----


def _score(part: WorkerRows, model: TreeEnsemble) -> NDArray[np.float64]:
    return np.empty(0) if part.features is None else model.decision_function(part.features, n_threads=1)


def _hashes(part: WorkerRows, label: int) -> NDArray[np.uint64]:
    if part.features is None:
        return np.empty(0, dtype=np.uint64)
    is_counted = part.labels == label
    if part.weights is not None:
        is_counted &= part.weights > 0
    return hashes_of_rows(part.features, is_counted, 1)


def _bins(part: WorkerRows, feature: int) -> NDArray[np.uint32]:
    return np.empty(0, dtype=np.uint32) if part.features is None else part.features.column(feature)
