"""PU splits follow the scenario, row by row, and simulated data have the stated Bayes error."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpu.datasets import (
    PUSplit,
    make_four_normals,
    make_pu_toy1,
    make_pu_toy2,
    make_trifurcate,
    make_two_normals,
    split_case_control,
    split_single_set,
)
from helpers import outcome, refused

each_split = pytest.mark.parametrize("function", [split_single_set, split_case_control])

SIZES = st.one_of(st.integers(1, 50), st.floats(0.01, 1))


def check(split, y):
    """What holds in both scenarios: every row is in one set, and only positive training rows are labelled."""
    assert isinstance(split, PUSplit)
    np.testing.assert_array_equal(np.sort(np.concatenate(split[:2])), np.arange(y.size))
    assert np.all(np.diff(split.train) > 0)
    assert np.all(np.diff(split.test) > 0)
    assert split.y_train.dtype == np.int8
    assert set(split.y_train) == {0, 1}
    labeled = split.train[split.y_train == 1]
    assert np.all(y[labeled] == 1)
    assert isinstance(split.prior, float)
    return labeled


def wanted(size, n):
    """Rows that a size asks for: a share to the nearest row, or a number."""
    return max(1, round(size * n)) if isinstance(size, float) else size


@given(st.integers(1, 60), st.integers(1, 60), SIZES, SIZES, st.booleans(), st.integers(0, 2**32))
def test_a_single_set_is_drawn_first_and_labels_from_it(n_pos, n_neg, train, labeled, stratify, seed):
    y = np.random.default_rng(seed).permutation([1] * n_pos + [-1] * n_neg)
    split = outcome(lambda: split_single_set(y, train=train, labeled=labeled, stratify=stratify, random_state=seed))
    n_train = wanted(train, y.size)
    if isinstance(split, ValueError):
        # Too large, no positive in training or fewer than are to be labelled, or nothing is left without a label.
        assert n_train > y.size or n_train < 3 or not stratify or wanted(labeled, n_pos) > n_pos * n_train / y.size - 1
        return
    labels = check(split, y)
    assert split.train.size == n_train
    positives = int(np.sum(y[split.train] == 1))
    assert split.prior == positives / n_train
    assert labels.size == wanted(labeled, positives)
    if stratify:
        assert abs(positives - n_pos * n_train / y.size) <= 1
        for rows in split[:2]:
            if 2 <= n_train <= y.size - 2 and min(n_pos, n_neg) >= 2:
                assert set(y[rows]) == {-1, 1}


@given(st.integers(1, 60), st.integers(1, 60), SIZES, SIZES, st.booleans(), st.integers(0, 2**32))
def test_in_case_control_labels_are_drawn_first_and_the_rest_shared_out(n_pos, n_neg, labeled, unl, stratify, seed):
    y = np.random.default_rng(seed).permutation([1] * n_pos + [-1] * n_neg)
    call = {"labeled": labeled, "unlabeled": unl, "stratify": stratify, "random_state": seed}
    split = outcome(lambda: split_case_control(y, **call))
    n_labeled = wanted(labeled, n_pos)
    n_unlabeled = wanted(unl, y.size - n_labeled)
    if isinstance(split, ValueError):
        assert n_labeled > n_pos or n_unlabeled > y.size - n_labeled
        return
    labels = check(split, y)
    assert labels.size == n_labeled
    assert split.train.size == n_labeled + n_unlabeled
    unlabeled = split.train[split.y_train == 0]
    assert split.prior == np.mean(y[unlabeled] == 1)
    if stratify:
        expected = (n_pos - n_labeled) / (y.size - n_labeled)
        assert abs(split.prior - expected) <= 1 / n_unlabeled + 1e-12


def test_the_protocols_of_the_pual_paper():
    y = np.array([1] * 150 + [-1] * 120)
    split = split_single_set(y, random_state=0)
    assert (split.train.size, split.test.size) == (189, 81)
    assert np.sum(split.y_train == 1) == round(0.25 * 105)
    assert split.prior == 105 / 189
    for share, frequency in ((7 / 17, 0.5), (7 / 37, 0.25)):
        split = split_case_control(y, labeled=share, random_state=0)
        n_labeled = round(share * 150)
        assert np.sum(split.y_train == 1) == n_labeled
        assert abs(split.test.size - 0.3 * (270 - n_labeled)) <= 0.5
        # Of the positives in training, this share is labelled.
        assert n_labeled / np.sum(y[split.train] == 1) == pytest.approx(frequency, abs=0.01)


@each_split
def test_seeds_and_kinds_of_labels(function, unchanged):
    y = np.arange(60) % 3 == 0
    with unchanged(y):
        first = function(y, random_state=3)
    for other in (y.astype(int), np.where(y, 1, -1), y.tolist(), y.astype(float)):
        again = function(other, random_state=np.random.default_rng(3))
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, function(y, random_state=4), strict=True))
    generator = np.random.default_rng(3)
    function(y, random_state=generator)
    assert not np.array_equal(first.train, function(y, random_state=generator).train)


@each_split
def test_one_is_a_row_and_one_point_zero_all_rows(function):
    y = np.array([1] * 10 + [-1] * 10)
    rest = {"train": 1.0} if function is split_single_set else {"unlabeled": 1.0}
    split = function(y, labeled=1, **rest)
    assert split.test.size == 0
    assert np.sum(split.y_train == 1) == 1
    split = function(y, labeled=1.0, **rest)
    assert np.sum(split.y_train == 1) == 10
    assert split.prior == (0.5 if function is split_single_set else 0.0)


@each_split
@pytest.mark.parametrize("stratify", [True, False])
def test_each_positive_is_labelled_and_each_row_used_equally_often(function, stratify):
    y = np.array([1] * 20 + [-1] * 30)
    rng = np.random.default_rng(0)
    labeled, used = np.zeros(50), np.zeros(50)
    for _ in range(2000):
        split = function(y, labeled=5, stratify=stratify, random_state=rng)
        labeled[split.train[split.y_train == 1]] += 1
        used[split.train] += 1
    assert np.all(np.abs(labeled[:20] / 2000 - 0.25) < 0.05)  # five standard deviations
    for label in (1, -1):
        share = used[y == label] / 2000
        assert np.ptp(share) < 0.1
    assert not labeled[20:].any()


def test_bad_input():
    y = [1, 1, 1, 0, 0, 0]
    for function in (split_single_set, split_case_control):
        refused(ValueError, "y must have at least one positive and one negative row", function, [1, 1])
        for bad in (0.0, 1.5):
            refused(ValueError, "labeled must be a number in (0, 1], got", function, y, labeled=bad)
        refused(ValueError, "labeled must be an integer >= 1, got 0", function, y, labeled=0)
        refused(TypeError, "labeled must be a number in (0, 1], got True", function, y, labeled=True)
    refused(ValueError, "labeled must be at most 3, the number of positive rows, got 4", split_case_control, y,
            labeled=4)  # fmt: skip
    refused(ValueError, "unlabeled must be at most 5, the number of rows that are not labelled, got 6",
            split_case_control, y, labeled=1, unlabeled=6)  # fmt: skip
    refused(ValueError, "labeled must be at most 2, the number of positive training rows, got 3", split_single_set, y,
            train=4, labeled=3)  # fmt: skip
    refused(ValueError, "train must be at most 6, the number of rows, got 7", split_single_set, y, train=7)
    refused(ValueError, "train must be a number in (0, 1], got 0.0", split_single_set, y, train=0.0)
    refused(ValueError, "unlabeled must be a number in (0, 1], got 2.0", split_case_control, y, unlabeled=2.0)
    refused(ValueError, "train must leave positives to label in the training set, got none among 1 rows",
            split_single_set, [1, 0, 0, 0], train=1)  # fmt: skip
    refused(ValueError, "train and labeled must leave unlabelled training rows, got 1 training rows",
            split_single_set, [1, 1, 1, 0], train=1)  # fmt: skip


# ---- Simulated data --------------------------------------------------------------------------------------------------


def four_normals_error(variance):
    """Bayes error by adding up the smaller of the two class densities over a grid."""
    axis = np.linspace(-13, 13, 1301)
    grid = np.meshgrid(axis, axis, indexing="ij")
    density = {True: 0.0, False: 0.0}
    for k in range(1, 5):
        x, z = (g - 3 * f(k * np.pi / 2 + np.pi / 8) for g, f in zip(grid, (np.cos, np.sin), strict=True))
        value = np.exp(-(x**2) / 2 - z**2 / (2 * variance)) / (8 * np.pi * np.sqrt(variance))
        density[k in {1, 4}] = density[k in {1, 4}] + value
    return float(np.minimum(density[True], density[False]).sum() * (axis[1] - axis[0]) ** 2)


def test_bayes_errors_are_those_that_the_docstrings_state():
    assert 0.5 - 0.5 * erf(1 / sqrt(2)) == pytest.approx(0.1587, abs=5e-5)
    assert four_normals_error(3.0792) == pytest.approx(0.0890, abs=5e-5)
    assert four_normals_error(4.0) == pytest.approx(0.1105, abs=1e-4)
    X, y = make_two_normals(200_000, random_state=1)
    assert np.mean(np.sign(X[:, 0]) != y) == pytest.approx(0.1587, abs=0.004)


def test_moments_of_the_simulated_classes():
    X, y = make_two_normals(100_000, random_state=0)
    assert np.mean(y == 1) == pytest.approx(0.5, abs=0.01)
    for label in (1, -1):
        np.testing.assert_allclose(X[y == label].mean(axis=0), [label, 0], atol=0.03)
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(2), atol=0.04)
    X, y = make_four_normals(200_000, variance=4.0, random_state=0)
    assert np.mean(y == 1) == pytest.approx(0.5, abs=0.01)
    angles = np.arange(1, 5) * np.pi / 2 + np.pi / 8
    for label, ks in ((1, [0, 3]), (-1, [1, 2])):
        mean = 3 * np.array([np.cos(angles[ks]).mean(), np.sin(angles[ks]).mean()])
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.04)
        between = 9 * np.array([np.cos(angles[ks]).var(), np.sin(angles[ks]).var()])
        np.testing.assert_allclose(X[y == label].var(axis=0), between + np.array([1, 4]), rtol=0.02)


@pytest.mark.parametrize(("make", "centres"), [(make_pu_toy1, [(2, 2), (-2, -2)]), (make_pu_toy2, [(2, -3), (-3, 2)])])
def test_moments_of_the_toys_of_the_path_paper(make, centres):
    X, y = make(100_001, random_state=0)
    assert np.sum(y == 1) == 50_001
    for label, centre in zip((1, -1), centres, strict=True):
        np.testing.assert_allclose(X[y == label].mean(axis=0), centre, atol=0.04)
        np.testing.assert_allclose(np.cov(X[y == label].T), 2 * np.eye(2), atol=0.08)


def test_far_positives_are_where_they_are_put():
    X, y = make_trifurcate(80_000, mean=200.0, random_state=1)
    for rows, centre in ((slice(20_000), 15), (slice(20_000, 40_000), 200), (slice(40_000, 80_000), 0)):
        np.testing.assert_allclose(X[rows].mean(axis=0), centre, atol=0.3)
        covariance = np.cov(X[rows].T)
        np.testing.assert_allclose(np.diag(covariance), 50, atol=1.5)
        assert abs(covariance[0, 1] - (0.2 if centre == 0 else 0)) < 1.5
    np.testing.assert_array_equal(y, np.repeat([1, -1], 40_000))
    again = make_trifurcate(80_000, mean=200.0, random_state=np.random.default_rng(1))
    np.testing.assert_array_equal(X, again[0])
    few, labels = make_trifurcate(5, random_state=1)
    assert few.shape == (5, 2)
    assert labels.tolist() == [1, 1, -1, -1, -1]


@pytest.mark.parametrize("make", [make_two_normals, make_four_normals])
def test_simulated_data_follow_the_seed(make):
    X, y = make(30, random_state=5)
    assert (X.shape, y.shape, X.dtype, y.dtype) == ((30, 2), (30,), np.float64, np.int8)
    again = make(30, random_state=np.random.default_rng(5))
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert not np.array_equal(X, make(30, random_state=6)[0])
    assert make()[0].shape == (1000, 2)
    assert make(1)[0].shape == (1, 2)


def test_the_variance_scales_the_second_feature():
    a, b = (make_four_normals(50, variance=v, random_state=0) for v in (1.0, 4.0))
    np.testing.assert_array_equal(a[0][:, 0], b[0][:, 0])
    np.testing.assert_array_equal(a[1], b[1])
    assert not np.array_equal(a[0][:, 1], b[0][:, 1])
