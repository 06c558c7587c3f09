"""Nearest neighbours of every row, and the similarity matrix that they make."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_choice, check_int, check_word_or_number
from fastpu.common._text import columns_named, describe
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import MatrixLike
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_matrix
from fastpu.knn._twins import Twins

Mode: TypeAlias = Literal["mutual", "union"]
_MODES = ("mutual", "union")
_FEW_COLUMNS = 1 << 20  # so many columns are searched as they are, however many are empty


@dataclass(frozen=True, eq=False, repr=False)
class KNNGraph:
    """The K nearest neighbours of every row: made by `knn_graph`, weighted by `similarity` for any sigma.

    Immutable, with read-only arrays, and picklable. The neighbours of a row may be its duplicates. Edges and weights
    are those of distinct rows: `knn_similarity` says how.

    Attributes
    ----------
    indices : ndarray of int64 of shape (n, K)
        Neighbours of each row, nearest first, of equally near ones the lower index first. A row is no neighbour of
        itself, but a duplicate of it is one.
    squared_distances : ndarray of float64 of shape (n, K)
        Squared distances of the rows to these neighbours.
    """

    indices: NDArray[np.int64]
    squared_distances: NDArray[np.float64]
    _twins: tuple[Twins, KNNGraph] | None = field(default=None, kw_only=True)  # where rows are equal: the distinct ones
    _edges: dict[str, tuple[Any, Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for name, dtype in (("indices", np.int64), ("squared_distances", np.float64)):
            value = getattr(self, name)
            if not isinstance(value, np.ndarray) or value.dtype != dtype or value.ndim != 2:
                raise TypeError(f"{name} must be a matrix of {np.dtype(dtype)}, got {describe(value)}")
            view = np.require(value, requirements=["C", "A"]).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        if self.indices.shape != self.squared_distances.shape:
            raise ValueError(
                f"squared_distances must have the shape of indices, {self.indices.shape}, "
                f"got {self.squared_distances.shape}"
            )
        bad = ~(self.squared_distances >= 0)
        if bad.any():
            row, place = np.argwhere(bad)[0].tolist()
            least = float(self.squared_distances[row, place])
            raise ValueError(f"squared_distances must be >= 0, got {least} at row {row}, neighbour {place}")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.indices.shape[0])

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours of each row."""
        return int(self.indices.shape[1])

    def edges(self, mode: Mode = "mutual", *, n_threads: int | None = None) -> sp.csr_array:
        """Return the squared lengths of the edges as a symmetric CSR array, kept for the next call.

        Parameters
        ----------
        mode : {"mutual", "union"}, default "mutual"
            "mutual" joins two rows if each is a neighbour of the other, "union" if at least one is.
        n_threads : int, optional
            Without influence: edges and weights take one thread, and little time beside a search.

        Returns
        -------
        csr_array of float64 of shape (n, n)
            Its arrays are read-only. Rows that are equal have no edge between them.
        """
        mode_name = check_choice("mode", mode, _MODES)
        resolve_n_threads(n_threads)
        return self._counted(mode_name)[0]

    def _counted(self, mode: str) -> tuple[Any, Any]:
        """Return the edges, and how often each of them counts, or None for once."""
        if (kept := self._edges.get(mode)) is None:
            if self._twins is None:
                kept = self._joined(is_union=mode == "union"), None
            else:
                twins, distinct = self._twins
                kept = twins.spread(distinct._joined(is_union=mode == "union"))
            for array in (kept[0].data, kept[0].indices, kept[0].indptr):
                array.flags.writeable = False
            self._edges[mode] = kept
        return kept

    def _mean_similarity(self, sigma: float, mode: Mode = "mutual") -> float:
        """Return the mean weight of an edge, NaN where there are no edges."""
        edges, times = self._counted(check_choice("mode", mode, _MODES))
        with np.errstate(over="ignore"):
            return float(np.average(np.exp(edges.data / -sigma), weights=times)) if edges.nnz else np.nan

    def _joined(self, *, is_union: bool) -> Any:
        """Return the edges. Their entries are places in `squared_distances`, from 1, until they are known."""
        n, size = self.n_rows, self.indices.size
        if ((self.indices < 0) | (self.indices >= n)).any():
            row, place = np.argwhere((self.indices < 0) | (self.indices >= n))[0].tolist()
            raise ValueError(f"indices must be in [0, {n}), got {self.indices[row, place]} for row {row}")
        starts = np.arange(n + 1) * self.n_neighbors
        back = sp.csr_array((np.arange(1, size + 1), self.indices.ravel(), starts), shape=(n, n)).T.tocsr()
        places = back.T.tocsr()  # transposed twice, and so sorted
        if not places.has_canonical_format or places.diagonal().any():
            raise ValueError("indices must hold no row twice among the neighbours of a row, nor the row itself")
        kept = places.maximum(back) if is_union else places.minimum(back)
        lengths = self.squared_distances.ravel()[kept.data - 1]
        return sp.csr_array((lengths, kept.indices, kept.indptr), shape=(n, n))

    def similarity(
        self, sigma: float | Literal["median"] = "median", mode: Mode = "mutual", *, n_threads: int | None = None
    ) -> tuple[sp.csr_array, sp.csr_array]:
        """Return W and R of `knn_similarity`, in O(n K) without another search.

        Parameters
        ----------
        sigma : "median" or float > 0, default "median"
            A squared length: weights are exp(-squared length / sigma). "median" is `median` of this graph.
        mode : {"mutual", "union"}, default "mutual"
            "mutual" joins two rows if each is a neighbour of the other, "union" if at least one is.
        n_threads : int, optional
            Without influence: edges and weights take one thread.

        Returns
        -------
        W, R : csr_array of float64 of shape (n, n)
        """
        square = check_word_or_number("sigma", sigma, ("median",))
        weights = self.edges(mode, n_threads=n_threads).copy()
        with np.errstate(over="ignore"):  # the weight is 0 then
            np.exp(weights.data / -(self.median(mode) if isinstance(square, str) else square), out=weights.data)
        if (times := self._counted(mode)[1]) is not None:
            weights.data *= times
        weights.eliminate_zeros()
        n, lengths = self.n_rows, np.diff(weights.indptr)
        # A diagonal beside the weights, by ones at first: a difference of matrices would leave out what underflows.
        laplacian = weights + sp.dia_array((np.sign(lengths)[None], [0]), shape=(n, n)).tocsr()
        laplacian.data *= -1 / max(n, 1)
        is_diagonal = laplacian.indices == np.repeat(np.arange(n), np.diff(laplacian.indptr))
        laplacian.data[is_diagonal] = (weights * (1 / max(n, 1))).sum(axis=1)[lengths > 0]
        return weights, laplacian

    def median(self, mode: Mode = "mutual", *, n_threads: int | None = None) -> float:
        """Return the median squared length of the edges, the sigma of "median".

        If it would be 0, it is the median of the lengths that are not 0. It is 1 if there is no such length.

        Parameters
        ----------
        mode : {"mutual", "union"}, default "mutual"
            "mutual" joins two rows if each is a neighbour of the other, "union" if at least one is.
        n_threads : int, optional
            Without influence: edges and weights take one thread.

        Returns
        -------
        float
        """
        lengths = self.edges(mode, n_threads=n_threads).data
        if lengths.size and not np.median(lengths) > 0:
            lengths = lengths[lengths > 0]
        return float(np.median(lengths)) if lengths.size else 1.0

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.indices, self.squared_distances, self._twins)

    def __repr__(self) -> str:
        return f"KNNGraph(n_rows={self.n_rows}, n_neighbors={self.n_neighbors})"


