"""Labels that are not missing at random: the expectation maximisation, what it finds, and what it says."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

pytest.importorskip("sklearn", minversion="1.6")
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import fastpu
from fastpu.estimators import SARClassifier
from helpers import refused
from meta_cases import exact_regression
from oracles import sar as oracle

SOLVED = 1e-6  # lbfgs ends within its tolerance, Newton's method at rounding
ROUNDED = 1e-9  # of a log likelihood that does not fall
pytestmark = pytest.mark.filterwarnings("ignore:SARClassifier ended after max_iter=(3|20|30) ")  # as many as the oracle


def draw(n=600, seed=0, depends=1.5):
    """Rows whose first two columns say whether they are positive, and the third whether these are labelled."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    f, e = expit(4 * X[:, 0] + 3 * X[:, 1] - 0.5), expit(depends * X[:, 2] - 0.5)
    positive = rng.random(n) < f
    return X, positive, positive & (rng.random(n) < e), f, e


def exact(C=1.0, **options):
    """The classifier with logistic regressions that end at their minimum, as the oracle's."""
    given = {"propensity_estimator": exact_regression(C=C), "propensity_columns": [2], "tol": 0.0, **options}
    return SARClassifier(exact_regression(C=C), **given)


# ------------------------------------------------------------------------------------------------- the mathematics


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_negatives", [False, True])
def test_the_first_iterations_are_those_of_the_oracle_and_the_last_one_leads_nowhere(weighted, with_negatives):
    X, positive, labelled, _, _ = draw()
    rng = np.random.default_rng(1)
    code = labelled.astype(int)
    if with_negatives:
        code[~positive & (rng.random(600) < 0.2)] = -1
    weights = rng.uniform(0.2, 3, 600) if weighted else None
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="max_iter=2 "):
        clf = exact(max_iter=2).fit(X, code, sample_weight=weights)
    mass = np.ones(600) if weights is None else weights
    f = e = np.zeros(0)
    for i, (f, e, _) in enumerate(oracle.sar_em(X, X[:, [2]], code, 2, weights=weights)):
        expected = oracle.log_likelihood(f, e, code, mass)
        np.testing.assert_allclose(clf.history_["log_likelihood"][i], expected, atol=SOLVED)
    q = oracle.posterior(f, e, code)
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], f, atol=SOLVED)
    np.testing.assert_allclose(clf.propensity_, e, atol=SOLVED)
    np.testing.assert_allclose(clf.posterior_, q, atol=SOLVED)
    np.testing.assert_allclose(clf.prior_, np.average(q[code == 0], weights=mass[code == 0]), atol=SOLVED)
    clf = exact(tol=1e-6).fit(X, code, sample_weight=weights)
    b, c = oracle.fits(X, X[:, [2]], code, clf.posterior_, mass, 1.0)
    np.testing.assert_allclose(oracle.probability(X, b), clf.predict_proba(X)[:, 1], atol=1e-4)
    np.testing.assert_allclose(oracle.probability(X[:, [2]], c), clf.propensity_, atol=1e-4)


def test_iterations_that_start_where_those_before_lead_to_end_sooner():
    X, _, labelled, _, _ = draw()
    clf = exact(tol=1e-4).fit(X, labelled)
    changes, q = [], np.zeros(600)
    for f, e, _ in oracle.sar_em(X, X[:, [2]], labelled.astype(int), 60):
        before, q = q, oracle.posterior(f, e, labelled.astype(int))
        changes.append(np.abs(q - before)[~labelled].mean())
    assert clf.n_iter_ <= 25
    assert changes[-1] > 1e-4  # of plain iterations
    assert clf.history_["log_likelihood"][-1] > oracle.log_likelihood(f, e, labelled.astype(int), np.ones(600))


def test_the_likelihood_of_the_labels_does_not_fall():
    """Of regressions without a ridge; with one, the likelihood less the ridge does not."""
    for seed in range(3):
        X, _, labelled, _, _ = draw(seed=seed)
        clf = exact(C=1e9, max_iter=30).fit(X, labelled)
        assert np.diff(clf.history_["log_likelihood"]).min() >= -ROUNDED
        assert clf.history_["log_likelihood"][-1] > clf.history_["log_likelihood"][0]


