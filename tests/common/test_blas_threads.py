"""The limit of BLAS's threads: one while somebody holds it, and what it was afterwards."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fastpu.common import _blas_threads
from fastpu.common._blas_threads import one_blas_thread
from interrupts import interrupts_before_each_line, sigint_handler


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_there_is_one_thread_inside_and_as_many_as_before_outside():
    with one_blas_thread():  # loads what it limits
        pass
    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_it_nests_and_overlaps():
    with one_blas_thread():
        pass
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        entered, leave = threading.Event(), threading.Event()

        def hold():
            with one_blas_thread():
                entered.set()
                leave.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        assert entered.wait(30)
        with one_blas_thread(), one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}  # the other thread still holds it
        leave.set()
        thread.join()
        assert blas_threads() == before


def test_an_error_gives_it_back():
    with one_blas_thread():
        pass
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(KeyError), one_blas_thread():
            raise KeyError
        assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork in a process of several threads
def test_a_fork_while_it_is_held_can_take_it_again():
    with one_blas_thread():
        child = os.fork()
        if child == 0:
            try:
                with one_blas_thread():
                    os._exit(0 if set(blas_threads()) == {1} else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork in a process of several threads
def test_a_child_has_all_threads_again_if_another_thread_held_the_limit():
    with one_blas_thread():
        pass
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread():
            entered.set()
            leave.wait(60)

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        thread = threading.Thread(target=hold)
        thread.start()
        try:
            assert entered.wait(30)
            child = os.fork()
            if child == 0:
                try:
                    is_free = blas_threads() == before
                    with one_blas_thread():
                        is_limited = set(blas_threads()) == {1}
                    os._exit(0 if is_free and is_limited and blas_threads() == before else 1)
                finally:
                    os._exit(2)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert set(blas_threads()) == {1}  # here the other thread still holds it
        finally:
            leave.set()
            thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork in a process of several threads
def test_a_child_whose_own_thread_holds_the_limit_keeps_it_to_the_end():
    with one_blas_thread():
        pass
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        child = -1
        with one_blas_thread():
            child = os.fork()
            is_limited = set(blas_threads()) == {1}
        if child == 0:
            os._exit(0 if is_limited and blas_threads() == before else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_interrupt_right_behind_the_limit_gives_it_back(monkeypatch):
    with one_blas_thread():
        pass
    set_counts = _blas_threads._set_counts

    def set_and_interrupt(counts):
        set_counts(counts)
        if all(n_threads == 1 for _, n_threads in counts):
            assert set(blas_threads()) == {1}
            signal.raise_signal(signal.SIGINT)

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        monkeypatch.setattr(_blas_threads, "_set_counts", set_and_interrupt)
        caught = pytest.raises(KeyboardInterrupt)
        with sigint_handler(signal.default_int_handler), caught, one_blas_thread():
            pytest.fail("the limit was held")
        assert blas_threads() == before
        monkeypatch.undo()
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_an_interrupt_before_any_line_of_taking_the_limit_leaves_none(monkeypatch):
    """The moments of Ctrl-C: each line that runs between the call and the body of the `with` statement."""
    # One of these lines is the end of `with _lock`. No signal is seen there before the lock is given back, but what a
    # trace raises is: the lock stays taken, and other threads of later tests would wait for it for ever.
    monkeypatch.setattr(_blas_threads, "_lock", threading.RLock())
    with one_blas_thread():
        pass
    with threadpool_limits(2, user_api="blas"):
        before, n_lines = blas_threads(), 0
        for _ in interrupts_before_each_line(one_blas_thread, _blas_threads.__file__):
            n_lines += 1
            assert blas_threads() == before
            assert not _blas_threads._holders
    assert n_lines > 5


def test_there_is_room_for_what_blas_takes_at_its_first_call(monkeypatch):
    """OpenBLAS ends the process, or tries for ever, where there is none."""
    asked = []

    class NoMemory:
        def __init__(self, _, n_bytes):
            asked.append(n_bytes)
            raise OSError("Cannot allocate memory")

    monkeypatch.setattr(_blas_threads, "_n_callers_with_room", 0)
    with one_blas_thread(2):
        pass
    with one_blas_thread(), one_blas_thread(2):  # nothing is asked for again
        pass
    monkeypatch.setattr(_blas_threads.mmap, "mmap", NoMemory)
    with one_blas_thread(2):
        assert not asked
    work = 33 * 2**20
    with pytest.raises(MemoryError, match=f"cannot allocate {3 * work} bytes for the work of BLAS"), one_blas_thread(5):
        pytest.fail("there is no room for three more callers")
    monkeypatch.setattr(_blas_threads, "_n_callers_with_room", 0)
    with pytest.raises(MemoryError, match=f"cannot allocate {2 * work} bytes for the work of BLAS"), one_blas_thread():
        pytest.fail("there is no room for NumPy's BLAS and SciPy's")
    assert asked == [3 * work, 2 * work]
    assert not _blas_threads._holders
