"""Every metric is called with the labels that fits take and one score for each row."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import metrics
from helpers import refused

PU_METRICS = {
    "pu_risk": lambda *rows: metrics.pu_risk(*rows),
    "pu_auc": lambda *rows: metrics.pu_auc(*rows, prior=0.1),
    "err_star": lambda *rows: metrics.err_star(*rows, prior=0.1),
    "error_rate": lambda *rows: metrics.error_rate(*rows, prior=0.1),
    "puf_score": lambda *rows: metrics.puf_score(*rows),
    "recall_at_k": lambda *rows: metrics.recall_at_k(*rows, 10),
    "lift_at_k": lambda *rows: metrics.lift_at_k(*rows, 10),
    "precision_at_k": lambda *rows: metrics.precision_at_k(*rows, 10, prior=0.1),
    "average_precision": lambda *rows: metrics.average_precision(*rows, prior=0.1),
    "ranking_curve": lambda *rows: metrics.ranking_curve(*rows).recall.tolist(),
}


def table():
    """Labels 1 and 0 in no order, and scores."""
    rng = np.random.default_rng(0)
    y = (rng.random(80) < 0.3).astype(int)
    return y, np.round(rng.normal(size=80) + y, 1)


@pytest.mark.parametrize("name", PU_METRICS)
def test_labels_of_every_coding_that_fits_take_say_the_same(name):
    y, scores = table()
    value = PU_METRICS[name](y, scores)
    for same in (y == 1, y.astype(np.uint8), y.tolist(), np.where(y == 1, 1.0, np.nan), [1 if v else None for v in y]):
        assert PU_METRICS[name](same, scores) == value
    turned = np.random.default_rng(1).permutation(80)
    assert PU_METRICS[name](y[turned], scores[turned]) == value


@pytest.mark.parametrize("name", PU_METRICS)
def test_labelled_negatives_have_no_part_in_what_needs_none(name):
    y, scores = table()
    more = np.append(y, [-1, -1, -1]), np.append(scores, [9.0, 0.0, -9.0])
    assert PU_METRICS[name](*more) == PU_METRICS[name](y, scores)


def test_labelled_negatives_belong_to_the_population_of_a_single_set():
    y, scores = table()
    labels = np.where((y == 0) & (np.arange(80) % 3 == 0), -1, y)
    rate = {"prior": 0.35, "scenario": "single_set"}
    for metric in (metrics.pu_auc, metrics.err_star, metrics.error_rate):
        assert metric(labels, scores, **rate) == metric(y, scores, **rate)
        refused(ValueError, "prior must be at most", metric, labels, scores, prior=0.9, scenario="single_set")
    assert metrics.puf_score(labels, scores, scenario="single_set") == metrics.puf_score(
        y, scores, scenario="single_set"
    )
    # The top of a ranking is of unlabelled rows alone; the others count only where the rate is converted.
    n_pos, n_unl = np.sum(labels == 1), np.sum(labels == 0)
    among = (0.35 * 80 - n_pos) / n_unl
    for metric in (lambda **how: metrics.precision_at_k(labels, scores, 5, **how),
                   lambda **how: metrics.average_precision(labels, scores, **how)):  # fmt: skip
        assert metric(**rate) == pytest.approx(metric(prior=among), abs=1e-14)


@pytest.mark.parametrize("name", PU_METRICS)
def test_scores_of_two_groups_are_no_labels(name):
    """A form of other libraries, which would count rows 0 and 1 where the labels are integers."""
    y, scores = table()
    refused(ValueError, "y must hold 1 (positive)", PU_METRICS[name], scores[y == 1], scores[y == 0])
    refused(ValueError, "y must hold 1 (positive)", PU_METRICS[name], scores, y)
    refused(ValueError, "scores must have 80 entries, got 79", PU_METRICS[name], y, scores[1:])


@pytest.mark.parametrize("name", PU_METRICS)
def test_a_group_that_is_missing_is_named(name):
    scores = np.arange(20.0)
    refused(ValueError, f"y must have at least one positive row (+1) for {name}", PU_METRICS[name], 0 * scores, scores)
    refused(ValueError, f"unlabelled row (0) for {name}", PU_METRICS[name], np.ones(20), scores)
    refused(ValueError, "y holds -1 and no 0, which is ambiguous", PU_METRICS[name], [1, -1] * 10, scores)


def test_pairs_with_labelled_negatives_want_them():
    scores = [0.9, 0.4, 0.1]
    refused(ValueError, "labelled negative row (-1) for pn_risk, got none; fastpu.metrics.auc takes true labels",
            metrics.pn_risk, [1, 0, 0], scores)  # fmt: skip
    refused(ValueError, "labelled negative row (-1) for un_risk, got none", metrics.un_risk, [1, 0, 0], scores)
    assert metrics.pn_risk([1, 0, -1], scores) == 0.0
