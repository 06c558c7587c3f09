"""A fit by many members: each worker runs it on the rows that it holds, and all add up what they find.

The members are at the same place of the same program all the time, and make the same choices from the same sums. The
driver is a member without rows. It alone calls the callback and judges an evaluation set, and where it stops, it ends
the meetings of the members, and so the work of the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.dask._client import distributed
from fastpu.dask._tasks import CHECK_SECONDS, WorkerLostError, release, results_of, wait_for
from fastpu.data.binned_features import stacked_bins
from fastpu.tree._fit import fingerprint_of_part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distributed import Client
    from numpy.typing import NDArray

    from fastpu.dask._binning import BinnedPart
    from fastpu.data.binned_features import BinnedFeatures


_MOST_MEMBERS = 6  # of a meeting, where there are more than twice as many: each message costs more time than the sums


# ---- On a worker ----


class MeetingEndedError(Exception):
    """The driver has ended the fit."""


class Meeting:
    """Where members of a fit bring what they have found, and each gets the whole of it: an actor of Dask.

    Parameters
    ----------
    n_members : int
    above : Actor, or None
        The meeting to which this one brings on what its members have brought, as a member of it.
    place : int
        The place of this meeting among the members there.
    """

    def __init__(self, n_members: int, above: Any = None, place: int = 0) -> None:
        self._n_members, self._above, self._place = n_members, above, place
        self._parts: dict[int, bytes] = {}
        self._whole: asyncio.Future[bytes]
        self._has_ended = False

    async def bring(self, place: int, how: str, part: bytes) -> bytes:
        """Return the whole of what all members have brought, as soon as they have; see `Together` in the bindings."""
        if self._has_ended:
            raise MeetingEndedError
        if not self._parts:
            self._whole = asyncio.get_running_loop().create_future()
        whole = self._whole
        self._parts[place] = part
        if len(self._parts) == self._n_members:
            parts, self._parts = [self._parts[k] for k in range(self._n_members)], {}
            try:
                merged = _merged(how, parts)
                whole.set_result(merged if self._above is None else await self._above.bring(self._place, how, merged))
            except Exception as error:  # noqa: BLE001 - all members get it
                whole.set_exception(error)
        return await whole

    async def is_open(self) -> bool:
        """Return whether the fit goes on; a meeting that Dask has let go does not even answer."""
        return not self._has_ended

    async def end(self) -> None:
        """End the work of the members, as soon as they bring something."""
        if self._parts and not self._has_ended:
            self._whole.set_exception(MeetingEndedError())
        self._has_ended = True


def _merged(how: str, parts: list[bytes]) -> bytes:
    if how == "join":
        return b"".join(parts)
    numbers = [np.frombuffer(part, np.int64 if how == "add" else np.float64) for part in parts if part]
    return bytes(reduce(np.add if how == "add" else np.maximum, numbers).tobytes())


@dataclass(frozen=True)
class Holding:
    """The rows of some partitions, one below the other.

    `partitions` are their numbers. `first` has the first row of each of them, and `number` the number of this row among
    the rows of all partitions. `fingerprint` is to be added up over all holdings.
    """

    features: BinnedFeatures
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    partitions: tuple[int, ...]
    first: NDArray[np.int64]
    number: NDArray[np.int64]
    fingerprint: NDArray[np.uint64]


def _hold(parts: list[BinnedPart], number: NDArray[np.int64]) -> Holding:
    hashes = [
        fingerprint_of_part(part.features, part.labels, part.weights, first_row=int(row), n_threads=1)
        for part, row in zip(parts, number, strict=True)
        if part.features is not None
    ]
    labels = [part.labels for part in parts]
    weights = [part.weights for part in parts if part.weights is not None]
    return Holding(
        stacked_bins([part.features for part in parts if part.features is not None], 1),
        np.concatenate(labels),
        np.concatenate(weights) if weights else None,
        tuple(part.number for part in parts),
        np.cumsum([0, *(own.size for own in labels[:-1])], dtype=np.int64),
        number,
        np.sum(hashes, axis=0, dtype=np.uint64),
    )


def _take_part(
    holding: Holding, meeting: Any, place: int, n_threads: int, fit: Callable[..., None], *arguments: Any
) -> None:
    """Run a fit on the own rows, until it or the meeting has ended."""
    distributed.secede()  # the members wait for each other: none may keep another one from beginning

    def bring(how: str, part: bytes) -> bytes:
        answer = meeting.bring(place, how, part)
        while (whole := _result_in_time(answer)) is None:
            meeting.is_open().result(timeout=CHECK_SECONDS)  # raises where the driver is gone
        return bytes(whole)

    # Dask leaves arrays in the message that they came in, at any byte; kernels need them aligned.
    names = [name for name in ("weights", "first", "number") if getattr(holding, name) is not None]
    aligned: dict[str, Any] = {name: np.require(getattr(holding, name), requirements="A") for name in names}
    with contextlib.suppress(MeetingEndedError):
        fit(replace(holding, **aligned), bring, n_threads, *arguments)


def _result_in_time(answer: Any) -> Any:
    """Return the result of a future, or None where it has not come yet."""
    try:
        return answer.result(timeout=CHECK_SECONDS)
    except distributed.TimeoutError:
        return None


# ---- The driver ----


class HeldRows:
    """The rows of all binned partitions, those that a worker has together, until this is closed.

    Parameters
    ----------
    client : Client
    parts : sequence of Future of BinnedPart
    sizes : sequence of int
        Their numbers of rows; empty partitions are left out.
    n_threads : int, optional
        Most threads of each worker; by default those that Dask gave it.
    """

    def __init__(self, client: Client, parts: Sequence[Any], sizes: Sequence[int], n_threads: int | None) -> None:
        self.client, self.where = client, "before the first round"
        first = np.cumsum(sizes, dtype=np.int64) - sizes
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
                first[numbers],
                workers=[address],
                allow_other_workers=True,
                pure=False,
            )
            for address, numbers in found
        ]
        self._started = list(self.holdings)
        try:
            wait_for(client, self.holdings, "putting rows together")
        except BaseException:
            self.close()
            raise

    def start(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the futures of ``question(holding, *own)`` for all holdings, which are kept until this is closed."""
        tasks = [
            self.client.submit(question, holding, *own, pure=False)
            for holding, own in zip(self.holdings, arguments, strict=True)
        ]
        self._started += tasks
        return tasks

    def ask(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], what: str) -> list[Any]:
        """Return ``question(holding, *own)`` of all holdings."""
        return results_of(self.client, self.start(question, arguments), what)

    def fingerprints(self) -> list[NDArray[np.uint64]]:
        """Return the fingerprint of every holding."""
        return self.ask(_fingerprint, [()] * len(self.holdings), "reading X")

    def close(self) -> None:
        """Let the workers forget the rows."""
        release(self._started)

    def lost(self, which: Sequence[int], addresses: Sequence[str]) -> WorkerLostError:
        """Return the error for some holdings whose workers are gone."""
        names = ", ".join(addresses[k] for k in which)
        numbers = sorted(number for k in which for number in self.partitions[k])
        return WorkerLostError(
            f"the Dask worker {names} is gone {self.where}, with partitions {numbers}: its process ended, or its "
            f"memory ran out (its log says which)"
        )


