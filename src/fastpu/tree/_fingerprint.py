"""Hashes of training rows: a fit that goes on from a model recognises the rows that the model was made of."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data.binned_features import BinnedFeatures


def fingerprint_of(
    features: BinnedFeatures,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    n_threads: int,
    clusters: NDArray[np.int32] | None = None,
) -> NDArray[np.uint64]:
    """Return hashes of codes and cuts, of labels, of weights and, where there are clusters of rows, of these."""
    native = features._native
    whole = _core.fingerprint(native, labels, weights, first_row=0, n_threads=n_threads)
    return with_clusters(fingerprint_of_parts([whole], native), clusters)


def with_clusters(fingerprint: NDArray[np.uint64], clusters: NDArray[np.int32] | None) -> NDArray[np.uint64]:
    """Return a fingerprint with a hash of the clusters of rows, if there are some."""
    if clusters is None:
        return fingerprint
    return np.append(fingerprint, np.uint64(int.from_bytes(hash_of(clusters), "little")))


def hash_of(clusters: NDArray[np.int32]) -> bytes:
    return hashlib.blake2b(clusters.tobytes(), digest_size=8).digest()


def fingerprint_of_parts(parts: Sequence[NDArray[np.uint64]], native: _core.BinnedFeatures) -> NDArray[np.uint64]:
    """Return hashes of codes and cuts, of labels and of weights of rows that lie in any parts.

    `parts` are the hashes of each part, by `_core.fingerprint`, and `native` has the cuts.
    """
    cuts = hashlib.blake2b(native.cut_starts.tobytes() + native.cut_values.tobytes(), digest_size=8).digest()
    hash_of_cuts = np.array([int.from_bytes(cuts, "little"), 0, 0], dtype=np.uint64)
    fingerprint: NDArray[np.uint64] = np.sum([*parts, hash_of_cuts], axis=0, dtype=np.uint64)
    return fingerprint
