"""The arguments that the support vector machines share."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._methods import methods_with
from fastpu.common._params import MANY, check_float, check_int
from fastpu.common._threads import resolve_n_threads
from fastpu.data._validate import check_labels, check_sample_weight, label_counts
from fastpu.kernels._kernels import Kernel, check_kernel

MOST_COST = 1e100  # largest cost of a row in linear machines: larger ones overflow

_MIB = 2**20
_LEAST_STEPS = 10**7  # default of max_iter, unless 100 for each row is more


@dataclass(frozen=True)
class Options:
    """The checked arguments that all kernel machines share; `limit` is what the function calls `max_iter`."""

    kernel: Kernel
    cache_bytes: int
    tol: float
    max_iter: int | None
    limit: str
    n_threads: int

    def steps(self, n_rows: int) -> int:
        """Return the most pair updates for a problem of so many rows."""
        return min(max(_LEAST_STEPS, 100 * n_rows) if self.max_iter is None else self.max_iter, MANY)

    def params(self) -> dict[str, object]:
        return {**self.kernel.params(), "tol": self.tol, self.limit: self.max_iter}


def check_options(given: Mapping[str, Any], limit: str = "max_iter") -> Options:
    return Options(
        kernel=check_kernel(given["kernel"], given["gamma"], given["degree"], given["coef0"]),
        cache_bytes=check_cache(given["cache_mb"]),
        tol=check_float("tol", given["tol"], low=0, open_low=True),
        max_iter=None if given[limit] is None else check_int(limit, given[limit], low=1),
        limit=limit,
        n_threads=resolve_n_threads(given["n_threads"]),
    )


def check_cache(cache_mb: object) -> int:
    cache = check_float("cache_mb", cache_mb, low=0, open_low=True)
    return int(min(cache * _MIB, float(MANY)))


def seed_param(random_state: object) -> int | None:
    """Return the seed for the params of a model, or None where the generator came from elsewhere."""
    return int(random_state) if isinstance(random_state, numbers.Integral) else None


def check_supervised(y: object, n_rows: int, function: str) -> NDArray[np.int8]:
    """Return labels +1 and -1; refuse unlabelled rows, and name the methods that take them."""
    labels = check_labels(y, n_rows)
    n_unl = label_counts(labels)[1]
    if n_unl:
        raise ValueError(
            f"y must hold +1 and -1 alone for {function}, which is supervised, got {n_unl} unlabelled rows (0, False "
            f"or missing): if 0 means negative, pass fastpu.as_labels(y, negative=0); if it means unlabelled, "
            f"{methods_with('U')} learn from such rows"
        )
    return labels


def cost_per_row(n_rows: int, scalars: Mapping[str, float], by_row: Mapping[str, object]) -> NDArray[np.float64]:
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
        raise ValueError(f"{names} must be finite for all rows together, got up to {cost.max():g} a row")
    underflows = (cost == 0) & ~dropped
    if underflows.any():
        raise ValueError(
            f"{names} must not be so small that it underflows to 0, as at position {int(np.argmax(underflows))}"
        )
    return cost
