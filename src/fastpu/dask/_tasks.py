"""Tasks on binned partitions, which are released together."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from fastpu.dask._client import Client, release


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
        futures = list(self.client.scatter(values, hash=False))
        self._open.update(futures)
        return futures

    def close(self) -> None:
        release(list(self._open))
