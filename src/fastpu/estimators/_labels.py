"""The labelled rows among those with the labels -1, 0 and 1. This module does not need scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def has_unlabeled(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Tell whether labels of a classifier with these classes are -1, 0 and 1, with 0 for unlabelled rows."""
    if np.asarray(classes).tolist() != [-1, 1] or y.dtype.kind not in "if":
        return False
    return bool((y == 0).any() and np.isin(y, (-1, 0, 1)).all())


def labelled_rows(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return the numbers of the labelled rows where 0 marks others, or None where there are no others.

    Raises ValueError if there is no labelled row.
    """
    if not has_unlabeled(y, classes):
        return None
    kept = np.flatnonzero(y)
    if not kept.size:
        raise ValueError(
            f"y must hold labelled rows (-1 or 1) to judge by, got {y.size} unlabelled ones (0) alone; puf_scorer, "
            f"err_star_scorer and pu_auc_scorer judge by positive and unlabelled rows"
        )
    return kept
