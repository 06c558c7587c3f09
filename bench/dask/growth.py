"""How long a round of boosted trees takes on many workers: one machine plays all of them, and the network is put in.

    python bench/dask/growth.py [--shards 1 4 16 64 256] [--rows 50000] [--rounds 5] [--output DIR]

The driver's loop of fastpu.dask runs as it is, over so many shards of the same number of rows in this process, one
after the other. Measured are the processor time that the shards take in a round (the mean over shards, of one thread),
the bytes that each of them is sent and sends back, the number of questions, and what the driver does itself: adding up
the answers and choosing splits. What Dask costs the driver for a message is measured on two workers of this machine.

Put in are the network's latency (a message each way) and bandwidth, which a link shares between all that send over it.
Of more than twelve workers the driver hears of six, and each worker of six others, whose answers it adds to its own: a
question goes down a tree of so many levels, and its answer comes up again. "By the driver" says what it would take if
the driver heard of all workers.

The prediction for more rows takes the shards' time as a + b n, from shards of --rows and --large, and divides b by the
threads of a worker: an even share is assumed, and the slowest worker is taken to be as fast as the mean. The driver's
time is c + d (answers that it adds up), from the fewest and the most shards, and a worker takes d for each answer that
it adds up.
"""

from __future__ import annotations

import pickle
import sys
import time
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from distributed import Client, LocalCluster

import fastpu
from fastpu import _core
from fastpu.dask._boosted_rows import _CODES_AHEAD, SharedRows
from fastpu.dask._workers import Workers, fan_out

sys.path.append(str(Path(__file__).resolve().parents[1]))

from shared import Parser, machine, table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

COLUMNS = 50
DIFFERENT = 4  # blocks of rows, that shards take in turns: their codes can be shared
TREES = {"max_leaves": 8, "max_depth": -1, "min_leaf_rows": 20.0, "min_leaf_hessian": 1e-3, "lam": 1.0}
FIT = {"learning_rate": 0.05, "subsample_unl": 1.0, "seed": 0}
LOSS: dict[str, Any] = {"loss": "pnu_auc", "gamma": 0.5, "prior": 0.5}
NONE = dict.fromkeys(["init", "init_oob_sum", "eval_set", "callback"])


# ---- Workers that are none ----


class Shard:
    """What `fastpu.dask` keeps on a worker, as far as its questions ask."""

    def __init__(self, features: fastpu.models.BinnedFeatures, labels: Any, n_unlabelled: int):
        shard = _core.BoostedShard(
            features._native, labels, None, categorical=None, **LOSS, init_nodes=None, init_starts=None,
            init_sets=None, n_unlabelled=n_unlabelled, numbers=None, n_threads=1,
        )  # fmt: skip
        self.kept = {"boosted": shard}


@dataclass
class Measured:
    """What the questions of some rounds took, all together."""

    n_questions: int = 0
    sent: int = 0  # bytes to each shard
    received: int = 0  # bytes from each
    by_shards: float = 0.0  # mean seconds of a shard
    elsewhere: float = 0.0  # seconds of this process that are not the driver's


@dataclass
class Played:
    """In place of `fastpu.dask`'s workers."""

    shards: list[Shard]
    measured: Measured = field(default_factory=Measured)

    def ask(self, question: Callable[..., Any], *arguments: Any) -> list[Any]:
        start = time.process_time()
        answers = [question(shard, *arguments) for shard in self.shards]
        found = self.measured
        found.n_questions += 1
        found.by_shards += (time.process_time() - start) / len(self.shards)
        found.sent += len(pickle.dumps(arguments, pickle.HIGHEST_PROTOCOL))
        found.received += len(pickle.dumps(answers[0], pickle.HIGHEST_PROTOCOL))
        found.elsewhere += time.process_time() - start
        return answers

    def ask_merged(self, merge: Callable[[Any, Any], Any], question: Callable[..., Any], *arguments: Any) -> Any:
        return reduce(merge, self.ask(question, *arguments))


