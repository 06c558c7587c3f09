"""The rule of early stopping, beside the same rule in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpu import _core


@given(values=st.lists(st.sampled_from([0.1, 0.2, 0.3, -1.0]), max_size=12), patience=st.integers(0, 5))
def test_the_best_round_is_the_first_with_the_largest_value(values, patience):
    stopping = _core.EarlyStopping(patience)
    assert stopping.best_round == 0
    assert not stopping.is_over
    for n_rounds, value in enumerate(values, start=1):
        stopping.add(value)
        best = int(np.argmax(values[:n_rounds])) + 1
        assert stopping.best_round == best
        assert stopping.is_over == (patience > 0 and n_rounds - best >= patience)


@pytest.mark.parametrize(("patience", "end"), [(0, None), (1, 4), (2, 7), (3, None)])
def test_it_is_over_after_so_many_rounds_without_a_better_value(patience, end):
    stopping, first_end = _core.EarlyStopping(patience), None
    for n_rounds, value in enumerate([0.5, 0.6, 0.7, 0.7, 0.8, 0.8, 0.8], start=1):
        stopping.add(value)
        if stopping.is_over and first_end is None:
            first_end = n_rounds
    assert first_end == end
