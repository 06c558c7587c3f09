"""The workers of a fit: the rows that each keeps as an actor of Dask, the questions that it answers, and its loss."""

from __future__ import annotations

import asyncio
import pickle
import time
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from fastpu.dask._client import distributed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from distributed import Client
    from typing_extensions import Self  # in typing from Python 3.11


_CHECK_SECONDS = 2.0  # the driver checks so often, while it waits, that all workers are still there
_MOST_SECONDS_ALONE = 30.0  # after so long without any worker the driver gives up
_NOTHING = object()
_FAN_OUT = 6  # the most workers whose answers are merged in one place: each message costs more time than the sums


class WorkerLostError(RuntimeError):
    """A worker that held rows of a fit is lost."""


class Shard:
    """The rows of a worker, kept there as an actor between the questions of the driver.

    Questions and answers are pickled as one piece of bytes each: Dask sends these faster than nested objects, and
    leaves arrays of its own messages where they came, at any byte, where kernels cannot read them.

    Attributes
    ----------
    parts : list
        The partitions that the driver put here, in their order.
    n_threads : int
        Most threads that a question may use.
    kept : dict
        What the functions that were asked have kept for those that follow, by name.
    members : list of Actor
        Shards of other workers, whose answers this one merges with its own.
    """

    def __init__(self, n_threads: int, parts: list[Any]) -> None:
        self.parts = parts
        self.n_threads = n_threads
        self.kept: dict[str, Any] = {}
        self.members: list[Any] = []

    async def answer(self, message: bytes) -> bytes:
        """Return the pickled result of the function in the message, whose first argument is the shard."""
        return _pickled(await self._run(message))

    async def answer_merged(self, message: bytes) -> bytes:
        """Return the merged answers of this shard, its members, their members and so on."""
        others = (member.answer_merged(message) for member in self.members)
        own, *answers = await asyncio.gather(self._run(message), *others)
        return _pickled(reduce(_unpickled(message)[0], [own, *map(_unpickled, answers)]))

    async def _run(self, message: bytes) -> Any:
        """Return the result of the function, called in a thread of its own: the worker goes on to hear messages."""
        _, question, arguments = _unpickled(message)
        return await asyncio.to_thread(question, self, *arguments)


def _pickled(value: Any) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _unpickled(value: bytes) -> Any:
    return pickle.loads(value)  # noqa: S301 - what _pickled made, sent by Dask, which itself sends pickles


def fan_out(n_workers: int) -> int:
    """Return how many answers are merged in one place: a second level of workers takes as long as six more answers."""
    return n_workers if n_workers <= 2 * _FAN_OUT else _FAN_OUT


def _set_members(shard: Shard, members: list[Any]) -> None:
    shard.members = members


def results_of(client: Client, futures: Sequence[Any], what: str) -> list[Any]:
    """Return the results of tasks, one for each partition, and release the tasks, also on an error or Ctrl-C."""
    try:
        wait_for(client, futures, what)
        return list(client.gather(list(futures)))
    finally:
        for future in futures:
            future.release()


def wait_for(client: Client, futures: Sequence[Any], what: str) -> None:
    """Wait until all tasks are done; raise the error of the first one that failed."""
    last_seen = last_check = time.monotonic()
    while True:
        states = [future.status for future in futures]
        for number, (future, state) in enumerate(zip(futures, states, strict=True)):
            if state == "error":
                _raise_error_of_task(future.exception(), what, number)
            if state == "cancelled":  # a "lost" one may still be computed again by Dask
                raise WorkerLostError(
                    f"{what}: partition {number} is lost, since a Dask worker is gone with data that cannot be "
                    f"computed again; pass a collection in place of futures, or scatter them with broadcast=True"
                )
        if all(state == "finished" for state in states):
            return
        time.sleep(0.002 if len(futures) < 100 else 0.02)
        now = time.monotonic()
        if now - last_check < _CHECK_SECONDS:
            continue
        last_check = now
        if client.nthreads():
            last_seen = now
        elif now - last_seen > _MOST_SECONDS_ALONE:
            raise WorkerLostError(f"{what}: all Dask workers are gone, and none came back")


def _raise_error_of_task(error: BaseException, what: str, number: int) -> None:
    if isinstance(error, distributed.KilledWorker):
        raise WorkerLostError(
            f"{what} of partition {number} killed every Dask worker that tried it, the last one "
            f"{error.last_worker.address}: most often their memory ran out; use smaller partitions, or workers with "
            f"more memory"
        ) from error
    raise error


@dataclass(frozen=True)
class _Holder:
    address: str
    partitions: tuple[int, ...]


