"""Every way of docs/objectives.md to call a library, with every objective: fits go on, and rank as well as they can."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fastpu import metrics, objectives

PAGE = Path(__file__).parents[2] / "docs" / "objectives.md"

#: Ways of early stopping on rows that are not trained on reach .87 to .94. A fit that stopped at once has .63 to .81.
LEAST_AUC = 0.86
LEAST_ROUNDS = 10


class Problem(NamedTuple):
    """The rows of the page: 300 of about 1,800 positives are labelled."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    truth_test: np.ndarray
    prior: float


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 6))
    truth = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.5 * rng.normal(size=8000) > 0.8
    y = np.zeros(8000, dtype=int)
    y[rng.choice(np.flatnonzero(truth), 300, replace=False)] = 1
    return Problem(X[:6000], y[:6000], X[6000:], y[6000:], truth[6000:], float(truth[y == 0].mean()))


def lightgbm_train(objective, on):
    lightgbm = pytest.importorskip("lightgbm", reason="what the page is about")
    params = {"objective": objective, "num_leaves": 8, "learning_rate": 0.05, "metric": "None", "verbosity": -1}
    params |= {"early_stopping_round": 30, "num_threads": 1}
    held = lightgbm.Dataset(on.X_test, on.y_test)
    data = lightgbm.Dataset(on.X, on.y)
    model = lightgbm.train(params, data, num_boost_round=500, valid_sets=[held], feval=objective.metric)
    return model.best_iteration, model.predict(on.X_test)


def lightgbm_regressor(objective, on):
    lightgbm = pytest.importorskip("lightgbm", reason="what the page is about")
    options = {"n_estimators": 500, "num_leaves": 8, "learning_rate": 0.05, "early_stopping_round": 30}
    model = lightgbm.LGBMRegressor(objective=objective, metric="None", n_jobs=1, verbosity=-1, **options)
    is_new = "eval_X" in inspect.signature(model.fit).parameters
    held = {"eval_X": on.X_test, "eval_y": on.y_test} if is_new else {"eval_set": [(on.X_test, on.y_test)]}
    model.fit(on.X, on.y, eval_metric=objective.metric, **held)
    return model.best_iteration_, model.predict(on.X_test)


def lightgbm_cv(objective, on):
    lightgbm = pytest.importorskip("lightgbm", reason="what the page is about")
    params = {"objective": objective, "num_leaves": 8, "metric": "None", "verbosity": -1, "num_threads": 1}
    data = lightgbm.Dataset(on.X, on.y)
    found = lightgbm.cv(
        params, data, num_boost_round=40, nfold=3, feval=objective.metric, return_cvbooster=True, seed=0
    )
    scores = np.mean([booster.predict(on.X_test) for booster in found["cvbooster"].boosters], axis=0)
    return len(found["valid auc-mean"]), scores


def xgboost_train(objective, on):
    xgboost = pytest.importorskip("xgboost", reason="what the page is about")
    held = xgboost.DMatrix(on.X_test, on.y_test)
    model = xgboost.train(
        {"max_depth": 3, "eta": 0.1, "base_score": 0, "disable_default_eval_metric": True, "nthread": 1},
        xgboost.DMatrix(on.X, on.y),
        num_boost_round=500,
        obj=objective,
        custom_metric=objective.metric,
        evals=[(held, "other")],
        early_stopping_rounds=30,
        verbose_eval=False,
    )
    return model.best_iteration, model.predict(held)


def xgboost_regressor(objective, on):
    xgboost = pytest.importorskip("xgboost", reason="what the page is about")
    options = {"n_estimators": 500, "max_depth": 3, "learning_rate": 0.1, "early_stopping_rounds": 30, "base_score": 0}
    model = xgboost.XGBRegressor(
        objective=objective, eval_metric=metrics.auc, disable_default_eval_metric=True, n_jobs=1, **options
    )
    model.fit(on.X, on.y, eval_set=[(on.X_test, on.y_test)], verbose=False)
    return model.best_iteration, model.predict(on.X_test)


def catboost_regressor(objective, on):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostRegressor(
        loss_function=objective,
        eval_metric="AUC",
        iterations=200,
        depth=4,
        learning_rate=0.1,
        verbose=0,
        allow_writing_files=False,
        thread_count=1,
    )
    return model.fit(on.X, on.y).tree_count_, model.predict(on.X_test)


#: What the page calls, and whether it is called with an objective that has its rows.
WAYS: dict[str, tuple[Callable[..., Any], bool]] = {
    "lightgbm.train": (lightgbm_train, True),
    "lightgbm.LGBMRegressor": (lightgbm_regressor, True),
    "lightgbm.cv": (lightgbm_cv, False),
    "xgboost.train": (xgboost_train, True),
    "xgboost.XGBRegressor": (xgboost_regressor, True),
    "catboost.CatBoostRegressor": (catboost_regressor, True),
}
LOSSES = ("pnu_auc", "logistic", "upu")
CASES = [(way, loss) for way in WAYS for loss in LOSSES if (way, loss) != ("catboost.CatBoostRegressor", "pnu_auc")]


def test_every_call_of_the_page_is_tried_here():
    text = PAGE.read_text(encoding="utf-8")
    called = set(re.findall(r"\b((?:lightgbm|xgboost|catboost)\.\w+)\(", text)) - {
        "lightgbm.Dataset",
        "xgboost.DMatrix",
    }
    assert called == set(WAYS)
    assert set(re.findall(r"\b\w+Regressor\b", text)) == {way.partition(".")[2] for way in WAYS if "Regressor" in way}
    assert set(re.findall(r"\{name\}`fastpu\.objectives\.(\w+)`", text)) == set(LOSSES)


@pytest.mark.parametrize(("way", "loss"), CASES)
def test_every_way_of_the_page_goes_on_and_ranks_rows(way, loss, problem):
    train, has_rows = WAYS[way]
    options = {"prior": problem.prior} if loss == "upu" else {}
    objective = getattr(objectives, loss)(problem.y if has_rows else None, **options)
    n_rounds, scores = train(objective, problem)
    assert n_rounds >= LEAST_ROUNDS
    assert metrics.auc(problem.truth_test, scores) > LEAST_AUC
