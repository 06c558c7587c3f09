"""A cluster for all tests of fastpu.dask."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def client():
    """Two workers, which no test takes away."""
    pytest.importorskip("distributed")
    from dask_cases import local_cluster

    with local_cluster(2) as connected:
        yield connected
