"""Every way in which the solver stops: its limits, the precision of the numbers, callbacks, errors and signals."""

from __future__ import annotations

import contextlib
import signal
import time

import numpy as np
import pytest
import scipy.sparse as sp

from interrupts import INTERRUPT_SECONDS, interrupted_after, posix
from oracles import svm as oracle
from svm_cases import (
    DTYPES,
    KERNELS,
    KINDS,
    Rows,
    labels_of,
    make_engine,
    problem_of,
    random_rows,
    result_bits,
    solve,
    sub_problem,
    without_kernel,
)

#: Processor time that a problem that cannot be solved any better may take: minutes if nobody noticed.
GIVE_UP_SECONDS = 5.0

each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def many() -> Rows:
    """Rows enough that kernel rows are cut into blocks, and that some shrink away."""
    return random_rows(np.random.default_rng(91), 900, 6)


@pytest.fixture(scope="module")
def endless() -> Rows:
    """Labels that are noise, so that at a large cost nothing but the caller ends it."""
    rng = np.random.default_rng(92)
    return Rows(rng.normal(size=(3000, 4)), rng.choice([-1, 1], size=3000).astype(np.int8))


@each_kind
@pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "f64"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_tolerance_below_the_precision_is_recognised(kernel, dtype, kind, many):
    """And of all rows, those that have been left out for a while included."""
    problem = without_kernel(kind, many, c=3.0 if kind == "c_svm" else 1.0)
    engine = make_engine(many.X, dtype=dtype, **KERNELS[kernel])
    started = time.process_time()
    result = solve(engine, problem, tol=1e-300, max_iter=10**9)
    assert time.process_time() - started < GIVE_UP_SECONDS
    assert result["status"] in {"precision", "tol"}
    assert result["violation"] < 1e-6


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_callback_watches_and_stops(kernel, endless):
    problem = without_kernel("c_svm", endless, c=1e5)
    calls = []

    def watch(n_steps, objective, violation, n_active) -> bool:
        calls.append((n_steps, objective, violation, n_active))
        return len(calls) == 5

    result = solve(make_engine(endless.X, n_threads=2, **KERNELS[kernel]), problem, callback=watch, max_iter=10**9)
    assert result["status"] == "callback"
    assert len(calls) == 5
    n_steps, objective, violation, n_active = map(np.array, zip(*calls, strict=True))
    assert np.all(np.diff(n_steps) >= 0)
    assert np.all(np.diff(objective) <= 1e-9 * np.abs(objective[:-1]))
    assert np.all(violation > 0)
    assert np.all((n_active > 0) & (n_active <= 3000))
    assert result["n_steps"] >= n_steps[-1]
    assert result["gap"] > 0


def test_an_error_of_the_callback_is_passed_on_and_the_engine_goes_on(many):
    problem = without_kernel("c_svm", many)
    engine = make_engine(many.X, **KERNELS["rbf"])
    before = solve(engine, problem, tol=1e-8)

    def fail(*_):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        solve(engine, problem, tol=1e-8, callback=fail)
    after = solve(engine, problem, tol=1e-8)
    np.testing.assert_allclose(after["decision"], before["decision"], rtol=0, atol=1e-5)


def test_an_error_of_the_kernel_function_is_passed_on_and_the_engine_goes_on(rng):
    rows = random_rows(rng, 120, 3)
    K = oracle.kernel_matrix(rows.X, **KERNELS["rbf"])
    problem = problem_of("c_svm", rows, K)
    left = [10**9]

    def function(i, j):
        left[0] -= 1
        if left[0] < 0:
            raise ZeroDivisionError("no kernel today")
        return np.ascontiguousarray(K[np.ix_(i, j)])

    def engine_of(cache_rows):
        return make_engine(rows.X, kernel="function", function=function, cache_bytes=cache_rows * 128 * 8)

    expected = result_bits(solve(engine_of(8), problem, tol=1e-6))
    engine = engine_of(8)
    for n_calls in (0, 1, 2, 5, 20, 50):
        left[0] = n_calls
        with pytest.raises(ZeroDivisionError, match="no kernel today"):
            solve(engine, problem, tol=1e-6)
    left[0] = 10**9
    assert result_bits(solve(engine, problem, tol=1e-6)) == expected


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda i, j: np.zeros((len(i), len(j) + 1)), ValueError),
        (lambda i, j: np.zeros((len(j), len(i)), dtype=np.float32), (TypeError, ValueError)),
        (lambda i, j: None, (TypeError, ValueError)),
    ],
    ids=["shape", "type", "none"],
)
def test_a_kernel_function_that_answers_nonsense_is_refused(answer, error, rng):
    rows = random_rows(rng, 30, 3)
    engine = make_engine(rows.X, kernel="function", function=answer)
    with pytest.raises(error):
        solve(engine, without_kernel("c_svm", rows), tol=1e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(1, 1), (1, 2)], ids=["diagonal", "beside"])
