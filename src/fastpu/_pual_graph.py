"""R, the neighbours' term of PUAL and GLLC: from a search, from a graph that was searched before, or given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fastpu._knn_graph import search
from fastpu._sparse import is_sparse, read_sparse
from fastpu._text import describe
from fastpu._validate import check_int

if TYPE_CHECKING:
    from fastpu._kernels import Kernel
    from fastpu._pual_features import Rows

__all__ = ["Graph", "check_graph", "open_graph"]

Weigh: TypeAlias = Callable[[float], Any]  # sigma -> R as CSR

_SYMMETRY = 1e-9  # of the largest entry: what rounding may leave of R - R' and of R 1


@dataclass(frozen=True)
class Graph:
    """The checked arguments: one of a number of neighbours, a searched graph, and R itself."""

    n_neighbors: int
    searched: Any = None
    R: Any = None


def check_graph(graph: object, n_neighbors: object) -> Graph:
    neighbors = check_int("n_neighbors", n_neighbors, low=0)
    if graph is None:
        return Graph(neighbors)
    if isinstance(graph, tuple) and len(graph) == 2:
        R = graph[1]
        if not is_sparse(R):
            raise TypeError(f"graph must be (W, R) of SciPy sparse matrices, got {describe(R)} for R")
        return Graph(neighbors, R=R)
    if callable(getattr(graph, "similarity", None)):
        return Graph(neighbors, searched=graph)
    raise TypeError(
        f"graph must be None, a pair (W, R) as knn_similarity gives it, or what knn_graph gives, got {describe(graph)}"
    )


def open_graph(graph: Graph, rows: Rows, kernel: Kernel) -> Weigh:
    """Return the function that gives R for a sigma; a search is done once."""
    if graph.R is not None:
        R = _check_laplacian(graph.R, rows.n)
        return lambda _: R
    if graph.searched is not None:
        return lambda sigma: _check_laplacian(graph.searched.similarity(sigma)[1], rows.n)
    if graph.n_neighbors == 0:
        return lambda _: sp.csr_array((rows.n, rows.n), dtype=np.float64)
    if kernel.name == "precomputed":
        raise ValueError(
            "graph must be given with kernel='precomputed', as there are no rows to find neighbours of, got None; "
            "n_neighbors=0 does without neighbours"
        )
    found = search(rows.matrix, graph.n_neighbors, rows.n_threads)
    return lambda sigma: found.similarity(sigma)[1]


def _check_laplacian(R: Any, n: int) -> Any:
    """Return R as CSR of float64 after checking that f'Rf can be a sum of squares of differences."""
    if not is_sparse(R):
        raise TypeError(f"graph must have an R that is a SciPy sparse matrix, got {describe(R)}")
    if R.shape != (n, n):
        raise ValueError(f"graph must be that of the {n} rows of X, got R of shape {tuple(R.shape)}")
    # Read by us: SciPy's own routines trust the indices, and leave the memory of R if they are wrong.
    data, indices, indptr, _ = read_sparse(R, "R of graph")
    values: Any = sp.csr_array((data.astype(np.float64), indices, indptr), shape=(n, n))
    if values.nnz == 0:
        return values
    if not np.isfinite(values.data).all():
        raise ValueError("graph must be finite, got NaN or inf in R")
    limit = _SYMMETRY * float(np.abs(values.data).max())
    apart = abs(values - values.T)
    if apart.nnz and float(apart.data.max()) > limit:
        raise ValueError(f"graph must be symmetric, got R that differs from its transpose by {apart.data.max():g}")
    sums = np.abs(np.asarray(values.sum(axis=1)).reshape(-1))
    if float(sums.max()) > limit * max(1, int(np.diff(values.indptr).max())):
        row = int(np.argmax(sums))
        raise ValueError(f"graph must be a Laplacian, R 1 = 0, got a sum of {sums[row]:g} in row {row} of R")
    return values
