"""Thresholds and probabilities of the model of every fit function, through pickles and files."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
from fastpu.model._calibration import METHODS as CALIBRATIONS
from fastpu.path._selection import path_of_fold
from method_recipes import fitted, models_of_all_kinds, problem

PRIOR = 0.4
MODELS = models_of_all_kinds()


@pytest.fixture(scope="module")
def rows():
    return problem(180, seed=1)


def calibrated(model, rows, method="sigmoid"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.EstimateWarning)  # some of these small models rank badly
        return model.with_probabilities(prior=PRIOR, X=rows[0], y=rows[1], method=method)


@pytest.mark.parametrize("case", MODELS)
def test_the_share_of_positive_rows_is_as_near_to_the_prior_as_can_be(case, rows):
    model, X = MODELS[case], rows[0][rows[1] == 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)
        moved = model.with_threshold(prior=PRIOR, X_unl=X)
    scores = model.decision_function(X)
    possible = np.array([0, *(np.count_nonzero(scores >= value) for value in np.unique(scores))])
    found = np.count_nonzero(moved.predict(X) == 1)
    assert abs(found - PRIOR * X.shape[0]) == np.abs(possible - PRIOR * X.shape[0]).min()
    assert type(moved) is type(model)


@pytest.mark.parametrize("method", CALIBRATIONS)
@pytest.mark.parametrize("case", MODELS)
def test_probabilities_rise_with_the_scores_and_are_kept_in_files(case, method, rows, tmp_path):
    model = calibrated(MODELS[case], rows, method)
    X = np.concatenate([rows[0], 100 * rows[0]])
    found = model.predict_proba(X)
    assert found.dtype == np.float64
    assert found.shape == (X.shape[0], 2)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-15)
    order = np.argsort(model.decision_function(X))
    assert (np.diff(found[order, 1]) >= 0).all()
    mean = model.predict_proba(rows[0][rows[1] == 0])[:, 1].mean()
    assert mean == pytest.approx(PRIOR, rel=1e-10 if method == "sigmoid" else 0.25)
    np.testing.assert_array_equal(found, model.predict_proba(X, n_threads=3))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(found, fastpu.load(tmp_path / "model").predict_proba(X))


def test_one_solution_of_a_path_has_no_probabilities_of_the_whole(rows):
    """They are of other scores."""
    path = calibrated(fitted("fit_pu_svm_path"), rows)
    assert path.at(float(path.lams[3])).calibration is None
    assert path_of_fold(path, np.arange(60), 1).calibration is None
    mapping = calibrated(fitted("fit_svmc"), rows)
    assert mapping.at(0).calibration is None
