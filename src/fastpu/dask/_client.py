"""The Dask client of a fit, and the one import of Dask, which says how to install it."""

from __future__ import annotations

from fastpu.common._text import describe

try:
    import dask
    import distributed
    from distributed import Client
except ImportError as error:
    raise ImportError("fastpu.dask needs dask and distributed: pip install 'fastpu[dask]'") from error

__all__ = ["Client", "dask", "distributed", "find_client"]


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
