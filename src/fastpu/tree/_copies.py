"""Labelled rows that are copies of each other: bags that leave one of them out hold the others."""

from __future__ import annotations

import numpy as np

from fastpu.common._warn import warn
from fastpu.exceptions import CopiedRowsWarning
from fastpu.tree._tree_rows import BaggedRows

_MANY = 0.1  # of the labelled rows: on pure noise the out-of-bag AUC is then .54 in place of .50
_FEW_MIXED = 0.1


def warn_of_copies(function: str, rows: BaggedRows) -> bool:
    """Warn if many labelled rows are copies of each other; return whether they are.

    Cases that happen to be equal, for example because a few columns have a few values each, do no harm: the labels of
    such rows are drawn one by one, and some of them are unlabelled. Copies of a case have its label. So a labelled row
    counts only if none of its copies is unlabelled, and there is no warning if many labelled rows have an unlabelled
    copy.
    """
    hashes = rows.hashes(1)
    values, sizes = np.unique(hashes, return_counts=True)
    if sizes[sizes > 1].sum() < _MANY * hashes.size:
        return False
    is_mixed = np.isin(values, rows.hashes(0))
    n_copied, n_mixed = int(sizes[(sizes > 1) & ~is_mixed].sum()), int(sizes[is_mixed].sum())
    if n_copied < _MANY * hashes.size or n_mixed > _FEW_MIXED * (n_copied + n_mixed):
        return False
    warn(
        f"{function}: {n_copied} of the {hashes.size} labelled positive rows are copies of each other, with the same "
        f"bin or category in every column. Bags that leave such a row out hold its copies, so out-of-bag scores are "
        f"too good, and so is what is computed from them. If these rows are the same case several times, pass groups, "
        f"or keep one row of each. If equal rows are different cases, ignore this",
        CopiedRowsWarning,
    )
    return True
