"""Data, sizes and threads that all benchmarks share.

`FASTPU_BENCH_PROFILE` chooses sizes and numbers of threads: "fast", "regular" (the default) or "large".
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

N_FEATURES = 50
LABELLED = 0.15  # share of the rows that have a label
_STEP_FEATURE = 5
_PER_BLOCK = 10  # of so many columns of a sparse matrix one has an entry

PROFILE = os.environ.get("FASTPU_BENCH_PROFILE", "regular")
if PROFILE not in ("fast", "regular", "large"):
    raise ValueError(f'FASTPU_BENCH_PROFILE must be "fast", "regular" or "large", got {PROFILE!r}')

# From rows whose codes fit into the second-level cache to rows that no cache holds.
SIZES = {"fast": (20_000,), "regular": (20_000, 200_000), "large": (100_000, 200_000, 1_000_000, 1_600_000)}[PROFILE]
# Of methods whose time grows with the square of the rows.
KERNEL_SIZES = {"fast": (1_000,), "regular": (2_000, 8_000), "large": (2_000, 8_000, 20_000)}[PROFILE]

_CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
N_THREADS = tuple(n for n in ((1, 2, 4, 8, 16) if PROFILE == "large" else (1, 2)) if n <= _CPUS)


def dense_rows(n: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return X, n x 50 normal float32, and true labels: the sign of five features, a step of a sixth and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    return X, _truth(X, rng)


def sparse_rows(n: int, *, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Return the same as CSR in which a tenth of the entries, drawn at random, is not zero."""
    rng = np.random.default_rng(seed)
    starts = np.arange(0, N_FEATURES, _PER_BLOCK, dtype=np.int32)
    indices = rng.integers(0, _PER_BLOCK, size=(n, starts.size), dtype=np.int32) + starts
    data = rng.standard_normal(indices.size, dtype=np.float32)
    indptr = np.arange(0, indices.size + 1, starts.size, dtype=np.int32)
    X = sp.csr_array((data, indices.ravel(), indptr), shape=(n, N_FEATURES))
    return X, _truth(X, rng)


def _truth(X: Any, rng: np.random.Generator) -> np.ndarray:
    columns: Any = X if isinstance(X, np.ndarray) else X.tocsc()
    score = rng.standard_normal(X.shape[0])
    for feature in range(0, N_FEATURES, _PER_BLOCK):
        score += _column(columns, feature)
    score += np.where(_column(columns, _STEP_FEATURE) > 0, 1.0, -1.0)
    truth: np.ndarray = np.where(score > np.median(score), np.int8(1), np.int8(-1))
    return truth


def _column(X: Any, feature: int) -> np.ndarray:
    column = X[:, feature] if isinstance(X, np.ndarray) else X[:, [feature]].toarray().ravel()
    return np.asarray(column)


def hide_labels(truth: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Return labels +1, 0, -1 of which a share `LABELLED` is not 0.

    Not `fastpu.datasets.hide_labels`, which may change: the rows of a benchmark must not.
    """
    keep = np.random.default_rng(seed + 1).random(truth.size) < LABELLED
    return np.where(keep, truth, np.int8(0))


def label_positives(truth: np.ndarray, *, share: float, seed: int = 0) -> np.ndarray:
    """Return labels +1 for a share of the positives, drawn at random, and 0 for all other rows."""
    keep = np.random.default_rng(seed + 1).random(truth.size) < share
    return np.where(keep & (truth > 0), np.int8(1), np.int8(0))
