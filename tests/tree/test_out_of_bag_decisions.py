"""Thresholds and probabilities of training rows by scores of parts of the model that were not fitted to them."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import fastpu
from fastpu.exceptions import DegenerateModelWarning, EstimateWarning
from fastpu.model._threshold import prior_threshold
from helpers import refused

FITS = {
    "forest": fastpu.fit_forest,
    "boosted bags": lambda X, y, **given: fastpu.fit_boosted_trees(X, y, n_bags=20, **given),
    "bagging SVM": fastpu.fit_bagging_svm,
}
every_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)


def draw(n_labelled, n_unl, seed=0, prior=0.05):
    """Labelled and unlabelled rows, and fresh ones of the population of the latter."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.ones(n_labelled, bool), rng.random(n_unl + 20_000) < prior])
    X = rng.normal(size=(truth.size, 5))
    X[:, :3] += truth[:, None] * [1.2, 1.0, 0.8]
    first = n_labelled + n_unl
    return X[:first], np.arange(first) < n_labelled, X[first:]


@pytest.fixture(scope="module", params=FITS.values(), ids=FITS)
def fitted(request):
    X, y, _ = draw(30, 300)
    return request.param(X, y, random_state=0), X, y


@every_fit
@pytest.mark.parametrize("n_labelled", [200, 800])
def test_the_share_called_positive_among_fresh_rows_is_the_one_asked_for(fit, n_labelled):
    """In three draws together, for the share of 5,000 rows is itself unsure by 6 %."""
    shares = []
    for seed in range(3):
        X, y, fresh = draw(n_labelled, 5000, seed)
        model = fit(X, y, random_state=0).with_threshold(prior=0.05)
        shares.append(np.mean(model.predict(fresh) == 1))
    assert np.mean(shares) == pytest.approx(0.05, rel=0.1)


def test_out_of_bag_scores_of_the_unlabelled_rows_are_cut(fitted):
    model, _, y = fitted
    scores = model.oob_decision_function[~y]
    by_prior, by_number = model.with_threshold(prior=0.1), model.with_threshold(k=30)
    assert by_prior.threshold == by_number.threshold == prior_threshold(scores, 0.1)
    of_rows = "30 of 300 unlabelled training rows, by their out-of-bag scores, positive"
    of_others = "the share among all rows like these is 0.0729 to 0.133 (90 % interval)"
    assert by_prior.threshold_rule == f"prior 0.1: {of_rows}; {of_others}"
    assert by_number.threshold_rule == f"k 30: {of_rows}"


def test_the_file_of_a_model_keeps_what_thresholds_are_made_from(fitted, tmp_path):
    model = fitted[0]
    model.with_threshold(k=7).save(tmp_path / "model")
    again = fastpu.load(tmp_path / "model")
    assert again.threshold_rule.startswith("k 7: 7 of 300")
    assert again.with_threshold(prior=0.1).threshold == model.with_threshold(prior=0.1).threshold


def test_training_rows_have_probabilities_by_their_out_of_bag_scores(fitted):
    model, X, y = fitted
    with pytest.raises(AttributeError, match=r"oob_predict_proba needs probabilities: call with_probabilities"):
        _ = model.oob_predict_proba
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.EstimateWarning)  # of rows that the model was fitted to
        model = model.with_probabilities(prior=0.05, y=y, X=X)
    found, scores = model.oob_predict_proba, model.oob_decision_function
    assert found.shape == (330, 2)
    np.testing.assert_array_equal(np.isnan(found[:, 1]), np.isnan(scores))
    known = ~np.isnan(scores)
    np.testing.assert_allclose(found[known].sum(axis=1), 1)
    assert (np.diff(found[known, 1][np.argsort(scores[known])]) >= 0).all()


def test_a_weight_counts_as_repetition():
    X, y, _ = draw(30, 300)
    weights = np.where(np.arange(330) % 2 == 0, 3.0, 1.0)
    weights[40:60] = 0
    model = fastpu.fit_forest(X, y, sample_weight=weights, random_state=0)
    moved = model.with_threshold(prior=0.1)
    share = np.average(model.oob_decision_function[~y] > moved.threshold, weights=weights[~y])
    assert share == pytest.approx(0.1, abs=0.005)
    assert "of 280 unlabelled training rows" in moved.threshold_rule
    counted = weights[~y]
    n = counted.sum() ** 2 / (counted**2).sum()  # rows that count as much, of 280
    low, high = beta.ppf(0.05, share * n, (1 - share) * n + 1), beta.ppf(0.95, share * n + 1, (1 - share) * n)
    assert moved.threshold_rule.endswith(
        f"({share:.4g} by weight); the share among all rows like these is {low:.3g} to {high:.3g} (90 % interval)"
    )


