"""fit_ensemble: what it tries, what it takes, what it leaves out, and what its model promises."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.data._folds import grouped_folds
from fastpu.exceptions import ConvergenceWarning
from fastpu.metrics import auc
from helpers import refused

SMALL = {
    "forest": functools.partial(fastpu.fit_forest, n_trees=40),
    "stumps": functools.partial(fastpu.fit_pnu_auc_boost, n_rounds=20),
    "line": fastpu.fit_isvm,
}


def rows(n=300, n_pos=30, d=4, seed=0, gap=1.0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    X = rng.normal(size=(n, d)) + gap * truth[:, None] * [1.0, 0.5, *[0.0] * (d - 2)]
    y = np.zeros(n, dtype=int)
    y[rng.permutation(np.flatnonzero(truth))[:n_pos]] = 1
    return X, y, truth


class Line:
    """An estimator that does what is asked of those of scikit-learn, and no more."""

    def fit(self, X, y):
        assert set(np.unique(y)) == {0, 1}
        values = np.asarray(X, dtype=float)
        self.direction = values[y == 1].mean(axis=0) - values[y == 0].mean(axis=0)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float) @ self.direction


def test_the_model_is_the_weighted_mean_of_its_members_standardised_scores():
    X, y, _ = rows()
    model = fastpu.fit_ensemble(X, y, candidates={"forest": SMALL["forest"], "stumps": SMALL["stumps"]}, random_state=0)
    parts = [
        weight * (member.decision_function(X) - location) / scale
        for weight, member, location, scale in zip(
            model.weights, model.members, model.locations, model.scales, strict=True
        )
    ]
    np.testing.assert_allclose(model.decision_function(X), sum(parts), rtol=1e-12)
    assert model.weights.sum() == pytest.approx(1)


def test_held_out_scores_come_from_models_of_other_rows():
    """A candidate that knows its training rows by heart scores them 1, and all others 0."""

    class Memory:
        def fit(self, X, y):
            self.known = {row.tobytes() for row in X[y == 1]}
            return self

        def decision_function(self, X):
            return np.array([float(row.tobytes() in self.known) for row in X])

    X, y, _ = rows()
    model = fastpu.fit_ensemble(X, y, candidates={"memory": Memory(), "line": Line()}, random_state=0)
    assert model.table["auc"][0] == 0.5
    assert model.table["weight"][0] < 0.1
    assert auc(y == 1, model.members[0].decision_function(X)) == 1.0 if model.weights[0] else True


def test_the_best_candidate_wins_where_labels_are_many():
    X, y, truth = rows(3000, 600, gap=1.5)
    rng = np.random.default_rng(1)

    def guess(X, y):
        return Guess()

    class Guess:
        def decision_function(self, X):
            return rng.normal(size=len(X))

    model = fastpu.fit_ensemble(X, y, candidates={"guess": guess, "line": fastpu.fit_isvm}, random_state=0)
    assert model.weights.tolist() == [0.0, 1.0]
    assert len(model.members) == 1
    hidden = y == 0
    assert auc(truth[hidden], model.oob_decision_function[hidden]) > 0.8


def test_defaults_err_in_different_ways_and_say_so():
    X, y, truth = rows(400, 60)
    model = fastpu.fit_ensemble(X, y, random_state=0)
    assert len(model.candidates) == 6
    assert list(model.table) == ["candidate", "auc", "standard_error", "error_of_difference", "weight", "seconds"]
    assert model.report.startswith("Of 6 candidates, the ensemble has ")
    best = int(np.argmax(model.table["auc"]))
    assert f"{model.candidates[best]} ranks best alone" in model.report
    assert model.table["error_of_difference"][best] == 0
    assert auc(truth[y == 0], model.oob_decision_function[y == 0]) > 0.7
    assert model.flaws == ("",) * 6


def test_rows_of_every_kind_in_one_frame():
    X, y, truth = rows(400, 60)
    kind = np.where(truth, "a", "b").astype(object)
    kind[np.random.default_rng(5).random(400) < 0.5] = "c"
    kind[7] = None
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=kind)
    frame.iloc[::9, 0] = np.nan
    model = fastpu.fit_ensemble(frame, y, candidates=SMALL, random_state=0)
    assert model.categories == {"4": ("a", "b", "c")}
    assert model.feature_names == ("a", "b", "c", "d", "kind")
    scores = model.decision_function(frame)
    np.testing.assert_array_equal(model.decision_function(frame.iloc[:5]), scores[:5])
    unknown = frame.iloc[:2].assign(kind=["new", None])
    assert np.isfinite(model.decision_function(unknown)).all()


def test_text_is_left_sparse_and_as_it_is():
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 3000), density=0.01, format="csr", rng=rng)
    y = (np.asarray(X[:, :300].sum(axis=1)).ravel() > 1.5) & (rng.random(200) < 0.5)
    model = fastpu.fit_ensemble(X, y, candidates={"line": fastpu.fit_isvm}, random_state=0)
    assert model.columns is None
    np.testing.assert_array_equal(model.members[0].decision_function(X), fastpu.fit_isvm(X, y).decision_function(X))


def test_negative_rows_are_what_positive_ones_are_compared_with():
    X, y, truth = rows(300, 40, gap=2.0)
    y[np.flatnonzero(~truth)[:40]] = -1
    model = fastpu.fit_ensemble(X, y, candidates=SMALL, random_state=0)
    held = model.oob_decision_function
    judged = fastpu.fit_ensemble(X, y, candidates={"line": fastpu.fit_isvm}, random_state=0)
    labelled = y != 0
    assert judged.table["auc"][0] == pytest.approx(auc(y[labelled], judged.oob_decision_function[labelled]), abs=1e-12)
    assert auc(y[labelled], held[labelled]) > 0.7
    no_unlabelled = fastpu.fit_ensemble(X[labelled], y[labelled], candidates=SMALL, random_state=0)
    assert np.isfinite(no_unlabelled.decision_function(X)).all()


def test_estimators_and_functions_of_the_user(tmp_path):
    X, y, _ = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    seen = []

    def fit(X, y):
        seen.append((type(X), set(y.tolist())))
        return fastpu.fit_isvm(X, y)

    model = fastpu.fit_ensemble(frame, y, candidates={"mine": Line(), "ours": fit}, random_state=0)
    assert set(map(str, seen)) == {str((pd.DataFrame, {0, 1}))}
    assert np.isfinite(model.decision_function(frame)).all()
    refused(TypeError, "cannot be saved", model.save, tmp_path / "model.npz")
    ours = fastpu.fit_ensemble(frame, y, candidates={"ours": fit}, random_state=0)
    ours.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(fastpu.load(tmp_path / "model.npz").predict(frame), ours.predict(frame))


def test_a_pipeline_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    X, y, truth = rows()
    own = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
    model = fastpu.fit_ensemble(X, y, candidates={"own": own, "forest": SMALL["forest"]}, random_state=0)
    assert not hasattr(own[-1], "coef_")
    assert auc(truth, model.decision_function(X)) > 0.7


def test_a_candidate_that_fails_is_left_out_and_named():
    X, y, _ = rows()

    def fail(X, y):
        raise ValueError("no luck")

    model = fastpu.fit_ensemble(X, y, candidates={"bad": fail, "line": fastpu.fit_isvm}, random_state=0)
    assert model.weights.tolist() == [0.0, 1.0]
    assert model.flaws == ("ValueError: no luck", "")
    assert "Left out, as they could not be fitted: bad (ValueError: no luck)." in model.report
    refused(ValueError, "no luck", fastpu.fit_ensemble, X, y, candidates={"bad": fail})


def test_warnings_of_single_fits_are_not_passed_on():
    X, y, _ = rows()
    stopped = functools.partial(fastpu.fit_bsvm, C_pos=1.0, C_unl=0.5, max_iter=1)
    with pytest.warns(ConvergenceWarning):
        stopped(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fastpu.fit_ensemble(X, y, candidates={"stopped": stopped}, random_state=0)


def test_groups_are_held_out_together():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 5)
    labels = np.where(np.isin(patient, rng.permutation(60)[:20]), 1, 0).astype(np.int8)
    folds = grouped_folds(labels, patient, 4, rng)
    for train, held in folds:
        assert not set(patient[train]) & set(patient[held])
        assert (labels[held] == 1).sum() == 25
        assert held.size == 75
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(300))


def test_groups_keep_a_candidate_from_knowing_its_rows():
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(100), 4)
    X = rng.normal(size=(100, 6))[patient] + 0.01 * rng.normal(size=(400, 6))
    y = np.isin(patient, np.arange(30)).astype(int)  # nothing but who it is
    forest = {"forest": SMALL["forest"]}
    known = fastpu.fit_ensemble(X, y, candidates=forest, random_state=0).table["auc"][0]
    apart = fastpu.fit_ensemble(X, y, candidates=forest, groups=patient, random_state=0).table["auc"][0]
    assert known > 0.95
    assert apart < 0.7


def test_a_prior_moves_the_threshold_and_goes_to_those_that_need_it():
    X, y, _ = rows(400, 40)
    needs = {"upu": fastpu.fit_upu, "forest": SMALL["forest"]}
    model = fastpu.fit_ensemble(X, y, candidates=needs, prior=0.3, random_state=0)
    assert model.members[list(model.candidates).index("upu")].params["prior"] == 0.3
    share = np.mean(model.oob_decision_function[y == 0] > model.threshold)
    assert share == pytest.approx(0.3, abs=0.01)
    single = fastpu.fit_ensemble(
        X, y, candidates=needs, prior=(0.3 * 360 + 40) / 400, scenario="single_set", random_state=0
    )
    assert single.threshold == pytest.approx(model.threshold, abs=1e-9)
    refused(TypeError, "prior", fastpu.fit_ensemble, X, y, candidates={"upu": fastpu.fit_upu})


def test_weights_leave_out_candidates_that_take_none():
    X, y, _ = rows()
    weight = np.random.default_rng(0).random(y.size) + 0.5
    model = fastpu.fit_ensemble(X, y, sample_weight=weight, random_state=0)
    assert model.candidates == ("forest", "forest_best_splits", "boosted_trees", "isvm")
    refused(
        TypeError, "candidates['bags']", fastpu.fit_ensemble, X, y, sample_weight=weight,
        candidates={"bags": fastpu.fit_bagging_svm},
    )  # fmt: skip


def test_one_labelled_row_leaves_the_usual_weights():
    X, y, _ = rows(n_pos=1)
    model = fastpu.fit_ensemble(X, y, candidates=SMALL, random_state=0)
    np.testing.assert_allclose(model.weights, 1 / 3)
    assert np.isnan(model.oob_decision_function).all()
    assert "too few labelled rows" in model.report
    refused(ValueError, "X must be given", model.with_probabilities, prior=0.3, y=y)


def test_a_callback_ends_the_fit_with_the_folds_that_are_done():
    X, y, _ = rows()
    heard = []

    def stop(info):
        heard.append((info.candidate, info.fold))
        return info.fold == 2 and info.candidate == "line"

    model = fastpu.fit_ensemble(X, y, candidates=SMALL, random_state=0, callback=stop)
    assert heard == [(name, fold) for fold in (0, 1, 2) for name in SMALL]
    assert model.status == "callback"
    assert not model.converged
    assert np.isnan(model.oob_decision_function).mean() == pytest.approx(0.6)
    assert np.isfinite(model.table["auc"]).all()


def test_probabilities_need_no_other_rows():
    X, y, truth = rows(600, 60)
    model = fastpu.fit_ensemble(X, y, candidates=SMALL, random_state=0).with_probabilities(prior=0.3, y=y)
    held = model.oob_decision_function[y == 0]
    assert model.predict_proba(X).shape == (600, 2)
    assert auc(truth, model.predict_proba(X)[:, 1]) == pytest.approx(auc(truth, model.decision_function(X)))
    assert model.calibration_prior == 0.3
    assert np.isfinite(held).all()
