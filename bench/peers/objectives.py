"""Time fastpu's objectives within LightGBM and XGBoost: their part of the time of a tree.

python bench/peers/objectives.py [--n 1000000] [--features 20] [--rounds 30] [--threads 1 2] [--output FILE.json]

Needs fastpu, and LightGBM or XGBoost, or both, in one environment, and nothing else at work on the machine. For every
tree, the time inside the objective and the rest, which is the library's own, are taken from the same round; the medians
of both are printed, after two trees to warm up, with the AUC of the positive rows against all others.

Rows: normal float32; positive where five features, the sign of a sixth and noise sum above 0; 5 % of the positives are
labelled. The libraries' defaults (31 leaves; depth 6), 255 bins. --threads are the library's; the objective takes as
many as it takes by default.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu import metrics, objectives

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_WARM_UP = 2  # trees
_GOAL = 0.1  # of the library's own time


class _Timed:
    """An objective that notes how long its last call took."""

    def __init__(self, objective: objectives.Objective) -> None:
        self._objective = objective
        self.seconds = 0.0

    def __call__(self, scores: Any, data: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        start = time.perf_counter()
        found = self._objective(scores, data)
        self.seconds = time.perf_counter() - start
        return found


def _rows(n: int, n_features: int) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.bool_]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, n_features), dtype=np.float32)
    truth = X[:, :5].sum(axis=1) + np.sign(X[:, 5]) + 2 * rng.standard_normal(n) > 0
    return X, (truth & (rng.random(n) < 0.05)).astype(np.int8), truth


def _lightgbm(X: Any, y: Any, timed: _Timed, n_threads: int) -> tuple[Callable[[int], None], Callable[[], Any]]:
    import lightgbm  # noqa: PLC0415

    params = {"objective": "none", "num_threads": n_threads, "verbosity": -1, "metric": "None"}
    booster = lightgbm.Booster(params, lightgbm.Dataset(X, y, params=params).construct())
    return lambda _: booster.update(fobj=timed), lambda: booster.predict(X, num_threads=n_threads)


def _xgboost(X: Any, y: Any, timed: _Timed, n_threads: int) -> tuple[Callable[[int], None], Callable[[], Any]]:
    import xgboost  # noqa: PLC0415

    data = xgboost.QuantileDMatrix(X, y, nthread=n_threads, max_bin=255)
    params = {"nthread": n_threads, "max_bin": 255, "base_score": 0}
    booster = xgboost.Booster(params, [data])
    return lambda k: booster.update(data, k, fobj=timed), lambda: booster.inplace_predict(X)


_LIBRARIES = {"lightgbm": _lightgbm, "xgboost": _xgboost}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        "objectives", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=1_000_000, help="rows (default: %(default)s)")
    parser.add_argument("--features", type=int, default=20, help="features (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=30, help="trees that are timed (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="threads of the library")
    parser.add_argument("--output", type=Path, help="file for every single time, as JSON")
    options = parser.parse_args(argv)
    libraries = [name for name in _LIBRARIES if find_spec(name) is not None]
    if not libraries:
        print("objectives: install lightgbm or xgboost first", file=sys.stderr)
        return 2
    X, y, truth = _rows(options.n, options.features)
    found = []
    print("| library | loss | threads | a tree, ms | of it the objective, ms | objective / the rest | AUC |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for n_threads in options.threads:
        made = {
            "pnu_auc": objectives.pnu_auc(y),
            "logistic": objectives.logistic(y),
            "upu": objectives.upu(y, prior=0.5),
            "nnpu": objectives.nnpu(y, prior=0.5),
        }
        for library in libraries:
            for loss, objective in made.items():
                timed = _Timed(objective)
                update, predict = _LIBRARIES[library](X, y, timed, n_threads)
                own, ours = [], []
                for k in range(_WARM_UP + options.rounds):
                    start = time.perf_counter()
                    update(k)
                    seconds = time.perf_counter() - start
                    if k >= _WARM_UP:
                        ours.append(timed.seconds)
                        own.append(seconds - timed.seconds)
                rest, inside = 1e3 * statistics.median(own), 1e3 * statistics.median(ours)
                auc = metrics.auc(truth, predict())
                print(
                    f"| {library} | {loss} | {n_threads} | {rest + inside:.1f} | {inside:.2f} | {inside / rest:.3f} "
                    f"| {auc:.3f} |",
                    flush=True,
                )
                found.append({"library": library, "loss": loss, "threads": n_threads, "own": own, "objective": ours})
    print(f"\n{options.n:,} rows, {options.features} features, {options.rounds} trees; goal: at most {_GOAL}.")
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
