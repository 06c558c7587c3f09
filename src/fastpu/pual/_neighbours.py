"""The matrix R of the neighbours' term of PUAL and GLLC: from a search, from a graph searched earlier, or given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from fastpu.common._text import describe
from fastpu.data._sparse import read_sparse
from fastpu.kernels._kernels import Kernel
from fastpu.knn.knn_graph import KNNGraph, search
from fastpu.pual._rows import PualRows

_SYMMETRY = 1e-9  # largest rounding error of R - R' and of R 1, relative to the largest entry


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of the training rows, which give R for any sigma, or a given R, which holds for all."""

    n_rows: int
    graph: Any = None
    R: Any = None

    @cached_property
    def median(self) -> float:
        """The number that sigma="median" stands for; 1 if sigma has no influence."""
        return 1.0 if self.graph is None else float(self.graph.median())

    def laplacian(self, sigma: float) -> Any:
        return self.R if self.graph is None else self.graph.similarity(sigma)[1]

    def strength(self, R: Any) -> float:
        """Return the mean weight of an edge, or 1 if it is not known."""
        n_ends = 0 if self.graph is None else self.graph.edges().nnz
        return float(R.diagonal().sum()) * self.n_rows / n_ends if n_ends else 1.0


def open_graph(graph: object, n_neighbors: int, rows: PualRows, kernel: Kernel) -> Neighbours:
    """Return the neighbours that the arguments `graph` and `n_neighbors` name; a search is done only once."""
    if isinstance(graph, tuple) and len(graph) == 2:
        return Neighbours(rows.n, R=_check_laplacian(graph[1], rows.n))
    if isinstance(graph, KNNGraph):
        if graph.n_rows != rows.n:
            raise ValueError(f"graph must be that of the {rows.n} rows of X, got one of {graph.n_rows}")
        return Neighbours(rows.n, graph)
    if graph is not None:
        raise TypeError(
            f"graph must be None, a pair (W, R) as knn_similarity gives it, or what knn_graph gives, got "
            f"{describe(graph)}"
        )
    if n_neighbors == 0:
        return Neighbours(rows.n, R=sp.csr_array((rows.n, rows.n), dtype=np.float64))
    if kernel.name == "precomputed":
        raise ValueError(
            "graph must be given with kernel='precomputed', as there are no rows to find neighbours of, got None; "
            "n_neighbors=0 does without neighbours"
        )
    return Neighbours(rows.n, search(rows.matrix, n_neighbors, rows.n_threads))


def _check_laplacian(R: Any, n: int) -> Any:
    """Return R as CSR of float64 after checking that f'Rf can be a sum of squares of differences."""
    if not sp.issparse(R):
        raise TypeError(f"graph must be (W, R) of SciPy sparse matrices, got {describe(R)} for R")
    if R.shape != (n, n):
        raise ValueError(f"graph must be that of the {n} rows of X, got R of shape {tuple(R.shape)}")
    # Indices are checked here: SciPy's own routines trust them, and read outside of R's memory if they are wrong.
    values = read_sparse(R, "R of graph").convert(np.dtype(np.float64), sparse=True).table()
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