def test_kernel_values_that_are_no_numbers_are_refused(place, value, rng):
    """They must not make the solver run for ever, nor come out as a solution."""
    rows = random_rows(rng, 8, 2)
    K = np.eye(8)
    K[place] = K[place[::-1]] = value
    with pytest.raises(ValueError, match="kernel"):
        solve(make_engine(K, kernel="precomputed"), problem_of("c_svm", rows, K), max_iter=10**9)


class Alarm(Exception):
    pass


@contextlib.contextmanager
def alarm_after(seconds: float):
    """Raise Alarm in the main thread after this long."""

    def ring(*_):
        raise Alarm

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@posix
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("cache_rows", [4, 3000])
@pytest.mark.parametrize(("kernel", "sparse"), [("linear", False), ("linear", True), ("rbf", False), ("rbf", True)])
def test_a_signal_ends_a_long_solve(kernel, sparse, cache_rows, n_threads, endless):
    problem = without_kernel("c_svm", endless, c=1e6)
    engine = make_engine(
        endless.X, sparse=sparse, n_threads=n_threads, cache_bytes=cache_rows * 3000 * 8, **KERNELS[kernel]
    )
    assert interrupted_after(lambda: solve(engine, problem, tol=1e-12, max_iter=10**10), delay=0.15) < INTERRUPT_SECONDS


@posix
@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_signal_ends_the_scoring(n_threads):
    rng = np.random.default_rng(93)
    X = sp.random(20_000, 500, density=0.2, random_state=rng, format="csr").toarray()
    engine = make_engine(X, n_threads=n_threads, gamma=0.1)
    rows = np.arange(20_000, dtype=np.int64)
    delay = interrupted_after(lambda: engine.scores(rows, np.ones(20_000), 0.0, rows), delay=0.1)
    assert delay < INTERRUPT_SECONDS


@posix
@pytest.mark.parametrize("n_threads", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_an_engine_that_was_interrupted_anywhere_goes_on(n_threads):
    """Whatever it was doing, moving its cache included: what it finds afterwards is what a fresh one finds."""
    rng = np.random.default_rng(94)
    X = rng.normal(size=(1200, 8))
    rows = Rows(X, labels_of(rng, X[:, 0]))
    whole = without_kernel("c_svm", rows, c=10.0)
    parts = [np.sort(rng.permutation(1200)[:n]) for n in (1200, 700, 1000)]
    problems = [sub_problem(whole, part) for part in parts]

    def engine_of():
        return make_engine(X, gamma=0.5, n_threads=n_threads, cache_bytes=400 * 1200 * 8)

    started = time.perf_counter()
    expected = [solve(engine_of(), problem, rows=part, tol=1e-4) for problem, part in zip(problems, parts, strict=True)]
    typical = (time.perf_counter() - started) / 3
    engine = engine_of()
    interrupted = 0
    for k in range(24):
        which = k % 3
        with contextlib.suppress(Alarm), alarm_after(typical * rng.uniform(0.01, 0.9)):
            interrupted += 1
            solve(engine, problems[which], rows=parts[which], tol=1e-4)
            interrupted -= 1
        if k % 6 == 5:
            result = solve(engine, problems[which], rows=parts[which], tol=1e-4)
            np.testing.assert_allclose(result["decision"], expected[which]["decision"], rtol=0, atol=2e-2)
            assert abs(result["objective"] - expected[which]["objective"]) <= 1e-4 * abs(expected[which]["objective"])
    assert interrupted
