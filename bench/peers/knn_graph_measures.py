"""The measurements of nearest neighbours, each run in a process of its own.

python knn_graph_measures.py NAME '{"option": value, ...}' prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import peak_bytes, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_K = 5
_WARM_UP = 200  # rows


def _rows(n: int, d: int) -> NDArray[np.float64]:
    return np.random.default_rng(0).standard_normal((n, d))


def _fastpu(X: NDArray[Any], n_threads: int) -> NDArray[np.int64]:
    import fastpu  # noqa: PLC0415 (only where it is measured)

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


def _agreement(found: NDArray[np.int64], exact: NDArray[np.int64]) -> float:
    """Return the share of exact neighbours that were found; the row itself does not count."""
    return float(np.mean([np.isin(mine, other).mean() for mine, other in zip(exact, found, strict=True)]))


def search(*, n: int, d: int, peers: Sequence[str], n_threads: int, repeats: int) -> dict[str, Any]:
    """Seconds of a search of float64 and of float32 rows, and how many neighbours are the exact ones."""
    works: dict[str, Callable[[], Any]] = {}
    found: dict[str, dict[str, Any]] = {}
    wide = _rows(n, d)
    for dtype in ("float64", "float32"):
        X = wide.astype(dtype)
        exact = _fastpu(X.astype(np.float64), n_threads)
        for name in ("fastpu", *peers):
            if dtype not in _TYPES.get(name, ("float64", "float32")):
                continue
            key = f"{name} {dtype}"
            works[key] = partial(_SEARCHES[name], X, n_threads)
            found[key] = {"times": [], "agreement": _agreement(works[key](), exact)}
    for _ in range(repeats):
        for key, work in works.items():
            found[key]["times"].append(timed(work)[0])
    return found


def weights(*, n: int, d: int, n_threads: int, repeats: int) -> dict[str, Any]:
    """Seconds of a search, and of edges, W and R from what it found."""
    import fastpu  # noqa: PLC0415 (only where it is measured)

    X = _rows(n, d)
    times: dict[str, list[float]] = {"search": [], "mutual": [], "union": [], "another sigma": []}
    for turn in range(-1, repeats):  # the first warms up
        seconds, graph = timed(partial(fastpu.knn_graph, X, n_neighbors=_K, n_threads=n_threads))
        found = {"search": seconds}
        for mode in ("mutual", "union"):
            found[mode] = timed(partial(graph.similarity, mode=mode, n_threads=n_threads))[0]
        found["another sigma"] = timed(partial(graph.similarity, 2.0, n_threads=n_threads))[0]
        for name, value in found.items() if turn >= 0 else ():
            times[name].append(value)
    return times


def memory(*, n: int, d: int, name: str, n_threads: int) -> dict[str, Any]:
    """Peak memory of a search above that of the interpreter with the library and the rows."""
    X = _rows(n, d).astype("float32" if name == "faiss" else "float64")
    _SEARCHES[name](X[:_WARM_UP], n_threads)
    before = peak_bytes()
    _SEARCHES[name](X, n_threads)
    return {"rows": X.nbytes, "search": peak_bytes() - before}


if __name__ == "__main__":
    measures = {"search": search, "weights": weights, "memory": memory}
    print(json.dumps(measures[sys.argv[1]](**json.loads(sys.argv[2]))))
