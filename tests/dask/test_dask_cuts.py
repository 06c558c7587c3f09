"""Cuts that are found shard by shard: those that bin_features finds for all rows together."""

from __future__ import annotations

import pickle
from functools import reduce

import numpy as np
import pytest

import fastpu
from boosting_cases import COLUMN_KINDS, in_float32, make_problem, to_csr
from fastpu import _core
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import bin_at, stacked_bins

pytest.importorskip("distributed")

from fastpu.dask import _cuts


def parts_of(rng, n_rows, n_parts):
    """Rows of consecutive parts, none of them empty."""
    ends = np.sort(rng.integers(0, n_rows + 1, size=n_parts - 1))
    return [rows for rows in np.split(np.arange(n_rows), ends) if rows.size]


def read(X, rows):
    return check_matrix(X[rows], nan="allow", inf="allow")


def cuts_of_parts(X, parts, max_bins, weights=None, *, n_questions=None):
    """The cuts of the columns of X, whose rows lie in parts, in the arrays of `_core.bin_features`."""
    weight_range = None
    if weights is not None:
        weight_range = reduce(_cuts.WeightRange.merged, [_cuts.WeightRange.of(weights[rows]) for rows in parts])
    columns = [
        _cuts.sorted_columns(read(X, rows), range(X.shape[1]), None if weights is None else weights[rows], weight_range)
        for rows in parts
    ]
    asked = []

    def ask(points):
        asked.append(points)
        assert all(np.all(np.diff(p) > 0) for p in points)
        return reduce(_cuts.Answer.merged, [_cuts.answers_of(part, points) for part in columns])

    found = _cuts.find_cuts(ask, X.shape[1], max_bins)
    if n_questions is not None:
        assert len(asked) <= n_questions
    return _cuts.joined_cuts(found, {}, X.shape[1])


def arrays_of(bins):
    return bins._native.cut_starts, bins._native.cut_values, bins._native.bin_values


def assert_those_of(cuts, bins):
    for found, expected in zip(cuts, arrays_of(bins), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("weighted", [None, "whole", "real"])
@pytest.mark.parametrize("max_bins", [1, 2, 5, 32, 255, 300])
def test_cuts_are_those_of_all_rows_together(max_bins, weighted):
    rng = np.random.default_rng([1, max_bins])
    problem = make_problem(rng, n=900, d=14, weighted=weighted)
    for X in (problem.X, in_float32(problem.X)):
        for matrix in (X, to_csr(X), to_csr(X, explicit_zeros=True)):
            bins = fastpu.bin_features(matrix, max_bins=max_bins, sample_weight=problem.weights)
            for n_parts in (1, 9):
                parts = parts_of(rng, 900, n_parts)
                assert_those_of(cuts_of_parts(matrix, parts, max_bins, problem.weights), bins)


@pytest.mark.parametrize("kind", COLUMN_KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 257])
def test_columns_of_every_kind_and_few_rows(kind, n):
    rng = np.random.default_rng([2, n])
    for _ in range(5):
        X = make_problem(rng, n=max(n, 3), d=2, kinds=(kind,)).X[:n]
        for max_bins in (1, 3, 255):
            bins = fastpu.bin_features(X, max_bins=max_bins)
            assert_those_of(cuts_of_parts(X, parts_of(rng, n, 3), max_bins), bins)


def hard_columns(n):
    rng = np.random.default_rng(3)
    normal = rng.normal(size=n)
    clustered = 1e15 + rng.integers(0, 4000, size=n) * 0.125
    rare = np.where(rng.random(n) < 0.999, 7.0, normal)
    with np.errstate(over="ignore"):
        wide = np.exp(300 * rng.normal(size=n)) * rng.choice([-1, 1], size=n)  # infinite now and then
    subnormal = rng.integers(-3000, 3000, size=n) * 5e-324
    neighbours = np.nextafter(1.0, rng.choice([0.0, 2.0], size=n))
    outlier = np.append(normal[1:], 1e300)
    return np.column_stack([normal, clustered, rare, wide, subnormal, neighbours, outlier, np.arange(n)])


def test_hard_columns_take_few_questions():
    X = hard_columns(30000)
    bins = fastpu.bin_features(X)
    assert_those_of(cuts_of_parts(X, parts_of(np.random.default_rng(4), 30000, 7), 255, n_questions=14), bins)