# ---- Measurements ----


@dataclass(frozen=True)
class Round:
    """Seconds, bytes and questions of a round."""

    n_questions: float
    sent: float
    received: float
    by_shard: float
    by_driver: float


def blocks(n_rows: int, n_blocks: int = DIFFERENT) -> list[tuple[fastpu.models.BinnedFeatures, Any]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_blocks * n_rows, COLUMNS), dtype=np.float32)
    truth = X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=len(X)) > 2
    y = (truth & (rng.random(len(X)) < 0.05)).astype(np.int8)
    bins = fastpu.bin_features(X)
    places = [slice(k * n_rows, (k + 1) * n_rows) for k in range(n_blocks)]
    return [(bins[place], y[place]) for place in places]


def measure(parts: Sequence[tuple[fastpu.models.BinnedFeatures, Any]], n_shards: int, n_rounds: int) -> Round:
    n_unlabelled = sum(int(np.sum(parts[k % len(parts)][1] == 0)) for k in range(n_shards))
    workers = Played([Shard(*parts[k % len(parts)], n_unlabelled) for k in range(n_shards)])
    start = time.process_time()
    options = _core.BoostedTreesOptions(n_rounds=n_rounds, **LOSS, **TREES, **FIT)
    rows = SharedRows(workers, n_shards * _CODES_AHEAD // COLUMNS)
    _core.boost_trees(parts[0][0]._native, None, None, None, options, n_threads=1, rows=rows, **NONE)
    seconds = time.process_time() - start - workers.measured.elsewhere
    m = workers.measured
    each = (value / n_rounds for value in (m.n_questions, m.sent, m.received, m.by_shards, seconds))
    return Round(*each)


def _reply(_shard: Any, n_bytes: int) -> Any:
    return np.zeros(n_bytes // 8)


def seconds_of_a_message(n_bytes: int, n_questions: int = 200) -> float:
    """Return the processor time of the driver for an answer of so many bytes."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        parts = [client.submit(int, k, workers=[address]) for k, address in enumerate(client.nthreads())]
        client.gather(parts)
        with Workers(client, dict(enumerate(parts)), 1) as workers:
            workers.ask(_reply, n_bytes)
            start = time.process_time()
            for _ in range(n_questions):
                workers.ask(_reply, n_bytes)
            return (time.process_time() - start) / (n_questions * len(workers.partitions))


# ---- The model ----


@dataclass(frozen=True)
class Network:
    latency: float  # seconds of a message
    bandwidth: float  # bytes a second
    message: float  # seconds of the driver's processor

    def terms(self, a_round: Round, n: int, per_answer: float, *, tree: bool) -> tuple[float, float, float, float]:
        """Return the seconds of latency, of transfer, of adding up and of messages, down and up all levels."""
        of_level = fan_out(n) if tree else n
        levels = n_levels(n, of_level)
        return (
            2 * self.latency * a_round.n_questions * levels,
            of_level * (a_round.sent + a_round.received) / self.bandwidth * levels,
            per_answer * of_level * levels,
            a_round.n_questions * of_level * self.message * levels,
        )


def n_levels(n: int, of_leader: int) -> int:
    """Return how many levels a tree of n workers has below the driver."""
    levels, of_level = 1, of_leader
    while n > of_level:
        n, levels, of_level = n - of_level, levels + 1, of_level * of_leader
    return levels


@dataclass(frozen=True)
class Model:
    """Seconds of a shard are fixed + per_row n, of the driver own + per_answer (answers that it adds up)."""

    fixed: float
    per_row: float
    own: float
    per_answer: float
    a_round: Round
    network: Network

    def terms(self, n_rows: float, n_workers: int, n_threads: int, *, tree: bool) -> list[float]:
        shard = self.fixed + self.per_row * n_rows / n_workers / n_threads
        latency, transfer, added, messages = self.network.terms(self.a_round, n_workers, self.per_answer, tree=tree)
        terms = [shard, latency, transfer, self.own + added, messages]
        return [*terms, sum(terms)]


# ---- The report ----


def ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def report(options: argparse.Namespace) -> str:
    parts = blocks(options.rows)
    found = {}
    for n_shards in options.shards:
        found[n_shards] = measure(parts, n_shards, options.rounds)
        print(f"{n_shards} shards: done", file=sys.stderr, flush=True)
    few, many = min(found), max(found)
    of_large = measure(blocks(options.large, 1), 1, options.rounds)
    one, most = found[few], found[many]
    message = seconds_of_a_message(round(most.received / most.n_questions))
    network = Network(options.latency, options.bandwidth / 8, message)
    per_row = (of_large.by_shard - one.by_shard) / (options.large - options.rows)
    per_answer = (most.by_driver - one.by_driver) / max(1, many - few)
    fixed = max(0.0, one.by_shard - per_row * options.rows)
    model = Model(fixed, per_row, max(0.0, one.by_driver - per_answer * few), per_answer, most, network)
    rows = []
    for n_shards, r in found.items():
        latency, transfer, added, messages = network.terms(r, n_shards, per_answer, tree=True)
        cells = [r.by_shard, latency, transfer, model.own + added, messages]
        by_driver = r.by_shard + model.own + sum(network.terms(r, n_shards, per_answer, tree=False))
        rows.append([
            f"{n_shards}", f"{r.n_questions:.1f}", f"{r.sent / 1000:.1f}", f"{r.received / 1000:.0f}",
            *map(ms, [*cells, sum(cells), by_driver]),
        ])  # fmt: skip
    heads = ["shards", "questions", "kB to each", "kB from each", "shard, ms", "latency, ms", "transfer, ms",
             "adding up, ms", "Dask, ms", "a round, ms", "by the driver, ms"]  # fmt: skip
    leaves = TREES["max_leaves"]
    grown = table(
        heads,
        rows,
        title=f"Growth: {options.rows:,} x {COLUMNS} a shard, {leaves} leaves, {options.rounds} rounds",
    )
    rows = []
    for n_rows in options.predict:
        for n_workers in (32, 256):
            for tree in (True, False):
                terms = model.terms(n_rows, n_workers, options.threads, tree=tree)
                rows.append([f"{n_rows:.0e}", f"{n_workers}", "workers" if tree else "the driver", *map(ms, terms)])
    heads = ["rows", "workers", "summed by", "shard, ms", "latency, ms", "transfer, ms", "adding up, ms", "Dask, ms",
             "a round, ms"]  # fmt: skip
    predicted = table(heads, rows, title=f"Predicted, {COLUMNS} columns, {options.threads} threads a worker")
    terms = (
        f"Measured: a shard takes {1000 * fixed:.2f} ms + {1e9 * per_row:.1f} ns a row, the driver "
        f"{1000 * model.own:.2f} ms + {1000 * per_answer:.3f} ms an answer, and Dask {1000 * message:.2f} ms of its "
        f"processor a message. Put in: {1000 * options.latency:g} ms a message, {options.bandwidth / 1e9:g} Gbit/s."
    )
    return f"{grown}\n\n{terms}\n\n{predicted}"


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("growth", __doc__)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4, 16, 64, 256])
    parser.add_argument("--rows", type=int, default=50_000, help="of a shard (default: %(default)s)")
    parser.add_argument("--large", type=int, default=1_000_000, help="rows of the shard that tells what a row takes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.5e-3, help="seconds of a message (default: %(default)s)")
    parser.add_argument("--bandwidth", type=float, default=10e9, help="bits a second of a link (default: 10e9)")
    parser.add_argument("--threads", type=int, default=16, help="of a worker, in the prediction (default: %(default)s)")
    parser.add_argument("--predict", type=float, nargs="+", default=[1e9], help="rows of the prediction")
    parser.add_argument("--output", type=Path, help="folder for dask_growth.md")
    options = parser.parse_args(argv)
    text = report(options)
    print(machine("numpy"), text, sep="\n\n")
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "dask_growth.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
