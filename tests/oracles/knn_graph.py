"""Nearest neighbours and the graph that they make, slow and obvious: all distances, by differences, in a dense matrix.

    d2(i, j) = sum_f (x_if - x_jf)^2                      eight partial sums, feature f in number f mod 8
    w_ij = exp(-d2(i, j) / sigma) on edges                R = (diag(W 1) - W) / n

The order of the sums is that of the core, so that equal means equal to the bit; `exact_squares` has no order.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def squared_distances(X) -> np.ndarray:
    """d2 of every two rows."""
    X = np.asarray(X, dtype=np.float64)
    part = np.zeros((8, len(X), len(X)))
    for f in range(X.shape[1]):
        part[f % 8] += (X[:, None, f] - X[None, :, f]) ** 2
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]))


def exact_squares(X) -> list[list[Fraction]]:
    """d2 of every two rows in rational numbers."""
    rows = [[Fraction(float(value)) for value in row] for row in np.asarray(X, dtype=np.float64)]
    return [[sum(((a - b) ** 2 for a, b in zip(x, z, strict=True)), Fraction(0)) for z in rows] for x in rows]


def neighbors(X, n_neighbors) -> tuple[np.ndarray, np.ndarray]:
    """Indices and squared distances of min(K, n - 1) neighbours, in order of (distance, index), each row left out."""
    D = squared_distances(X)
    n = len(D)
    indices = []
    for i in range(n):
        order = sorted((j for j in range(n) if j != i), key=lambda j: (D[i, j], j))
        indices.append(order[:n_neighbors])
    indices = np.array(indices, dtype=np.int64).reshape(n, min(n_neighbors, n - 1))
    return indices, np.take_along_axis(D, indices, axis=1)


def edges(X, n_neighbors, mode) -> np.ndarray:
    """Which pairs are edges, as a matrix of booleans."""
    indices, _ = neighbors(X, n_neighbors)
    one_way = np.zeros((len(indices), len(indices)), dtype=bool)
    np.put_along_axis(one_way, indices, values=True, axis=1)
    return one_way & one_way.T if mode == "mutual" else one_way | one_way.T


def counted_edges(X, n_neighbors, mode) -> np.ndarray:
    """How often each pair of rows counts as an edge: edges join distinct rows, and are spread over their twins."""
    rows = [tuple(row) for row in (np.asarray(X, dtype=np.float64) + 0.0).tolist()]
    distinct = list(dict.fromkeys(rows))
    twins = [[i for i, row in enumerate(rows) if row == each] for each in distinct]
    is_edge = edges(np.asarray(X)[[of_one[0] for of_one in twins]], n_neighbors, mode)
    times = np.zeros((len(rows), len(rows)), dtype=np.int64)
    for a, b in zip(*np.nonzero(is_edge), strict=True):
        if a < b:
            for i in range(max(len(twins[a]), len(twins[b]))):
                one, other = twins[a][i % len(twins[a])], twins[b][i % len(twins[b])]
                times[one, other] = times[other, one] = min(len(twins[a]), len(twins[b]))
    return times


def similarity(X, n_neighbors, sigma, mode) -> tuple[np.ndarray, np.ndarray]:
    """W and R, dense."""
    times, D = counted_edges(X, n_neighbors, mode), squared_distances(X)
    if sigma == "median":
        lengths = D[times > 0]
        sigma = np.median(lengths) if lengths.size else 1.0
    with np.errstate(over="ignore", under="ignore"):
        W = times * np.exp(-D / sigma)
    return W, (np.diag(W.sum(axis=1)) - W) / len(W)
