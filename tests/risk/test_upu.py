"""The convex risk of uPU: its minimiser, closed forms, and risks without a minimum."""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import fastpu
from fastpu.data._matrix import DenseMatrix
from fastpu.risk._column_scales import read_columns
from helpers import outcome, refused
from oracles import nnpu
from risk_cases import pu_rows, quiet, train

CONVEX = ("logistic", "squared")
each_loss = pytest.mark.parametrize("loss", CONVEX)

#: Largest gradient at a minimum, relative to the sums in it.
GRADIENT_TOL = 1e-9

#: Error of the parameters, if the Hessian is not far from the unit matrix.
FIT_TOL = 1e-8

#: Fits without a ridge; by default there is one.
free = functools.partial(fastpu.fit_upu, lam=0.0)


def theta(model: fastpu.models.RiskMachine) -> np.ndarray:
    return np.append(model.coef, model.intercept)


def gradient(loss, prior, lam, at, X, y, weights):
    """The gradient of `nnpu.convex_risk`."""
    f = X @ at[:-1] + at[-1]
    slope = expit(f) if loss == "logistic" else (1 + f) / 2
    share = np.where(y == 1, -prior / weights[y == 1].sum(), slope / weights[y == 0].sum()) * weights
    return np.append(X.T @ share + lam * at[:-1], share.sum())


# -- the minimum -------------------------------------------------------------------------------------------------------


