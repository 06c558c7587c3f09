"""Rows that are hard to search, and the ways to search them, for the tests of nearest neighbours."""

from __future__ import annotations

import numpy as np

from fastpu import _core
from fastpu.data._validate import check_matrix
from oracles import knn_graph as oracle

METHODS = ("", "tree", "blocks")
DTYPES = (np.float32, np.float64)


def by_core(X, n_neighbors=5, *, method="", n_threads=2):
    """Neighbours of rows, dense or CSR, by a method that is forced."""
    return _core.knn_search(check_matrix(X), n_neighbors, n_threads=n_threads, method=method)


def assert_exact(X, n_neighbors, found) -> None:
    """Indices and squared distances are those of the oracle, to the bit."""
    dense = X.toarray() if hasattr(X, "toarray") else X
    indices, squared = oracle.neighbors(dense, n_neighbors)
    np.testing.assert_array_equal(found[0], indices)
    np.testing.assert_array_equal(found[1], squared)


def tight_clusters(rng, n, d):
    """Clusters that are tight and far from each other: products cannot tell their rows apart."""
    return rng.normal(scale=1e-4, size=(n, d)) + 1e4 * rng.choice([-1.0, 1.0], size=(n, 1))


def one_huge_column(rng, n, d):
    X = rng.normal(size=(n, d))
    X[:, d // 2] *= 1e7
    return X


def outliers(rng, n, d):
    X = rng.normal(size=(n, d))
    X[:: n // 7 + 1] *= 1e6
    return X


def all_alike(rng, n, d):
    return np.tile(rng.normal(size=(1, d)), (n, 1))


def many_duplicates(rng, n, d):
    return rng.normal(size=(max(n // 9, 1), d))[rng.integers(0, max(n // 9, 1), size=n)]


def constant_columns(rng, n, d):
    X = np.tile(rng.normal(size=(1, d)), (n, 1))
    X[:, 0] = rng.normal(size=n)
    return X


#: name -> rows(rng, n, d)
HARD = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "integers": lambda rng, n, d: rng.integers(-2, 3, size=(n, d)).astype(np.float64),
    "binary": lambda rng, n, d: rng.integers(0, 2, size=(n, d)).astype(np.float64),
    "huge offset": lambda rng, n, d: rng.normal(size=(n, d)) + 1e8,
    "offset of one row": lambda rng, n, d: rng.normal(size=(n, d)) + 1e8 * (np.arange(n) == 0)[:, None],
    "tight clusters": tight_clusters,
    "one huge column": one_huge_column,
    "outliers": outliers,
    "all alike": all_alike,
    "many duplicates": many_duplicates,
    "constant columns": constant_columns,
    "heavy tails": lambda rng, n, d: rng.standard_cauchy(size=(n, d)),
    "zeros": lambda rng, n, d: np.zeros((n, d)),
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 1e35,
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-36,
    "spread over scales": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 8, size=(n, 1)),
}
