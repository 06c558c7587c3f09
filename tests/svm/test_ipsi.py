"""IPSI: Algorithm 1 with the psi loss against its oracle, its starts, and the collapse to w = 0."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from isvm_cases import COSTS, FIT_TOL, FITS, ROUNDING, pu_rows, quiet, stepped
from oracles import isvm

fit_isvm, fit_ipsi = FITS["isvm"], FITS["ipsi"]

STARTS = ("hinge", "psi", "isvm")
each_start = pytest.mark.parametrize("init", STARTS)


@pytest.fixture(scope="module", params=range(4))
def data(request):
    return pu_rows(seed=request.param)


# -- fast equals slow --------------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("check_increase", [True, False])
@pytest.mark.parametrize("init", ["hinge", "psi"])
def test_it_is_algorithm_1_with_the_psi_loss(init, check_increase, data):
    X, y, _ = data
    options = {"init": init, "check_increase": check_increase}
    for C, model in zip(COSTS, fit_ipsi(X, y, C=COSTS, **options), strict=True):
        expected = isvm.algorithm_1(X, y == 1, C, kind="psi", **options)
        assert model.status == expected.status
        np.testing.assert_array_equal(model.pseudo_labels, expected.labels)
        scale = 1 + np.abs(expected.f.scores(X)).max()
        np.testing.assert_allclose(model.coef, expected.f.w, atol=FIT_TOL * scale)
        np.testing.assert_allclose(model.decision_function(X), expected.f.scores(X), atol=FIT_TOL * scale)
        np.testing.assert_allclose(model.objective, expected.values, rtol=1e-6)


def test_the_first_classifier_may_be_that_of_isvm(data):
    X, y, _ = data
    model = fit_isvm(X, y, C=10.0)
    first = stepped(fit_ipsi, X, y, C=10.0, init="isvm")[0]
    np.testing.assert_array_equal(first.coef, model.coef)
    np.testing.assert_array_equal(first.pseudo_labels, model.pseudo_labels)
    assert first.history["n_problems"][0] == model.history["n_problems"].sum()


# -- what the objective does -------------------------------------------------------------------------------------------


@quiet
@each_start
def test_the_objective_never_increases_and_each_classifier_is_no_worse_than_the_last(init):
    """S(f_(k+1), y_k) <= S(f_k, y_k) holds as the inner iteration starts at f_k."""
    for seed in range(6):
        X, y, _ = pu_rows(60, 4, seed=seed, apart=1.0)
        for model in fit_ipsi(X, y, C=COSTS, init=init):
            assert np.all(np.diff(model.objective) <= 1e-9 * model.objective[:-1])
            fitted, relabelled = (model.history[f"objective_{name}"] for name in ("fitted", "relabeled"))
            assert np.all(fitted[1:] <= relabelled[:-1] * (1 + 1e-9))


@quiet
def test_from_an_isvm_it_is_never_above_that():
    """S with the psi loss never exceeds what ISVM ended with, with the hinge loss, at the same labels."""
    for seed in range(6):
        X, y, _ = pu_rows(60, 4, seed=seed, apart=1.0)
        for hinge, psi in zip(fit_isvm(X, y, C=COSTS), fit_ipsi(X, y, C=COSTS, init="isvm"), strict=True):
            assert psi.objective[0] <= hinge.objective[-1] * (1 + ROUNDING)
            assert psi.objective[-1] <= psi.objective[0] * (1 + 1e-9)


@quiet
def test_rows_on_the_wrong_side_do_not_touch_the_classifier(data):
    """Their loss is flat: w is that of the hinge loss without them, at the costs that they have left the others."""
    X, y, _ = data
    n_seen = 0
    for model in fit_ipsi(X, y, C=COSTS, check_increase=False, tol=0.0):
        labels = model.pseudo_labels
        right = labels * model.decision_function(X) > 0
        if model.status == "labels" and not right.all():
            n_seen += 1
            alone = isvm.minimise(X[right], labels[right], isvm.costs(model.params["C"], labels)[right])
            np.testing.assert_allclose(alone.w, model.coef, atol=FIT_TOL * (1 + np.abs(alone.w).max()))
    assert n_seen


# -- the collapse ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["psi", "hinge"])
def test_the_collapse_is_in_the_status_and_warned_of(init):
    X, y, _ = pu_rows(seed=1)
    D = max(np.linalg.norm(a - b) for a in X for b in X)
    C = 0.9 / (2 * D**2)  # where the minimum is certainly at w = 0
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning) as caught:
        model = fastpu.fit_ipsi(X, y, C=C, init=init)
    message = str(caught[0].message)
    assert message.startswith(f"fit_ipsi: for C = {C:g}, the psi loss has collapsed: coef is 0, and all rows have the ")
    assert caught[0].filename == __file__
    assert (model.status, model.converged) == ("collapsed", True)
    np.testing.assert_allclose(model.coef, 0, atol=1e-9)
    assert abs(model.intercept) >= 1
    np.testing.assert_allclose(model.objective[-1], C, rtol=1e-6)
    assert np.isinf([model.intercept_low, model.intercept_high]).any()


def test_the_collapse_is_said_once_for_all_costs(recwarn):
    X, y, _ = pu_rows(seed=1)
    models = fit_ipsi(X, y, C=COSTS, init="psi")
    n_collapsed = sum(model.status == "collapsed" for model in models)
    assert 0 < n_collapsed < len(COSTS)
    assert len(recwarn) == 1
    assert str(recwarn[0].message).startswith(
        f"fit_ipsi: for {n_collapsed} of 9 values of C, the first C = 0.0001, the psi loss has collapsed"
    )
