"""The learners: each sees the training rows and which of them are labelled, at its defaults, and scores the test rows.

Nothing here looks at the classes, except for "all labels known". nnPU takes the prior that `fastpu.priors.bbe`
estimates from the same rows. SARClassifier is told the column that decides which positives are labelled, and is left
out where there is none.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from lightgbm import LGBMClassifier
from pulearn import BaggingPuClassifier, ElkanotoPuClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import fastpu
from fastpu.common._methods import function_of
from fastpu.estimators import SARClassifier, TwoStepClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from tasks import Problem

__all__ = ["FASTPU", "LEARNERS", "NOT_AT_RANDOM", "ORACLE", "Outcome", "judge"]

ORACLE = "all labels known"
NOT_AT_RANDOM = "SARClassifier, logistic"
_TOP = 0.01  # share of the test rows that "precision at the top" looks at


@dataclass(frozen=True)
class Outcome:
    """How the test rows were ranked, and what it cost; `flaw` says why there is none."""

    auc: float = np.nan
    ap: float = np.nan
    top: float = np.nan
    seconds: float = np.nan
    flaw: str = ""


def judge(name: str, problem: Problem, seed: int) -> Outcome:
    """Fit, score the test rows, and compare with their classes."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = np.asarray(LEARNERS[name](problem, seed), dtype=np.float64)
    except Exception as error:  # noqa: BLE001 - what a learner does not take is part of the result
        return Outcome(flaw=f"{type(error).__name__}: {str(error).splitlines()[0][:120]}")
    seconds = time.process_time() - start
    truth = problem.truth_test
    # Rows with the same score come in a random order, as they would be looked at.
    order = np.lexsort([np.random.default_rng(seed).random(truth.size), -scores])
    n_top = max(1, round(_TOP * truth.size))
    return Outcome(
        float(roc_auc_score(truth, scores)),
        float(average_precision_score(truth, scores)),
        float(truth[order[:n_top]].mean()),
        seconds,
    )


def _fastpu(fit: str, **options: Any) -> Callable[[Problem, int], NDArray[np.float64]]:
    def learn(problem: Problem, seed: int) -> NDArray[np.float64]:
        model = function_of(fit)(problem.X, problem.is_labelled, random_state=seed, n_threads=1, **options)
        return model.decision_function(problem.X_test, n_threads=1)

    return learn


def _biased_svm(problem: Problem, seed: int) -> NDArray[np.float64]:
    n_pos = int(problem.is_labelled.sum())
    costs = {"C_pos": (problem.is_labelled.size - n_pos) / n_pos, "C_unl": 1.0}
    model = fastpu.fit_bsvm(problem.X, problem.is_labelled, kernel="rbf", n_threads=1, **costs)
    return model.decision_function(problem.X_test, n_threads=1)


def _nnpu(problem: Problem, seed: int) -> NDArray[np.float64]:
    estimate = fastpu.priors.bbe(problem.X, problem.is_labelled, random_state=seed)
    prior = min(max(estimate.value, 0.01), 0.99)
    return _fastpu("fit_nnpu", prior=prior)(problem, seed)


def _two_step(problem: Problem, seed: int) -> NDArray[np.float64]:
    model = TwoStepClassifier(_logistic(seed), random_state=seed).fit(problem.X, problem.is_labelled)
    return model.decision_function(problem.X_test)


def _sar(problem: Problem, seed: int) -> NDArray[np.float64]:
    model = SARClassifier(_logistic(seed), propensity_columns=problem.labelled_by).fit(problem.X, problem.is_labelled)
    return model.predict_proba(problem.X_test)[:, 1]


def _as_negatives(make: Callable[[int], Any]) -> Callable[[Problem, int], NDArray[np.float64]]:
    def learn(problem: Problem, seed: int) -> NDArray[np.float64]:
        model = make(seed).fit(problem.X, problem.is_labelled)
        return model.predict_proba(problem.X_test)[:, 1]

    return learn


def _pulearn_bagging(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Bag as its documentation does: as many unlabelled rows in a bag as there are labelled ones."""
    n_pos = int(problem.is_labelled.sum())
    model = BaggingPuClassifier(DecisionTreeClassifier(), n_estimators=100, max_samples=n_pos, random_state=seed)
    return np.asarray(model.fit(problem.X, problem.is_labelled.astype(int)).predict_proba(problem.X_test))[:, 1]


def _pulearn_elkan_noto(problem: Problem, seed: int) -> NDArray[np.float64]:
    model = ElkanotoPuClassifier(RandomForestClassifier(random_state=seed), hold_out_ratio=0.2, random_state=seed)
    scores = np.asarray(model.fit(problem.X, problem.is_labelled.astype(int)).predict_proba(problem.X_test))
    return scores[:, 1] if scores.ndim == 2 else scores


def _oracle(problem: Problem, seed: int) -> NDArray[np.float64]:
    """Fit the best of three supervised learners, by folds, to the true classes of all training rows."""
    learners = [_logistic(seed), _lightgbm(seed)]
    if isinstance(problem.X, np.ndarray):
        learners.append(SVC(C=10.0))
    aucs = [cross_val_score(each, problem.X, problem.truth, scoring="roc_auc", cv=3).mean() for each in learners]
    best = learners[int(np.argmax(aucs))].fit(problem.X, problem.truth)
    if hasattr(best, "predict_proba"):
        return best.predict_proba(problem.X_test)[:, 1]
    return best.decision_function(problem.X_test)


def _logistic(_: int) -> Any:
    return LogisticRegression(max_iter=1000)


def _lightgbm(seed: int) -> Any:
    return LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed)


#: The learners of this library, by the names that stand in the tables.
FASTPU: dict[str, Callable[[Problem, int], NDArray[np.float64]]] = {
    "fit_forest": _fastpu("fit_forest"),
    "fit_boosted_trees": _fastpu("fit_boosted_trees"),
    "fit_boosted_trees, 20 bags": _fastpu("fit_boosted_trees", n_bags=20, bag_ratio=3.0),
    "fit_bagging_svm, rbf": _fastpu("fit_bagging_svm", kernel="rbf"),
    "fit_bsvm, rbf": _biased_svm,
    "fit_nnpu": _nnpu,
    "TwoStepClassifier, logistic": _two_step,
    NOT_AT_RANDOM: _sar,
}
LEARNERS: dict[str, Callable[[Problem, int], NDArray[np.float64]]] = {
    **FASTPU,
    "logistic regression": _as_negatives(_logistic),
    "LightGBM": _as_negatives(_lightgbm),
    "random forest": _as_negatives(lambda seed: RandomForestClassifier(random_state=seed)),
    "pulearn, bagged trees": _pulearn_bagging,
    "pulearn, Elkan-Noto": _pulearn_elkan_noto,
    ORACLE: _oracle,
}
