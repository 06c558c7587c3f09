"""The checked options of both SVM paths, and the costs of their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import MANY
from fastpu.common._types import VectorLike
from fastpu.data._validate import check_vector
from fastpu.kernels._kernel import KernelOptions


@dataclass(frozen=True, kw_only=True)
class PathOptions:
    """The options of both SVM paths."""

    kernel: KernelOptions
    lam_min: float
    max_events: int | None
    cache_bytes: int
    n_threads: int

    def limits(self, n_rows: int) -> _core.SvmPathOptions:
        """Return where a path of so many rows ends, and how much memory it may take."""
        return path_limits(n_rows, self.lam_min, self.max_events, self.cache_bytes)

    def params(self) -> dict[str, object]:
        """Return what a path keeps of the options."""
        return {
            **self.kernel.params(),
            "lam_min": self.lam_min,
            "max_events": self.max_events,
            "cache_mb": self.cache_bytes / 2**20,
        }


def path_limits(n_rows: int, lam_min: float, max_events: int | None, cache_bytes: int) -> _core.SvmPathOptions:
    """Return what the core takes; by default a path of n rows ends after 50 n + 1000 events."""
    most = 50 * n_rows + 1000 if max_events is None else max_events
    return _core.SvmPathOptions(lam_min=lam_min, max_events=min(most, MANY), cache_bytes=cache_bytes)


def check_row_costs(costs: VectorLike, labels: NDArray[np.int8], name: str) -> NDArray[np.float64]:
    """Return a cost for each row: >= 0, where infinite ones are in one class only."""
    values = check_vector(name, costs, n=labels.size, allow_inf=True)
    least, most = _core.LEAST_PATH_COST, _core.MOST_PATH_COST
    odd = (values != 0) & (values != np.inf) & ((values < least) | (values > most))
    if odd.any():
        position = int(np.argmax(odd))
        raise ValueError(
            f"{name} must be 0, infinite or between {least:g} and {most:g}, got {values[position]} at position "
            f"{position}"
        )
    hard = [np.flatnonzero(np.isinf(values) & (labels == sign)) for sign in (1, -1)]
    if all(rows.size for rows in hard):
        raise ValueError(
            f"{name} may be infinite in one class only, or the path has no beginning; got inf for the positive row at "
            f"position {hard[0][0]} and for the other one at position {hard[1][0]}"
        )
    return values
