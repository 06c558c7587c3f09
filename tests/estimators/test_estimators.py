"""Classifiers for scikit-learn: one for each fit function, with its keywords, and what they make of labels and rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.exceptions import NotFittedError

import fastpu
from estimator_cases import (
    CLASSIFIERS,
    OPTIONS,
    every_class,
    function_name,
    function_of,
    labels_for,
    make,
    pu_rows,
    takes,
)
from fastpu import estimators
from fastpu.common._sharing import parameters_of_many
from helpers import refused

# --------------------------------------------------------------------------------------------------- fits and labels


@pytest.mark.filterwarnings("ignore:fit_.* does not show the margin")  # far below what is chosen
@every_class
def test_a_fit_is_that_of_the_function(classifier):
    X, truth, labelled = pu_rows()
    y = labels_for(classifier, truth, labelled)
    fitted = make(classifier).fit(X, y)
    options = dict(OPTIONS.get(classifier.__name__, {}))
    codes = np.where(y, 1, 0 if takes(classifier, "U") else -1)
    if "Path" in classifier.__name__:
        seed = options.pop("random_state")
        balanced = {"C_pos": (~y).sum() / y.sum()} if classifier is estimators.PUSVMPathClassifier else {}
        path = function_of(classifier)(X, codes, **balanced, **options)
        model = path.select("puf" if balanced else "f1", n_folds=5, random_state=seed)
    elif classifier is estimators.BSVMClassifier:
        costs = {"C_pos": y.size / (2 * y.sum()), "C_unl": y.size / (2 * (~y).sum())}
        model = function_of(classifier)(X, codes, **costs, **options)
    else:
        model = function_of(classifier)(X, codes, **options)
    score = model.decision_function(X) - model.threshold
    np.testing.assert_array_equal(fitted.decision_function(X), score)
    np.testing.assert_array_equal(fitted.predict(X), score > 0)
    assert fitted.threshold_ == model.threshold
    assert fitted.n_iter_ >= 1
    assert fitted.score(X, truth) > 0.8


@every_class
def test_three_labels_keep_their_meaning(classifier):
    X, truth, _ = pu_rows()
    rng = np.random.default_rng(1)
    y = np.where(rng.random(truth.size) < 0.5, 0, np.where(truth, 1, -1))
    takes_all = takes(classifier, "U") and takes(classifier, "N")
    if not takes_all:
        with pytest.raises(ValueError, match=rf"y must .*{function_name(classifier)}"):
            make(classifier).fit(X, y)
        return
    fitted = make(classifier).fit(X, y)
    assert fitted.classes_.tolist() == [-1, 1]
    assert set(fitted.predict(X)) == {-1, 1}
    expected = function_of(classifier)(X, y, **OPTIONS.get(classifier.__name__, {}))
    np.testing.assert_array_equal(fitted.decision_function(X), expected.decision_function(X) - expected.threshold)


def test_labels_that_say_nothing_are_refused():
    X, _, labelled = pu_rows()
    clf = estimators.ISVMClassifier()
    cases = [
        (np.ones(labelled.size), "got 1 class: 1.0"),
        (np.where(labelled, 0, -1), "y holds the classes -1 and 0, which is ambiguous"),
        (labelled[:-1], "y must have one entry per row of X"),
    ]
    for y, message in cases:
        with pytest.raises(ValueError, match=message):
            clf.fit(X, y)
    fitted = clf.fit(X, np.where(labelled, 0, -1).astype(bool) == 0)
    assert fitted.classes_.tolist() == [False, True]


# ------------------------------------------------------------------------------------------------------------- rows


def test_rows_are_not_copied():
    X, _, _ = pu_rows(n=40)
    assert np.shares_memory(estimators.ISVMClassifier()._read_rows(X, reset=True), X)
    rows = sparse.csr_array(X)
    assert estimators.ISVMClassifier()._read_rows(rows, reset=True) is rows


# ------------------------------------------------------------------------------------------- what belongs to rows


def test_weights_of_one_class_alone_are_refused():
    X, _, labelled = pu_rows(n=40)
    with pytest.raises(ValueError, match="two classes among the rows of positive weight, got 1 class: False"):
        estimators.ISVMClassifier().fit(X, labelled, sample_weight=~labelled)


def test_costs_graph_and_evaluation_rows_are_passed_on():
    X, truth, labelled = pu_rows(n=60)
    cost = np.linspace(0.1, 2, 60)
    path = estimators.SVMPathClassifier(lam=0.5).fit(X, truth, sample_cost=cost)
    np.testing.assert_array_equal(path.path_.costs, cost)

    graph = fastpu.knn_similarity(X, n_neighbors=3)
    fitted = estimators.PUALClassifier().fit(X, labelled, graph=graph)
    np.testing.assert_array_equal(fitted.coef_[0], fastpu.fit_pual(X, labelled, graph=graph).coef)
    parts = estimators.PUALClassifier(calibration="sigmoid")
    refused(ValueError, "graph must be left out", parts.fit, X, labelled, graph=graph)

    y = np.where(labelled, "p", "?")
    y[0], y[1] = "p", "?"
    clf = estimators.PNUAUCBoostClassifier(n_rounds=50, early_stopping_rounds=2)
    assert clf.fit(X[::2], y[::2], eval_set=(X[1::2], y[1::2])).model_.history["eval_auc"].size >= clf.n_iter_
    with pytest.raises(ValueError, match=r"y of eval_set must hold labels out of \['\?', 'p'\], got 'x'"):
        clf.fit(X, y, eval_set=(X, np.full(60, "x")))
    for pairs in ([(X, y)], [(X, y), (X, y)]):
        refused(TypeError, "eval_set must be one pair", clf.fit, X, y, eval_set=pairs)


# -------------------------------------------------------------------------------------- parameters and attributes


def test_a_prior_is_estimated_where_none_is_given():
    X, truth, labelled = pu_rows(n=600, apart=3.0)
    share = float(truth[~labelled].mean())
    for classifier in (estimators.UPUClassifier, estimators.NNPUClassifier):
        fitted = classifier(random_state=0).fit(X, labelled)
        assert abs(fitted.prior_ - share) < 0.1
        estimate = fastpu.priors.bbe(X, labelled, random_state=0)
        assert fitted.prior_ == fitted.prior_estimate_.value == estimate.value
        assert fitted.prior_estimate_.allowed == estimate.allowed
        weighted = classifier(random_state=0).fit(X, labelled, sample_weight=np.full(600, 2.0))
        assert weighted.prior_ == fitted.prior_
        given = classifier(prior=0.3).fit(X, labelled)
        assert (given.prior_, given.prior_estimate_) == (0.3, None)
    # Twice the weight of hidden positives makes them a larger share.
    weights = np.where(truth & ~labelled, 4.0, 1.0)
    share = float(np.average(truth[~labelled], weights=weights[~labelled]))
    fitted = estimators.UPUClassifier(random_state=0).fit(X, labelled, sample_weight=weights)
    assert abs(fitted.prior_ - share) < 0.1
    with pytest.raises(ValueError, match=r"prior must be 'bbe' or a number in \(0, 1\), got 'guess'"):
        estimators.UPUClassifier(prior="guess").fit(X, labelled)


def test_a_sequence_of_values_is_refused():
    X, _, labelled = pu_rows(n=40)
    message = "C must be one number for ISVMClassifier, got [0.1, 1.0] (list); fastpu.fit_isvm takes a sequence"
    refused(TypeError, message, estimators.ISVMClassifier(C=[0.1, 1.0]).fit, X, labelled)
    for classifier in CLASSIFIERS:
        for name in parameters_of_many(function_of(classifier)):
            with pytest.raises(TypeError, match=f"{name} must be one number for {classifier.__name__}"):
                make(classifier, **{name: [0.1, 0.2]}).fit(X, labels_for(classifier, labelled, labelled))


def test_random_states_of_numpy_are_taken():
    X, _, labelled = pu_rows(n=40)
    scores = [
        estimators.BaggingSVMClassifier(random_state=state()).fit(X, labelled).decision_function(X)
        for state in (lambda: np.random.RandomState(3), lambda: np.random.RandomState(3), lambda: 4)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@every_class
def test_linear_models_have_coefficients_that_give_their_scores(classifier):
    X, truth, labelled = pu_rows(n=60)
    parameters = classifier().get_params()
    options = {"kernel": "linear"} if "kernel" in parameters else {}
    fitted = make(classifier, **options).fit(X, labels_for(classifier, truth, labelled))
    if hasattr(fitted, "feature_importances_"):
        assert not hasattr(fitted, "coef_")
        np.testing.assert_array_equal(fitted.feature_importances_, fitted.model_.feature_importances)
        return
    scores = X @ fitted.coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.decision_function(X), scores, atol=1e-9)
    if options:
        other = make(classifier, kernel="rbf").fit(X, labels_for(classifier, truth, labelled))
        assert not hasattr(other, "coef_")


def test_paths_have_defaults_for_classes_that_overlap():
    """An infinite cost called all rows positive, and PUF few of those with labels that say it all."""
    rng = np.random.default_rng(0)
    truth = rng.random(240) < 0.4
    X = rng.normal(size=(240, 4)) + 0.9 * np.where(truth, 1, -1)[:, None] * [1, 0.6, 0.3, 0]
    labelled = truth & (rng.random(240) < 0.5)
    fitted = estimators.PUSVMPathClassifier(random_state=0).fit(X[:160], labelled[:160])
    n_pos = labelled[:160].sum()
    assert fitted.path_.params["C_pos"] == (160 - n_pos) / n_pos
    assert 0.2 < fitted.predict(X[160:]).mean() < 0.6
    assert fitted.score(X[160:], truth[160:]) > 0.75
    supervised = estimators.SVMPathClassifier(random_state=0).fit(X[:160], truth[:160])
    assert supervised.model_.params["scoring"] == "f1"
    predicted = supervised.predict(X[160:])
    assert 2 * (predicted & truth[160:]).sum() / (predicted.sum() + truth[160:].sum()) > 0.75


def test_a_path_whose_end_is_the_floor_of_precision_warns_where_that_is_chosen():
    rng = np.random.RandomState(34)
    X = rng.normal(loc=100, size=(100, 2))
    truth = rng.randint(0, 2, 100) > 0
    fitted = estimators.SVMPathClassifier(random_state=0).fit(X, truth)  # no warning: far from the end
    assert (fitted.path_.status, fitted.path_.converged) == ("precision", False)
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="SVMPathClassifier stops at the end of the path"):
        estimators.SVMPathClassifier(scoring="end").fit(X, truth)


def test_a_path_stops_where_it_is_told():
    X, truth, labelled = pu_rows(n=60)
    fitted = estimators.PUSVMPathClassifier(lam=0.7).fit(X, labelled)
    assert fitted.model_.params["lam"] == 0.7
    assert fitted.n_iter_ == fitted.path_.n_iter
    ended = estimators.PUSVMPathClassifier(scoring="end").fit(X, labelled)
    np.testing.assert_array_equal(ended.decision_function(X), ended.path_.decision_function(X) - ended.path_.threshold)
    few = np.concatenate([np.flatnonzero(truth)[:1], np.flatnonzero(~truth)[:9]])
    assert estimators.SVMPathClassifier().fit(X[few], truth[few]).path_.n_events > 0  # one row: no folds
    with pytest.raises(ValueError, match="prior must be given"):
        estimators.PUSVMPathClassifier(scoring="err_star").fit(X, labelled)
    assert estimators.PUSVMPathClassifier(scoring="err_star", prior=0.3).fit(X, labelled).model_.params["value"] >= 0


def test_nystroem_is_for_kernels():
    X, _, labelled = pu_rows(n=60)
    expected = estimators.PUALClassifier().fit(X, labelled)
    np.testing.assert_array_equal(estimators.PUALClassifier(n_components=5).fit(X, labelled).coef_, expected.coef_)
    approximate = estimators.PUALClassifier(kernel="rbf", n_components=5, random_state=0).fit(X, labelled)
    assert approximate.model_.nystroem_residual > 0


@every_class
def test_another_threshold_makes_another_classifier(classifier):
    X, truth, labelled = pu_rows(n=60)
    fitted = make(classifier).fit(X, labels_for(classifier, truth, labelled))
    before = fitted.decision_function(X)
    moved = fitted.with_threshold(prior=0.25, X_unl=X)
    expected = fitted.model_.with_threshold(prior=0.25, X_unl=X)
    assert type(moved) is classifier
    assert moved.threshold_ == expected.threshold
    np.testing.assert_array_equal(moved.decision_function(X), expected.decision_function(X) - expected.threshold)
    np.testing.assert_array_equal(moved.predict(X), expected.predict(X) == 1)
    np.testing.assert_array_equal(fitted.decision_function(X), before)
    assert moved.get_params() == fitted.get_params()
    again = pickle.loads(pickle.dumps(moved))
    np.testing.assert_array_equal(again.decision_function(X), moved.decision_function(X))
    with pytest.raises(NotFittedError):
        make(classifier).with_threshold(prior=0.25, X_unl=X)
    with pytest.raises(ValueError, match="prior"):
        fitted.with_threshold(prior=1.5, X_unl=X)


def test_another_threshold_knows_the_columns_and_moves_the_intercept():
    pandas = pytest.importorskip("pandas")
    X, _, labelled = pu_rows(n=60)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    moved = estimators.ISVMClassifier().fit(frame, labelled).with_threshold(prior=0.25, X_unl=frame)
    assert np.mean(moved.predict(frame)) == 0.25
    np.testing.assert_allclose(moved.decision_function(frame), X @ moved.coef_[0] + moved.intercept_[0])
    with pytest.raises(ValueError, match="feature names"):
        moved.with_threshold(prior=0.25, X_unl=frame[["b", "a", "c"]])


def test_out_of_bag_scores_numbers_of_rows_and_values_make_thresholds():
    X, _, labelled = pu_rows()
    forest = estimators.ForestClassifier(n_trees=50, random_state=0).fit(X, labelled)
    for given in ({"prior": 0.3}, {"k": 20}, {"value": 0.5}):
        assert forest.with_threshold(**given).threshold_ == forest.model_.with_threshold(**given).threshold
    line = estimators.ISVMClassifier().fit(X, labelled)
    refused(ValueError, "X_unl must be given for with_threshold, got None", line.with_threshold, prior=0.3)
    assert np.count_nonzero(line.with_threshold(k=20, X_unl=X).predict(X)) == 20
    assert line.with_threshold(value=0.5).threshold_ == 0.5
    refused(ValueError, "exactly one of prior, k and value", line.with_threshold, X_unl=X)


def test_the_model_is_saved(tmp_path):
    X, _, labelled = pu_rows(n=60)
    fitted = estimators.ISVMClassifier().fit(X, labelled)
    fitted.save(tmp_path / "model.npz")
    model = fastpu.load(tmp_path / "model.npz")
    assert type(model) is type(fitted.model_)
    np.testing.assert_array_equal(model.decision_function(X) - model.threshold, fitted.decision_function(X))
    with pytest.raises(NotFittedError):
        estimators.ISVMClassifier().save(tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()


# ------------------------------------------------------------------------------------------------------- forests


def test_forests_go_on_and_score_out_of_bag():
    X, _, labelled = pu_rows()
    first = estimators.ForestClassifier(n_trees=10, random_state=0).fit(X, labelled)
    fitted = estimators.ForestClassifier(n_trees=20, random_state=0).fit(X, labelled, init_model=first.model_)
    whole = estimators.ForestClassifier(n_trees=30, random_state=0).fit(X, labelled)
    np.testing.assert_array_equal(fitted.decision_function(X), whole.decision_function(X))
    scores = whole.model_.oob_decision_function - whole.threshold_
    np.testing.assert_array_equal(whole.oob_decision_function_, scores)
    calibrated = estimators.ForestClassifier(calibration="sigmoid", random_state=0)
    refused(ValueError, "init_model must be left out", calibrated.fit, X, labelled, init_model=first.model_)


def test_forests_are_calibrated_on_out_of_bag_scores():
    X, _, labelled = pu_rows()
    fitted = estimators.ForestClassifier(calibration="beta", calibration_prior=0.3, random_state=0).fit(X, labelled)
    model = fastpu.fit_forest(X, labelled, random_state=0).with_probabilities(prior=0.3, y=labelled)
    np.testing.assert_array_equal(fitted.predict_proba(X), model.predict_proba(X))


def test_forests_whose_bags_have_all_unlabelled_rows_are_calibrated_on_folds():
    X, _, labelled = pu_rows()
    options = {"n_trees": 50, "bag_ratio": 1e9, "random_state": 0}
    fitted = estimators.ForestClassifier(**options, calibration="sigmoid", calibration_prior=0.3).fit(X, labelled)
    assert np.isnan(fitted.model_.oob_decision_function[~labelled]).all()
    shares = fitted.predict_proba(X)[:, 1]
    assert (np.diff(shares[np.argsort(fitted.decision_function(X))]) >= 0).all()
    assert shares.min() < shares.max()


@pytest.mark.parametrize("name", ["PNUAUCBoostClassifier", "ForestClassifier"])
def test_classifiers_of_trees_take_categories_of_frames(name):
    pandas = pytest.importorskip("pandas")
    X, _, labelled = pu_rows()
    frame = pandas.DataFrame({"a": X[:, 1], "b": pandas.Categorical(np.where(X[:, 0] > 0, "high", "low"))})
    few = {"n_trees" if name == "ForestClassifier" else "n_rounds": 20}
    fitted = getattr(estimators, name)(**few, calibration="sigmoid", calibration_prior=0.3, random_state=0)
    fitted.fit(frame, labelled)
    assert fitted.feature_importances_[1] > 0.3
    assert set(fitted.predict(frame)) == {False, True}
    assert fitted.predict_proba(frame).shape == (120, 2)
