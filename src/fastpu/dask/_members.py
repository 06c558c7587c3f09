"""A fit by many members: each worker runs it on the rows that it has, and they exchange what they find.

All members are at the same place of the same program all the time, and make the same choices from the same sums. The
driver follows them: it runs the program without rows, on the answers that the members have got. It alone calls the
callback and judges an evaluation set. Where it stops, it ends the meeting of the members, and so their work.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections import deque
from contextlib import closing
from dataclasses import replace
from multiprocessing import AuthenticationError
from typing import Any, Protocol

import numpy as np

from fastpu.dask._client import CHECK_SECONDS, WorkerLostError, distributed, release, wait_for
from fastpu.dask._meeting import Address, Meeting, connect
from fastpu.dask._spread_rows import SpreadRows
from fastpu.dask._worker_rows import WorkerRows

_SECONDS_TO_LEARN = 20.0  # within these a scheduler under load learns which worker is gone, or which task has failed


class Exchange(Protocol):
    """Sends a member's numbers to the meeting, and returns the answer; C++'s `MemberExchange` says what it is."""

    def __call__(self, operation: str, own: bytes, /) -> bytes: ...


class MemberFit(Protocol):
    """What every member of a fit runs on its rows; what it returns stays on the worker."""

    def __call__(self, rows: WorkerRows, exchange: Exchange, n_threads: int, /) -> object: ...


# ---- On a worker ----


def take_part(rows: WorkerRows, address: Address, place: int, key: bytes, fit: MemberFit, n_threads: int) -> None:
    """Run a fit on the own rows, until it or the meeting has ended."""
    if rows.weights is not None:
        # Dask leaves arrays in the message that they came in, at any byte; kernels need them aligned.
        rows = replace(rows, weights=np.require(rows.weights, requirements="A"))
    with closing(connect(address, place, key)) as meeting, contextlib.suppress(EOFError, ConnectionError):

        def exchange(operation: str, own: bytes, /) -> bytes:
            meeting.send(operation[:1].encode() + own)
            return meeting.receive()

        fit(rows, exchange, n_threads)


def _take_part_in_task(*arguments: Any) -> None:
    distributed.secede()  # the members wait for each other: none may keep another one from beginning
    take_part(*arguments)


# ---- The driver ----


class Members:
    """Runs a fit on the rows of every worker, until this is closed.

    The driver runs the same fit without rows, with the `exchange` of this.
    """

    def __init__(self, rows: SpreadRows, fit: MemberFit) -> None:
        self._rows, self._client, self._key = rows, rows.client, secrets.token_bytes(32)
        self._meeting: Any = None  # the future of the actor
        self._actor: Any = None
        self._tasks: list[Any] = []
        self._answers: deque[bytes] = deque()
        self._have_met = False
        wait_for(self._client, rows.of_workers, "putting rows together")
        workers = self._client.who_has(rows.of_workers)
        self._addresses = [min(workers[own.key], default="") for own in rows.of_workers]
        self._check_all_there()
        try:
            submit, at, n_members = self._client.submit, self._addresses, len(self._addresses)
            self._meeting = submit(Meeting, n_members, self._key, actor=True, workers=[at[0]], pure=False)
            self._actor = self._wait_for(self._meeting)
            address = tuple(self._wait_for(self._actor.address()))
            for place, own in enumerate(rows.of_workers):
                arguments = own, address, place, self._key, fit, rows.n_threads[place]
                self._tasks.append(submit(_take_part_in_task, *arguments, workers=[at[place]], pure=False))
        except BaseException:
            self.close()
            raise

    def exchange(self, operation: str, own: bytes, /) -> bytes:  # noqa: ARG002 - the driver has nothing to send
        """Return the answers that the members have got, one after the other."""
        if not self._answers:
            try:
                asked = self._actor.answers()
            except (RuntimeError, ValueError) as error:  # the client knows already that the actor is gone
                raise self._lost() from error
            self._answers.extend(self._wait_for(asked))
        if not self._answers:  # the members have ended before the driver
            raise self._lost()
        self._have_met = True
        return self._answers.popleft()

    def _wait_for(self, answer: Any) -> Any:
        """Return the result of a future, or raise its error; WorkerLostError where a worker is gone."""
        try:
            while True:
                start = time.monotonic()
                try:
                    return answer.result(timeout=CHECK_SECONDS)
                except distributed.TimeoutError:
                    # An error that comes before the end of this wait is the answer itself. On a busy machine a wait may
                    # end although the answer is there.
                    if time.monotonic() - start < 0.9 * CHECK_SECONDS:
                        raise
                self._check_all_there()
        except WorkerLostError:
            raise
        except Exception as error:
            self._check_present(has_failed=True)
            if self._actor is None or not isinstance(error, OSError | EOFError | AuthenticationError):
                raise
            raise self._lost(error) from error

    def _check_all_there(self) -> None:
        """Raise the error of a member that has failed, or WorkerLostError where one is gone, or its task."""
        self._check_present()
        if self._has_lost_tasks():
            raise self._lost()

    def _check_present(self, *, has_failed: bool = False) -> None:
        """Raise what is known of workers that are gone and of members that have failed.

        Where the meeting `has_failed`, that members do not find it is no news.
        """
        present = self._client.nthreads()
        at = self._addresses
        if missing := [k for k, address in enumerate(at) if address not in present or self._has_come_again(k)]:
            names = ", ".join(at[k] for k in missing)
            numbers = sorted(number for k in missing for number in self._rows.partitions[k])
            raise WorkerLostError(
                f"the Dask worker {names} is gone {self._rows.where}, with partitions {numbers}: its process ended, or "
                f"its memory ran out (its log says which)"
            )
        for task in self._tasks:
            if task.status == "error":
                error = task.exception()
                if not (has_failed and isinstance(error, ConnectionError)):
                    raise error

    def _has_come_again(self, k: int) -> bool:
        """Return whether a worker was replaced by one of the same address, where Dask has repeated its task in vain."""
        if not self._have_met or self._tasks[k].status != "error":
            return False
        return isinstance(self._tasks[k].exception(), ConnectionError)

    def _has_lost_tasks(self) -> bool:
        """Return whether Dask has given up a task of the fit, as it does without the task's worker."""
        is_meeting_lost = self._actor is not None and self._meeting.status not in ("pending", "finished")
        return is_meeting_lost or any(task.status in ("cancelled", "lost") for task in self._tasks)

    def _lost(self, reason: Exception | None = None) -> WorkerLostError:
        """Return the error that says that members are gone, or raise a better one as soon as it is known."""
        until = time.monotonic() + _SECONDS_TO_LEARN
        while time.monotonic() < until:
            self._check_present(has_failed=True)
            if any(task.status == "cancelled" for task in self._tasks):
                break
            time.sleep(CHECK_SECONDS / 10)
        because = "" if reason is None else f" ({reason})"
        return WorkerLostError(
            f"the Dask workers {', '.join(self._addresses)} have left the fit {self._rows.where}: its tasks were "
            f"cancelled, or a connection between workers broke{because}"
        )

    def close(self) -> None:
        if self._client.status != "running":
            return
        if self._actor is not None:
            with contextlib.suppress(Exception):  # its worker may be gone
                self._actor.end().result(timeout=CHECK_SECONDS)
        release(self._tasks)
        if self._meeting is not None:
            self._client.cancel([self._meeting], force=True)  # handles of an actor refer to it until they are collected
