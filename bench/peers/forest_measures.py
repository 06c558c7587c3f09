"""The measurements, each run in a process of its own.

python forest_measures.py NAME '{"option": value, ...}' prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from forest_learners import LEARNERS, forest_variant, loop_of_trees
from running import peak_bytes, timed
from workload import make_rows

import fastpu
from fastpu.metrics import auc

sys.path.append(str(Path(__file__).resolve().parent.parent / "defaults"))

from problems import draw, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_TEST_ROWS = 50_000
_MIN_LEAF_ROWS = 3
_AS_THE_LOOP = {"bag_ratio": 3.0, "min_leaf_rows": _MIN_LEAF_ROWS, "random_state": 0}


def quality(
    *, path: str, positive: str, share: float, first_split: int, splits: int, max_rows: int,
    variants: Mapping[str, Mapping[str, Any]], names: Sequence[str], n_threads: int,
) -> dict[str, Any]:  # fmt: skip
    """Test AUC and average precision of each learner, and the seconds of its fits and scores, on each split."""
    X, truth = load(Path(path), positive)
    learners = {name: LEARNERS[name] for name in names} | {
        name: forest_variant(**options) for name, options in variants.items()
    }
    found: dict[str, dict[str, list[float]]] = {name: {"auc": [], "ap": [], "seconds": []} for name in learners}
    for split in range(first_split, first_split + splits):
        problem = draw(X, truth, scaling="standardised", share=share, seed=split, max_rows=max_rows)
        for name, learn in learners.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds, score = timed(partial(learn, problem.X, problem.is_labelled, problem.prior, n_threads, split))
                scores = score(problem.X_test)
            found[name]["auc"].append(auc(problem.truth_test, scores))
            found[name]["ap"].append(_average_precision(problem.truth_test, scores))
            found[name]["seconds"].append(seconds)
    return {"rows": int(min(truth.size // 2, max_rows)), "features": X.shape[1], "found": found}


def _average_precision(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    from sklearn.metrics import average_precision_score  # noqa: PLC0415 (only where it is wanted)

    return float(average_precision_score(truth, scores))


def _labelled(n: int, n_pos: int, *, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return rows of which so many positive ones are labelled."""
    rows = make_rows(n, seed=seed)
    is_labelled = np.zeros(n, dtype=np.bool_)
    is_labelled[np.flatnonzero(rows.truth > 0)[:n_pos]] = True
    return rows.X, is_labelled


def fits(*, n: int, n_pos: int, n_trees: int, repeats: int, n_threads: int) -> dict[str, Any]:
    """Seconds of a fit of `fit_forest` and of the loop over scikit-learn's trees on such bags, alternating."""
    X, is_labelled = _labelled(n, n_pos)
    test = make_rows(_TEST_ROWS, seed=1)

    def ours(trees: int) -> Any:
        return fastpu.fit_forest(X, is_labelled, n_trees=trees, n_threads=n_threads, **_AS_THE_LOOP)

    def loop(trees: int) -> Any:
        return loop_of_trees(X, is_labelled, n_trees=trees, n_jobs=n_threads, seed=0)

    times: dict[str, list[float]] = {"fit_forest": [], "loop": []}
    ours(2), loop(2)
    for _ in range(repeats):
        seconds, model = timed(lambda: ours(n_trees))
        times["fit_forest"].append(seconds)
        seconds, score = timed(lambda: loop(n_trees))
        times["loop"].append(seconds)
    judged = {
        "fit_forest": auc(test.truth, model.decision_function(test.X, n_threads=n_threads)),
        "loop": auc(test.truth, score(test.X)),
    }
    return {"seconds": times, "auc": judged, "nodes": model.nodes.size}


def scores(*, n: int, n_pos: int, n_trees: int, repeats: int, n_threads: int) -> dict[str, Any]:
    """Seconds to score other rows, and nodes, of our forest and of ExtraTreesClassifier, alternating."""
    from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415 (only where it is wanted)

    X, is_labelled = _labelled(20_000, n_pos)
    test = make_rows(n, seed=1).X
    ours = fastpu.fit_forest(X, is_labelled, n_trees=n_trees, n_threads=n_threads, **_AS_THE_LOOP)
    # As many rows a tree as our bags have, in classes that overlap as much.
    bag = np.concatenate([np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)[: 3 * n_pos]])
    theirs = ExtraTreesClassifier(
        n_trees, min_samples_leaf=_MIN_LEAF_ROWS, class_weight="balanced", n_jobs=n_threads, random_state=0
    ).fit(X[bag], is_labelled[bag])
    times: dict[str, list[float]] = {"fit_forest": [], "ExtraTreesClassifier": []}
    for repeat in range(repeats + 1):
        seconds = timed(lambda: ours.decision_function(test, n_threads=n_threads))[0]
        other = timed(lambda: theirs.predict_proba(test))[0]
        if repeat > 0:
            times["fit_forest"].append(seconds)
            times["ExtraTreesClassifier"].append(other)
    nodes = {
        "fit_forest": ours.nodes.size,
        "ExtraTreesClassifier": sum(tree.tree_.node_count for tree in theirs.estimators_),
    }
    return {"seconds": times, "nodes": nodes}


def scaling(*, n: int, sizes: Sequence[int], n_trees: int, repeats: int, n_threads: int) -> dict[str, Any]:
    """Seconds of a fit for several numbers of positives, alternating."""
    data = {n_pos: _labelled(n, n_pos) for n_pos in sizes}
    times: dict[str, list[float]] = {str(n_pos): [] for n_pos in sizes}
    for repeat in range(repeats + 1):
        for n_pos, (X, is_labelled) in data.items():
            seconds = timed(lambda X=X, y=is_labelled: fastpu.fit_forest(
                X, y, n_trees=n_trees, n_threads=n_threads, **_AS_THE_LOOP))[0]  # fmt: skip
            if repeat > 0:
                times[str(n_pos)].append(seconds)
    return {"seconds": times}


def memory(*, n: int, n_pos: int, n_trees: int, n_threads: int) -> dict[str, Any]:
    """Peak memory of a fit above that of the rows, and the bytes of a node of the model."""
    X, is_labelled = _labelled(1000, 100)
    fastpu.fit_forest(X, is_labelled, n_trees=2, n_threads=n_threads, **_AS_THE_LOOP)
    baseline = peak_bytes()
    X, is_labelled = _labelled(n, n_pos)
    with_rows = peak_bytes()
    model = fastpu.fit_forest(X, is_labelled, n_trees=n_trees, n_threads=n_threads, **_AS_THE_LOOP)
    return {
        "rows": with_rows - baseline,
        "peak": peak_bytes() - baseline,
        "matrix": X.nbytes,
        "nodes": model.nodes.size,
        "model": model.packed_nodes.nbytes,
    }


_MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    measure.__name__: measure for measure in (quality, fits, scores, scaling, memory)
}


if __name__ == "__main__":
    print(json.dumps(_MEASURES[sys.argv[1]](**json.loads(sys.argv[2]))))
