"""Tasks on binned partitions, which are released together."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fastpu.dask._client import Client, WorkerLostError, distributed, release

_Result = TypeVar("_Result")

_MOST_LOSSES = 3  # in a row: short of memory, workers would be lost and replaced for ever


class Tasks:
    """Starts tasks on binned `parts`; releases these and the results that are left when it is closed."""

    def __init__(self, client: Client, parts: Sequence[Any]) -> None:
        self.client, self.parts = client, parts
        self._open: weakref.WeakSet[Any] = weakref.WeakSet(parts)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        future = self.client.submit(function, *arguments, pure=False)
        self._open.add(future)
        return future

    def scatter(self, values: list[Any]) -> list[Any]:
        """Send values to workers; nothing can compute them again if these are lost."""
        try:
            futures = list(self.client.scatter(values, hash=False))
        except distributed.comm.CommClosedError as error:
            raise WorkerLostError("a Dask worker is gone that rows or trees were sent to") from error
        self._open.update(futures)
        return futures

    def close(self) -> None:
        release(list(self._open))


def repeated(tasks: Tasks, attempt: Callable[[], _Result]) -> _Result:
    """Return what an attempt returns; make another where a worker is lost with data that Dask cannot compute again."""
    for _ in range(_MOST_LOSSES):
        try:
            return attempt()
        except WorkerLostError as error:  # noqa: PERF203 - once for each lost worker
            are_rows_lost = any(part.status == "cancelled" for part in tasks.parts)
            is_short = isinstance(error.__cause__, distributed.KilledWorker)  # of memory, most often
            if are_rows_lost or is_short or not tasks.client.nthreads():
                raise
    return attempt()