def _restored(
    indices: NDArray[np.int64], squared_distances: NDArray[np.float64], twins: tuple[Twins, KNNGraph] | None
) -> KNNGraph:
    return KNNGraph(indices, squared_distances, _twins=twins)


@answers_unknown_keywords
def knn_graph(X: MatrixLike, *, n_neighbors: int = 5, n_threads: int | None = None) -> KNNGraph:
    """Find the K nearest neighbours of every row, exactly.

    The squared distance of two rows is the sum of their squared differences, in float64. The neighbours of a row are
    ordered by distance. Rows that are equally near are ordered by their place in `X`, so the order of the rows decides
    ties. A row is not its own neighbour, but its duplicates are, at distance 0.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of finite numbers. Sparse input stays sparse. Bring the columns to one scale if their units differ.
    n_neighbors : int, default 5
        K, the number of neighbours of each row, >= 0. With K >= n every row has the n - 1 others.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The result is the same,
        bit by bit, for any number.

    Returns
    -------
    KNNGraph
        The neighbours: `indices` and `squared_distances`, both of shape (n, K). `similarity` makes W and R of them.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or squared distances could exceed the range of float64.
    MemoryError
        If there is too little memory for the neighbours or for the search.

    See Also
    --------
    knn_similarity : the weighted graph in one call.

    Notes
    -----
    Few columns are searched by a k-d tree, in time O(n log n) for evenly spread rows and memory 12 n d bytes. With more
    columns every two rows are compared. Products in float32, whose rounding error is bounded, show which pairs could be
    among the nearest; only the distances of these are computed exactly. This takes O(n^2 d) / 2 multiply-adds and 4 n d
    bytes. CSR rows are compared through the columns that they share, in O(n^2 + sum of squared column counts) and 8 n
    bytes a thread. All of these give the same bits. The result takes 16 n K bytes.

    Examples
    --------
    >>> import fastpu
    >>> graph = fastpu.knn_graph([[0.0], [1.0], [3.0], [3.0]], n_neighbors=2)
    >>> graph.indices
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    >>> graph.squared_distances
    array([[1., 9.],
           [1., 4.],
           [0., 4.],
           [0., 4.]])
    """
    n_wanted = check_int("n_neighbors", n_neighbors, low=0)
    matrix = check_matrix(X)
    return search(matrix, n_wanted, resolve_n_threads(n_threads))


