"""The cost of each row in a support vector machine: a product of numbers and of arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._types import VectorLike
from fastpu.data._validate import check_sample_weight

MOST_COST = _core.MOST_ROW_COST  # in linear machines: larger ones overflow


def cost_per_row(
    n_rows: int, scalars: Mapping[str, float], by_row: Mapping[str, VectorLike | None]
) -> NDArray[np.float64]:
    """Return the cost of each row: the product of numbers and of arrays with an entry for each row (or None).

    The mappings name the arguments, for messages. The caller has to drop rows whose cost is 0.
    """
    cost: NDArray[np.float64] = np.ones(n_rows)
    dropped = np.zeros(n_rows, dtype=np.bool_)
    with np.errstate(over="ignore", under="ignore"):
        for factor in scalars.values():
            cost *= factor
        for name, factors in by_row.items():
            if (values := check_sample_weight(factors, n_rows, name=name)) is not None:
                cost *= values
                dropped |= values == 0
        total = float(cost.sum())
    names = " * ".join([*scalars, *(name for name, factors in by_row.items() if factors is not None)])
    if not math.isfinite(total):
        raise ValueError(f"{names} must have a finite sum over all rows, got up to {cost.max():g} for a row")
    underflows = (cost == 0) & ~dropped
    if underflows.any():
        raise ValueError(
            f"{names} must be larger at position {int(np.argmax(underflows))}, where float64 rounds it to 0; to "
            f"leave a row out, pass a weight or cost of exactly 0"
        )
    return cost
