"""Work on several threads: results as of one after another, the first error, and an end at Ctrl-C whenever it comes."""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest

import fastpu
from fastpu.common._side_by_side import side_by_side
from interrupts import INTERRUPT_SECONDS, interrupted_after, posix, untraced


@pytest.mark.parametrize("n_workers", [1, 2, 7])
@pytest.mark.parametrize("n_items", [0, 1, 2, 1000])
def test_results_are_those_of_one_after_another(n_workers, n_items):
    items = list(range(n_items))
    assert side_by_side(lambda i: i * i, items, n_workers) == [i * i for i in items]


@pytest.mark.parametrize("n_workers", [1, 2, 7])
def test_the_error_of_the_first_item_comes_out_and_no_item_is_begun_after_it(n_workers):
    begun = []

    def work(i):
        begun.append(i)
        if i >= 5:
            time.sleep(0.01 * (20 - i))  # later items fail sooner
            raise ValueError(i)

    with pytest.raises(ValueError, match="^5$"):
        side_by_side(work, range(1000), n_workers)
    assert len(begun) <= 5 + n_workers


def test_several_items_are_worked_on_at_once():
    both = threading.Barrier(2, timeout=20)
    side_by_side(lambda _: both.wait(), range(2), 2)


@posix
@untraced
@pytest.mark.parametrize("delay", [0.002, *np.geomspace(0.01, 0.3, 8)])
def test_ctrl_c_comes_out_at_any_moment_and_leaves_no_worker(delay):
    """Of very many short items, between which an executor of the standard library can wait for ever."""
    running = set()

    def work(i):
        running.add(i)
        sum(range(50))
        running.discard(i)

    waited = interrupted_after(lambda: side_by_side(work, range(10**9), 3), delay=delay)
    assert waited < INTERRUPT_SECONDS
    assert not running
    assert side_by_side(abs, [-1, 2], 2) == [1, 2]


@posix
def test_ctrl_c_between_any_two_steps_leaves_no_worker_and_does_not_hang():
    """An exception where each line of the waiting thread begins, as a handler of a signal raises it."""
    code = side_by_side.__code__
    own = {code, *(c for c in code.co_consts if hasattr(c, "co_code") and c.co_name == "wait_for")}
    n_raised = 0
    for line in range(1, 60):
        running, n_seen = set(), 0

        def work(i, running=running):
            running.add(i)
            time.sleep(0.002)
            running.discard(i)

        def trace(frame, event, _, line=line):
            nonlocal n_seen
            if frame.f_code not in own:
                return None
            if event == "line":
                n_seen += 1
                if n_seen == line:
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            side_by_side(work, range(8), 2)
        except KeyboardInterrupt:
            n_raised += 1
        finally:
            sys.settrace(before)
        for _ in range(200):  # a worker of which nobody knew that it was started is done soon
            if not running:
                break
            time.sleep(0.01)
        assert not running, f"a worker was left by the exception in step {line}"
    assert n_raised > 20


@posix
def test_ctrl_c_stops_what_workers_are_doing_in_the_core():
    """Python runs signal handlers on the main thread alone: fits of other threads went on to their end."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 60))
    y = np.where(X[:, 0] + rng.normal(size=8000) > 0, 1, -1)

    def work(_):
        return fastpu.fit_svm_path(X, y, kernel="rbf", gamma=0.5, n_threads=1)

    n_before = threading.active_count()
    assert interrupted_after(lambda: side_by_side(work, [0, 1, 2], 2)) < INTERRUPT_SECONDS
    assert threading.active_count() == n_before
    assert fastpu.fit_svm(X[:50], y[:50]).converged  # flags are those of the threads that are gone
