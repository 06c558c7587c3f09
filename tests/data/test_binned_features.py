"""bin_features: the cuts, their reuse, and subsets of rows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import fastpu
from boosting_cases import SCORE_TOL, assert_identical, assert_same_run, each_fit, in_float32, make_problem, to_csr
from helpers import through_odd_bytes
from oracles import stump_boost as oracles


@pytest.mark.parametrize("weighted", [None, "whole", "real"])
@pytest.mark.parametrize("max_bins", [1, 2, 5, 32, 254, 255, 256, 300, 65535])
def test_cuts_are_the_quantiles_of_the_oracle(max_bins, weighted):
    problem = make_problem(np.random.default_rng([1, max_bins]), n=900, d=14, weighted=weighted)
    for X in (problem.X, in_float32(problem.X)):
        for matrix in (X, to_csr(X), to_csr(X, explicit_zeros=True)):
            bins = fastpu.bin_features(matrix, max_bins=max_bins, sample_weight=problem.weights)
            assert (bins.n_rows, bins.n_features) == X.shape
            for e in range(X.shape[1]):
                np.testing.assert_array_equal(bins.cuts[e], oracles.quantile_cuts(X[:, e], problem.weights, max_bins))


@pytest.mark.parametrize("max_bins", [1, 5, 255, 300])
@each_fit
def test_a_fit_on_bins_is_the_fit_on_the_rows(fit, max_bins):
    problem = make_problem(np.random.default_rng([2, max_bins]), n=700, d=6)
    if fit is fastpu.baselines.fit_rankboost_auc:
        # Its own bins are those of the labelled rows.
        labelled = problem.y != 0
        X, y = problem.X[labelled], problem.y[labelled]
    else:
        X, y = problem.X, problem.y
    bins = fastpu.bin_features(X, max_bins=max_bins)
    from_bins = fit(bins, y, n_rounds=25)
    assert_identical(from_bins, fit(X, y, n_rounds=25, max_bins=max_bins))
    np.testing.assert_array_equal(from_bins.decision_function(bins), from_bins.decision_function(X))


def test_one_binning_serves_every_label_and_parameter():
    problem = make_problem(np.random.default_rng(3), n=500, d=6, weighted="real")
    bins = fastpu.bin_features(problem.X, max_bins=16)
    cuts = [oracles.quantile_cuts(problem.X[:, e], None, 16) for e in range(6)]
    for gamma, rho, y in ((0.2, 0.0, problem.y), (0.9, 0.1, -problem.y), (0.5, 0.01, np.roll(problem.y, 7))):
        for weights in (None, problem.weights):
            options = {"n_rounds": 20, "gamma": gamma, "rho": rho, "sample_weight": weights}
            oracle = oracles.fit_decoupled(problem.X, y, cuts=cuts, **options)
            assert_same_run(fastpu.fit_pnu_auc_boost(bins, y, **options), oracle)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("max_bins", [16, 300])
@pytest.mark.parametrize(
    "rows",
    [
        np.arange(0, 500, 3),
        np.arange(500) % 5 != 0,
        slice(10, 400, 2),
        np.array([3, 3, 3, 499, 0, -1, -500, *range(100)]),
        list(range(200)),
    ],
    ids=["integers", "mask", "slice", "repeated and negative", "list"],
)
def test_a_subset_keeps_the_cuts_of_all_rows(rows, max_bins, sparse):
    problem = make_problem(np.random.default_rng(4), n=500, d=7)
    bins = fastpu.bin_features(to_csr(problem.X) if sparse else problem.X, max_bins=max_bins)
    X, y = problem.X[rows], problem.y[rows]
    subset = bins[rows]
    assert subset.n_rows == len(X)
    options = {"n_rounds": 20, "gamma": 0.5, "rho": 0.01}
    oracle = oracles.fit_decoupled(
        X, y, cuts=[oracles.quantile_cuts(problem.X[:, e], None, max_bins) for e in range(7)], **options
    )
    model = fastpu.fit_pnu_auc_boost(subset, y, **options)
    assert_same_run(model, oracle)
    np.testing.assert_allclose(model.decision_function(subset), model.decision_function(X), rtol=SCORE_TOL)


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        (np.array([0, 50]), IndexError, "50"),
        (np.array([-51]), IndexError, "-51"),
        (np.array([0.5]), IndexError, "integer"),
        (np.ones(49, dtype=bool), IndexError, "50.*49"),
        (np.array([-100], dtype=np.int8), IndexError, "-100"),
        ((1, 2), TypeError, r"rows must be a slice.*got \(1, 2\) \(tuple\)"),
        (7, TypeError, r"rows must be a slice.*got 7 \(int\)"),
        ([], ValueError, "^rows must choose at least one of the 50 rows, got none$"),
        (slice(10, 10), ValueError, "^rows must choose at least one of the 50 rows"),
        (np.zeros(50, dtype=bool), ValueError, "^rows must choose at least one of the 50 rows"),
        ("rows", TypeError, "rows.*'rows'"),
        (np.zeros((2, 2), dtype=int), TypeError, "rows.*2, 2"),
    ],
)
def test_impossible_subsets_are_refused(rows, error, words):
    bins = fastpu.bin_features(np.arange(100.0).reshape(50, 2), max_bins=4)
    with pytest.raises(error, match=words):
        bins[rows]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.int64])
def test_rows_may_be_integers_of_every_width(dtype):
    X = np.arange(600.0).reshape(300, 2)
    bins = fastpu.bin_features(X, max_bins=250)
    np.testing.assert_array_equal(bins[np.array([0, 100, 7], dtype=dtype)].codes(), bins.codes()[[0, 100, 7]])


@pytest.mark.parametrize("sparse", [False, True])
def test_bins_cut_elsewhere_are_refused_at_predict(sparse):
    """A code says nothing about a threshold that is no cut."""
    problem = make_problem(np.random.default_rng(11), n=100, d=3, kinds=("normal",))
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=10)
    X = to_csr(problem.X) if sparse else problem.X
    for call in (model.decision_function, model.predict, lambda bins: list(model.staged_decision_function(bins))):
        with pytest.raises(ValueError, match=r"X.*cuts"):
            call(fastpu.bin_features(X, max_bins=4))
    # Enough bins hold every threshold.
    fine = fastpu.bin_features(X, max_bins=200)
    np.testing.assert_allclose(model.decision_function(fine), model.decision_function(problem.X), rtol=SCORE_TOL)


def test_max_bins_beside_binned_rows_is_refused():
    X, y = np.arange(20.0)[:, None], np.where(np.arange(20) > 9, 1, -1)
    with pytest.raises(ValueError, match=r"max_bins must be None \(or 5, as in X\) where X is BinnedFeatures, got 7"):
        fastpu.fit_pnu_auc_boost(fastpu.bin_features(X, max_bins=5), y, max_bins=7)


def test_bins_of_columns_of_other_names_are_refused_at_predict():
    rows = pd.DataFrame({"age": np.arange(20.0), "income": np.arange(20.0) ** 2})
    model = fastpu.fit_pnu_auc_boost(rows, np.where(np.arange(20) > 9, 1, -1))
    bins = fastpu.bin_features(rows.rename(columns={"age": "height"}))
    with pytest.raises(ValueError, match="X must have the feature names of the training data, .* 'age', got 'hei"):
        model.decision_function(bins)


@pytest.mark.parametrize("sparse", [False, True])
def test_pickled_and_copied_bins_fit_alike(sparse):
    problem = make_problem(np.random.default_rng(10), n=200, d=5)
    bins = fastpu.bin_features(to_csr(problem.X) if sparse else problem.X, max_bins=7)[::-2]
    y = problem.y[::-2]
    expected = fastpu.fit_pnu_auc_boost(bins, y, n_rounds=10)
    for other in (pickle.loads(pickle.dumps(bins)), copy.copy(bins), copy.deepcopy(bins)):
        assert other.shape == bins.shape
        assert other.is_sparse == bins.is_sparse == sparse
        model = fastpu.fit_pnu_auc_boost(other, y, n_rounds=10, eval_set=(bins, np.abs(y)))
        assert_identical(model, expected)


@pytest.mark.parametrize("sparse", [False, True])
def test_bins_are_read_from_a_message_in_which_arrays_begin_at_any_byte(sparse):
    problem = make_problem(np.random.default_rng(10), n=200, d=5)
    bins = fastpu.bin_features(to_csr(problem.X) if sparse else problem.X, max_bins=7)
    fits = [fastpu.fit_pnu_auc_boost(each, problem.y, n_rounds=10) for each in (through_odd_bytes(bins), bins)]
    assert_identical(*fits)


def test_bins_are_frozen():
    bins = fastpu.bin_features(np.arange(20.0).reshape(10, 2), max_bins=4)
    with pytest.raises((AttributeError, TypeError)):
        bins.max_bins = 9
    with pytest.raises(ValueError, match="read-only"):
        bins.cuts[0][0] = 1.0
    bins.codes()[:] = 0
    assert bins.codes().max() == 4
    assert bins.codes().dtype == np.uint8
    assert fastpu.bin_features(np.arange(600.0).reshape(300, 2), max_bins=290).codes().dtype == np.uint16
    with pytest.raises(ValueError, match="hold no dense codes"):
        fastpu.bin_features(to_csr(np.eye(3))).codes()
    assert (len(bins), bins.shape, bins.nbytes > 0) == (10, (10, 2), True)
    assert "n_rows=10" in repr(bins)