def test_prior_propensity_and_posterior_are_found():
    X, positive, labelled, f, e = draw(n=8000)
    clf = SARClassifier(LogisticRegression(), propensity_columns=[2]).fit(X, labelled)
    share = positive[~labelled].mean()
    assert abs(clf.prior_ - share) < 0.02
    assert np.abs(clf.predict_proba(X)[:, 1] - f).mean() < 0.02
    assert np.abs(clf.propensity_ - e).mean() < 0.02
    assert np.abs(clf.posterior_ - oracle.posterior(f, e, labelled.astype(int))).mean() < 0.02
    # One propensity for all rows is another model, and the labels are less likely by it.
    same = SARClassifier(
        LogisticRegression(), propensity_columns=[2], propensity_estimator=DummyClassifier(strategy="prior")
    ).fit(X, labelled)
    assert np.abs(same.predict_proba(X)[:, 1] - f).mean() > 0.05
    assert same.history_["log_likelihood"][-1] < clf.history_["log_likelihood"][-1] - 0.01


def test_classifier_and_propensity_of_all_columns_can_change_places():
    X, _, labelled, _, _ = draw()
    with pytest.warns(fastpu.exceptions.EstimateWarning, match="propensity_columns are all columns"):
        clf = exact(propensity_columns=None, max_iter=20).fit(X, labelled)
    f, e, codes = clf.predict_proba(X)[:, 1], clf.propensity_, labelled.astype(int)
    swapped = oracle.log_likelihood(e, f, codes, np.ones(600))
    assert oracle.log_likelihood(f, e, codes, np.ones(600)) == swapped
    assert abs(clf.history_["log_likelihood"][-1] - swapped) < 1e-12
    with pytest.warns(fastpu.exceptions.EstimateWarning, match="propensity_columns are all columns"):
        exact(propensity_columns=slice(None), max_iter=20).fit(X, labelled)


# ------------------------------------------------------------------------------------------------- what is reported


def test_the_fit_ends_where_the_probabilities_no_longer_change():
    X, _, labelled, _, _ = draw()
    clf = exact(tol=1e-3, max_iter=500).fit(X, labelled)
    assert clf.converged_
    assert clf.n_iter_ == clf.history_["change"].size < 500
    assert clf.history_["change"][-1] <= 1e-3 < clf.history_["change"][-2]
    unlabeled = ~labelled
    one_more = exact(max_iter=20).fit(X, labelled)
    again = exact(max_iter=30).fit(X, labelled)
    np.testing.assert_array_equal(again.history_["prior"][:20], one_more.history_["prior"])
    assert again.prior_ == again.history_["prior"][-1] == again.posterior_[unlabeled].mean()
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match=r"max_iter=3 .* still changed by 0\.\d+ on average \(tol=0\)"
    ):
        few = exact(max_iter=3).fit(X, labelled)
    assert not few.converged_
    assert few.n_iter_ == 3


