"""Which rows Adam trains on and which it is stopped by: shares, weights, sizes of batches."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from fastpu.risk._held_out import HeldOutSplit, n_held_out
from risk_cases import pu_rows, quiet


def labels_of(n_pos: int, n_unl: int) -> np.ndarray:
    return np.repeat(np.array([1, 0], dtype=np.int8), [n_pos, n_unl])


def split(labels, weights=None, *, fraction=0.1, batch_size="auto", seed=0):
    return HeldOutSplit(
        labels, weights, fraction=fraction, batch_size=batch_size, generator=np.random.default_rng(seed)
    )


def test_a_share_of_each_group_is_held_out_and_the_rest_is_trained_on():
    labels = labels_of(200, 1000)
    found = split(labels, batch_size=None)
    assert (labels[found.held_out] == 1).sum() == 20
    assert (labels[found.held_out] == 0).sum() == 100
    assert sorted([*found.held_out, *found.chosen]) == list(range(1200))
    assert found.weights is found.held_out_weights is None
    assert set(split(labels, seed=1).held_out) != set(found.held_out)


@pytest.mark.parametrize(("n_pos", "fraction", "count"), [(94, 0.1, 0), (95, 0.1, 10), (20, 0.5, 10), (10, 0.99, 0)])
def test_nothing_is_held_out_where_the_positive_rows_would_be_too_few(n_pos, fraction, count):
    assert n_held_out(n_pos, fraction) == count
    found = split(labels_of(n_pos, 50), fraction=fraction)
    assert (found.held_out is not None) == (count > 0)


def test_one_unlabelled_row_stays_to_be_trained_on():
    found = split(labels_of(200, 2), fraction=0.9)
    assert (found.held_out >= 200).sum() == 1


@pytest.mark.parametrize(
    ("n_pos", "n_unl", "size"),
    [(500, 500, None), (500, 1500, 1000), (29, 9971, 5000), (19, 10**5, None), (500, 9500, 1000), (5000, 5001, 1001)],
)
def test_batches_are_as_many_as_have_enough_rows_and_positive_ones(n_pos, n_unl, size):
    assert split(labels_of(n_pos, n_unl), fraction=None).batch_size == size


@pytest.mark.parametrize("scale", [1e-12, 0.3, 1.0, 1e3, 1e12])
def test_no_weight_is_lost_and_copies_are_bounded(scale):
    labels = labels_of(150, 400)
    weights = scale * np.linspace(0.1, 3, 550)
    found = split(labels, weights, batch_size=64)
    assert found.chosen.size < 2**17 + 550  # an epoch passes over all of them
    held = np.bincount(found.held_out, weights=found.held_out_weights, minlength=550)
    kept = np.bincount(found.chosen, weights=found.weights[found.chosen], minlength=550)
    np.testing.assert_allclose(held + kept, weights, rtol=1e-9)


@quiet
def test_a_network_is_stopped_by_the_rows_held_out_and_keeps_the_best_epoch():
    X, y, _ = pu_rows(900, 5, apart=1.0)
    fit = {"prior": 0.4, "model": "mlp", "n_hidden": 20, "random_state": 0}
    model = fastpu.fit_nnpu(X, y, **fit)
    risks = model.history["eval_risk"]
    assert (model.status, model.converged) == ("early_stopping", True)
    assert model.n_iter == np.argmin(risks) + 1 == len(risks) - 30
    half = fastpu.fit_nnpu(X, y, validation_fraction=0.5, **fit)
    assert half.history["eval_risk"][0] != risks[0]
    # An evaluation set that is given is what it is stopped by, and nothing is held out.
    other, labels, _ = pu_rows(900, 5, seed=1, apart=1.0)
    given = fastpu.fit_nnpu(X, y, eval_set=(other, labels), **fit)
    plain = fastpu.fit_nnpu(X, y, n_epochs=given.n_iter, eval_set=(other, labels), **fit)
    np.testing.assert_array_equal(given.hidden_coef, plain.hidden_coef)
    assert "eval_risk" not in fastpu.fit_nnpu(X, y, early_stopping_rounds=None, **fit).history


def test_a_linear_model_is_trained_until_its_risk_stops_falling():
    X, y, _ = pu_rows(400, 4)
    model = fastpu.fit_nnpu(X, y, prior=0.4)
    assert (model.status, model.converged) == ("early_stopping", True)
    longer = fastpu.fit_nnpu(X, y, prior=0.4, n_epochs=5000)
    np.testing.assert_allclose(model.decision_function(X), longer.decision_function(X), atol=0.2)
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="early stopping did not end the fit within n_epochs = 20 epochs"
    ):
        short = fastpu.fit_nnpu(X, y, prior=0.4, n_epochs=20, early_stopping_rounds=30)
    assert not short.converged
