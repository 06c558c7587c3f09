"""Ctrl-C ends every long call soon; `bench/interrupts.py` measures how soon."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl

import fastpu
from fastpu.common._methods import DECLARED, function_of
from interrupts import INTERRUPT_SECONDS, interrupted_after, n_tasks, posix, settles_at, untraced
from method_recipes import LABELS, RECIPES, bits

_MANY = np.geomspace(1e-2, 1e2, 200_000)
_BOOST = {"n_rounds": 10**6, "stop_tol": 0.0, "rho": 0.0}
_COSTS = {"C_pos": 1.0, "C_unl": 0.5}
_RBF = {"kernel": "rbf", "gamma": 0.5}

#: Calls that would go on for minutes, by method: numbers of rows and of columns, and options. Other methods are called
#: as their recipes say, with 20,000 rows.
ENDLESS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "fit_pnu_auc_boost": (20_000, 10, _BOOST),
    "fit_rankboost_auc": (20_000, 10, _BOOST),
    "fit_pnu_adaboost": (20_000, 10, {"n_rounds": 10**6, "max_bins": 64}),
    "fit_forest": (20_000, 20, {"n_trees": 10**9}),
    "fit_boosted_trees": (20_000, 20, {"n_rounds": 10**6}),
    "fit_ls_auc": (2000, 300, {"lam": _MANY}),
    "fit_samult": (2000, 300, {"lam": _MANY}),
    "fit_pnu_auc": (2000, 300, {"lam": _MANY, "prior": 0.5}),
    "fit_bsvm": (20_000, 20, {**_COSTS, **_RBF, "C": 1e3}),
    "fit_bagging_svm": (6000, 20, {"n_bags": 2000, **_RBF}),
    "fit_smc": (20_000, 20, {"C": 1e3, **_RBF}),
    "fit_svmc": (20_000, 20, {"C": 1e3, **_RBF}),
    "fit_isvm": (2000, 20, {"C": _MANY}),
    "fit_ipsi": (2000, 20, {"C": _MANY}),
    "fit_bpsi": (2000, 20, {"C": _MANY, **_COSTS}),
    "fit_pual": (2500, 8, {"lam": _MANY}),
    "fit_gllc": (2500, 8, {"lam": _MANY}),
    "fit_bls_svm": (2500, 8, {"lam": _MANY}),
    "fit_upu": (20_000, 20, {"prior": 0.5, "model": "gauss", "n_centers": 1500, "lam": 1e-6}),
    "fit_nnpu": (5000, 50, {"prior": 0.5, "n_epochs": 10**9, "batch_size": 200}),
    "fit_pu_svm_path": (8000, 60, {"C_pos": 1.0}),
    "fit_svm_path": (8000, 60, _RBF),
    "fit_svm": (20_000, 20, {"C": 1e3, **_RBF}),
    "fit_nu_svm": (20_000, 20, {"nu": 0.5, **_RBF}),
    "fit_one_class_svm": (30_000, 20, {"nu": 0.5, **_RBF}),
}

pytestmark = [pytest.mark.filterwarnings("ignore::fastpu.exceptions.ScaleWarning"), posix, untraced]


def problem(n: int, d: int, groups: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels that have next to nothing to do with the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.array([LABELS[group] for group in groups])[rng.integers(0, len(groups), n)]


def blas_threads() -> dict[str, int]:
    return {library["filepath"]: library["num_threads"] for library in threadpoolctl.threadpool_info()}


def assert_ends(call: Callable[[], object]) -> None:
    """Soon, and without a thread or a limit of BLAS that stays behind."""
    gc.collect()  # or the interrupt may come out of the end of something that other tests have left
    limits, python_threads, tasks = blas_threads(), threading.enumerate(), n_tasks()
    delay = interrupted_after(call)
    assert delay < INTERRUPT_SECONDS, f"stopped {delay:.3f} s after Ctrl-C"
    assert settles_at(tasks, python_threads)
    assert limits.items() <= blas_threads().items()


@pytest.mark.parametrize("name", DECLARED)
def test_ctrl_c_ends_a_fit_and_the_next_one_works(name):
    recipe = RECIPES[name]
    expected = bits(recipe.call(*recipe.arguments(60)))
    n, d, options = ENDLESS.get(name, (20_000, 20, recipe.options))
    X, y = problem(n, d, DECLARED[name].groups)
    arguments = (X,) if name == "fit_one_class_svm" else (X, y)
    assert_ends(lambda: function_of(name)(*arguments, n_threads=2, **options))
    assert bits(recipe.call(*recipe.arguments(60))) == expected


def test_ctrl_c_at_any_moment_leaves_nothing_behind():
    """In a process of its own, as a fit that does not end would take the other tests with it."""
    here = Path(__file__).parent
    command = [sys.executable, str(here / "interrupt_storm.py")]
    env = {**os.environ, "PYTHONPATH": str(here.parent / "common")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=env)
    assert done.stdout == "nothing is left behind\n", done.stderr


@pytest.mark.parametrize("d", [12, 40], ids=["by a tree", "by blocks of products"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_ctrl_c_ends_a_search_of_neighbours(d, n_threads):
    X, _ = problem(100_000, d, "P")
    assert_ends(lambda: fastpu.knn_similarity(X, n_threads=n_threads))


@pytest.mark.parametrize("name", ["bbe", "km2"])
def test_ctrl_c_ends_an_estimate_of_the_prior(name):
    X, y = problem(3000, 40, "PU")
    options = {} if name == "km2" else {"n_boot": 10**6}
    assert_ends(lambda: getattr(fastpu.priors, name)(X, y, random_state=0, **options))


def test_ctrl_c_ends_a_choice_of_parameters():
    X, y = problem(2000, 20, "PU")
    assert_ends(lambda: fastpu.select(fastpu.fit_ipsi, X, y, {"C": _MANY[:2000]}, random_state=0))
