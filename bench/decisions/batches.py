"""Rows that are not like the training rows: a lost column, new categories, and what `model.check` says of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from shared import run_tasks, table

import fastpu

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from numpy.typing import NDArray

MODELS: dict[str, Callable[[Any, Any, int], Any]] = {
    "forest": lambda X, y, seed: fastpu.fit_forest(X, y, random_state=seed),
    "boosted trees": lambda X, y, seed: fastpu.fit_boosted_trees(X, y, random_state=seed),
    "20 bags": lambda X, y, seed: fastpu.fit_boosted_trees(X, y, n_bags=20, random_state=seed),
    "stumps": lambda X, y, _: fastpu.fit_pnu_auc_boost(X, y),
}
BATCHES = ("as usual", "a column lost", "the same, mirrored", "a new shop", "a new shop, gaps tell")
_CHANGED = {"a column lost": "x0", "the same, mirrored": "x0", "a new shop": "shop", "a new shop, gaps tell": "shop"}
_NUMBERS = 6
LABELLED, UNLABELLED, PRIOR = 200, 5000, 0.2


def drawn(n: int, rng: np.random.Generator, *, sign: int, gaps_tell: bool) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Draw rows of six numbers, of which four are larger for positive rows (smaller, for sign -1), and a shop."""
    truth = rng.random(n) < PRIOR
    numbers = rng.normal(size=(n, _NUMBERS))
    numbers[:, :4] += 1.2 * truth[:, None]
    frame = pd.DataFrame(sign * numbers, columns=[f"x{k}" for k in range(_NUMBERS)])
    shop = np.where(truth & (rng.random(n) < 0.5), rng.integers(20, 30, n), rng.integers(0, 30, n))
    frame["shop"] = np.array([f"shop {k}" for k in range(30)])[shop]
    if gaps_tell:
        frame.loc[truth & (rng.random(n) < 0.5), "shop"] = None
    return frame, truth


def called(task: tuple[str, str, int]) -> dict[str, float]:
    """The share of negatives that are called positive, their mean place in the usual list, and what `check` names."""
    name, batch, draws = task
    warnings.simplefilter("ignore")  # of the lost column, which is meant
    found = dict.fromkeys(("called", "place", "auc", "named", "others"), 0.0)
    drawing: dict[str, Any] = {"sign": -1 if batch == "the same, mirrored" else 1, "gaps_tell": "gaps" in batch}
    for draw in range(draws):
        rng = np.random.default_rng([draw, BATCHES.index(batch)])
        X, truth = drawn(LABELLED + UNLABELLED, rng, **drawing)
        y = np.zeros(truth.size, dtype=np.int8)
        y[np.flatnonzero(truth)[:LABELLED]] = 1
        model = MODELS[name](X, y, draw)
        Z, is_positive = drawn(5000, rng, **drawing)
        usual = np.sort(model.decision_function(Z))
        if "column" in batch or "mirrored" in batch:
            Z["x0"] = np.nan
        if "shop" in batch:
            Z["shop"] = "another"
        scores = model.decision_function(Z)
        negative = scores[~is_positive]
        unlike = model.check(Z).unlike
        changed = _CHANGED.get(batch)
        found["called"] += float(np.mean(negative > model.threshold))
        found["place"] += float(np.searchsorted(usual, negative).mean() / usual.size)
        found["auc"] += fastpu.metrics.auc(is_positive, scores)
        found["named"] += changed is None or changed in unlike
        found["others"] += len(set(unlike) - {changed})
    return {key: value / draws for key, value in found.items()}


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    tasks = [(name, batch, options.draws) for name in MODELS for batch in BATCHES]
    found = run_tasks(called, tasks, options.jobs, "batches")
    rows = [
        [name, batch, f"{100 * cell['called']:.1f}", f"{cell['place']:.2f}", f"{cell['auc']:.3f}",
         f"{100 * cell['named']:.0f}", f"{cell['others']:.2f}"]
        for (name, batch, *_), cell in zip(tasks, found, strict=True)
    ]  # fmt: skip
    head = ["model", "batch", "negatives called positive, %", "their mean place", "AUC", "named by check, %",
            "other columns named"]  # fmt: skip
    title = f"Rows unlike the training rows, {LABELLED} labelled and {UNLABELLED:,} unlabelled rows, prior {PRIOR:g}"
    of = {t[:2]: cell for t, cell in zip(tasks, found, strict=True)}
    unlike = [(name, batch) for name in MODELS for batch in BATCHES[1:]]
    more = float(np.mean([max(0.0, of[cell]["called"] - of[cell[0], BATCHES[0]]["called"]) for cell in unlike]))
    unnamed = 1 - float(np.mean([of[cell]["named"] for cell in unlike]))
    results = [{"model": t[0], "batch": t[1]} | cell for t, cell in zip(tasks, found, strict=True)]
    return table(head, rows, title=title), {
        "cells": results,
        "wrong": [
            (
                "6: more negatives called positive than in a usual batch, where a column is lost or a shop new",
                None,
                more,
            ),
            ("6: such batches whose column `check` does not name", None, unnamed),
        ],
    }
