"""The measurements, each run in a process of its own.

python stump_boost_measures.py NAME '{"option": value, ...}' prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import peak_bytes, timed
from stump_boosters import CONTENDERS, Contender, Fastpu
from workload import Rows, make_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TEST_ROWS = 100_000
_FEW, _MANY = 100, 300  # a round is the difference of two fits: what they do once cancels out


def _seconds_per_round(contender: Contender, prepared: Any) -> tuple[float, Any]:
    few, _ = timed(partial(contender.train, prepared, _FEW))
    many, model = timed(partial(contender.train, prepared, _MANY))
    if contender.n_stumps(model) != _MANY:
        raise RuntimeError(f"{contender.name} stopped after {contender.n_stumps(model)} of {_MANY} rounds")
    return (many - few) / (_MANY - _FEW), model


def _auc(contender: Contender, model: Any, test: Rows) -> float:
    from fastpu.metrics import auc  # noqa: PLC0415 (not where memory is measured)

    return auc(test.truth, contender.scores(model, test.X))


def rounds(*, n: int, names: Sequence[str], judged: Sequence[str], n_threads: int, repeats: int) -> dict[str, Any]:
    """Seconds of a round for each contender, alternating; AUC of the models of 300 rounds on other rows.

    Contenders in `judged` are not timed.
    """
    rows, test = make_rows(n), make_rows(_TEST_ROWS, seed=1)
    contenders = [CONTENDERS[name](n_threads) for name in names]
    prepared = [contender.prepare(rows) for contender in contenders]
    for contender, data in zip(contenders, prepared, strict=True):
        contender.train(data, 20)
    times: dict[str, list[float]] = {name: [] for name in names}
    quality: dict[str, float] = {}
    result: dict[str, Any] = {"seconds": times, "auc": quality}
    for repeat in range(repeats):
        for contender, data in zip(contenders, prepared, strict=True):
            seconds, model = _seconds_per_round(contender, data)
            times[contender.name].append(seconds)
            if repeat == 0:
                quality[contender.name] = _auc(contender, model, test)
                if contender.name == Fastpu.name:
                    result["small_side"] = _small_side(model, data[0])
    for name in judged:
        contender = CONTENDERS[name](n_threads)
        quality[name] = _auc(contender, contender.train(contender.prepare(rows), _MANY), test)
    return result


def _small_side(model: Any, binned: Any) -> float:
    """Return the mean share of rows on the smaller side of a model's stumps."""
    above = {}
    for feature in set(model.features.tolist()):
        cuts = binned.cuts[feature]
        counts = np.bincount(binned.column(feature), minlength=cuts.size + 1)
        above[feature] = (cuts, 1 - np.cumsum(counts) / binned.n_rows)
    shares = []
    for feature, threshold in zip(model.features.tolist(), model.thresholds.tolist(), strict=True):
        cuts, share = above[feature]
        shares.append(share[np.searchsorted(cuts, threshold)])
    return float(np.mean(np.minimum(shares, 1 - np.array(shares))))


def whole_fit(*, n: int, names: Sequence[str], n_threads: int, repeats: int, n_rounds: int) -> dict[str, Any]:
    """Seconds from raw rows to a model, binning included, alternating."""
    rows, test = make_rows(n), make_rows(_TEST_ROWS, seed=1)
    contenders = [CONTENDERS[name](n_threads) for name in names]
    for contender in contenders:
        contender.train(contender.prepare(rows), 5)
    times: dict[str, list[float]] = {name: [] for name in names}
    binning: dict[str, list[float]] = {name: [] for name in names}
    quality: dict[str, float] = {}
    for repeat in range(repeats):
        for contender in contenders:
            before, prepared = timed(partial(contender.prepare, rows))
            after, model = timed(partial(contender.train, prepared, n_rounds))
            times[contender.name].append(before + after)
            binning[contender.name].append(before)
            if repeat == 0:
                quality[contender.name] = _auc(contender, model, test)
    return {"seconds": times, "preparing": binning, "auc": quality}


def scaling(*, sizes: Sequence[int], n_threads: int, repeats: int) -> dict[str, Any]:
    """Seconds of a round of fastpu at several sizes, alternating."""
    contender = Fastpu(n_threads)
    prepared = {n: contender.prepare(make_rows(n)) for n in sizes}
    for data in prepared.values():
        contender.train(data, 20)
    times: dict[str, list[float]] = {str(n): [] for n in sizes}
    for _ in range(repeats):
        for n in sizes:
            times[str(n)].append(_seconds_per_round(contender, prepared[n])[0])
    return {"seconds": times}


def thread_curve(*, n: int, threads: Sequence[int], repeats: int) -> dict[str, Any]:
    """Seconds of a round of fastpu for several numbers of threads, alternating."""
    rows = make_rows(n)
    prepared = Fastpu(max(threads)).prepare(rows)
    times: dict[str, list[float]] = {str(t): [] for t in threads}
    Fastpu(max(threads)).train(prepared, 20)
    for _ in range(repeats):
        for n_threads in threads:
            times[str(n_threads)].append(_seconds_per_round(Fastpu(n_threads), prepared)[0])
    return {"seconds": times}


def prediction(
    *, n: int, names: Sequence[str], n_threads: int, repeats: int, n_stumps: int, train_rows: int
) -> dict[str, Any]:
    """Seconds to score raw rows by an ensemble of each library's own, alternating."""
    rows, test = make_rows(train_rows), make_rows(n, seed=1)
    contenders = [CONTENDERS[name](n_threads) for name in names]
    models = [contender.train(contender.prepare(rows), n_stumps) for contender in contenders]
    times: dict[str, list[float]] = {name: [] for name in names}
    for contender, model in zip(contenders, models, strict=True):
        contender.scores(model, test.X[:10_000])
    for _ in range(repeats):
        for contender, model in zip(contenders, models, strict=True):
            times[contender.name].append(timed(partial(contender.scores, model, test.X))[0])
    return {"seconds": times}


def memory(*, n: int, name: str, n_threads: int, n_rounds: int) -> dict[str, Any]:
    """Peak memory of a fit from raw rows, the rows included, above that of the interpreter with the library."""
    contender = CONTENDERS[name](n_threads)
    contender.train(contender.prepare(make_rows(1000)), 2)
    baseline = peak_bytes()
    rows = make_rows(n)
    with_rows = peak_bytes()
    contender.train(contender.prepare(rows), n_rounds)
    return {"rows": with_rows - baseline, "peak": peak_bytes() - baseline, "matrix": rows.X.nbytes}


def copy_bandwidth(*, n_threads: int, repeats: int, megabytes: int) -> dict[str, Any]:
    """Bytes that a copy of a large array reads and writes in a second."""
    source = np.ones(megabytes * 1_000_000 // 8)
    target = np.zeros_like(source)
    parts = list(zip(np.array_split(source, n_threads), np.array_split(target, n_threads), strict=True))

    def copy() -> None:
        workers = [threading.Thread(target=np.copyto, args=(to, from_)) for from_, to in parts[1:]]
        for worker in workers:
            worker.start()
        np.copyto(parts[0][1], parts[0][0])
        for worker in workers:
            worker.join()

    copy()
    times = [timed(copy)[0] for _ in range(repeats)]
    return {"bytes_per_second": [2 * source.nbytes / seconds for seconds in times]}


_MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    measure.__name__: measure
    for measure in (rounds, whole_fit, scaling, thread_curve, prediction, memory, copy_bandwidth)
}


if __name__ == "__main__":
    print(json.dumps(_MEASURES[sys.argv[1]](**json.loads(sys.argv[2]))))
