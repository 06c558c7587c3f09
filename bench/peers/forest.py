"""fit_forest against scikit-learn's trees in a loop: times, and quality beside LightGBM on real tables.

fits: n x 50 normal float32. `wide`: 20,000 x 768 embeddings, of which 200 are labelled, and 100,000 x 2,048 binary
fingerprints in CSR, of which 2,000 are. A loop grows scikit-learn's extra trees on the bags of fit_forest.
quality: on the sets of --data, half of the rows (at most max_rows) to fit and half to test, a share of the positive
rows labelled and all others unlabelled; AUC and average precision against the true classes.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from quality import SETS, judge, lightgbm_learner, summary
from running import Case, Row, alternate, timed
from scipy.sparse import issparse
from shared import draw, load
from workload import labelled, make_rows

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import SimpleNamespace

    from numpy.typing import NDArray
    from quality import Learner

    Scorer = Callable[[Any], NDArray[np.float64]]

NEEDS = ("sklearn", "joblib", "lightgbm")
SETTINGS = {
    "n": [20_000, 200_000],  # rows of a fit, of which a twentieth is labelled, or a tenth of more than 20,000
    "n_trees": 500,  # of timed forests
    "wide": {"embeddings": 20_000, "fingerprints": 100_000},
    "sets": SETS,
    "shares": [0.05, 0.3],  # of the positives, labelled
    "splits": 5,
    "max_rows": 5000,
    "repeats": 3,
}
QUICK = {
    "n": [400],
    "wide": {"embeddings": 400, "fingerprints": 400},
    "n_trees": 5,
    "splits": 1,
    "shares": [0.3],
    "max_rows": 60,
    "repeats": 1,
}
_BAG_RATIO, _MIN_LEAF_ROWS = 3, 3
_AS_THE_LOOP = {"bag_ratio": float(_BAG_RATIO), "min_leaf_rows": _MIN_LEAF_ROWS, "random_state": 0}


def cases(run: SimpleNamespace) -> Iterator[Case]:
    shared = {"n_trees": run.n_trees, "repeats": run.repeats}
    n_pos = [n // 20 if n <= 20_000 else n // 10 for n in run.n]
    for n_threads in run.threads:
        for n, positives in zip(run.n, n_pos, strict=True):
            yield Case(fits, n=n, n_pos=positives, n_threads=n_threads, **shared)
        for table, n in run.wide.items():
            yield Case(wide, table=table, n=n, n_threads=n_threads, **shared)
    for split in range(run.splits) if run.data else ():
        for name, positive in run.sets.items():
            for share in run.shares:
                yield Case(quality, set=name, positive=positive, share=share, split=split, max_rows=run.max_rows,
                           n_threads=run.threads[-1], data=run.data, summary=summary)  # fmt: skip


# ---- Learners --------------------------------------------------------------------------------------------------------


def _loop_of_trees(X: Any, is_labelled: NDArray[np.bool_], n_threads: int, seed: int, *, n_trees: int = 500) -> Scorer:
    """Fit scikit-learn's extra trees to the bags of `fit_forest`, in a loop, and return what scores rows."""
    from joblib import Parallel, delayed  # noqa: PLC0415 (only where it is measured)
    from sklearn.tree import ExtraTreeClassifier  # noqa: PLC0415

    rows = X if issparse(X) else np.ascontiguousarray(X, dtype=np.float32)
    positives, unlabelled = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
    n_unl = min(unlabelled.size, _BAG_RATIO * positives.size)
    labels = np.repeat([1, 0], [positives.size, n_unl])

    def grow(tree: int) -> Any:
        rng = np.random.default_rng([seed, tree])
        drawn = [rng.choice(positives, positives.size), rng.choice(unlabelled, n_unl, replace=False)]
        grown = ExtraTreeClassifier(
            min_samples_leaf=_MIN_LEAF_ROWS, class_weight="balanced", random_state=int(rng.integers(2**31))
        )
        return grown.fit(rows[np.concatenate(drawn)], labels)

    trees = Parallel(n_jobs=n_threads, prefer="threads")(delayed(grow)(tree) for tree in range(n_trees))

    def score(other: Any) -> NDArray[np.float64]:
        single = np.ascontiguousarray(other, dtype=np.float32)
        return np.mean([tree.predict_proba(single)[:, 1] for tree in trees], axis=0)

    return score


