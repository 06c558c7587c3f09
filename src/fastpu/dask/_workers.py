"""The workers of a fit: the rows that each keeps, the questions that it answers, and its loss."""

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

    from distributed import Client
    from typing_extensions import Self  # in typing from Python 3.11


_CHECK_SECONDS = 2.0  # the driver checks so often, while it waits, that all workers are still there
_MOST_SECONDS_ALONE = 30.0  # after so long without any worker the driver gives up
_QUICK_SECONDS = 0.1  # a question that takes less time is answered in the event loop, which waits for it
_HANDLER = "fastpu_ask"  # the name under which a worker has the handler of messages to its shards
_FAN_OUT = 6  # the most workers whose answers are merged in one place: each message costs more time than the sums


class WorkerLostError(RuntimeError):
    """A worker that held rows of a fit is lost."""


class Shard:
    """The rows of a worker, kept there between the questions of the driver.

    Dask keeps it as an actor. Questions are sent as messages to its worker, in half the time of calling an actor.

    Attributes
    ----------
    parts : list
        The partitions that the driver put here, in their order.
    n_threads : int
        Most threads that a question may use.
    kept : dict
        What the functions that were asked have kept for those that follow, by name.
    members : list of tuple of str
        Addresses and names of other shards, whose answers this one adds to its own.
    """

    def __init__(self, name: str, n_threads: int | None, parts: list[Any]) -> None:
        self.parts = parts
        worker = distributed.get_worker()
        worker.handlers[_HANDLER] = _handle_message
        _shards[name] = self
        self._rpc = worker.rpc
        self.n_threads = n_threads or worker.state.nthreads
        self._has_own_loop = not worker.address.startswith("inproc://")
        self.kept: dict[str, Any] = {}
        self.members: list[tuple[str, str]] = []
        self._expected_seconds = 1.0  # about the longest that the last answers took

    async def answer(self, message: bytes) -> bytes:
        """Return the pickled result of the function in the message, whose first argument is the shard.

        Question and answer are pickled as one piece of bytes each, which Dask sends faster than nested objects.
        """
        question, arguments = _unpickled(message)
        return _pickled(await self._run(question, arguments))

    async def answer_merged(self, message: bytes) -> bytes:
        """Return the merged answers of this shard, its members, their members and so on."""
        merge, question, arguments = _unpickled(message)
        others = (_send(self._rpc, *member, "answer_merged", message) for member in self.members)
        own, *answers = await asyncio.gather(self._run(question, arguments), *others)
        return _pickled(reduce(merge, [own, *map(_result_in, answers)]))

    async def _run(self, question: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Return the result of the function, called in the thread of the worker's event loop if it is quick.

        To wake another thread takes half as long as a message. But while a function runs in the event loop the worker
        hears nothing, so shards with members use another thread, and so do workers of one process, which share a loop.
        """
        start = time.perf_counter()
        if self._expected_seconds < _QUICK_SECONDS and self._has_own_loop and not self.members:
            answer = question(self, *arguments)
        else:
            answer = await asyncio.get_running_loop().run_in_executor(None, question, self, *arguments)
        self._expected_seconds = max(time.perf_counter() - start, 0.9 * self._expected_seconds)
        return answer


_shards: weakref.WeakValueDictionary[str, Shard] = weakref.WeakValueDictionary()  # those of this process, by name


async def _handle_message(shard: str, method: str, message: bytes) -> Any:
    """Return the answer of a shard of this process, the error that it raised, or None where there is no such shard."""
    try:
        return await getattr(_shards[shard], method)(message) if shard in _shards else None
    except Exception as error:  # noqa: BLE001 - the driver raises it
        return distributed.protocol.to_serialize(error)


def _send(rpc: Any, address: str, name: str, method: str, message: bytes) -> Coroutine[Any, Any, Any]:
    """Send a message to a shard, and return its answer."""
    sent: Coroutine[Any, Any, Any] = getattr(rpc(address), _HANDLER)(shard=name, method=method, message=message)
    return sent


def _result_in(answer: Any) -> Any:
    """Return the result in the answer of a shard, or raise the error in it; OSError where there is no such shard."""
    if isinstance(answer, bytes):
        return _unpickled(answer)
    raise answer if isinstance(answer, Exception) else OSError(f"the shard does not answer, got {answer}")


def _pickled(value: Any) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _unpickled(value: bytes) -> Any:
    return pickle.loads(value)  # noqa: S301 - what _pickled made, sent by Dask, which itself sends pickles


def fan_out(n_workers: int) -> int:
    """Return how many answers are merged in one place: a second level of workers takes as long as six more answers."""
    return n_workers if n_workers <= 2 * _FAN_OUT else _FAN_OUT


def _set_members(shard: Shard, members: list[tuple[str, str]]) -> None:
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
        self._is_direct = client.direct_to_workers  # the client is shared with other fits, and is left as it is
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
        last_check = time.monotonic()
        while any(future.status == "pending" for future in self._futures):
            time.sleep(0.002)
            if time.monotonic() - last_check > _CHECK_SECONDS:
                last_check = time.monotonic()
                self._check_all_there()
        for holder, future in zip(self.holders, self._futures, strict=True):
            if future.status != "finished":
                missing = self._missing()
                raise (
                    future.exception() if future.status == "error" and not missing else self._lost(missing or [holder])
                )
        if self._is_direct is None:
            self._is_direct = self._reaches_workers()

    def _reaches_workers(self) -> bool:
        """Tell whether the driver can send messages to every worker directly, not through the scheduler."""

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
        """Return ``question(shard, *arguments)`` of every shard, always in the same order.

        The question is a function of a module that the workers can import.
        """
        return self._call("answer", self.holders, [_pickled((question, arguments))] * len(self.holders))

    def ask_each(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return ``question(shard, *arguments)`` of every shard, each with arguments of its own."""
        return self._call("answer", self.holders, [_pickled((question, own)) for own in arguments])

    def ask_merged(self, merge: Callable[[Any, Any], Any], question: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``question(shard, *arguments)`` of all shards, merged; the order of merging must not matter.

        With many workers some merge the answers of others with their own, so that few answers reach the driver.
        """
        n = fan_out(len(self.holders))
        if not self._has_members:
            for leader, holder in enumerate(self.holders):
                members = [
                    (member.address, member.name) for member in self.holders[(leader + 1) * n : (leader + 2) * n]
                ]
                if members:
                    self._call("answer", [holder], [_pickled((_set_members, (members,)))])
            self._has_members = True
        heads = self.holders[:n]
        return reduce(merge, self._call("answer_merged", heads, [_pickled((merge, question, arguments))] * len(heads)))

    def _call(self, method: str, holders: Sequence[_Holder], messages: Sequence[bytes]) -> list[Any]:
        if any(future.status != "finished" for future in self._futures):  # the scheduler has told the client already
            raise self._lost(self._missing() or holders)
        answering = asyncio.run_coroutine_threadsafe(
            self._all_answers(method, holders, messages), self.client.loop.asyncio_loop
        )
        try:
            while True:
                with contextlib.suppress(concurrent.futures.TimeoutError):
                    answers = answering.result(_CHECK_SECONDS)
                    break
                self._check_all_there()
        finally:
            answering.cancel()
        return [self._result_of(holder, answer) for holder, answer in zip(holders, answers, strict=True)]

    async def _all_answers(self, method: str, holders: Sequence[_Holder], messages: Sequence[bytes]) -> list[Any]:
        """Return the answers of the shards; an exception in place of one that did not come."""

        def answer(holder: _Holder, message: bytes) -> Any:
            if self._is_direct:
                return _send(self.client.rpc, holder.address, holder.name, method, message)
            relayed = {"op": _HANDLER, "shard": holder.name, "method": method, "message": message}
            return self.client.scheduler.proxy(worker=holder.address, msg=relayed)

        return await asyncio.gather(*map(answer, holders, messages), return_exceptions=True)

    def _result_of(self, holder: _Holder, answer: Any) -> Any:
        """Return the result in an answer, or raise its error; WorkerLostError where a worker is gone."""
        try:
            return _result_in(answer)
        except OSError as error:
            raise self._lost(self._wait_for_loss(holder)) from error
        except Exception as error:
            if missing := self._missing():
                raise self._lost(missing) from error
            raise

    def _wait_for_loss(self, holder: _Holder) -> list[_Holder]:
        """Return the workers that are gone, after `holder` did not answer, or one of its members did not answer it."""
        deadline = time.monotonic() + _CHECK_SECONDS
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
        """Free what the workers hold."""
        futures, self._futures, self.holders = self._futures, [], []
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)  # Dask's handles of an actor refer to it until they are collected

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
