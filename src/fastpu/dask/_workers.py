"""What runs on the workers of a fit, and what becomes of it when one of them is lost."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import pickle
import time
import uuid
import weakref
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from fastpu.dask._client import distributed

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from types import TracebackType

    from typing_extensions import Self  # in typing from Python 3.11

    from fastpu.dask._client import Client

__all__ = ["Shard", "WorkerLostError", "Workers", "fan_out", "results_of"]

_LOOK_SECONDS = 2.0  # how long the driver waits before it looks whether all workers are still there
_PATIENCE_SECONDS = 30.0  # how long no worker at all may be there
_QUICK_SECONDS = 0.1  # how long a worker may be deaf
_ASK = "fastpu_ask"  # what messages to shards begin with
_FAN_OUT = 6  # workers whose answers the driver, or another worker, merges: messages take them more time than sums


class WorkerLostError(RuntimeError):
    """A worker that held rows of a fit is gone."""


class Shard:
    """The rows of a worker, kept there between the questions of the driver.

    Dask keeps it as an actor. It is asked by messages to the worker: to call an actor takes both sides twice as long.

    Attributes
    ----------
    parts : list
        What the driver put here, in the order of the partitions.
    n_threads : int
        Most threads that a question may use.
    kept : dict
        What questions have kept for those that follow.
    members : list of tuple of str
        Addresses and names of other shards, whose answers this one adds to its own.
    """

    def __init__(self, name: str, n_threads: int | None, parts: list[Any]) -> None:
        self.parts = parts
        worker = distributed.get_worker()
        worker.handlers[_ASK] = _hear
        _shards[name] = self
        self._rpc = worker.rpc
        self.n_threads = n_threads or worker.state.nthreads
        self._has_own_loop = not worker.address.startswith("inproc://")
        self.kept: dict[str, Any] = {}
        self.members: list[tuple[str, str]] = []
        self._seconds = 1.0  # that answers take at most, if they are like the last ones

    async def answer(self, asked: bytes) -> bytes:
        """Return what a function answers that was sent here: its first argument is the shard.

        Both are pickled here, as one piece of bytes, which Dask sends faster than what it has to take apart.
        """
        question, arguments = _unpickled(asked)
        return _pickled(await self._run(question, arguments))

    async def answer_merged(self, asked: bytes) -> bytes:
        """Return what this shard and its members, with theirs, answer together."""
        merge, question, arguments = _unpickled(asked)
        others = (_ask(self._rpc, *member, "answer_merged", asked) for member in self.members)
        own, *answers = await asyncio.gather(self._run(question, arguments), *others)
        return _pickled(reduce(merge, [own, *map(_opened, answers)]))

    async def _run(self, question: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Return what a function answers, in the thread of the worker's event loop if that is quick.

        To wake another thread takes half as long as a message. But a worker has to keep in touch with others, with its
        members above all, and workers of one process have one loop between them.
        """
        start = time.perf_counter()
        if self._seconds < _QUICK_SECONDS and self._has_own_loop and not self.members:
            answer = question(self, *arguments)
        else:
            answer = await asyncio.get_running_loop().run_in_executor(None, question, self, *arguments)
        self._seconds = max(time.perf_counter() - start, 0.9 * self._seconds)
        return answer


_shards: weakref.WeakValueDictionary[str, Shard] = weakref.WeakValueDictionary()  # of this process, by name


async def _hear(shard: str, method: str, asked: bytes) -> Any:
    """Return what a shard of this process answers to a message, its error, or None where there is no such shard."""
    try:
        return await getattr(_shards[shard], method)(asked) if shard in _shards else None
    except Exception as error:  # noqa: BLE001 - the driver raises it
        return distributed.protocol.to_serialize(error)


def _ask(rpc: Any, address: str, name: str, method: str, asked: bytes) -> Coroutine[Any, Any, Any]:
    """Send a message to a shard, and return what it answers."""
    sent: Coroutine[Any, Any, Any] = getattr(rpc(address), _ASK)(shard=name, method=method, asked=asked)
    return sent


