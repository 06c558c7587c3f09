"""The neighbours of PUAL and GLLC: R of the term f'Rf for each sigma, from a search or as the caller gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fastpu.common._text import describe
from fastpu.common._types import SparseLike
from fastpu.common._warn import warn
from fastpu.data._sparse import read_sparse
from fastpu.exceptions import ScaleWarning
from fastpu.knn.knn_graph import KNNGraph, search
from fastpu.pual._options import GllcOptions
from fastpu.pual._parameter_points import Point
from fastpu.pual._pual_rows import PualRows

#: W and R as `knn_similarity` returns them, or what `knn_graph` returns.
GraphLike: TypeAlias = tuple[SparseLike, SparseLike] | KNNGraph

_SYMMETRY = 1e-9  # largest rounding error of R - R' and of R 1, relative to the largest entry
_NO_NEIGHBOURS = 1e-6  # mean weight of an edge below which the neighbours' term has no influence on the objective


@dataclass(frozen=True)
class FixedLaplacian:
    """One R for every sigma: the caller's, or an empty one without neighbours."""

    R: Any
    median: float = 1.0

    def laplacian(self, sigma: float) -> Any:  # noqa: ARG002 - it holds for all
        return self.R

    def warn_if_lost(self, function: str, points: Sequence[Point]) -> None:
        """Do nothing: no sigma has any influence."""


@dataclass(frozen=True)
class WeightedGraph:
    """The edges of a graph, whose weights depend on sigma; `median` is the median of their squared lengths."""

    graph: KNNGraph
    median: float

    def laplacian(self, sigma: float) -> Any:
        return self.graph.similarity(sigma)[1]

    def warn_if_lost(self, function: str, points: Sequence[Point]) -> None:
        """Warn if a sigma is so small that the neighbours have no influence."""
        for sigma in dict.fromkeys(point.sigma for point in points):
            if self.graph._mean_similarity(sigma) < _NO_NEIGHBOURS:
                warn(
                    f"{function}: with sigma = {sigma:g} neighbours have no influence, as the mean similarity of an "
                    f"edge is below {_NO_NEIGHBOURS:g}; sigma is a squared length, and sigma='median' fits the edges "
                    f"(here {self.median:g})",
                    ScaleWarning,
                )
                return


Neighbours: TypeAlias = FixedLaplacian | WeightedGraph


def no_neighbours(rows: PualRows) -> FixedLaplacian:
    return FixedLaplacian(sp.csr_array((rows.n, rows.n)))


def find_neighbours(graph: GraphLike | None, rows: PualRows, options: GllcOptions) -> Neighbours:
    """Return the neighbours that the caller gives as `graph`, or those that a search finds."""
    if isinstance(graph, tuple) and len(graph) == 2:
        return FixedLaplacian(_checked_laplacian(graph[1], rows.n))
    if isinstance(graph, KNNGraph):
        if graph.n_rows != rows.n:
            raise ValueError(f"graph must be that of the {rows.n} rows of X, got one of {graph.n_rows}")
        return WeightedGraph(graph, graph.median())
    if graph is not None:
        raise TypeError(
            f"graph must be None, a pair (W, R) as knn_similarity gives it, or what knn_graph gives, got "
            f"{describe(graph)}"
        )
    if options.n_neighbors == 0:
        return no_neighbours(rows)
    if rows.kernel.name == "precomputed":
        raise ValueError(
            "graph must be given with kernel='precomputed', as there are no rows to find neighbours of, got None; "
            "n_neighbors=0 does without neighbours"
        )
    found = search(rows.matrix, options.n_neighbors, rows.n_threads)
    return WeightedGraph(found, found.median())


def _checked_laplacian(R: Any, n: int) -> Any:
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
    is_diagonal = values.indices == np.repeat(np.arange(n), np.diff(values.indptr))
    highest = float(values.data[~is_diagonal].max(initial=0.0))
    if highest > limit:
        raise ValueError(f"graph must have weights >= 0, and so no entry > 0 beside R's diagonal, got {highest:g}")
    sums = np.abs(np.asarray(values.sum(axis=1)).reshape(-1))
    if float(sums.max()) > limit * max(1, int(np.diff(values.indptr).max())):
        row = int(np.argmax(sums))
        raise ValueError(f"graph must be a Laplacian, R 1 = 0, got a sum of {sums[row]:g} in row {row} of R")
    return values
