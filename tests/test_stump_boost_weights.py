"""Boosting: groups and weights of the rows, and names of columns that eval sets and stages must share."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import assert_identical, assert_same_stumps, each_fit, make_problem, to_csr


@pytest.fixture(scope="module")
def data():
    problem = make_problem(np.random.default_rng(1), n=120, d=4, kinds=("normal", "rounded", "zeros"))
    return problem.X, problem.y


# -- labels ------------------------------------------------------------------------------------------------------------


def test_two_values_one_and_minus_one_are_labelled_positive_and_negative(data):
    X, y = data
    labelled = y != 0
    model = fastpu.fit_pnu_auc_boost(X[labelled], y[labelled], n_rounds=5)
    assert_identical(model, fastpu.fit_rankboost_auc(X[labelled], y[labelled], n_rounds=5))
    unlabelled = fastpu.as_labels(y[labelled], unlabeled=-1)
    with pytest.raises(ValueError, match="fit_rankboost_auc"):
        fastpu.fit_rankboost_auc(X[labelled], unlabelled)


def test_stacked_groups_are_the_labelled_rows(data):
    X, y = data
    stacked, labels = fastpu.stack(P=X[y == 1], U=X[y == 0], N=X[y == -1])
    order = np.concatenate([np.flatnonzero(y == label) for label in (1, 0, -1)])
    assert_identical(
        fastpu.fit_pnu_auc_boost(stacked, labels, n_rounds=5), fastpu.fit_pnu_auc_boost(X[order], y[order], n_rounds=5)
    )


# -- sparse rows -------------------------------------------------------------------------------------------------------


def test_input_flags_of_a_sparse_matrix_stay_as_they_were(data):
    X, y = data
    matrix = to_csr(X)
    matrix.has_sorted_indices = False
    fastpu.fit_pnu_auc_boost(matrix, y, n_rounds=3)
    assert not matrix._has_sorted_indices if hasattr(matrix, "_has_sorted_indices") else True


# -- frames ------------------------------------------------------------------------------------------------------------


def frame(library: str, X: np.ndarray, names: list[str]):
    module = pytest.importorskip(library, reason=f"{library} is an optional input format")
    return module.DataFrame({name: X[:, e] for e, name in enumerate(names)})


@pytest.mark.parametrize("library", ["pandas", "polars"])
@each_fit
def test_frames_keep_their_names(fit, library, data):
    X, y = data
    names = ["age", "dose", "mass", "size"]
    table = frame(library, X, names)
    model = fit(table, y, n_rounds=8)
    assert_identical(model, fit(X, y, n_rounds=8))
    assert model.feature_names == tuple(names)
    np.testing.assert_array_equal(model.decision_function(table), model.decision_function(X))
    swapped = frame(library, X, ["age", "mass", "dose", "size"])
    for call in (model.decision_function, model.predict, lambda t: list(model.staged_decision_function(t))):
        with pytest.raises(ValueError, match="dose"):
            call(swapped)
    bins = fastpu.bin_features(table, max_bins=7)
    assert fit(bins, y, n_rounds=3).feature_names == tuple(names)
    with pytest.raises(ValueError, match="dose"):
        fit(table, y, n_rounds=3, eval_set=(swapped, y))


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [None, 6])
@each_fit
def test_whole_weights_are_repeated_rows(fit, max_bins):
    problem = make_problem(np.random.default_rng(6), n=150, d=5, weighted="whole")
    times = problem.weights.astype(int)
    weighted = fit(problem.X, problem.y, n_rounds=25, max_bins=max_bins, sample_weight=problem.weights)
    X, y = np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)
    repeated = fit(X, y, n_rounds=25, max_bins=max_bins)
    assert_same_stumps(weighted, repeated)
    np.testing.assert_allclose(weighted.alphas, repeated.alphas, rtol=1e-10)
    np.testing.assert_allclose(weighted.threshold, repeated.threshold, rtol=1e-10, atol=1e-10)


@each_fit
def test_rows_of_weight_zero_are_absent(fit):
    """Not even their values make a threshold; a whole group of them makes the group absent."""
    problem = make_problem(np.random.default_rng(7), n=200, d=5)
    weights = (np.random.default_rng(0).random(200) < 0.5).astype(np.float64)
    kept = weights > 0
    X = problem.X.copy()
    X[~kept] = 1e9
    model = fit(X, problem.y, n_rounds=20, sample_weight=weights)
    alone = fit(problem.X[kept], problem.y[kept], n_rounds=20)
    assert_same_stumps(model, alone)
    np.testing.assert_allclose(model.threshold, alone.threshold, rtol=1e-10, atol=1e-10)


def test_a_group_of_weight_zero_is_no_group(data):
    X, y = data
    weights = np.where(y == -1, 0.0, 1.0)
    assert_same_stumps(
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights),
        fastpu.fit_pnu_auc_boost(X[y != -1], y[y != -1], n_rounds=8),
    )
    with pytest.raises(ValueError, match=r"y must hold.*positive weight"):
        fastpu.fit_pnu_auc_boost(X, y, sample_weight=np.where(y == 1, 1.0, 0.0))


@pytest.mark.parametrize("factor", [1e-300, 1e-20, 1e20, 1e290])
def test_the_scale_of_the_weights_does_not_matter(factor, data):
    X, y = data
    weights = np.linspace(0.5, 2, len(y))
    assert_same_stumps(
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights * factor),
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights),
    )
