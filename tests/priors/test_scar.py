"""The test that labels are missing completely at random: its statistic, its level and power, and what it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import ks_2samp

import fastpu
from fastpu.priors import ScarTest, scar_test
from fastpu.priors._sample import GroupedSample
from fastpu.priors._scar_test import _ByNumber, _ByPrior, _top
from fastpu.priors._two_samples import difference_above_a_cut, holm
from helpers import refused


def draw(rng, n, depends, apart=3.0):
    """Two columns that tell the classes apart, and one that says which positives are labelled."""
    positive = rng.random(n) < 0.4
    X = rng.standard_normal((n, 3)) + apart * positive[:, None] * [1, 1, 0]
    labelled = positive & (rng.random(n) < expit(depends * X[:, 2] - 0.5))
    return X, labelled, positive[~labelled].mean()


def line(X, y):
    """A quick score."""
    return fastpu.baselines.fit_ls_auc(X, np.where(y == 1, 1, -1), n_threads=1)


# ------------------------------------------------------------------------------------------------------ the statistic


@pytest.mark.parametrize("ties", [False, True])
def test_the_difference_is_that_of_kolmogorov_and_smirnov(ties):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pos, unl = rng.normal(0.4, 1, 15), rng.normal(0, 1, 25)
        if ties:
            pos, unl = np.round(pos), np.round(unl)
        difference, cut, _ = difference_above_a_cut(pos, unl, 1.0, 1, rng)
        assert abs(difference) == pytest.approx(ks_2samp(pos, unl).statistic)
        assert difference == pytest.approx(np.mean(pos > cut) - np.mean(unl > cut))


def test_the_p_value_is_that_of_all_permutations():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.5, 1.0):
        pos, unl = rng.normal(shift, 1, 12), rng.normal(0, 1, 20)
        found = difference_above_a_cut(pos, unl, 1.0, 20_000, rng)[2]
        exact = ks_2samp(pos, unl, method="exact").pvalue
        assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4


def test_what_negative_rows_can_do_is_taken_off():
    rng = np.random.default_rng(0)
    pos, unl = rng.random(200), np.append(rng.random(180), np.full(20, 5.0))  # a tenth of them from elsewhere
    p_values = [difference_above_a_cut(pos, unl, purity, 199, rng)[2] for purity in (1.0, 0.95, 0.9, 0.5)]
    assert sorted(p_values) == p_values
    assert p_values[-1] == 1.0
    assert difference_above_a_cut(pos, pos, 1.0, 199, rng)[2] == 1.0
    assert difference_above_a_cut(np.ones(10), np.ones(10), 1.0, 199, rng) == (0.0, 1.0, 1.0)
    assert np.isnan(difference_above_a_cut(pos[:9], unl, 1.0, 199, rng)).all()


def test_the_rows_that_are_compared():
    rng = np.random.default_rng(0)
    for decimals in (9, 1):
        pos, unl = np.round(rng.normal(3, 1, 60), decimals), np.round(rng.normal(0, 1, 200), decimals)
        unl[:60] += 3
        limit = np.sort(unl)[::-1][30]
        above_pos, above_unl, purity = _top(pos, unl, _ByNumber(30))
        assert purity == 1.0
        np.testing.assert_array_equal(above_pos, np.flatnonzero(pos > limit))
        np.testing.assert_array_equal(above_unl, np.flatnonzero(unl > limit))
        above_pos, above_unl, purity = _top(pos, unl, _ByPrior(0.3))
        assert purity == pytest.approx(min(1, 0.3 * (above_pos.size / 60) / (above_unl.size / 200)))
        assert purity >= 0.9
        for other in np.sort(unl)[::-1]:
            n_pos, n_unl = np.sum(pos > other), np.sum(unl > other)
            if n_unl > above_unl.size and n_pos >= 10:
                assert 0.3 * (n_pos / 60) / (n_unl / 200) < 0.9
    everything = _top(pos, unl, _ByNumber(200))
    assert (everything[0].size, everything[1].size) == (60, 200)
    assert [part.size for part in _top(pos, unl, _ByPrior(0.001))[:2]] == [0, 0]


def test_p_values_are_adjusted_byholm():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, np.nan])), [0.03, 0.06, 0.06, np.nan])
    np.testing.assert_allclose(holm(np.array([0.5, 0.9, 0.8])), 1.0)
    assert np.isnan(holm(np.array([np.nan]))).all()


# ----------------------------------------------------------------------------------------------------- level and power


def test_labels_at_random_are_rarely_taken_for_others():
    """With the true prior; and by the number of rows where all of them are positive, where p-values are uniform."""
    by_prior, by_number = [], []
    for seed in range(60):
        X, labelled, share = draw(np.random.default_rng(seed), 600, 0.0, apart=4.0)
        options = {"fit": line, "n_permutations": 99, "n_divisions": 2, "random_state": seed, "n_threads": 1}
        by_prior.append(scar_test(X, labelled, prior=share, **options).p_value)
        n_top = int(0.5 * share * np.sum(~labelled))
        by_number.append(scar_test(X, labelled, n_top=n_top, columns=2, **options).p_value[0])
    assert np.mean(np.array(by_prior) <= 0.1) < 0.1
    shares = np.array([np.mean(np.array(by_number) <= level) for level in (0.1, 0.5)])
    assert (np.abs(shares - [0.1, 0.5]) < 3 * np.sqrt(np.array([0.09, 0.25]) / 60)).all()


def test_p_values_by_more_divisions_depend_less_on_the_seed_and_say_how_much():
    X, labelled, share = draw(np.random.default_rng(3), 400, 0.0, apart=2.5)
    options = {"n_top": int(0.5 * share * np.sum(~labelled)), "fit": line, "n_permutations": 99, "n_threads": 1}
    one, many = (
        [scar_test(X, labelled, n_divisions=n, random_state=seed, **options) for seed in range(6)] for n in (1, 8)
    )
    spread_one, spread_many = (np.std([test.p_value for test in tests], axis=0) for tests in (one, many))
    assert spread_one.max() > 0.12
    assert np.mean(spread_many) < 0.8 * np.mean(spread_one)
    assert spread_many.max() < 0.12
    said = np.mean([np.std(test.p_halves, axis=1) for test in many], axis=0)
    assert 0.4 < np.mean(said) / np.mean(spread_many) < 2.5
    np.testing.assert_allclose([test.p_halves[:, 0] for test in one], [test.p_value for test in one], atol=0.2)


def customers(seed, apart=4.0):
    """Ten rows of each of 120 customers: whole ones are labelled at random, and the last column tells them apart."""
    rng = np.random.default_rng(seed)
    positive = rng.random(120) < 0.5
    centre = np.column_stack([rng.standard_normal((120, 2)) / 2 + apart * positive[:, None], rng.standard_normal(120)])
    X = np.repeat(centre, 10, axis=0) + 0.1 * rng.standard_normal((1200, 3))
    y = positive & (rng.random(120) < 0.5)
    return X, np.repeat(y, 10), np.repeat(np.arange(120), 10), positive[~y].mean()


def test_rows_of_a_group_are_no_evidence_of_their_own():
    """Counted one by one, rows of customers who were labelled at random seem to have been chosen by the column."""
    by_rows, by_groups = [], []
    for seed in range(20):
        X, y, customer, share = customers(seed)
        options = {"columns": 2, "fit": line, "n_permutations": 99, "n_divisions": 2, "random_state": 0, "n_threads": 1}
        by_rows.append(scar_test(X, y, n_top=150, **options).p_value[0])
        test = scar_test(X, y, n_top=15, groups=customer, **options)
        by_groups.append(test.p_value[0])
        assert test.n_unlabeled[0] <= 15
        assert test.n_labeled[0] <= np.unique(customer[y]).size
        assert scar_test(X, y, prior=share, groups=customer, **options).n_labeled[0] <= np.unique(customer[y]).size
    assert np.mean(np.array(by_rows) <= 0.05) > 0.5
    assert np.mean(np.array(by_groups) <= 0.05) <= 0.15


def test_a_column_that_whole_groups_are_labelled_by_is_found():
    found = []
    for seed in range(6):
        X, _, customer, _ = customers(seed)
        positive = X[:, 0] > 2
        y = positive & (np.repeat(X[::10, 2], 10) > 0)
        options = {"n_top": 20, "columns": 2, "fit": line, "n_permutations": 199, "n_divisions": 2, "random_state": 0}
        found.append(scar_test(X, y, groups=customer, n_threads=1, **options).p_value[0])
    assert max(found) < 0.05


def test_each_group_counts_by_the_row_of_the_median_score():
    sample = GroupedSample(np.array([0, 1, 2]), np.array([3, 4, 5, 6, 7]), np.array([0, 0, 1, 0, 2, 2, 2, 2]))
    pos, unl = sample.independent(np.array([3.0, 1.0, 2.0]), np.array([9.0, 4.0, 1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(pos, [1, 2])  # the lower one of two, and a row by itself
    np.testing.assert_array_equal(unl, [0, 3])
    assert sample.n_independent_unl == 2


def test_a_constant_column_moves_no_other_and_has_a_p_value_of_1():
    X, labelled, share = draw(np.random.default_rng(0), 300, 2.0)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=300)])
    options = {"prior": share, "n_permutations": 99, "n_divisions": 2, "random_state": 0, "n_threads": 1}
    plain = scar_test(X, labelled, **options)
    with_constant = scar_test(np.insert(X, 0, 7.0, axis=1), labelled, **options)
    np.testing.assert_array_equal(with_constant.p_halves[1:], plain.p_halves)
    np.testing.assert_array_equal(with_constant.p_adjusted[1:], plain.p_adjusted)
    assert (with_constant.p_value[0], with_constant.p_adjusted[0], with_constant.difference[0]) == (1.0, 1.0, 0.0)
    assert "column" in str(with_constant)
    one = scar_test(X, labelled, columns=[3, 1], **options)
    np.testing.assert_array_equal(one.p_halves, plain.p_halves[[3, 1]])


def test_a_column_that_labels_depend_on_is_found():
    for seed in range(10):
        X, labelled, share = draw(np.random.default_rng(seed), 600, 2.0)
        options = {"fit": line, "n_permutations": 199, "n_divisions": 4, "random_state": seed, "n_threads": 1}
        test = scar_test(X, labelled, prior=share, **options)
        assert test.p_adjusted[2] < 0.05
        assert np.argmax(np.abs(test.difference)) == 2
        assert test.difference[2] > 0.2  # labelled rows have the larger values


def test_classes_that_overlap_cannot_be_tested():
    X, labelled, share = draw(np.random.default_rng(0), 600, 0.0, apart=0.3)
    test = scar_test(X, labelled, prior=share, fit=line, random_state=0, n_threads=1)
    assert np.isnan(test.p_value).all()
    assert np.isnan(test.p_adjusted).all()
    assert str(test).count("cannot be tested: too few unlabelled rows are surely positive") == 3


# ------------------------------------------------------------------------------------------------------- what it takes


def test_the_default_scores_columns_and_rows_of_any_form():
    rng = np.random.default_rng(0)
    X, labelled, share = draw(rng, 300, 2.0)
    options = {"prior": share, "random_state": 0, "n_permutations": 199, "n_divisions": 4}
    test = scar_test(X, labelled, n_threads=1, **options)
    assert isinstance(test, ScarTest)
    assert test.columns == (0, 1, 2)
    assert test.p_value[2] < 0.05
    for rows in (sp.csr_array(X), X.astype(np.float32), X * [1e8, 1.0, 1e-8]):
        np.testing.assert_allclose(
            scar_test(rows, labelled, n_threads=2, **options).p_value[2], test.p_value[2], atol=0.05
        )
    assert test.p_halves.shape == (3, 4)
    frame = pd.DataFrame(X, columns=["age", "dose", "distance"])
    named = scar_test(frame, pd.Series(labelled), columns=["distance", "age"], n_threads=1, **options)
    assert named.columns == ("distance", "age")
    lines = str(named).splitlines()
    assert lines[0].split() == [
        "column",
        "difference",
        "cut",
        "labelled",
        "unlabelled",
        "p-value",
        "adjusted",
        "by",
        "halves",
    ]
    assert lines[1].split()[0] == "distance"


def test_calls_that_say_too_little_or_too_much_are_refused():
    X, labelled, _ = draw(np.random.default_rng(0), 60, 0.0)
    for options in ({}, {"prior": 0.3, "n_top": 20}):
        refused(TypeError, "pass either prior or n_top", scar_test, X, labelled, **options)
    refused(ValueError, "X must have at least 2 columns", scar_test, X[:, :1], labelled, prior=0.3)
    customer = np.arange(60) // 12
    refused(ValueError, "n_top must be", scar_test, X, labelled, n_top=10, groups=customer)
    refused(ValueError, "groups must have one entry per row", scar_test, X, labelled, prior=0.3, groups=customer[1:])
    refused(ValueError, "y holds -1 and no 0", scar_test, X, np.where(labelled, 1, -1), prior=0.3)
    y = np.arange(60) % 3 - 1
    found, expected = (scar_test(X[rows], y[rows], n_top=10, n_divisions=1, random_state=0) for rows in (y < 2, y >= 0))
    np.testing.assert_array_equal(found.p_halves, expected.p_halves)
