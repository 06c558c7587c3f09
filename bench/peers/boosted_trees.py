"""fit_boosted_trees against LightGBM and XGBoost on the same bins, leaves and rounds, and bags against a loop.

Rows: n x 50 normal float32; `bags` also 20,000 x 768 embeddings, of which 200 are labelled, and `sparse` 100,000 x
2,048 binary fingerprints in CSR, of which 2,000 are. Times of one thread are processor time, which neighbours on the
machine disturb least.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, Timed, alternate, peak_bytes, timed
from workload import labelled, make_rows

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ("lightgbm", "xgboost")
SETTINGS = {
    "n": [200_000, 1_000_000],
    "rounds": 20,
    "bag_rows": 200_000,
    "wide": 20_000,
    "sparse": 100_000,
    "repeats": 3,
}
QUICK = {"n": [600], "rounds": 3, "bag_rows": 600, "wide": 400, "sparse": 400, "repeats": 1}
_LEAVES, _RATE, _BINS = 31, 0.1, 255


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for n_threads in run.threads:
        shared = {"n_threads": n_threads, "repeats": run.repeats}
        for n in run.n:
            yield Case(trees, n=n, rounds=run.rounds, **shared)
            yield Case(scores, n=n, **shared)
        yield Case(bags, table="normal", n=run.bag_rows, n_pos=min(1500, run.bag_rows // 20), **shared)
        yield Case(bags, table="embeddings", n=run.wide, n_pos=run.wide // 100, **shared)
        yield Case(sparse, n=run.sparse, rounds=run.rounds, **shared)
    yield Case(memory, n=run.n[-1], n_threads=run.threads[-1])


def _clock(n_threads: int) -> Callable[[], float]:
    return time.process_time if n_threads == 1 else time.perf_counter


def _labelled(n: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    rows = make_rows(n, seed=seed)
    is_labelled = (rows.truth > 0) & (np.random.default_rng(seed).random(n) < 0.3)
    return rows.X, is_labelled.astype(np.int8)


class _Boosters:
    """Boosters of one set of rows, which tell when each round ended."""

    def __init__(self, n: int, n_threads: int) -> None:
        import lightgbm  # noqa: PLC0415 (only where it is measured)
        import xgboost  # noqa: PLC0415

        self.X, self.y = _labelled(n)
        self.n_threads, self.clock = n_threads, _clock(n_threads)
        self.bins = fastpu.bin_features(self.X, max_bins=_BINS)
        self.for_lightgbm = lightgbm.Dataset(
            self.X, self.y, params={"max_bin": _BINS, "verbose": -1, "feature_pre_filter": False}
        ).construct()
        self.for_xgboost = xgboost.QuantileDMatrix(self.X, self.y, max_bin=_BINS + 1)
        self.contenders = {"fastpu": self.fastpu, "LightGBM": self.lightgbm, "XGBoost": self.xgboost}

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


def trees(*, n: int, rounds: int, repeats: int, n_threads: int) -> list[Row]:
    """A tree of 31 leaves on 50 features: the median of all rounds of a fit, binning left out."""

    def a_round(boost: Callable[[int, list[float]], Any]) -> Timed:
        stamps: list[float] = []
        model = boost(rounds, stamps)
        return Timed(float(np.median(np.diff(stamps))), model)

    contenders = _Boosters(n, n_threads).contenders
    return alternate({name: partial(a_round, boost) for name, boost in contenders.items()}, repeats)


def scores(*, n: int, repeats: int, n_threads: int) -> list[Row]:
    """Scores by 100 trees of 31 leaves."""
    rows = _labelled(n, seed=1)[0]
    contenders = _Boosters(min(n, 50_000), n_threads).contenders
    ours, light, extreme = (boost(100, []) for boost in contenders.values())
    works: dict[str, Callable[[], Any]] = {
        "fastpu": partial(ours.decision_function, rows, n_threads=n_threads),
        "LightGBM": partial(light.predict, rows, raw_score=True, num_threads=n_threads),
        "XGBoost": partial(extreme.inplace_predict, rows, predict_type="margin"),
    }
    return alternate({name: partial(timed, work, _clock(n_threads)) for name, work in works.items()}, repeats)


def bags(*, table: str, n: int, n_pos: int, repeats: int, n_threads: int) -> list[Row]:
    """20 bags of 100 trees of 8 leaves on all positive rows and three times as many of U each, from raw rows.

    Binning and out-of-bag scores are ours; the loop over LightGBM makes these scores or not.
    """
    import lightgbm  # noqa: PLC0415 (only where it is measured)

    X, y = labelled(table, n, n_pos)
    rng = np.random.default_rng(0)
    positives, others = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    drawn = [np.concatenate([positives, rng.choice(others, 3 * positives.size, replace=False)]) for _ in range(20)]
    options = {"objective": "binary", "num_leaves": 8, "learning_rate": 0.05, "verbose": -1, "num_threads": n_threads}

    def loop(*, with_scores: bool) -> None:
        for bag in drawn:
            data = lightgbm.Dataset(X[bag], y[bag], params={"verbose": -1, "num_threads": n_threads})
            model = lightgbm.train(options, data, 100)
            if with_scores:
                left_out = np.ones(n, np.bool_)
                left_out[bag] = False
                model.predict(X[left_out], raw_score=True, num_threads=n_threads)

    works: dict[str, Callable[[], Any]] = {
        "fastpu": partial(fastpu.fit_boosted_trees, X, y, loss="logistic", n_bags=20, bag_ratio=3.0,
                          random_state=0, n_threads=n_threads),
        "loop over LightGBM": partial(loop, with_scores=False),
        "loop with scores": partial(loop, with_scores=True),
    }  # fmt: skip
    return alternate({name: partial(timed, work, _clock(n_threads)) for name, work in works.items()}, repeats)


def sparse(*, n: int, rounds: int, repeats: int, n_threads: int) -> list[Row]:
    """Trees of 31 leaves on binary fingerprints in CSR, from raw rows."""
    import lightgbm  # noqa: PLC0415 (only where it is measured)
    import xgboost  # noqa: PLC0415

    X, y = labelled("fingerprints", n, n // 50)
    light = {"objective": "binary", "num_leaves": _LEAVES, "learning_rate": _RATE, "verbose": -1,
             "num_threads": n_threads}  # fmt: skip
    extreme = {"objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0,
               "max_leaves": _LEAVES, "eta": _RATE, "nthread": n_threads}  # fmt: skip
    works: dict[str, Callable[[], Any]] = {
        "fastpu": partial(fastpu.fit_boosted_trees, X, y, loss="logistic", n_rounds=rounds, learning_rate=_RATE,
                          max_leaves=_LEAVES, n_threads=n_threads),
        "LightGBM": lambda: lightgbm.train(light, lightgbm.Dataset(X, y, params=light), rounds),
        "XGBoost": lambda: xgboost.train(extreme, xgboost.QuantileDMatrix(X, y, nthread=n_threads), rounds),
    }  # fmt: skip
    return alternate({name: partial(timed, work, _clock(n_threads)) for name, work in works.items()}, repeats)


def memory(*, n: int, n_threads: int) -> list[Row]:
    """Peak memory of a fit, the float32 rows included, in their bytes."""
    fastpu.fit_boosted_trees(*_labelled(1000), n_rounds=2, n_threads=n_threads)
    X, y = _labelled(n)
    before = peak_bytes() - X.nbytes
    fastpu.fit_boosted_trees(X, y, n_rounds=5, max_leaves=_LEAVES, n_threads=n_threads)
    return [{"peak / rows": (peak_bytes() - before) / X.nbytes}]