def test_whole_weights_are_repetitions():
    rng = np.random.default_rng(5)
    X, weights = rng.normal(size=(800, 3)), rng.integers(0, 6, size=800).astype(np.float64)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    cuts = cuts_of_parts(X, parts_of(rng, 800, 4), 50, 0.25 * weights)
    assert_those_of(cuts, fastpu.bin_features(repeated, max_bins=50))


def test_weights_of_any_size_give_the_same_cuts_for_every_partition():
    rng = np.random.default_rng(6)
    X, weights = rng.normal(size=(1000, 2)), rng.exponential(size=1000) ** 5
    for scale in (1e-300, 1.0, 1e300):
        first = cuts_of_parts(X, [np.arange(1000)], 40, scale * weights)
        again = cuts_of_parts(X, parts_of(rng, 1000, 6), 40, scale * weights)
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("weight", [0.7, 1e-300, 1e300])
def test_equal_weights_count_as_none(weight):
    rng = np.random.default_rng(7)
    X, present = rng.normal(size=(700, 2)), rng.random(700) < 0.6
    cuts = cuts_of_parts(X, parts_of(rng, 700, 3), 60, np.where(present, weight, 0.0))
    assert_those_of(cuts, fastpu.bin_features(X[present], max_bins=60))


# ---- Rows binned at given cuts ----


@pytest.mark.parametrize("max_bins", [5, 255, 300])
def test_rows_binned_in_parts_are_those_binned_at_once(max_bins):
    rng = np.random.default_rng([9, max_bins])
    problem = make_problem(rng, n=500, d=9)
    for X in (problem.X, in_float32(problem.X)):
        for matrix in (X, to_csr(X)):
            bins = fastpu.bin_features(matrix, max_bins=max_bins)
            parts = parts_of(rng, 500, 5)
            form = pickle.loads(pickle.dumps(bins[:1]))
            stacked = stacked_bins([bin_at(read(matrix, rows), form, 1) for rows in parts], n_threads=2)
            expected = bins[np.concatenate(parts)]
            assert stacked.shape == expected.shape
            for e in range(9):
                np.testing.assert_array_equal(stacked.column(e), expected.column(e))
            for mine, theirs in zip(stacked._native.__getstate__(), expected._native.__getstate__(), strict=True):
                np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("cuts", "words"),
    [
        (([0, 1], [0.5], [0.0, 1.0]), "has 2 entries for 2 groups"),
        (([0, 1, 2], [0.5], [0.0, 1.0]), "runs from 0 to 2"),
        (([0, 2, 2], [0.5, 0.5], [0.0, 1.0, 2.0, 3.0]), "do not ascend"),
        (([0, 1, 1], [np.nan], [0.0, 1.0, 2.0]), "is NaN"),
        (([0, 1, 1], [0.5], [0.0, 1.0]), "2 values for 3 bins"),
        (([0, 1, 1], [0.5], [0.0, np.inf, 1.0]), "not finite"),
    ],
)
def test_cuts_that_cannot_be_are_refused(cuts, words):
    start, value, bin_value = (np.array(c, dtype) for c, dtype in zip(cuts, ("i8", "f8", "f8"), strict=True))
    X = np.zeros((3, 2))
    for matrix in (X, check_matrix(to_csr(X))):
        with pytest.raises(ValueError, match=words):
            _core.bin_features(matrix, 255, None, 1, None, (start, value, bin_value))


def test_more_cuts_than_a_code_can_count_are_refused():
    cuts = (np.array([0, 300]), np.arange(300.0), np.arange(301.0))
    with pytest.raises(ValueError, match="300 cuts, too many for its codes"):
        _core.bin_features(np.zeros((3, 1)), 255, None, 1, None, cuts)


def test_only_rows_with_the_same_cuts_are_stacked():
    X = np.random.default_rng(11).normal(size=(50, 2))
    bins = fastpu.bin_features(X, max_bins=5)._native
    for other in (fastpu.bin_features(X, max_bins=6), fastpu.bin_features(to_csr(X), max_bins=5)):
        with pytest.raises(ValueError, match="the same cuts and the same form"):
            _core.stack_binned([bins, other._native], 1)
    with pytest.raises(ValueError, match="at least one"):
        _core.stack_binned([], 1)
    with pytest.raises(TypeError):
        _core.stack_binned([bins, None], 1)
