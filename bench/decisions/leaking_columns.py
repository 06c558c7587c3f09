"""Columns that know the labels: how often they are told of and named, and how often honest tables are suspected."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import claims
import numpy as np
from shared import run_tasks, table

import fastpu
from fastpu.exceptions import LabelWarning

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from numpy.typing import NDArray

UNLABELLED, PRIOR = 5000, 0.05
LEAKS: dict[str, Callable[[NDArray[np.int64], np.random.Generator], Any]] = {
    "none": lambda y, rng: rng.normal(size=y.size),
    "a flag": lambda y, rng: (y == 1) * 1.0,
    "a date that others lack": lambda y, rng: np.where(y == 1, rng.normal(size=y.size), np.nan),
    "an outcome": lambda y, rng: np.where(y == 1, "proven", rng.choice(["open", "closed"], y.size)),
    "a flag of 95 %": lambda y, rng: ((y == 1) & (rng.random(y.size) < 0.95)) * 1.0,
}
FITS = {
    "fit_forest": lambda X, y: fastpu.fit_forest(X, y, random_state=0, n_threads=1),
    "fit_boosted_trees, 20 bags": lambda X, y: fastpu.fit_boosted_trees(X, y, n_bags=20, random_state=0, n_threads=1),
}


def told(task: tuple[str, str, int, float, int]) -> dict[str, float]:
    """The shares of draws with a warning, and with one that names the column; and the seconds of a fit."""
    fit, leak, n_pos, apart, draws = task
    warned, named = 0, 0
    begun = time.process_time()
    for seed in range(draws):
        rng = np.random.default_rng([seed, n_pos])
        X, y, _ = claims.draw(n_pos, UNLABELLED, PRIOR, apart, rng)
        X["added"] = LEAKS[leak](y, rng)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            FITS[fit](X, y)
        texts = [str(one.message) for one in found if issubclass(one.category, LabelWarning)]
        warned += bool(texts)
        named += any("'added'" in text for text in texts)
    return {"warned": warned / draws, "named": named / draws, "seconds": (time.process_time() - begun) / draws}


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    tasks = [
        (fit, leak, n_pos, apart, options.draws)
        for fit in FITS
        for leak in LEAKS
        for n_pos in (20, 200)
        for apart in (2.5, 6.0)
    ]
    found = run_tasks(told, tasks, options.jobs, "leaks")
    rows = [
        [fit, leak, f"{n_pos}", f"{apart:g}", *(f"{100 * one[name]:.0f}" for name in ("warned", "named"))]
        for (fit, leak, n_pos, apart, _), one in zip(tasks, found, strict=True)
    ]
    head = ["fit", "leak", "labelled", "apart", "warned", "names the column"]
    title = f"A column that knows the labels, {UNLABELLED:,} unlabelled rows, {100 * PRIOR:g} % of them positive"
    hidden = 1 - float(np.mean([one["named"] for t, one in zip(tasks, found, strict=True) if t[1] != "none"]))
    honest = float(np.mean([one["warned"] for t, one in zip(tasks, found, strict=True) if t[1] == "none"]))
    names = ("fit", "leak", "labelled", "apart")
    results = [dict(zip(names, t[:4], strict=True)) | f for t, f in zip(tasks, found, strict=True)]
    return table(head, rows, title=title), {
        "cells": results,
        "wrong": [
            ("9: columns that know the labels and are not named", None, hidden),
            ("9: honest tables that are suspected", None, honest),
        ],
    }
