"""Intervals of the metrics, and ranges of the prior, where ten rows of a customer are alike: by rows, and by groups."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from populations import Population, among_the_first
from shared import run_tasks, table

from fastpu.metrics import average_precision, lift_at_k, precision_at_k, pu_auc, ranking_curve, recall_at_k
from fastpu.priors import bbe

if TYPE_CHECKING:
    from argparse import Namespace

    from numpy.typing import NDArray

    from fastpu.metrics import RankingEstimate

ROWS, ALIKE = 10, 0.9  # of a customer, and how much of the variance of scores is between customers
OTHERS = 200  # customers with unlabelled rows
CRITERIA = ("recall", "lift", "precision", "precision here", "curve here", "average precision", "AUC", "allowed")


def draw(
    population: Population, n_labelled: int, n_others: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    """Draw labels, scores, the truth and the customer of each row; the scores of all rows are those of `population`."""
    y = np.arange(n_labelled + n_others) < n_labelled
    truth = y | (rng.random(y.size) < population.prior)
    y, truth, customer = (np.repeat(of, ROWS) for of in (y, truth, np.arange(y.size)))
    shared = np.repeat(rng.normal(size=n_labelled + n_others), ROWS)
    own = rng.normal(size=y.size)
    return y, population.apart * truth + np.sqrt(ALIKE) * shared + np.sqrt(1 - ALIKE) * own, truth, customer


def covered(task: tuple[int, int, float, float, int, int, bool]) -> dict[str, float]:
    """The shares of intervals that hold the truth, and the mean width of the precision's."""
    n_labelled, n_others, prior, apart, repeats, n_boot, by_groups = task
    warnings.simplefilter("ignore")  # of precisions above 1
    population = Population(apart, prior)
    n_unl = n_others * ROWS
    k = population.k(n_unl)
    truth = population.truth(k / n_unl)
    rng = np.random.default_rng([n_labelled, n_others, round(1000 * prior), round(1000 * apart)])
    held = dict.fromkeys((*CRITERIA, "width"), 0.0)
    for _ in range(repeats):
        y, scores, is_positive, customer = draw(population, n_labelled, n_others, rng)
        how: dict[str, Any] = {"groups": customer if by_groups else None, "n_boot": n_boot, "random_state": 0}
        found: dict[str, Any] = {
            "recall": recall_at_k(y, scores, k, **how),
            "lift": lift_at_k(y, scores, k, **how),
            "precision": precision_at_k(y, scores, k, prior, **how),
            "average precision": average_precision(y, scores, prior, **how),
        }
        low, high = cast("Any", bbe(None, y, scores=scores, groups=how["groups"]).allowed)
        held["allowed"] += low <= prior <= high
        with suppress(ValueError):  # rows that are counted one by one are surer of the AUC than they may be
            found["AUC"] = pu_auc(y, scores, prior=prior, **how)
        for name, estimate in found.items():
            low, high = cast("RankingEstimate", estimate).interval
            held[name] += low <= truth[name] <= high
        low, high = found["precision"].interval
        held["precision here"] += low <= among_the_first(is_positive, y, scores, k) <= high
        held["width"] += high - low
        curve = ranking_curve(y, scores, prior=prior, n_points=20, **how)
        point = int(np.argmin(np.abs(curve.n_flagged - k)))
        low, high = cast("Any", curve.precision_interval)[point]
        held["curve here"] += low <= among_the_first(is_positive, y, scores, int(curve.n_flagged[point])) <= high
    return {name: count / repeats for name, count in held.items()}


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    cells = [(n, OTHERS, prior, apart) for n in (5, 20, 60) for prior in (0.1, 0.3)
             for apart in (1.0, 3.0)]  # fmt: skip
    tasks = [(*cell, options.repeats, options.boot, by_groups) for cell in cells for by_groups in (False, True)]
    found = run_tasks(covered, tasks, options.jobs, "alike")
    rows = [
        [f"{t[0]}", f"{t[1]}", f"{t[2]:g}", f"{t[3]:g}", "yes" if t[-1] else "no",
         *(f"{100 * one[name]:.0f}" for name in CRITERIA), f"{one['width']:.2f}"]
        for t, one in zip(tasks, found, strict=True)
    ]  # fmt: skip
    head = ["labelled customers", "other customers", "prior", "apart", "by groups", *CRITERIA,
            "width of the precision's"]  # fmt: skip
    missed = [
        1 - float(np.mean([one[name] for t, one in zip(tasks, found, strict=True) if t[-1] is by for name in CRITERIA]))
        for by in (False, True)
    ]
    names = ("labelled", "others", "prior", "apart")
    results = [dict(zip(names, t[:4], strict=True)) | {"by groups": t[-1]} | one
               for t, one in zip(tasks, found, strict=True)]  # fmt: skip
    title = f"Intervals where {ROWS} rows of a customer have similar scores"
    return table(head, rows, title=title), {
        "cells": results,
        "wrong": [("8: intervals and ranges of the prior that miss, by rows and by groups", *missed)],
    }
