"""ISVM, IPSI and BPSI: forms of rows, weights, many costs, what the model says, callbacks, warnings."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.common._sharing import shared_parameters
from interrupts import INTERRUPT_SECONDS, interrupted_after, posix
from isvm_cases import COSTS, FIT_TOL, FITS, bits, each_fit, each_iteration, pu_rows, stepped
from machine_cases import FORMS, each_form

#: A fit that goes on after "increase", and to the last digit.
FREE = {"check_increase": False, "tol": 0.0}

quiet = pytest.mark.filterwarnings("ignore::fastpu.DegenerateModelWarning")


@pytest.fixture(scope="module")
def data():
    """Exact in float32."""
    X, y, _ = pu_rows(80, 4, seed=3)
    return np.round(X * 64) / 64, y


# -- rows --------------------------------------------------------------------------------------------------------------


@each_form
@each_fit
def test_all_forms_of_rows_give_the_same_model(fit, form, data):
    X, y = data
    expected, model = fit(X, y), fit(form(X), y)
    assert model.status == expected.status
    np.testing.assert_allclose(model.coef, expected.coef, atol=FIT_TOL)
    np.testing.assert_allclose(model.objective, expected.objective, rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(form(X)), expected.decision_function(X), atol=FIT_TOL)
    if expected.pseudo_labels is not None:
        np.testing.assert_array_equal(model.pseudo_labels, expected.pseudo_labels)


# -- weights -----------------------------------------------------------------------------------------------------------


@each_fit
def test_rows_of_weight_zero_are_absent(fit, data):
    """To the last bit, whatever they hold; they have no pseudo-label."""
    X, y = data
    kept = np.random.default_rng(1).random(len(y)) < 0.6
    kept[np.argmax(y)] = True
    far = np.where(kept[:, None], X, 1e9)
    for form in FORMS.values():
        model, alone = fit(form(far), y, sample_weight=kept.astype(float)), fit(form(X[kept]), y[kept])
        assert alone.coef.tobytes() == model.coef.tobytes()
        assert (alone.intercept, alone.status) == (model.intercept, model.status)
        if model.pseudo_labels is not None:
            np.testing.assert_array_equal(model.pseudo_labels[kept], alone.pseudo_labels)
            assert not model.pseudo_labels[~kept].any()


@each_fit
def test_weights_of_one_are_none(fit, data):
    X, y = data
    assert bits(fit(X, y, sample_weight=np.ones(len(y)))) == bits(fit(X, y))


@each_iteration
def test_weights_have_no_scale(fit, data):
    """As S holds means; the default of C alone takes them for numbers of rows."""
    X, y = data
    weights = np.linspace(0.5, 2, len(y))
    model, heavy = (fit(X, y, C=1.0, sample_weight=scale * weights) for scale in (1.0, 1024.0))
    np.testing.assert_allclose(heavy.coef, model.coef, atol=FIT_TOL)


# -- many costs --------------------------------------------------------------------------------------------------------


@quiet
@each_form
@each_fit
def test_many_costs_give_the_models_of_each(fit, form, data):
    """To the last bit."""
    X, y = data
    rows = form(X)
    alone = [bits(fit(rows, y, C=C)) for C in COSTS]
    for n_threads in (1, 2, 7):
        models = fit(rows, y, C=COSTS, n_threads=n_threads)
        assert [model.params["C"] for model in models] == COSTS.tolist()
        assert [bits(model) for model in models] == alone


@each_fit
def test_any_sequence_of_costs_is_taken(fit, data):
    X, y = data
    expected = [bits(model) for model in fit(X, y, C=[3.0, 30.0])]
    for costs in ((3.0, 30.0), np.array([3, 30]), np.array([3.0, 30.0], dtype=np.float32), range(3, 31, 27)):
        assert [bits(model) for model in fit(X, y, C=costs)] == expected
    assert isinstance(fit(X, y, C=[3.0]), list)
    for one in (3, np.float32(3.0), np.int64(3)):
        assert isinstance(fit(X, y, C=one), fastpu.LinearMachine)


def test_select_fits_many_costs_at_once(data):
    X, y = data
    for name, fit in FITS.items():
        assert shared_parameters(fit.function) == ("C",), name
    calls = []

    def counted(X, y, *, C):
        calls.append(C)
        return fastpu.fit_isvm(X, y, C=C)

    counted.shares = ("C",)
    chosen = fastpu.select(counted, X, y, {"C": [0.1, 1.0, 10.0]}, cv=2, random_state=0)
    assert [len(C) for C in calls[:-1]] == [3, 3]
    alone = fastpu.fit_isvm(X, y, C=chosen.best_params["C"])
    assert bits(chosen.model) == bits(alone)


# -- the model ---------------------------------------------------------------------------------------------------------


@each_fit
def test_the_model_is_a_linear_function(fit, data):
    X, y = data
    model = fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef + model.intercept, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) > 0, 1, -1))
    assert (model.threshold, model.threshold_rule, model.converged) == (0.0, "zero", True)
    assert model.intercept_low <= model.intercept <= model.intercept_high
    assert len(model.objective) == model.n_iter + 1
    assert 0 <= model.gap <= 1e-9 * model.objective[-1] * 2
    assert model.params["method"] == fit.function.__name__
    for array in (model.coef, model.objective, *model.history.values()):
        assert not array.flags.writeable
    matched = model.with_threshold(prior=0.3, X_unl=X[y == 0])
    assert abs(np.mean(matched.predict(X[y == 0]) == 1) - 0.3) < 0.02
    assert isinstance(matched, fastpu.LinearMachine)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"coef": np.ones(3)}, "coef must have 4 finite entries"),
        ({"coef": np.full(4, np.nan)}, "coef must have 4 finite entries"),
        ({"intercept": np.inf}, "intercept must be finite, got inf"),
        ({"intercept_low": 2.0, "intercept_high": 1.0}, "intercept_low must be <= intercept_high, got 2.0 and 1.0"),
        ({"intercept_low": np.nan}, "intercept_low must be <= intercept_high"),
        ({"pseudo_labels": np.array([2], dtype=np.int8)}, "pseudo_labels must be -1, 0 or 1"),
    ],
)
def test_a_model_that_makes_no_sense_is_refused(change, words, data):
    model = fastpu.fit_isvm(*data)
    fields = {**model.__reduce__()[1][1], **change}
    with pytest.raises(ValueError, match=words):
        fastpu.LinearMachine(**fields)


@each_form
def test_scores_that_overflow_are_refused(form, data):
    model = dataclasses.replace(fastpu.fit_isvm(*data), coef=np.full(4, 1e300))
    rows = np.array([[1.0, 2.0, 3.0, 4.0], [1e30, -1e30, 0.0, 0.0]])
    with pytest.raises(ValueError, match="X has entries so large that its scores overflow, first in row 1"):
        model.decision_function(form(rows))


# -- interrupts, errors, text ------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("n_costs", [1, 5000])
def test_ctrl_c_ends_a_fit(n_costs):
    """Of one cost in the solver, and of many, one after another."""
    rng = np.random.default_rng(3)
    n, d = (60_000, 200) if n_costs == 1 else (2_000, 20)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + rng.normal(size=n) > 1
    costs = np.geomspace(1, 100, n_costs)
    assert interrupted_after(lambda: fastpu.fit_isvm(X, y, C=costs, n_threads=2, **FREE)) < INTERRUPT_SECONDS


def test_an_error_in_one_of_many_fits_comes_through(data):
    X, y = data
    with pytest.raises(ValueError, match="C must be at most 1e.100, .* got 1e.101"):
        fastpu.fit_isvm(X, y, C=[1.0, 1e101, 2.0], n_threads=2)


def test_text_in_csr_is_never_made_dense():
    """A matrix that would take a terabyte."""
    rng = np.random.default_rng(5)
    n, d, each = 200, 1_000_000, 30
    columns = np.sort(rng.choice(2000, size=(n, each)), axis=1) * 499
    y = (np.arange(n) < 40).astype(int)
    columns[:80, 0] = 7
    X = sp.csr_array((np.ones(n * each), (np.repeat(np.arange(n), each), columns.ravel())), shape=(n, d))
    for fit in FITS.values():
        model = fit(X, y, C=30.0)
        assert np.isfinite(model.decision_function(X)).all()
        assert (model.predict(X[:40]) == 1).mean() > 0.5


# -- callbacks ---------------------------------------------------------------------------------------------------------


@each_fit
def test_the_callback_hears_of_every_classifier(fit, data):
    X, y = data
    heard = []
    models = fit(X, y, C=[1.0, 10.0], callback=heard.append)
    assert all(isinstance(info, fastpu.MarginRound) for info in heard)
    for model in models:
        mine = [info for info in heard if model.params["C"] == info.C]
        assert [info.step for info in mine] == list(range(model.n_iter + 1))
        assert {info.max_iter for info in mine} == {100}
        np.testing.assert_array_equal([info.n_changed for info in mine], model.history["n_changed"])
        np.testing.assert_array_equal([info.gap for info in mine], model.history["gap"])
        values = model.history.get("objective_fitted", model.objective)
        np.testing.assert_array_equal([info.objective for info in mine], values)
    assert [bits(model) for model in models] == [bits(model) for model in fit(X, y, C=[1.0, 10.0])]


@each_fit
def test_a_true_callback_ends_the_fit_without_a_warning(fit, data):
    X, y = data
    full = fit(X, y, C=10.0)
    models = stepped(fit, X, y, C=10.0)
    assert [model.n_iter for model in models] == list(range(full.n_iter + 1))
    for model in models[:-1]:
        assert (model.status, model.converged) == ("callback", False)
    assert bits(models[-1]) == bits(full)
    few = fit(X, y, C=[1.0, 10.0, 100.0], callback=lambda info: info.C == 10.0)
    assert [model.status == "callback" for model in few] == [False, True]
    assert bits(few[0]) == bits(fit(X, y, C=1.0))


# -- warnings ----------------------------------------------------------------------------------------------------------


@quiet
@each_fit
def test_sub_problems_that_are_not_solved_are_told_with_their_gap(fit):
    X, y, _ = pu_rows(100, 5, seed=1, apart=3.0)
    options = {**fit.options, "C": 300.0, "solver": "iadmm", "solver_max_iter": 5}
    with pytest.warns(fastpu.ConvergenceWarning) as caught:
        model = fit.function(X, y, **options)
    message = next(str(warning.message) for warning in caught if "sub-problems" in str(warning.message))
    assert message.startswith(f"{fit.function.__name__}: for C = 300, ")
    assert "sub-problems were not solved to solver_tol = 1e-09: the worst has the duality gap " in message
    assert (
        "after 5 steps (iadmm); raise solver_max_iter, scale the features of X, or accept a larger solver_tol"
        in message
    )
    assert caught[0].filename == __file__
    assert not model.converged
    assert model.params["solver_max_iter"] == 5


@quiet
@each_fit
def test_flaws_of_many_costs_are_told_once(fit):
    X, y, _ = pu_rows(100, 5, seed=1, apart=3.0)
    with pytest.warns(fastpu.ConvergenceWarning) as caught:
        fit(X, y, C=[100.0, 200.0, 300.0], solver="iadmm", solver_max_iter=5)
    found = [str(warning.message) for warning in caught if "sub-problems" in str(warning.message)]
    assert len(found) == 1
    assert "for 3 of 3 values of C, the first C = 100, " in found[0]


def test_a_model_of_one_sign_gives_a_warning():
    X, y, _ = pu_rows(30, 3, seed=2)
    with pytest.warns(
        fastpu.DegenerateModelWarning, match="fit_isvm: for C = 1, the model calls all 30 training rows "
    ):
        fastpu.fit_isvm(np.ones_like(X), y, C=1.0)
