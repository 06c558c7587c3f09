"""fit_pnu_adaboost (PNUAB) against plain AdaBoost on the doubled rows."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import (
    GROUPS,
    SCORE_TOL,
    SUM_TOL,
    assert_identical,
    assert_same_run,
    assert_same_stumps,
    make_problem,
    to_csr,
    warns_if_empty,
)
from oracles import stump_boost as oracles

GAMMAS = (0.0, 0.3, 0.5, 0.95, 1.0)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")  # of few rows by chance
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("max_bins", [None, 1, 5, 32, 255, 300])
def test_fit_equals_the_oracle(groups, max_bins):
    rng = np.random.default_rng([3, sorted(GROUPS).index(groups), max_bins or 0])
    for weighted in (None, "whole", "real"):
        problem = make_problem(rng, n=int(rng.integers(20, 800)), d=6, groups=groups, weighted=weighted)
        # A gamma that gives both classes some weight in every choice of groups.
        options = {"n_rounds": 25, "gamma": float(rng.choice(GAMMAS[1:-1])), "max_bins": max_bins}
        options["sample_weight"] = problem.weights
        oracle = oracles.fit_adaboost(problem.X, problem.y, **options)
        for X in (problem.X, to_csr(problem.X)):
            with warns_if_empty(oracle):
                model = fastpu.baselines.fit_pnu_adaboost(X, problem.y, **options)
            assert_same_run(model, oracle)
            np.testing.assert_allclose(model.decision_function(X), oracle.scores, rtol=SCORE_TOL, atol=SCORE_TOL)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [None, "whole"])
@pytest.mark.parametrize("max_bins", [None, 5, 300])
@pytest.mark.parametrize("gamma", [0, 1])
def test_rows_that_are_not_in_the_loss_count_as_absent(gamma, max_bins, weighted, sparse):
    """Not even their values make a threshold."""
    rng = np.random.default_rng(12)
    problem = make_problem(rng, n=400, d=5, weighted=weighted)
    kept = problem.y != (-1 if gamma == 0 else 1)
    X, weights = problem.X.copy(), problem.weights
    X[~kept] = rng.normal(scale=0.1, size=X[~kept].shape)  # between all other values
    form = to_csr if sparse else np.asarray
    before = None if weights is None else weights.copy()
    options = {"n_rounds": 20, "gamma": gamma, "max_bins": max_bins}
    model = fastpu.baselines.fit_pnu_adaboost(form(X), problem.y, sample_weight=weights, **options)
    np.testing.assert_array_equal(weights, before)
    kept_weights = None if weights is None else weights[kept]
    alone = fastpu.baselines.fit_pnu_adaboost(form(X[kept]), problem.y[kept], sample_weight=kept_weights, **options)
    assert_same_stumps(model, alone)
    np.testing.assert_allclose(model.alphas, alone.alphas, rtol=SCORE_TOL)
    bins = fastpu.bin_features(form(X), max_bins=max_bins or 255)
    assert_identical(
        fastpu.baselines.fit_pnu_adaboost(bins, problem.y, n_rounds=20, gamma=gamma),
        fastpu.baselines.fit_pnu_adaboost(bins, problem.y, n_rounds=20, gamma=gamma, sample_weight=kept.astype(float)),
    )


ONE_CLASS = [
    ("PU", 1, "unlabelled and labelled negative"),
    ("UN", 0, "labelled positive and unlabelled"),
    ("PN", 0, "labelled positive and unlabelled"),
    ("PN", 1, "unlabelled and labelled negative"),
]


@pytest.mark.parametrize("by_weight", [False, True])
@pytest.mark.parametrize(("groups", "gamma", "pair"), ONE_CLASS)
def test_a_gamma_that_leaves_one_class_only_is_refused(groups, gamma, pair, by_weight):
    problem = make_problem(np.random.default_rng(10), n=50, d=2, groups="PNU" if by_weight else groups)
    weights = np.isin(problem.y, GROUPS[groups]).astype(float) if by_weight else None
    words = f"y must hold {pair} rows for fit_pnu_adaboost with gamma = {gamma}, which reads no others, got .*0 "
    with pytest.raises(ValueError, match=words) as info:
        fastpu.baselines.fit_pnu_adaboost(problem.X, problem.y, gamma=gamma, sample_weight=weights)
    assert ("of positive weight" in str(info.value)) == by_weight


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")  # of few rows by chance
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_subset_of_bins_cut_at_every_boundary_fits_as_its_rows(seed, sparse):
    """Cuts beyond the values of the subset have all its rows on one side, and are no candidates."""
    rng = np.random.default_rng([11, seed])
    problem = make_problem(rng, n=300, d=4, groups=str(rng.choice(list(GROUPS))), kinds=("normal", "rounded", "zeros"))
    rows = np.argsort(problem.X[:, 0])[100:200]
    rows = rng.permutation(rows)[: 100 if seed % 2 else 30]
    X, y = problem.X[rows], problem.y[rows]
    bins = fastpu.bin_features(to_csr(problem.X) if sparse else problem.X, max_bins=1000)
    options = {"n_rounds": 15, "gamma": float(rng.choice(GAMMAS[1:-1])), "stop_tol": 0.0}
    options["sample_weight"] = rng.integers(0, 3, size=len(y)) + 0.5 if seed % 3 == 0 else None
    from_bins, from_rows = (fastpu.baselines.fit_pnu_adaboost(data, y, **options) for data in (bins[rows], X))
    np.testing.assert_array_equal(from_bins.features, from_rows.features)
    np.testing.assert_array_equal(from_bins.polarity, from_rows.polarity)
    np.testing.assert_allclose(from_bins.deltas, from_rows.deltas, rtol=0, atol=SUM_TOL)
    np.testing.assert_allclose(from_bins.decision_function(X), from_rows.decision_function(X), atol=SCORE_TOL)
