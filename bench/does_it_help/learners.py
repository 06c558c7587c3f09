"""The learners: each sees the rows to fit and which of them are labelled, and scores the rows to test on.

A method of this library, of pulearn, and a classifier "as shipped" keeps its defaults; where its name says more, that
is all that was set. "Set for PU" is what an expert would choose before having seen the data. None looks at the classes,
but for "all labels known". Trees of this library and of LightGBM take categories and missing entries as they are; all
others get numbers (`Problem.Z`).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import rivals
from lightgbm import LGBMClassifier
from pulearn import BaggingPuClassifier, ElkanotoPuClassifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import fastpu
from fastpu.estimators import PUBaggingClassifier, SARClassifier, TwoStepClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from problems import Problem

NOT_AT_RANDOM = "SARClassifier, logistic"
ORACLE = "all labels known"
#: The forest with a default of before: the rule for bags in place of this number was chosen by these tables.
BEFORE = "fit_forest, bag_ratio=2"
#: Who is not compared with the others.
ASIDE = (ORACLE, NOT_AT_RANDOM, BEFORE)
CATBOOST = "CatBoost, as shipped"
TUNED = ("CatBoost, tuned", "LightGBM, tuned")  # fitted 61 times each
TUNED_WITH = (5.0, 20.0)  # labels: one cannot be cut into folds, and the pages ask about few
#: The slowest learners run on the first split alone, but for CatBoost as shipped on tables.
SLOWEST = (CATBOOST, *TUNED)
#: Extra trees, which are the strongest rival, and learners that take less than a tenth of a second for most tables.
FAST = (
    *("fit_forest", "fit_boosted_trees, 20 bags", "fit_bagging_svm, rbf", "fit_isvm", "extra trees, set for PU"),
    *("logistic regression, as shipped", "logistic regression, set for PU, C = .1"),
    *("LightGBM, as shipped", "LightGBM, set for PU"),
)
#: Left out from so many rows on, where a fit takes many minutes.
SLOW = ("fit_bsvm, rbf", "pulearn, bagged trees", ORACLE)
MANY_ROWS = 150_000


@dataclass(frozen=True)
class Outcome:
    """How the rows were ranked, and what it cost; `flaw` says why there is no ranking.

    Attributes
    ----------
    auc, ap : area under the ROC curve, average precision.
    top : precision among as many rows as there are positive ones.
    seconds : of one processor, to fit and to score.
    """

    auc: float = np.nan
    ap: float = np.nan
    top: float = np.nan
    seconds: float = np.nan
    flaw: str = ""


@dataclass(frozen=True)
class Learner:
    """Scores of the rows to test on, and what was set."""

    scores: Callable[[Problem, int], NDArray[np.float64]]
    about: str
    ours: bool = False


def judge(learner: Learner, problem: Problem, seed: int) -> Outcome:
    """Fit, score the rows to test on, and compare with their classes."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = np.asarray(learner.scores(problem, seed), dtype=np.float64)
    except Exception as error:  # noqa: BLE001 - what a learner does not take is part of the result
        return Outcome(flaw=f"{type(error).__name__}: {str(error).splitlines()[0][:120]}")
    seconds = time.process_time() - start
    truth = problem.truth_test
    # Rows with the same score come in a random order, as they would be looked at.
    order = np.lexsort([np.random.default_rng(seed).random(truth.size), -scores])
    return Outcome(
        float(roc_auc_score(truth, scores)),
        float(average_precision_score(truth, scores)),
        float(truth[order[: truth.sum()]].mean()),
        seconds,
    )


def fastpu_scores(fit: str, *, numbers: bool = False, **options: Any) -> Callable[[Problem, int], NDArray[np.float64]]:
    def learn(problem: Problem, seed: int) -> NDArray[np.float64]:
        X, X_test = (problem.Z, problem.Z_test) if numbers else (problem.X, problem.X_test)
        drawn = {} if fit in ("fit_isvm", "fit_bsvm") else {"random_state": seed}
        model = getattr(fastpu, fit)(X, problem.is_labelled, n_threads=1, **drawn, **options)
        return model.decision_function(X_test, n_threads=1)

    return learn


