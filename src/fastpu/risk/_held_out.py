"""The rows that `fit_nnpu` trains on, in batches, and those that it holds out to judge the epochs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

_LEAST_HELD = 10  # fewest positive rows to hold out: the risk of fewer is too noisy to stop by
_ROWS_A_BATCH = 1000  # fewest rows in a batch of batch_size="auto"
_POSITIVES_A_BATCH = 10  # fewest positive rows in such a batch, on average
# Weighted rows are shuffled as copies of themselves: at most so many in all, or four for each row if that is more. The
# time of an epoch grows with the copies.
_MOST_COPIES = 2**17


def n_held_out(n_pos: int, fraction: float) -> int:
    """Return how many positive rows are held out: 0 if they would be too few for a reliable risk."""
    count = round(fraction * n_pos)
    return count if _LEAST_HELD <= count < n_pos else 0


class HeldOutSplit:
    """The numbers of the rows to train on and to hold out. In batches a row of weight 3 is listed three times.

    `fraction` of the positive and of the unlabelled rows are held out, unless it is None. `chosen` are the rows to
    train on (None for all), and `weights` are their weights each time they are listed (None for 1). `held_out` are the
    rows that judge the epochs (None for none).
    """

    def __init__(
        self,
        labels: NDArray[np.int8],
        weights: NDArray[np.float64] | None,
        *,
        fraction: float | None,
        batch_size: int | Literal["auto"] | None,
        generator: np.random.Generator,
    ) -> None:
        copies = np.ones(labels.size, dtype=np.int64) if weights is None else _copies(weights)
        held = np.zeros(labels.size, dtype=np.int64)
        if fraction is not None and n_held_out(int(copies[labels == 1].sum()), fraction):
            for group in (1, 0):
                rows = np.repeat(np.flatnonzero(labels == group), copies[labels == group])
                count = min(max(1, round(fraction * rows.size)), rows.size - 1)
                held += np.bincount(generator.choice(rows, count, replace=False), minlength=labels.size)
        left, is_held = copies - held, bool(held.any())
        each = None if weights is None else weights / copies
        self.batch_size = _batch_size(left, labels) if batch_size == "auto" else batch_size
        if self.batch_size is None:  # each row is listed once, with all that is left of its weight
            self.chosen = np.flatnonzero(left) if is_held else None
            self.weights = weights if not is_held or each is None else each * left
        else:
            self.chosen = np.repeat(np.arange(labels.size), left) if is_held or weights is not None else None
            self.weights = each
        self.held_out = np.flatnonzero(held) if is_held else None
        self.held_out_weights = None if each is None or self.held_out is None else (each * held)[self.held_out]


def _copies(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of copies of each row in the shuffled list: its weight if that is an integer."""
    most = max(_MOST_COPIES, 4 * weights.size)
    total = float(weights.sum())
    scaled = weights * (most / total) if total > most else weights
    return np.maximum(1, np.rint(scaled)).astype(np.int64)


def _batch_size(left: NDArray[np.int64], labels: NDArray[np.int8]) -> int | None:
    """Return the size of batches with enough rows, and enough positive ones, in each; None for all rows at once."""
    n, n_pos = int(left.sum()), int(left[labels == 1].sum())
    n_batches = min(n // _ROWS_A_BATCH, n_pos // _POSITIVES_A_BATCH)
    return -(-n // n_batches) if n_batches > 1 else None
