"""How the solver runs: threads, caches of a few rows, one engine for many problems, and warm starts."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import _core
from oracles import svm as oracle
from svm_cases import (
    DTYPES,
    KERNELS,
    KINDS,
    SUM_TOL,
    THREADS,
    Rows,
    allowed_difference,
    certify,
    kernel_slack,
    make_engine,
    problem_of,
    random_rows,
    result_bits,
    solve,
    sub_problem,
    unscaled,
    without_kernel,
)

each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def many() -> Rows:
    """Rows enough that kernel rows are cut into blocks, and that some shrink away."""
    return random_rows(np.random.default_rng(91), 900, 6)


def score_rounding(dtype) -> float:
    """Of each unit of alpha, for linear kernels: solved in double, scored with products rounded to the type of X."""
    return 30 * float(np.finfo(dtype).eps)


# -- the same bits -----------------------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize(
    ("kernel", "sparse", "dtype"),
    [
        ("linear", False, np.float32),
        ("linear", True, np.float64),
        ("rbf", True, np.float32),
        ("rbf", False, np.float64),
    ],
)
def test_threads_and_instruction_sets_do_not_change_a_bit(kernel, sparse, dtype, kind, many):
    problem = without_kernel(kind, many, c=3.0 if kind == "c_svm" else 1.0)
    form = {"dtype": dtype, "sparse": sparse, **KERNELS[kernel]}
    results = {
        result_bits(solve(make_engine(many.X, n_threads=n, isa=isa, **form), problem, tol=1e-3))
        for n, isa in [*((n, "") for n in THREADS), *((2, isa) for isa in _core.isa_levels())]
    }
    assert len(results) == 1


@each_kind
@pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "f64"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_passes_that_are_cut_into_blocks_give_the_same_bits(kernel, dtype, kind):
    """So many rows that each pass over the gradient is shared out."""
    rows = random_rows(np.random.default_rng(95), 20_000, 3)
    problem = without_kernel(kind, rows)
    engines = [make_engine(rows.X, dtype=dtype, n_threads=n, **KERNELS[kernel]) for n in (1, 3)]
    one, other = (solve(engine, problem, tol=1e-3, max_iter=150) for engine in engines)
    assert result_bits(one) == result_bits(other)
    every = np.arange(20_000, dtype=np.int64)
    support = np.flatnonzero(one["alpha"]).astype(np.int64)
    scores = engines[0].scores(support, (problem.y * one["alpha"])[support], one["intercept"], every)
    rounding = score_rounding(dtype) * one["alpha"].sum() + SUM_TOL * np.abs(scores).max()
    np.testing.assert_allclose(one["decision"], scores, rtol=0, atol=rounding)


@each_kind
def test_the_size_of_the_cache_does_not_change_the_optimum(kind, many):
    """From two rows to all of them: other rows are computed again, and their values are the same."""
    problem = problem_of(kind, many, oracle.kernel_matrix(many.X, **KERNELS["rbf"]))
    slack = kernel_slack(many, **KERNELS["rbf"])
    results = [
        solve(make_engine(many.X, cache_bytes=size, n_threads=2, **KERNELS["rbf"]), problem, tol=1e-5)
        for size in (1, 4 * 900 * 8, 100 * 900 * 8, 2**26)
    ]
    for result in results:
        certify(problem, result, slack=slack, tol=1e-5)
        objective, scores = allowed_difference(problem, result, unscaled(results[-1]), slack=slack)
        assert abs(result["objective"] - results[-1]["objective"]) <= objective
        difference = unscaled(result).decision - unscaled(results[-1]).decision
        assert np.abs(difference).max() <= scores


@each_kind
@pytest.mark.parametrize("n_threads", THREADS[1:])
def test_a_cache_of_a_few_rows_gives_the_same_bits_for_any_number_of_threads(n_threads, kind, many):
    problem = without_kernel(kind, many)
    one, several = (
        solve(make_engine(many.X, cache_bytes=5 * 900 * 8, n_threads=n, **KERNELS["rbf"]), problem, tol=1e-3)
        for n in (1, n_threads)
    )
    assert result_bits(one) == result_bits(several)


@each_kind
def test_a_second_engine_gives_the_same_bits(kind, many):
    problem = without_kernel(kind, many)
    one, other = (solve(make_engine(many.X, n_threads=2, **KERNELS["rbf"]), problem, tol=1e-3) for _ in range(2))
    assert result_bits(one) == result_bits(other)


# -- one engine, many problems -----------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("cache_rows", [3, 40, 10_000])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_what_an_engine_has_solved_before_does_not_change_what_it_finds(kernel, cache_rows, kind, rng):
    """Parts of the rows in any order, growing, shrinking and disjoint; the cache lives on."""
    rows = random_rows(rng, 150, 3)
    K = oracle.kernel_matrix(rows.X, **KERNELS[kernel])
    whole = problem_of(kind, rows, K, c=rng.uniform(0.5, 2.0, size=150))
    slack = kernel_slack(rows, **KERNELS[kernel])
    cache_bytes = cache_rows * 192 * 8
    engine = make_engine(rows.X, cache_bytes=cache_bytes, n_threads=2, **KERNELS[kernel])
    for n in (150, 60, 10, 90, 150, 2, 40, 149):
        chosen = rng.permutation(150)[:n]
        while len(set(whole.y[chosen].tolist())) < len(set(whole.y.tolist())):
            chosen = rng.permutation(150)[:n]
        problem = sub_problem(whole, chosen)
        result = solve(engine, problem, rows=chosen, tol=1e-6)
        fresh = solve(make_engine(rows.X, cache_bytes=cache_bytes, **KERNELS[kernel]), problem, rows=chosen, tol=1e-6)
        certify(problem, result, slack=slack, tol=1e-6)
        _, scores = allowed_difference(problem, result, unscaled(fresh), slack=slack)
        np.testing.assert_allclose(unscaled(result).decision, unscaled(fresh).decision, rtol=0, atol=scores)
        # Scores of rows outside the problem, from the same engine.
        sign = problem.y * result["alpha"]
        every = np.arange(150, dtype=np.int64)
        scored = engine.scores(chosen.astype(np.int64), sign, result["intercept"], every)
        expected = K[:, chosen] @ sign + result["intercept"]
        np.testing.assert_allclose(
            scored, expected, rtol=0, atol=(SUM_TOL * np.abs(K).max() + slack) * np.abs(sign).sum() + SUM_TOL
        )


def test_problems_of_every_kind_share_an_engine(rng):
    rows = random_rows(rng, 80, 3)
    K = oracle.kernel_matrix(rows.X, **KERNELS["rbf"])
    engine = make_engine(rows.X, **KERNELS["rbf"])
    for kind in (*KINDS, *reversed(KINDS)):
        problem = problem_of(kind, rows, K)
        certify(problem, solve(engine, problem, tol=1e-8), slack=kernel_slack(rows, **KERNELS["rbf"]), tol=1e-8)


def test_a_function_is_asked_only_for_rows_of_the_problem(rng):
    rows = random_rows(rng, 60, 3)
    K = oracle.kernel_matrix(rows.X, **KERNELS["rbf"])
    asked: set[int] = set()

    def function(i, j):
        asked.update(i.tolist(), j.tolist())
        return np.ascontiguousarray(K[np.ix_(i, j)])

    chosen = np.arange(0, 60, 2)
    problem = sub_problem(problem_of("c_svm", rows, K), chosen)
    engine = make_engine(rows.X, kernel="function", function=function)
    certify(problem, solve(engine, problem, rows=chosen, tol=1e-8), tol=1e-8)
    assert asked <= set(chosen.tolist())


# -- warm starts -------------------------------------------------------------------------------------------------------


def starts_of(rng, problem: oracle.Problem) -> dict[str, np.ndarray]:
    """Points to start from, feasible or not."""
    n, c = len(problem.y), problem.c
    return {
        "zero": np.zeros(n),
        "box": c.copy(),
        "random": rng.uniform(0, 1, size=n) * c,
        "too_large": 10 * c * rng.random(n),
        "negative": -c,
        "one_sided": np.where(problem.y > 0, c, 0.0),
        "single": np.where(np.arange(n) == 0, c, 0.0),
    }


@each_kind
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_start_leads_to_the_same_optimum(kernel, kind, rng):
    rows = random_rows(rng, 60, 3)
    K = oracle.kernel_matrix(rows.X, **KERNELS[kernel])
    problem = problem_of(kind, rows, K, c=rng.uniform(0.5, 2.0, size=60))
    slack = kernel_slack(rows, **KERNELS[kernel])
    expected = oracle.solve(problem)
    for name, start in starts_of(rng, problem).items():
        result = solve(make_engine(rows.X, **KERNELS[kernel]), problem, start=start, tol=1e-8)
        certify(problem, result, slack=slack, tol=1e-8)
        objective, scores = allowed_difference(problem, result, expected, slack=slack)
        now = unscaled(result)
        assert abs(problem.dual(now.alpha) - expected.objective) <= objective, name
        np.testing.assert_allclose(now.decision, expected.decision, rtol=0, atol=scores, err_msg=name)


@each_kind
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_start_at_the_solution_takes_few_steps(kernel, kind, many):
    """alpha comes back in the scale in which it is given, that of nu_svm divided by its margin."""
    problem = without_kernel(kind, many)
    engine = make_engine(many.X, **KERNELS[kernel])
    cold = solve(engine, problem, tol=1e-6)
    warm = solve(engine, problem, start=cold["alpha"], tol=1e-6)
    assert warm["n_steps"] <= max(5, 0.05 * cold["n_steps"])
    np.testing.assert_allclose(unscaled(warm).decision, unscaled(cold).decision, rtol=0, atol=1e-4)


def test_the_solution_without_rows_that_do_not_support_it_is_still_the_solution(many):
    """What SVMC relies on: rows with alpha = 0 can go, and new ones come with alpha = 0."""
    problem = problem_of("c_svm", many, oracle.kernel_matrix(many.X, **KERNELS["rbf"]))
    engine = make_engine(many.X, **KERNELS["rbf"])
    whole = solve(engine, problem, tol=1e-6)
    support = np.flatnonzero(whole["alpha"] > 0)
    small = sub_problem(problem, support)
    again = solve(engine, small, rows=support, start=whole["alpha"][support], tol=1e-6)
    assert again["n_steps"] <= 0.05 * whole["n_steps"]
    certify(small, again, slack=kernel_slack(many, **KERNELS["rbf"]), tol=1e-6)
    np.testing.assert_allclose(again["decision"], whole["decision"][support], rtol=0, atol=1e-5)
    back = solve(engine, problem, start=whole["alpha"], tol=1e-6)
    assert back["n_steps"] <= 0.05 * whole["n_steps"]


def test_a_start_is_not_written_to(many):
    problem = without_kernel("c_svm", many)
    start = np.full(900, 0.5)
    solve(make_engine(many.X, **KERNELS["rbf"]), problem, start=start, tol=1e-2)
    assert np.all(start == 0.5)
