"""The search for neighbours: what it refuses, unusual numbers, interrupts, other threads, memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core
from helpers import refused

# ---- bad input -------------------------------------------------------------------------------------------------------


def test_rows_too_large_to_be_squared_are_fine_if_all_columns_are_constant():
    graph = fastpu.knn_graph(np.full((5, 2), 1e200))
    assert not graph.squared_distances.any()


def test_a_graph_of_the_users_own_is_checked():
    indices, squared = np.zeros((3, 1), dtype=np.int64), np.zeros((3, 1))
    refused(TypeError, "indices must be a matrix of int64, got ndarray", fastpu.models.KNNGraph, squared, squared)
    refused(TypeError, "squared_distances must be a matrix of float64", fastpu.models.KNNGraph, indices, indices)
    refused(
        TypeError,
        "indices must be a matrix of int64, got ndarray of shape (3,)",
        fastpu.models.KNNGraph,
        indices[:, 0],
        squared,
    )
    refused(ValueError, "squared_distances must have the shape of indices, (3, 1), got (2, 1)",
            fastpu.models.KNNGraph, indices, squared[:2])  # fmt: skip
    for bad in (np.nan, -1.0):
        wrong = squared.copy()
        wrong[1] = bad
        refused(ValueError, "squared_distances must be >= 0", fastpu.models.KNNGraph, indices, wrong)
    for bad in (3, -1, 2**62):
        wrong = indices.copy()
        wrong[1] = bad
        refused(
            ValueError, f"indices must be in [0, 3), got {bad} for row 1", fastpu.models.KNNGraph(wrong, squared).edges
        )
    twice = fastpu.models.KNNGraph(np.ones((3, 2), dtype=np.int64), np.ones((3, 2)))
    refused(ValueError, "indices must hold no row twice", twice.edges)
    itself = fastpu.models.KNNGraph(np.arange(3)[:, None], np.ones((3, 1)))
    refused(ValueError, "nor the row itself", itself.edges)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((np.zeros((3, 2), dtype=np.int64), 1), TypeError),
        ((np.zeros(3), 1), ValueError),
    ],
)
def test_the_core_checks_what_it_is_given(arguments, error):
    with pytest.raises(error):
        _core.knn_search(*arguments, n_threads=1)
    refused(ValueError, "method", _core.knn_search, np.zeros((2, 1)), 1, n_threads=1, method="x")


# ---- numbers of other types ------------------------------------------------------------------------------------------


def test_sparse_rows_of_two_billion_columns(rng):
    columns, values = rng.integers(0, 2**31 - 1, size=(40, 3)), rng.normal(size=(40, 3))
    columns[1::2] = columns[::2]
    wide = sp.csr_array((values.ravel(), columns.ravel(), np.arange(41) * 3), shape=(40, 2**31 - 1))
    graph = fastpu.knn_graph(wide)
    found = np.searchsorted(np.unique(columns), columns.ravel())
    narrow = sp.csr_array((values.ravel(), found, np.arange(41) * 3)).toarray()
    np.testing.assert_array_equal(graph.indices, fastpu.knn_graph(narrow).indices)
    np.testing.assert_allclose(graph.squared_distances, fastpu.knn_graph(narrow).squared_distances, rtol=1e-14)


# ---- interrupts, other threads, memory -------------------------------------------------------------------------------


def test_other_threads_run_during_a_search(rng):
    X = rng.normal(size=(6000, 40))
    count = 0
    done = threading.Event()

    def search() -> None:
        fastpu.knn_graph(X, n_threads=1)
        done.set()

    thread = threading.Thread(target=search)
    thread.start()
    while not done.wait(0.001):
        count += 1
    thread.join()
    assert count > 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize("sparse", [False, True])
def test_memory_grows_with_rows_and_neighbours_and_not_with_their_squares(sparse):
    """A matrix of all distances would be 512 MB."""
    code = f"""
import resource, numpy as np, scipy.sparse as sp, fastpu
X = np.random.default_rng(0).normal(size=(8000, 20))
if {sparse}: X = sp.csr_array(X * (X > 1.5))
fastpu.knn_similarity(X[:100], n_threads=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fastpu.knn_similarity(X, n_threads=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert int(done.stdout) < 30_000, f"{done.stdout} kB"
