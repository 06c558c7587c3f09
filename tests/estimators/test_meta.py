"""What all classifiers around another one promise: any base estimator, labels, rows, weights, metadata, checks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn", minversion="1.6")
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import fastpu
from estimator_cases import pu_rows
from fastpu import estimators
from fastpu.estimators import puf_scorer
from helpers import refused
from meta_cases import NAMES, around, every_meta, pnu_codes

# What SARClassifier says of data in which every positive row is as likely to be labelled, and of odd base estimators.
pytestmark = [
    pytest.mark.filterwarnings("ignore:propensity_columns are all columns:fastpu.exceptions.EstimateWarning"),
    pytest.mark.filterwarnings("ignore:SARClassifier (ended|finds)"),
    pytest.mark.filterwarnings("ignore:TwoStepClassifier finds no unlabelled row"),
]
NEEDS_PROBABILITIES = ("ElkanNotoClassifier", "SARClassifier", "WeightedUnlabeledClassifier")


# ------------------------------------------------------------------------------------------------------------ labels


@every_meta
def test_labelled_negatives_are_used(name):
    X, truth, labelled = pu_rows(apart=1.0)
    y = pnu_codes(truth, labelled)
    fitted = around(name).fit(X, y)
    assert fitted.classes_.tolist() == [-1, 1]
    assert set(fitted.predict(X)) == {-1, 1}
    assert fitted.score(X, y) == np.mean((fitted.predict(X) == y)[y != 0]) > 0.7
    unlabelled = around(name).fit(X, y == 1).decision_function(X)
    differs = not np.allclose(fitted.decision_function(X), unlabelled)
    assert differs == (name != "ElkanNotoClassifier")  # where they are rows that are not labelled, as others are


# ---------------------------------------------------------------------------------------------------- base estimators


def right(name, fitted, X, truth):
    """The share of rows whose class is found, or of pairs in the right order where few rows give no threshold."""
    scores = fitted.decision_function(X)
    return fastpu.metrics.auc(truth, scores) if name == "SARClassifier" else np.mean((scores > 0) == truth)


def bases():
    """Base estimators of all kinds, with their names."""
    return {
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "bayes": GaussianNB(),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
        "search": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
        "fastpu": estimators.PNUAUCBoostClassifier(n_rounds=10, calibration="sigmoid", calibration_prior=0.4),
        "around": estimators.WeightedUnlabeledClassifier(GaussianNB(), prior=0.1, cv=2),
    }


@every_meta
@pytest.mark.parametrize("base", bases())
def test_any_classifier_is_a_base(name, base):
    if base in {"fastpu", "around"} and name in {"SARClassifier", "WeightedUnlabeledClassifier"}:
        return  # they need one to which 0 is negative, and to those of fastpu it is unlabelled
    X, truth, labelled = pu_rows(n=200)
    estimator = bases()[base]
    fitted = around(name, estimator).fit(X, labelled)
    assert np.mean(fitted.predict(X) == truth) > 0.75
    assert fitted.n_features_in_ == 3
    with pytest.raises(NotFittedError):
        sklearn.utils.validation.check_is_fitted(estimator)  # clones are fitted, never what the user holds
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.predict(X), fitted.predict(X))
    assert str(clone(fitted)) == str(around(name, estimator))


@every_meta
def test_estimators_that_cannot_be_a_base_are_refused(name):
    X, _, labelled = pu_rows(n=40)
    needed = "predict_proba" if name in NEEDS_PROBABILITIES else "predict_proba or decision_function"
    cases = [
        ("logistic", TypeError, "estimator of .* must be a classifier as scikit-learn has them"),
        (LogisticRegression, TypeError, "estimator of .* must be a classifier as scikit-learn has them"),
        (LinearRegression(), TypeError, rf"estimator of {name} must have {needed}, which LinearRegression\(\)"),
        (SVC(kernel="precomputed"), ValueError, "estimator must not take a kernel matrix"),
    ]
    for estimator, error, message in cases:
        with pytest.raises(error, match=message):
            around(name, estimator).fit(X, labelled)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NEEDS_PROBABILITIES])
def test_what_is_taken_as_the_score_is_told(name):
    X, _, labelled = pu_rows(n=80)
    cases = [
        (LogisticRegression(), "auto", "predict_proba", 0.5),
        (LogisticRegression(), "decision_function", "decision_function", 0.0),
        (Perceptron(), "auto", "decision_function", 0.0),
    ]
    for estimator, asked, taken, threshold in cases:
        fitted = around(name, estimator, response_method=asked).fit(X, labelled)
        assert (fitted.response_method_, fitted.threshold_) == (taken, threshold)
        if taken == "predict_proba":
            scores = fitted.decision_function(X) + 0.5
            assert scores.min() >= 0
            assert scores.max() <= 1
    refused(TypeError, "must have predict_proba, which Perceptron() (Perceptron) has not, but has decision_function",
            around(name, Perceptron(), response_method="predict_proba").fit, X, labelled)  # fmt: skip
    refused(ValueError, "response_method must be one of", around(name, response_method="predict").fit, X, labelled)


class Strange(ClassifierMixin, BaseEstimator):
    """Probabilities of another shape, or NaN."""

    def __init__(self, kind="columns"):
        self.kind = kind

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 3), 1 / 3) if self.kind == "columns" else np.full((len(X), 2), np.nan)


@every_meta
def test_strange_scores_are_refused(name):
    X, _, labelled = pu_rows(n=80)
    refused(ValueError, "predict_proba of Strange must give two columns, got the shape",
            around(name, Strange()).fit, X, labelled)  # fmt: skip
    refused(ValueError, "predict_proba of Strange must not give NaN, got it in row 0",
            around(name, Strange("nan")).fit, X, labelled)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NEEDS_PROBABILITIES])
def test_scores_of_several_columns_are_refused(name):
    class Wide(Strange):
        def decision_function(self, X):
            return np.zeros((len(X), 2))

    X, _, labelled = pu_rows(n=80)
    refused(ValueError, "decision_function of Wide must give one score per row, got the shape",
            around(name, Wide(), response_method="decision_function").fit, X, labelled)  # fmt: skip


# --------------------------------------------------------------------------------------------------------------- rows


@every_meta
def test_sparse_rows_are_like_dense_ones(name):
    X, _, labelled = pu_rows(n=80)
    expected = around(name).fit(X, labelled).decision_function(X)
    for form in ("csr", "csc", "coo"):
        rows = sparse.csr_array(X).asformat(form)
        fitted = around(name).fit(rows, labelled)
        # The solver of logistic regression sums in another order, and ends within its tolerance.
        np.testing.assert_allclose(fitted.decision_function(rows), expected, atol=1e-3)


@every_meta
def test_frames_reach_the_base_as_frames(name):
    pandas = pytest.importorskip("pandas")
    X, truth, labelled = pu_rows(n=120)
    frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")})
    columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["kind"]))
    fitted = around(name, make_pipeline(columns, LogisticRegression())).fit(frame, pandas.Series(labelled))
    assert fitted.feature_names_in_.tolist() == ["size", "kind"]
    assert np.mean(fitted.predict(frame) == truth) > 0.9


@every_meta
def test_categories_and_missing_entries_reach_the_base(name):
    pandas, lightgbm = pytest.importorskip("pandas"), pytest.importorskip("lightgbm")
    X, truth, labelled = pu_rows(n=200)
    far = np.where(X[:, 0] > 0, "far", "near")
    frame = pandas.DataFrame({"size": np.where(X[:, 1] > 1, np.nan, X[:, 1]), "kind": pandas.Categorical(far)})
    trees = lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1, min_child_samples=5)
    fitted = around(name, trees).fit(frame, pandas.Series(labelled, dtype="boolean"))
    assert np.mean(fitted.predict(frame) == truth) > 0.75


@every_meta
def test_texts_reach_the_base_as_texts(name):
    rng = np.random.default_rng(0)
    truth = rng.random(120) < 0.5
    words = np.array(["red", "blue", "one", "two", "three", "four"])
    texts = [" ".join([words[0 if t else 1], *rng.choice(words[2:], 2)]) for t in truth]
    labelled = truth & (rng.random(120) < 0.5)
    fitted = around(name, make_pipeline(TfidfVectorizer(), LogisticRegression())).fit(texts, labelled)
    assert right(name, fitted, texts, truth) > 0.9


# ---------------------------------------------------------------------------------------------- weights and metadata


@every_meta
def test_rows_of_weight_zero_are_as_if_they_were_not_there(name):
    X, _, labelled = pu_rows(n=120)
    weights = np.where(np.arange(120) % 4 == 0, 0.0, 1.5)
    kept = weights > 0
    weighted = around(name).fit(X, labelled, sample_weight=weights)
    fewer = around(name).fit(X[kept], labelled[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(weighted.decision_function(X), fewer.decision_function(X), rtol=1e-9, atol=1e-12)
    refused(ValueError, "y must hold two classes among the rows of positive weight",
            around(name).fit, X, labelled, sample_weight=labelled)  # fmt: skip
    refused(ValueError, "sample_weight must be >= 0", around(name).fit, X, labelled, sample_weight=weights - 1)


@every_meta
def test_weights_reach_the_last_step_of_a_pipeline(name):
    X, _, labelled = pu_rows(n=120)
    weights = np.where(X[:, 1] > 0, 1.0, 0.2)
    plain = around(name).fit(X, labelled, sample_weight=weights).decision_function(X)
    for estimator in (
        make_pipeline("passthrough", LogisticRegression()),
        GridSearchCV(make_pipeline(make_pipeline(LogisticRegression())), {"pipeline__logisticregression__C": [1.0]}),
    ):
        fitted = around(name, estimator).fit(X, labelled, sample_weight=weights)
        np.testing.assert_array_equal(fitted.decision_function(X), plain)
    refused(TypeError, f"estimator of {name} must take sample_weight in its fit, which KNeighborsClassifier() ",
            around(name, KNeighborsClassifier()).fit, X, labelled, sample_weight=weights)  # fmt: skip


class Noted(LogisticRegression):
    """Logistic regression that takes a further argument for every row, and one for all."""

    def fit(self, X, y, sample_weight=None, group=None, tag=None):
        assert group.shape == (len(X),)
        np.testing.assert_array_equal(group, X[:, 0])
        assert tag == "all"
        return super().fit(X, y, sample_weight)


@every_meta
def test_further_arguments_are_cut_like_the_rows(name):
    X, _, labelled = pu_rows(n=60)
    around(name, Noted()).fit(X, labelled, group=X[:, 0], tag="all")
    pipeline = make_pipeline("passthrough", Noted())
    around(name, pipeline).fit(X, labelled, noted__group=X[:, 0], noted__tag="all")
    refused(TypeError, "noted__sample_weight must not be passed to fit: pass the weights as sample_weight",
            around(name, pipeline).fit, X, labelled, noted__sample_weight=np.ones(60))  # fmt: skip


@every_meta
def test_metadata_is_routed(name):
    X, _, labelled = pu_rows(n=120)
    weights = np.where(X[:, 1] > 0, 1.0, 0.2)
    expected = around(name).fit(X, labelled, sample_weight=weights).decision_function(X)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = LogisticRegression().set_fit_request(sample_weight=True)
        for estimator in (asking, make_pipeline("passthrough", asking)):
            outer = around(name, estimator).set_fit_request(sample_weight=True)
            np.testing.assert_array_equal(outer.fit(X, labelled, sample_weight=weights).decision_function(X), expected)
            search = GridSearchCV(outer, {}, scoring=puf_scorer(), cv=2)
            search.fit(X, labelled, sample_weight=weights)
            np.testing.assert_array_equal(search.decision_function(X), expected)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            around(name).fit(X, labelled, sample_weight=weights)
        noted = Noted().set_fit_request(group=True, tag=True, sample_weight=True)
        around(name, noted).fit(X, labelled, group=X[:, 0], tag="all")


# -------------------------------------------------------------------------------------------- searches and thresholds


@every_meta
def test_searches_and_pipelines_go_around(name):
    X, truth, labelled = pu_rows(n=200)
    grid = {"est__estimator__C": [1e-3, 1.0]}
    pipeline = sklearn.pipeline.Pipeline([("scale", StandardScaler()), ("est", around(name))])
    search = GridSearchCV(pipeline, grid, scoring=puf_scorer(), cv=3).fit(X, labelled)
    assert np.mean(search.predict(X) == truth) > 0.9
    assert cross_val_score(around(name), X, truth, scoring="roc_auc", cv=3).min() > 0.9
    assert is_classifier(around(name))


@every_meta
def test_a_threshold_can_be_made_for_a_prior(name):
    X, _, labelled = pu_rows(n=200)
    fitted = around(name).fit(X, labelled)
    before = fitted.decision_function(X)
    moved = fitted.with_threshold(prior=0.25, X_unl=X)
    assert np.count_nonzero(moved.predict(X)) == 50
    np.testing.assert_allclose(moved.decision_function(X) + moved.threshold_, before + fitted.threshold_)
    np.testing.assert_array_equal(fitted.decision_function(X), before)
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="0 of 1 unlabelled rows|1 of 1 unlabelled rows"):
        fitted.with_threshold(prior=0.25, X_unl=X[:1])
    refused(ValueError, "prior must be a number in (0, 1)", fitted.with_threshold, prior=1.0, X_unl=X)
    assert np.count_nonzero(fitted.with_threshold(k=30, X_unl=X).predict(X)) == 30
    assert fitted.with_threshold(value=0.25).threshold_ == 0.25
    if name == "PUBaggingClassifier":
        out_of_bag = fitted.with_threshold(k=30).oob_decision_function_[~labelled]
        assert np.count_nonzero(out_of_bag > 0) == 30
    else:
        refused(ValueError, "X_unl must be given for with_threshold, got None", fitted.with_threshold, prior=0.25)
