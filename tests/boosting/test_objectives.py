"""Objectives equal the oracle in every form of call, and refuse rows that are not theirs."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from fastpu import metrics, objectives
from oracles import tree_loss as oracle

#: Issue 19: equal to the oracle's derivatives.
TOL = 1e-10
PRIOR, GAMMA = 0.3, 0.7
OPTIONS = {"pnu_auc": {"gamma": GAMMA}, "logistic": {}, "upu": {"prior": PRIOR}}

each_loss = pytest.mark.parametrize("loss", OPTIONS)


def make(loss: str, y=None, **more):
    return getattr(objectives, loss)(y, **OPTIONS[loss], **more)


def problem(loss: str, n: int = 501, *, shift: float = 0.0):
    rng = np.random.default_rng(0)
    y = rng.choice((1, 0, -1) if loss == "pnu_auc" else (1, 0), size=n)
    scores = 2 * rng.normal(size=n) + shift * np.where(y == 1, 1, -1)
    return y, scores, rng.integers(1, 4, size=n) * 0.5


def data_set(labels, weights=None, package: str = "lightgbm"):
    """What an objective sees of a Dataset or a DMatrix."""
    kind = type("Dataset", (SimpleNamespace,), {"__module__": f"{package}.basic"})
    return kind(get_label=lambda: labels, get_weight=lambda: weights)


def assert_equal(found, loss, y, scores, weights):
    expected = oracle.derivatives(loss, y, scores, weights, gamma=GAMMA, prior=PRIOR)
    np.testing.assert_allclose(found, expected, rtol=TOL, atol=TOL)


@each_loss
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_every_form_of_call_equals_the_oracle(loss, shift):
    y, scores, weights = problem(loss, shift=shift)
    for bound in (y, None):
        objective = make(loss, bound)
        assert_equal(objective(y, scores), loss, y, scores, np.ones(len(y)))
        assert_equal(objective(y, scores, weights), loss, y, scores, weights)
        assert_equal(objective(y, scores, sample_weight=weights), loss, y, scores, weights)
        single = y.astype(np.float32), weights.astype(np.float32)
        assert_equal(objective(scores, data_set(*single)), loss, y, scores, weights)
        assert_equal(objective(scores, data_set(single[0])), loss, y, scores, np.ones(len(y)))
        none = np.empty(0, dtype=np.float32)  # XGBoost's way to say that there are no weights
        assert_equal(objective(scores, data_set(single[0], none, "xgboost")), loss, y, scores, np.ones(len(y)))
    float32 = scores.astype(np.float32)  # XGBoost's scores
    assert_equal(make(loss, y)(y, float32), loss, y, float32.astype(np.float64), np.ones(len(y)))


@each_loss
def test_labels_may_be_left_to_y(loss):
    y, scores, _ = problem(loss)
    assert_equal(make(loss, y)(scores, data_set(np.empty(0))), loss, y, scores, np.ones(len(y)))


@each_loss
def test_other_scores_labels_and_weights_are_noticed(loss):
    y, scores, weights = problem(loss)
    objective = make(loss)
    for at in (scores, -scores):
        for w in (None, weights, 2 * weights[::-1]):
            for labels in (y, y[::-1]):
                assert_equal(objective(labels, at, w), loss, labels, at, np.ones(len(y)) if w is None else w)


@each_loss
def test_weights_that_are_changed_in_place_are_noticed(loss):
    y, scores, weights = problem(loss)
    objective = make(loss)
    objective(y, scores, weights)
    weights[::2] *= 3
    assert_equal(objective(y, scores, weights), loss, y, scores, weights)


@each_loss
def test_the_labels_of_a_data_set_are_read_once_where_y_is_given(loss):
    y, scores, _ = problem(loss)
    asked = []
    data = data_set(y)
    data.get_label = lambda: asked.append(0) or y
    objective = make(loss, y)
    for _ in range(3):
        assert_equal(objective(scores, data), loss, y, scores, np.ones(len(y)))
    assert len(asked) == 1
    assert_equal(objective(scores, data_set(y)), loss, y, scores, np.ones(len(y)))
    with pytest.raises(ValueError, match="must have the rows of y in the same order"):
        objective(scores, data_set(y[::-1]))
    objective = make(loss)
    for labels in (y, y[::-1]):
        data.get_label = lambda labels=labels: labels
        assert_equal(objective(scores, data), loss, labels, scores, np.ones(len(y)))


@each_loss
def test_threads_do_not_matter(loss):
    y, scores, _ = problem(loss, n=60_001)
    expected = make(loss, y, n_threads=1)(y, scores)
    np.testing.assert_array_equal(make(loss, y, n_threads=3)(y, scores), expected)
    np.testing.assert_array_equal(make(loss, y)(y, scores), expected)


@each_loss
def test_it_pickles_and_a_deep_copy_is_itself(loss):
    y, scores, _ = problem(loss)
    objective = make(loss, y)
    expected = objective(y, scores)
    again = pickle.loads(pickle.dumps(objective))
    np.testing.assert_array_equal(again(y, scores), expected)
    assert repr(again) == repr(objective)
    assert copy.deepcopy(objective) is objective


def test_it_says_what_it_is():
    assert repr(objectives.pnu_auc([1, 0, 0])) == "pnu_auc(y of 3 rows, gamma=0.5)"
    assert repr(objectives.upu(prior=0.25)) == "upu(prior=0.25)"
    assert objectives.upu([True, False], prior=0.5).y.tolist() == [1, 0]


# ---- The metric ----


def test_the_metric_is_the_auc_in_the_form_of_each_library():
    rng = np.random.default_rng(1)
    y, scores, weights = rng.choice((1, 0), size=300), rng.normal(size=300), rng.random(300)
    metric = objectives.pnu_auc([1, 0]).metric  # of any rows
    assert metric(scores, data_set(y)) == ("auc", metrics.auc(y, scores), True)
    assert metric(scores, data_set(y, None, "xgboost")) == ("auc", metrics.auc(y, scores))
    assert metric(y, scores, weights) == ("auc", metrics.auc(y, scores, sample_weight=weights), True)


def test_the_metric_takes_labelled_negatives_where_there_are_some():
    y, scores, weights = problem("pnu_auc")
    judged = y != 0
    expected = metrics.auc(y[judged], scores[judged], sample_weight=weights[judged])
    assert objectives.pnu_auc().metric(y, scores, weights) == ("auc", expected, True)


def test_the_metric_needs_labels():
    with pytest.raises(ValueError, match="the data set must have labels for a metric"):
        objectives.pnu_auc().metric(np.zeros(3), data_set(np.empty(0), None, "xgboost"))


# ---- What is refused ----


@each_loss
def test_rows_of_another_data_set_are_refused(loss):
    y, scores, _ = problem(loss)
    objective = make(loss, y)
    with pytest.raises(ValueError, match=r"of 501 rows.*must be called for 501 rows, got 500; leave y out"):
        objective(scores[1:], data_set(y[1:]))
    row = int(np.flatnonzero(y != y[0])[0])
    swapped = y.copy()
    swapped[[0, row]] = y[[row, 0]]
    with pytest.raises(ValueError, match="must have the rows of y in the same order, but row 0 has the label"):
        objective(scores, data_set(swapped))
    with pytest.raises(ValueError, match="must be called for 501 rows, got 500$"):
        make(loss)(y, scores[1:])


def test_labels_of_another_coding_are_told_apart_from_other_rows():
    """Classifiers number labels anew, so another coding of the same kinds is taken; other kinds are named."""
    zeros = np.zeros(4)
    for y, labels in (([1, -1, 1, -1], [1, 0, 1, 0]), ([1, 0, -1, 0], [2, 1, 0, 1]), ([1, 0, 1, 0], [1, np.nan] * 2)):
        expected = objectives.pnu_auc(y)(y, zeros)
        np.testing.assert_array_equal(objectives.pnu_auc(y)(zeros, data_set(np.array(labels))), expected)
    objective = objectives.pnu_auc([1, 0, -1, 0])
    text = r"must have the labels of y, but the labels are \[0, 1\] there and \[-1, 0, 1\] in y; make both"
    with pytest.raises(ValueError, match=text):
        objective(zeros, data_set(np.array([1, 0, 0, 0])))
    text = (
        r"row 0 has the label 0 there and 1 in y \(the labels are \[0, 1\] there and \[-1, 1\] in y, in this order\)$"
    )
    with pytest.raises(ValueError, match=text):
        objectives.pnu_auc([1, -1, 1, -1])(zeros, data_set(np.array([0, 1, 1, 0])))
    with pytest.raises(ValueError, match=r"has the label 0\.9999999999 there and 1 in y \(the labels are \[0\.9999"):
        objectives.logistic([1, 0, 1, 0])(zeros, data_set(np.array([1 - 1e-10, 1, 1, 1 - 1e-10])))


@each_loss
def test_wrong_scores_and_weights_are_refused(loss):
    y, scores, weights = problem(loss)
    objective = make(loss, y)
    for kind, wrong, said in (
        (np.float64, np.nan, "nan"),
        (np.float32, np.nan, "nan"),
        (np.float64, -1e300, r"-1e\+300"),
    ):
        with pytest.raises(ValueError, match=rf"scores must be finite and below 2\^900, got {said} in row 7"):
            objective(y, np.where(np.arange(len(y)) == 7, wrong, scores).astype(kind))
    with pytest.raises(ValueError, match=r"scores must be one-dimensional.*lightgbm.train"):
        objective(y, np.stack([scores, scores]))
    with pytest.raises(ValueError, match=r"sample_weight, and its product with scores, must be below 2\^900"):
        objective(y, scores, np.where(np.arange(len(y)) == 7, 1e300, 1.0))
    with pytest.raises(ValueError, match="sample_weight must be >= 0, got -"):
        objective(y, scores, -weights)
    with pytest.raises(ValueError, match="sample_weight must have one entry per row"):
        objective(y, scores, weights[1:])
    with pytest.raises(ValueError, match="the data set must have labels, or .* must be given y"):
        make(loss)(scores, data_set(None))


@each_loss
def test_a_group_that_is_needed_must_have_rows(loss):
    words = "y must hold at least two of .* got weights 2, 0, 0" if loss == "pnu_auc" else "needs rows of"
    with pytest.raises(ValueError, match=words):
        make(loss, [1, 1])([1, 1], [0.0, 0.0])


@pytest.mark.parametrize("loss", ["logistic", "upu"])
def test_labelled_negatives_are_for_pnu_auc_alone(loss):
    for labels in ([1, 0, -1], [1, -1]):
        with pytest.raises(ValueError, match=rf"y must hold .* for {loss}, got -1; .* use pnu_auc"):
            make(loss, labels)
    with pytest.raises(ValueError, match="label must hold"):
        make(loss)([1, 0, -1], np.zeros(3))


# ---- CatBoost's protocol ----


@pytest.mark.parametrize("loss", ["logistic", "upu"])
def test_parts_of_the_rows_get_the_negative_derivatives_of_all(loss):
    y, scores, _ = problem(loss)
    objective = make(loss, y)
    order = np.random.default_rng(2).permutation(len(y))
    found = np.empty((len(y), 2))
    for rows in np.array_split(order, 7):
        found[rows] = objective.calc_ders_range(scores[rows], y[rows].astype(np.float32), None)
    assert_equal(-found.T, loss, y, scores, np.ones(len(y)))


def test_what_catboost_cannot_do_is_refused():
    y = np.array([1, 0])
    part = (np.zeros(2), y.astype(np.float32))
    with pytest.raises(ValueError, match="some rows at a time, and pnu_auc needs the scores of all"):
        make("pnu_auc", y).calc_ders_range(*part, None)
    with pytest.raises(ValueError, match="logistic must be given y for CatBoost"):
        objectives.logistic().calc_ders_range(*part, None)
    with pytest.raises(ValueError, match="logistic takes no weights in CatBoost"):
        objectives.logistic(y).calc_ders_range(*part, np.ones(2))


@each_loss
def test_sums_go_over_the_rows_of_all_workers(loss, monkeypatch):
    """Two threads stand for the workers of XGBoost, and a barrier for its collective."""
    y, scores, weights = problem(loss)
    all_there, given = threading.Barrier(2, timeout=60), {}

    def allreduce(values, reduce):
        given[threading.get_ident()] = values
        all_there.wait()
        result = reduce(np.stack(list(given.values())), axis=0)
        all_there.wait()
        return result

    operations = SimpleNamespace(MAX=np.max, SUM=np.sum)
    collective = SimpleNamespace(is_distributed=lambda: True, allreduce=allreduce, Op=operations)
    monkeypatch.setitem(sys.modules, "xgboost.collective", collective)

    def work(rows):
        return make(loss)(scores[rows], data_set(y[rows], weights[rows], "xgboost"))

    with ThreadPoolExecutor(2) as workers:
        parts = list(workers.map(work, [slice(0, 200), slice(200, None)]))
    assert_equal([np.concatenate(both) for both in zip(*parts, strict=True)], loss, y, scores, weights)