def _fingerprint(holding: Holding) -> NDArray[np.uint64]:
    return holding.fingerprint


class Members:
    """A fit on all holdings, ``fit(holding, bring, n_threads, *arguments)`` on each of them, until this is closed.

    `bring` is that of the driver, who is the last member.
    """

    def __init__(self, rows: HeldRows, fit: Callable[..., None], *arguments: Any) -> None:
        self._rows, self._client = rows, rows.client
        self._meetings: list[Any] = []  # futures of actors
        self._actors: list[Any] = []
        self._tasks: list[Any] = []
        held = self._client.who_has(rows.holdings)
        self._addresses = [min(held[holding.key], default="") for holding in rows.holdings]
        self._check_all_there()
        try:
            for k, (meeting, place) in enumerate(self._meet(list(range(len(self._addresses))), None, 0)):
                self._tasks.append(
                    self._client.submit(
                        _take_part,
                        rows.holdings[k],
                        meeting,
                        place,
                        rows.n_threads[k],
                        fit,
                        *arguments,
                        workers=[self._addresses[k]],
                        pure=False,
                    )
                )
        except BaseException:
            self.close()
            raise

    def _meet(self, members: list[int], above: Any, place: int) -> list[tuple[Any, int]]:
        """Return for each of the members where it meets others, and its place there; above all the driver meets them.

        Many members meet in groups, and the groups meet.
        """
        are_many = len(members) > 2 * _MOST_MEMBERS
        groups: list[Any] = np.array_split(members, _MOST_MEMBERS) if are_many else [[k] for k in members]
        meeting = self._start_meeting(len(groups) + (above is None), above, place, self._addresses[members[0]])
        if above is None:
            self._place = len(groups)
        found = []
        for number, group in enumerate(groups):
            found += self._meet(list(group), meeting, number) if are_many else [(meeting, number)]
        return found

    def _start_meeting(self, n_members: int, above: Any, place: int, address: str) -> Any:
        future = self._client.submit(
            Meeting, n_members, above, place, actor=True, workers=[address], allow_other_workers=False, pure=False
        )
        self._meetings.append(future)
        self._actors.append(self._wait_for(future))
        return self._actors[-1]

    def bring(self, how: str, part: bytes) -> bytes:
        """Return the whole of what all members have brought, as `Meeting.bring`."""
        try:
            answer = self._actors[0].bring(self._place, how, part)
        except (RuntimeError, ValueError) as error:  # the scheduler has told the client already
            raise self._lost() from error
        return bytes(self._wait_for(answer))

    def _wait_for(self, answer: Any) -> Any:
        """Return the result of a future, or raise its error; WorkerLostError where a worker is gone."""
        try:
            while (result := _result_in_time(answer)) is None:
                self._check_all_there()
        except OSError as error:
            time.sleep(CHECK_SECONDS)  # the scheduler may not have noticed yet which worker is gone
            raise self._lost() from error
        except Exception:
            self._check_all_there()
            raise
        return result

    def _missing(self) -> list[int]:
        present = self._client.nthreads()
        return [k for k, address in enumerate(self._addresses) if address not in present]

    def _lost(self) -> WorkerLostError:
        return self._rows.lost(self._missing() or range(len(self._addresses)), self._addresses)

    def _check_all_there(self) -> None:
        """Raise the error of a member that has failed, or WorkerLostError where one is gone."""
        if self._missing():
            raise self._lost()
        for task in self._tasks:
            if task.status == "error" and not isinstance(task.exception(), OSError):
                raise task.exception()

    def close(self) -> None:
        """End the work of all members, and free what they hold."""
        if self._client.status != "running":
            return
        for actor in self._actors:
            with contextlib.suppress(Exception):  # its worker may be gone
                actor.end().result(timeout=CHECK_SECONDS)
        release(self._tasks)
        self._client.cancel(self._meetings, force=True)  # handles of an actor refer to it until they are collected