class Workers:
    """The workers that hold the rows of a fit: an actor on each, for as long as this is open.

    Parameters
    ----------
    client : Client
    parts : dict of int to Future
        The partitions by their numbers, computed: each stays on a worker that has it.
    n_threads : int, optional
        Most threads of each worker; by default those that Dask gave it.
    """

    def __init__(self, client: Client, parts: dict[int, Any], n_threads: int | None) -> None:
        self.client = client
        self.where = "before the first round"
        self._holders: list[_Holder] = []
        self._futures: list[Any] = []
        self._actors: list[Any] = []
        self._has_members = False
        try:
            self._start(parts, n_threads)
        except BaseException:
            self.close()
            raise

    def _start(self, parts: dict[int, Any], n_threads: int | None) -> None:
        present = self.client.nthreads()
        held = self.client.who_has(list(parts.values()))
        of_worker: dict[str, list[int]] = {}
        for number, part in parts.items():
            addresses = sorted(set(present).intersection(held.get(part.key, ())))
            if not addresses:
                raise WorkerLostError(f"partition {number} is lost: the Dask worker that held it is gone")
            of_worker.setdefault(min(addresses, key=lambda a: (len(of_worker.get(a, ())), a)), []).append(number)
        for address, numbers in sorted(of_worker.items(), key=lambda item: item[1]):
            future = self.client.submit(
                Shard,
                n_threads or present[address],
                [parts[number] for number in numbers],
                actor=True,
                workers=[address],
                allow_other_workers=False,
                pure=False,
            )
            self._futures.append(future)
            self._holders.append(_Holder(address, tuple(numbers)))
        self._actors = [self._wait_for(future) for future in self._futures]

    @property
    def partitions(self) -> list[tuple[int, ...]]:
        """The numbers of the partitions of each worker."""
        return [holder.partitions for holder in self._holders]

    def ask(self, question: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return ``question(shard, *arguments)`` of every shard, always in the same order.

        The question is a function of a module that the workers can import.
        """
        return self.ask_each(question, [arguments] * len(self._holders))

    def ask_each(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return ``question(shard, *arguments)`` of every shard, each with arguments of its own."""
        return self._call("answer", [_pickled((None, question, own)) for own in arguments])

    def ask_merged(self, merge: Callable[[Any, Any], Any], question: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``question(shard, *arguments)`` of all shards, merged; the order of merging must not matter.

        With many workers some merge the answers of others with their own, so that few answers reach the driver.
        """
        n = fan_out(len(self._holders))
        if not self._has_members and n < len(self._holders):
            members = [(self._actors[(k + 1) * n : (k + 2) * n],) for k in range(len(self._actors))]
            self.ask_each(_set_members, members)
        self._has_members = True
        message = _pickled((merge, question, arguments))
        return reduce(merge, self._call("answer_merged", [message] * min(n, len(self._holders))))

    def _call(self, method: str, messages: Sequence[bytes]) -> list[Any]:
        """Return the answers of the first shards, one for each message."""
        try:
            answers = [getattr(actor, method)(message) for actor, message in zip(self._actors, messages, strict=False)]
        except RuntimeError as error:  # the scheduler has told the client already
            raise self._lost(self._missing() or self._holders) from error
        return [_unpickled(self._wait_for(answer)) for answer in answers]

    def _wait_for(self, answer: Any) -> Any:
        """Return the result of a future, or raise its error; WorkerLostError where a worker is gone."""
        found = _NOTHING
        while found is _NOTHING:
            found = self._waited_for(answer)
        return found

    def _waited_for(self, answer: Any) -> Any:
        """Return the result of a future, or _NOTHING where it has not come yet."""
        try:
            return answer.result(timeout=_CHECK_SECONDS)
        except distributed.TimeoutError:
            self._check_all_there()
            return _NOTHING
        except OSError as error:
            time.sleep(_CHECK_SECONDS)  # the scheduler may not have noticed yet which worker is gone
            raise self._lost(self._missing() or self._holders) from error
        except Exception:
            self._check_all_there()
            raise

    def _missing(self) -> list[_Holder]:
        present = self.client.nthreads()
        return [holder for holder in self._holders if holder.address not in present]

    def _check_all_there(self) -> None:
        missing = self._missing()
        if missing:
            raise self._lost(missing)

    def _lost(self, holders: Sequence[_Holder]) -> WorkerLostError:
        addresses = ", ".join(holder.address for holder in holders)
        numbers = sorted(number for holder in holders for number in holder.partitions)
        return WorkerLostError(
            f"the Dask worker {addresses} is gone {self.where}, with partitions {numbers}: its process ended, or its "
            f"memory ran out (its log says which)"
        )

    def close(self) -> None:
        """Free what the workers hold."""
        futures, self._futures, self._actors, self._holders = self._futures, [], [], []
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)  # Dask's handles of an actor refer to it until they are collected

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
