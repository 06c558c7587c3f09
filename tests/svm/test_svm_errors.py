"""What the SVMs refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from helpers import refused
from machine_cases import each_fit, two_groups


@pytest.fixture(scope="module")
def data():
    return two_groups()


def test_products_of_costs_stay_numbers(data):
    X, y = data
    cost = np.full(60, 1e200)
    refused(
        ValueError,
        "C * sample_cost must have a finite sum over all rows",
        fastpu.baselines.fit_svm,
        X,
        y,
        C=1e200,
        sample_cost=cost,
    )
    refused(
        ValueError, "C * sample_cost * sample_weight must have a finite sum over all rows",
        fastpu.baselines.fit_svm, X, y, C=1e200, sample_cost=cost, sample_weight=np.ones(60),
    )  # fmt: skip
    tiny = np.ones(60)
    tiny[7] = 1e-200
    message = refused(
        ValueError,
        "must be larger at position 7, where float64 rounds it to 0",
        fastpu.baselines.fit_svm,
        X,
        y,
        C=1e-200,
        sample_cost=tiny,
    )
    assert "C * sample_cost" in message
    assert "position 7" in message
    refused(
        ValueError,
        "C * C_pos or C_unl must have a finite sum",
        fastpu.fit_bsvm,
        X,
        y == 1,
        C=1e200,
        C_pos=1e200,
        C_unl=1.0,
    )


def test_nu_that_is_infeasible_is_refused_with_the_largest_that_is_not(data):
    X, y = data
    message = refused(ValueError, "nu must be at most", fastpu.baselines.fit_nu_svm, X[:59], y[:59], nu=0.99)
    assert "= 0.983051 for classes of weight W+ = 30 and W- = 29, got 0.99" in message
    weights = np.where(y == 1, 1.0, 3.0)
    message = refused(
        ValueError, "nu must be at most", fastpu.baselines.fit_nu_svm, X, y, nu=0.75, sample_weight=weights
    )
    assert "= 0.5 for classes of weight W+ = 30 and W- = 90, got 0.75" in message
    largest = fastpu.baselines.fit_nu_svm(X, y, nu=0.5, sample_weight=weights)
    rounded = fastpu.baselines.fit_nu_svm(X, y, nu=0.5 + 2**-51, sample_weight=weights)
    np.testing.assert_array_equal(rounded.decision_function(X), largest.decision_function(X))


# -- labels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", [fastpu.baselines.fit_svm, fastpu.baselines.fit_nu_svm])
@pytest.mark.parametrize("y", [[1, 1, 0, 0], [True, True, False, False], [1, np.nan, 1, np.nan], [1, -1, 0, 1]])
def test_unlabelled_rows_are_refused_with_a_word_on_who_takes_them(fit, y):
    message = refused(ValueError, f"y must hold +1 and -1 alone for {fit.__name__}", fit, np.eye(4), y)
    assert "fastpu.as_labels(y, negative=0)" in message
    assert "fit_bsvm" in message
    assert "fit_bagging_svm" in message


@pytest.mark.parametrize("fit", [fastpu.baselines.fit_svm, fastpu.baselines.fit_nu_svm])
def test_both_classes_are_wanted(fit):
    X = np.eye(4)
    name = fit.__name__
    words = f"y must have positive and negative rows for {name}, got 4 positive and 0 negative"
    refused(ValueError, words, fit, X, [1, 1, 1, 1])
    words = (
        f"y must have positive and negative rows with a cost or weight that is not 0 for {name}, got 0 positive and 2"
    )
    refused(ValueError, words, fit, X, [1, 1, -1, -1], sample_weight=[0, 0, 1, 1])
    if fit is fastpu.baselines.fit_svm:
        refused(ValueError, "got 2 positive and 0 negative", fit, X, [1, 1, -1, -1], sample_cost=[1, 1, 0, 0])


# -- kernels -----------------------------------------------------------------------------------------------------------


@each_fit
def test_a_precomputed_kernel_is_square_symmetric_and_dense(fit, data):
    X, y = data
    K = X @ X.T
    words = "X must be square for kernel='precomputed', K of every two training rows, got shape (60, 4)"
    refused(ValueError, words, fit, X, y, kernel="precomputed")
    refused(TypeError, "X must be dense", fit, sp.csr_array(K), y, kernel="precomputed")
    K[41, 7] += 1e-3
    message = refused(ValueError, "X must be symmetric for kernel='precomputed'", fit, K, y, kernel="precomputed")
    assert f"got X[7, 41] = {K[7, 41]:g} and X[41, 7] = {K[41, 7]:g}" in message
    K[7, 41] = K[41, 7] * (1 + 1e-9)
    fit(K, y, kernel="precomputed")


def test_asymmetry_is_found_in_every_corner_of_a_large_kernel():
    n = 1300
    K = np.full((n, n), 2.0)
    for i, j in ((0, n - 1), (n - 1, 0), (600, 100), (1299, 1298), (512, 511), (511, 513)):
        K[i, j] = -5.0
        low, high = min(i, j), max(i, j)
        message = refused(
            ValueError, "X must be symmetric", fastpu.baselines.fit_svm, K, [1, -1] * (n // 2), kernel="precomputed"
        )
        assert f"X[{low}, {high}]" in message
        K[i, j] = 2.0


@each_fit
def test_rows_for_a_precomputed_model_have_a_column_for_each_training_row(fit, data):
    X, y = data
    model = fit(X @ X.T, y, kernel="precomputed")
    words = (
        "X must have a column for each of the 60 training rows for the precomputed kernel, K(x, training row), got 4"
    )
    for call in (model.decision_function, model.predict):
        refused(ValueError, words, call, X)
        refused(TypeError, "X must be dense", call, sp.csr_array(X @ X.T))
    refused(ValueError, "X_unl must have a column", lambda: model.with_threshold(prior=0.5, X_unl=X))


@pytest.mark.parametrize(
    ("result", "error", "words"),
    [
        (lambda A, B: 1.0, ValueError, r"kernel must return a matrix of shape \(\d+, \d+\), .* got 1.0"),
        (lambda A, B: (A @ B.T)[:, :-1], ValueError, "kernel must return a matrix of shape"),
        (lambda A, B: (A @ B.T).ravel(), ValueError, "kernel must return a matrix of shape"),
        (lambda A, B: A, ValueError, "kernel must return a matrix of shape"),
        (lambda A, B: None, TypeError, "the result of kernel must hold real numbers"),
        (lambda A, B: A @ B.T * 1j, TypeError, "the result of kernel must hold real numbers"),
        (lambda A, B: "K", TypeError, "the result of kernel must hold real numbers"),
        (lambda A, B: A @ B.T * np.nan, ValueError, "kernel must return finite numbers, got nan in row 0, column 0"),
        (lambda A, B: A @ B.T + np.inf, ValueError, "kernel must return finite numbers, got inf in row 0, column 0"),
        (lambda A: A, TypeError, "positional argument"),
    ],
)
@each_fit
def test_what_a_function_returns_is_checked(fit, result, error, words, data):
    X, y = data
    with pytest.raises(error, match=words):
        fit(X, y, kernel=result)


def test_a_function_may_return_what_is_easily_converted(data):
    X, y = data
    expected = fastpu.baselines.fit_svm(X, y, kernel=lambda A, B: A @ B.T).decision_function(X)
    for convert in (np.asfortranarray, lambda K: K.tolist(), lambda K: K.astype(np.longdouble), sp.csr_array):
        found = fastpu.baselines.fit_svm(X, y, kernel=lambda A, B, c=convert: c(A @ B.T)).decision_function(X)
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_gamma_scale_of_rows_that_are_too_large_or_too_alike_is_refused():
    X = np.array([[1e200], [-1e200], [3e200], [1e190]])
    message = refused(
        ValueError, "gamma='scale' is 1 / (n_features * variance of X)", fastpu.baselines.fit_svm, X, [1, -1, 1, -1]
    )
    assert "scale X or pass a number" in message
    refused(ValueError, "gamma='scale'", fastpu.baselines.fit_svm, X * 1e-200 * 1e-157, [1, -1, 1, -1])


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
@pytest.mark.parametrize("options", [{}, {"gamma": 1e39}, {"gamma": 1e-39}], ids=["scale", "large", "small"])
def test_gamma_that_float32_cannot_hold_is_refused_and_float64_takes_it(options):
    # Its rounded value would give a constant kernel, or that of other widths, without a word.
    X = np.array([[0.0], [1.0], [2.0], [3.0]]) * (1.0 if options else 1e-22)
    y = [1, -1, 1, -1]
    refused(
        ValueError,
        "gamma must be between 1.18e-38 and 3.4e+38 for X in float32",
        fastpu.baselines.fit_svm,
        X.astype(np.float32),
        y,
        **options,
    )
    assert np.all(np.isfinite(fastpu.baselines.fit_svm(X, y, **options).decision_function(X)))