def test_rows_in_groups_give_no_interval_of_the_share():
    """Thirty customers of ten rows do not count as 300 rows, and the model does not know how many there are."""
    X, y, fresh = draw(30, 300)
    model = fastpu.fit_forest(X, y, groups=np.arange(330) // 10, random_state=0).with_threshold(prior=0.1)
    assert model.threshold_rule.endswith("rows, by their out-of-bag scores, positive")
    assert model.with_threshold(prior=0.1, X_unl=fresh).threshold_rule.endswith("unlabelled rows positive")
    assert np.isnan(model.check(fresh).positive_range).all()
    assert "by chance" not in str(model.check(fresh))


def test_a_model_of_an_early_version_wants_rows():
    X, y, _ = draw(30, 300)
    model = fastpu.fit_forest(X, y, random_state=0)
    early = dataclasses.replace(model, training_labels=None)
    refused(ValueError, "X_unl must be given for with_threshold, got None: the model was saved by an earlier version",
            early.with_threshold, prior=0.1)  # fmt: skip
    assert early.with_threshold(k=30, X_unl=X[~y]).threshold == model.with_threshold(k=30, X_unl=X[~y]).threshold


def test_rows_that_are_in_every_bag_make_no_threshold():
    X, y, _ = draw(30, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateModelWarning)
        model = fastpu.fit_forest(X, y, n_trees=3, bag_ratio=100.0, random_state=0)
    text = "X_unl must be given for with_threshold, got None: no unlabelled training row has an out-of-bag score"
    refused(ValueError, text, model.with_threshold, prior=0.3)


def test_a_single_booster_has_no_training_labels():
    X, y, _ = draw(30, 300)
    model = fastpu.fit_boosted_trees(X, y, n_rounds=5)
    assert model.training_labels is None
    refused(ValueError, "X_unl must be given for with_threshold, got None: the model has no out-of-bag scores",
            model.with_threshold, prior=0.3)  # fmt: skip


@every_fit
def test_rows_that_were_checked_are_left_out_by_the_labels_that_are_passed(fit):
    X, y, _ = draw(30, 300)
    checked = np.where(np.isin(np.arange(330), np.arange(40, 70)), -1, y)
    given = {} if fit is fastpu.fit_bagging_svm else {"sample_weight": np.where(checked == -1, 10.0, 1.0)}
    model = fit(X, y, random_state=0, **given)
    scores = model.oob_decision_function[checked == 0]
    by_prior, by_number = model.with_threshold(prior=0.1, y=checked), model.with_threshold(k=27, y=checked)
    assert by_prior.threshold == by_number.threshold == prior_threshold(scores[~np.isnan(scores)], 0.1)
    of_rows = "27 of 270 unlabelled training rows, by their out-of-bag scores, positive"
    low, high = beta.ppf(0.05, 27, 244), beta.ppf(0.95, 28, 243)
    of_others = f"the share among all rows like these is {low:.3g} to {high:.3g} (90 % interval)"
    assert by_prior.threshold_rule == f"prior 0.1: {of_rows}; {of_others}"  # and not by weight: it is the same for all
    assert by_number.threshold_rule == f"k 27: {of_rows}"
    again = model.with_threshold(prior=0.1, y=y)
    assert (again.threshold, again.threshold_rule) == (
        model.with_threshold(prior=0.1).threshold, model.with_threshold(prior=0.1).threshold_rule
    )  # fmt: skip


def test_labels_that_are_passed_for_a_threshold_are_those_of_the_training_rows():
    X, y, _ = draw(30, 300)
    model = fastpu.fit_forest(X, y, random_state=0)
    cut = model.with_threshold
    refused(ValueError, "y must have one entry per row of the data (330), got 2", cut, prior=0.1, y=[1, 0])
    refused(ValueError, "y must be labels of the training rows, in their order: row 0 is unlabelled there, and was "
            "labelled +1 in the fit", cut, prior=0.1, y=y[::-1])  # fmt: skip
    refused(ValueError, "y must have at least one unlabelled row (0)", cut, k=5, y=np.where(y, 1, -1))
    refused(ValueError, "y must be None with X_unl, all rows of which are unlabelled", cut, k=5, y=y, X_unl=X)
    refused(ValueError, "y must be None with value, which needs no rows", cut, value=0.5, y=y)
    early = dataclasses.replace(model, training_labels=None)
    assert early.with_threshold(prior=0.1, y=y).threshold == cut(prior=0.1).threshold
    single = fastpu.fit_boosted_trees(X, y, n_rounds=5)
    refused(ValueError, "the model has no out-of-bag scores", single.with_threshold, prior=0.3, y=y)


@pytest.mark.parametrize("make", [list, np.float32, lambda v: v.astype(object), pd.Series, lambda v: v == 1])
def test_labels_that_are_passed_for_a_threshold_may_have_any_form(make):
    X, y, _ = draw(30, 300)
    model = fastpu.fit_forest(X, y, n_trees=50, random_state=0)
    assert model.with_threshold(prior=0.1, y=make(y.astype(int))).threshold == model.with_threshold(prior=0.1).threshold


@pytest.mark.parametrize(
    ("fit", "size"),
    [
        (fastpu.fit_forest, {"n_trees": 6}),
        (fastpu.fit_boosted_trees, {"n_bags": 3, "n_rounds": 10}),
        (fastpu.fit_bagging_svm, {"n_bags": 3}),
    ],
)
def test_unlabelled_rows_without_a_score_are_left_out_of_thresholds_and_counted(fit, size):
    X, y, _ = draw(8, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateModelWarning)
        model = fit(X, y, bag_ratio=4.0, random_state=0, **size)
    scores = model.oob_decision_function[~y]
    lacking = int(np.isnan(scores).sum())
    assert lacking > 0
    told = rf"with_threshold: {lacking} of 60 unlabelled training rows have no score \(NaN\) and are left out"
    for given in ({}, {"y": y}):
        with pytest.warns(EstimateWarning, match=told):
            cut = model.with_threshold(prior=0.2, **given)
        assert cut.threshold == prior_threshold(scores[~np.isnan(scores)], 0.2)
        assert f"of {60 - lacking} unlabelled training rows, by their out-of-bag scores, positive" in cut.threshold_rule
