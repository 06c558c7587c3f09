"""One fit at the defaults, judged on test rows, in a process of its own that can be ended."""

from __future__ import annotations

import inspect
import multiprocessing
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from shared import standardised
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fastpu
import fastpu.estimators
from fastpu.common._methods import DECLARED, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared import Problem

BASELINE = "logistic regression"
#: What the choice of a kernel does to a default: beside every function as it is.
VARIANTS = {
    "fit_bagging_svm rbf": {"kernel": "rbf"},
    "fit_bls_svm rbf": {"kernel": "rbf"},
    "fit_boosted_trees 20 bags": {"n_bags": 20, "bag_ratio": 3.0},
    "fit_bsvm rbf": {"kernel": "rbf"},
    "fit_ls_auc gauss": {"model": "gauss"},
}
#: Classes around the classifier of a user's, here the logistic regression that is the baseline.
AROUND = (
    "ElkanNotoClassifier",
    "PUBaggingClassifier",
    "SARClassifier",
    "TwoStepClassifier",
    "WeightedUnlabeledClassifier",
)
METHODS = (BASELINE, *sorted([*DECLARED, *VARIANTS]), *AROUND)
#: What a method gets that wants labelled negatives as well: as many as there are labelled positives.
_WITH_NEGATIVES = ("fit_pnu_auc", "fit_samult")


@dataclass(frozen=True)
class Outcome:
    """What a fit gave: `flaw` says "slow", or what it refused, where there is no AUC."""

    auc: float = np.nan
    called: float = np.nan
    seconds: float = np.nan
    warnings: tuple[str, ...] = ()
    flaw: str = ""


def given(method: str) -> str:
    """Say what the method is fitted to."""
    if method in _WITH_NEGATIVES:
        return "P, U, N"
    groups = "PN" if method == BASELINE else "PU" if method in AROUND else DECLARED[method.split(maxsplit=1)[0]].groups
    return {"P": "P", "PN": "P, U as N"}.get(groups, "P, U")


def judge(method: str, problem: Problem) -> Outcome:
    """Fit at the defaults, with warnings kept, and judge the scores of the test rows."""
    fit = _fit_baseline if method == BASELINE else _fit_around if method in AROUND else _fit_fastpu
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        try:
            scores, is_positive = fit(method, problem)
        except (ValueError, TypeError, MemoryError) as error:
            return Outcome(flaw=f"{type(error).__name__}: {error}")
        seconds = time.process_time() - start
    names = tuple(sorted({warning.category.__name__ for warning in caught}))
    return Outcome(fastpu.metrics.auc(problem.truth_test, scores), float(np.mean(is_positive)), seconds, names)


def _fit_baseline(_: str, problem: Problem) -> tuple[Any, Any]:
    X, X_test = standardised(problem.X, problem.X), standardised(problem.X_test, problem.X)
    scores = LogisticRegression(C=1.0, max_iter=10_000).fit(X, problem.is_labelled).decision_function(X_test)
    return scores, scores > 0


def _fit_around(method: str, problem: Problem) -> tuple[Any, Any]:
    kind = getattr(fastpu.estimators, method)
    known = {"prior": problem.prior, "random_state": 0}
    options = {name: value for name, value in known.items() if name in inspect.signature(kind).parameters}
    base = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=10_000))
    model = kind(base, **options).fit(problem.X, problem.is_labelled)
    return model.decision_function(problem.X_test), model.predict(problem.X_test)


def _fit_fastpu(method: str, problem: Problem) -> tuple[Any, Any]:
    function = function_of(method.split(maxsplit=1)[0])
    X, y = problem.X, problem.is_labelled.astype(np.int8)
    groups = given(method)
    if groups == "P":
        X, y = X[problem.is_labelled], None
    elif groups == "P, U as N":
        y = 2 * y - 1
    elif groups == "P, U, N":
        y[np.flatnonzero(~problem.truth)[: problem.is_labelled.sum()]] = -1
    prior = float(problem.truth[y == 0].mean()) if y is not None and (y == 0).any() else None
    options = _options(function, prior, problem.is_labelled) | VARIANTS.get(method, {})
    model = function(X, **options) if y is None else function(X, y, **options)
    if isinstance(model, fastpu.models.SVMPath):
        model = model.select("puf" if method == "fit_pu_svm_path" else "end")
    scores = model.decision_function(problem.X_test, n_threads=1)
    return scores, scores > model.threshold


def _options(function: Callable[..., Any], prior: float | None, is_labelled: Any) -> dict[str, Any]:
    """Return what the function has no default for, and what makes runs comparable."""
    n_pos = int(is_labelled.sum())
    required = {"prior": prior, "C_pos": (is_labelled.size - n_pos) / n_pos, "C_unl": 1.0}
    always = {"random_state": 0, "n_threads": 1}
    parameters = inspect.signature(function).parameters
    found = {
        name: required[name] for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY and p.default is p.empty
    }
    return found | {name: value for name, value in always.items() if name in parameters}


class Worker:
    """A process that fits, and is ended and replaced where a fit takes longer than the limit."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._pipe: Any = None

    def judge(self, method: str, problem: Problem) -> Outcome:
        if self._process is None:
            self._start()
        self._pipe.send((method, problem))
        if not self._pipe.poll(None if method == BASELINE else self._limit):
            self.close()
            return Outcome(seconds=self._limit, flaw="slow")
        try:
            outcome: Outcome = self._pipe.recv()
        except EOFError:
            self.close()
            return Outcome(flaw="the process ended")
        return outcome

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._pipe.recv()  # it is ready: its start is not part of a fit

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _serve(pipe: Any) -> None:
    pipe.send("ready")
    while True:
        try:
            method, problem = pipe.recv()
        except EOFError:
            return
        pipe.send(judge(method, problem))
