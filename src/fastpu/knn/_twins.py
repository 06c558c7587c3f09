"""Rows that are equal ("twins"): which they are, and how edges between distinct rows are spread over them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.data._matrix import Matrix

_BLOCK = 4096  # rows that are read at a time


@dataclass(frozen=True, eq=False)
class Twins:
    """Which rows are equal: `node` has for each row the number of its distinct row, and `first` where that stands."""

    node: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def among(cls, matrix: Matrix, candidates: NDArray[np.int64]) -> Twins | None:
        """Return the twins of a matrix, all of them among the `candidates`, or None where there are none."""
        first_of: dict[bytes, int] = {}
        stands_at = np.arange(matrix.n_rows)
        for row, key in zip(candidates.tolist(), _keys(matrix, candidates), strict=True):
            stands_at[row] = first_of.setdefault(key, row)
        first, node = np.unique(stands_at, return_inverse=True)
        return None if first.size == matrix.n_rows else cls(node.astype(np.int64), first.astype(np.int64))

    def spread(self, edges: Any) -> tuple[Any, NDArray[np.int64]]:
        """Return edges between rows for those between distinct ones, and how often each of them counts.

        Distinct rows of c and of c' twins have the edges of all c c' pairs. Of these max(c, c') are stored, so that
        every twin has one, and each counts min(c, c') times: W has no more entries than for as many different rows.
        """
        counts = np.bincount(self.node)
        order, starts = np.argsort(self.node, kind="stable"), np.cumsum(counts) - counts
        pairs = sp.triu(edges, k=1).tocoo()
        n_stored = np.maximum(counts[pairs.row], counts[pairs.col])
        number = np.arange(n_stored.sum()) - np.repeat(np.cumsum(n_stored) - n_stored, n_stored)
        one, other = (
            order[np.repeat(starts[nodes], n_stored) + number % np.repeat(counts[nodes], n_stored)]
            for nodes in (pairs.row, pairs.col)
        )
        lengths = np.tile(np.repeat(pairs.data, n_stored), 2)
        times = np.tile(np.repeat(np.minimum(counts[pairs.row], counts[pairs.col]), n_stored), 2)
        rows, columns = np.concatenate([one, other]), np.concatenate([other, one])
        place = np.lexsort([columns, rows])  # an edge of length 0 is kept, which sums of entries would lose
        indptr = np.searchsorted(rows[place], np.arange(self.node.size + 1))
        shape = (self.node.size, self.node.size)
        return sp.csr_array((lengths[place], columns[place], indptr), shape=shape), times[place]


def _keys(matrix: Matrix, rows: NDArray[np.int64]) -> Iterator[bytes]:
    """Yield for each row a key that is equal for equal rows alone; 0 and -0 are equal, stored or not."""
    for start in range(0, rows.size, _BLOCK):
        table = matrix[rows[start : start + _BLOCK]].table()
        if matrix.is_sparse:
            for i in range(table.shape[0]):
                entries = slice(table.indptr[i], table.indptr[i + 1])
                kept = table.data[entries] != 0
                cells = table.indices[entries][kept].astype(np.int64).tobytes(), table.data[entries][kept].tobytes()
                yield hashlib.blake2b(b"".join(cells), digest_size=16).digest()
        else:
            for row in np.ascontiguousarray(table + table.dtype.type(0)):
                yield hashlib.blake2b(row.tobytes(), digest_size=16).digest()
