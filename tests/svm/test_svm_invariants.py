"""What the mathematics of the SVMs says about any two fits, and random small problems against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from oracles import svm as oracle
from svm_cases import (
    KERNELS,
    KINDS,
    Rows,
    allowed_difference,
    case,
    certify,
    kernel_slack,
    make_engine,
    problem_of,
    solve,
    unscaled,
)

# Some of the models call all rows the same.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")

#: Solved so far that nothing but rounding is left to two fits of what is the same problem.
TOL = 1e-10

#: Scores of two such fits: their steps differ, and a violation of TOL moves a score by some TOL times the condition of
#: the rows between the bounds.
SCORE_TOL = 1e-6


def c_svm(X, y, **options):
    return fastpu.baselines.fit_svm(X, y, tol=TOL, n_threads=1, **options)


def nu_svm(X, y, **options):
    return fastpu.baselines.fit_nu_svm(X, y, tol=TOL, n_threads=1, **options)


def one_class(X, y, **options):
    del y
    return fastpu.baselines.fit_one_class_svm(X, tol=TOL, n_threads=1, **options)


FITS = {"c_svm": c_svm, "nu_svm": nu_svm, "one_class": one_class}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
two_classes = pytest.mark.parametrize("fit", [c_svm, nu_svm], ids=["c_svm", "nu_svm"])
each_kernel = pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])


@pytest.fixture
def rows() -> Rows:
    """Rows on a grid, so that sums of them with whole numbers are exact; both classes equally large."""
    rng = np.random.default_rng(88)
    X = np.round(rng.normal(size=(60, 3)) * 256) / 256
    y = np.where(np.argsort(np.argsort(X[:, 0] + 0.8 * rng.normal(size=60))) < 30, -1, 1)
    return Rows(X, y.astype(np.int8))


def assert_close(scores, others, *, tol: float = SCORE_TOL) -> None:
    np.testing.assert_allclose(scores, others, rtol=0, atol=tol)


# -- the space ---------------------------------------------------------------------------------------------------------


@two_classes
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_shift_of_all_rows_changes_nothing(kernel, fit, rows):
    model = fit(rows.X, rows.y, kernel=kernel, gamma=0.5)
    for shift in (np.array([1.0, -2.0, 3.0]), np.array([64.0, 0.0, -32.0])):
        moved = fit(rows.X + shift, rows.y, kernel=kernel, gamma=0.5)
        assert_close(moved.decision_function(rows.X + shift), model.decision_function(rows.X))


@each_fit
def test_a_shift_of_all_rows_gives_the_same_bits_for_rbf(fit, rows):
    """Differences of rows are exact here, and dense rbf looks at nothing else."""
    model, moved = (fit(rows.X + shift, rows.y, gamma=0.5) for shift in (0.0, 1024.0))
    np.testing.assert_array_equal(moved.alpha, model.alpha)
    np.testing.assert_array_equal(moved.decision_function(rows.X + 1024.0), model.decision_function(rows.X))


@each_fit
@each_kernel
def test_a_rotation_changes_nothing(kernel, fit, rows, rng):
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    options = {"kernel": kernel, "gamma": 0.5, "coef0": 1.0}
    model, turned = fit(rows.X, rows.y, **options), fit(rows.X @ Q, rows.y, **options)
    assert_close(turned.decision_function(rows.X @ Q), model.decision_function(rows.X))


@pytest.mark.parametrize("t", [0.125, 3.0, 64.0])
def test_scaled_rows_want_a_scaled_cost(t, rows):
    """Linear: w becomes w / t, and so |w|^2 costs less by t^2."""
    model = c_svm(rows.X, rows.y, kernel="linear", C=2.0)
    scaled = c_svm(t * rows.X, rows.y, kernel="linear", C=2.0 / t**2)
    assert_close(scaled.decision_function(t * rows.X), model.decision_function(rows.X))
    assert_close(t**2 * scaled.objective[-1], model.objective[-1])


@each_fit
@pytest.mark.parametrize("t", [0.125, 3.0, 64.0])
def test_scaled_rows_want_a_scaled_gamma(t, fit, rows):
    model, scaled = (fit(s * rows.X, rows.y, gamma=0.5 / s**2) for s in (1.0, t))
    assert_close(scaled.decision_function(t * rows.X), model.decision_function(rows.X))


@pytest.mark.parametrize("t", [0.25, 3.0, 1000.0])
def test_a_nu_svm_does_not_see_the_scale_of_its_kernel(t, rows):
    K = oracle.kernel_matrix(rows.X, **KERNELS["rbf"])
    model, scaled = (nu_svm(s * K, rows.y, kernel="precomputed", nu=0.4) for s in (1.0, t))
    assert_close(scaled.decision_function(t * K), model.decision_function(K), tol=SCORE_TOL * max(t, 1))
    np.testing.assert_allclose(scaled.margin, t * model.margin, rtol=SCORE_TOL)


@two_classes
def test_a_constant_added_to_the_kernel_changes_nothing(fit, rows):
    K = oracle.kernel_matrix(rows.X, **KERNELS["rbf"])
    model, more = (fit(K + a, rows.y, kernel="precomputed") for a in (0.0, 5.0))
    assert_close(more.decision_function(K + 5.0), model.decision_function(K))


# -- the rows ----------------------------------------------------------------------------------------------------------


@each_fit
@each_kernel
def test_the_order_of_the_rows_does_not_matter(kernel, fit, rows, rng):
    order = rng.permutation(60)
    options = {"kernel": kernel, "gamma": 0.5, "coef0": 1.0}
    model, mixed = fit(rows.X, rows.y, **options), fit(rows.X[order], rows.y[order], **options)
    assert_close(mixed.decision_function(rows.X), model.decision_function(rows.X))


@pytest.mark.parametrize("fit", [nu_svm, one_class], ids=["nu_svm", "one_class"])
def test_repetition_of_all_rows_does_not_change_what_nu_means(fit, rows):
    model, twice = (fit(np.tile(rows.X, (k, 1)), np.tile(rows.y, k), gamma=0.5, nu=0.4) for k in (1, 2))
    scale = 2.0 if fit is one_class else 1.0  # of alpha, which sums to nu n; nu-SVM divides by the margin
    assert_close(twice.decision_function(rows.X), scale * model.decision_function(rows.X))


@two_classes
@each_kernel
def test_swapped_labels_negate_the_scores(kernel, fit, rows):
    options = {"kernel": kernel, "gamma": 0.5, "coef0": 1.0}
    model, swapped = fit(rows.X, rows.y, **options), fit(rows.X, -rows.y, **options)
    assert_close(swapped.decision_function(rows.X), -model.decision_function(rows.X))


@each_kernel
def test_a_row_on_the_right_side_can_go(kernel, rows):
    """alpha = 0 and y f > 1: the optimum does not know of it."""
    options = {"kernel": kernel, "gamma": 0.5, "coef0": 1.0, "C": 1.0}
    model = c_svm(rows.X, rows.y, **options)
    kept = np.isin(np.arange(60), model.support)
    assert kept.sum() < 60
    fewer = c_svm(rows.X[kept], rows.y[kept], **options)
    assert_close(fewer.decision_function(rows.X), model.decision_function(rows.X))


# -- the costs ---------------------------------------------------------------------------------------------------------


@each_kernel
def test_a_larger_cost_gives_a_smaller_loss_and_a_longer_normal(kernel, rows):
    options = {"kernel": kernel, "gamma": 0.5, "coef0": 1.0}
    K = oracle.kernel_matrix(rows.X, **options)
    lengths, losses, optima = [], [], []
    for C in (0.01, 0.1, 1.0, 10.0):
        model = c_svm(rows.X, rows.y, C=C, **options)
        f = model.decision_function(rows.X)
        lengths.append(float(model.dual_coef @ K[np.ix_(model.support, model.support)] @ model.dual_coef))
        losses.append(float(np.maximum(1 - rows.y * f, 0).sum()))
        optima.append(-model.objective[-1])
        np.testing.assert_allclose(0.5 * lengths[-1] + C * losses[-1], optima[-1], rtol=1e-6)
    assert np.all(np.diff(lengths) >= -1e-6)
    assert np.all(np.diff(losses) <= 1e-6)
    assert np.all(np.diff(optima) > 0)
    assert np.all(np.array(optima) <= np.array([0.01, 0.1, 1.0, 10.0]) * 60)  # w = 0 and b = 0


def test_for_small_costs_the_normal_joins_the_means_of_the_classes(rows):
    model = c_svm(rows.X, rows.y, C=1e-4 / 30, kernel="linear")
    expected = 1e-4 * (rows.X[rows.y > 0].mean(axis=0) - rows.X[rows.y < 0].mean(axis=0))
    np.testing.assert_allclose(model.dual_coef @ rows.X[model.support], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("C", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_intercept_of_small_costs_is_the_middle_and_moves_with_the_rows(kernel, C, rows):
    """Every margin is below 1, so the best intercepts fill an interval about 2 wide."""
    for shift in (0.0, 16.0):
        model = c_svm(rows.X + shift, rows.y, C=C, kernel=kernel, gamma=0.5)
        margins = rows.y * model.decision_function(rows.X + shift)
        g = model.decision_function(rows.X + shift) - model.intercept
        low, high = oracle.intercept_interval(g, rows.y, np.full(60, C))
        assert high - low > 0.5
        assert abs(model.intercept - (low + high) / 2) < 1e-9
        assert margins.max() < 1 + 1e-9
    # The two ends are where the highest-scored negative and the lowest-scored positive reach their margins.
    np.testing.assert_allclose([low, high], [(-1 - g)[rows.y < 0].max(), (1 - g)[rows.y > 0].min()], atol=1e-12)


# -- any small problem -------------------------------------------------------------------------------------------------


@st.composite
def small_problems(draw) -> tuple[Rows, str, str, np.ndarray, float]:
    n = draw(st.integers(2, 12))
    d = draw(st.integers(1, 3))
    entries = st.integers(-3, 3) if draw(st.booleans()) else st.floats(-4, 4, width=16)
    X = np.array(draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n)), dtype=np.float64)
    y = np.array([1, -1, *draw(st.lists(st.sampled_from([1, -1]), min_size=n - 2, max_size=n - 2))], dtype=np.int8)
    kind = draw(st.sampled_from(KINDS))
    costs = st.sampled_from([0.01, 0.1, 0.5, 1.0, 3.0, 100.0] if kind == "c_svm" else [0.5, 1.0, 2.0])
    c = np.array(draw(st.lists(costs, min_size=n, max_size=n)))
    share = draw(st.sampled_from([0.05, 0.3, 0.5, 0.8, 1.0]))
    return Rows(X, y), draw(st.sampled_from(["linear", "rbf", "poly"])), kind, c, share


def is_flat(problem: oracle.Problem, expected: oracle.Solution) -> bool:
    """w is 0 at the optimum, towards which sequential minimal optimisation crawls: its violation falls as 1 / steps."""
    return problem.kind != "c_svm" and expected.objective < 1e-6 * problem.mass**2 * np.abs(problem.K).max()


@given(small_problems())
def test_any_small_problem_is_solved(drawn):
    rows, kernel, kind, c, share = drawn
    K = oracle.kernel_matrix(rows.X, **KERNELS[kernel])
    # The largest nu, 1.0, leaves nothing to choose; rounding must not make it infeasible.
    largest = 1.0 if kind == "one_class" else 2 * problem_of("nu_svm", rows, K, c=c).nu
    problem = problem_of(kind, rows, K, c=c, nu=share * largest)
    slack = kernel_slack(rows, **KERNELS[kernel])
    expected = oracle.solve(problem)
    result = solve(make_engine(rows.X, **KERNELS[kernel]), problem, tol=1e-9, max_iter=10**5)
    certify(problem, result, slack=slack, tol=1e-9, must_converge=not is_flat(problem, expected))
    objective, scores = allowed_difference(problem, result, expected, slack=slack)
    now = unscaled(result)
    assert abs(problem.dual(now.alpha) - expected.objective) <= objective
    np.testing.assert_allclose(now.decision, expected.decision, rtol=0, atol=scores)


@given(small_problems(), st.integers(0, 2**32 - 1))
def test_any_start_leads_to_the_same_optimum(drawn, seed):
    rows, kernel, kind, c, share = drawn
    K = oracle.kernel_matrix(rows.X, **KERNELS[kernel])
    largest = 1.0 if kind == "one_class" else 2 * problem_of("nu_svm", rows, K, c=c).nu
    problem = problem_of(kind, rows, K, c=c, nu=share * largest)
    start = np.random.default_rng(seed).uniform(-0.5, 2.0, size=len(c)) * c
    slack = kernel_slack(rows, **KERNELS[kernel])
    engine = make_engine(rows.X, **KERNELS[kernel])
    results = [solve(engine, problem, start=s, tol=1e-9, max_iter=10**5) for s in (None, start)]
    expected = oracle.solve(problem)
    for result in results:
        certify(problem, result, slack=slack, tol=1e-9, must_converge=not is_flat(problem, expected))
    _, scores = allowed_difference(problem, results[0], unscaled(results[1]), slack=slack)
    np.testing.assert_allclose(unscaled(results[0]).decision, unscaled(results[1]).decision, rtol=0, atol=scores)


@pytest.mark.parametrize("name", ["contradictory", "integer_grid"])
def test_history_tells_of_a_falling_objective(name):
    rows = case(name)
    problem = problem_of("c_svm", rows, np.zeros((0, 0)), c=100.0)
    result = solve(make_engine(rows.X, **KERNELS["rbf"]), problem, tol=1e-8)
    history = result["history"]
    assert set(history) == {"objective", "violation", "n_active", "n_steps"}
    objective = np.asarray(history["objective"])
    assert np.all(np.diff(objective) <= 1e-12 * np.abs(objective[:-1]))
    assert np.all(np.diff(history["n_steps"]) >= 0)
    np.testing.assert_allclose(objective[-1], result["objective"], rtol=1e-9)
