"""Numbers that look random and are the same on every machine: those of the core, for arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu import _core


def derived_numbers(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the number that each of these numbers has among those of a seed, found without the ones before it."""
    return _core.derived_numbers(seed, numbers)


def mixed_bits(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers in which every bit depends on all bits of the value, another one for each value."""
    return _core.mixed_bits(values.ravel()).reshape(values.shape)
