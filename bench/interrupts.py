"""How long Ctrl-C waits: every long loop, with data that keep it busy for seconds.

python bench/interrupts.py [--only NAME ...] [--at 0.1 0.3 0.7 1.2 1.9] [--threads 1]

Each call is interrupted once at every time of `--at` (seconds after its start), in a process of its own. The table says
the longest wait, by the clock and in processor time; the second is the one that other programs on the machine do not
lengthen. A call that was over before the signal came says so: its time is then all there is to wait for. After the last
interrupt a small fit must work.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import fastpu
from fastpu import metrics, priors
from fastpu.common._methods import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

#: Well under a second is what is promised; this is what is measured against.
ALLOWED = 0.2


def rows(n: int, d: int = 20, groups: str = "PU", *, seed: int = 0, overlap: float = 0.3) -> tuple[Any, Any]:
    """Overlapping classes that no method is done with at once."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([1, -1], n)
    X = rng.standard_normal((n, d)) + overlap * truth[:, None] / np.sqrt(d)
    y = np.array([{"P": 1, "U": 0, "N": -1}[group] for group in groups])[np.arange(n) % len(groups)]
    return X, y


def _uneven(n: int, d: int) -> tuple[Any, Any]:
    """Nearly as many rows in one class as in the other: a path begins with a system of thousands of free rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)


def csr(n: int, d: int, groups: str = "PU", *, density: float = 0.02) -> tuple[Any, Any]:
    matrix = sp.random(n, d, density=density, format="csr", random_state=np.random.default_rng(0))
    y = np.array([{"P": 1, "U": 0, "N": -1}[group] for group in groups])[np.arange(n) % len(groups)]
    return matrix, y


def fit(name: str, data: tuple[Any, Any], **options: Any) -> Callable[[int], Any]:
    function = function_of(name)
    X, y = data
    positional = (X,) if name in {"fit_one_class_svm", "knn_graph", "knn_similarity", "bin_features"} else (X, y)
    return lambda n_threads: function(*positional, **options, n_threads=n_threads)


def many(n: int = 10_000_000) -> Any:
    return np.random.default_rng(0).standard_normal(n)


def predicted(name: str, data: tuple[Any, Any], X: Any, **options: Any) -> Callable[[int], Any]:
    model = fit(name, data, **options)(2)
    return lambda n_threads: model.decision_function(X, n_threads=n_threads)


def _judged(function: Callable[..., Any], *arguments: Any, **options: Any) -> Callable[[int], Any]:
    return lambda n_threads: function(*arguments, **options)


def _prior(name: str, n: int, d: int = 10, **options: Any) -> Callable[[int], Any]:
    X, y = rows(n, d, overlap=2.0)
    return lambda n_threads: getattr(priors, name)(X, y, random_state=0, n_threads=n_threads, **options)


def _half(values: Any) -> tuple[Any, Any]:
    return values[::2].copy(), values[1::2].copy()


def _twice(data: tuple[Any, Any], *, axis: int) -> tuple[Any, Any]:
    X, y = data
    return np.concatenate([X, X], axis=axis), np.concatenate([y, y]) if axis == 0 else y


def _select(n_threads: int) -> Any:
    return fastpu.select(fastpu.fit_ipsi, *rows(50_000, 20), {"C": [0.1, 1.0, 10.0, 100.0]}, random_state=0)


_COSTS = {"C_pos": 1.0, "C_unl": 0.5}
_RISK = {"prior": 0.5, "random_state": 0}

#: name -> what makes the data and returns the call, which takes the number of threads
CALLS: dict[str, Callable[[], Callable[[int], Any]]] = {
    "fit_pnu_auc_boost exact": lambda: fit("fit_pnu_auc_boost", rows(1_000_000, 20, "PUN"), n_rounds=100),
    "fit_pnu_auc_boost binned": lambda: fit("fit_pnu_auc_boost", rows(1_000_000, 20, "PUN"), n_rounds=999, max_bins=64),
    "fit_pnu_auc_boost csr": lambda: fit("fit_pnu_auc_boost", csr(300_000, 2000, "PUN"), n_rounds=99),
    "fit_rankboost_auc": lambda: fit("fit_rankboost_auc", rows(1_000_000, 20, "PN"), n_rounds=100),
    "fit_pnu_adaboost": lambda: fit("fit_pnu_adaboost", rows(1_000_000, 20, "PUN"), n_rounds=100),
    "bin_features": lambda: fit("bin_features", rows(4_000_000, 20)),
    "StumpEnsemble.decision_function": lambda: predicted(
        "fit_pnu_auc_boost", rows(10_000, 20, "PUN"), many(60_000_000).reshape(-1, 20), n_rounds=500
    ),
    "fit_forest": lambda: fit("fit_forest", rows(200_000, 20), n_trees=100_000, random_state=0),
    "fit_boosted_trees": lambda: fit("fit_boosted_trees", rows(1_000_000, 20), n_rounds=9999),
    "fit_boosted_trees bags": lambda: fit(
        "fit_boosted_trees", rows(200_000, 20), n_rounds=9999, n_bags=9, random_state=0
    ),
    "fit_forest best": lambda: fit("fit_forest", rows(200_000, 20), n_trees=9999, splitter="best", random_state=0),
    "TreeEnsemble.decision_function": lambda: predicted(
        "fit_forest", rows(10_000, 20), many(60_000_000).reshape(-1, 20), random_state=0
    ),
    "fit_ls_auc": lambda: fit("fit_ls_auc", rows(1_000_000, 100, "PN")),
    "fit_ls_auc wide": lambda: fit("fit_ls_auc", rows(6000, 5000, "PN")),
    "fit_ls_auc repeated columns": lambda: fit("fit_ls_auc", _twice(rows(6000, 1000, "PN"), axis=1), lam=0.0),
    "fit_ls_auc csr": lambda: fit("fit_ls_auc", csr(200_000, 20_000, "PN"), max_iter=100_000, tol=1e-14, lam=1e-9),
    "fit_pnu_auc gauss": lambda: fit("fit_pnu_auc", rows(300_000, 20, "PUN"), prior=0.5, eta=0.2, model="gauss"),
    "fit_samult": lambda: fit("fit_samult", rows(1_000_000, 100, "PUN")),
    "RankMachine.decision_function": lambda: predicted(
        "fit_ls_auc", rows(2000, 20, "PN"), many(20_000_000).reshape(-1, 20), model="gauss"
    ),
    "fit_bsvm linear": lambda: fit("fit_bsvm", rows(100_000, 20), **_COSTS, C=1e3),
    "fit_bsvm linear csr": lambda: fit("fit_bsvm", csr(20_000, 2000), **_COSTS, C=1e3),
    "fit_bsvm rbf": lambda: fit("fit_bsvm", rows(20_000, 20), **_COSTS, kernel="rbf"),
    "fit_svm rbf": lambda: fit("fit_svm", rows(20_000, 20, "PN"), C=10.0),
    "fit_svm rbf csr": lambda: fit("fit_svm", csr(15_000, 1000, "PN")),
    "fit_svm linear": lambda: fit("fit_svm", rows(200_000, 50, "PN"), kernel="linear", C=100.0, tol=1e-9),
    "fit_nu_svm": lambda: fit("fit_nu_svm", rows(12_000, 20, "PN"), nu=0.5),
    "fit_one_class_svm": lambda: fit("fit_one_class_svm", rows(40_000, 20), nu=0.5),
    "KernelMachine.decision_function": lambda: predicted(
        "fit_svm", rows(4000, 20, "PN"), many(10_000_000).reshape(-1, 20)
    ),
    "fit_bagging_svm linear": lambda: fit("fit_bagging_svm", rows(40_000, 20), n_estimators=500, random_state=0),
    "fit_bagging_svm rbf": lambda: fit(
        "fit_bagging_svm", rows(6000, 20), n_estimators=500, kernel="rbf", random_state=0
    ),
    "fit_smc": lambda: fit("fit_smc", rows(40_000, 20), nu_map=0.2),
    "fit_svmc": lambda: fit("fit_svmc", rows(40_000, 20), nu_map=0.2),
    "fit_isvm": lambda: fit("fit_isvm", rows(500_000, 50), C=[0.01, 0.1, 1.0, 10.0, 100.0]),
    "fit_isvm wide": lambda: fit("fit_isvm", rows(3000, 3000), C=[0.01, 0.1, 1.0, 10.0, 100.0]),
    "fit_isvm csr": lambda: fit("fit_isvm", csr(30_000, 5000), C=[0.01, 0.1, 1.0, 10.0]),
    "fit_ipsi": lambda: fit("fit_ipsi", rows(300_000, 50), C=[0.01, 0.1, 1.0, 10.0, 100.0]),
    "fit_bpsi": lambda: fit("fit_bpsi", rows(300_000, 50), **_COSTS, C=[0.01, 0.1, 1.0, 10.0, 100.0]),
    "fit_pual linear": lambda: fit("fit_pual", rows(200_000, 20), **_COSTS),
    "fit_pual wide": lambda: fit("fit_pual", rows(4000, 3000), **_COSTS),
    "fit_pual rbf": lambda: fit("fit_pual", rows(4000, 20), **_COSTS, kernel="rbf"),
    "fit_pual low rank": lambda: fit(
        "fit_pual", rows(60_000, 20), **_COSTS, kernel="rbf", n_components=800, random_state=0
    ),
    "fit_pual landmarks": lambda: fit(
        "fit_pual", rows(20_000, 20), **_COSTS, kernel="rbf", n_components=3000, random_state=0
    ),
    "fit_pual repeated rows": lambda: fit("fit_pual", _twice(rows(2500, 20), axis=0), **_COSTS, kernel="rbf"),
    "fit_gllc": lambda: fit("fit_gllc", rows(200_000, 20), **_COSTS),
    "fit_gllc rbf": lambda: fit("fit_gllc", rows(4000, 20), **_COSTS, kernel="rbf"),
    "fit_bls_svm": lambda: fit("fit_bls_svm", rows(1_000_000, 100), **_COSTS),
    "fit_bls_svm rbf": lambda: fit("fit_bls_svm", rows(6000, 20), **_COSTS, kernel="rbf"),
    "fit_upu squared": lambda: fit("fit_upu", rows(2_000_000, 60), **_RISK, loss="squared"),
    "fit_upu logistic gauss": lambda: fit(
        "fit_upu", rows(200_000, 20), **_RISK, loss="logistic", model="gauss", n_centers=300, lam=1e-6
    ),
    "fit_nnpu": lambda: fit("fit_nnpu", rows(1_000_000, 50), **_RISK, n_epochs=500),
    "fit_nnpu mlp one batch": lambda: fit(
        "fit_nnpu", rows(500_000, 50), **_RISK, model="mlp", batch_size=500_000, n_hidden=300
    ),
    "RiskNetwork.decision_function": lambda: predicted(
        "fit_nnpu", rows(2000, 20), many(60_000_000).reshape(-1, 20), **_RISK, model="mlp", n_hidden=500, n_epochs=1
    ),
    "fit_svm_path": lambda: fit("fit_svm_path", rows(3000, 20, "PN"), kernel="rbf"),
    "fit_svm_path start": lambda: fit("fit_svm_path", _uneven(8000, 60), kernel="rbf", gamma=0.5),
    "fit_pu_svm_path": lambda: fit("fit_pu_svm_path", rows(6000, 20), C_pos=1.0),
    "fit_pu_svm_path inf": lambda: fit("fit_pu_svm_path", rows(4000, 20), kernel="rbf"),
    "knn_graph": lambda: fit("knn_graph", rows(100_000, 30)),
    "knn_graph tree": lambda: fit("knn_graph", rows(2_000_000, 3)),
    "knn_graph csr": lambda: fit("knn_graph", csr(20_000, 2000)),
    "knn_similarity": lambda: fit("knn_similarity", rows(1_000_000, 3), n_neighbors=20),
    "priors.km2": lambda: _prior("km2", 20_000, n_boot=5),
    "priors.bbe": lambda: _prior("bbe", 300_000, n_boot=20),
    "select": lambda: _select,
    "metrics.auc 1e7": lambda: _judged(metrics.auc, np.arange(10_000_000) % 2, many()),
    "metrics.auc weighted 1e7": lambda: _judged(
        metrics.auc, np.arange(10_000_000) % 2, many(), sample_weight=np.ones(10_000_000)
    ),
    "metrics.f1 1e7": lambda: _judged(metrics.f1, np.arange(10_000_000) % 2, np.arange(10_000_000) % 3 == 0),
    "metrics.pu_auc 1e7": lambda: _judged(metrics.pu_auc, *_half(many()), prior=0.3),
    "metrics.pu_risk 1e7": lambda: _judged(metrics.pu_risk, *_half(many())),
    "metrics.pn_risk 1e7": lambda: _judged(metrics.pn_risk, *_half(many())),
    "metrics.puf_score 1e7": lambda: _judged(metrics.puf_score, *_half(many())),
    "metrics.err_star 1e7": lambda: _judged(metrics.err_star, *_half(many()), prior=0.3),
}


class Waiting:
    """A call that a signal ends, and how long that took."""

    def __init__(self, call: Callable[[int], Any], n_threads: int) -> None:
        self.call, self.n_threads = call, n_threads

    def interrupted_at(self, seconds: float) -> tuple[float, float] | None:
        """Return the wait by the clock and in processor time, or None if the call was over before."""
        sent: list[tuple[float, float]] = []

        def interrupt() -> None:
            sent.append((time.perf_counter(), time.process_time()))
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(seconds, interrupt)
        timer.start()
        try:
            self.call(self.n_threads)
            timer.cancel()
            timer.join()
        except KeyboardInterrupt:
            return time.perf_counter() - sent[0][0], time.process_time() - sent[0][1]
        return None


def measure(name: str, moments: list[float], n_threads: int) -> dict[str, Any]:
    """Interrupt the call of that name at every moment."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored
    warnings.simplefilter("ignore")
    waiting = Waiting(CALLS[name](), n_threads)
    start = time.perf_counter()
    waits = [waiting.interrupted_at(seconds) for seconds in moments]
    took = time.perf_counter() - start
    X, y = rows(200, 4, "PUN")
    if fastpu.fit_pnu_auc_boost(X, y, n_rounds=3).n_iter != 3:
        raise RuntimeError("the fit after the interrupts ran fewer rounds")
    return {"waits": waits, "took": took}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="calls whose name begins so")
    parser.add_argument("--at", nargs="*", type=float, default=[0.1, 0.3, 0.7, 1.2, 1.9])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.at, options.threads)))
        return 0
    chosen = [name for name in CALLS if not options.only or name.startswith(tuple(options.only))]
    print("| call | longest wait, s | of the processor, s | at | |\n|---|---|---|---|---|")
    n_slow = 0
    for name in chosen:
        command = [sys.executable, __file__, "--one", name, "--threads", str(options.threads), "--at"]
        done = subprocess.run(  # noqa: S603 - this file, with a name of its own table
            [*command, *map(str, options.at)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"| {name} | failed: {(done.stderr.strip().splitlines() or ['?'])[-1][:90]} | | | |", flush=True)
            n_slow += 1
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        waits = [(wait, at) for wait, at in zip(found["waits"], options.at, strict=True) if wait is not None]
        if not waits:
            print(f"| {name} | was over before | | | |", flush=True)
            continue
        (clock, processor), at = max(waits, key=lambda item: item[0][1])
        clock = max(wait[0] for wait, _ in waits)
        is_slow = processor > ALLOWED * options.threads and clock > ALLOWED
        n_slow += is_slow
        over = "" if len(waits) == len(options.at) else f"over after {options.at[len(waits)]:g} s"
        mark = "**slow**" if is_slow else over
        print(f"| {name} | {clock:.3f} | {processor:.3f} | {at:g} | {mark} |", flush=True)
    print(f"\n{n_slow} of {len(chosen)} calls let Ctrl-C wait for more than {ALLOWED} s")
    return int(n_slow > 0)


if __name__ == "__main__":
    sys.exit(main())
