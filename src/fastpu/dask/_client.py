"""The Dask client of a fit, its tasks on the workers, and the one import of Dask, which says how to install it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import threading
import time
from typing import Any, TypeVar

from fastpu.common._text import describe

try:
    import dask as dask  # noqa: PLC0414 - from here the other files have it
    import distributed as distributed  # noqa: PLC0414 - from here the other files have it
    from distributed import Client as Client  # noqa: PLC0414 - from here the other files have it
except ImportError as error:
    raise ImportError("fastpu.dask needs dask and distributed: pip install dask distributed") from error

from collections.abc import Callable, Sequence

_Function = TypeVar("_Function", bound="Callable[..., Any]")

CHECK_SECONDS = 2.0  # the driver checks so often, while it waits, that all workers are still there
_MOST_SECONDS_ALONE = 30.0  # after so long without any worker the driver gives up


def find_client(client: object) -> Client:
    """Return the client that was given, or the current one."""
    if client is None:
        try:
            return distributed.get_client()
        except ValueError:
            raise ValueError(
                "client must be given, or a Dask client be open, for example by dask.distributed.Client(); "
                "got None, and there is none"
            ) from None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a dask.distributed.Client or None, got {describe(client)}")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous: a fit waits for its workers")
    return client


def waits_outside_the_pool(fit: _Function) -> _Function:
    """Decorate a fit: in a task of a Dask worker it gives its thread back, or tasks of its own might never begin.

    The worker counts the thread as free while the fit waits for its tasks, and takes it back afterwards. A call that is
    in no task is the plain call of the fit.
    """

    @functools.wraps(fit)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            distributed.secede()
        except (AttributeError, KeyError, ValueError):  # no task, or one that has no place, or has given it back
            return fit(*args, **kwargs)
        try:
            return fit(*args, **kwargs)
        finally:
            distributed.rejoin()

    return call  # type: ignore[return-value]


class WorkerLostError(RuntimeError):
    """A worker that held rows of a fit is lost."""


def results_of(client: Client, futures: Sequence[Any], what: str) -> list[Any]:
    """Return the results of tasks, one for each partition, and release the tasks, also on an error or Ctrl-C."""
    try:
        wait_for(client, futures, what)
        return gather(client, futures, what)
    finally:
        release(futures)


def release(futures: Sequence[Any]) -> None:
    for future in futures:
        future.release()


class _WorkersCheck:
    """Raises an error after some time without any worker: Dask itself would wait for one for ever."""

    def __init__(self, client: Client, what: str) -> None:
        self._client, self._what = client, what
        self._last_seen = self._last_check = time.monotonic()

    def check(self) -> None:
        """Ask the scheduler for its workers, at most every few seconds."""
        now = time.monotonic()
        if now - self._last_check < CHECK_SECONDS:
            return
        self._last_check = now
        if self._client.nthreads():
            self._last_seen = now
        elif now - self._last_seen > _MOST_SECONDS_ALONE:
            raise WorkerLostError(f"{self._what}: all Dask workers are gone, and none came back")


def gather(client: Client, futures: Sequence[Any], what: str) -> list[Any]:
    """Return the results of tasks that are done; their workers may be gone meanwhile."""
    found: list[list[Any]] = []
    errors: list[BaseException] = []

    def fetch() -> None:
        try:
            found.append(list(client.gather(list(futures))))
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    # The call cannot be told how long it may take at most, and much may have to be fetched; so it gets a thread.
    thread, workers = threading.Thread(target=fetch, daemon=True), _WorkersCheck(client, what)
    thread.start()
    while thread.is_alive():
        thread.join(CHECK_SECONDS)
        workers.check()
    if errors and isinstance(errors[0], asyncio.CancelledError | concurrent.futures.CancelledError):
        raise WorkerLostError(f"{what}: a Dask worker is gone with the result") from errors[0]
    if errors:
        raise errors[0]
    return found[0]


def wait_for(client: Client, futures: Sequence[Any], what: str) -> None:
    """Wait until all tasks are done; raise the error of the first one that failed."""
    workers = _WorkersCheck(client, what)
    while True:
        states = [future.status for future in futures]
        for number, (future, state) in enumerate(zip(futures, states, strict=True)):
            if state == "error":
                error = future.exception()
                if isinstance(error, distributed.KilledWorker):
                    raise WorkerLostError(
                        f"{what} of partition {number} killed every Dask worker that tried it, the last one "
                        f"{error.last_worker.address}: most often their memory ran out; use smaller partitions, or "
                        f"workers with more memory"
                    ) from error
                raise error
            if state == "cancelled":  # a "lost" one may still be computed again by Dask
                raise WorkerLostError(
                    f"{what}: partition {number} is lost, since a Dask worker is gone with data that cannot be "
                    f"computed again; pass a collection in place of futures, or scatter them with broadcast=True"
                )
        if all(state == "finished" for state in states):
            return
        time.sleep(0.002 if len(futures) < 100 else 0.02)
        workers.check()
