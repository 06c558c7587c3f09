"""Stumps: an entry that is missing where training had none tells nothing, and is where most training rows are."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.metrics import auc

pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.UnlikeRowsWarning")  # lost columns are meant

FITS = {
    "auc": fastpu.fit_pnu_auc_boost,
    "ada": fastpu.baselines.fit_pnu_adaboost,
}
#: How far the mean place of negatives among all rows, in [0, 1], may move where a column that told them apart is lost.
MOST_MOVED = 0.1


def drawn_rows(n, seed=0, sign=1):
    """Rows, 20 % of them positive, whose first four columns of six are larger (or smaller) for these."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    X = rng.standard_normal((n, 6))
    X[:, :4] += 1.2 * truth[:, None]
    return sign * X, truth


def labelled(truth):
    return (truth & (np.arange(truth.size) % 4 == 0)).astype(np.int8)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_a_lost_column_moves_negatives_neither_to_the_top_nor_to_the_end(fit, sign):
    X, truth = drawn_rows(4000, sign=sign)
    model = fit(X, labelled(truth), n_rounds=60)
    Z, is_positive = drawn_rows(4000, seed=1, sign=sign)
    usual = np.sort(model.decision_function(Z))

    def mean_place(rows):
        return np.searchsorted(usual, model.decision_function(rows)).mean() / usual.size

    lost = Z.copy()
    lost[:, 0] = np.nan
    assert abs(mean_place(lost[~is_positive]) - mean_place(Z[~is_positive])) < MOST_MOVED


@pytest.mark.parametrize("max_bins", [None, 20, 5000])
def test_missing_entries_score_like_the_median(max_bins):
    X, truth = drawn_rows(501)
    model = fastpu.fit_pnu_auc_boost(X, labelled(truth), n_rounds=60, max_bins=max_bins)
    Z, _ = drawn_rows(50, seed=1)
    for column in set(model.features.tolist()):
        lost, median = Z.copy(), Z.copy()
        lost[:, column], median[:, column] = np.nan, np.median(X[:, column])
        np.testing.assert_allclose(model.decision_function(lost), model.decision_function(median), atol=1e-12)


def test_weights_move_the_median_within_their_group():
    X, truth = drawn_rows(800)
    y, whole = labelled(truth), np.random.default_rng(2).integers(0, 4, 800)
    whole[y == 0] = 1
    times = 1 + whole * (y != 0)
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=40, max_bins=50, sample_weight=times.astype(float))
    n_labelled = (y != 0).sum()
    shares = np.where(y != 0, times * n_labelled / times[y != 0].sum(), 1.0)
    above = [
        shares[X[:, e] > cut].sum() > shares.sum() / 2 for e, cut in zip(model.features, model.thresholds, strict=True)
    ]
    assert model.missing_above.tolist() == np.array(above, dtype=int).tolist()


def test_every_form_of_rows_and_every_number_of_threads_gives_the_same_scores():
    X, truth = drawn_rows(2000)
    model = fastpu.fit_pnu_auc_boost(X, labelled(truth), n_rounds=60)
    assert model.missing_above.any()
    Z, _ = drawn_rows(3000, seed=2)
    Z[np.random.default_rng(3).random(Z.shape) < 0.05] = np.nan
    Z[7, 1], Z[8, 1] = -np.inf, np.inf
    scores = model.decision_function(Z)
    np.testing.assert_array_equal(scores, model.decision_function(Z, n_threads=2))
    np.testing.assert_allclose(scores, model.decision_function(sp.csr_array(Z)), atol=1e-12)
    single = [model.decision_function(Z[row : row + 1])[0] for row in range(50)]
    np.testing.assert_array_equal(scores[:50], single)
    *_, last = model.staged_decision_function(Z)
    np.testing.assert_allclose(last, scores, atol=1e-12)
    Z[7, 1] = np.nan
    np.testing.assert_array_equal(scores, model.decision_function(Z))


def test_bins_tell_missing_entries_from_others_where_other_rows_had_some():
    X, truth = drawn_rows(2000)
    y, half = labelled(truth), np.arange(2000) < 1000
    X[~half & (np.arange(2000) % 7 == 0), 0] = np.nan  # none of the rows that are fitted
    bins = fastpu.bin_features(X)
    judged = {"eval_set": (bins[~half], y[~half]), "n_rounds": 30}
    model = fastpu.fit_pnu_auc_boost(bins[half], y[half], **judged)
    assert 0 in model.features[model.missing_above > 0]
    np.testing.assert_array_equal(model.decision_function(bins), model.decision_function(X))
    expected = [auc(y[~half] > 0, stage) for stage in model.staged_decision_function(X[~half])]
    np.testing.assert_allclose(model.history["eval_auc"], expected, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_an_eval_set_with_missing_entries_is_judged_by_the_scores(form):
    X, truth = drawn_rows(1000)
    Z, is_positive = drawn_rows(500, seed=1)
    Z[::3, :3] = np.nan
    judged = {"eval_set": (form(Z), np.where(is_positive, 1, -1)), "n_rounds": 30}
    model = fastpu.fit_pnu_auc_boost(form(X), labelled(truth), max_bins=50, **judged)
    assert model.missing_above.any()
    expected = [auc(is_positive, stage) for stage in model.staged_decision_function(Z)]
    np.testing.assert_allclose(model.history["eval_auc"], expected, rtol=1e-12)


def test_where_training_missed_entries_they_are_below_every_threshold():
    X, truth = drawn_rows(1000)
    X[::5, 0] = np.nan
    model = fastpu.fit_pnu_auc_boost(X, labelled(truth), n_rounds=60)
    assert not model.missing_above[model.features == 0].any()
    assert model.missing_above[model.features == 1].any()


def test_unseen_categories_are_where_most_training_rows_are():
    rng = np.random.default_rng(0)
    shop = rng.choice(["a", "b", "c", "d"], 1000, p=[0.4, 0.3, 0.2, 0.1])
    truth = rng.random(1000) < np.where(np.isin(shop, ["a", "b"]), 0.1, 0.5)
    model = fastpu.fit_pnu_auc_boost(pd.DataFrame({"shop": shop}), labelled(truth), n_rounds=1)
    by_shop = model.decision_function(pd.DataFrame({"shop": ["a", "d", "new", None]}))
    assert by_shop[2] == by_shop[3] == by_shop[0] < by_shop[1]


def test_a_model_of_an_earlier_version_scores_missing_entries_as_before():
    X, truth = drawn_rows(500)
    model = fastpu.fit_pnu_auc_boost(X, labelled(truth), n_rounds=30)
    earlier = dataclasses.replace(model, missing_above=None)
    Z = X.copy()
    Z[:, 0] = np.nan
    lowest = X.copy()
    lowest[:, 0] = X[:, 0].min() - 1
    np.testing.assert_array_equal(earlier.decision_function(Z), earlier.decision_function(lowest))
    assert (model.decision_function(Z) != earlier.decision_function(Z)).any()
