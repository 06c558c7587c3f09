"""What a boosted model offers besides its stumps: validation, stages, importances, threshold, prediction."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import ARRAYS, SCORE_TOL, SUM_TOL, each_fit, make_problem, to_csr
from fastpu import metrics
from fastpu.model._threshold import balanced_accuracy_threshold

#: Scores of the validation rows are summed by the core round by round, and by staged_decision_function afterwards.
AUC_TOL = 1e-9

#: A stage is a running sum over rounds; decision_function may add the same terms in another order.
STAGE_TOL = 1e-12


@pytest.fixture(scope="module")
def data():
    """Training and validation rows of one noisy problem, on which the validation AUC peaks early."""
    rng = np.random.default_rng(2)
    problem = make_problem(rng, n=400, d=6, kinds=("normal", "rounded", "missing", "zeros"))
    X_valid, y_valid = problem.X[250:], problem.y[250:]
    labelled = y_valid != 0
    return problem.X[:250], problem.y[:250], X_valid[labelled], y_valid[labelled]


@pytest.mark.parametrize("max_bins", [None, 12, 300])
@each_fit
def test_validation_rows_may_have_any_form(fit, max_bins, data):
    """Their scores are summed in their own type and form, and codes of bins may have one byte or two."""
    X, y, X_valid, y_valid = (part.astype(np.float32) for part in data)
    curve = fit(X, y, n_rounds=20, max_bins=max_bins, eval_set=(X_valid, y_valid)).history["eval_auc"]
    assert len(np.unique(curve)) > 3
    stages = fit(X, y, n_rounds=20, max_bins=max_bins).staged_decision_function(X_valid)
    np.testing.assert_allclose(curve, [metrics.auc(y_valid, stage) for stage in stages], rtol=0, atol=AUC_TOL)
    for rows in (X_valid.astype(np.float64), to_csr(X_valid), to_csr(X_valid.astype(np.float64))):
        other = fit(X, y, n_rounds=20, max_bins=max_bins, eval_set=(rows, y_valid))
        np.testing.assert_array_equal(other.history["eval_auc"], curve)
    if max_bins is not None:
        # All rows are binned together: thresholds that the training rows alone would not have are in this one.
        bins = fastpu.bin_features(np.vstack([X, X_valid]), max_bins=max_bins)
        binned = fit(bins[: len(X)], y, n_rounds=20, eval_set=(bins[len(X) :], y_valid))
        stages = binned.staged_decision_function(X_valid)
        expected = [metrics.auc(y_valid, stage) for stage in stages]
        np.testing.assert_allclose(binned.history["eval_auc"], expected, rtol=0, atol=AUC_TOL)
        raw = fit(bins[: len(X)], y, n_rounds=20, eval_set=(X_valid, y_valid))
        np.testing.assert_allclose(raw.history["eval_auc"], expected, rtol=0, atol=AUC_TOL)


@pytest.mark.parametrize("max_bins", [None, 12])
@pytest.mark.parametrize("patience", [1, 5, 20])
@each_fit
def test_early_stopping_cuts_the_model_at_its_best_round(fit, patience, max_bins, data):
    X, y, X_valid, y_valid = data
    options = {"n_rounds": 200, "max_bins": max_bins}
    full = fit(X, y, eval_set=(X_valid, y_valid), **options)
    curve = np.asarray(full.history["eval_auc"])
    best = stop = 0
    for t, value in enumerate(curve):
        if value > curve[best]:
            best = t
        stop = t
        if t - best >= patience:
            break
    model = fit(X, y, eval_set=(X_valid, y_valid), early_stopping_rounds=patience, **options)
    assert model.n_iter == best + 1
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(model, name), getattr(full, name)[: best + 1], err_msg=name)
    assert stop < len(curve) - 1, "the case must stop early"
    assert (model.status, model.converged) == ("early_stopping", True)
    assert abs(metrics.auc(y_valid, model.decision_function(X_valid)) - curve[best]) <= AUC_TOL


@each_fit
def test_early_stopping_keeps_the_best_rounds_however_the_fit_ends(fit, data):
    """Rounds that ran out, or a callback, end the fit before the patience does."""
    X, y, X_valid, y_valid = data
    options = {"eval_set": (X_valid, y_valid), "early_stopping_rounds": 500}
    curve = fit(X, y, n_rounds=60, eval_set=(X_valid, y_valid)).history["eval_auc"]
    best = int(np.argmax(curve)) + 1
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="early stopping"):
        ran_out = fit(X, y, n_rounds=60, **options)
    assert (ran_out.n_iter, ran_out.status, len(ran_out.history["eval_auc"])) == (best, "n_rounds", 60)
    called = fit(X, y, n_rounds=900, callback=lambda info: info.round == 60, **options)
    assert (called.n_iter, called.status, len(called.history["eval_auc"])) == (best, "callback", 60)


def test_validation_compares_positives_with_negatives_or_else_with_unlabeled_rows(data):
    X, y, _, _ = data
    curve = fastpu.fit_pnu_auc_boost(X, y, n_rounds=10, eval_set=(X, y)).history["eval_auc"]
    labelled = y != 0
    np.testing.assert_allclose(
        curve,
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=10, eval_set=(X[labelled], y[labelled])).history["eval_auc"],
        rtol=0,
        atol=AUC_TOL,
    )
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=10, eval_set=(X[y != -1], y[y != -1]))
    expected = [metrics.auc(y[y != -1], stage) for stage in model.staged_decision_function(X[y != -1])]
    np.testing.assert_allclose(model.history["eval_auc"], expected, rtol=0, atol=AUC_TOL)


@each_fit
def test_a_stage_is_the_model_of_fewer_rounds(fit, data):
    X, y, X_valid, _ = data
    for rows in (X_valid, to_csr(X_valid)):
        stages = [np.array(stage) for stage in fit(X, y, n_rounds=12).staged_decision_function(rows)]
        for n_rounds in (1, 5, 12):
            scores = fit(X, y, n_rounds=n_rounds).decision_function(rows)
            np.testing.assert_allclose(scores, stages[n_rounds - 1], rtol=0, atol=STAGE_TOL * 100)


@each_fit
def test_importances_are_shares_of_the_features(fit, data):
    X, y, _, _ = data
    X = np.column_stack([X, np.zeros(len(X))])
    model = fit(X, y, n_rounds=60)
    importances = np.asarray(model.feature_importances)
    gains = -np.diff(model.objective, prepend=0.0)
    expected = np.bincount(model.features, weights=gains, minlength=X.shape[1]) / gains.sum()
    np.testing.assert_allclose(importances, expected, rtol=0, atol=SUM_TOL)
    assert importances.shape == (X.shape[1],)
    assert abs(importances.sum() - 1) < SUM_TOL
    assert np.all(importances >= 0)
    np.testing.assert_array_equal(importances > 0, np.isin(np.arange(X.shape[1]), model.features))


@each_fit
def test_one_entry_a_round(fit, data):
    X, y, X_valid, y_valid = data
    model = fit(X, y, n_rounds=7)
    assert set(model.history) == {"delta", "alpha", "z", "objective"}
    early = fit(X, y, n_rounds=200, eval_set=(X_valid, y_valid), early_stopping_rounds=3)
    assert set(early.history) == {"delta", "alpha", "z", "objective", "eval_auc"}
    for fitted, n_run in ((model, 7), (early, early.n_iter + 3)):
        for name in ARRAYS:
            assert len(getattr(fitted, name)) == fitted.n_iter, name
        for name, values in fitted.history.items():
            assert len(values) == n_run, name
        for name, field in (("delta", "deltas"), ("alpha", "alphas"), ("z", "z"), ("objective", "objective")):
            np.testing.assert_array_equal(fitted.history[name][: fitted.n_iter], getattr(fitted, field))


def groups_for_threshold(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that should score above the threshold, and below it: P and N, or P and U, or U and N."""
    if np.any(y == 1) and np.any(y == -1):
        return y == 1, y == -1
    return (y == 1, y == 0) if np.any(y == 1) else (y == 0, y == -1)


@pytest.mark.parametrize("weighted", [None, "whole", "real"])
@pytest.mark.parametrize("groups", ["PNU", "PU", "PN", "UN"])
def test_the_threshold_maximises_balanced_accuracy(groups, weighted):
    problem = make_problem(np.random.default_rng(31), n=300, d=4, groups=groups, weighted=weighted)
    model = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=30, sample_weight=problem.weights)
    scores = model.decision_function(problem.X)
    weights = np.ones(300) if problem.weights is None else problem.weights
    high, low = groups_for_threshold(problem.y)
    expected = balanced_accuracy_threshold(scores[high], scores[low], weights[high], weights[low])
    assert abs(model.threshold - expected) <= SCORE_TOL * max(1, abs(expected))
