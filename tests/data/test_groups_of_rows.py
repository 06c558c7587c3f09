"""Groups as users name them, and folds of whole groups."""

from __future__ import annotations

import datetime as dt
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpu.data._clusters import cluster_numbers, joined_clusters, read_clusters
from fastpu.data._folds import fold_sizes, stratified_folds

NAMES = ["b", "a", "b", "c", "a"]


@pytest.mark.parametrize(
    "groups",
    [
        NAMES,
        tuple(NAMES),
        np.array(NAMES),
        np.array(NAMES, dtype=object),
        pd.Series(NAMES),
        pd.Series(NAMES, dtype="category"),
        pl.Series(NAMES),
        pl.Series(NAMES, dtype=pl.Categorical),
        [2.5, 1.0, 2.5, 7.0, 1.0],
        np.array([2, 1, 2, 7, 1], dtype=np.uint8),
        np.array(["2026-01-02", "2026-01-01", "2026-01-02", "2026-01-03", "2026-01-01"], dtype="datetime64[D]"),
        [("b", 1), ("a", 1), ("b", 1), ("b", 2), ("a", 1)],
        [dt.date(2026, 1, day) for day in (2, 1, 2, 3, 1)],
        [1, "1", 1, 2, "1"],
    ],
)
def test_groups_are_numbered_as_they_appear_whatever_names_them(groups):
    assert cluster_numbers(groups, 5).tolist() == [0, 1, 0, 2, 1]


def test_long_numbers_of_customers_stay_apart():
    ids = [2**60, 2**60 + 1, 2**60]
    for groups in (ids, pd.Series(ids, dtype="Int64"), pl.Series(ids), np.array(ids)):
        assert cluster_numbers(groups, 3).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("groups", "error", "text"),
    [
        ([1, 2], ValueError, r"groups must have one entry per row \(3\), got 2"),
        ([1, None, 2], ValueError, "groups must name the group of every row, got a missing label at position 1"),
        (np.array([1.0, 2.0, np.nan]), ValueError, "missing label at position 2"),
        (pd.Series([1, None, 2], dtype="Int64"), ValueError, "missing label at position 1"),
        (np.array(["2026-01-01", "NaT", "2026-01-01"], dtype="datetime64[D]"), ValueError, "position 1"),
        (np.ones((3, 2)), ValueError, "groups must be one-dimensional"),
        ([[1], [2], [3]], TypeError, "groups must hold labels"),
        (np.ones(3, dtype=complex), TypeError, "groups must hold labels, such as numbers or strings, got dtype"),
    ],
)
def test_what_is_no_group_is_refused(groups, error, text):
    with pytest.raises(error, match=text):
        cluster_numbers(groups, 3)


MIXED = {
    "words": np.array(["b", "a", "b", "long", "a", "b"]),
    "whole numbers": np.array([7, 3, 7, 2**60, 3, 2**60 + 1]),
    "fractions": np.array([0.5, -0.0, 0.5, 0.0, 1.0, 0.5]),
    "days": np.array(["2026-01-02", "2026-01-01", "2026-01-02", "2026-01-03", "2026-01-01", "2026-01-03"], "M8[D]"),
    "objects": np.array(["1", 1, "1", ("a", 1), 1.0, ("a", 1)], dtype=object),
    "columns of pandas": pd.Series(["b", "a", "b", "c", "a", "d"], dtype="category"),
}


@pytest.mark.parametrize("groups", MIXED.values(), ids=MIXED)
@given(cuts=st.lists(st.integers(0, 6), max_size=4))
def test_groups_of_parts_are_numbered_as_those_of_the_whole(groups, cuts):
    edges = [0, *sorted(cuts), 6]
    parts = [read_clusters(groups[a:b], b - a) for a, b in itertools.pairwise(edges)]
    np.testing.assert_array_equal(joined_clusters(parts), cluster_numbers(groups, 6))


def test_groups_of_parts_may_be_named_in_different_forms():
    parts = [np.array([2, 1]), np.array([1.0, 2.5]), np.array(["1", "2.5"]), [2, "1"], np.array([2], dtype=np.uint8)]
    found = joined_clusters([read_clusters(part, len(part)) for part in parts])
    assert found.tolist() == [0, 1, 1, 2, 3, 4, 0, 3, 0]
    days = [np.array(["2026-01-02"], dtype=f"M8[{unit}]") for unit in ("D", "s", "ns")]
    assert joined_clusters([read_clusters(part, 1) for part in days]).tolist() == [0, 0, 0]


@given(st.data())
def test_folds_hold_out_whole_groups_with_rows_of_every_kind(data):
    n_folds = data.draw(st.integers(2, 5))
    n_groups = data.draw(st.integers(2 * n_folds, 30))
    kinds = data.draw(st.lists(st.sampled_from([1, 0]), min_size=n_groups, max_size=n_groups))
    kinds[:n_folds], kinds[n_folds : 2 * n_folds] = [1] * n_folds, [0] * n_folds
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=n_groups, max_size=n_groups))
    labels = np.repeat(kinds, sizes).astype(np.int8)
    clusters = np.repeat(np.arange(n_groups), sizes).astype(np.int32)
    assert fold_sizes(labels, clusters)[1] == kinds.count(1)
    folds = stratified_folds(labels, n_folds, np.random.default_rng(0), clusters)
    np.testing.assert_array_equal(np.sort(np.concatenate([held for _, held in folds])), np.arange(labels.size))
    for train, held in folds:
        assert not np.isin(clusters[held], clusters[train]).any()
        assert np.unique(labels[held]).tolist() == [0, 1]
        assert train.size + held.size == labels.size


def test_groups_that_leave_a_fold_without_a_kind_are_refused():
    labels = np.array([1, -1, 1, 0, -1, 0], dtype=np.int8)
    clusters = np.array([0, 0, 1, 2, 2, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="groups leave 1 of 2 folds without"):
        for seed in range(20):
            stratified_folds(labels, 2, np.random.default_rng(seed), clusters)
