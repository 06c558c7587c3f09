"""Rows without a score, as rows that are in every bag have none: they are left out, and a warning counts them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
from fastpu import audit, metrics
from fastpu.exceptions import EstimateWarning
from fastpu.priors import bbe, km2
from helpers import refused

Y = np.repeat([1, 0, -1], [40, 300, 20])
LACK = np.isin(np.arange(Y.size), [3, 7, 50, 60, 70, 350])
TOLD = "2 of 40 labelled positive rows and 3 of 300 unlabelled rows have no score (NaN) and are left out. An out-of-bag"
HOW = {"n_boot": 50, "random_state": 0}

CALLS = {
    "recall_at_k": lambda y, s, groups: metrics.recall_at_k(y, s, 30, groups=groups, **HOW),
    "lift_at_k": lambda y, s, groups: metrics.lift_at_k(y, s, 30, groups=groups, **HOW),
    "precision_at_k": lambda y, s, groups: metrics.precision_at_k(y, s, 30, 0.1, groups=groups, **HOW),
    "average_precision": lambda y, s, groups: metrics.average_precision(y, s, 0.1, groups=groups, **HOW),
    "ranking_curve": lambda y, s, groups: metrics.ranking_curve(y, s, groups=groups, **HOW).recall_interval,
    "pu_auc": lambda y, s, groups: metrics.pu_auc(y, s, prior=0.1, groups=groups, **HOW),
    "pu_risk": lambda y, s, groups: metrics.pu_risk(y, s),
    "puf_score": lambda y, s, groups: metrics.puf_score(y, s),
    "err_star": lambda y, s, groups: metrics.err_star(y, s, prior=0.1, sample_weight=groups + 1.0),
    "error_rate": lambda y, s, groups: metrics.error_rate(y, s, prior=0.1),
    "bbe": lambda y, s, groups: bbe(None, y, scores=s, groups=groups, **HOW).allowed,
    "km2": lambda y, s, groups: km2(None, y, scores=s, random_state=0).value,
}


def scored(apart=3.0):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=Y.size) + apart * ((Y == 1) | (rng.random(Y.size) < 0.1))
    return scores, rng.integers(0, 100, Y.size)


def told_by(call, *rest):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        value = call(*rest)
    return value, [str(one.message) for one in found if "(NaN)" in str(one.message)]


@pytest.mark.parametrize("name", CALLS)
def test_rows_without_a_score_are_left_out_and_counted(name):
    scores, groups = scored()
    found, texts = told_by(CALLS[name], Y, np.where(LACK, np.nan, scores), groups)
    expected, silent = told_by(CALLS[name], Y[~LACK], scores[~LACK], groups[~LACK])
    assert silent == []
    (text,) = texts
    assert text.startswith(f"{name}: {TOLD} score is NaN where every bag has the row: fit with more bags or trees")
    np.testing.assert_array_equal(np.asarray(getattr(found, "interval", found)),
                                  np.asarray(getattr(expected, "interval", expected)))  # fmt: skip
    assert getattr(found, "value", 0) == getattr(expected, "value", 0)


def test_true_labels_and_negatives_lose_the_rows_as_well():
    scores, _ = scored()
    lacking, truth = np.where(LACK, np.nan, scores), Y == 1
    with pytest.warns(EstimateWarning, match=r"auc: 2 of 40 positive rows and 4 of 320 negative rows have no score"):
        found = metrics.auc(truth, lacking, sample_weight=np.arange(Y.size) + 1.0)
    assert found == metrics.auc(truth[~LACK], scores[~LACK], sample_weight=(np.arange(Y.size) + 1.0)[~LACK])
    with pytest.warns(EstimateWarning, match=r"pn_risk: 2 of 40 labelled positive rows and 1 of 20 labelled negative"):
        assert metrics.pn_risk(Y, lacking) == metrics.pn_risk(Y[~LACK], scores[~LACK])
    with pytest.warns(EstimateWarning, match=r"un_risk: 3 of 300 unlabelled rows and 1 of 20 labelled negative"):
        assert metrics.un_risk(Y, lacking) == metrics.un_risk(Y[~LACK], scores[~LACK])


def test_rows_that_do_not_count_need_no_score():
    scores, _ = scored()
    lacking = np.where(Y == -1, np.nan, scores)
    assert metrics.lift_at_k(Y, lacking, 30) == metrics.lift_at_k(Y, scores, 30)
    text = "scores must hold a number for at least one labelled negative row for puf_score"  # a part of the population
    refused(ValueError, text, metrics.puf_score, Y, lacking, scenario="single_set")


def test_a_rate_among_all_rows_stays_that_of_all():
    """Where half of the labelled rows have no score, the share of positives among the others is the same."""
    scores, _ = scored(1.0)
    lacking = np.where((np.arange(Y.size) < 20), np.nan, scores)
    kept = Y[20:], scores[20:]
    share = (0.2 * Y.size - 40) / 300
    for call, of_share in (
        (lambda y, s, **p: metrics.precision_at_k(y, s, 30, p.pop("prior"), **p), share),
        (metrics.pu_auc, (0.2 * Y.size - 40) / 320),  # a labelled negative row is of the population
    ):
        with pytest.warns(EstimateWarning, match="20 of 40 labelled positive rows have no score"):
            found = call(Y, lacking, prior=0.2, scenario="single_set")
        y = np.where(kept[0] == -1, 0, kept[0]) if call is metrics.pu_auc else kept[0]
        assert found == pytest.approx(call(y, kept[1], prior=of_share))
    with pytest.warns(EstimateWarning, match="20 of 40 labelled positive rows have no score"):
        found = metrics.puf_score(Y, lacking, scenario="single_set", threshold=1.0)
    recall, share = np.mean(scores[20:40] > 1), np.mean(scores[40:] > 1)
    assert found == pytest.approx(recall**2 / ((40 * recall + 320 * share) / 360))


@pytest.mark.parametrize("name", CALLS)
def test_a_label_without_any_score_is_refused(name):
    scores, groups = scored()
    for label, what, n in ((1, "labelled positive", 40), (0, "unlabelled", 300)):
        text = f"scores must hold a number for at least one {what} row for {name}, got NaN for all {n}"
        refused(ValueError, text, CALLS[name], Y, np.where(label == Y, np.nan, scores), groups)


def test_labelled_rows_that_are_in_every_bag_get_no_advice_of_more_bags():
    scores, groups = scored()
    text = "each bag of fit_bagging_svm and PUBaggingClassifier has all labelled rows: score rows that were held out"
    refused(ValueError, text, CALLS["lift_at_k"], Y, np.where(Y == 1, np.nan, scores), groups)


def test_a_single_labelled_row_gets_no_advice_of_a_forest():
    scores, groups = scored()
    y = np.where(np.arange(Y.size) == np.argmax(Y == 1), 1, np.minimum(Y, 0))
    text = (
        "is NaN where every bag has the row, as all bags have a single labelled row: score labelled rows that were held"
    )
    refused(ValueError, text, CALLS["lift_at_k"], y, np.where(y == 1, np.nan, scores), groups)


def test_a_plan_puts_rows_without_a_score_last():
    scores, _ = scored()
    lacking = np.where(LACK, np.nan, scores)
    with pytest.warns(EstimateWarning, match=r"plan: 6 of 360 rows have no score \(NaN\) and are put last"):
        plan = audit.plan(lacking, 350, random_state=0)
    assert set(plan.rows[plan.place >= 354]) <= set(np.flatnonzero(LACK))
    answers = np.isin(plan.rows, np.flatnonzero(Y == 1))
    assert audit.estimate(plan, answers).count.value == pytest.approx(40, abs=3)
    found = audit.discoveries(lacking, plan, answers, fdr=0.5)
    assert not LACK[found.rows[:5]].any()
    refused(ValueError, "scores must hold a number for at least one row", audit.plan, np.full(9, np.nan), 3)


def test_labelled_rows_without_a_score_are_no_evidence_for_labels_at_random():
    scores, groups = scored()
    plan = audit.plan(scores, 200, random_state=0)
    answers = plan.rows < 60
    labelled, lacks = scores[:40], np.arange(40) < 3
    given = {"groups": groups, "random_state": 0}
    with pytest.warns(EstimateWarning, match="is_scar: 3 of 40 labelled positive rows have no score"):
        found = audit.is_scar(plan, answers, np.where(lacks, np.nan, labelled), groups_of_labelled=groups[:40], **given)
    expected = audit.is_scar(plan, answers, labelled[~lacks], groups_of_labelled=groups[:40][~lacks], **given)
    assert (found.p_value, found.difference, repr(found)) == (expected.p_value, expected.difference, repr(expected))


def test_few_bags_serve_for_everything():
    """With six bags some labelled rows are in all of them; every number is of the others."""
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.ones(200, bool), rng.random(1500) < 0.1])
    X, y = rng.normal(size=(1700, 3)) + 2.0 * truth[:, None], np.arange(1700) < 200
    model = fastpu.fit_boosted_trees(X, y, n_bags=6, n_rounds=10, random_state=0)
    scores = model.oob_decision_function
    assert np.isnan(scores[y]).any()
    model, texts = told_by(lambda: model.with_threshold(prior=0.1).with_probabilities(prior=0.1, y=y))
    n_pos, n_unl = (int(np.isnan(scores[rows]).sum()) for rows in (y, ~y))
    assert texts[0].startswith(f"with_threshold: {n_unl} of 1500 unlabelled training rows have no score (NaN)")
    of_both = f"{n_pos} of 200 labelled positive rows and {n_unl} of 1500 unlabelled rows"
    assert texts[1].startswith(f"with_probabilities: {of_both} have no score (NaN) and are left out")
    assert np.mean(scores[~y] > model.threshold) == pytest.approx(0.1, abs=0.01)
    for call in CALLS.values():
        _, texts = told_by(call, y, scores, np.arange(1700))
        assert len(texts) == 1


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")
def test_one_row_with_a_score_makes_no_prior():
    scores, _ = scored()
    text = "y must have at least two positive rows with a score for bbe, got 1"
    refused(ValueError, text, bbe, None, Y, scores=np.where((Y == 1) & (np.arange(Y.size) > 0), np.nan, scores))


def test_scores_that_a_model_does_not_have_are_asked_for():
    text = "scores must be given, got None: a model without bags has no out-of-bag scores"
    refused(TypeError, text, metrics.lift_at_k, Y, None, 30)
    refused(ValueError, "prior must be a number in (0, 1), got 30.0; 30 % is 0.3", metrics.pu_auc, Y, Y, prior=30)
