"""How the boosting functions run: threads, instruction sets, interruption, callbacks, fork."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import fastpu
from boosting_cases import each_fit, make_problem

# -- the same bits -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_no_more_threads_run_than_were_allowed(n_threads):
    """The caller is one of them, and all the others are gone after the fit. A round has work for each of them."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(400, 300)), np.arange(400) % 3 - 1

    def count() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    # A thread that has been joined can still be listed for a moment, so the counts are given time to settle.
    time.sleep(0.05)
    before, seen = count(), []
    fastpu.fit_pnu_auc_boost(X, y, n_rounds=6, n_threads=n_threads, callback=lambda info: seen.append(count()))
    assert max(seen) == before + n_threads - 1
    deadline = time.monotonic() + 60
    while count() != before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert count() == before


# -- several threads of Python -----------------------------------------------------------------------------------------


def test_the_gil_is_released(endless):
    """Another Python thread runs on while a fit of one thread does."""
    X, y, options = endless
    ticks, stop = [], threading.Event()

    def tick() -> None:
        while not stop.wait(0.002):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        started = time.perf_counter()
        fastpu.fit_pnu_auc_boost(X, y, **{**options, "n_rounds": 10_000}, max_bins=255, n_threads=1)
        ended = time.perf_counter()
    finally:
        stop.set()
        thread.join()
    # Hundreds on a quiet machine; with the GIL held there could be one at either end.
    assert sum(started < t < ended for t in ticks) >= 10


# -- callbacks ---------------------------------------------------------------------------------------------------------

#: Name in what the callback hears -> name on the model.
INFO = {
    "feature": "features",
    "threshold": "thresholds",
    "polarity": "polarity",
    "delta": "deltas",
    "alpha": "alphas",
    "z": "z",
    "objective": "objective",
}


@each_fit
def test_the_callback_hears_of_every_round(fit):
    problem = make_problem(np.random.default_rng(4), n=200, d=4, kinds=("normal", "rounded"))
    heard = []
    model = fit(problem.X, problem.y, n_rounds=12, callback=heard.append)
    assert [info.round for info in heard] == list(range(1, model.n_iter + 1))
    for name, field in INFO.items():
        np.testing.assert_array_equal([getattr(info, name) for info in heard], getattr(model, field), err_msg=name)
    labelled = problem.y != 0
    judged = []
    model = fit(
        problem.X, problem.y, n_rounds=3, eval_set=(problem.X[labelled], problem.y[labelled]), callback=judged.append
    )
    np.testing.assert_array_equal([info.eval_auc for info in judged], model.history["eval_auc"])


# -- how a fit ends ----------------------------------------------------------------------------------------------------


def test_ways_to_end_have_their_status():
    """For an empty model and early stopping see test_stump_ensemble.py and test_stump_boost_eval.py."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    perfect = fastpu.fit_pnu_auc_boost(X, [-1, -1, 1, 1], n_rounds=9)
    assert (perfect.status, perfect.n_iter, perfect.converged) == ("perfect", 1, True)
    problem = make_problem(np.random.default_rng(6), n=200, d=4, kinds=("normal",))
    budget = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=9)
    assert (budget.status, budget.n_iter, budget.converged) == ("n_rounds", 9, True)
    told = fastpu.fit_pnu_auc_boost(problem.X, problem.y, n_rounds=9, callback=lambda info: info.round == 5)
    assert (told.status, told.converged) == ("callback", False)
