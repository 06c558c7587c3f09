"""Estimates of the class prior from rows of any kind, and from scores in place of rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.exceptions import EstimateWarning
from fastpu.priors import bbe, km2, scar_test
from fastpu.priors._likelihood import score_share
from helpers import refused

# What is told of estimates has tests of its own, which look at it.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")


def claims(seed=0, n=1500, *, prior=0.3, n_shops=3):
    """Two columns with gaps and one of categories, which tell the classes apart together; and the truth."""
    rng = np.random.default_rng([5, seed])
    truth = rng.random(n) < prior
    frame = pd.DataFrame({"a": rng.normal(size=n) + 2.5 * truth, "b": rng.normal(size=n) + 2.5 * truth})
    frame.loc[rng.random(n) < 0.1, "b"] = np.nan
    frame["shop"] = np.where(truth & (rng.random(n) < 0.5), "s0", [f"s{i}" for i in rng.integers(1, n_shops, n)])
    return frame, (truth & (rng.random(n) < 0.5)).astype(int), truth


def shallow(X, y):
    return fastpu.fit_forest(X, y, n_trees=60, random_state=0)


FRAMES = {"pandas": lambda X: X, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.mark.parametrize("fit", [None, shallow], ids=["default", "forest"])
def test_gaps_and_categories_are_taken_as_they_are(fit):
    errors = []
    for seed in range(4):
        X, y, truth = claims(seed)
        errors.append(bbe(X, y, fit=fit, random_state=0).value - truth[y == 0].mean())
    assert abs(np.mean(errors)) < 0.05
    assert np.std(errors) < 0.06


@pytest.mark.parametrize("fit", [None, shallow], ids=["default", "forest"])
def test_tables_of_all_libraries_give_one_estimate(fit):
    X, y, _ = claims(n=300)
    expected = bbe(X, y, fit=fit, random_state=0).value
    for form in FRAMES.values():
        assert bbe(form(X), y, fit=fit, random_state=0).value == expected
    assert bbe(X.set_index(np.arange(300)[::-1]), y, fit=fit, random_state=0).value == expected


@pytest.mark.parametrize("form", FRAMES.values(), ids=FRAMES)
def test_fit_gets_the_rows_as_they_came(form):
    X, y, _ = claims(n=200)
    X["seen"] = pd.date_range("2020-01-01", periods=200)  # which only a function of the user's can use
    kinds = set()

    def fit(rows, labels):
        kinds.add((type(rows), len(rows)))
        columns = rows.to_pandas() if hasattr(rows, "to_pandas") else rows
        assert "seen" in columns
        return shallow(columns[["a", "b", "shop"]], labels), columns

    class Wrapped:
        def __init__(self, rows, labels):
            self.model, _ = fit(rows, labels)

        def decision_function(self, rows):
            columns = rows.to_pandas() if hasattr(rows, "to_pandas") else rows
            return self.model.decision_function(columns[["a", "b", "shop"]])

    assert 0 < bbe(form(X), y, fit=Wrapped, random_state=0).value < 1
    assert {kind for kind, _ in kinds} == {type(form(X))}


def test_sparse_rows_with_gaps_and_bins_are_taken_too():
    X, y, truth = claims()
    numbers = X[["a", "b"]].to_numpy()
    truth = truth[y == 0].mean()
    for rows in (sp.csr_array(numbers), fastpu.bin_features(numbers), fastpu.bin_features(X)):
        assert abs(bbe(rows, y, random_state=0).value - truth) < 0.1
        assert abs(bbe(rows, y, fit=shallow, random_state=0).value - truth) < 0.1


def test_a_column_of_very_many_categories_is_ordered_by_the_labels_of_the_training_rows_alone():
    """An order by the labels of all rows would tell the labels of the held-out ones: the estimate would be near 0."""
    X, y, truth = claims(n_shops=400)
    assert X["shop"].nunique() > 255
    X["other"] = [f"o{i}" for i in np.random.default_rng(0).integers(0, 700, len(y))]
    assert abs(bbe(X, y, random_state=0).value - truth[y == 0].mean()) < 0.1


# -- scores in place of rows -------------------------------------------------------------------------------------------


def test_scores_in_place_of_rows_are_the_share_that_they_allow():
    X, y, truth = claims()
    scores = fastpu.fit_forest(X, y, random_state=0).oob_decision_function
    expected = score_share(scores[y == 1], scores[y == 0])
    found = bbe(None, y, scores=scores)
    assert (found.value, *found.allowed) == (expected.value, expected.low, expected.high)
    assert abs(found.value - truth[y == 0].mean()) < 0.07
    second = km2(None, y, scores=scores, random_state=0)
    assert second.allowed == found.allowed
    assert abs(second.value - truth[y == 0].mean()) < 0.1
    assert bbe(None, y, scores=scores, n_boot=20, random_state=0).interval[0] < found.value


def test_scores_and_labels_keep_together_in_any_order():
    X, y, _ = claims(n=400)
    scores, order = X["a"].to_numpy(), np.random.default_rng(0).permutation(400)
    for estimate in (bbe, km2):
        expected = estimate(None, y, scores=scores, random_state=0).value
        assert estimate(None, y[order], scores=scores[order], random_state=0).value == pytest.approx(expected)
        labels = np.where(np.arange(400) % 9 == 0, -1, y)
        kept = labels >= 0
        found = estimate(None, labels, scores=scores, random_state=0).value
        assert found == estimate(None, y[kept], scores=scores[kept], random_state=0).value


def test_what_cannot_be_scores_is_refused():
    X, y, _ = claims(n=100)
    scores = X["a"].to_numpy()
    for estimate in (bbe, km2):
        refused(TypeError, "X must be None if scores are passed", estimate, X, y, scores=scores)
        refused(TypeError, "X must be given, got None; without rows, pass scores", estimate, None, y)
        refused(ValueError, "y must have one entry per row", estimate, None, y[1:], scores=scores)
        text = "scores must hold a number for at least one labelled positive row"
        refused(ValueError, text, estimate, None, y, scores=np.where(y == 1, np.nan, scores))
        refused(ValueError, "scores must not hold infinite entries, got -inf at position 3", estimate, None, y,
                scores=np.where(np.arange(scores.size) == 3, -np.inf, scores))  # fmt: skip
    refused(TypeError, "fit must be None if scores", bbe, None, y, scores=scores, fit=shallow)


def test_km2_says_what_there_is_for_rows_without_distances():
    X, y, _ = claims(n=100)
    text = "km2(None, y, scores=model.oob_decision_function)"
    assert "categories in column 2 ('shop')" in refused(TypeError, text, km2, X, y)
    assert "got nan at row " in refused(ValueError, text, km2, X[["a", "b"]], y)


# -- labels at random --------------------------------------------------------------------------------------------------


def test_scar_finds_the_category_and_the_gap_that_labels_depend_on():
    X, _, truth = claims(1, n=3000, prior=0.4)
    X["a"] += 2.0 * truth  # so that enough unlabelled rows are surely positive
    X["b"] = X["b"].fillna(0.0) + 2.0 * truth
    rng = np.random.default_rng(0)
    kind = rng.choice(["old", "new", None], truth.size)
    X["kind"] = kind
    gap = rng.random(truth.size) < 0.5
    X["gap"] = np.where(gap, np.nan, 1.0)
    by_kind = truth & (rng.random(truth.size) < np.where(kind == "old", 0.8, 0.2))
    by_gap = truth & (rng.random(truth.size) < np.where(gap, 0.1, 0.7))
    never = truth & (rng.random(truth.size) < 0.5)
    for y, column in ((by_kind, "kind"), (by_gap, "gap"), (never, None)):
        found = scar_test(X, y, prior=0.9 * truth[~y].mean(), columns=["kind", "gap"], n_divisions=2, random_state=0)
        small = [name for name, p in zip(found.columns, found.p_adjusted, strict=True) if p < 0.05]
        assert small == ([] if column is None else [column])
        if column == "kind":
            assert found.category == ("old", None)
            assert np.isnan(found.cut[0])
            assert "'old'" in repr(found)
            assert found.difference[0] > 0.3
        if column == "gap":
            assert found.cut[1] == -np.inf
            assert "missing" in repr(found)
            assert found.difference[1] > 0.3  # more labelled rows have an entry


def test_the_difference_of_categories_has_the_level_of_its_permutations():
    from fastpu.priors._two_samples import difference_of_categories

    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        pos, unl = (rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]).astype(float) for n in (30, 60))
        difference, place, p = difference_of_categories(pos, unl, 1.0, 99, rng)
        assert difference == pytest.approx(np.mean(pos == place) - np.mean(unl == place))
        assert all(abs(np.mean(pos == other) - np.mean(unl == other)) <= abs(difference) + 1e-12 for other in range(4))
        p_values.append(p)
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.09
    assert np.isnan(difference_of_categories(pos[:9], unl, 1.0, 9, rng)).all()
    assert difference_of_categories(np.ones(20), np.ones(30), 1.0, 9, rng)[2] == 1.0


def test_scar_hands_frames_to_fit_without_the_column():
    X, y, _ = claims(n=400)
    seen = set()

    def fit(rows, labels):
        seen.add((type(rows), tuple(rows.columns)))
        return shallow(rows, labels)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        scar_test(X, y, prior=0.2, fit=fit, n_divisions=1, columns=["a", "shop"], random_state=0)
    assert seen == {(pd.DataFrame, ("b", "shop")), (pd.DataFrame, ("a", "b"))}


# -- a column that knows the labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [["a", "leak"], ["a", "b", "shop", "leak"]], ids=["numbers", "a table"])
@pytest.mark.parametrize("estimate", [bbe, km2])
def test_an_estimate_from_a_column_that_knows_the_labels_is_told_of_once(estimate, columns):
    X, y, _ = claims(n=600)
    X["leak"] = y + 0.1 * np.random.default_rng(0).random(600)
    text = f"{estimate.__name__}: held-out scores separate labelled from unlabelled rows nearly perfectly"
    by_scores = estimate is km2 and len(columns) > 2
    given = {"X": None, "scores": X["leak"].to_numpy()} if by_scores else {"X": X[columns]}
    with pytest.warns(EstimateWarning, match=text) as told:
        estimate(y=y, random_state=0, **given)
    assert len(told) == 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        bbe(X[["a", "b"]], y, random_state=0)
    assert not any("nearly perfectly" in str(one.message) for one in told)
