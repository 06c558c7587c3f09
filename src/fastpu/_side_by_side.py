"""Independent pieces of work on several threads, such that Ctrl-C at any moment ends them all."""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["side_by_side"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_LOOK_SECONDS = 0.05  # how often Ctrl-C is looked at where a waiting thread does not see it by itself (Windows)
_START_SECONDS = 1.0  # how long to wait for a thread of which it is not known whether it was started


def side_by_side(work: Callable[[_Item], _Result], items: Sequence[_Item], n_workers: int) -> list[_Result]:
    """Return ``[work(item) for item in items]``, done by `n_workers` threads that take one item after another.

    What `work` raises comes out, of several errors that of the first item; no item is begun after one. An exception in
    this thread (KeyboardInterrupt) comes out when the items that were begun are done.

    Notes
    -----
    Not an executor of `concurrent.futures`: its futures and queues have locks of Python that this thread takes as well,
    and Ctrl-C between the moment when it has such a lock and the moment when it would give it back leaves workers
    waiting for ever. Here this thread waits for one lock of each worker, which the worker gives back at its end.
    """
    results: dict[int, _Result] = {}
    errors: dict[int, BaseException] = {}
    left = iter(range(len(items)))
    turn = _thread.allocate_lock()  # among workers
    stop = False

    def next_item() -> int | None:
        with turn:
            return None if stop else next(left, None)

    def take_items(is_done: _thread.LockType) -> None:
        nonlocal stop
        now = 0
        try:
            while (i := next_item()) is not None:
                now = i
                results[now] = work(items[now])
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that asked for the work
            stop = True
            errors[now] = error
        finally:
            is_done.release()

    workers = [_thread.allocate_lock() for _ in range(min(n_workers, len(items)))]
    n_started = 0
    try:
        for is_done in workers:
            is_done.acquire()
            _thread.start_new_thread(take_items, (is_done,))
            n_started += 1
        for is_done in workers:
            _wait_for(is_done)
    finally:
        stop = True
        for is_done in workers[:n_started]:
            _wait_for(is_done)
        for is_done in workers[n_started : n_started + 1]:
            is_done.acquire(timeout=_START_SECONDS)
    if errors:
        raise errors[min(errors)]
    return [results[i] for i in range(len(items))]


def _wait_for(is_done: _thread.LockType) -> None:
    """Wait until a lock is free, and leave it so."""
    while not is_done.acquire(timeout=_LOOK_SECONDS):
        pass
    is_done.release()