def _biased_svm(problem: Problem, seed: int) -> NDArray[np.float64]:
    n_pos = int(problem.is_labelled.sum())
    costs = {"C_pos": (problem.is_labelled.size - n_pos) / n_pos, "C_unl": 1.0}
    return fastpu_scores("fit_bsvm", numbers=True, kernel="rbf", **costs)(problem, seed)


def _nnpu(problem: Problem, seed: int) -> NDArray[np.float64]:
    estimate = fastpu.priors.bbe(problem.Z, problem.is_labelled, random_state=seed)
    prior = min(max(estimate.value, 0.01), 0.99)
    return fastpu_scores("fit_nnpu", numbers=True, prior=prior)(problem, seed)


def _around(make: Callable[[int], Any]) -> Callable[[Problem, int], NDArray[np.float64]]:
    def learn(problem: Problem, seed: int) -> NDArray[np.float64]:
        return make(seed).fit(problem.Z, problem.is_labelled).decision_function(problem.Z_test)

    return learn


def _sar(problem: Problem, seed: int) -> NDArray[np.float64]:
    column = list(problem.X.columns).index(problem.labelled_by)  # these tables have numbers alone, so Z has its order
    model = SARClassifier(_logistic(seed), propensity_columns=column).fit(problem.Z, problem.is_labelled)
    return model.predict_proba(problem.Z_test)[:, 1]


def _as_negatives(make: Callable[[int], Any], *, numbers: bool = True) -> Callable[[Problem, int], NDArray[np.float64]]:
    def learn(problem: Problem, seed: int) -> NDArray[np.float64]:
        X, X_test = (problem.Z, problem.Z_test) if numbers else (problem.X, problem.X_test)
        return make(seed).fit(X, problem.is_labelled).predict_proba(X_test)[:, 1]

    return learn


def _pulearn_bagging(problem: Problem, seed: int) -> NDArray[np.float64]:
    n_pos = int(problem.is_labelled.sum())
    model = BaggingPuClassifier(DecisionTreeClassifier(), n_estimators=100, max_samples=n_pos, random_state=seed)
    model.fit(problem.Z, problem.is_labelled.astype(int))
    return np.asarray(model.predict_proba(problem.Z_test))[:, 1]


def _pulearn_elkan_noto(problem: Problem, seed: int) -> NDArray[np.float64]:
    model = ElkanotoPuClassifier(RandomForestClassifier(random_state=seed), hold_out_ratio=0.2, random_state=seed)
    model.fit(problem.Z, problem.is_labelled.astype(int))
    scores = np.asarray(model.predict_proba(problem.Z_test))
    return scores[:, 1] if scores.ndim == 2 else scores


def _oracle(problem: Problem, seed: int) -> NDArray[np.float64]:
    learners = [_logistic(seed), _extra_trees(seed), LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed)]
    aucs = [cross_val_score(each, problem.Z, problem.truth, scoring="roc_auc", cv=3).mean() for each in learners]
    best = learners[int(np.argmax(aucs))].fit(problem.Z, problem.truth)
    return best.predict_proba(problem.Z_test)[:, 1]


def _logistic(_: int, **options: Any) -> Any:
    return LogisticRegression(max_iter=1000, **options)


def _lightgbm(seed: int, **options: Any) -> Any:
    return LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed, **options)


def _extra_trees(seed: int) -> Any:
    return ExtraTreesClassifier(
        300, min_samples_leaf=5, class_weight="balanced", bootstrap=True, n_jobs=1, random_state=seed
    )


def _random_forest(seed: int) -> Any:
    return RandomForestClassifier(300, min_samples_leaf=5, class_weight="balanced", n_jobs=1, random_state=seed)