@quiet
@each_loss
@pytest.mark.parametrize("lam", [0.0, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_gradient_of_the_risk_is_0_at_the_minimiser(loss, lam, is_weighted):
    X, y, _ = pu_rows(200, 4)
    weights = np.linspace(0.5, 2, 200) if is_weighted else np.ones(200)
    model = fastpu.fit_upu(X, y, prior=0.4, loss=loss, lam=lam, sample_weight=weights if is_weighted else None)
    assert (model.status, model.converged) == ("tol", True)
    arguments = (loss, 0.4, lam)
    found = nnpu.convex_risk(*arguments, theta(model), X, y, weights)
    assert model.objective[-1] == pytest.approx(found, abs=1e-13)
    assert model.objective[0] == pytest.approx(np.log(2) if loss == "logistic" else 0.25, rel=1e-14)  # at 0
    assert len(model.objective) == model.n_iter + 1
    assert (np.diff(model.objective) < 1e-14 * np.abs(model.objective).max()).all()
    assert np.abs(gradient(*arguments, theta(model), X, y, weights)).max() < GRADIENT_TOL


@each_loss
def test_the_convex_risk_is_that_of_upu(loss):
    """What Newton minimises is the risk that Adam would follow."""
    X, y, _ = pu_rows(100, 3)
    model = fastpu.fit_upu(X, y, prior=0.4, loss=loss, lam=0.0)
    net = {"hidden_coef": np.zeros((3, 0)), "hidden_intercept": np.zeros(0), "coef": model.coef,
           "intercept": model.intercept}  # fmt: skip
    followed = train(X, y, net, nnpu.Risk(loss, 0.4, False), n_epochs=1).risk
    assert followed[0] == pytest.approx(model.objective[-1], abs=1e-12)


@each_loss
def test_many_features_are_fitted_by_conjugate_gradients(loss):
    """More than 2000, dense and CSR."""
    X, y, _ = pu_rows(60, 2100)
    model = fastpu.fit_upu(X, y, prior=0.4, loss=loss, lam=0.05)
    assert model.status == "tol"
    at = theta(model)
    assert np.abs(gradient(loss, 0.4, 0.05, at, X, y, np.ones(60))).max() < 1e-7
    sparse = fastpu.fit_upu(sp.csr_array(X), y, prior=0.4, loss=loss, lam=0.05)
    np.testing.assert_allclose(sparse.coef, model.coef, atol=1e-7)


@each_loss
def test_gaussian_basis_is_a_linear_model_in_its_functions(loss):
    X, y, _ = pu_rows(100, 3)
    centers = X[::7]
    model = fastpu.fit_upu(X, y, prior=0.4, loss=loss, lam=0.01, model="gauss", centers=centers, bandwidth=1.5)
    squares = ((X[:, None] - centers[None]) ** 2).sum(axis=2)
    features = np.exp(-squares / (2 * 1.5**2))
    linear = fastpu.fit_upu(features, y, prior=0.4, loss=loss, lam=0.01)
    np.testing.assert_allclose(model.coef, linear.coef, atol=1e-7)
    np.testing.assert_allclose(model.decision_function(X), linear.decision_function(features), atol=1e-8)
    np.testing.assert_allclose(model.centers, centers)
    default = fastpu.fit_upu(X, y, prior=0.4, loss=loss, lam=0.01, model="gauss", centers=centers)
    assert default.bandwidth == pytest.approx(np.median(np.sqrt(squares[squares > 0])), rel=1e-12)


# -- risks without a minimum -------------------------------------------------------------------------------------------


def separable() -> tuple[np.ndarray, np.ndarray]:
    X = np.vstack([np.linspace([2.0, 0.0], [3.0, 1.0], 6), np.linspace([-3.0, 1.0], [-2.0, 0.0], 14)])
    return X, np.repeat([1, 0], [6, 14])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_separable_rows_leave_the_logistic_risk_without_a_minimum(form):
    X, y = separable()
    words = "lam must be > 0 for these rows, got 0: the logistic risk has no minimum without a penalty"
    message = refused(ValueError, words, free, form(X), y, prior=0.4, loss="logistic")
    assert message.endswith(" steps)")
    for lam in (1e-6, 1e-3, 1.0):  # with scores up to some millions, where no unlabelled row curves the risk
        model = fastpu.fit_upu(form(X), y, prior=0.4, loss="logistic", lam=lam)
        assert model.status == "tol"
        rest = np.abs(gradient("logistic", 0.4, lam, theta(model), X, y, np.ones(20))).max()
        assert rest < GRADIENT_TOL * max(1, 0.1 / lam)  # for scores of about 1 / lam
        assert (model.predict(X[:6]) == 1).all()


@pytest.mark.parametrize("n_features", [3, 2100])
@each_loss
def test_directions_that_unlabelled_rows_do_not_have_are_without_a_minimum(loss, n_features):
    X, y, _ = pu_rows(60, n_features)
    X[y == 0, 2] = 1.0
    X[y == 1, 2] = 2.0
    X[:, 3:] = 0.0
    refused(ValueError, f"the {loss} risk has no minimum without a penalty", free, X, y, prior=0.4, loss=loss)
    assert fastpu.fit_upu(X, y, prior=0.4, loss=loss, lam=0.1).status == "tol"


@each_loss
def test_columns_that_say_the_same_have_a_minimum(loss):
    """Duplicates, constants and zeros: more than one minimiser, with one risk and the same scores."""
    X, y, _ = pu_rows(200, 3)
    model = free(X, y, prior=0.4, loss=loss)
    more = np.column_stack([X, X[:, 0], np.full(200, 7.0), np.zeros(200), X[:, 1] + X[:, 2]])
    again = free(more, y, prior=0.4, loss=loss)
    assert again.status == "tol"
    assert again.objective[-1] == pytest.approx(model.objective[-1], abs=1e-12)
    np.testing.assert_allclose(again.decision_function(more), model.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_column_in_which_positive_rows_alone_differ_is_not_left_out(loss):
    """The one unlabelled row lies at the mean of all rows, where the column does not curve the risk; lam does."""
    X, y, weights = np.array([[0.0], [1.0], [2.0]]), [1, 0, 1], np.array([3.0, 3.0, 0.5])
    model = fastpu.fit_upu(X, y, prior=0.5, loss=loss, lam=0.1, sample_weight=weights)
    assert model.status == "tol"
    at = np.append(model.coef, model.intercept)
    least = nnpu.convex_risk(loss, 0.5, 0.1, at, X, np.array(y), weights)
    for step in np.vstack([np.eye(2), -np.eye(2)]) * 1e-3:
        assert least < nnpu.convex_risk(loss, 0.5, 0.1, at + step, X, np.array(y), weights)
    assert model.coef[0] < -0.1
    words = f"lam must be > 0 for these rows, got 0: the {loss} risk has no minimum"
    refused(ValueError, words, free, X, y, prior=0.5, loss=loss, sample_weight=weights)


# -- invariances -------------------------------------------------------------------------------------------------------


@each_loss
def test_moving_the_rows_moves_the_intercept_alone(loss):
    X, y, _ = pu_rows(100, 3)
    shift = np.array([1000.0, -5.0, 3.0])
    model = fastpu.fit_upu(X, y, prior=0.4, loss=loss, lam=0.1)
    moved = fastpu.fit_upu(X + shift, y, prior=0.4, loss=loss, lam=0.1)
    np.testing.assert_allclose(moved.coef, model.coef, atol=FIT_TOL)
    np.testing.assert_allclose(moved.decision_function(X + shift), model.decision_function(X), atol=1e-8)


# -- scales of columns -------------------------------------------------------------------------------------------------

#: Error of the scores of one problem in other units: conditioning takes some of the 16 digits.
SCALE_TOL = 1e-6


@quiet
@given(
    seed=st.integers(0, 10**6),
    powers=st.lists(st.integers(-8, 8), min_size=4, max_size=4),
    is_sparse=st.booleans(),
    loss=st.sampled_from(CONVEX),
)
def test_columns_of_any_scale_give_the_same_scores_without_a_ridge(seed, powers, is_sparse, loss):
    X, y, _ = pu_rows(150, 4, seed=seed, apart=1.0)
    scaled = X * 10.0 ** np.array(powers)
    given_rows = [sp.csr_array(rows) if is_sparse else rows for rows in (X, scaled)]
    fit = functools.partial(free, prior=0.4, loss=loss)
    found = [outcome(fit, rows, y) for rows in given_rows]
    if any(isinstance(result, Exception) for result in found):  # rows that are separable are so at every scale
        assert all("risk has no minimum without a penalty" in str(result) for result in found)
        return
    model, again = found
    assert (model.status, again.status) == ("tol", "tol")
    np.testing.assert_allclose(again.decision_function(scaled), model.decision_function(X), atol=SCALE_TOL)


@quiet
@given(seed=st.integers(0, 10**6), power=st.integers(-8, 8), is_sparse=st.booleans(), loss=st.sampled_from(CONVEX))
def test_all_columns_times_s_with_a_ridge_times_its_square_give_the_same_scores(seed, power, is_sparse, loss):
    X, y, _ = pu_rows(150, 4, seed=seed)
    form = sp.csr_array if is_sparse else np.asarray
    scale = 2.0 ** (3 * power)  # exact
    model = fastpu.fit_upu(form(X), y, prior=0.4, loss=loss, lam=1e-3)
    again = fastpu.fit_upu(form(X * scale), y, prior=0.4, loss=loss, lam=1e-3 * scale**2)
    assert model.status == again.status == "tol"
    np.testing.assert_allclose(again.coef * scale, model.coef, atol=FIT_TOL)


def nearly_separable(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose risk, without a ridge, decreases without end along a straight line."""
    rng = np.random.default_rng(seed)
    truth = rng.random(60) < 0.4
    X = rng.normal(size=(60, 6))
    X[:, 0] += 2 * truth
    y = (truth & (rng.random(60) < 0.4)).astype(int)
    y[np.flatnonzero(truth)[:2]] = 1
    return X, y


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("seed", range(6))
def test_a_ridge_that_is_next_to_nothing_gives_the_least_risk_or_says_that_it_did_not(seed, form):
    """Rows times 1e8 are like a lam that is 1e16 times smaller.

    With so small a lam scores are so large that the logistic loss is a hinge, and the risk of rows times s is that of
    the rows times 100, times (s / 100)^2. There, by a bound from the model, it is within 1e-6 of its minimum.
    """
    X, y = nearly_separable(seed)
    lam = 1e-3
    model = fastpu.fit_upu(form(X * 100), y, prior=0.4, lam=lam)
    assert model.status == "tol"
    rest = gradient("logistic", 0.4, lam, theta(model), X * 100, y, np.ones(60))
    assert abs(rest[-1]) < 1e-6  # for scores of about 1e5
    assert rest[:-1] @ rest[:-1] / (2 * lam) < 1e-6 * abs(model.objective[-1])
    expected = model.objective[-1] / 1e4
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        far = fastpu.fit_upu(form(X * 1e8), y, prior=0.4, lam=lam)
    assert far.objective[-1] / 1e16 == pytest.approx(expected, rel=1e-4)
    assert far.converged == (far.status == "tol")
    assert far.converged != any(issubclass(w.category, fastpu.exceptions.ConvergenceWarning) for w in caught)
    risk = nnpu.convex_risk("logistic", 0.4, lam, theta(far), X * 1e8, y, np.ones(60))
    assert far.objective[-1] == pytest.approx(risk, rel=1e-9)  # of the model that is returned
    assert (np.diff(far.objective) <= 0).all()


@pytest.mark.parametrize("power", [-8, 8])
def test_many_features_of_any_scale_are_fitted_by_conjugate_gradients(power):
    X, y, _ = pu_rows(60, 2100)
    scale = np.ones(2100)
    scale[::3] = 10.0**power
    Z = X.copy()
    Z[:, 3:] = 0.0
    model, again = (free(rows, y, prior=0.4, loss="squared") for rows in (Z, Z * scale))
    assert again.status == "tol"
    np.testing.assert_allclose(again.decision_function(Z * scale), model.decision_function(Z), atol=SCALE_TOL)


# -- defaults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fit", "model"),
    [*itertools.product([fastpu.fit_upu, fastpu.fit_nnpu], ["linear", "gauss"]), (fastpu.fit_nnpu, "mlp")],
)
@pytest.mark.parametrize("prior", [0.5, 0.05])
def test_defaults_reach_what_the_best_line_reaches(fit, model, prior):
    """100 steps of Adam called .82 of these rows right at a prior of a half, and none positive at .05."""
    rng = np.random.default_rng(1)
    n = 3000
    truth = rng.random(2 * n) < prior
    X = rng.normal(size=(2 * n, 5))
    X[:, 0] += 2.4 * truth
    X[:, 1] += 1.0 * truth
    y = (truth[:n] & (rng.random(n) < 0.3)).astype(int)
    share = float(truth[:n][y == 0].mean())
    found = fit(X[:n], y, prior=share, model=model, random_state=0)
    assert found.converged
    score = X @ [2.4, 1.0, 0, 0, 0] - (2.4**2 + 1) / 2 + np.log(prior / (1 - prior))
    best = np.mean((score[n:] > 0) == truth[n:])
    scores = found.decision_function(X[n:])
    assert np.mean((scores > 0) == truth[n:]) > best - (0.03 if prior == 0.5 else 0.01)
    assert fastpu.metrics.auc(truth[n:], scores) > fastpu.metrics.auc(truth[n:], score[n:]) - 0.03
    assert 0.3 * prior < np.mean(scores > 0) < 1.5 * prior


def test_the_default_ridge_is_the_less_the_more_rows_are_labelled():
    X, y, _ = pu_rows(200, 3)
    model = fastpu.fit_upu(X, y, prior=0.4)
    size = read_columns(DenseMatrix(X), None).size  # 1 for standardised columns
    assert model.params["lam"] == pytest.approx(0.4 / np.sqrt(y.sum()) * size**2)
    twice = fastpu.fit_upu(X, y, prior=0.4, sample_weight=np.full(200, 2.0))
    assert twice.params["lam"] == pytest.approx(0.4 / np.sqrt(2 * y.sum()) * size**2)
    small = fastpu.fit_upu(X, y, prior=0.4, sample_weight=np.full(200, 1e-6))
    assert small.params["lam"] == model.params["lam"]


# -- convergence is reported -------------------------------------------------------------------------------------------


def test_running_out_of_steps_is_reported():
    X, y, _ = pu_rows(100, 3)
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match=r"not converged after max_iter = 1 steps: .* raise max_iter"
    ):
        model = fastpu.fit_upu(X, y, prior=0.4, loss="logistic", max_iter=1)
    assert (model.status, model.converged, model.n_iter) == ("max_iter", False, 1)


def test_squares_that_overflow_are_refused():
    X, y, _ = pu_rows(30, 2)
    refused(ValueError, "do not overflow", fastpu.fit_upu, X * 1e200, y, prior=0.4, lam=0.1, loss="squared")
    refused(ValueError, "do not overflow", fastpu.fit_upu, np.sign(X) * 1.7e308, y, prior=0.4, lam=0.1, loss="logistic")


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_prior_that_leaves_one_class_among_the_unlabelled_rows_is_refused(loss):
    """The best intercept is infinite there: steps went on until the risk was rounding (found by fuzzing)."""
    X = np.random.default_rng(0).normal(size=(10, 2))
    y = np.repeat([1, 0], [5, 5])
    words = "got 0.5 with scenario='single_set', by which 0 of them are positive"
    refused(ValueError, words, fastpu.fit_upu, X, y, prior=0.5, loss=loss, lam=0.1, scenario="single_set")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@each_loss
def test_a_constant_column_of_many_rows_is_left_out(loss, dtype):
    """The sum of many rows loses more digits than a column may differ by: it got a coefficient of 1e13."""
    rng = np.random.default_rng(0)
    n = 300_000
    is_pos = rng.random(n) < 0.5
    X = np.column_stack([rng.normal(size=n) + is_pos, np.full(n, 0.1)]).astype(dtype)
    y = (is_pos & (rng.random(n) < 0.3)).astype(int)
    alone = free(X[:, :1], y, prior=0.3, loss=loss)
    for rows in (X, sp.csr_array(X)):
        model = free(rows, y, prior=0.3, loss=loss)
        assert model.coef[1] == 0
        np.testing.assert_allclose([model.coef[0], model.intercept], [alone.coef[0], alone.intercept], rtol=FIT_TOL)
