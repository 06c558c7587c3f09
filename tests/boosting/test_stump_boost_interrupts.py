"""Ctrl-C and fork: a fit ends in time, and neither leaves anything broken behind."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from boosting_cases import HANG_SECONDS
from interrupts import INTERRUPT_SECONDS, interrupted_after, posix, sigint_handler
from method_recipes import model_bits


@posix
@pytest.mark.parametrize("sparse", [False, True])
def test_ctrl_c_stops_the_binning(sparse):
    """Long columns: sorting a single one takes longer than the promise."""
    rng = np.random.default_rng(3)
    n, d = 1_000_000, 12
    X = rng.normal(size=(n, d))
    if sparse:
        X = sp.csr_matrix((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=(n, d))
    delay = interrupted_after(lambda: [fastpu.bin_features(X, max_bins=255, n_threads=1) for _ in range(99)], delay=0.2)
    assert delay < INTERRUPT_SECONDS, f"stopped {delay:.3f} s after Ctrl-C"


@posix
def test_ctrl_c_stops_a_prediction():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 5)), rng.choice([1, 0, -1], size=300)
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=3000, rho=0.0, stop_tol=0.0)
    many = np.tile(X, (4000, 1))
    delay = interrupted_after(lambda: [model.decision_function(many, n_threads=1) for _ in range(100)])
    assert delay < INTERRUPT_SECONDS, f"stopped {delay:.3f} s after Ctrl-C"


@posix
def test_a_handler_that_swallows_the_signal_lets_the_fit_go_on(large):
    X, y = large
    caught = []
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    with sigint_handler(lambda *_: caught.append(True)):
        timer.start()
        model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=300, max_bins=64, stop_tol=0.0, rho=0.0)
        timer.join()
    assert caught
    assert model.n_iter == 300


# -- fork --------------------------------------------------------------------------------------------------------------


def small_fit(X, y) -> bytes:
    """A fit of several threads, as bytes."""
    return model_bits(fastpu.fit_pnu_auc_boost(X, y, n_rounds=3, max_bins=16, n_threads=3))


def in_child(work) -> int:
    """Run work() in a forked child; its exit status is 0 if work() returned true."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    deadline = time.monotonic() + HANG_SECONDS
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hung")


@posix
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_fits_during_a_fit_of_its_parent(large):
    X, y = large
    expected = small_fit(X, y)
    running, enough = threading.Event(), threading.Event()

    def watch(info) -> bool:
        running.set()
        return enough.is_set()

    fit = threading.Thread(
        target=fastpu.fit_pnu_auc_boost,
        args=(X, y),
        kwargs={"n_rounds": 1_000_000, "rho": 0.0, "stop_tol": 0.0, "max_bins": 16, "n_threads": 3, "callback": watch},
    )
    fit.start()
    try:
        assert running.wait(HANG_SECONDS)
        assert in_child(lambda: small_fit(X, y) == expected) == 0
    finally:
        enough.set()
        fit.join()
