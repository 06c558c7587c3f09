"""LightGBM, XGBoost and CatBoost train with the objectives; each test is skipped where its library is absent."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from fastpu import metrics, objectives
from oracles import tree_loss as oracle

PRIOR = 0.3
OPTIONS = {"pnu_auc": {}, "logistic": {}, "upu": {"prior": PRIOR}}
#: Gradients that differ by 1e-10 are mostly the same in float32; a last bit of it moves a leaf by 1e-7.
SCORE_TOL = 1e-5
LIGHTGBM = {"num_leaves": 6, "num_threads": 1, "verbosity": -1, "metric": "None", "seed": 0}
XGBOOST = {"max_depth": 3, "nthread": 1, "base_score": 0, "disable_default_eval_metric": True}
N_ROUNDS = 8

each_loss = pytest.mark.parametrize("loss", OPTIONS)


def make(loss: str, y=None):
    return getattr(objectives, loss)(y, **OPTIONS[loss])


def rows(loss: str, n: int = 600, *, seed: int = 0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    X = rng.normal(size=(n, 4)) + 1.0 * truth[:, None] * np.array([1.0, 0.5, 0.0, 0.0])
    y = np.where(truth & (rng.random(n) < 0.4), 1, 0)
    if loss == "pnu_auc":
        y = np.where(~truth & (rng.random(n) < 0.2), -1, y)
    return X, y, truth, rng.integers(1, 4, size=n) * 0.5


def slowly(loss: str, y, weights):
    """The same objective from the oracle, in the form of the libraries' own interfaces."""
    return lambda scores, _: oracle.derivatives(
        loss, y, np.asarray(scores, dtype=np.float64), weights, gamma=0.5, prior=PRIOR
    )


# ---- LightGBM and XGBoost ----

each_library = pytest.mark.parametrize("library", ["lightgbm", "xgboost"])


def trained(library: str, objective, X, y, weights):
    """The scores of a model of the library's own training function."""
    package = pytest.importorskip(library)
    if library == "lightgbm":
        data = package.Dataset(X, y, weight=weights)
        return package.train({**LIGHTGBM, "objective": objective}, data, N_ROUNDS).predict(X)
    data = package.DMatrix(X, y, weight=weights)
    return package.train(XGBOOST, data, N_ROUNDS, obj=objective).predict(data)


@each_library
@each_loss
def test_training_is_that_with_the_oracle(loss, library):
    X, y, truth, weights = rows(loss)
    found = trained(library, make(loss, y), X, y, weights)
    expected = trained(library, slowly(loss, y, weights), X, y, weights)
    np.testing.assert_allclose(found, expected, rtol=SCORE_TOL, atol=SCORE_TOL)
    assert metrics.auc(truth, found) > 0.7


def test_lightgbm_stops_early_by_the_metric_of_other_rows():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, *_ = rows("logistic")
    other_X, other_y, *_ = rows("logistic", seed=1)
    objective = make("logistic", y)
    model = lightgbm.train(
        {**LIGHTGBM, "objective": objective, "early_stopping_round": 3},
        lightgbm.Dataset(X, y),
        200,
        valid_sets=[lightgbm.Dataset(other_X, other_y)],
        feval=objective.metric,
    )
    assert model.best_iteration < 197
    best = model.predict(other_X, num_iteration=model.best_iteration)
    assert model.best_score["valid_0"]["auc"] == pytest.approx(metrics.auc(other_y, best), abs=1e-12)