def test_what_is_said_of_rows_is_what_the_models_say():
    X, _, labelled, _, _ = draw()
    clf = SARClassifier(LogisticRegression(), propensity_columns=[2, 0], tol=1e-2).fit(X, labelled)
    np.testing.assert_allclose(clf.propensity_estimator_.predict_proba(X[:, [2, 0]])[:, 1], clf.propensity_)
    np.testing.assert_array_equal(clf.estimator_.predict_proba(X)[:, 1], clf.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(clf.predict(X), clf.predict_proba(X)[:, 1] > 0.5)
    assert (clf.posterior_[labelled] == 1).all()
    assert clf.propensity_columns_.tolist() == [2, 0]
    assert clf.threshold_ == 0.5


@pytest.mark.parametrize("depth", [None, 1])
def test_models_without_error_are_told(depth):
    X, _, labelled, _, _ = draw()
    X = np.column_stack([X, labelled])  # a column that gives the labels away
    clf = SARClassifier(DecisionTreeClassifier(max_depth=depth, random_state=0), propensity_columns=[2])
    with pytest.warns(
        fastpu.exceptions.DegenerateModelWarning, match="finds no unlabelled row positive, as one of its models"
    ):
        clf.fit(X, labelled)
    assert clf.prior_ < 1 / 600
    assert np.isfinite(clf.history_["log_likelihood"]).all()


# ----------------------------------------------------------------------------------------------- rows, columns, weights


def test_columns_are_chosen_by_name_number_or_mask():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, _, labelled, _, _ = draw()
    names = ["age", "dose", "distance", "noise"]
    expected = exact(max_iter=3).fit(X, labelled).propensity_
    for rows, columns in (
        (X, 2),
        (X, -2),
        (X, np.array([2])),
        (X, slice(2, 3)),
        (X, np.array([False, False, True, False])),
        (X.tolist(), [2]),
        (sp.csr_array(X), [2]),
        (sp.coo_array(X), [2]),
        (pandas.DataFrame(X, columns=names), "distance"),
        (pandas.DataFrame(X, columns=names), pandas.Index(["distance"])),
        (pandas.DataFrame(X), [2]),
        (polars.DataFrame(X, schema=names), ["distance"]),
    ):
        found = exact(max_iter=3, propensity_columns=columns).fit(rows, labelled).propensity_
        np.testing.assert_allclose(found, expected, atol=SOLVED)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ([4], ValueError, "propensity_columns must hold numbers of the 4 columns, got 4"),
        ("dose", ValueError, "propensity_columns must hold numbers of columns where X is no frame with names, got 'do"),
        ([], ValueError, "propensity_columns must choose at least one column, got []"),
        ([1, -3], ValueError, "propensity_columns must choose each column once, got [1, -3]"),
        ([1.0], TypeError, "propensity_columns must hold names or numbers of columns, got 1.0 (float)"),
        ([True, False], ValueError, "propensity_columns must have 4 entries, one per column, as a mask, got 2"),
        ([[1]], ValueError, "propensity_columns must be one-dimensional"),
    ],
)
def test_columns_that_are_not_there_are_refused(columns, error, message):
    X, _, labelled, _, _ = draw(n=60)
    refused(error, message, exact(propensity_columns=columns).fit, X, labelled)


def test_names_that_are_not_there_are_refused():
    pandas = pytest.importorskip("pandas")
    X, _, labelled, _, _ = draw(n=60)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    message = "propensity_columns must hold names of single columns, got 'z', which no column of X has"
    refused(ValueError, message, exact(propensity_columns=["a", "z"]).fit, frame, labelled)
    texts = ["a b", "b c"] * 30
    refused(ValueError, "propensity_columns must be None where the rows are texts", exact().fit, texts, labelled)


def test_columns_that_the_default_propensity_cannot_take_are_refused_with_a_way_out():
    pd = pytest.importorskip("pandas")
    X, _, labelled, _, _ = draw()
    classifier = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), LogisticRegression())
    frame = pd.DataFrame(X, columns=list("abcd"))
    wards = np.where(X[:, 2] > 0, "north", "south")
    for column in (
        wards,
        pd.Categorical(wards),
        np.where(X[:, 2] > 0, np.nan, 1.0),
        np.where(X[:, 2] > 0, np.inf, 1.0),
    ):
        given = frame.assign(c=column)
        message = "propensity_columns must hold finite numbers for the default propensity_estimator ("
        refused(ValueError, message, SARClassifier(classifier, propensity_columns=["c"]).fit, given, labelled)
    strange = frame.assign(c=[{"ward": 1}] * len(frame))
    refused(TypeError, "not 'dict'); for other columns pass a propensity_estimator",
            SARClassifier(classifier, propensity_columns=["c"]).fit, strange, labelled)  # fmt: skip
    encoded = SARClassifier(
        classifier,
        propensity_estimator=make_pipeline(OneHotEncoder(), LogisticRegression()),
        propensity_columns=["c"],
    ).fit(frame.assign(c=wards), labelled)
    assert np.unique(encoded.propensity_[wards == "north"]).size == 1
    assert encoded.propensity_[wards == "north"].min() > encoded.propensity_[wards == "south"].max()


