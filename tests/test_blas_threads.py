"""The limit of BLAS's threads: one while somebody holds it, and what it was afterwards."""

from __future__ import annotations

import os
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fastpu._blas_threads import one_blas_thread


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
