"""The binned rows of a fit, spread over the workers: each worker has its partitions together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.dask._client import Client, release, results_of
from fastpu.dask._worker_rows import WorkerRows, stack_rows, take_rows
from fastpu.data.binned_features import BinnedFeatures, stacked_bins
from fastpu.model._threshold import ScoredRows
from fastpu.tree._tree_rows import TreeRows


class SpreadRows:
    """The rows of all binned partitions, on their workers until this is closed; empty partitions are left out.

    Attributes
    ----------
    of_workers : list of futures of WorkerRows
        The rows of each worker.
    partitions : list of lists of int
        The numbers of the partitions of each worker.
    n_threads : list of int
        How many threads each worker may use: those that were asked for, or those that Dask gave it.
    where : str
        Where the fit is, for messages.
    """

    def __init__(self, client: Client, parts: Sequence[Any], sizes: Sequence[int], n_threads: int | None) -> None:
        self.client, self.where, self._sizes = client, "before the first round", np.asarray(sizes)
        present, holders = client.nthreads(), client.who_has(list(parts))
        of_worker: dict[str, list[int]] = {}
        for number, part in enumerate(parts):
            if sizes[number]:
                addresses = set(present).intersection(holders.get(part.key, ())) or present  # lost ones are made again
                least = min(addresses, key=lambda address: (len(of_worker.get(address, ())), address))
                of_worker.setdefault(least, []).append(number)
        found = sorted(of_worker.items(), key=lambda item: item[1])
        self.partitions = [numbers for _, numbers in found]
        self.n_threads = [n_threads or present[address] for address, _ in found]
        self.of_workers = [
            client.submit(
                stack_rows,
                [parts[number] for number in numbers],
                workers=[address],
                allow_other_workers=True,
                pure=False,
            )
            for address, numbers in found
        ]

    def ask(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], what: str) -> list[Any]:
        """Return ``question(rows, *arguments)`` of every worker, each with its own arguments."""
        tasks = [
            self.client.submit(question, rows, *own, pure=False)
            for rows, own in zip(self.of_workers, arguments, strict=True)
        ]
        return results_of(self.client, tasks, what)

    def fingerprints(self) -> list[NDArray[np.uint64]]:
        return self.ask(attrgetter("fingerprint"), [()] * len(self.of_workers), "reading X")

    def labels_and_weights(self) -> tuple[NDArray[np.int8], NDArray[np.float64] | None]:
        """Return the labels and weights of all rows, which come to the driver in the order of the rows."""
        read = self.ask(attrgetter("labels", "weights"), [()] * len(self.of_workers), "reading y")
        labels, weights = zip(*read, strict=True)
        return self._in_order(labels), None if weights[0] is None else self._in_order(weights)

    def score(self, model: Any) -> NDArray[np.float64]:
        """Return the scores of all rows, in their order."""
        return self._in_order(self.ask(_scores, [(model, n) for n in self.n_threads], "scoring"))

    def take(self, rows: NDArray[np.int64]) -> BinnedFeatures:
        """Return the rows with these numbers, which ascend."""
        first_row = np.cumsum(self._sizes) - self._sizes
        by_part = np.split(rows, np.searchsorted(rows, first_row[1:]))
        tasks, numbers_of_taken = [], []
        for of_worker, partitions in zip(self.of_workers, self.partitions, strict=True):
            numbers = np.concatenate([by_part[k] for k in partitions])
            starts = np.cumsum([0, *self._sizes[partitions]])  # of the partitions within the rows of the worker
            own = [by_part[k] - first_row[k] + start for k, start in zip(partitions, starts, strict=False)]
            if numbers.size:
                tasks.append(self.client.submit(take_rows, of_worker, np.concatenate(own), pure=False))
                numbers_of_taken.append(numbers)
        taken = stacked_bins(results_of(self.client, tasks, "taking a profile of the rows"))
        return taken[np.argsort(np.concatenate(numbers_of_taken))]

    def _in_order(self, of_workers: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Join what the workers return for their rows, partition by partition."""
        parts: dict[int, NDArray[Any]] = {}
        for numbers, entries in zip(self.partitions, of_workers, strict=True):
            parts |= zip(numbers, np.split(entries, np.cumsum(self._sizes[numbers])[:-1]), strict=True)
        return np.concatenate([parts[number] for number in sorted(parts)])

    def close(self) -> None:
        release(self.of_workers)


@dataclass
class SpreadScoredRows(ScoredRows):
    """Rows whose labels and weights the driver has, and whose scores it asks the workers for."""

    spread: SpreadRows

    @classmethod
    def read(cls, spread: SpreadRows) -> SpreadScoredRows:
        return cls(*spread.labels_and_weights(), spread)

    def score(self, model: Any) -> NDArray[np.float64]:
        return self.spread.score(model)


@dataclass
class SpreadTreeRows(TreeRows):
    """The same for a model of trees."""

    spread: SpreadRows

    def score(self, model: Any) -> NDArray[np.float64]:
        return self.spread.score(model)


def _scores(rows: WorkerRows, model: Any, n_threads: int) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = model._decision_function(rows.features, n_threads)
    return scores
