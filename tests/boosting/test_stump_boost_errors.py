"""What the boosting functions refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import each_fit, make_problem


@pytest.fixture(scope="module")
def data():
    problem = make_problem(np.random.default_rng(1), n=120, d=4, kinds=("normal", "rounded", "zeros"))
    return problem.X, problem.y


X_VALID = np.zeros((3, 4))
BAD_EVAL_SETS = [
    ((np.zeros((3, 5)), [1, -1, 1]), ValueError, r"X of eval_set must have 4 features \(columns\) like the training"),
    ([(X_VALID, [1, -1, 1])], TypeError, r"one pair \(X, y\), got a list of 1 pair$"),
    ((([[1.0] * 4], [1]),) * 2, TypeError, r"one pair \(X, y\), got a tuple of 2 pairs$"),
    ((X_VALID, [1, 7, 1]), ValueError, r"y of eval_set must.*fastpu.as_labels\(y, "),
    ((X_VALID, [1, 1, 1]), ValueError, "eval_set"),
]


@pytest.mark.parametrize(("eval_set", "error", "words"), BAD_EVAL_SETS)
def test_bad_evaluation_sets_are_named(eval_set, error, words, data):
    with pytest.raises(error, match=words):
        fastpu.fit_pnu_auc_boost(*data, eval_set=eval_set)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@each_fit
def test_labels_in_a_frame_of_one_column_are_taken_with_a_warning(fit, library):
    module = pytest.importorskip(library, reason=f"{library} is an optional input format")
    X, frame = np.arange(12.0).reshape(6, 2), module.DataFrame({"label": [1, 0, 1, 0, -1, -1]})
    expected = fit(X, frame["label"], eval_set=(X, frame["label"]), early_stopping_rounds=2)
    for y, judged in ((frame, frame["label"]), (frame["label"], frame)):
        name = "y" if y is frame else "y of eval_set"
        words = rf"^{name} is taken for a vector, got DataFrame of shape \(6, 1\); use y\['label'\]$"
        with pytest.warns(fastpu.exceptions.LabelWarning, match=words):
            found = fit(X, y, eval_set=(X, judged), early_stopping_rounds=2)
        np.testing.assert_array_equal(found.alphas, expected.alphas)


@each_fit
def test_bins_in_any_other_place_than_that_of_the_matrix_are_refused(fit, data):
    X, y = data
    bins = fastpu.bin_features(X, max_bins=5)
    words = "cannot be read as .*: BinnedFeatures only stand for X in a fit or a prediction"
    with pytest.raises(TypeError, match=f"^y {words}"):
        fit(bins, bins)
    with pytest.raises(TypeError, match=f"^sample_weight {words}"):
        fit(bins, y, sample_weight=bins)
    with pytest.raises(TypeError, match=f"^y of eval_set {words}"):
        fit(bins, y, eval_set=(bins, bins))
    with pytest.raises(TypeError, match=f"^X {words}"):
        fastpu.bin_features(bins)


def test_rankboost_wants_both_labelled_groups():
    X = np.arange(8.0).reshape(4, 2)
    for y, missing in (([1, 1, 0, 0], "negative"), ([0, 0, -1, -1], "positive")):
        with pytest.raises(ValueError, match=missing):
            fastpu.baselines.fit_rankboost_auc(X, y)


@each_fit
def test_bins_of_validation_or_other_rows_have_to_be_those_of_the_training_rows(fit, data):
    X, y = data
    bins = fastpu.bin_features(X, max_bins=5)
    with pytest.raises(ValueError, match="eval_set may hold BinnedFeatures only where X is BinnedFeatures too"):
        fit(X, y, eval_set=(bins, y))
    with pytest.raises(ValueError, match="eval_set must have the cuts of X: bin all rows together"):
        fit(bins, y, eval_set=(fastpu.bin_features(X[:, :2], max_bins=5), y))
    model = fit(bins, y)
    with pytest.raises(ValueError, match=rf"X must have {X.shape[1]} features .* like the training data, got 2"):
        model.decision_function(fastpu.bin_features(X[:, :2], max_bins=5))
