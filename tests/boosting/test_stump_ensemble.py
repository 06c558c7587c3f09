"""The model of the boosting functions as an object: files, copies, immutability, what it says of its fit."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest

import fastpu
from boosting_cases import ARRAYS, assert_identical, each_fit, make_problem


@pytest.fixture(scope="module")
def data():
    problem = make_problem(np.random.default_rng(1), n=120, d=4, kinds=("normal", "rounded", "zeros"))
    return problem.X, problem.y


@each_fit
def test_saved_pickled_and_copied_models_score_bit_for_bit(fit, data, tmp_path):
    X, y = data
    model = fit(X, y, n_rounds=20, eval_set=(X[y != 0], y[y != 0]))
    path = tmp_path / "model.npz"
    model.save(path)
    for other in (fastpu.load(path), pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert type(other) is type(model)
        assert_identical(other, model)
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert (other.n_iter, other.status, other.converged) == (model.n_iter, model.status, model.converged)
        assert dict(other.params) == dict(model.params)
        for name, values in model.history.items():
            np.testing.assert_array_equal(other.history[name], values)
        with pytest.raises(ValueError, match="read-only"):
            other.alphas[0] = 1.0


@each_fit
def test_models_are_frozen(fit, data):
    X, y = data
    model = fit(X, y, n_rounds=5)
    with pytest.raises((AttributeError, TypeError)):
        model.threshold = 3.0
    with pytest.raises((AttributeError, TypeError)):
        del model.alphas
    with pytest.raises((AttributeError, TypeError)):
        model.no_such_field = 1
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 1
    with pytest.raises(TypeError):
        model.history["deltas"] = 1
    with pytest.raises(TypeError):
        model.params["n_rounds"] = 1


@each_fit
def test_params_record_the_call(fit, data):
    X, y = data
    model = fit(X, y, n_rounds=5, max_bins=9, stop_tol=1e-10)
    assert (model.params["n_rounds"], model.params["max_bins"], model.params["stop_tol"]) == (5, 9, 1e-10)
    assert model.params["method"] == fit.__name__
    assert type(model).__name__ in repr(model)
    assert str(model.n_iter) in repr(model)


@pytest.mark.parametrize("form", ["exact", "max_bins", "binned", "eval_set"])
@each_fit
def test_params_are_arguments_of_the_function(fit, form, data):
    """Given back to it they make the same model."""
    X, y = data
    eval_set, options = None, {"max_bins": 9} if form == "max_bins" else {}
    if form == "eval_set":
        eval_set = (X[y != 0], y[y != 0])
        options = {"early_stopping_rounds": 4, "stop_tol": 1e-10, "n_rounds": 99}
    of_loss = {"gamma": 0.8, "rho": 0.03, "step": "line_search"}
    options |= {name: of_loss[name] for name in of_loss.keys() & inspect.signature(fit).parameters.keys()}
    rows = fastpu.bin_features(X, max_bins=6) if form == "binned" else X
    options = {"n_rounds": 12} | options
    model = fit(rows, y, eval_set=eval_set, **options)
    arguments = {name: value for name, value in model.params.items() if name != "method"}
    assert options.items() <= arguments.items()
    again = fit(rows, y, eval_set=eval_set, **arguments)
    assert_identical(again, model)
    assert dict(again.params) == dict(model.params)


@each_fit
def test_a_normal_fit_is_silent(fit, data, capfd):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X, y, n_rounds=30)
    assert capfd.readouterr() == ("", "")


@each_fit
def test_a_rule_that_did_not_end_the_fit_is_reported(fit, data):
    """A fit that made all its rounds has converged, unless a stopping rule was asked for and not met."""
    X, y = data
    valid = (X[y != 0], y[y != 0])
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="all 4 rounds before stop_tol = 0.001 ended it"
    ) as caught:
        model = fit(X, y, n_rounds=4, stop_tol=1e-3)
    assert (model.status, model.converged) == ("n_rounds", False)
    (message,) = [str(warning.message) for warning in caught]
    assert f"{model.deltas[-1]:.3g}" in message
    assert "eval_set" not in message
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="all 4 rounds before early stopping ended it"
    ) as caught:
        model = fit(X, y, n_rounds=4, eval_set=valid, early_stopping_rounds=50)
    (message,) = [str(warning.message) for warning in caught]
    curve = model.history["eval_auc"]
    assert f"the best AUC of eval_set so far, {curve.max():.4g}, is that of round {model.n_iter}" in message
    assert message.endswith("and 50 rounds must pass without a better one; raise n_rounds")
    assert "stop_tol" not in message
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match=r"before early stopping or stop_tol = 0.001 ended it.*;.*; raise"
    ):
        fit(X, y, n_rounds=4, eval_set=valid, early_stopping_rounds=50, stop_tol=1e-3)


@each_fit
def test_an_empty_model_is_reported(fit):
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match=f"{fit.__name__}.*empty"):
        model = fit(np.zeros((4, 2)), [1, 1, -1, -1])
    assert (model.n_iter, model.status, model.converged) == (0, "no_gain", True)
    np.testing.assert_array_equal(model.decision_function(np.ones((3, 2))), np.zeros(3))
    np.testing.assert_array_equal(model.predict(np.ones((3, 2))), [-1, -1, -1])


def test_one_row_a_group_and_one_column():
    for y in ([1, 0], [0, -1], [1, -1]):
        model = fastpu.fit_pnu_auc_boost([[1.0], [0.0]], y)
        assert (model.n_iter, model.status) == (1, "perfect")
        np.testing.assert_array_equal(model.predict([[1.0], [0.0]]), [1, -1])
