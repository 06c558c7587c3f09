"""The Dask client of a fit, fits that are called in tasks, and the one import of Dask, which says how to install it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from fastpu.common._text import describe

try:
    import dask as dask  # noqa: PLC0414 - from here the other files have it
    import distributed as distributed  # noqa: PLC0414 - from here the other files have it
    from distributed import Client as Client  # noqa: PLC0414 - from here the other files have it
except ImportError as error:
    raise ImportError("fastpu.dask needs dask and distributed: pip install 'fastpu[dask]'") from error

if TYPE_CHECKING:
    from collections.abc import Callable

_Function = TypeVar("_Function", bound="Callable[..., Any]")


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
    """Decorate a fit: called in a task of a Dask worker, it gives its place among the worker's threads back meanwhile.

    A fit waits for tasks of its own. If fits had all threads of all workers, these tasks would never begin.
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