def _opened(answer: Any) -> Any:
    """Return what a shard has answered, or raise its error; OSError where there is no shard."""
    if isinstance(answer, bytes):
        return _unpickled(answer)
    raise answer if isinstance(answer, Exception) else OSError(f"no answer, but {answer}")


def _pickled(value: Any) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _unpickled(value: bytes) -> Any:
    return pickle.loads(value)  # noqa: S301 - what _pickled made, sent by Dask, which itself sends pickles


def fan_out(n_workers: int) -> int:
    """Return how many answers are merged in one place. To ask a second level of workers takes as long as six more."""
    return n_workers if n_workers <= 2 * _FAN_OUT else _FAN_OUT


def _lead(shard: Shard, members: list[tuple[str, str]]) -> None:
    shard.members = members


def results_of(client: Client, futures: Sequence[Any], what: str) -> list[Any]:
    """Return the results of tasks, one for each partition. Whoever is interrupted takes the tasks along."""
    try:
        wait_for(client, futures, what)
        return list(client.gather(list(futures)))
    finally:
        for future in futures:
            future.release()


def wait_for(client: Client, futures: Sequence[Any], what: str) -> None:
    """Wait until all tasks are done; raise the error of the first one that failed."""
    last_seen = last_look = time.monotonic()
    while True:
        states = [future.status for future in futures]
        for number, (future, state) in enumerate(zip(futures, states, strict=True)):
            if state == "error":
                _raise(future.exception(), what, number)
            if state == "cancelled":  # "lost" may still come back: Dask computes again what it can
                raise WorkerLostError(
                    f"{what}: partition {number} is lost, since a Dask worker is gone with data that nobody can "
                    f"compute again; pass a collection in place of futures, or scatter them with broadcast=True"
                )
        if all(state == "finished" for state in states):
            return
        time.sleep(0.002 if len(futures) < 100 else 0.02)
        now = time.monotonic()
        if now - last_look < _LOOK_SECONDS:
            continue
        last_look = now
        if client.nthreads():
            last_seen = now
        elif now - last_seen > _PATIENCE_SECONDS:
            raise WorkerLostError(f"{what}: all Dask workers are gone, and none came back")


