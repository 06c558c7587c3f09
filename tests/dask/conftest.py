"""A cluster for all tests of fastpu.dask."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

_cluster = contextlib.ExitStack()
_clients: list[Any] = []


@pytest.fixture
def client():
    """Two workers, which no test takes away: those of the tests before, if there were some."""
    pytest.importorskip("distributed")
    from dask_cases import local_cluster

    if not _clients:
        _clients.append(_cluster.enter_context(local_cluster(2)))
    return _clients[0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Stop the workers after the last of these tests: idle ones take a tenth of a CPU."""
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
        _clients.clear()
        _cluster.close()