def _forest(**options: Any) -> Learner:
    def learn(X: Any, is_labelled: NDArray[np.bool_], n_threads: int, seed: int) -> Scorer:
        model = fastpu.fit_forest(X, is_labelled, n_threads=n_threads, random_state=seed, **options)
        return partial(model.decision_function, n_threads=n_threads)

    return learn


def _learners(prior: float) -> dict[str, Learner]:
    """Return the learners of the quality table by the names that stand in it; the prior is the true one."""
    return {
        "fit_forest": _forest(),
        "fit_forest, nnpu": _forest(loss="nnpu", prior=prior),
        "loop over ExtraTreeClassifier": _loop_of_trees,
        "LightGBM": lightgbm_learner(),
        "LightGBM, 8 leaves, rate .05": lightgbm_learner(num_leaves=8, learning_rate=0.05),
    }


# ---- Measures --------------------------------------------------------------------------------------------------------


def quality(
    *, data: str, set: str, positive: str, share: float, split: int, max_rows: int, n_threads: int,  # noqa: A002
) -> list[Row]:  # fmt: skip
    """How each learner ranks the test rows of a split of a real table."""
    X, truth = load(Path(data) / f"{set}.csv.gz", positive)
    problem = draw(X, truth, scaling="standardised", share=share, seed=split, max_rows=max_rows)
    return judge(_learners(problem.prior), problem, n_threads, split)


def _labelled(n: int, n_pos: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return rows of which so many positive ones are labelled."""
    rows = make_rows(n)
    is_labelled = np.zeros(n, dtype=np.bool_)
    is_labelled[np.flatnonzero(rows.truth > 0)[:n_pos]] = True
    return rows.X, is_labelled


def fits(*, n: int, n_pos: int, n_trees: int, repeats: int, n_threads: int) -> list[Row]:
    """A fit, and a loop over scikit-learn's trees on such bags."""
    X, is_labelled = _labelled(n, n_pos)
    test = make_rows(50_000, seed=1)

    def ours(trees: int) -> Scorer:
        model = fastpu.fit_forest(X, is_labelled, n_trees=trees, n_threads=n_threads, **_AS_THE_LOOP)
        return partial(model.decision_function, n_threads=n_threads)

    def loop(trees: int) -> Scorer:
        return _loop_of_trees(X, is_labelled, n_threads, 0, n_trees=trees)

    works = {"fit_forest": ours, "loop over ExtraTreeClassifier": loop}
    return alternate(
        {name: partial(work, n_trees) for name, work in works.items()},
        repeats,
        warm_up={name: partial(work, 2) for name, work in works.items()},
        judge=lambda _, score: {"AUC": fastpu.metrics.auc(test.truth, score(test.X))},
    )


def wide(*, table: str, n: int, n_trees: int, repeats: int, n_threads: int) -> list[Row]:
    """A fit on many columns, and a loop over scikit-learn's trees on such bags."""
    X, y = labelled(table, n, n // 100 if table == "embeddings" else n // 50)
    works: dict[str, Callable[[int], Any]] = {
        "fit_forest": lambda trees: fastpu.fit_forest(X, y, n_trees=trees, n_threads=n_threads, **_AS_THE_LOOP),
        "loop over ExtraTreeClassifier": lambda trees: _loop_of_trees(X, y == 1, n_threads, 0, n_trees=trees),
    }
    clock = time.process_time if n_threads == 1 else time.perf_counter
    return alternate(
        {name: partial(timed, partial(work, n_trees), clock) for name, work in works.items()},
        repeats,
        warm_up={name: partial(work, 2) for name, work in works.items()},
    )
