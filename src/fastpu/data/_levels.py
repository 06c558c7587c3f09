"""Ordered columns of categories in pandas frames: numbers, the places of levels, so that cuts lie between levels.

A model keeps all levels of the dtype, also those that no training row has: they lie between their neighbours. A level
that only the dtype of later rows has lies between its neighbours there. An Enum of polars is no ordered column: most
enums merely list the names there are; ``cast(polars.UInt32)`` makes the places of its names numbers, which are split in
their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def levels_of(series: Any) -> tuple[Any, ...] | None:
    """Return all levels of a column, ascending, or None if its dtype is no ordered one of pandas."""
    dtype = series.dtype
    is_ordered = type(dtype).__name__ == "CategoricalDtype" and dtype.ordered
    return tuple(dtype.categories.tolist()) if is_ordered else None


def places_of_levels(series: Any, levels: tuple[Any, ...]) -> NDArray[np.float64]:
    """Return the entries of an ordered column as places among the levels of a model; NaN where they have none."""
    places = {level: float(place) for place, level in enumerate(levels)}
    known = np.array([*(places.get(level, np.nan) for level in levels_of(series) or ()), np.nan])
    is_known = ~np.isnan(known)
    if is_known.any() and (np.diff(known[is_known]) > 0).all():
        # Unknown levels lie midway between their neighbours, or half a place beyond the last one.
        below = np.fmax.accumulate(np.where(is_known, known, -np.inf)[:-1])
        above = np.fmin.accumulate(np.where(is_known, known, np.inf)[-2::-1])[::-1]
        below, above = np.where(np.isinf(below), above - 1.0, below), np.where(np.isinf(above), below + 1.0, above)
        known[:-1] = (below + above) / 2
    entries: NDArray[np.float64] = known[series.cat.codes.to_numpy().astype(np.int64)]
    return entries
