"""Binned rows on a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fastpu.data.binned_features import BinnedFeatures, stacked_bins


@dataclass(frozen=True)
class WorkerRows:
    """The binned rows of one partition, or of several, one below the other.

    Attributes
    ----------
    features : BinnedFeatures, or None
        None if there are no rows.
    labels : ndarray of int8
    weights : ndarray of float64, or None
    partitions : tuple of int
        The numbers of the partitions.
    fingerprint : ndarray of uint64
        Hashes of the rows: those of all rows are the sums over the workers.
    """

    features: BinnedFeatures | None
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    partitions: tuple[int, ...] = ()
    fingerprint: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(3, dtype=np.uint64))

    def binned(self) -> BinnedFeatures:
        if self.features is None:
            raise ValueError(f"partitions {self.partitions} have no rows")
        return self.features


def take_rows(part: WorkerRows, rows: NDArray[np.int64]) -> BinnedFeatures:
    """Return the rows with these numbers within the partition."""
    return part.binned()[np.array(rows)]  # a copy is aligned, as kernels need it; in a message arrays begin at any byte


def stack_rows(parts: Sequence[WorkerRows]) -> WorkerRows:
    """Return the rows of some partitions, which are not empty, one below the other."""
    weights = [part.weights for part in parts if part.weights is not None]
    return WorkerRows(
        stacked_bins([part.binned() for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate(weights) if weights else None,
        tuple(number for part in parts for number in part.partitions),
        np.sum([part.fingerprint for part in parts], axis=0, dtype=np.uint64),
    )