def search(matrix: Matrix, n_neighbors: int, n_threads: int) -> KNNGraph:
    """Return the graph of checked rows."""
    wanted = min(n_neighbors, matrix.n_rows - 1)
    if matrix.is_sparse and matrix.n_features > max(_FEW_COLUMNS, 2 * matrix.data.size):
        used, numbers = np.unique(matrix.indices, return_inverse=True)  # the columns that are not empty
        matrix = replace(matrix, indices=numbers.astype(np.int32), n_features=used.size, feature_names=None)
    with columns_named(matrix.feature_names):
        found = KNNGraph(*_core.knn_search(matrix, wanted, n_threads=n_threads))
    # Equal rows are nearest to each other, at distance 0.
    candidates = np.flatnonzero((found.squared_distances[:, :1] == 0).any(axis=1))
    twins = Twins.among(matrix, candidates) if candidates.size else None
    if twins is None:
        return found
    wanted = min(n_neighbors, twins.first.size - 1)
    distinct = KNNGraph(*_core.knn_search(matrix[twins.first], wanted, n_threads=n_threads))
    return KNNGraph(found.indices, found.squared_distances, _twins=(twins, distinct))


@answers_unknown_keywords
def knn_similarity(
    X: MatrixLike,
    *,
    n_neighbors: int = 5,
    sigma: float | Literal["median"] = "median",
    mode: Mode = "mutual",
    n_threads: int | None = None,
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the similarity matrix W of nearest neighbours and the matrix R of its quadratic form.

    ::

        w_ij = exp(-|x_i - x_j|^2 / sigma)  if {i, j} is an edge, else 0
        R = (diag(W 1) - W) / n,    f'Rf = sum_ij w_ij (f_i - f_j)^2 / (2 n)

    Here neighbours are distinct rows. Twins (rows that are equal in all columns) are not among each other's K
    neighbours, and where one twin has an edge to a row, all its twins have one.

    Parameters
    ----------
    X : array-like, CSR matrix or DataFrame of shape (n, d)
        Rows of finite numbers. Sparse input stays sparse. Bring the columns to one scale if their units differ.
    n_neighbors : int, default 5
        K, the number of nearest neighbours of each row, >= 0. With K >= n every two rows are neighbours.
    sigma : "median" or float > 0, default "median"
        The scale of the similarities: a squared length > 0, in the units of `X` squared. "median" is the median of the
        squared lengths of the edges (if that is 0, of the lengths that are not 0). Weights are then around exp(-1),
        whatever the scale of the rows and the number of columns. The paper uses 1.0.
    mode : {"mutual", "union"}, default "mutual"
        "mutual" joins two rows if each is a neighbour of the other, "union" if at least one is.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The result is the same,
        bit by bit, for any number.

    Returns
    -------
    W, R : csr_array of float64 of shape (n, n)
        Symmetric, with sorted indices. Weights that are 0 in float64 (a squared length above about 745 sigma) are not
        stored. A row without an edge is empty in both.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or squared distances could exceed the range of float64.
    MemoryError
        If there is too little memory for the neighbours or for the search.

    See Also
    --------
    knn_graph : keeps the neighbours, for several values of sigma.

    Notes
    -----
    The search costs what `knn_graph` says, W and R take O(n K). W has at most n K entries for mutual edges and 2 n K
    for their union, R n more; twice that where there are twins. Where several distinct rows are equally near, those of
    lowest index are the neighbours.

    **Twins.** If x_i has c twins (itself included) and x_j has c', their c c' pairs are all edges of the same length.
    For scores that are equal for equal rows the sum f'Rf depends on their total weight alone. So max(c, c') of these
    edges are stored, one or more for every twin, with min(c, c') times the weight. If every row of a table is repeated
    k times, f'Rf becomes k times as large, as sums of losses over the rows do. (If twins were neighbours, more than K
    of them would fill their own lists, and f'Rf would be 0.)

    Equations (5) and (6) of X. Wang, X. Yang, R. Zhu and J.-H. Xue, PUAL: a classifier on trifurcate
    positive-unlabeled data.

    Examples
    --------
    >>> import fastpu
    >>> W, R = fastpu.knn_similarity([[0.0], [1.0], [3.0], [3.5]], n_neighbors=1, sigma=1.0)
    >>> W.toarray().round(3)
    array([[0.   , 0.368, 0.   , 0.   ],
           [0.368, 0.   , 0.   , 0.   ],
           [0.   , 0.   , 0.   , 0.779],
           [0.   , 0.   , 0.779, 0.   ]])
    >>> R.toarray().round(3)
    array([[ 0.092, -0.092,  0.   ,  0.   ],
           [-0.092,  0.092,  0.   ,  0.   ],
           [ 0.   ,  0.   ,  0.195, -0.195],
           [ 0.   ,  0.   , -0.195,  0.195]])
    """
    check_word_or_number("sigma", sigma, ("median",))
    check_choice("mode", mode, _MODES)
    return knn_graph(X, n_neighbors=n_neighbors, n_threads=n_threads).similarity(sigma, mode, n_threads=n_threads)