def test_the_units_of_the_columns_do_not_matter_to_the_default_propensity():
    X, _, labelled, _, _ = draw()
    units = [1, 1, 1e6, 1e-6]
    found = []
    for rows in (X, X * units + [0, 0, 1e6, 0], sp.csr_array(X * units)):
        classifier = make_pipeline(StandardScaler(with_mean=False), exact_regression())
        clf = SARClassifier(classifier, propensity_columns=[2, 3], max_iter=20, tol=0).fit(rows, labelled)
        found.append(clf.propensity_)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-3)  # lbfgs at the tolerance of the default regression


def test_weights_are_repetitions():
    X, _, labelled, _, _ = draw()
    weights = np.random.default_rng(2).integers(0, 4, 600)
    for options in ({}, {"propensity_estimator": None}):
        clf = exact(max_iter=20, **options).fit(X, labelled, sample_weight=weights)
        repeated = exact(max_iter=20, **options).fit(np.repeat(X, weights, axis=0), np.repeat(labelled, weights))
        np.testing.assert_allclose(
            clf.propensity_, np.asarray(repeated.propensity_estimator_.predict_proba(X[:, [2]]))[:, 1], atol=1e-5
        )
        np.testing.assert_allclose(clf.decision_function(X), repeated.decision_function(X), atol=1e-5)
        assert abs(clf.prior_ - repeated.prior_) < 1e-5


def test_weights_reach_the_last_step_of_the_propensity_estimator():
    X, _, labelled, _, _ = draw()
    weights = np.where(X[:, 1] > 0, 1.0, 0.2)
    expected = exact(max_iter=20).fit(X, labelled, sample_weight=weights).propensity_
    last = make_pipeline("passthrough", exact_regression())
    found = exact(max_iter=20, propensity_estimator=last).fit(X, labelled, sample_weight=weights).propensity_
    np.testing.assert_array_equal(found, expected)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = exact_regression().set_fit_request(sample_weight=True)
        clf = SARClassifier(
            asking,
            propensity_estimator=make_pipeline("passthrough", asking),
            propensity_columns=[2],
            max_iter=20,
            tol=0,
        ).set_fit_request(sample_weight=True)
        np.testing.assert_array_equal(clf.fit(X, labelled, sample_weight=weights).propensity_, expected)


# ----------------------------------------------------------------------------------------------------- what is refused


def test_arguments_out_of_range_are_refused():
    X, _, labelled, _, _ = draw(n=60)
    for options, error, message in (
        ({"max_iter": 0}, ValueError, "max_iter must be an integer >= 1, got 0"),
        ({"tol": -1.0}, ValueError, "tol must be a finite number >= 0, got -1.0"),
        ({"propensity_estimator": 3}, TypeError, "propensity_estimator of SARClassifier must be a classifier"),
        (
            {"propensity_estimator": LinearSVC()},
            TypeError,
            "propensity_estimator of SARClassifier must have predict_pr",
        ),
        (
            {"propensity_estimator": KNeighborsClassifier()},
            TypeError,
            "propensity_estimator of SARClassifier must take sample_weight in its fit, which KNeighborsClassifier()",
        ),
    ):
        refused(error, message, exact(**options).fit, X, labelled)
    refused(TypeError, "estimator of SARClassifier must take sample_weight",
            SARClassifier(KNeighborsClassifier(), propensity_columns=[2]).fit, X, labelled)  # fmt: skip
    for code, kind in ((1, "positive"), (0, "unlabelled")):
        codes = np.where(labelled, 1, np.where(X[:, 0] < -1, -1, 0))
        refused(ValueError, f"y must hold {kind} rows of positive weight for SARClassifier, got none",
                exact().fit, X, codes, sample_weight=codes != code)  # fmt: skip
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_iter'; use max_iter"):
        SARClassifier(LogisticRegression(), n_iter=3)
