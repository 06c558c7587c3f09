"""Early stopping without an `eval_set`: folds choose the number of rounds, and all rows are fitted to."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
from boosting_cases import ARRAYS, assert_same_stumps, each_fit, make_problem, to_csr
from fastpu import metrics
from fastpu.data._folds import stratified_folds
from method_recipes import model_bits

#: Sums over rows in another order.
AUC_TOL = 1e-9


@pytest.fixture(scope="module")
def data():
    """Noisy rows on which the AUC of held-out rows peaks early."""
    problem = make_problem(np.random.default_rng(2), n=400, d=6, kinds=("normal", "rounded", "missing", "zeros"))
    return problem.X, problem.y


def curve(fit, X, y, n_rounds, n_folds, seed, weights=None, **options):
    """The AUC of each fold after each round, by plain fits."""
    aucs = []
    for train, held in stratified_folds(y.astype(np.int8), n_folds, np.random.default_rng(seed)):
        given = {} if weights is None else {"sample_weight": weights[train]}
        model = fit(X[train], y[train], n_rounds=n_rounds, **given, **options)
        other = -1 if (y == -1).any() else 0
        pos, neg = (held[y[held] == label] for label in (1, other))
        mass = np.ones(len(y)) if weights is None else weights
        judged = [
            metrics.auc(
                np.repeat([1, -1], [pos.size, neg.size]),
                stage[np.concatenate([pos, neg])],
                sample_weight=mass[np.concatenate([pos, neg])],
            )
            for stage in model.staged_decision_function(X)
        ]
        aucs.append(judged + [judged[-1]] * (n_rounds - len(judged)))
    return np.array(aucs)


def chosen_by(aucs, patience):
    """The rounds to fit, from the AUC of each fold: the last that is within a standard error of the best."""
    mean, best, chosen = aucs.mean(axis=0), 0, 0
    for end in range(mean.size):
        if mean[end] > mean[best]:
            best = end
        if end - best >= patience:
            break
    for t in range(end + 1):
        gap = aucs[:, best] - aucs[:, t]
        if gap.mean() <= gap.std(ddof=1) / np.sqrt(len(gap)):
            chosen = t + 1
    return chosen


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [None, 12])
@each_fit
def test_the_rounds_are_those_of_the_folds(fit, max_bins, weighted, data):
    X, y = data
    weights = np.random.default_rng(1).uniform(0.2, 3.0, y.size) if weighted else None
    options = {"max_bins": max_bins}
    if fit is fastpu.baselines.fit_rankboost_auc:  # whose folds are of the labelled rows
        X, y, weights = X[y != 0], y[y != 0], None if weights is None else weights[y != 0]
    expected = curve(fit, X, y, 160, 4, 7, weights, **options)
    model = fit(
        X,
        y,
        n_rounds=160,
        early_stopping_rounds=20,
        n_folds=4,
        random_state=7,
        sample_weight=weights,
        **options,
    )
    assert (model.status, model.converged) == ("early_stopping", True)
    found = model.history["fold_auc"]
    np.testing.assert_allclose(found, expected.mean(axis=0)[: found.size], rtol=0, atol=AUC_TOL)
    n = chosen_by(expected, 20)
    assert 1 <= n < 160, "the case must stop early"
    plain = fit(X, y, n_rounds=n, sample_weight=weights, **options)
    assert model.n_iter == n
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)
    assert model.threshold == plain.threshold


def test_labels_that_the_fit_leaves_out_change_no_fold(data):
    X, y = data
    options = {"early_stopping_rounds": 10, "random_state": 3}
    assert_same_stumps(
        fastpu.baselines.fit_rankboost_auc(X, y, **options),
        fastpu.baselines.fit_rankboost_auc(X[y != 0], y[y != 0], **options),
    )
    kept = y != -1
    without = fastpu.baselines.fit_pnu_adaboost(X, y, gamma=0.0, **options)
    assert_same_stumps(without, fastpu.baselines.fit_pnu_adaboost(X[kept], y[kept], gamma=0.0, **options))
    weights = kept.astype(float)
    absent = fastpu.fit_pnu_auc_boost(X, y, sample_weight=weights, **options)
    assert_same_stumps(absent, fastpu.fit_pnu_auc_boost(X[kept], y[kept], **options))


@each_fit
def test_the_form_of_the_rows_and_the_threads_change_nothing(fit, data):
    X, y = data
    options = {"n_rounds": 400, "early_stopping_rounds": 8, "random_state": 5, "max_bins": 30}
    expected = fit(X, y, n_threads=1, **options)
    for rows, n_threads in ((X, 3), (to_csr(X), 2)):
        other = fit(rows, y, n_threads=n_threads, **options)
        assert_same_stumps(other, expected)
        np.testing.assert_allclose(other.history["fold_auc"], expected.history["fold_auc"], rtol=0, atol=AUC_TOL)
    assert model_bits(fit(X, y, n_threads=3, **options)) == model_bits(expected)
    assert model_bits(fit(X, y, **{**options, "random_state": np.random.default_rng(5)})) == model_bits(expected)
    del options["max_bins"]
    bins = fastpu.bin_features(X, max_bins=30)
    binned = fit(bins, y, n_threads=2, **options)
    assert binned.status == "early_stopping"
    ends = {"but": ("status", "converged", "history")}
    assert model_bits(binned, **ends) == model_bits(fit(bins, y, n_rounds=binned.n_iter), **ends)


def test_unlabelled_and_negative_rows_alone_are_judged_too(data):
    X, y = data
    kept = y != 1
    model = fastpu.fit_pnu_auc_boost(X[kept], y[kept], early_stopping_rounds=10, random_state=0)
    positive = np.where(y[kept] == 0, 1, -1)
    same = fastpu.fit_pnu_auc_boost(X[kept], positive, n_rounds=model.n_iter)
    assert_same_stumps(model, same)
    assert model.history["fold_auc"].max() > 0.5


def test_folds_that_want_more_rounds_get_them(data):
    """They begin with four times the patience; where that is not enough the result is as if they had gone on."""
    X, y = data
    short = fastpu.fit_pnu_auc_boost(X, y, n_rounds=40, rho=0.0, early_stopping_rounds=2, n_folds=3, random_state=1)
    n_run = short.history["fold_auc"].size
    expected = curve(fastpu.fit_pnu_auc_boost, X, y, n_run, 3, 1, rho=0.0)
    np.testing.assert_allclose(short.history["fold_auc"], expected.mean(axis=0), rtol=0, atol=AUC_TOL)
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.5
    Z = rng.normal(size=(3000, 12)) + 0.4 * truth[:, None]  # an AUC that rises for tens of rounds
    slow = fastpu.fit_pnu_auc_boost(
        Z, np.where(truth, 1, -1), n_rounds=500, early_stopping_rounds=6, n_folds=2, random_state=0, max_bins=64
    )
    assert slow.history["fold_auc"].size > 24
    assert slow.history["fold_auc"].size % 24 == 0
    assert slow.status == "early_stopping"


@each_fit
def test_rounds_that_run_out_in_the_folds_are_reported(fit, data):
    X, y = data
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="all 4 rounds before early stopping ended the fit"
    ) as caught:
        model = fit(X, y, n_rounds=4, early_stopping_rounds=50, random_state=0)
    (message,) = [str(warning.message) for warning in caught]
    auc = model.history["fold_auc"]
    best = int(auc.argmax()) + 1
    assert f"the best AUC of 5 folds so far, {auc.max():.4g}, is that of round {best}" in message
    assert (model.status, model.converged, auc.size) == ("n_rounds", False, 4)


def test_folds_that_all_end_by_themselves_are_enough():
    """One stump separates the groups in every fold: no round could follow."""
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 20, -1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fastpu.fit_pnu_auc_boost(X, y, early_stopping_rounds=50, random_state=0)
    assert (model.n_iter, model.converged) == (1, True)
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="empty"):
        nothing = fastpu.fit_pnu_auc_boost(np.zeros((40, 1)), y, early_stopping_rounds=50, random_state=0)
    assert nothing.n_iter == 0


def test_a_group_of_one_row_needs_an_eval_set():
    X, y = np.arange(9.0)[:, None], np.array([1, 0, 0, 0, 0, -1, -1, -1, -1])
    with pytest.raises(ValueError, match=r"early_stopping_rounds without an eval_set.*one labelled positive row"):
        fastpu.fit_pnu_auc_boost(X, y, early_stopping_rounds=5)
    y[1] = 1
    model = fastpu.fit_pnu_auc_boost(X, y, early_stopping_rounds=5, random_state=0)
    assert model.params["n_folds"] == 2


def test_weights_of_any_size_judge_alike(data):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.5, 2.0, y.size)
    options = {"early_stopping_rounds": 10, "random_state": 0}
    plain = fastpu.fit_pnu_auc_boost(X, y, sample_weight=weights, **options)
    for scale in (2.0**-900, 2.0**900):
        scaled = fastpu.fit_pnu_auc_boost(X, y, sample_weight=weights * scale, **options)
        np.testing.assert_array_equal(scaled.history["fold_auc"], plain.history["fold_auc"])


def test_callbacks_hear_of_the_last_fit_alone(data):
    X, y = data
    heard = []
    model = fastpu.fit_pnu_auc_boost(X, y, early_stopping_rounds=10, random_state=0, callback=heard.append)
    assert [info.round for info in heard] == list(range(1, model.n_iter + 1))
    assert {info.n_rounds for info in heard} == {model.n_iter}
    assert {info.eval_auc for info in heard} == {None}
