"""Many categories are put in an order by the labels, which tells a training row nothing of its own label."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu.data._categories import columns_in_order, columns_in_sets
from fastpu.data._category_order import FOLDS, CategoryOrder, _folds, count_categories, in_order, upper_label
from fastpu.data._matrix import DenseMatrix

MANY = 300


def matrix(places, names=None):
    values = np.column_stack([np.zeros(len(places)), places])
    return DenseMatrix(values, None, {"1": tuple(names or (f"c{v:03}" for v in range(MANY)))})


def drawn(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    places = rng.integers(0, MANY, n).astype(np.float64)
    places[rng.random(n) < 0.1] = np.nan
    return places, rng


def test_few_categories_stay_as_they_are():
    few = DenseMatrix(np.zeros((2, 1)), None, {"0": tuple(range(255))})
    assert in_order(few, np.array([1, 0], np.int8), None) is few
    kept = {"0": tuple(range(255)), "3": tuple(range(256)), "7": ()}
    assert columns_in_sets(kept) == [0, 7]
    assert columns_in_order(kept) == [3]


def test_categories_ascend_by_their_share_of_positives(unchanged):
    places, rng = drawn()
    labels = (rng.random(places.size) < np.nan_to_num(places) / MANY).astype(np.int8)
    rows = matrix(places)
    with unchanged(rows.values, labels):
        found = in_order(rows, labels, None)
    order = [int(name[1:]) for name in found.categories["1"]]
    assert sorted(order) == list(range(MANY))
    overall = np.full(10, labels[~np.isnan(places)].mean())
    shares = [np.mean(np.r_[labels[places == v], overall]) for v in order]
    assert (np.diff(shares) >= -1e-12).all()
    # The codes of training rows are those of the same order but for chance.
    rank = np.argsort(order)
    there = ~np.isnan(places)
    assert np.corrcoef(found.values[there, 1], rank[places[there].astype(int)])[0, 1] > 0.9
    assert np.isnan(found.values[~there, 1]).all()
    assert not found.values[:, 0].any()


def test_a_code_does_not_depend_on_labels_of_its_fold():
    places, rng = drawn(2000)
    labels = (rng.random(places.size) < 0.3).astype(np.int8)
    folds = _folds(places.size, None, 0)
    before = in_order(matrix(places), labels, None).values[:, 1]
    of_fold = np.flatnonzero(folds == 2)
    labels[of_fold] = rng.permutation(labels[of_fold])  # the share of all rows stays
    after = in_order(matrix(places), labels, None).values[:, 1]
    np.testing.assert_array_equal(after[of_fold], before[of_fold])
    assert not np.array_equal(after, before, equal_nan=True)


def test_codes_of_noise_tell_nothing_of_the_label():
    gaps = []
    for seed in range(5):
        places, rng = drawn(seed=seed)
        labels = (rng.random(places.size) < 0.3).astype(np.int8)
        codes = in_order(matrix(places), labels, None).values[:, 1]
        gaps.append(np.nanmean(codes[labels == 1]) - np.nanmean(codes[labels == 0]))
    # The place in the order of all rows has a gap of about 90 of 300.
    assert abs(np.mean(gaps)) < 5


def test_the_order_depends_on_neither_the_coding_nor_the_division_of_rows():
    places, rng = drawn()
    labels = (rng.random(places.size) < 0.2).astype(np.int8)
    expected = in_order(matrix(places), labels, None)
    coding = rng.permutation(MANY)
    names = [f"c{v:03}" for v in np.argsort(coding)]
    recoded = np.where(np.isnan(places), np.nan, coding[np.nan_to_num(places).astype(int)])
    found = in_order(matrix(recoded, names), labels, None)
    assert found.categories == expected.categories
    np.testing.assert_array_equal(found.values, expected.values)

    halves = [slice(0, 2500), slice(2500, None)]
    parts = [count_categories(matrix(places[h]), labels[h], None, 1, None, h.start) for h in halves]
    order = CategoryOrder.of(matrix(places).categories, {"1": parts[0]["1"] + parts[1]["1"]})
    coded = [order.coded(matrix(places[h]), None, h.start).values for h in halves]
    np.testing.assert_array_equal(np.concatenate(coded), expected.values)


def test_rows_of_weight_0_count_as_absent():
    places, rng = drawn()
    labels = (rng.random(places.size) < 0.2).astype(np.int8)
    weights = rng.integers(0, 3, places.size).astype(np.float64)
    kept = weights > 0
    found = in_order(matrix(places), labels, weights)
    expected = in_order(matrix(places[kept]), labels[kept], weights[kept])
    assert found.categories == expected.categories
    np.testing.assert_array_equal(found.values[kept], expected.values)


def test_a_category_that_no_other_fold_has_is_missing():
    places = np.arange(2.0 * MANY) % MANY
    places[MANY:] = 0.0  # all others have a single row
    found = in_order(matrix(places), (places == 3).astype(np.int8), None)
    assert np.isnan(found.values[1:MANY, 1]).all()
    assert not np.isnan(found.values[MANY:, 1]).any()
    assert np.unique(found.values[MANY:, 1]).size <= FOLDS
    assert found.categories["1"][-1] == "c003"


@pytest.mark.parametrize(("n_pos", "unused", "label"), [(3, None, 1), (3, 0, 1), (0, None, 0), (3, 1, 0)])
def test_positive_rows_are_compared_with_all_others(n_pos, unused, label):
    assert upper_label(n_pos, unused) == label


def test_unused_rows_tell_nothing():
    places, rng = drawn()
    labels = rng.choice(np.array([1, 0, -1], np.int8), places.size, p=[0.2, 0.6, 0.2])
    expected = in_order(matrix(places), labels, None, unused=0)
    others = places.copy()
    others[labels == 0] = rng.integers(0, 100, np.count_nonzero(labels == 0))
    assert in_order(matrix(others), labels, None, unused=0).categories == expected.categories
    assert in_order(matrix(others), labels, None).categories != in_order(matrix(places), labels, None).categories
