"""What people reach for besides this library: boosting libraries as shipped and tuned, bags, an isolation forest.

"As shipped" keeps every default. "Tuned" is what an expert does who has an hour: 20 random settings, judged by three
folds of the labelled rows against the unlabelled ones, since no true class is known. Of many rows `MOST_TUNED` are in
these folds, all labelled ones among them; the setting that is chosen is fitted to all rows. Boosting libraries take
categories as they are; bags of LightGBM are too small for its way with categories, so they and the isolation forest get
numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from problems import Problem

    Draw: TypeAlias = Callable[[np.random.Generator], dict[str, Any]]

N_SETTINGS, N_FOLDS, MOST_TUNED = 20, 3, 2_000
#: What the tuned learners draw, in words for the report.
TUNED_CATBOOST = (
    "20 settings on 2,000 rows: depth 2 to 6, 50 to 200 trees, learning rate .02 to .3, l2_leaf_reg 1 to 30, weights"
)
TUNED_LIGHTGBM = (
    "20 settings on 2,000 rows: 3 to 31 leaves of 2 to 50 rows, 50 to 200 trees, learning rate, lambda, shares, weights"
)


def catboost(problem: Problem, seed: int, **options: Any) -> NDArray[np.float64]:
    """Score the rows to test on by CatBoost at its defaults, but for `options`."""
    rows, others = (_with_words(part) for part in (problem.X, problem.X_test))
    return _by_catboost(rows, problem.is_labelled, others, seed, options)


def _by_catboost(
    rows: Any, is_labelled: NDArray[np.bool_], others: Any, seed: int, options: dict[str, Any]
) -> NDArray[np.float64]:
    from catboost import CatBoostClassifier  # noqa: PLC0415 (only where it is wanted)

    words = [name for name in rows.columns if rows[name].dtype == object] if hasattr(rows, "columns") else []
    model = CatBoostClassifier(
        random_state=seed, thread_count=1, verbose=False, allow_writing_files=False, cat_features=words, **options
    )
    scores: NDArray[np.float64] = model.fit(rows, is_labelled.astype(int)).predict_proba(others)[:, 1]
    return scores


def _with_words(X: Any) -> Any:
    """Return a frame whose categories are words, the missing ones too, as CatBoost takes them."""
    if not hasattr(X, "columns"):
        return X
    categories = list(X.columns[X.dtypes == "category"])
    return X.assign(**{name: X[name].astype(object).fillna("missing").astype(object) for name in categories})


def xgboost(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Score by XGBoost at its defaults."""
    from xgboost import XGBClassifier  # noqa: PLC0415 (only where it is wanted)

    model = XGBClassifier(n_jobs=1, random_state=seed, enable_categorical=True)
    scores: NDArray[np.float64] = model.fit(problem.X, problem.is_labelled).predict_proba(problem.X_test)[:, 1]
    return scores


