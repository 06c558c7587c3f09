"""The random numbers of the core, which give the same numbers on every machine, as Python uses them."""

from __future__ import annotations

import numpy as np

from fastpu import _core
from oracles import forest as oracle


def test_derived_numbers_are_those_of_the_oracle():
    numbers = np.array([0, 1, 2, 10**9, 2**62], dtype=np.int64)
    for seed in (0, 3, 2**64 - 1):
        assert _core.derived_numbers(seed, numbers).tolist() == [oracle.derived(seed, k) for k in numbers.tolist()]


def test_every_value_has_its_own_mixed_bits():
    low = np.arange(2000, dtype=np.uint64)
    values = np.concatenate([low, ~low])
    mixed = _core.mixed_bits(values)
    assert mixed.tolist() == [oracle.mix(value) for value in values.tolist()]
    assert np.unique(mixed).size == values.size
