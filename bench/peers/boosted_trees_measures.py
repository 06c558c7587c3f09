"""The measurements of boosted_trees.py, each run in a process of its own.

python boosted_trees_measures.py NAME '{"option": value, ...}' prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from running import peak_bytes
from workload import make_rows

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_LEAVES, _RATE, _BINS = 31, 0.1, 255


def _clock(n_threads: int) -> Callable[[], float]:
    return time.process_time if n_threads == 1 else time.perf_counter


def _timed(work: Callable[[], Any], n_threads: int) -> tuple[float, Any]:
    clock = _clock(n_threads)
    start = clock()
    result = work()
    return clock() - start, result


def _labelled(n: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    rows = make_rows(n, seed=seed)
    is_labelled = (rows.truth > 0) & (np.random.default_rng(seed).random(n) < 0.3)
    return rows.X, is_labelled.astype(np.int8)


class _Rounds:
    """Boosters that tell when each round ended."""

    def __init__(self, n: int, n_threads: int) -> None:
        import lightgbm  # noqa: PLC0415 (only where it is wanted)
        import xgboost  # noqa: PLC0415

        self.X, self.y = _labelled(n)
        self.n_threads, self.clock = n_threads, _clock(n_threads)
        self.bins = fastpu.bin_features(self.X, max_bins=_BINS)
        self.for_lightgbm = lightgbm.Dataset(
            self.X, self.y, params={"max_bin": _BINS, "verbose": -1, "feature_pre_filter": False}
        ).construct()
        self.for_xgboost = xgboost.QuantileDMatrix(self.X, self.y, max_bin=_BINS + 1)

    def fastpu(self, rounds: int, stamps: list[float]) -> Any:
        return fastpu.fit_boosted_trees(
            self.bins, self.y, loss="logistic", n_rounds=rounds, learning_rate=_RATE, max_leaves=_LEAVES,
            n_threads=self.n_threads, callback=lambda _: stamps.append(self.clock()),
        )  # fmt: skip

    def lightgbm(self, rounds: int, stamps: list[float]) -> Any:
        import lightgbm  # noqa: PLC0415

        options = {"objective": "binary", "num_leaves": _LEAVES, "learning_rate": _RATE, "verbose": -1,
                   "num_threads": self.n_threads, "max_bin": _BINS}  # fmt: skip
        return lightgbm.train(options, self.for_lightgbm, rounds, callbacks=[lambda _: stamps.append(self.clock())])

    def xgboost(self, rounds: int, stamps: list[float]) -> Any:
        import xgboost  # noqa: PLC0415

        clock = self.clock

        class Watch(xgboost.callback.TrainingCallback):
            def after_iteration(self, *_: Any) -> bool:
                stamps.append(clock())
                return False

        options = {"objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0,
                   "max_leaves": _LEAVES, "eta": _RATE, "nthread": self.n_threads, "max_bin": _BINS + 1}  # fmt: skip
        return xgboost.train(options, self.for_xgboost, rounds, callbacks=[Watch()])


def trees(*, n: int, rounds: int, repeats: int, n_threads: int) -> dict[str, Any]:
    """Seconds of a round: of each repeat the median."""
    boosters = _Rounds(n, n_threads)
    times: dict[str, list[float]] = {"fastpu": [], "lightgbm": [], "xgboost": []}
    for _ in range(repeats):
        for name, found in times.items():
            stamps: list[float] = []
            getattr(boosters, name)(rounds, stamps)
            found.append(float(np.median(np.diff(stamps))))
    return {"seconds": times}


def scores(*, n: int, repeats: int, n_threads: int) -> dict[str, Any]:
    """Seconds to score rows by 100 trees."""
    boosters = _Rounds(min(n, 50_000), n_threads)
    rows = _labelled(n, seed=1)[0]
    ours, light, extreme = (getattr(boosters, name)(100, []) for name in ("fastpu", "lightgbm", "xgboost"))
    contenders = {
        "fastpu": lambda: ours.decision_function(rows, n_threads=n_threads),
        "lightgbm": lambda: light.predict(rows, raw_score=True, num_threads=n_threads),
        "xgboost": lambda: extreme.inplace_predict(rows, predict_type="margin"),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, score in contenders.items():
            times[name].append(_timed(score, n_threads)[0])
    return {"seconds": times}


def bags(*, n: int, repeats: int, n_threads: int) -> dict[str, Any]:
    """Seconds of 20 bags from raw rows: binning and out-of-bag scores are ours, the loop has them or not."""
    import lightgbm  # noqa: PLC0415

    rows = make_rows(n, seed=0)
    rng = np.random.default_rng(0)
    positives = rng.permutation(np.flatnonzero(rows.truth > 0))[: min(1500, n // 20)]
    y = np.zeros(n, np.int8)
    y[positives] = 1
    others = np.flatnonzero(y == 0)
    ratio = 3.0
    drawn = [np.concatenate([positives, rng.choice(others, int(ratio) * positives.size, replace=False)])
             for _ in range(20)]  # fmt: skip
    options = {"objective": "binary", "num_leaves": 8, "learning_rate": 0.05, "verbose": -1, "num_threads": n_threads}

    def loop(*, with_scores: bool) -> None:
        for bag in drawn:
            data = lightgbm.Dataset(rows.X[bag], y[bag], params={"verbose": -1, "num_threads": n_threads})
            model = lightgbm.train(options, data, 100)
            if with_scores:
                left_out = np.ones(n, np.bool_)
                left_out[bag] = False
                model.predict(rows.X[left_out], raw_score=True, num_threads=n_threads)

    contenders: dict[str, Callable[[], Any]] = {
        "fastpu": lambda: fastpu.fit_boosted_trees(
            rows.X, y, loss="logistic", n_bags=20, bag_ratio=ratio, random_state=0, n_threads=n_threads
        ),
        "loop": lambda: loop(with_scores=False),
        "loop with scores": lambda: loop(with_scores=True),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, work in contenders.items():
            times[name].append(_timed(work, n_threads)[0])
    return {"seconds": times}


def memory(*, n: int, n_threads: int) -> dict[str, Any]:
    """Peak of a fit over the rows, these included."""
    X, y = _labelled(1000)
    fastpu.fit_boosted_trees(X, y, n_rounds=2, n_threads=n_threads)
    X, y = _labelled(n)
    before = peak_bytes() - X.nbytes
    fastpu.fit_boosted_trees(X, y, n_rounds=5, max_leaves=_LEAVES, n_threads=n_threads)
    return {"ratio": (peak_bytes() - before) / X.nbytes}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](**json.loads(sys.argv[2]))))
