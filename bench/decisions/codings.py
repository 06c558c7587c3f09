"""Codings of the labels: whether a metric gives the same number for each, or an error, or another number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from populations import Population, among_the_first
from shared import run_tasks, table

import fastpu
from fastpu.metrics import average_precision, lift_at_k, precision_at_k, pu_auc

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from numpy.typing import NDArray

LABELLED, UNLABELLED, PRIOR, APART = 200, 2000, 0.1, 3.0
CODINGS: dict[str, Callable[[NDArray[np.bool_]], Any]] = {
    "booleans": lambda y: y,
    "integers 1, 0": lambda y: y.astype(np.int64),
    "a list of 1, 0": lambda y: y.astype(int).tolist(),
    "floats 1, NaN": lambda y: np.where(y, 1.0, np.nan),
    "a nullable column of True, NA": lambda y: pd.Series(np.where(y, True, None), dtype="boolean"),
    "integers 1, -1": lambda y: np.where(y, 1, -1),
    "1, -1 by `as_labels`": lambda y: fastpu.as_labels(np.where(y, 1, -1), unlabeled=-1),
    "words by `as_labels`": lambda y: fastpu.as_labels(
        np.where(y, "fraud", "open"), positive="fraud", unlabeled="open"
    ),
}


def counted(task: tuple[str, int]) -> dict[str, float]:
    """The shares of metrics that are refused, and that differ from those of booleans; the mean precision, the truth."""
    name, draws = task
    population = Population(APART, PRIOR)
    k = population.k(UNLABELLED)
    refused, other, precision, truth = 0, 0, [], []
    for seed in range(draws):
        y, scores, is_positive, _ = population.draw(LABELLED, UNLABELLED, np.random.default_rng(seed))
        expected, found = _metrics(y, scores, k), [np.nan] * 4
        try:
            found = _metrics(CODINGS[name](y), scores, k)
        except (TypeError, ValueError):
            refused += 1
        else:
            other += found != expected
        precision.append(found[0])
        truth.append(among_the_first(is_positive, y, scores, k))
    return {
        "refused": refused / draws,
        "another number": other / draws,
        "precision": float(np.mean(precision)),
        "truth": float(np.mean(truth)),
    }


def _metrics(y: Any, scores: NDArray[np.float64], k: int) -> list[Any]:
    return [
        precision_at_k(y, scores, k, PRIOR),
        lift_at_k(y, scores, k),
        average_precision(y, scores, PRIOR),
        pu_auc(y, scores, prior=PRIOR),
    ]


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    tasks = [(name, options.draws) for name in CODINGS]
    found = run_tasks(counted, tasks, options.jobs, "codings")
    rows = [
        [name, f"{100 * one['refused']:.0f}", f"{100 * one['another number']:.0f}", f"{one['precision']:.2f}",
         f"{one['truth']:.2f}"]
        for (name, _), one in zip(tasks, found, strict=True)
    ]  # fmt: skip
    head = ["labels", "refused, %", "another number, %", "precision_at_k", "truth"]
    title = f"Codings of the labels, {LABELLED} labelled and {UNLABELLED:,} unlabelled rows"
    wrong = float(np.mean([one["another number"] for one in found]))
    return table(head, rows, title=title), {
        "cells": [{"labels": name} | one for (name, _), one in zip(tasks, found, strict=True)],
        "wrong": [("5: numbers that change with the coding of the labels, and are no error", None, wrong)],
    }
