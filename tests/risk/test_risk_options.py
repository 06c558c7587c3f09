"""uPU and nnPU: forms of rows, weights, the prior, seeds, callbacks, early stopping, what the model says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.data._matrix import DenseMatrix
from fastpu.risk._column_scales import read_columns
from helpers import refused
from machine_cases import each_form
from risk_cases import (
    ROUNDING,
    SINGLE,
    assert_same,
    each_by_adam,
    each_fit,
    each_weighted,
    learned,
    pu_rows,
    quiet,
)

pytestmark = quiet


@pytest.fixture(scope="module")
def data():
    X, y, _ = pu_rows()
    return X, y


# -- rows --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"model": "mlp"}, {"model": "mlp", "n_epochs": 20, "batch_size": 30}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_far_from_zero_are_learned_from_as_centred_ones(options, weighted, data):
    """Adam does not know whether a column is years or years since 2000."""
    X, y = data
    weights = np.arange(y.size) % 3 + 1.0 if weighted else None
    centred = X - np.average(X, axis=0, weights=weights)
    far = centred + 2000.0
    more = {"prior": 0.4, "random_state": 0, "sample_weight": weights, **options}
    near = fastpu.fit_nnpu(centred, y, eval_set=(centred[::2], y[::2]), **more)
    model = fastpu.fit_nnpu(far, y, eval_set=(far[::2], y[::2]), **more)
    assert model.n_iter == near.n_iter
    np.testing.assert_allclose(model.history["eval_risk"], near.history["eval_risk"], rtol=1e-6)
    expected = near.decision_function(centred)
    np.testing.assert_allclose(model.decision_function(far), expected, atol=1e-6 * np.abs(expected).max())
    single = fastpu.fit_nnpu(far.astype(np.float32), y, **more).decision_function(far.astype(np.float32))
    assert fastpu.metrics.auc(y, single) == pytest.approx(fastpu.metrics.auc(y, expected), abs=0.02)


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float32, 1e-4), (np.float64, 1e-12)])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_are_centred_whose_mean_is_further_from_zero_than_their_deviation(dtype, rounding, weighted):
    rng = np.random.default_rng(8)
    weights = np.where(np.arange(3000) < 1500, 1e-60, 3e-60) if weighted else None
    unit = rng.normal(size=(3000, 5))
    unit[0] = 30.0  # sums are made less the first row, which may be unlike the others
    deviation = np.sqrt(np.average((unit - np.average(unit, axis=0, weights=weights)) ** 2, axis=0, weights=weights))
    unit = (unit - np.average(unit, axis=0, weights=weights)) / deviation
    X = (unit * [1, 1, 1e3, 1e-3, 1] + [0.95, -1.05, 0.0, 2000.0, -0.5]).astype(dtype)
    centre = read_columns(DenseMatrix(X), weights).centre
    assert centre is not None
    np.testing.assert_allclose(centre, [0, -1.05, 0, 2000.0, 0], rtol=rounding)
    assert read_columns(DenseMatrix(np.ascontiguousarray(X[:, [0, 2, 4]])), weights).centre is None


# -- weights -----------------------------------------------------------------------------------------------------------


@each_weighted
def test_weights_have_no_scale(fit, data):
    """But for the number of drawn centres, which a weight may stand for."""
    X, y = data
    weights = np.linspace(1, 2, len(y))
    assert_same(fit(X, y, sample_weight=1024 * weights), fit(X, y, sample_weight=weights), ROUNDING)


@pytest.mark.parametrize("options", [{"batch_size": 32, "n_epochs": 5}, {"batch_size": None}, {}])
@each_form
def test_weights_are_repeated_rows_in_batches_and_where_rows_are_held_out(form, options):
    """A row of weight 3 comes three times in a random order, and one of the three may be held out."""
    X, y, _ = pu_rows(700, 3)
    repeats = np.random.default_rng(2).integers(0, 6, size=len(y))
    rows = form(X)
    given = {"prior": 0.45, "model": "mlp", "n_hidden": 5, "random_state": 3, **options}
    model = fastpu.fit_nnpu(rows, y, sample_weight=repeats, **given)
    again = fastpu.fit_nnpu(form(np.repeat(X, repeats, axis=0)), np.repeat(y, repeats), **given)
    assert_same(model, again, 1e-8 if rows.dtype == np.float64 else 100 * SINGLE)
    assert ("eval_risk" in model.history) == ("n_epochs" not in options)


# -- the prior ---------------------------------------------------------------------------------------------------------


@each_fit
def test_the_prior_among_all_rows_is_converted(fit, data):
    X, y = data
    n, n_pos = len(y), int(y.sum())
    among_all = (0.45 * (n - n_pos) + n_pos) / n
    model = fit(X, y, prior=among_all, scenario="single_set")
    assert_same(model, fit(X, y, prior=0.45), 1e-9)
    assert model.params["prior"] == among_all
    assert model.params["prior_among_unlabeled"] == pytest.approx(0.45)
    refused(ValueError, "prior must be at least", fit, X, y, prior=0.9 * n_pos / n, scenario="single_set")


def test_weights_count_in_the_conversion(data):
    X, y = data
    weights = np.where(y == 1, 2.0, 1.0)
    total, labelled = weights.sum(), 2.0 * y.sum()
    model = fastpu.fit_upu(X, y, prior=0.6, scenario="single_set", loss="logistic", lam=0.1, sample_weight=weights)
    expected = (0.6 * total - labelled) / (total - labelled)
    assert model.params["prior_among_unlabeled"] == pytest.approx(expected, rel=1e-12)


# -- callbacks, progress and early stopping ----------------------------------------------------------------------------


@each_by_adam
def test_the_callback_hears_of_every_epoch_and_can_end_the_fit(fit, data, capsys):
    X, y = data
    heard: list[fastpu.models.RiskRound] = []
    model = fit(X, y, callback=heard.append, progress=True)
    assert [info.round for info in heard] == list(range(1, 31))
    np.testing.assert_array_equal([info.risk for info in heard], model.history["risk"])
    np.testing.assert_array_equal([info.n_reversed for info in heard], model.history["n_reversed"])
    assert all(info.eval_risk is None and info.n_rounds == 30 for info in heard)
    stopped = fit(X, y, callback=lambda info: info.round == 4)
    assert (stopped.status, stopped.converged, stopped.n_iter) == ("callback", False, 4)
    np.testing.assert_array_equal(stopped.objective, model.objective[:4])
    assert [part.tobytes() for part in learned(stopped)] == [part.tobytes() for part in learned(fit(X, y, n_epochs=4))]


@each_by_adam
def test_early_stopping_keeps_the_best_epoch(fit):
    X, y, _ = pu_rows(80, 12, apart=1.0)
    other, labels, _ = pu_rows(80, 12, seed=1, apart=1.0)
    options = {"n_epochs": 400, "learning_rate": 0.05, "prior": 0.5}
    model = fit(X, y, eval_set=(other, labels), early_stopping_rounds=8, **options)
    risks = model.history["eval_risk"]
    assert model.status == "early_stopping"
    assert model.converged
    assert model.n_iter == np.argmin(risks) + 1 == len(risks) - 8
    assert len(model.objective) == model.n_iter
    short = fit(X, y, eval_set=(other, labels), **{**options, "n_epochs": model.n_iter})
    assert [part.tobytes() for part in learned(short)] == [part.tobytes() for part in learned(model)]
    np.testing.assert_array_equal(short.history["eval_risk"], risks[: model.n_iter])


@each_by_adam
def test_the_evaluation_set_is_judged_by_the_risk_and_does_not_touch_the_fit(fit, data):
    X, y = data
    other, labels, _ = pu_rows(50, 3, seed=1)
    expected = fit(X, y)
    model = fit(X, y, eval_set=(other, labels))
    assert [part.tobytes() for part in learned(model)] == [part.tobytes() for part in learned(expected)]
    f = model.decision_function(other)
    loss = {"sigmoid": lambda z: 1 / (1 + np.exp(z)), "logistic": lambda z: np.log1p(np.exp(-z))}[model.params["loss"]]
    positive = 0.45 * loss(f[labels == 1]).mean()
    negative = loss(-f[labels == 0]).mean() - 0.45 * loss(-f[labels == 1]).mean()
    if fit.func is fastpu.fit_nnpu:
        negative = max(negative, 0)
    assert model.history["eval_risk"][-1] == pytest.approx(positive + negative, abs=1e-12)
    # In any form and type.
    again = fit(X, y, eval_set=(sp.csr_array(other).astype(np.float32), labels))
    np.testing.assert_allclose(again.history["eval_risk"], model.history["eval_risk"], rtol=1e-12)


@pytest.mark.filterwarnings("default::fastpu.exceptions.DegenerateModelWarning")
def test_a_model_that_calls_all_unlabelled_rows_the_same_is_reported():
    """Though some labelled row is called positive, and the prior says that every fifth unlabelled row is."""
    X, y, _ = pu_rows(200, 2, apart=0.3)
    X[np.argmax(y)] = 60.0
    text = r"calls all [0-9]+ unlabelled rows negative: their scores are between \S+ and \S+\. By the prior"
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match=text) as told:
        model = fastpu.fit_upu(X, y, prior=0.2, lam=10.0)
    scores = model.decision_function(X[y == 0])
    assert f"between {scores.min():.3g} and {scores.max():.3g}. By" in str(told[0].message)
    assert (model.predict(X) == 1).any()
    assert (model.predict(X[y == 0]) == -1).all()


# -- the model ---------------------------------------------------------------------------------------------------------


@each_fit
def test_scores_that_overflow_are_refused(fit, data):
    X, y = data
    model = fit(X, y)
    if isinstance(model, fastpu.models.RiskMachine) and model.basis == "gauss":
        pytest.skip("its scores cannot")
    words = "X has entries so large that its scores overflow"
    rows = np.array([[0.0, 0.0, 0.0], [1e308, 1e308, -1e308], [1e308, -1e308, 1e308], [-1e308, 1e308, 1e308]])
    with np.errstate(over="ignore"):
        signs = np.sign(model.coef) if isinstance(model, fastpu.models.RiskMachine) else np.ones(3)
    large = replace(model, coef=signs * [1e10, 2e10, -1e10]) if signs.size == model.coef.size else model
    refused(ValueError, words, large.decision_function, rows)
    refused(ValueError, words.replace("X", "X_unl"), large.with_threshold, prior=0.5, X_unl=rows)
