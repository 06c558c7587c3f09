"""The log of SMC and SVMC, the boundaries that can be drawn from it, how a fit ends, and the hold-out."""

from __future__ import annotations

import time

import numpy as np
import pytest

import fastpu
from helpers import refused
from machine_cases import each_form, each_kernel
from mapping_cases import (
    FITS,
    SECONDS,
    each_fit,
    forgetful,
    groups,
    map_below,
    zeros_and_all,
)
from method_recipes import model_bits

pytestmark = pytest.mark.filterwarnings("ignore:the last boundary of:fastpu.exceptions.DegenerateModelWarning")


@pytest.fixture(scope="module")
def data():
    return zeros_and_all()


# -- the log and the boundaries ----------------------------------------------------------------------------------------

COLUMNS = {
    "kind", "n_neg", "n_new", "n_left", "n_back", "n_support_pos", "n_support_neg", "pos_reject", "puf", "fit_time",
    "score_time", "n_steps", "objective", "gap", "violation", "margin",
}  # fmt: skip


@each_fit
def test_the_log_has_a_line_for_the_mapping_and_each_iteration(fit, data):
    X, y = data
    start = time.perf_counter()
    model = fit(X, y, C=10, gamma=1.0)
    seconds = time.perf_counter() - start
    history = model.history
    assert set(history) == COLUMNS
    assert {values.shape for values in history.values()} == {(model.n_iter + 1,)}
    for name in SECONDS:
        assert (history[name] >= 0).all()
    assert sum(history[name].sum() for name in SECONDS) < seconds
    staged = list(model.staged_decision_function(X))
    assert len(staged) == model.n_iter + 1
    np.testing.assert_allclose(history["pos_reject"], [np.mean(scores[y == 1] < 0) for scores in staged])
    shares = history["n_left"] / (y == 0).sum()
    np.testing.assert_allclose(history["puf"], (1 - history["pos_reject"]) ** 2 / shares)
    np.testing.assert_array_equal(model.objective, history["objective"][1:])
    assert (history["gap"] >= 0).all()
    assert (history["violation"] <= 1e-3).all()
    assert (history["n_steps"] > 0).all()
    assert (model.gap, model.violation) == (history["gap"][-1], history["violation"][-1])


@each_form
@each_kernel
@each_fit
def test_every_boundary_can_be_drawn_from_the_model(fit, kernel, form, data):
    X, y = data
    rows = form(X)
    model = fit(rows, y, C=10, **kernel)
    staged = list(model.staged_decision_function(rows))
    np.testing.assert_array_equal(staged[model.n_iter], model.decision_function(rows))
    for i, scores in enumerate(staged):
        boundary = model.at(i)
        assert isinstance(boundary, fastpu.models.KernelMachine)
        np.testing.assert_array_equal(boundary.decision_function(rows), scores)
        n_pos = np.count_nonzero(y[boundary.support] == 1)
        assert n_pos == model.history["n_support_pos"][i]
        assert boundary.support.size - n_pos == model.history["n_support_neg"][i]
        assert boundary.n_iter == model.history["n_steps"][i]
        assert boundary.objective[0] == model.history["objective"][i]
        assert (boundary.status, boundary.converged) == ("tol", True)
        assert boundary.params["iteration"] == i
    # What an iteration rejects are the rows it was asked about that its boundary calls negative.
    for i, scores in enumerate(staged[1:], start=1):
        asked = model.unlabeled_rows[(model.rejected_by < 0) | (model.rejected_by >= i)]
        found = model.unlabeled_rows[model.rejected_by == i]
        np.testing.assert_array_equal(asked[scores[asked] < 0], found)
    last = model.at(model.n_iter)
    for name in ("support", "dual_coef", "intercept", "gap", "violation", "margin", "coef", "support_dense"):
        np.testing.assert_array_equal(getattr(last, name), getattr(model, name))


def test_support_vectors_are_kept_once():
    X, y, options = forgetful()
    model = fastpu.fit_svmc(X, y, **options)
    assert not np.isin(model.other_rows, model.support).any()
    union = np.unique(model.boundary_support)
    np.testing.assert_array_equal(np.union1d(model.other_rows, model.support), union)
    np.testing.assert_array_equal(model.other_dense, X[model.other_rows])
    np.testing.assert_array_equal(model.support_vectors, X[model.support])
    assert model.boundary_support.size > 2 * union.size
    for values in (model.other_dense, model.boundary_coefs, model.rejected_by):
        assert not values.flags.writeable


