"""Tables that functions return as pandas frames: every number is there, under a name that says what it is."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

import fastpu
from helpers import refused


@pytest.fixture(scope="module")
def ranked():
    rng = np.random.default_rng(0)
    truth = rng.random(600) < 0.3
    X = pd.DataFrame(
        {"a": rng.normal(size=600) + 2 * truth, "b": rng.normal(size=600), "kind": np.where(truth, "x", "y")}
    )
    return X, truth, truth & (rng.random(600) < 0.5)


def curve_of(ranked, **options):
    X, _, y = ranked
    return fastpu.metrics.ranking_curve(y, X["a"].to_numpy(), **options)


def test_a_ranking_curve_has_a_row_for_each_number_of_rows(ranked):
    assert list(curve_of(ranked).to_frame()) == ["n_flagged", "share", "recall", "lift"]
    curve = curve_of(ranked, prior=0.2, n_boot=50, random_state=0)
    frame = curve.to_frame()
    assert len(frame) == curve.n_flagged.size
    for name in ("recall", "lift", "precision"):
        np.testing.assert_array_equal(frame[name], getattr(curve, name))
        np.testing.assert_array_equal(frame[[f"{name}_low", f"{name}_high"]], getattr(curve, f"{name}_interval"))


def test_a_plan_and_the_curve_of_its_answers_are_frames(ranked):
    X, truth, y = ranked
    scores = X["a"].to_numpy()[~y]
    plan = fastpu.audit.plan(scores, 60, random_state=0)
    frame = plan.to_frame()
    assert list(frame) == ["row", "place", "score", "stratum", "probability"]
    np.testing.assert_array_equal(frame["row"], plan.rows)
    np.testing.assert_array_equal(frame["score"], scores[plan.rows])
    curve = fastpu.audit.estimate(plan, truth[~y][plan.rows]).curve
    frame = curve.to_frame()
    np.testing.assert_array_equal(frame["precision"], curve.precision)
    np.testing.assert_array_equal(frame[["recall_low", "recall_high"]], curve.recall_interval)


def test_a_sensitivity_is_a_frame_of_two_columns():
    frame = fastpu.priors.sensitivity(lambda prior: 2 * prior, [0.1, 0.3]).to_frame()
    assert frame.to_dict("list") == {"prior": [0.1, 0.3], "value": [0.2, 0.6]}


def test_a_test_of_labels_has_a_row_for_each_column(ranked):
    X, _, y = ranked
    test = fastpu.priors.scar_test(X, y, prior=0.15, n_permutations=99, random_state=0)
    frame = test.to_frame()
    assert frame.index.tolist() == ["a", "b", "kind"]
    assert frame.index.name == "column"
    np.testing.assert_array_equal(frame["p_value"], test.p_value)
    np.testing.assert_array_equal(frame["p_largest_half"], test.p_halves.max(axis=1))
    np.testing.assert_array_equal(frame["p_least_half"], test.p_halves.min(axis=1))
    assert frame["category"].isna().tolist() == [True, True, False]
    assert frame.loc["kind", "category"] == test.category[2]


def test_columns_that_cannot_be_tested_have_no_p_value_in_the_frame():
    rng = np.random.default_rng(1)
    test = fastpu.priors.scar_test(rng.normal(size=(60, 2)), np.arange(60) < 12, prior=0.02, random_state=0)
    assert np.isnan(test.p_value).all()
    assert test.to_frame()[["p_value", "p_least_half", "p_largest_half"]].isna().all(axis=None)


def test_without_pandas_the_error_says_what_to_install(ranked, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    refused(ImportError, "to_frame needs pandas: pip install pandas", curve_of(ranked).to_frame)
