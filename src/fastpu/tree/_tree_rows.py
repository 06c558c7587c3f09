"""The training rows of trees, as the model of a fit looks at them: in memory, or on the workers of Dask."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data.binned_features import BinnedFeatures
from fastpu.model._threshold import ModelWithThreshold, ScoredRows


@dataclass
class TreeRows(ScoredRows):
    """Labels and weights of all rows, and how a model scores them, wherever they are.

    Attributes
    ----------
    features : BinnedFeatures
        The rows if they are in memory; else a single row, with the columns and cuts of all.
    prior : float
        The share of positives among the unlabelled rows that the fit assumes; 0.5 where it assumes none.
    fingerprint : ndarray of uint64
        Hashes by which a later fit recognises the rows.
    """

    features: BinnedFeatures
    prior: float
    fingerprint: NDArray[np.uint64]


@dataclass
class BaggedRows(TreeRows):
    """Rows that bags are drawn from, and what is asked about them to judge out-of-bag scores.

    `clusters` has for each row the number of its group, or is None where rows are not grouped.
    """

    clusters: NDArray[np.int32] | None

    @abstractmethod
    def hashes(self, label: int) -> NDArray[np.uint64]:
        """Return a hash of each row with this label and a positive weight, the same for rows in the same bins.

        Of equal rows of one cluster only the first counts: bags leave them out together.
        """

    @abstractmethod
    def bins(self, feature: int) -> NDArray[np.uint32]:
        """Return the bins of all rows in one feature."""


@dataclass
class TreeRowsInMemory(BaggedRows):
    """Rows in the memory of this process."""

    n_threads: int

    def score(self, model: ModelWithThreshold) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = model._decision_function(self.features, self.n_threads)
        return scores

    def hashes(self, label: int) -> NDArray[np.uint64]:
        is_wanted = self.counted(label)
        hashes = hashes_of_rows(self.features, is_wanted, self.n_threads)
        return hashes if self.clusters is None else once_a_cluster(hashes, self.clusters[is_wanted])

    def bins(self, feature: int) -> NDArray[np.uint32]:
        return self.features.column(feature)


def hashes_of_rows(features: BinnedFeatures, is_wanted: NDArray[np.bool_], n_threads: int) -> NDArray[np.uint64]:
    """Return a hash of each of the wanted rows of `features`."""
    return _core.row_hashes(features._native, np.flatnonzero(is_wanted).astype(np.int64), n_threads=n_threads)


def once_a_cluster(hashes: NDArray[np.uint64], clusters: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return the hashes of rows, each once for each cluster; `clusters` are those of the rows."""
    order = np.lexsort((hashes, clusters))
    own, ordered = clusters[order], hashes[order]
    is_first = np.concatenate([[True], (own[1:] != own[:-1]) | (ordered[1:] != ordered[:-1])])
    kept: NDArray[np.uint64] = ordered[is_first]
    return kept
