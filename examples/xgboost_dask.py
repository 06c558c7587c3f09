"""XGBoost on Dask with a loss of fastpu: workers hold some of the rows each, and the loss sees those of all.

The rows are simulated on the workers of this machine (--workers), or on those of a cluster that runs (--scheduler): one
in ten is positive, and one positive in twenty is labelled. `objectives.pnu_auc()`, made without y, takes the labels of
every worker's own rows; the means over groups go through the sums over workers that XGBoost has for its histograms.
So the derivatives are those of all rows together, bit for bit, and a worker need not have a positive row. (The trees
are not quite those of one process: XGBoost's cuts and sums depend on how the rows are divided.)

    python examples/xgboost_dask.py
    python examples/xgboost_dask.py --rows 10000000 --scheduler tcp://10.0.0.1:8786
"""

from __future__ import annotations

import argparse
import contextlib
import time
from typing import TYPE_CHECKING, Any

import dask
import dask.array
import numpy as np
import xgboost
import xgboost.dask
from distributed import Client, LocalCluster

from fastpu import metrics, objectives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

COLUMNS = 10
BLOCK = 50_000  # rows of a partition


def block(first: int, n: int) -> NDArray[np.float32]:
    """Return rows of the features, then whether the row is positive, and whether it is labelled."""
    rng = np.random.default_rng(first)
    X = rng.standard_normal((n, COLUMNS))
    truth = X[:, 0] * X[:, 1] + X[:, 2] + rng.logistic(scale=0.3, size=n) > 1.8
    labelled = truth & (rng.random(n) < 0.05)
    return np.column_stack([X, truth, labelled]).astype(np.float32)


def simulated(n: int) -> Any:
    """Return a Dask array of such rows, which are made where they are needed."""
    sizes = [min(BLOCK, n - first) for first in range(0, n, BLOCK)]
    parts = [dask.delayed(block)(k * BLOCK, size) for k, size in enumerate(sizes)]
    arrays = [
        dask.array.from_delayed(part, (size, COLUMNS + 2), np.float32) for part, size in zip(parts, sizes, strict=True)
    ]
    return dask.array.concatenate(arrays)


@contextlib.contextmanager
def cluster(options: argparse.Namespace) -> Iterator[Client]:
    if options.scheduler:
        with Client(options.scheduler) as client:
            yield client
        return
    local = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=":0")
    with local, Client(local) as client:
        yield client


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=400_000, help="simulated rows (%(default)s)")
    parser.add_argument("--rounds", type=int, default=60, help="trees (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes on this machine (%(default)s)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a cluster that runs, in place of such processes")
    options = parser.parse_args()
    params = {"max_depth": 4, "eta": 0.1, "base_score": 0, "disable_default_eval_metric": True}
    with cluster(options) as client:
        table = client.persist(simulated(options.rows))
        X, y = table[:, :COLUMNS], table[:, COLUMNS + 1]
        start = time.perf_counter()
        data = xgboost.dask.DaskQuantileDMatrix(client, X, y)
        objective = objectives.pnu_auc()
        found = xgboost.dask.train(client, params, data, num_boost_round=options.rounds, obj=objective)
        seconds = time.perf_counter() - start
        scores = xgboost.dask.predict(client, found["booster"], X).compute()
        rows = table.compute()
    truth, labels = rows[:, COLUMNS] > 0, rows[:, COLUMNS + 1]
    hidden = labels == 0
    area = metrics.auc(truth[hidden], scores[hidden])
    print(f"{options.rows:,} rows, {int(labels.sum()):,} labelled; {options.rounds} trees in {seconds:.1f} s")
    print(f"AUC of hidden positives among unlabelled rows: {area:.3f}")


if __name__ == "__main__":
    main()