_SHIPPED, _SET = "as shipped", "set for PU"
LEARNERS = {
    "fit_forest": Learner(fastpu_scores("fit_forest"), "defaults", True),
    "fit_boosted_trees": Learner(fastpu_scores("fit_boosted_trees"), "defaults", True),
    "fit_boosted_trees, 20 bags": Learner(fastpu_scores("fit_boosted_trees", n_bags=20), "n_bags=20", True),
    "fit_bagging_svm, rbf": Learner(fastpu_scores("fit_bagging_svm", numbers=True, kernel="rbf"), 'kernel="rbf"', True),
    "fit_bagging_svm, linear": Learner(
        fastpu_scores("fit_bagging_svm", numbers=True, kernel="linear"), 'kernel="linear"', True
    ),
    "fit_isvm": Learner(fastpu_scores("fit_isvm", numbers=True), "defaults", True),
    "fit_bsvm, rbf": Learner(_biased_svm, 'kernel="rbf", C_pos = n_unl / n_pos, C_unl = 1', True),
    "fit_nnpu": Learner(_nnpu, "the prior by fastpu.priors.bbe, in [.01, .99]", True),
    "PU bags of logistic regression": Learner(
        _around(lambda seed: PUBaggingClassifier(_logistic(seed), random_state=seed)),
        "PUBaggingClassifier around LogisticRegression(max_iter=1000)",
        True,
    ),
    "TwoStepClassifier, logistic": Learner(
        _around(lambda seed: TwoStepClassifier(_logistic(seed), random_state=seed)),
        "around LogisticRegression(max_iter=1000)",
        True,
    ),
    NOT_AT_RANDOM: Learner(_sar, "around the same; told the column that decides who is labelled", True),
    f"logistic regression, {_SHIPPED}": Learner(_as_negatives(_logistic), "max_iter=1000"),
    f"logistic regression, {_SET}, C = 1": Learner(
        _as_negatives(lambda seed: _logistic(seed, class_weight="balanced")), 'class_weight="balanced"'
    ),
    f"logistic regression, {_SET}, C = .1": Learner(
        _as_negatives(lambda seed: _logistic(seed, class_weight="balanced", C=0.1)), 'class_weight="balanced", C=0.1'
    ),
    f"LightGBM, {_SHIPPED}": Learner(_as_negatives(_lightgbm, numbers=False), "defaults"),
    f"LightGBM, {_SET}": Learner(
        _as_negatives(lambda seed: _lightgbm(seed, num_leaves=4), numbers=False), "num_leaves=4"
    ),
    f"LightGBM, {_SET}, balanced": Learner(
        _as_negatives(lambda seed: _lightgbm(seed, num_leaves=4, class_weight="balanced"), numbers=False),
        'num_leaves=4, class_weight="balanced"',
    ),
    f"random forest, {_SHIPPED}": Learner(
        _as_negatives(lambda seed: RandomForestClassifier(n_jobs=1, random_state=seed)), "defaults"
    ),
    f"random forest, {_SET}": Learner(
        _as_negatives(_random_forest), 'n_estimators=300, min_samples_leaf=5, class_weight="balanced"'
    ),
    f"extra trees, {_SET}": Learner(
        _as_negatives(_extra_trees), 'n_estimators=300, min_samples_leaf=5, class_weight="balanced", bootstrap=True'
    ),
    "pulearn, bagged trees": Learner(
        _pulearn_bagging, "100 decision trees, max_samples = n_pos as its documentation has it"
    ),
    "pulearn, Elkan-Noto": Learner(_pulearn_elkan_noto, "a random forest, hold_out_ratio=0.2"),
    CATBOOST: Learner(rivals.catboost, "defaults; categories as they are"),
    f"XGBoost, {_SHIPPED}": Learner(rivals.xgboost, "defaults; categories as they are"),
    f"histogram boosting, {_SHIPPED}": Learner(rivals.histogram_boosting, "HistGradientBoostingClassifier, defaults"),
    "LightGBM, 20 PU bags": Learner(
        rivals.bags_of_lightgbm,
        "each of all labelled and as many unlabelled rows, 100 at least; num_leaves=4, min_child_samples=5, balanced",
    ),
    "isolation forest": Learner(rivals.isolation_forest, "defaults; does not look at the labels"),
    TUNED[0]: Learner(rivals.tuned_catboost, rivals.TUNED_CATBOOST),
    TUNED[1]: Learner(rivals.tuned_lightgbm, rivals.TUNED_LIGHTGBM),
    BEFORE: Learner(fastpu_scores("fit_forest", bag_ratio=2.0), "bag_ratio=2.0, the default of before", True),
    ORACLE: Learner(_oracle, "the best by folds of logistic regression, extra trees and LightGBM, on the true classes"),
}
