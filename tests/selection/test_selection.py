"""The parameters chosen are those that a plain loop over points and folds finds, in every form that data have."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from fastpu import metrics
from fastpu.data._folds import stratified_folds
from selection_cases import Recorder, Shifted, peak, pu_data, without_seconds

GRID = {"C_pos": [3.0, 10.0], "C_unl": [0.5, 1.0, 2.0]}
SCORINGS = {
    "puf": ({}, lambda y, s: metrics.puf_score(y, s), 1),
    "puf, single set": ({"scenario": "single_set"}, lambda y, s: metrics.puf_score(y, s, scenario="single_set"), 1),
    "err_star": ({"prior": 0.4}, lambda y, s: metrics.err_star(y, s, prior=0.4), -1),
    "err_star, single set": (
        {"prior": 0.5, "scenario": "single_set"},
        lambda y, s: metrics.err_star(y, s, prior=0.5, scenario="single_set"),
        -1,
    ),
    "auc": ({}, lambda y, s: 1 - metrics.pu_risk(y, s), 1),
    "lift": ({"k": 0.2}, lambda y, s: metrics.lift_at_k(y, s, 0.2), 1),
    "lift, rows": ({"k": 4}, lambda y, s: metrics.lift_at_k(y, s, 4), 1),
    "average_precision": ({"prior": 0.3}, lambda y, s: metrics.average_precision(y, s, 0.3), 1),
}


@pytest.fixture(scope="module")
def data():
    return pu_data()


def folds_of(y, n=3):
    return [(np.flatnonzero(np.arange(y.size) % n != k), np.flatnonzero(np.arange(y.size) % n == k)) for k in range(n)]


@pytest.mark.parametrize("name", SCORINGS)
def test_the_value_of_a_criterion_counts_rows_whatever_their_groups(name, data):
    """On the same folds, where one customer has most of the rows that are flagged."""
    X, y, _ = data
    options, _, _ = SCORINGS[name]
    customer = np.where(X[:, 0] > 0.5, -1, np.arange(y.size) // 3)
    given = {"scoring": name.split(",")[0], "cv": folds_of(y), **options}
    by_rows, by_groups = (
        fastpu.select(fastpu.fit_bsvm, X, y, GRID, groups=groups, **given) for groups in (None, customer)
    )
    assert without_seconds(by_groups.table) == without_seconds(by_rows.table)


def test_a_splitter_gets_the_groups(data):
    X, y, _ = data
    customer = np.arange(y.size) // 3

    class WholeGroups:
        def split(self, X, y, groups):
            for kind in (0, 1):
                yield np.flatnonzero(groups % 2 != kind), np.flatnonzero(groups % 2 == kind)

    given = {"scoring": "auc", "groups": customer}
    odd, even = np.flatnonzero(customer % 2), np.flatnonzero(customer % 2 == 0)
    chosen = fastpu.select(fastpu.fit_bsvm, X, y, GRID, cv=WholeGroups(), **given)
    expected = fastpu.select(fastpu.fit_bsvm, X, y, GRID, cv=[(odd, even), (even, odd)], **given)
    assert without_seconds(chosen.table) == without_seconds(expected.table)


@pytest.mark.parametrize("name", SCORINGS)
def test_the_table_is_that_of_a_plain_loop(name, data):
    X, y, _ = data
    options, criterion, sign = SCORINGS[name]
    folds = folds_of(y)
    found = fastpu.select(fastpu.fit_bsvm, X, y, GRID, scoring=name.split(",")[0], cv=folds, **options)
    expected = []
    for C_pos in GRID["C_pos"]:
        for C_unl in GRID["C_unl"]:
            row = []
            for train, held in folds:
                model = fastpu.fit_bsvm(X[train], y[train], C_pos=C_pos, C_unl=C_unl)
                score = model.decision_function(X[held])
                row.append(criterion(y[held], score))
            expected.append((C_pos, C_unl, *row, np.mean(row)))
    columns = ["param_C_pos", "param_C_unl", "fold_0", "fold_1", "fold_2", "score"]
    np.testing.assert_allclose(np.column_stack([found.table[c] for c in columns]), expected, atol=1e-14)
    best = int(np.argmax(sign * np.round(np.array(expected)[:, -1], 12)))
    assert dict(found.best_params) == {"C_pos": expected[best][0], "C_unl": expected[best][1]}
    assert found.best_index == best
    assert found.best_score == pytest.approx(expected[best][-1], abs=1e-14)
    assert set(found.table["status"]) == {"ok"}
    assert found.scoring == name.split(",")[0]


# ---- Validation sets, weights, supervision ---------------------------------------------------------------------------


def test_a_validation_set_takes_the_place_of_folds(data):
    X, y, _ = data
    X_val, y_val, truth = pu_data(seed=1)
    judges = {
        "error": (truth, {}, lambda s: np.mean((s > 0) != (truth == 1))),
        "auc": (truth == 1, {}, lambda s: metrics.auc(truth, s)),
        "puf": (y_val, {}, lambda s: metrics.puf_score(y_val, s)),
        "err_star": (y_val, {"prior": 0.4}, lambda s: metrics.err_star(y_val, s, prior=0.4)),
    }
    for scoring, (labels, options, criterion) in judges.items():
        found = fastpu.select(
            fastpu.fit_bsvm, X, y, GRID, scoring=scoring, validation=(X_val, labels), cv="unused", **options
        )
        expected = [
            criterion(fastpu.fit_bsvm(X, y, C_pos=p, C_unl=u).decision_function(X_val))
            for p in GRID["C_pos"]
            for u in GRID["C_unl"]
        ]
        np.testing.assert_allclose(found.table["score"], expected, atol=1e-14)
        assert "fold_1" not in found.table
        assert found.best_score == (max if scoring in {"auc", "puf"} else min)(found.table["score"])


def test_supervised_methods_are_judged_by_the_error_rate_in_folds(data):
    X, _, truth = data
    grid = {"C": [0.1, 10.0]}
    found = fastpu.select(fastpu.baselines.fit_svm, X, truth, grid, scoring="error", random_state=3, kernel="linear")
    generator = np.random.default_rng(3)
    for k, (train, held) in enumerate(stratified_folds(truth.astype(np.int8), 4, generator)):
        model = fastpu.baselines.fit_svm(X[train], truth[train], C=0.1, kernel="linear")
        assert found.table[f"fold_{k}"][0] == np.mean(model.predict(X[held]) != truth[held])


def test_auc_of_semi_supervised_methods_compares_labelled_rows(data):
    X, _, truth = data
    y = fastpu.datasets.hide_labels(truth, fraction=0.5, random_state=0)
    folds = folds_of(y)
    found = fastpu.select(fastpu.fit_pnu_auc_boost, X, y, {"gamma": [0.2, 0.8]}, scoring="auc", cv=folds, n_rounds=5)
    train, held = folds[0]
    score = fastpu.fit_pnu_auc_boost(X[train], y[train], gamma=0.2, n_rounds=5).decision_function(X[held])
    known = y[held] != 0
    assert found.table["fold_0"][0] == metrics.auc(y[held][known], score[known])


def test_the_threshold_of_the_model_decides(data):
    X, y, _ = data
    y = np.where(y == 1, 1, 0)
    found = fastpu.select(fastpu.fit_pnu_auc_boost, X, y, {"gamma": [0.0]}, cv=folds_of(y), n_rounds=5)
    train, held = folds_of(y)[0]
    model = fastpu.fit_pnu_auc_boost(X[train], y[train], gamma=0.0, n_rounds=5)
    assert model.threshold != 0
    positive = model.predict(X[held]) == 1
    share = np.mean(positive[y[held] == 0])
    assert found.table["fold_0"][0] == pytest.approx(np.mean(positive[y[held] == 1]) ** 2 / share)


def test_weights_count_in_fits_and_in_scores(data):
    X, y, _ = data
    weight = np.random.default_rng(0).integers(1, 4, y.size)
    folds = folds_of(y)
    found = fastpu.select(fastpu.fit_bsvm, X, y, GRID, cv=folds, sample_weight=weight)
    for k, (train, held) in enumerate(folds):
        again = np.repeat(train, weight[train])
        model = fastpu.fit_bsvm(X[again], y[again], C_pos=3.0, C_unl=0.5, tol=1e-6)
        rows = np.repeat(held, weight[held])
        score = model.decision_function(X[rows])
        value = metrics.puf_score(y[rows], score)
        assert found.table[f"fold_{k}"][0] == pytest.approx(value, abs=0.02)  # the two fits agree to their tol
    weighted = fastpu.fit_bsvm(X, y, sample_weight=weight, **found.best_params)
    np.testing.assert_array_equal(found.model.decision_function(X), weighted.decision_function(X))


def test_costs_of_rows_go_with_the_rows(data):
    X, _, truth = data
    cost = np.random.default_rng(0).random(truth.size) + 0.1
    folds = folds_of(truth)
    found = fastpu.select(fastpu.baselines.fit_svm, X, truth, {"C": [1.0]}, scoring="error", cv=folds, sample_cost=cost)
    train, held = folds[0]
    model = fastpu.baselines.fit_svm(X[train], truth[train], C=1.0, sample_cost=cost[train])
    assert found.table["fold_0"][0] == np.mean(model.predict(X[held]) != truth[held])


# ---- Forms of data ---------------------------------------------------------------------------------------------------


def test_names_of_columns_reach_the_model_and_the_fits():
    X, y, _ = pu_data()
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(y.size)[::-1])
    assert fastpu.select(fastpu.fit_bsvm, frame, y, GRID, validation=(frame, y)).model.feature_names == ("a", "b")

    def fit(X, y, *, shift=0.0):
        assert list(X.columns) == ["a", "b"]
        return Shifted(shift)

    fastpu.select(fit, frame, y, {"shift": [0.0, 1.0]}, scoring=peak(1))


def test_binned_features_are_binned_once(data):
    X, y, _ = data
    binned = fastpu.bin_features(X, max_bins=15)
    grid = {"gamma": [0.0, 0.5], "rho": [0.0, 0.1]}
    options = {"scoring": "auc", "random_state": 0, "n_rounds": 5}
    found = fastpu.select(fastpu.fit_pnu_auc_boost, binned, y, grid, **options)
    assert found.table["score"].size == 4
    assert found.model.decision_function(binned).shape == y.shape
    train, held = stratified_folds(y, 4, np.random.default_rng(0))[0]
    model = fastpu.fit_pnu_auc_boost(binned[train], y[train], gamma=0.0, rho=0.0, n_rounds=5)
    score = model.decision_function(binned[held])
    assert found.table["fold_0"][0] == 1 - metrics.pu_risk(y[held], score)


def test_folds_of_a_kernel_matrix_take_its_columns_too(data):
    X, y, _ = data
    options = {"random_state": 2, "tol": 1e-8}
    linear = fastpu.select(fastpu.fit_bsvm, X, y, GRID, kernel="linear", **options)
    square = fastpu.select(fastpu.fit_bsvm, X @ X.T, y, GRID, kernel="precomputed", **options)
    np.testing.assert_allclose(square.table["score"], linear.table["score"], atol=1e-12)
    partial = functools.partial(fastpu.fit_bsvm, kernel="precomputed")
    again = fastpu.select(partial, X @ X.T, y, GRID, **options)
    np.testing.assert_array_equal(again.table["score"], square.table["score"])
    with pytest.raises(ValueError, match="X must be a square array with kernel='precomputed', got shape"):
        fastpu.select(fastpu.fit_bsvm, X, y, GRID, kernel="precomputed")


# ---- Folds and seeds -------------------------------------------------------------------------------------------------


@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 40), st.integers(2, 6), st.integers(0, 2**32))
def test_folds_share_out_every_kind_of_label_evenly(n_pos, n_unl, n_neg, n_folds, seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation([1] * n_pos + [0] * n_unl + [-1] * n_neg).astype(np.int8)
    folds = stratified_folds(labels, n_folds, rng)
    np.testing.assert_array_equal(np.sort(np.concatenate([held for _, held in folds])), np.arange(labels.size))
    for rows in ([held for _, held in folds], *([h[labels[h] == k] for _, h in folds] for k in (1, 0, -1))):
        sizes = [part.size for part in rows]
        assert max(sizes) - min(sizes) <= 1
    for train, held in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(labels.size))
        assert np.all(np.diff(train) > 0)
        assert np.all(np.diff(held) > 0)


def test_a_fit_that_draws_is_given_one_seed_which_makes_the_model_by_hand(data):
    X, y, _ = data
    grid = {"C": [0.1, 1.0]}
    found = fastpu.select(fastpu.fit_bagging_svm, X, y, grid, random_state=7, n_bags=3)
    by_hand = fastpu.fit_bagging_svm(X, y, n_bags=3, random_state=7, **found.best_params)
    np.testing.assert_array_equal(found.model.bags, by_hand.bags)
    seeds = []

    def fit(X, y, *, shift=0.0, random_state=None):
        seeds.append(random_state)
        return Shifted(shift)

    fastpu.select(fit, X, y, {"shift": [0.0, 1.0]}, random_state=np.random.default_rng(0))
    assert len(seeds) == 2 * 4 + 1
    assert len(set(seeds)) == 1
    assert isinstance(seeds[0], int)


# ---- The prior -------------------------------------------------------------------------------------------------------


def test_a_fit_that_needs_the_prior_is_given_that_among_the_unlabelled_rows(data):
    X, y, _ = data
    seen = []

    def fit(X, y, *, prior, shift=0.0):
        seen.append({"prior": prior})
        return Shifted(shift)

    def fit_both(X, y, *, prior, scenario="case_control", shift=0.0):
        seen.append({"prior": prior, "scenario": scenario})
        return Shifted(shift)

    n_pos, n = int(np.sum(y == 1)), y.size
    for function, scenario, expected in (
        (fit, "case_control", {"prior": 0.45}),
        (fit, "single_set", {"prior": pytest.approx((0.45 * n - n_pos) / (n - n_pos))}),
        (fit_both, "single_set", {"prior": 0.45, "scenario": "single_set"}),
    ):
        seen.clear()
        fastpu.select(function, X, y, {"shift": [0.0]}, prior=0.45, scenario=scenario)
        assert seen == [expected] * 5


def test_a_prior_that_is_possible_for_all_rows_is_not_refused_in_a_fold(data):
    """Five labelled rows of 20 are 25 %, but two of six are in a fold."""
    X = data[0][:20]
    y = np.array([1] * 5 + [0] * 15)
    found = fastpu.select(
        Recorder(), X, y, {"shift": [0.0]}, scoring="err_star", prior=0.26, scenario="single_set", random_state=0
    )
    assert np.isfinite(found.best_score)


# ---- The result ------------------------------------------------------------------------------------------------------


def test_the_result_is_frozen_typed_and_pickles(data):
    X, y, _ = data
    found = fastpu.select(fastpu.fit_bsvm, X, y, [{"C_pos": [1], "C_unl": [0.1]}, {"C_pos": [2.0], "C_unl": [0.2],
                          "kernel": ["rbf"]}], random_state=0)  # fmt: skip
    assert isinstance(found, fastpu.models.Selection)
    frame = found.to_frame()
    assert found.table["param_kernel"].tolist() == [None, "rbf"]
    assert list(frame.columns) == ["param_C_pos", "param_C_unl", "param_kernel", "score", "fold_0", "fold_1", "fold_2",
                                   "fold_3", "status", "message", "seconds", "stage"]  # fmt: skip
    assert (frame["seconds"] > 0).all()
    for column in found.table.values():
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[0]
    with pytest.raises(AttributeError):
        found.best_score = 1.0
    with pytest.raises(TypeError):
        found.best_params["C_pos"] = 1
    again = pickle.loads(pickle.dumps(found))
    assert dict(again.best_params) == dict(found.best_params)
    assert without_seconds(again.table) == without_seconds(found.table)
    text = repr(found)
    assert "puf=" in text
    assert "2 points tried" in text