def _raise(error: BaseException, what: str, number: int) -> None:
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
    name: str  # of the shard
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
        self._futures: list[Any] = []
        self.holders: list[_Holder] = []
        self._direct = client.direct_to_workers
        self.where = "before the first round"
        self._has_members = False
        try:
            self._start(parts, n_threads)
        except BaseException:
            self.close()
            raise

    def _start(self, parts: dict[int, Any], n_threads: int | None) -> None:
        present = set(self.client.nthreads())
        held = self.client.who_has(list(parts.values()))
        of_worker: dict[str, list[int]] = {}
        for number, part in parts.items():
            addresses = sorted(present.intersection(held.get(part.key, ())))
            if not addresses:
                raise WorkerLostError(f"partition {number} is lost: the Dask worker that held it is gone")
            of_worker.setdefault(min(addresses, key=lambda a: (len(of_worker.get(a, ())), a)), []).append(number)
        for address, numbers in sorted(of_worker.items(), key=lambda item: item[1]):
            name = uuid.uuid4().hex
            future = self.client.submit(
                Shard,
                name,
                n_threads,
                [parts[number] for number in numbers],
                actor=True,
                workers=[address],
                allow_other_workers=False,
                pure=False,
            )
            self._futures.append(future)
            self.holders.append(_Holder(address, name, tuple(numbers)))
        wait = time.monotonic()
        while any(future.status == "pending" for future in self._futures):
            time.sleep(0.002)
            if time.monotonic() - wait > _LOOK_SECONDS:
                wait = time.monotonic()
                self._check_all_there()
        for holder, future in zip(self.holders, self._futures, strict=True):
            if future.status != "finished":
                missing = self._missing()
                raise (
                    future.exception() if future.status == "error" and not missing else self._lost(missing or [holder])
                )
        if self._direct is None:
            self.client.direct_to_workers = self._reaches_workers()

    def _reaches_workers(self) -> bool:
        """Tell whether the driver can speak with every worker itself, not through the scheduler."""

        async def call_all() -> None:
            await asyncio.gather(*(self.client.rpc(holder.address).identity() for holder in self.holders))

        try:
            self.client.sync(call_all, callback_timeout=5)
        except (OSError, TimeoutError):
            return False
        return True

    @property
    def partitions(self) -> list[tuple[int, ...]]:
        """The numbers of the partitions of each worker."""
        return [holder.partitions for holder in self.holders]

    def ask(self, question: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return what the shards answer, always in the same order: ``question(shard, *arguments)``.

        The question is a function of a module that the workers can import.
        """
        return self._call("answer", self.holders, [_pickled((question, arguments))] * len(self.holders))

    def ask_each(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return what the shards answer, each to arguments of its own."""
        return self._call("answer", self.holders, [_pickled((question, own)) for own in arguments])

    def ask_merged(self, merge: Callable[[Any, Any], Any], question: Callable[..., Any], *arguments: Any) -> Any:
        """Return what all answers are together; in which order two and two of them are merged must not matter.

        Of many workers each adds the answers of some others to its own, so that the driver hears of a few.
        """
        n = fan_out(len(self.holders))
        if not self._has_members:
            for leader, holder in enumerate(self.holders):
                members = [
                    (member.address, member.name) for member in self.holders[(leader + 1) * n : (leader + 2) * n]
                ]
                if members:
                    self._call("answer", [holder], [_pickled((_lead, (members,)))])
            self._has_members = True
        heads = self.holders[:n]
        return reduce(merge, self._call("answer_merged", heads, [_pickled((merge, question, arguments))] * len(heads)))

    def _call(self, method: str, holders: Sequence[_Holder], pickled: Sequence[bytes]) -> list[Any]:
        if any(future.status != "finished" for future in self._futures):  # the scheduler has told the client already
            raise self._lost(self._missing() or holders)
        asked = asyncio.run_coroutine_threadsafe(
            self._all_answers(method, holders, pickled), self.client.loop.asyncio_loop
        )
        try:
            while True:
                with contextlib.suppress(concurrent.futures.TimeoutError):
                    answers = asked.result(_LOOK_SECONDS)
                    break
                self._check_all_there()
        finally:
            asked.cancel()
        return [self._opened(holder, answer) for holder, answer in zip(holders, answers, strict=True)]

    async def _all_answers(self, method: str, holders: Sequence[_Holder], pickled: Sequence[bytes]) -> list[Any]:
        """Return what the shards answer, or why one did not."""

        def answer(holder: _Holder, asked: bytes) -> Any:
            if self.client.direct_to_workers:
                return _ask(self.client.rpc, holder.address, holder.name, method, asked)
            message = {"op": _ASK, "shard": holder.name, "method": method, "asked": asked}
            return self.client.scheduler.proxy(worker=holder.address, msg=message)

        return await asyncio.gather(*map(answer, holders, pickled), return_exceptions=True)

    def _opened(self, holder: _Holder, answer: Any) -> Any:
        try:
            return _opened(answer)
        except OSError as error:
            raise self._lost(self._gone(holder)) from error
        except Exception as error:
            if missing := self._missing():
                raise self._lost(missing) from error
            raise

    def _gone(self, holder: _Holder) -> list[_Holder]:
        """Return the workers that are gone, where this one did not answer, or heard nothing of one of its members."""
        deadline = time.monotonic() + _LOOK_SECONDS
        while not self._missing() and time.monotonic() < deadline:
            time.sleep(0.05)
        return self._missing() or [holder]

    def _missing(self) -> list[_Holder]:
        present = self.client.nthreads()
        return [holder for holder in self.holders if holder.address not in present]

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
        """Let the workers forget what they hold."""
        self.client.direct_to_workers = self._direct
        futures, self._futures, self.holders = self._futures, [], []
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)  # what speaks with an actor refers to it until it is collected

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
