"""A fit by many members: each worker runs it on the rows that it holds, and all add up what they find.

The members are at the same place of the same program all the time, and make the same choices from the same sums. The
driver follows them: it runs the program without rows on the sums that they were told. It alone calls the callback and
judges an evaluation set, and where it stops, it ends the meetings of the members, and so their work.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from multiprocessing import AuthenticationError
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.dask._client import CHECK_SECONDS, Client, WorkerLostError, distributed, release, results_of, wait_for
from fastpu.dask._meeting import Address, Meeting, come
from fastpu.data.binned_features import stacked_bins
from fastpu.model._threshold import ScoredRows

_SECONDS_TO_LEARN = 20.0  # within these a scheduler under load learns which worker is gone, or which task has failed


# ---- On a worker ----


@dataclass(frozen=True)
class Holding:
    """The binned rows of some partitions, one below the other; `features` is None if there are no rows.

    `partitions` are their numbers. `fingerprint` is to be added up over all holdings. The driver has only the form of
    the rows, without labels.
    """

    features: Any
    labels: Any = None
    weights: NDArray[np.float64] | None = None
    partitions: tuple[int, ...] = ()
    fingerprint: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(3, dtype=np.uint64))


def _hold(parts: list[Holding]) -> Holding:
    weights = [part.weights for part in parts if part.weights is not None]
    return Holding(
        stacked_bins([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate(weights) if weights else None,
        tuple(number for part in parts for number in part.partitions),
        np.sum([part.fingerprint for part in parts], axis=0, dtype=np.uint64),
    )


def _scores(holding: Holding, model: Any, n_threads: int) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = model._decision_function(holding.features, n_threads)
    return scores


def take_part(holding: Holding, address: Address, place: int, key: bytes, fit: Callable[..., Any], *more: Any) -> None:
    """Run ``fit(holding, exchange, *more)`` on the own rows, until it or the meeting has ended."""
    if holding.weights is not None:
        # Dask leaves arrays in the message that they came in, at any byte; kernels need them aligned.
        holding = replace(holding, weights=np.require(holding.weights, requirements="A"))
    with closing(come(address, place, key)) as meeting, contextlib.suppress(EOFError, ConnectionError):

        def exchange(how: str, part: bytes) -> bytes:
            meeting.send(how[:1].encode() + part)
            return meeting.receive()

        fit(holding, exchange, *more)


def _take_part_in_task(*arguments: Any) -> None:
    distributed.secede()  # the members wait for each other: none may keep another one from beginning
    take_part(*arguments)


# ---- The driver ----


class SpreadRows:
    """The rows of all binned partitions, those that a worker has together, until this is closed.

    Empty partitions are left out. Each worker uses `n_threads` at most, by default those that Dask gave it.
    """

    def __init__(self, client: Client, parts: Sequence[Any], sizes: Sequence[int], n_threads: int | None) -> None:
        self.client, self.where, self._sizes = client, "before the first round", np.asarray(sizes)
        present, holders = client.nthreads(), client.who_has(list(parts))
        of_worker: dict[str, list[int]] = {}
        for number, part in enumerate(parts):
            if sizes[number]:
                addresses = set(present).intersection(holders.get(part.key, ())) or present  # lost ones are made again
                least = min(addresses, key=lambda address: (len(of_worker.get(address, ())), address))
                of_worker.setdefault(least, []).append(number)
        found = sorted(of_worker.items(), key=lambda item: item[1])
        self.partitions = [numbers for _, numbers in found]
        self.n_threads = [n_threads or present[address] for address, _ in found]
        self.holdings = [
            client.submit(
                _hold,
                [parts[number] for number in numbers],
                workers=[address],
                allow_other_workers=True,
                pure=False,
            )
            for address, numbers in found
        ]

    def ask(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], what: str) -> list[Any]:
        """Return ``question(holding, *own)`` of all holdings."""
        tasks = [
            self.client.submit(question, holding, *own, pure=False)
            for holding, own in zip(self.holdings, arguments, strict=True)
        ]
        return results_of(self.client, tasks, what)

    def scored(self) -> ScoredRows:
        """Return labels, weights and scores of all rows, which come to the driver in the order of the rows."""
        known = attrgetter("labels", "weights")
        labels, weights = zip(*self.ask(known, [()] * len(self.holdings), "reading y"), strict=True)

        def score(model: Any) -> NDArray[np.float64]:
            return self._in_order(self.ask(_scores, [(model, n) for n in self.n_threads], "scoring"))

        return ScoredRows(self._in_order(labels), None if weights[0] is None else self._in_order(weights), score)

    def _in_order(self, of_holdings: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Join what holdings have for their rows, partition by partition."""
        parts: dict[int, NDArray[Any]] = {}
        for numbers, entries in zip(self.partitions, of_holdings, strict=True):
            parts |= zip(numbers, np.split(entries, np.cumsum(self._sizes[numbers])[:-1]), strict=True)
        return np.concatenate([parts[number] for number in sorted(parts)])

    def close(self) -> None:
        release(self.holdings)


class Members:
    """A fit on all holdings, ``fit(holding, exchange, n_threads)`` on each of them, until this is closed.

    The driver runs the same fit without rows, with the `exchange` of this.
    """

    def __init__(self, rows: SpreadRows, fit: Callable[..., Any]) -> None:
        self._rows, self._client, self._key = rows, rows.client, secrets.token_bytes(32)
        self._meeting: Any = None  # the future of the actor
        self._actor: Any = None
        self._tasks: list[Any] = []
        self._told: deque[bytes] = deque()
        self._have_met = False
        wait_for(self._client, rows.holdings, "putting rows together")
        held = self._client.who_has(rows.holdings)
        self._addresses = [min(held[holding.key], default="") for holding in rows.holdings]
        self._check_all_there()
        try:
            submit, at, n_members = self._client.submit, self._addresses, len(self._addresses)
            self._meeting = submit(Meeting, n_members, self._key, actor=True, workers=[at[0]], pure=False)
            self._actor = self._wait_for(self._meeting)
            address = tuple(self._wait_for(self._actor.address()))
            for place, holding in enumerate(rows.holdings):
                arguments = holding, address, place, self._key, fit, rows.n_threads[place]
                self._tasks.append(submit(_take_part_in_task, *arguments, workers=[at[place]], pure=False))
        except BaseException:
            self.close()
            raise

    def exchange(self, how: str, part: bytes) -> bytes:  # noqa: ARG002 - the driver has nothing to bring
        """Return what the members were told, one after the other."""
        if not self._told:
            try:
                asked = self._actor.told()
            except (RuntimeError, ValueError) as error:  # the scheduler has told the client already
                raise self._lost() from error
            self._told.extend(self._wait_for(asked))
        if not self._told:  # the members have ended before the driver
            raise self._lost()
        self._have_met = True
        return self._told.popleft()

    def _wait_for(self, answer: Any) -> Any:
        """Return the result of a future, or raise its error; WorkerLostError where a worker is gone."""
        was_there = False
        try:
            while True:
                try:
                    return answer.result(timeout=CHECK_SECONDS)
                except distributed.TimeoutError:  # of this wait, or the answer itself
                    if was_there:
                        raise
                self._check_all_there()
                was_there = answer.done()
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
