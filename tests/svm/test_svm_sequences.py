"""Sequences of costs, nu and gamma: the models of the single values, with shared work."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from fastpu import _core

TIGHT = 1e-7  # a tolerance at which the scores of two fits agree to 1e-4
SEQUENCES = {
    "fit_svm": {"C": [0.3, 3.0, 30.0], "gamma": [0.1, 1.0, 0.1]},
    "fit_bsvm": {"C_pos": [1.0, 10.0], "C_unl": [0.5, 0.5], "C": (1.0, 2.0), "gamma": np.array([0.2, 1.0])},
    "fit_nu_svm": {"nu": [0.2, 0.5], "gamma": ["scale", 0.5]},
    "fit_one_class_svm": {"nu": [0.1, 0.3, 0.1], "gamma": [0.3, 0.3, "auto"]},
}


@pytest.fixture(scope="module")
def data():
    X, truth = fastpu.datasets.make_four_normals(90, random_state=0)
    return X, truth, np.where(truth == 1, 1, 0)


@pytest.fixture
def grids(monkeypatch):
    """Count the calls of the solver of grids."""
    calls = []
    solve = _core.solve_svm_grid

    def counted(*args, **options):
        calls.append(len(args[2]))
        return solve(*args, **options)

    monkeypatch.setattr(_core, "solve_svm_grid", counted)
    return calls


def arguments(name, data):
    X, truth, y = data
    return {"fit_one_class_svm": (X,), "fit_bsvm": (X, y)}.get(name, (X, truth))


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("name", SEQUENCES)
def test_the_models_are_those_of_the_single_values(name, kernel, data, grids):
    fit, values = getattr(fastpu, name), SEQUENCES[name]
    options = {"kernel": kernel, "tol": TIGHT} | ({"coef0": 1.0} if kernel == "poly" else {})
    models = fit(*arguments(name, data), **values, **options)
    assert len(models) == len(values["gamma"])
    for i, model in enumerate(models):
        single = fit(*arguments(name, data), **{key: each[i] for key, each in values.items()}, **options)
        assert isinstance(model, fastpu.KernelMachine)
        assert model.converged
        assert model.violation <= TIGHT
        assert model.params == single.params
        np.testing.assert_allclose(
            model.decision_function(data[0]), single.decision_function(data[0]), rtol=1e-4, atol=1e-4
        )
    assert len(grids) == 1


def test_a_kernel_whose_fits_share_nothing_gives_the_single_fits_bit_by_bit(data, grids):
    X, truth, _ = data
    for model, C in zip(fastpu.fit_svm(X, truth, C=[0.3, 3.0], kernel="linear"), [0.3, 3.0], strict=True):
        single = fastpu.fit_svm(X, truth, C=C, kernel="linear")
        np.testing.assert_array_equal(model.coef, single.coef)
        assert model.params == single.params
    assert not grids


def test_one_value_applies_to_all_models(data):
    X, truth, _ = data
    models = fastpu.fit_svm(X, truth, C=[1.0, 5.0], gamma=0.3)
    assert [(m.params["C"], m.gamma) for m in models] == [(1.0, 0.3), (5.0, 0.3)]


def test_a_callback_sees_each_fit(data, grids):
    X, truth, _ = data
    seen = []
    models = fastpu.fit_svm(X, truth, C=[1.0, 5.0], callback=lambda info: seen.append(info.n_steps))
    assert len(models) == 2
    assert seen
    assert not grids


def test_weights_count_as_in_single_fits(data):
    X, truth, _ = data
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    (model,) = fastpu.fit_svm(X, truth, C=[2.0], sample_weight=weights, tol=TIGHT)
    single = fastpu.fit_svm(X, truth, C=2.0, sample_weight=weights, tol=TIGHT)
    np.testing.assert_array_equal(model.support, single.support)
    assert model.gamma == single.gamma


def test_sequences_that_are_no_points_are_refused(data):
    X, truth, _ = data
    with pytest.raises(ValueError, match="3 of C, 2 of gamma"):
        fastpu.fit_svm(X, truth, C=[1.0, 2.0, 3.0], gamma=[0.1, 0.2])
    with pytest.raises(ValueError, match="C must be one value or a sequence of at least one"):
        fastpu.fit_svm(X, truth, C=[])
    with pytest.raises(ValueError, match="C must be a finite number > 0"):
        fastpu.fit_svm(X, truth, C=[1.0, 0.0])
    with pytest.raises(ValueError, match="gamma"):
        fastpu.fit_svm(X, truth, gamma=[0.1, "wide"])


def test_each_model_warns_as_its_own_fit_does(data):
    X, truth, _ = data
    with pytest.warns(fastpu.ConvergenceWarning, match="all max_iter = 3"):
        fastpu.fit_svm(X, truth, C=[1.0, 5.0], max_iter=3)
