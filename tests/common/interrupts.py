"""Ctrl-C in the middle of a call."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

#: Processor time of all threads together. A fit is stopped within 0.2 s; time of the processor instead of the clock,
#: so that a busy machine does not fail the test.
INTERRUPT_SECONDS = 2.0

TASKS = Path("/proc/self/task")

posix = pytest.mark.skipif(os.name != "posix", reason="signals and fork are POSIX")
#: For exceptions at any moment: one within coverage's trace function leaves its lock taken.
untraced = pytest.mark.skipif(sys.gettrace() is not None, reason="coverage's trace cannot be interrupted anywhere")


def n_tasks() -> int:
    """The threads of this process, Python's or not; those of a call that has returned may be listed for a moment."""
    return len(list(TASKS.iterdir())) if TASKS.is_dir() else threading.active_count()


def settles_at(tasks: int, python_threads: list[threading.Thread]) -> bool:
    """Whether there are no other threads than these, once those that are about to end have done so."""

    def is_settled() -> bool:
        return n_tasks() <= tasks and set(threading.enumerate()) <= set(python_threads)

    deadline = time.monotonic() + 60
    while not is_settled() and time.monotonic() < deadline:
        time.sleep(0.005)
    return is_settled()


@contextlib.contextmanager
def sigint_handler(handler):
    """Handle SIGINT by this for a while: a job in the background starts with it ignored, libraries put in their own."""
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None: what was there is not Python's, and Python cannot put it back.
        signal.signal(signal.SIGINT, signal.default_int_handler if previous is None else previous)


def interrupts_before_each_line(
    make_block: Callable[[], contextlib.AbstractContextManager[object]], file: str
) -> Iterator[None]:
    """Enter a block again and again: with Ctrl-C before the first line of `file` that this runs, then the second, ...

    Yield after each interrupt. End when the block's body is reached with no interrupt.
    """

    def enter(at_line: int) -> bool:
        left = at_line

        def trace(frame, event, _):
            nonlocal left
            if frame.f_code.co_filename != file:
                return None
            left -= event == "line"
            if left == 0 and event == "line":
                raise KeyboardInterrupt
            return trace

        outer = sys.gettrace()
        sys.settrace(trace)
        try:
            with make_block():
                sys.settrace(outer)
        except KeyboardInterrupt:
            return False
        finally:
            sys.settrace(outer)
        return True

    at_line = 1
    while not enter(at_line):
        yield
        at_line += 1


def interrupted_after(call, *, delay: float = 0.3) -> float:
    """Send SIGINT while call() runs; return the processor seconds until KeyboardInterrupt came out of it."""
    with sigint_handler(signal.default_int_handler):
        return _interrupted_after(call, delay)


def _interrupted_after(call, delay: float) -> float:
    sent = []

    def interrupt() -> None:
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, interrupt)
    gc.disable()  # hypothesis has a callback there, and what is raised in one is swallowed
    timer.start()
    try:
        call()
        timer.join()
        time.sleep(0.1)  # the handler runs here at the latest
    except KeyboardInterrupt:
        return time.process_time() - sent[0]
    finally:
        gc.enable()
        timer.cancel()  # the call may have failed before
        timer.join()
    pytest.fail("no KeyboardInterrupt")
