"""One, two or three labelled rows: every method learns from them, warns, or says how many it needs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import DECLARED
from fastpu.exceptions import DegenerateModelWarning, EstimateWarning
from helpers import refused
from method_recipes import plain

FEW = (1, 2, 3)
#: Of the scores of new rows, with one label too. One booster is the last: its leaves must have 20 rows.
LEAST_AUC = 0.55


def few_labels(n_labelled: int, groups: str = "PU", *, n: int = 400, seed: int = 0):
    """So many labelled rows of each group that has labels, and the classes of all rows."""
    rng = np.random.default_rng([seed, n])
    truth = np.where(rng.random(n) < 0.4, 1, -1)
    X = rng.normal(size=(n, 4)) + 1.2 * truth[:, None]
    y = np.zeros(n, dtype=np.int64)
    for label in (1, -1) if "N" in groups else (1,):
        y[np.flatnonzero(truth == label)[:n_labelled]] = label
    kept = y == 1 if groups == "P" else y != 0 if "U" not in groups else np.ones(n, dtype=np.bool_)
    return X[kept], y[kept], truth[kept]


@pytest.mark.parametrize("n_labelled", FEW)
@pytest.mark.parametrize("name", DECLARED)
def test_every_method_ranks_by_few_labels_or_warns(name, n_labelled):
    groups = DECLARED[name].groups
    X, y, _ = few_labels(n_labelled, groups)
    new, _, truth = few_labels(1, seed=1)
    recipe = plain(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = recipe.call(X, y) if recipe.takes("y") else recipe.call(X)
    model = model[-1] if isinstance(model, list) else model
    scores = model.decision_function(new)
    assert np.isfinite(scores).all()
    is_warned = any(issubclass(each.category, DegenerateModelWarning) for each in caught)
    if not is_warned:
        assert fastpu.metrics.auc(truth, scores) > LEAST_AUC
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateModelWarning)
        warnings.simplefilter("ignore", EstimateWarning)
        share = np.mean(model.with_threshold(prior=0.4, X_unl=new).predict(new) == 1)
        if not is_warned and np.unique(scores).size == scores.size:
            assert share == pytest.approx(0.4, abs=0.01)
        if "U" in groups:
            probabilities = model.with_probabilities(prior=0.4, X=X, y=y).predict_proba(new)
            assert ((probabilities >= 0) & (probabilities <= 1)).all()


@pytest.mark.parametrize("n_labelled", FEW)
@pytest.mark.parametrize("name", [name for name in DECLARED if not DECLARED[name].baseline])
def test_every_classifier_takes_few_labels(name, n_labelled):
    sklearn_classes = pytest.importorskip("fastpu.estimators")
    kind = getattr(sklearn_classes, DECLARED[name].classifier)
    X, y, _ = few_labels(n_labelled, DECLARED[name].groups)
    options = {"prior": 0.4} if name in ("fit_upu", "fit_nnpu") else {}  # which is estimated otherwise, from two
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = kind(**options).fit(X, y)
    assert np.isfinite(machine.decision_function(X)).all()


@pytest.mark.parametrize("n_labelled", FEW)
def test_bags_leave_out_unlabelled_rows_whose_scores_are_finite(n_labelled):
    X, y, _ = few_labels(n_labelled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateModelWarning)
        models = [
            fastpu.fit_forest(X, y, n_trees=50, random_state=0),
            fastpu.fit_boosted_trees(X, y, n_bags=8, n_rounds=10, random_state=0),
            fastpu.fit_bagging_svm(X, y, n_bags=20, random_state=0),
        ]
    for model in models:
        assert np.isfinite(model.oob_decision_function[y == 0]).all()


def test_what_needs_two_labelled_rows_says_so():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    from fastpu import estimators

    X, y, _ = few_labels(1)
    line = LogisticRegression()
    for prior in (fastpu.priors.bbe, fastpu.priors.km2, fastpu.priors.scar_test):
        refused(ValueError, f"at least two positive rows for {prior.__name__}, got 1", prior, X, y)
    for wrapper in (estimators.TwoStepClassifier(line), estimators.ElkanNotoClassifier(line)):
        refused(ValueError, "y must have at least 2 labelled positive", wrapper.fit, X, y)
    for classifier in (estimators.UPUClassifier(), estimators.NNPUClassifier()):
        refused(ValueError, "'bbe' cannot estimate it from 1 positive row", classifier.fit, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateModelWarning)
        forest = fastpu.fit_forest(X, y, n_trees=20, random_state=0)
    text = "X must be given for with_probabilities, got None: no positive row (+1) has an out-of-bag score"
    refused(ValueError, text, forest.with_probabilities, prior=0.4, y=y)
    stopped = {"early_stopping_rounds": 5}
    for fit in (fastpu.fit_boosted_trees, fastpu.fit_pnu_auc_boost):
        refused(ValueError, "only one labelled positive row", fit, X, y, **stopped)
        fit(X, y, n_rounds=20, eval_set=few_labels(1, seed=1)[::2], **stopped)
    text = "one positive row cannot be both fitted and held out: pass validation"
    refused(ValueError, text, fastpu.select, fastpu.fit_isvm, X, y, {"C": [0.1, 1.0]})
    held = few_labels(2, seed=1)[:2]
    chosen = fastpu.select(fastpu.fit_isvm, X, y, {"C": [0.1, 1.0]}, validation=held)
    assert np.isfinite(chosen.model.decision_function(X)).all()


@pytest.mark.parametrize("n_labelled", FEW)
def test_bags_around_a_classifier_take_few_labels(n_labelled):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    from fastpu.estimators import PUBaggingClassifier, SARClassifier

    X, y, truth = few_labels(n_labelled)
    for machine in (
        PUBaggingClassifier(LogisticRegression(), n_bags=30, random_state=0),
        SARClassifier(LogisticRegression(), propensity_columns=0),
    ):
        assert fastpu.metrics.auc(truth, machine.fit(X, y).decision_function(X)) > LEAST_AUC