@each_loss
def test_lightgbm_s_regressor_hands_over_weights(loss):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, _, weights = rows(loss)
    options = {"n_estimators": N_ROUNDS, "num_leaves": 6, "n_jobs": 1, "verbosity": -1}
    model = lightgbm.LGBMRegressor(objective=make(loss, y), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer releases have two other arguments for eval_set
        model.fit(X, y, sample_weight=weights, eval_set=[(X[::2], y[::2])], eval_metric=make(loss).metric)
    expected = trained("lightgbm", slowly(loss, y, weights), X, y, weights)
    np.testing.assert_allclose(model.predict(X), expected, rtol=SCORE_TOL, atol=SCORE_TOL)
    assert model.evals_result_["valid_0"]["auc"][-1] == pytest.approx(
        make(loss).metric(y[::2], model.predict(X[::2]))[1], abs=1e-12
    )


def test_a_grid_search_takes_the_labels_of_every_training_set():
    lightgbm = pytest.importorskip("lightgbm")
    selection = pytest.importorskip("sklearn.model_selection")
    X, y, *_ = rows("logistic")
    machine = lightgbm.LGBMRegressor(objective=make("logistic"), n_estimators=5, n_jobs=1, verbosity=-1)

    def score(model, X, y):
        return metrics.auc(y, model.predict(X))

    search = selection.GridSearchCV(machine, {"num_leaves": [4, 8]}, scoring=score, cv=2).fit(X, y)
    assert search.best_score_ > 0.6
    bound = lightgbm.LGBMRegressor(objective=make("logistic", y), n_estimators=5, n_jobs=1, verbosity=-1)
    with pytest.raises(ValueError, match="must be called for 600 rows, got 300; leave y out"):
        bound.fit(X[::2], y[::2])


def test_xgboost_stops_early_by_the_metric_of_other_rows():
    xgboost = pytest.importorskip("xgboost")
    X, y, *_ = rows("logistic")
    other_X, other_y, *_ = rows("logistic", seed=1)
    objective = make("logistic", y)
    other = xgboost.DMatrix(other_X, other_y)
    model = xgboost.train(
        XGBOOST,
        xgboost.DMatrix(X, y),
        200,
        obj=objective,
        custom_metric=objective.metric,
        evals=[(other, "other")],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    assert model.best_iteration < 196
    best = model.predict(other, iteration_range=(0, model.best_iteration + 1))
    assert model.best_score == pytest.approx(metrics.auc(other_y, best), abs=1e-6)  # XGBoost prints and reads it


@each_loss
def test_xgboost_s_regressor_hands_over_weights(loss):
    xgboost = pytest.importorskip("xgboost")
    X, y, _, weights = rows(loss)
    options = {"n_estimators": N_ROUNDS, "max_depth": 3, "n_jobs": 1, "base_score": 0}
    model = xgboost.XGBRegressor(objective=make(loss, y), **options).fit(X, y, sample_weight=weights)
    expected = trained("xgboost", slowly(loss, y, weights), X, y, weights)
    np.testing.assert_allclose(model.predict(X), expected, rtol=SCORE_TOL, atol=SCORE_TOL)


# ---- CatBoost ----


@pytest.mark.parametrize("loss", ["logistic", "upu"])
def test_catboost_trains_as_with_the_oracle(loss):
    catboost = pytest.importorskip("catboost")
    X, y, truth, _ = rows(loss, n=2500)  # more than CatBoost shows at a time

    class Slowly:
        no_jit = True

        def calc_ders_range(self, approxes, targets, weights):
            is_positive, share = np.asarray(targets) > 0, oracle.sigmoid(np.asarray(approxes))
            n = np.where(is_positive, len(y) / np.sum(y == 1), len(y) / np.sum(y == 0))
            g, h = n * (share - is_positive), n * share * (1 - share)
            if loss == "upu":
                g, h = np.where(is_positive, -PRIOR * n, g), np.where(is_positive, 0, h)
            return -np.column_stack([g, h])

    def scores(objective):
        model = catboost.CatBoostRegressor(
            loss_function=objective,
            eval_metric="AUC",
            iterations=N_ROUNDS,
            learning_rate=0.3,
            depth=3,
            random_seed=0,
            thread_count=1,
            verbose=0,
            allow_writing_files=False,
        )
        return model.fit(X, y).predict(X)

    found = scores(make(loss, y))
    np.testing.assert_allclose(found, scores(Slowly()), rtol=SCORE_TOL, atol=SCORE_TOL)
    assert metrics.auc(truth, found) > 0.7