def histogram_boosting(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Score by scikit-learn's histogram gradient boosting at its defaults."""
    model = HistGradientBoostingClassifier(random_state=seed)
    scores: NDArray[np.float64] = model.fit(problem.X, problem.is_labelled).predict_proba(problem.X_test)[:, 1]
    return scores


def isolation_forest(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Score by how unusual a row is; the labels are not looked at."""
    scores: NDArray[np.float64] = (
        -IsolationForest(n_jobs=1, random_state=seed).fit(problem.Z).score_samples(problem.Z_test)
    )
    return scores


def bags_of_lightgbm(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Score by the mean of 20 models, each of all labelled rows and as many unlabelled ones, 100 at least."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415 (only where it is wanted)

    rng = np.random.default_rng(seed)
    labelled, unlabelled = np.flatnonzero(problem.is_labelled), np.flatnonzero(~problem.is_labelled)
    size = min(unlabelled.size, max(100, labelled.size))
    scores = np.zeros(problem.truth_test.size)
    for bag in range(20):
        rows = np.concatenate([labelled, rng.choice(unlabelled, size, replace=False)])
        model = LGBMClassifier(
            num_leaves=4, min_child_samples=5, class_weight="balanced", verbose=-1, n_jobs=1, random_state=bag
        )
        scores += model.fit(problem.Z[rows], problem.is_labelled[rows]).predict_proba(problem.Z_test)[:, 1]
    return scores / 20


def tuned_catboost(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Score by CatBoost with the best of 20 random settings."""
    rows, others = (_with_words(part) for part in (problem.X, problem.X_test))

    def scores(train: Any, is_labelled: NDArray[np.bool_], test: Any, setting: dict[str, Any]) -> NDArray[np.float64]:
        return _by_catboost(train, is_labelled, test, seed, setting)

    best = _best(rows, problem.is_labelled, seed, _catboost_setting, scores)
    return scores(rows, problem.is_labelled, others, best)


def tuned_lightgbm(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Score by LightGBM with the best of 20 random settings."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415 (only where it is wanted)

    def scores(train: Any, is_labelled: NDArray[np.bool_], test: Any, setting: dict[str, Any]) -> NDArray[np.float64]:
        model = LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed, **setting).fit(train, is_labelled)
        chances: NDArray[np.float64] = model.predict_proba(test)[:, 1]
        return chances

    best = _best(problem.X, problem.is_labelled, seed, _lightgbm_setting, scores)
    return scores(problem.X, problem.is_labelled, problem.X_test, best)


def _best(X: Any, is_labelled: NDArray[np.bool_], seed: int, draw: Draw, scores: Callable[..., Any]) -> dict[str, Any]:
    """Return the setting with the largest mean AUC of labelled against unlabelled rows over folds."""
    n_labelled = int(is_labelled.sum())
    n_folds = min(N_FOLDS, n_labelled)
    if n_folds < 2:
        raise ValueError("folds need two labelled rows")
    rng = np.random.default_rng(seed)
    unlabelled = np.flatnonzero(~is_labelled)
    n_unlabelled = max(MOST_TUNED - n_labelled, n_labelled)
    if unlabelled.size > n_unlabelled:
        rows = np.concatenate([np.flatnonzero(is_labelled), rng.choice(unlabelled, n_unlabelled, replace=False)])
        X, is_labelled = (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), is_labelled[rows]
    settings = [draw(rng) for _ in range(N_SETTINGS)]
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(is_labelled, is_labelled))
    parts = [
        [X.iloc[rows] if hasattr(X, "iloc") else X[rows] for rows in fold] for fold in folds
    ]  # fmt: skip
    aucs = [
        np.mean([
            roc_auc_score(is_labelled[test], scores(X_train, is_labelled[train], X_test, setting))
            for (train, test), (X_train, X_test) in zip(folds, parts, strict=True)
        ])
        for setting in settings
    ]  # fmt: skip
    return settings[int(np.argmax(aucs))]


def _catboost_setting(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "depth": int(rng.integers(2, 7)),
        "iterations": int(rng.choice([50, 100, 200])),
        "learning_rate": float(np.exp(rng.uniform(np.log(0.02), np.log(0.3)))),
        "l2_leaf_reg": float(np.exp(rng.uniform(0.0, np.log(30.0)))),
        "auto_class_weights": [None, "Balanced"][rng.integers(2)],
    }


def _lightgbm_setting(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "num_leaves": int(rng.choice([3, 4, 8, 16, 31])),
        "min_child_samples": int(rng.choice([2, 5, 10, 20, 50])),
        "n_estimators": int(rng.choice([50, 100, 200])),
        "learning_rate": float(np.exp(rng.uniform(np.log(0.02), np.log(0.2)))),
        "reg_lambda": float(np.exp(rng.uniform(np.log(0.1), np.log(100.0)))),
        "colsample_bytree": float(rng.uniform(0.5, 1.0)),
        "subsample": float(rng.uniform(0.5, 1.0)),
        "subsample_freq": 1,
        "class_weight": [None, "balanced"][rng.integers(2)],
    }
