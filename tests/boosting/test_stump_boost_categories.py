"""Stumps on sets of categories: those of the oracle, known by their values, unseen ones going with most rows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import fastpu
from boosting_cases import (
    GROUPS,
    SCORE_TOL,
    assert_identical,
    assert_same_numbers,
    draw_options,
    each_fit,
    make_problem,
)
from fastpu.metrics import auc
from helpers import refused
from oracles import stump_boost
from oracles import stump_boost_sets as oracle

MISSING = oracle.MISSING
WORDS = ["red", "green", "blue", "grey", "pink", "black", "white"]


def mixed_problem(seed, *, n=200, groups="PNU", weighted=None):
    """Two columns of numbers, and two of categories between them: few words with missing entries, and many numbers."""
    rng = np.random.default_rng([seed, n])
    problem = make_problem(rng, n=n, d=2, groups=groups, weighted=weighted, kinds=("normal", "rounded", "missing"))
    y = problem.y
    word = np.clip(np.round(rng.normal(size=n) + 3 + 2 * y), 0, 6)
    word[rng.random(n) < 0.15] = np.nan
    shop = rng.integers(0, 30, n)
    shop[:30] = np.arange(30)
    word[:7] = np.arange(7)
    X = np.column_stack([problem.X[:, 0], word, problem.X[:, 1], shop])
    return X, y, problem.weights


def framed(X):
    """The frame whose categories have the places that X has."""
    colour = pd.Categorical.from_codes(oracle.places(X[:, 1]), categories=WORDS)
    shop = pd.Categorical.from_codes(X[:, 3].astype(int), categories=[f"shop {i:02}" for i in range(30)])
    return pd.DataFrame({"a": X[:, 0], "colour": colour, "b": X[:, 2], "shop": shop})


def set_of(model, t):
    """The categories of a stump by their places in sorted order, MISSING for missing entries; others have the last."""
    words = [int(word) for word in model.category_sets[int(model.thresholds[t])]]
    values = model.categories[str(model.features[t])]
    order = sorted(values, key=WORDS.index if values[0] in WORDS else None)
    place = [MISSING, *(order.index(value) for value in values), *range(len(values), 255)]
    return {place[code] for code in range(256) if words[code // 64] >> (code % 64) & 1}


def assert_same_run(model, slow, X):
    assert (model.status, model.features.tolist(), model.polarity.tolist()) == (
        slow.status if slow.status != "max_rounds" else "n_rounds",
        slow.features,
        slow.polarity,
    )
    for t, inside in enumerate(slow.sets):
        column = slow.rows[:, model.features[t]]
        if inside is None:
            assert model.thresholds[t] == slow.thresholds[t]
            of_larger = slow.shares[column > slow.thresholds[t]].sum() > 0.5 + 1e-9
            assert bool(model.missing_above[t]) == (of_larger and not np.isnan(column).any()), f"round {t}"
            continue
        occupied, found = slow.occupied[model.features[t]], set_of(model, t)
        of_larger = slow.shares[np.isin(oracle.places(column), list(inside))].sum() > 0.5 + 1e-9
        assert found & occupied == inside, f"round {t}"
        others = set(range(-1, 255)) - occupied
        assert found & others == (others if of_larger else set()), f"round {t}"
    assert (np.diff(model.objective, prepend=0.0) < 1e-12).all()
    assert_same_numbers(model, slow)
    np.testing.assert_allclose(model.decision_function(framed(X)), slow.scores, rtol=SCORE_TOL, atol=SCORE_TOL)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")  # of scores of one sign
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("loss", "max_bins"), [("auc", None), ("auc", 5), ("auc", 300), ("ada", None)])
def test_fits_equal_the_oracle_round_by_round(loss, groups, seed, max_bins):
    X, y, weights = mixed_problem(seed, n=400, groups=groups, weighted=(None, "whole", "real")[seed % 3])
    rng = np.random.default_rng([seed, sorted(GROUPS).index(groups)])
    options = draw_options(rng) if loss == "auc" else {"gamma": 0.3}
    options |= {"n_rounds": 25, "max_bins": max_bins, "sample_weight": weights}
    slow = stump_boost.fit(X, y, loss, categorical=[1, 3], **options)
    assert any(inside is not None for inside in slow.sets)
    fit = fastpu.fit_pnu_auc_boost if loss == "auc" else fastpu.baselines.fit_pnu_adaboost
    assert_same_run(fit(framed(X), y, **options), slow, X)


def test_rankboost_learns_the_categories_of_labelled_rows():
    X, y, _ = mixed_problem(3)
    labelled = y != 0
    slow = stump_boost.fit(X[labelled], y[labelled], "auc", categorical=[1, 3], n_rounds=10, gamma=1.0, rho=0.01)
    model = fastpu.baselines.fit_rankboost_auc(framed(X), y, n_rounds=10)
    assert model.features.tolist() == slow.features
    np.testing.assert_allclose(model.decision_function(framed(X[labelled])), slow.scores, rtol=SCORE_TOL)
    assert sorted(model.categories["3"]) == [f"shop {i:02}" for i in range(30)]


def test_one_bad_category_among_many_is_told_from_all_others():
    """Each of the others gains less than its standard error, but what this one loses is no noise."""
    rng = np.random.default_rng(0)
    place = np.where(rng.random(2000) < 0.3, 0, rng.integers(1, 40, 2000))
    y = ((place > 0) & (rng.random(2000) < 0.2)).astype(np.int8)
    frame = pd.DataFrame({"c": pd.Categorical(place)})
    model = fastpu.fit_pnu_auc_boost(frame, y, n_rounds=1)
    assert 0 not in set_of(model, 0)
    assert len(set_of(model, 0) & set(range(1, 40))) > 30


@each_fit
def test_every_form_of_the_rows_gives_the_same_model_and_scores(fit):
    X, y, weights = mixed_problem(1, n=500, weighted="whole")
    frame = framed(X)
    expected = fit(frame, y, n_rounds=30, max_bins=20, sample_weight=weights, n_threads=1)
    scores = expected.decision_function(frame)
    features = fastpu.bin_features(frame, max_bins=20, sample_weight=weights)
    for rows, bins in ((features, None), (frame, 20)):
        for n_threads in (1, 3):
            model = fit(rows, y, n_rounds=30, max_bins=bins, sample_weight=weights, n_threads=n_threads)
            assert_identical(model, expected)
            assert model.category_sets.tolist() == expected.category_sets.tolist()
            np.testing.assert_array_equal(model.decision_function(rows), scores)
    recoded = frame.assign(colour=frame["colour"].cat.set_categories([*WORDS[::-1], "ultraviolet"]))
    np.testing.assert_array_equal(expected.decision_function(recoded), scores)
    for rows in (frame, features):
        *_, last = expected.staged_decision_function(rows)
        np.testing.assert_allclose(last, scores, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.UnlikeRowsWarning")
@pytest.mark.parametrize("how", ["weights", "rows"])
def test_categories_without_training_rows_go_with_those_that_the_model_does_not_know(how):
    X, y, _ = mixed_problem(4, n=400)
    frame, kept = framed(X), ~np.isin(X[:, 1], [0, 2])
    if how == "weights":
        model = fastpu.fit_pnu_auc_boost(frame, y, n_rounds=20, sample_weight=kept.astype(float))
    else:
        model = fastpu.fit_pnu_auc_boost(fastpu.bin_features(frame)[kept], y[kept], n_rounds=20)
    assert 1 in model.features
    rest = frame[~kept]
    unseen, missing = (rest.assign(colour=pd.Categorical([word] * len(rest))) for word in ("mauve", None))
    np.testing.assert_array_equal(model.decision_function(rest), model.decision_function(unseen))
    assert (model.decision_function(rest) != model.decision_function(missing)).any()


@pytest.mark.parametrize("form", ["frame", "binned", "two bytes"])
@each_fit
def test_an_eval_set_is_judged_by_the_scores_of_each_round(fit, form):
    X, y, _ = mixed_problem(6, n=400)
    frame, half = framed(X), np.arange(400) < 200
    rows = frame if form == "frame" else fastpu.bin_features(frame, max_bins=20 if form == "binned" else 300)
    held = frame[half] if form == "frame" else rows[half]
    judged = y[half] != 0
    model = fit(rows[~half], y[~half], n_rounds=15, eval_set=(held, y[half]))
    stages = list(model.staged_decision_function(held))
    expected = [auc(y[half][judged] > 0, stage[judged]) for stage in stages]
    np.testing.assert_allclose(model.history["eval_auc"], expected, rtol=1e-12)
    assert {1, 3} & set(model.features.tolist())


def test_early_stopping_drops_the_sets_of_dropped_stumps():
    X, y, _ = mixed_problem(8, n=300)
    frame, half = framed(X), np.arange(300) < 150
    model = fastpu.fit_pnu_auc_boost(
        frame[half], y[half], n_rounds=200, early_stopping_rounds=5, eval_set=(frame[~half], y[~half])
    )
    assert model.n_iter < len(model.history["delta"])
    assert len(model.category_sets) == np.isin(model.features, [1, 3]).sum()


@pytest.mark.parametrize("number", [-1.0, 0.5, 1e9, np.inf, -np.inf, np.nan])
def test_sets_that_are_not_there_are_refused(number):
    X, y, _ = mixed_problem(9)
    model = fastpu.fit_pnu_auc_boost(framed(X), y, n_rounds=15)
    thresholds = model.thresholds.copy()
    thresholds[np.isin(model.features, [1, 3])] = number
    with pytest.raises(ValueError, match=r"thresholds"):
        dataclasses.replace(model, thresholds=thresholds)


@pytest.mark.parametrize(
    "fields",
    [
        {"category_sets": np.zeros((0, 4), dtype=np.uint64)},
        {"category_sets": np.zeros((40, 3), dtype=np.uint64)},
        {"category_sets": np.zeros((40, 4), dtype=np.int64)},
        {"categories": {"1": ("a", "a")}},
        {"categories": {"4": ("a",)}},
        {"categories": {"1": "ab"}},
    ],
    ids=str,
)
def test_fields_that_do_not_fit_each_other_are_refused(fields):
    X, y, _ = mixed_problem(9)
    model = fastpu.fit_pnu_auc_boost(framed(X), y, n_rounds=15)
    with pytest.raises((TypeError, ValueError)):
        dataclasses.replace(model, **fields)


def test_rows_that_cannot_be_mapped_are_refused():
    X, y, _ = mixed_problem(9)
    frame = framed(X)
    score = fastpu.fit_pnu_auc_boost(frame, y, n_rounds=5).decision_function
    refused(TypeError, "X must be a pandas or polars frame with categories in column 1 ('colour')", score, X)
    text = "X must have in column 1 ('colour') what the training data have there"
    refused(ValueError, text, score, fastpu.bin_features(X))
    fit = fastpu.fit_pnu_auc_boost
    text = "X of eval_set must be a pandas or polars frame with categories in column 1 ('colour')"
    refused(TypeError, text, fit, frame, y, eval_set=(X, y))
    features = fastpu.bin_features(frame)
    renamed = fastpu.bin_features(frame.assign(colour=frame["colour"].cat.rename_categories(list("abcdefg"))))
    text = "X of eval_set must have in column 1 ('colour') what the training data have there"
    refused(ValueError, text, fit, features, y, eval_set=(renamed, y))


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_columns_of_one_category_have_no_stump():
    y = np.array([1, 1, 0, 0, 0])
    for entries in (["a"] * 5, [None] * 5):
        model = fastpu.fit_pnu_auc_boost(pd.DataFrame({"c": pd.Categorical(entries, categories=["a"])}), y)
        assert (model.n_iter, model.status) == (0, "no_gain")


def test_sets_hold_as_many_categories_as_they_have_room_for_and_more_are_put_in_order():
    y = np.tile([1, 0, 0], 170).astype(np.int8)
    frame = pd.DataFrame({"c": pd.Categorical(np.resize(np.arange(255), 510))})
    model = fastpu.fit_pnu_auc_boost(frame, y)
    np.testing.assert_array_equal(model.predict(frame), np.where(y == 1, 1, -1))
    assert len(model.category_sets)
    code = np.resize(np.arange(258), 2580)
    frame, y = pd.DataFrame({"c": pd.Categorical(code)}), (code % 3 == 0).astype(np.int8)
    model = fastpu.fit_pnu_auc_boost(frame, y)
    np.testing.assert_array_equal(model.predict(frame), np.where(y == 1, 1, -1))
    assert not len(model.category_sets)
    assert all(value % 3 == 0 for value in model.categories["0"][-86:])
