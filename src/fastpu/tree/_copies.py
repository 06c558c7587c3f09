"""Labelled rows that are copies of each other: bags that leave one of them out hold the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._warn import warn
from fastpu.data.binned_features import BinnedFeatures
from fastpu.exceptions import CopiedRowsWarning

_MANY = 0.1  # of the labelled rows: on pure noise the out-of-bag AUC is then .54 in place of .50
_FEW_MIXED = 0.1


def hashes_of_rows(
    features: BinnedFeatures, is_wanted: NDArray[np.bool_], n_threads: int, clusters: NDArray[np.int32] | None = None
) -> NDArray[np.uint64]:
    """Return a hash of each wanted row, the same for rows with the same codes.

    Of equal rows of one cluster only the first counts: bags leave them out together.
    """
    rows = np.flatnonzero(is_wanted).astype(np.int64)
    hashes = _core.row_hashes(features._native, rows, n_threads=n_threads)
    if clusters is None:
        return hashes
    order = np.lexsort((hashes, clusters[rows]))
    own, ordered = clusters[rows][order], hashes[order]
    is_first = np.concatenate([[True], (own[1:] != own[:-1]) | (ordered[1:] != ordered[:-1])])
    kept: NDArray[np.uint64] = ordered[is_first]
    return kept


def warn_of_copies(function: str, hashes_of: Callable[[int], NDArray[np.uint64]]) -> bool:
    """Warn if many labelled rows are copies of each other; `hashes_of(label)` returns the hashes of all rows with it.

    Returned is whether they are.

    Cases that happen to be equal, as where a few columns have a few values each, do no harm: the labels of such rows
    are drawn one by one, and some of them are unlabelled. Copies of a case have its label. So only labelled rows count
    of which no copy is unlabelled, and nothing is said where many labelled rows have an unlabelled copy.
    """
    hashes = hashes_of(1)
    values, sizes = np.unique(hashes, return_counts=True)
    if sizes[sizes > 1].sum() < _MANY * hashes.size:
        return False
    is_mixed = np.isin(values, hashes_of(0))
    n_copied, n_mixed = int(sizes[(sizes > 1) & ~is_mixed].sum()), int(sizes[is_mixed].sum())
    if n_copied < _MANY * hashes.size or n_mixed > _FEW_MIXED * (n_copied + n_mixed):
        return False
    warn(
        f"{function}: {n_copied} of the {hashes.size} labelled positive rows are copies of each other, with the same "
        f"bin or category in every column. Bags that leave such a row out hold its copies, so out-of-bag scores are "
        f"too good, and so is what is computed from them. If these rows are one case several times, pass "
        f"groups, or keep one row of each; if equal rows are different cases, ignore this",
        CopiedRowsWarning,
    )
    return True
