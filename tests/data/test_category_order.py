"""Many categories are put in an order by the labels, which tells a training row nothing of its own label."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import _core
from fastpu.data._categories import MOST_IN_SETS, columns_in_order, columns_in_sets
from fastpu.data._category_order import (
    FEWEST_LABELS,
    FOLDS,
    CategoryOrder,
    ColumnCounts,
    Units,
    _folds,
    count_categories,
    in_order,
    row_numbers,
    upper_label,
)
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


def test_few_categories_stand_as_rows_of_positive_weight_show_them_first():
    values = ("a", "b", "c", "d", "e")
    rows = DenseMatrix(np.array([[3.0], [np.nan], [1.0], [3.0], [4.0], [0.0]]), None, {"0": values})
    labels = np.array([1, 0, 0, 0, 0, 0], np.int8)
    found = in_order(rows, labels, np.array([0.0, 1, 1, 1, 1, 0]))
    assert found.categories == {"0": ("b", "d", "e", "a", "c")}  # the others sorted
    np.testing.assert_array_equal(found.values[:, 0], [1, np.nan, 0, 1, 2, 3])
    assert in_order(rows, labels, None).categories == {"0": ("d", "b", "e", "a", "c")}
    assert in_order(rows, labels, None, is_known=True) is rows


def test_up_to_255_categories_are_split_by_sets():
    kept = {"0": tuple(range(255)), "3": tuple(range(256)), "7": (), "8": ("low", "high"), "levels": ("8",)}
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
    folds = _folds(row_numbers(places.size, None))
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
    parts = [count_categories(matrix(places[h]), labels[h], None, row_numbers(3500, None, h.start)[: labels[h].size], 1)
             for h in halves]  # fmt: skip
    counts = {"1": ColumnCounts.added([part["1"] for part in parts])}
    order = CategoryOrder.of(matrix(places).categories, counts, int(labels.sum()))
    coded = [order.coded(matrix(places[h]), row_numbers(labels[h].size, None, h.start)).values for h in halves]
    np.testing.assert_array_equal(np.concatenate(coded), expected.values)


def test_the_order_does_not_depend_on_names():
    """Many have the same share, and would be told apart by their names or a hash of them."""
    places, rng = drawn(2000)
    labels = (rng.random(places.size) < 0.2).astype(np.int8)
    expected = in_order(matrix(places), labels, None)
    names = [f"c{v:03}" for v in range(MANY)]
    renamed = dict(zip(names, rng.permutation(names), strict=True))
    found = in_order(matrix(places, [renamed[name] for name in names]), labels, None)
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.categories["1"] == tuple(renamed[name] for name in expected.categories["1"])


def of_weights(places, labels, weights, **options):
    groups = (int(labels.sum()), int((labels == 0).sum()), 0)
    units = Units.of(groups, [weights[labels == label].sum() for label in (1, 0, -1)], **options)
    numbers = np.arange(places.size)
    counts = count_categories(matrix(places), labels, weights, numbers, 1, units=units)
    return CategoryOrder.of(matrix(places).categories, counts, groups[0], units)


def test_a_weight_counts_as_so_many_rows_of_one_fold():
    places, rng = drawn()
    labels = (rng.random(places.size) < 0.2).astype(np.int8)
    weights = rng.integers(1, 5, places.size)
    found = of_weights(places, labels, weights.astype(float), are_relative=False)
    again = np.repeat(np.arange(places.size), weights)
    counts = count_categories(matrix(places[again]), labels[again], None, again, 1)
    expected = CategoryOrder.of(matrix(places).categories, counts, FEWEST_LABELS)
    assert found.categories == expected.categories
    np.testing.assert_array_equal(found.codes["1"], expected.codes["1"])


def test_rows_of_next_to_no_weight_change_next_to_nothing():
    places, rng = drawn()
    labels = (rng.random(places.size) < np.nan_to_num(places) / MANY).astype(np.int8)
    tiny, of_tiny = drawn(60_000, seed=1)[0], np.zeros(60_000, np.int8)
    of_tiny[tiny < 100] = 1
    weights = np.r_[np.ones(places.size), np.full(tiny.size, 1e-6)]
    alone = in_order(matrix(places), labels, None).categories["1"]
    both = in_order(matrix(np.r_[places, tiny]), np.r_[labels, of_tiny], weights).categories["1"]
    rank, rank_both = np.argsort(alone), np.argsort(both)
    assert np.corrcoef(rank, rank_both)[0, 1] > 0.999


def test_relative_weights_that_are_equal_within_groups_change_nothing():
    places, rng = drawn()
    labels = (rng.random(places.size) < 0.2).astype(np.int8)
    expected = in_order(matrix(places), labels, None)
    weights = np.where(labels == 1, 0.7, 1e-9)
    found = in_order(matrix(places), labels, weights, are_relative=True)
    assert found.categories == expected.categories
    np.testing.assert_array_equal(found.values, expected.values)
    assert in_order(matrix(places), labels, weights).categories != expected.categories


def test_few_labels_leave_the_most_frequent_categories_to_sets():
    places, rng = drawn(6000)
    places[rng.random(6000) < 0.3] = 7.0
    labels = np.zeros(6000, np.int8)
    labels[rng.permutation(6000)[: FEWEST_LABELS - 1]] = 1
    found = in_order(matrix(places), labels, None)
    assert columns_in_sets(found.categories) == [1]
    kept = {int(name[1:]) for name in found.categories["1"]}
    counts = np.bincount(places[~np.isnan(places)].astype(int), minlength=MANY)
    assert len(kept) == 255
    assert counts[list(kept)].min() >= counts[list(set(range(MANY)) - kept)].max()
    known = np.isin(places, list(kept))
    names = np.array(found.categories["1"])[found.values[known, 1].astype(int)]
    assert names.tolist() == [f"c{int(v):03}" for v in places[known]]
    assert np.isnan(found.values[~known, 1]).all()
    labels[np.flatnonzero(labels == 0)[0]] = 1
    assert columns_in_order(in_order(matrix(places), labels, None).categories) == [1]


def test_rows_of_weight_0_count_as_absent():
    places, rng = drawn()
    labels = (rng.random(places.size) < 0.2).astype(np.int8)
    weights = rng.integers(0, 3, places.size).astype(np.float64)
    kept = weights > 0
    found = in_order(matrix(places), labels, weights)
    expected = in_order(matrix(places[kept]), labels[kept], weights[kept])
    assert found.categories == expected.categories
    np.testing.assert_array_equal(found.values[kept], expected.values)


def test_a_category_that_no_other_fold_has_is_in_the_middle():
    places = np.arange(2.0 * MANY) % MANY
    places[MANY:] = 0.0  # all others have a single row
    found = in_order(matrix(places), ((places % 2 == 1) & (places < 2 * FEWEST_LABELS)).astype(np.int8), None)
    assert (found.values[1:MANY, 1] == MANY // 2 + 0.5).all()
    assert not np.isnan(found.values[MANY:, 1]).any()
    assert np.unique(found.values[MANY:, 1]).size <= FOLDS
    assert found.categories["1"][-FEWEST_LABELS:] == tuple(f"c{v:03}" for v in range(1, 2 * FEWEST_LABELS, 2))


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


def test_the_most_categories_of_a_set_are_those_of_the_core():
    assert _core.MOST_CATEGORIES_IN_SETS == MOST_IN_SETS
