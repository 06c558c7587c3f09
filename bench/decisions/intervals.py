"""Intervals of few labelled rows, the prior known."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from populations import Population, among_the_first
from shared import run_tasks, table

from fastpu.metrics import average_precision, lift_at_k, precision_at_k, pu_auc, ranking_curve, recall_at_k

if TYPE_CHECKING:
    from argparse import Namespace

    from fastpu.metrics import RankingEstimate

CRITERIA = ("recall", "lift", "precision", "precision here", "curve here", "average precision", "AUC")


def covered(task: tuple[int, int, float, float, int, int]) -> dict[str, float]:
    """The shares of intervals that hold the truth, and of precisions whose interval is empty."""
    n_pos, n_unl, prior, apart, repeats, n_boot = task
    warnings.simplefilter("ignore")  # of bounds, and of precisions above 1: what they say is what is measured
    population = Population(apart, prior)
    k = population.k(n_unl)
    truth = population.truth(k / n_unl)
    rng = np.random.default_rng([n_pos, n_unl, round(1000 * prior), round(1000 * apart)])
    held = dict.fromkeys((*CRITERIA, "empty", "width"), 0.0)
    for _ in range(repeats):
        y, scores, is_positive, _ = population.draw(n_pos, n_unl, rng)
        how: dict[str, Any] = {"n_boot": n_boot, "random_state": rng}
        estimates = {
            "recall": recall_at_k(y, scores, k, **how),
            "lift": lift_at_k(y, scores, k, **how),
            "precision": precision_at_k(y, scores, k, prior, **how),
            "average precision": average_precision(y, scores, prior, **how),
            "AUC": pu_auc(y, scores, prior=prior, **how),
        }
        ends = {name: cast("RankingEstimate", estimate).interval for name, estimate in estimates.items()}
        here = among_the_first(is_positive, y, scores, k)
        curve = ranking_curve(y, scores, prior=prior, n_points=20, **how)
        point = int(np.argmin(np.abs(curve.n_flagged - k)))
        low, high = cast("Any", curve.precision_interval)[point]
        held["curve here"] += low <= among_the_first(is_positive, y, scores, int(curve.n_flagged[point])) <= high
        for name, (low, high) in ends.items():
            held[name] += low <= truth[name] <= high
        low, high = ends["precision"]
        held["precision here"] += low <= here <= high
        held["empty"] += high == 0
        held["width"] += high - low
    return {name: float(count) / repeats for name, count in held.items()}


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    cells = [(prior, apart) for prior in options.priors for apart in options.apart]
    tasks = [
        (n_pos, options.unlabelled, prior, apart, options.repeats, options.boot)
        for n_pos in options.labels
        for prior, apart in cells
    ]
    found = run_tasks(covered, tasks, options.jobs, "intervals")
    rows = [
        [f"{n_pos}", f"{prior:g}", f"{apart:g}", *(f"{100 * shares[name]:.0f}" for name in (*CRITERIA, "empty")),
         f"{shares['width']:.2f}"]
        for (n_pos, _, prior, apart, _, _), shares in zip(tasks, found, strict=True)
    ]  # fmt: skip
    missed = 1 - float(np.mean([shares[name] for shares in found for name in CRITERIA]))
    empty = float(np.mean([shares["empty"] for shares in found]))
    head = ["labelled", "prior", "apart", *CRITERIA, "0 to 0", "width of the precision's"]
    results = [dict(zip(("labelled", "prior", "apart"), (t[0], t[2], t[3]), strict=True)) | f
               for t, f in zip(tasks, found, strict=True)]  # fmt: skip
    return table(head, rows, title=f"Few labelled rows, {options.unlabelled:,} unlabelled ones"), {
        "cells": results,
        "wrong": [
            ("7: intervals of few labels that miss", None, missed),
            ("7: intervals of a precision that are 0 to 0", None, empty),
        ],
    }
