"""The learners that thresholds and probabilities are measured for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable

LEARNERS: dict[str, Callable[..., Any]] = {
    "forest": fastpu.fit_forest,
    "20 bags": lambda X, y, **how: fastpu.fit_boosted_trees(X, y, n_bags=20, **how),
}
