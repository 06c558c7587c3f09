"""The learners that forests are compared with: each takes rows and which of them are labelled, and scores others."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Scorer = Callable[[Any], NDArray[np.float64]]
    Learner = Callable[[Any, NDArray[np.bool_], float, int, int], Scorer]

__all__ = ["LEARNERS", "OURS", "forest_variant", "loop_of_trees"]

OURS = "fit_forest"
_N_TREES, _BAG_RATIO, _MIN_LEAF_ROWS = 500, 3, 3


def loop_of_trees(
    X: Any, is_labelled: NDArray[np.bool_], *, n_trees: int, n_jobs: int, seed: int
) -> Callable[[Any], NDArray[np.float64]]:
    """Fit scikit-learn's extra trees to the bags of `fit_forest`, in a loop, and return what scores rows."""
    from joblib import Parallel, delayed  # noqa: PLC0415 (only where it is wanted)
    from sklearn.tree import ExtraTreeClassifier  # noqa: PLC0415 (only where it is wanted)

    rows = np.ascontiguousarray(X, dtype=np.float32)
    positives, unlabelled = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
    n_unl = min(unlabelled.size, _BAG_RATIO * positives.size)
    labels = np.repeat([1, 0], [positives.size, n_unl])

    def grow(tree: int) -> Any:
        rng = np.random.default_rng([seed, tree])
        drawn = [rng.choice(positives, positives.size), rng.choice(unlabelled, n_unl, replace=False)]
        grown = ExtraTreeClassifier(
            min_samples_leaf=_MIN_LEAF_ROWS, class_weight="balanced", random_state=int(rng.integers(2**31))
        )
        return grown.fit(rows[np.concatenate(drawn)], labels)

    trees = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(grow)(tree) for tree in range(n_trees))

    def score(other: Any) -> NDArray[np.float64]:
        single = np.ascontiguousarray(other, dtype=np.float32)
        return np.mean([tree.predict_proba(single)[:, 1] for tree in trees], axis=0)

    return score


def forest_variant(**options: Any) -> Learner:
    """Return `fit_forest` with some options as a learner; the prior is the true one where it is needed."""

    def learn(X: Any, is_labelled: NDArray[np.bool_], prior: float, n_threads: int, seed: int) -> Scorer:
        needed = {"prior": prior} if options.get("criterion", "gini") != "gini" else {}
        model = fastpu.fit_forest(X, is_labelled, n_threads=n_threads, random_state=seed, **needed, **options)
        return lambda other: model.decision_function(other, n_threads=n_threads)

    return learn


def _fastpu(name: str, **options: Any) -> Learner:
    def learn(X: Any, is_labelled: NDArray[np.bool_], _: float, n_threads: int, seed: int) -> Scorer:
        random = {"random_state": seed}
        model = getattr(fastpu, name)(X, is_labelled, n_threads=n_threads, **random, **options)
        return lambda other: model.decision_function(other, n_threads=n_threads)

    return learn


def _loop(X: Any, is_labelled: NDArray[np.bool_], _: float, n_threads: int, seed: int) -> Scorer:
    return loop_of_trees(X, is_labelled, n_trees=_N_TREES, n_jobs=n_threads, seed=seed)


def _lightgbm(**options: Any) -> Learner:
    def learn(X: Any, is_labelled: NDArray[np.bool_], _: float, n_threads: int, seed: int) -> Scorer:
        import lightgbm  # noqa: PLC0415 (only where it is wanted)

        model = lightgbm.LGBMClassifier(verbose=-1, n_jobs=n_threads, random_state=seed, **options)
        model.fit(X, is_labelled)
        return lambda other: model.predict(other, raw_score=True)

    return learn


def _random_forest(X: Any, is_labelled: NDArray[np.bool_], _: float, n_threads: int, seed: int) -> Scorer:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 (only where it is wanted)

    model = RandomForestClassifier(n_jobs=n_threads, random_state=seed).fit(X, is_labelled)
    return lambda other: model.predict_proba(other)[:, 1]


def _logistic(X: Any, is_labelled: NDArray[np.bool_], _: float, n_threads: int, seed: int) -> Scorer:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (only where it is wanted)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(max_iter=1000).fit(X, is_labelled)
    scorer: Scorer = model.decision_function
    return scorer


#: The learners of the quality table by the names that stand in it.
LEARNERS: dict[str, Learner] = {
    OURS: forest_variant(),
    "fit_forest, nnpu": forest_variant(criterion="nnpu"),
    "loop over ExtraTreeClassifier": _loop,
    "LightGBM": _lightgbm(),
    "LightGBM, 8 leaves, rate .05": _lightgbm(num_leaves=8, learning_rate=0.05),
    "random forest": _random_forest,
    "logistic regression": _logistic,
    "fit_pnu_auc_boost": _fastpu("fit_pnu_auc_boost"),
    "fit_bagging_svm": _fastpu("fit_bagging_svm"),
}
