"""Labels are hidden in the stated share, class by class, and splits keep every class everywhere."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpu.datasets import PNUSplit, hide_labels, split_pnu


def counts(labels):
    return tuple(int(np.sum(labels == label)) for label in (1, 0, -1))


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0, 1), st.integers(0, 2**32))
def test_the_share_hidden_is_that_asked_for(n_pos, n_neg, fraction, seed):
    y = np.array([1] * n_pos + [-1] * n_neg)
    hidden = hide_labels(y, fraction=fraction, random_state=seed)
    assert hidden.dtype == np.int8
    known = hidden != 0
    np.testing.assert_array_equal(hidden[known], y[known])
    for label, size in ((1, n_pos), (-1, n_neg)):
        left = int(np.sum(hidden == label))
        assert abs((size - left) - fraction * size) <= 1
        assert left >= 1 or fraction == 1
    assert round(fraction * y.size) - 2 <= np.sum(~known) <= round(fraction * y.size)
    free = hide_labels(y, fraction=fraction, stratify=False, random_state=seed)
    assert np.sum(free == 0) == round(fraction * y.size)


def test_extremes_and_kinds_of_labels(unchanged):
    y = np.array([1] * 10 + [-1] * 10)
    with unchanged(y):
        np.testing.assert_array_equal(hide_labels(y, fraction=0), y)
        np.testing.assert_array_equal(hide_labels(y, fraction=1), np.zeros(20))
    expected = hide_labels(y, random_state=1)
    for other in (y == 1, (y == 1).astype(float), (y == 1).tolist(), y.astype(float)):
        np.testing.assert_array_equal(hide_labels(other, random_state=1), expected)
    assert counts(hide_labels([1, 1, 1, 1], fraction=0.5)) == (2, 2, 0)
    # 3 x 0.85 rounds to all three, but one label stays.
    assert counts(hide_labels([1] * 3 + [0] * 97, fraction=0.85, random_state=0))[0] == 1


def test_seeds():
    y = np.arange(100) % 2
    first = hide_labels(y, random_state=3)
    np.testing.assert_array_equal(first, hide_labels(y, random_state=3))
    np.testing.assert_array_equal(first, hide_labels(y, random_state=np.random.default_rng(3)))
    assert np.any(first != hide_labels(y, random_state=4))
    generator = np.random.default_rng(3)
    hide_labels(y, random_state=generator)
    assert np.any(first != hide_labels(y, random_state=generator))
    assert counts(hide_labels(y)) == (7, 85, 8)


def test_each_row_is_hidden_equally_often():
    y = np.array([1] * 20 + [0] * 30)
    rng = np.random.default_rng(0)
    for stratify in (True, False):
        share = np.mean(
            [hide_labels(y, fraction=0.5, stratify=stratify, random_state=rng) == 0 for _ in range(2000)], axis=0
        )
        assert np.all(np.abs(share - 0.5) < 0.06)  # five standard deviations


@given(st.integers(3, 80), st.integers(3, 80), st.integers(0, 2**32))
def test_splits_cover_every_row_once_with_the_same_shares(n_pos, n_neg, seed):
    y = np.random.default_rng(seed).permutation([1] * n_pos + [-1] * n_neg)
    split = split_pnu(y, random_state=seed)
    assert isinstance(split, PNUSplit)
    rows = np.concatenate(split[:3])
    np.testing.assert_array_equal(np.sort(rows), np.arange(y.size))
    for part, share in zip(split[:3], (0.7, 0.15, 0.15), strict=True):
        assert np.all(np.diff(part) > 0)
        for label, size in ((1, n_pos), (-1, n_neg)):
            found = int(np.sum(y[part] == label))
            assert found >= 1
            assert abs(found - share * size) < 1 or min(share * size, 0.15 * size) < 1
    known = split.y_train != 0
    np.testing.assert_array_equal(split.y_train[known], y[split.train][known])
    assert {-1, 1} <= set(split.y_train[known])


def test_the_protocol_of_the_paper_on_the_sizes_of_wdbc():
    y = np.array([1] * 212 + [0] * 357)
    train, valid, test, y_train = split_pnu(y, random_state=0)
    assert (train.size, valid.size, test.size) == (398, 86, 85)
    assert abs(np.mean(y_train == 0) - 0.85) < 0.005
    assert counts(y_train) == (22, 338, 38)
    again = split_pnu(y == 1, random_state=0)
    np.testing.assert_array_equal(again.y_train, y_train)
    np.testing.assert_array_equal(again.test, test)


def test_other_shares():
    y = np.arange(100) % 2
    split = split_pnu(y, train=0.5, valid=0.25, test=0.25, hidden=0, random_state=0)
    assert [part.size for part in split[:3]] == [50, 26, 24]
    np.testing.assert_array_equal(split.y_train, np.where(y[split.train] == 1, 1, -1))
    assert np.all(split_pnu(y, hidden=1).y_train == 0)


@pytest.mark.parametrize(
    ("function", "args", "error", "text"),
    [
        (split_pnu, {"y": [1, 1, 1]}, ValueError, "y must have at least one positive and one negative row"),
        (
            split_pnu,
            {"y": [1, 1, 0, 0, 0]},
            ValueError,
            "y must have at least 3 rows of each kind, one for each set, got 2 of label 1",
        ),
        (split_pnu, {"y": [1, 1, 1, 0, 0]}, ValueError, "got 2 of label -1"),
        (split_pnu, {"y": [1, 0], "train": 0.8}, ValueError, "train, valid and test must sum to 1, got 1.1"),
    ],
)
def test_bad_input(function, args, error, text):
    with pytest.raises(error, match=re.escape(text)):
        function(**args)
