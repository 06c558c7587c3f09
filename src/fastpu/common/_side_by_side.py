"""Independent pieces of work on several threads, such that Ctrl-C at any moment ends them all."""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING, TypeVar

from fastpu import _core

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
    this thread (KeyboardInterrupt) comes out when the items that were begun have ended, which the core does at once.

    Notes
    -----
    Not an executor of `concurrent.futures`: its futures and queues have locks of Python that this thread takes as well,
    and Ctrl-C between the moment when it has such a lock and the moment when it would give it back leaves workers
    waiting for ever. Here this thread waits for one lock of each worker, which the worker gives back at its end.
    """
    results: dict[int, _Result] = {}
    errors: dict[int, BaseException] = {}
    finished: set[int] = set()  # workers
    left = iter(range(len(items)))
    turn = _thread.allocate_lock()  # among workers
    stop = False
    flag = _core.StopFlag()

    def next_item() -> int | None:
        with turn:
            return None if stop else next(left, None)

    def take_items(worker: int, is_done: _thread.LockType) -> None:
        nonlocal stop
        now = 0
        try:
            flag.watch()
            while (i := next_item()) is not None:
                now = i
                results[now] = work(items[now])
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that asked for the work
            stop = True
            errors[now] = error
        finally:
            finished.add(worker)
            is_done.release()

    def wait_for(worker: int, is_done: _thread.LockType) -> None:
        # What says that a worker has finished is not the lock, which this thread may have got just before Ctrl-C.
        while worker not in finished:
            is_done.acquire(timeout=_LOOK_SECONDS)

    workers = list(enumerate(_thread.allocate_lock() for _ in range(min(n_workers, len(items)))))
    n_started = 0
    try:
        for worker, is_done in workers:
            is_done.acquire()
            _thread.start_new_thread(take_items, (worker, is_done))
            n_started += 1
        for worker, is_done in workers:
            wait_for(worker, is_done)
    finally:
        stop = True
        if len(finished) < len(workers):
            flag.raise_()
        for worker, is_done in workers[:n_started]:
            wait_for(worker, is_done)
        for worker, is_done in workers[n_started : n_started + 1]:
            if worker not in finished:
                is_done.acquire(timeout=_START_SECONDS)
    if errors:
        raise errors[min(errors)]
    return [results[i] for i in range(len(items))]
