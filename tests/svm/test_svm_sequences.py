"""Sequences of costs, nu and gamma: the models of the single values, with shared work."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import function_of

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


def arguments(name, data):
    X, truth, y = data
    return {"fit_one_class_svm": (X,), "fit_bsvm": (X, y)}.get(name, (X, truth))


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("name", SEQUENCES)
def test_the_models_are_those_of_the_single_values(name, kernel, data, grids):
    fit, values = function_of(name), SEQUENCES[name]
    options = {"kernel": kernel, "tol": TIGHT} | ({"coef0": 1.0} if kernel == "poly" else {})
    models = fit(*arguments(name, data), **values, **options)
    assert len(models) == len(values["gamma"])
    for i, model in enumerate(models):
        single = fit(*arguments(name, data), **{key: each[i] for key, each in values.items()}, **options)
        assert isinstance(model, fastpu.models.KernelMachine)
        assert model.converged
        assert model.violation <= TIGHT
        assert model.params == single.params
        np.testing.assert_allclose(
            model.decision_function(data[0]), single.decision_function(data[0]), rtol=1e-4, atol=1e-4
        )
    assert len(grids) == 1


def test_a_callback_sees_each_fit(data, grids):
    X, truth, _ = data
    seen = []
    models = fastpu.baselines.fit_svm(X, truth, C=[1.0, 5.0], callback=lambda info: seen.append(info.n_steps))
    assert len(models) == 2
    assert seen
    assert not grids


def test_weights_count_as_in_single_fits(data):
    X, truth, _ = data
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    (model,) = fastpu.baselines.fit_svm(X, truth, C=[2.0], sample_weight=weights, tol=TIGHT)
    single = fastpu.baselines.fit_svm(X, truth, C=2.0, sample_weight=weights, tol=TIGHT)
    np.testing.assert_array_equal(model.support, single.support)
    assert model.gamma == single.gamma


def test_sequences_that_are_no_points_are_refused(data):
    X, truth, _ = data
    with pytest.raises(ValueError, match="3 of C, 2 of gamma"):
        fastpu.baselines.fit_svm(X, truth, C=[1.0, 2.0, 3.0], gamma=[0.1, 0.2])


def test_each_model_warns_as_its_own_fit_does(data):
    X, truth, _ = data
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="all max_iter = 3"):
        fastpu.baselines.fit_svm(X, truth, C=[1.0, 5.0], max_iter=3)


@pytest.mark.parametrize("name", SEQUENCES)
def test_columns_on_different_scales_are_told_once_as_by_a_single_fit(name, data):
    X, *labels = arguments(name, data)
    fit, values = function_of(name), SEQUENCES[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(X * [1e5, 1.0], *labels, **values, kernel="rbf")
    told = [warning for warning in caught if warning.category is fastpu.exceptions.ScaleWarning]
    assert [warning.filename for warning in told] == [__file__]
    with pytest.raises(TypeError, match=f"X must be the rows themselves for {name}, got BinnedFeatures"):
        fit(fastpu.bin_features(X), *labels, **values, kernel="rbf")


@pytest.mark.filterwarnings(
    "ignore::fastpu.exceptions.DegenerateModelWarning"
)  # scores of the smallest costs are about the same
@pytest.mark.parametrize(
    ("kernel", "costs"),
    [
        ("rbf", [1e-15, 1.0]),
        ("poly", [1e-20, 1.0]),
        ("rbf", [1e-60, 1e-20, 1e60, 3.0]),
        ("poly", [1e-320, 2.0]),
        ("rbf", [1e300, 1.0]),
    ],
)
def test_the_costs_of_a_sequence_may_be_of_any_size(kernel, costs, data):
    X, truth, y = data
    options = {"kernel": kernel, "coef0": 1.0, "tol": 1e-5}
    models = [
        *fastpu.baselines.fit_svm(X, truth, C=costs, **options),
        *fastpu.fit_bsvm(X, y, C_pos=[1.0] * len(costs), C_unl=costs, **options),
    ]
    singles = [
        *(fastpu.baselines.fit_svm(X, truth, C=C, **options) for C in costs),
        *(fastpu.fit_bsvm(X, y, C_pos=1.0, C_unl=C, **options) for C in costs),
    ]
    for cost, model, single in zip([*costs, *costs], models, singles, strict=True):
        if cost >= 1:
            scores, expected = (m.decision_function(X) for m in (model, single))
            np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_each_model_records_its_own_arguments(data):
    X, truth, _ = data
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    models = fastpu.baselines.fit_svm(K, truth, C=[0.3, 1.1], gamma=[0.1, "auto"], kernel="precomputed")
    assert [(model.params["C"], model.params["gamma"]) for model in models] == [(0.3, 0.1), (1.1, "auto")]
    assert all(model.alpha.max() <= model.params["C"] for model in models)


def test_a_kernel_matrix_in_place_of_its_name_is_refused_by_name(data):
    X, truth, _ = data
    with pytest.raises(TypeError, match="kernel must be one of 'linear'"):
        fastpu.baselines.fit_svm(X, truth, C=[0.3, 1.1], kernel=np.eye(len(X)))
