"""fastpu's nearest neighbours against scikit-learn, faiss and SciPy: all exact, agreement beside speed.

The K = 5 nearest neighbours of every one of 20,000 normal rows, of 20 and 100 columns by kneighbors_graph and by
IndexFlatL2 (which holds float32, and whose 6 nearest include the row), of 2 columns by cKDTree. What is built before a
search counts. Agreement is the share of neighbours that the exact distances in float64 name as well. BLAS has as many
threads as all others.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, alternate

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ("sklearn", "faiss")
SETTINGS = {"n": 20_000, "repeats": 5}
QUICK = {"n": 300, "repeats": 1}
_K = 5
_PEERS = {2: ["cKDTree"], 20: ["scikit-learn", "faiss"], 100: ["scikit-learn", "faiss"]}  # by columns


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for n_threads in run.threads:
        shared = {"n": run.n, "n_threads": n_threads, "blas_threads": n_threads, "repeats": run.repeats}
        for d, peers in _PEERS.items():
            for dtype in ("float64", "float32"):
                chosen = [name for name in peers if dtype in _TYPES.get(name, ("float64", "float32"))]
                yield Case(search, d=d, dtype=dtype, names=["fastpu", *chosen], **shared)
            yield Case(weights, d=d, **shared)


def _rows(n: int, d: int) -> NDArray[np.float64]:
    return np.random.default_rng(0).standard_normal((n, d))


def _fastpu(X: NDArray[Any], n_threads: int) -> NDArray[np.int64]:
    return fastpu.knn_graph(X, n_neighbors=_K, n_threads=n_threads).indices


def _scikit_learn(X: NDArray[Any], n_threads: int) -> NDArray[np.int64]:
    from sklearn.neighbors import kneighbors_graph  # noqa: PLC0415 (only where it is measured)

    graph = kneighbors_graph(X, _K, mode="distance", n_jobs=n_threads)
    return np.asarray(graph.indices).reshape(X.shape[0], _K)


def _faiss(X: NDArray[Any], n_threads: int) -> NDArray[np.int64]:
    import faiss  # noqa: PLC0415 (only where it is measured)

    faiss.omp_set_num_threads(n_threads)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    found: NDArray[np.int64] = index.search(X, _K + 1)[1]
    return found


def _ckdtree(X: NDArray[Any], n_threads: int) -> NDArray[np.int64]:
    from scipy.spatial import cKDTree  # noqa: PLC0415 (only where it is measured)

    found: NDArray[np.int64] = cKDTree(X).query(X, _K + 1, workers=n_threads)[1]
    return found


_SEARCHES = {"fastpu": _fastpu, "scikit-learn": _scikit_learn, "faiss": _faiss, "cKDTree": _ckdtree}
_TYPES = {"faiss": ("float32",), "cKDTree": ("float64",)}


def search(*, n: int, d: int, dtype: str, names: Sequence[str], n_threads: int, repeats: int) -> list[Row]:
    """The 5 nearest neighbours of every row, and the share of them that float64 names as well."""
    X = _rows(n, d).astype(dtype)
    exact = _fastpu(X.astype(np.float64), n_threads)

    def agreement(_: str, found: NDArray[np.int64]) -> Row:  # the row itself does not count
        return {"agreement": float(np.mean([np.isin(a, b).mean() for a, b in zip(exact, found, strict=True)]))}

    return alternate({name: partial(_SEARCHES[name], X, n_threads) for name in names}, repeats, judge=agreement)


def weights(*, n: int, d: int, n_threads: int, repeats: int) -> list[Row]:
    """A search of float64 rows, and the edges, W and R from what it found."""
    X = _rows(n, d)
    graph = fastpu.knn_graph(X, n_neighbors=_K, n_threads=n_threads)
    works: dict[str, Callable[[], Any]] = {
        "search": partial(fastpu.knn_graph, X, n_neighbors=_K, n_threads=n_threads),
        "mutual edges, W, R": partial(graph.similarity, mode="mutual", n_threads=n_threads),
        "union edges, W, R": partial(graph.similarity, mode="union", n_threads=n_threads),
        "W, R of another sigma": partial(graph.similarity, 2.0, n_threads=n_threads),
    }
    return alternate(works, repeats)
