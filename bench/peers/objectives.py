"""fastpu's objectives within LightGBM and XGBoost: their part of the time of a tree.

For every tree, the time inside the objective and the rest, which is the library's own, are taken from the same round,
after two trees to warm up, with the AUC of the positive rows against all others.

Rows: normal float32; positive where five features, the sign of a sixth and noise sum above 0; 5 % of the positives are
labelled. The libraries' defaults (31 leaves; depth 6), 255 bins. --threads are the library's; the objective takes as
many as it takes by default.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, is_there, timed

from fastpu import metrics, objectives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ()
SETTINGS = {"n": 1_000_000, "features": 20, "rounds": 30}
QUICK = {"n": 2000, "rounds": 2}
_WARM_UP = 2  # trees
_LOSSES: dict[str, dict[str, float]] = {"pnu_auc": {}, "logistic": {}, "upu": {"prior": 0.5}}


class _Watched:
    """An objective that notes how long its last call took."""

    def __init__(self, objective: objectives.Objective) -> None:
        self._objective = objective
        self.seconds = 0.0

    def __call__(self, scores: Any, data: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        start = time.perf_counter()
        found = self._objective(scores, data)
        self.seconds = time.perf_counter() - start
        return found


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for n_threads in run.threads:
        for library in _LIBRARIES:
            for loss in _LOSSES if is_there(library, "objectives", "it") else ():
                yield Case(
                    trees, library=library, loss=loss, n=run.n, d=run.features, rounds=run.rounds, n_threads=n_threads
                )


def _rows(n: int, n_features: int) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.bool_]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, n_features), dtype=np.float32)
    truth = X[:, :5].sum(axis=1) + np.sign(X[:, 5]) + 2 * rng.standard_normal(n) > 0
    return X, (truth & (rng.random(n) < 0.05)).astype(np.int8), truth


def _lightgbm(X: Any, y: Any, timed: _Watched, n_threads: int) -> tuple[Callable[[int], None], Callable[[], Any]]:
    import lightgbm  # noqa: PLC0415

    params = {"objective": "none", "num_threads": n_threads, "verbosity": -1, "metric": "None"}
    booster = lightgbm.Booster(params, lightgbm.Dataset(X, y, params=params).construct())
    return lambda _: booster.update(fobj=timed), lambda: booster.predict(X, num_threads=n_threads)


def _xgboost(X: Any, y: Any, timed: _Watched, n_threads: int) -> tuple[Callable[[int], None], Callable[[], Any]]:
    import xgboost  # noqa: PLC0415

    data = xgboost.QuantileDMatrix(X, y, nthread=n_threads, max_bin=255)
    params = {"nthread": n_threads, "max_bin": 255, "base_score": 0}
    booster = xgboost.Booster(params, [data])
    return lambda k: booster.update(data, k, fobj=timed), lambda: booster.inplace_predict(X)


_LIBRARIES = {"lightgbm": _lightgbm, "xgboost": _xgboost}


def trees(*, library: str, loss: str, n: int, d: int, rounds: int, n_threads: int) -> list[Row]:
    """A tree: the library's own time and that of the objective, and the AUC."""
    X, y, truth = _rows(n, d)
    watched = _Watched(getattr(objectives, loss)(y, **_LOSSES[loss]))
    update, predict = _LIBRARIES[library](X, y, watched, n_threads)
    own, ours = [], []
    for k in range(_WARM_UP + rounds):
        seconds, _ = timed(partial(update, k))
        if k >= _WARM_UP:
            ours.append(watched.seconds)
            own.append(seconds - watched.seconds)
    return [{"": "the library", "seconds": own, "AUC": metrics.auc(truth, predict())},
            {"": "the objective", "seconds": ours}]  # fmt: skip