def test_an_iteration_that_is_none_is_refused(data):
    X, y = data
    model = fastpu.fit_svmc(X, y, C=100)
    refused(ValueError, f"iteration must be an integer in [0, {model.n_iter}], got 99", model.at, 99)
    refused(ValueError, "iteration must be an integer in", model.at, -1)
    refused(TypeError, "iteration must be an integer in", model.at, 1.0)


# -- endings -----------------------------------------------------------------------------------------------------------


@each_fit
def test_the_callback_hears_of_every_iteration(fit):
    X, y, options = forgetful()
    heard = []
    model = fit(X, y, callback=heard.append, **options)
    assert [info.iteration for info in heard] == list(range(1, model.n_iter + 1))
    assert {info.max_iter for info in heard} == {100}
    kinds = {"convergence": 1, "repair": 2}
    assert [kinds[info.kind] for info in heard] == model.history["kind"][1:].tolist()
    for name in ("n_neg", "n_new", "n_left", "n_back", "n_support_pos", "n_support_neg", "pos_reject", *SECONDS):
        np.testing.assert_array_equal([getattr(info, name) for info in heard], model.history[name][1:], err_msg=name)
    assert all(isinstance(info, fastpu.models.MappingRound) for info in heard)


@each_fit
def test_a_true_callback_ends_the_fit_with_its_boundary(fit):
    X, y, options = forgetful()
    full = fit(X, y, **options)
    model = fit(X, y, callback=lambda info: info.iteration == 3, **options)
    assert (model.n_iter, model.status, model.converged) == (3, "callback", False)
    np.testing.assert_array_equal(model.decision_function(X), full.at(3).decision_function(X))
    np.testing.assert_array_equal(model.unlabeled_set == 1, (full.rejected_by < 0) | (full.rejected_by > 3))
    last = fit(X, y, callback=lambda info: info.n_new == info.n_back == 0, **options)
    assert (last.status, last.converged) == ("converged", True)


@each_fit
def test_running_out_of_iterations_is_reported(fit):
    X, y, options = forgetful()
    full = fit(X, y, **options)
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="ran all max_iter = 3 iterations: the last one re"
    ) as caught:
        model = fit(X, y, max_iter=3, **options)
    assert caught[0].filename == __file__
    words = f"rejected {full.history['n_new'][3]} more unlabelled rows"
    assert words in str(caught[0].message)
    assert (model.n_iter, model.status, model.converged) == (3, "max_iter", False)
    np.testing.assert_array_equal(model.rejected_by, np.where(full.rejected_by > 3, -1, full.rejected_by))
    assert fit(X, y, max_iter=full.n_iter, **options).status == "converged"


def test_svms_that_do_not_converge_are_reported():
    X, y, options = forgetful()
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="of .* SVMs of fit_smc did not converge") as caught:
        model = fastpu.fit_smc(X, y, solver_max_iter=40, **options)
    assert caught[0].filename == __file__
    for words in ("ran all solver_max_iter = 40 pair updates", "duality gap", "above tol = 0.001", "raise solver_max_"):
        assert words in str(caught[0].message)
    assert not model.converged
    unmet = model.history["violation"] > 1e-3
    assert unmet.any()
    assert [model.at(i).converged for i in range(unmet.size)] == (~unmet).tolist()


def test_a_tolerance_below_the_precision_is_reported():
    X, y, options = forgetful()
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="precision of float32 kernel values"):
        fastpu.fit_smc(X.astype(np.float32), y, tol=1e-300, **options)


@pytest.mark.filterwarnings("default:the last boundary of:fastpu.exceptions.DegenerateModelWarning")
def test_over_iteration_is_reported():
    X, y, _ = groups(0)
    with pytest.warns(
        fastpu.exceptions.DegenerateModelWarning, match="the last boundary of fit_svmc rejects"
    ) as caught:
        model = fastpu.fit_svmc(X, y, C=0.1, gamma=1.0)
    assert caught[0].filename == __file__
    assert model.history["pos_reject"][-1] > 0.2
    assert f"rejects {model.history['pos_reject'][-1]:.3g} of the labelled positives" in str(caught[0].message)


