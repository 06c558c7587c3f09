"""fastpu.dask beside the Dask interfaces of LightGBM and XGBoost, on one cluster of this machine's processes.

    python bench/dask/peers.py [--rows 500000] [--rounds 20 60] [--workers 2] [--repeats 3] [--output DIR]

Needs dask, distributed, lightgbm and xgboost. Rows are normal float32 of 50 columns, one in a hundred labelled; workers
have one thread each. Every learner is fitted with each number of rounds, in turns; the time of a round is the slope
between them, and what is left at no rounds is the set-up (cuts, codes, connections). "One machine" is the same fit in
this process with as many threads as there are workers. The last columns compare the scores of the two models: whether
they are equal to the bit, and their greatest difference in units of the scores' standard deviation.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array
import lightgbm
import lightgbm.dask
import numpy as np
import xgboost
import xgboost.dask
from distributed import Client, LocalCluster

import fastpu
import fastpu.dask
from fastpu.common._methods import function_of

sys.path.append(str(Path(__file__).resolve().parents[1]))

from shared import Parser, machine, table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

COLUMNS = 50
LEAVES = 8
RATE = 0.05
JUDGED = 20_000  # rows whose scores are compared


class Learner(NamedTuple):
    """``on_cluster(X, y, n_rounds)`` and ``alone(...)`` return a function from rows to scores."""

    name: str
    on_cluster: Callable[[Any, Any, int], Callable[[Any], NDArray[np.float64]]]
    alone: Callable[[Any, Any, int], Callable[[Any], NDArray[np.float64]]]


def fastpu_learner(name: str, function: str, n_threads: int, **options: Any) -> Learner:
    def on_cluster(X: Any, y: Any, n_rounds: int) -> Any:
        return getattr(fastpu.dask, function)(X, y, n_rounds=n_rounds, **options).decision_function

    def alone(X: Any, y: Any, n_rounds: int) -> Any:
        return function_of(function)(X, y, n_rounds=n_rounds, n_threads=n_threads, **options).decision_function

    return Learner(name, on_cluster, alone)


def lightgbm_learner(n_threads: int) -> Learner:
    options: dict[str, Any] = {"num_leaves": LEAVES, "learning_rate": RATE, "verbosity": -1, "random_state": 0}

    def on_cluster(X: Any, y: Any, n_rounds: int) -> Any:
        model = lightgbm.dask.DaskLGBMClassifier(n_estimators=n_rounds, tree_learner="data", **options).fit(X, y)
        return lambda rows: model.booster_.predict(rows, raw_score=True)

    def alone(X: Any, y: Any, n_rounds: int) -> Any:
        model = lightgbm.LGBMClassifier(n_estimators=n_rounds, n_jobs=n_threads, **options).fit(X, y)
        return lambda rows: model.booster_.predict(rows, raw_score=True)

    return Learner("LightGBM", on_cluster, alone)


def xgboost_learner(n_threads: int, client: Any) -> Learner:
    options = {"tree_method": "hist", "max_leaves": LEAVES, "grow_policy": "lossguide", "max_depth": 0, "eta": RATE}
    options |= {"objective": "binary:logistic", "base_score": 0.5}

    def scores(booster: Any) -> Any:
        return lambda rows: booster.predict(xgboost.DMatrix(rows), output_margin=True)

    def on_cluster(X: Any, y: Any, n_rounds: int) -> Any:
        data = xgboost.dask.DaskQuantileDMatrix(client, X, y)
        return scores(xgboost.dask.train(client, options, data, num_boost_round=n_rounds)["booster"])

    def alone(X: Any, y: Any, n_rounds: int) -> Any:
        data = xgboost.QuantileDMatrix(X, y, nthread=n_threads)
        return scores(xgboost.train(options | {"nthread": n_threads}, data, num_boost_round=n_rounds))

    return Learner("XGBoost", on_cluster, alone)


def on_workers(client: Client, values: NDArray[Any], chunk: int) -> Any:
    """Return rows as a Dask array whose chunks are on the workers."""
    futures = client.scatter([values[first : first + chunk] for first in range(0, len(values), chunk)], hash=False)
    sizes = [min(chunk, len(values) - first) for first in range(0, len(values), chunk)]
    parts = [
        dask.array.from_delayed(future, (size, *values.shape[1:]), values.dtype)
        for future, size in zip(futures, sizes, strict=True)
    ]
    return client.persist(dask.array.concatenate(parts))


def measure(options: argparse.Namespace) -> list[list[str]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((options.rows, COLUMNS), dtype=np.float32)
    truth = X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=options.rows) > 2
    y = (truth & (rng.random(options.rows) < 0.05)).astype(np.int8)
    few, many = sorted(options.rounds)
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        chunk = -(-options.rows // (2 * options.workers))
        far_X, far_y = on_workers(client, X, chunk), on_workers(client, y, chunk)
        learners = [
            fastpu_learner("fastpu, trees", "fit_boosted_trees", options.workers, max_leaves=LEAVES),
            fastpu_learner("fastpu, stumps", "fit_pnu_auc_boost", options.workers, max_bins=255),
            lightgbm_learner(options.workers),
            xgboost_learner(options.workers, client),
        ]
        for learner in learners:  # workers import what they need
            learner.on_cluster(far_X, far_y, 1)
        times: dict[tuple[str, str, int], list[float]] = {}
        scores: dict[tuple[str, str], NDArray[np.float64]] = {}
        for _ in range(options.repeats):
            for learner in learners:
                for n_rounds in (few, many):
                    for where, fit, rows in (
                        ("cluster", learner.on_cluster, (far_X, far_y)),
                        ("alone", learner.alone, (X, y)),
                    ):
                        start = time.perf_counter()
                        predict = fit(*rows, n_rounds)
                        times.setdefault((learner.name, where, n_rounds), []).append(time.perf_counter() - start)
                        scores[learner.name, where] = np.asarray(predict(X[:JUDGED]))
                print(f"{learner.name}: done", file=sys.stderr, flush=True)
    found = []
    for learner in learners:
        cells = [learner.name]
        for where in ("cluster", "alone"):
            at_few, at_many = (statistics.median(times[learner.name, where, n]) for n in (few, many))
            a_round = (at_many - at_few) / (many - few)
            cells += [f"{1000 * a_round:.1f}", f"{at_few - few * a_round:.2f}"]
        far, near = scores[learner.name, "cluster"], scores[learner.name, "alone"]
        cells += ["yes" if np.array_equal(far, near) else "no", f"{np.abs(far - near).max() / near.std():.1e}"]
        found.append(cells)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("peers", __doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, nargs=2, default=[20, 60], help="numbers of rounds (default: 20 60)")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="runs in turns, of which the median counts")
    parser.add_argument("--output", type=Path, help="folder for dask_peers.md")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore", UserWarning)  # LightGBM and XGBoost tell of their defaults
    few, many = options.rounds
    title = (
        f"{options.rows:,} x {COLUMNS} float32, {LEAVES} leaves, {options.workers} workers of one thread, "
        f"{few} and {many} rounds, median of {options.repeats}"
    )
    heads = ["", "ms a round", "set-up, s", "one machine: ms a round", "set-up, s", "same bits", "difference / sd"]
    report = table(heads, measure(options), title=title)
    print(machine("dask", "distributed", "lightgbm", "xgboost"), report, sep="\n\n")
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "dask_peers.md").write_text(f"{report}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