def test_rejecting_all_of_u_is_reported(monkeypatch):
    X = np.concatenate([np.linspace(0, 1, 30), np.linspace(4, 5, 10)])[:, None]
    y = np.repeat([0, 1], [30, 10])
    map_below(monkeypatch, 0.5)
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="fit_smc rejected all 30 unlabelled rows"):
        model = fastpu.fit_smc(X, y, C=100, kernel="linear")
    assert (model.status, model.history["n_left"][-1]) == ("converged", 0)
    assert model.history["puf"][-1] == 0


# -- the hold-out ------------------------------------------------------------------------------------------------------


def test_held_out_positives_are_not_trained_on():
    X, y, _ = groups(0, k=6)
    model = fastpu.fit_svmc(X, y, C=100, gamma=1.0, hold_out=0.5, random_state=0)
    positive = np.flatnonzero(y == 1)
    order = np.random.default_rng(0).permutation(positive)
    held_out = order[: round(0.5 * positive.size)]
    assert not np.isin(held_out, model.boundary_support).any()
    staged = list(model.staged_decision_function(X))
    np.testing.assert_allclose(model.history["pos_reject"], [np.mean(scores[held_out] < 0) for scores in staged])
    assert model.status == "converged"
    kept = np.setdiff1d(np.arange(len(y)), held_out)
    alone = fastpu.fit_svmc(X[kept], y[kept], C=100, gamma=1.0)
    np.testing.assert_array_equal(alone.rejected_by, model.rejected_by)
    np.testing.assert_array_equal(alone.dual_coef, model.dual_coef)


@pytest.mark.parametrize("name", FITS)
def test_too_many_rejected_positives_end_the_fit_with_the_boundary_before(name):
    X, y, _ = groups(0)
    options = {"C": 1.0, "gamma": 1.0, "random_state": 2, "hold_out": 0.4}
    full = FITS[name](X, y, **options)
    worst = full.history["pos_reject"]
    limit = 0.2
    first = int(np.argmax(worst[1:] > limit)) + 1
    assert worst[first] > limit
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning) if first == 1 else pytest.MonkeyPatch.context():
        model = FITS[name](X, y, max_pos_reject=limit, **options)
    assert (model.status, model.converged, model.n_iter) == ("max_pos_reject", True, first - 1)
    assert model.history["kind"].size == first + 1
    np.testing.assert_array_equal(model.decision_function(X), full.at(first - 1).decision_function(X))
    np.testing.assert_array_equal(model.rejected_by, np.where(full.rejected_by >= first, -1, full.rejected_by))
    assert model.objective.size == first - 1
    assert len(list(model.staged_decision_function(X))) == first + 1


def test_the_mapping_may_be_all_that_is_left(tmp_path):
    X, y, _ = groups(0)
    options = {"C": 1e-3, "gamma": 1.0, "random_state": 0, "max_pos_reject": 0.1}
    words = "fit_smc kept only the boundary of the mapping: the first SVM rejects 1 of the positives, more than"
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match=words):
        model = fastpu.fit_smc(X, y, **options)
    assert (model.n_iter, model.status) == (0, "max_pos_reject")
    np.testing.assert_array_equal(model.decision_function(X), model.at(0).decision_function(X))
    assert set(model.rejected_by) == {-1, 0}
    model.save(tmp_path / "model.npz")
    assert model_bits(fastpu.load(tmp_path / "model.npz"), X) == model_bits(model, X)


def test_the_seed_decides_who_is_held_out():
    X, y, _ = groups(0)

    def fit(seed):
        return model_bits(fastpu.fit_svmc(X, y, C=100, hold_out=0.3, random_state=seed))

    assert fit(4) == fit(4) == fit(np.random.default_rng(4))
    assert len({fit(seed) for seed in range(5)}) > 1
    assert model_bits(fastpu.fit_svmc(X, y, C=100, random_state=1)) == model_bits(fastpu.fit_svmc(X, y, C=100))
