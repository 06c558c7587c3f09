"""Intervals where the prior is an estimate, often an upper bound only."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from populations import Population, among_the_first
from shared import run_tasks, table

from fastpu import priors
from fastpu.metrics import average_precision, precision_at_k, pu_auc, ranking_curve

if TYPE_CHECKING:
    from argparse import Namespace

    from fastpu.metrics import RankingEstimate

LABELLED = 200
COLUMNS = 3
CRITERIA = ("precision here", "curve here", "average precision", "AUC")


def covered(task: tuple[int, float, float, int, int]) -> dict[str, float]:
    """How often the truth is allowed, and the shares of intervals that hold it where it is."""
    n_unl, prior, apart, repeats, n_boot = task
    warnings.simplefilter("ignore")  # of bounds, and of precisions above 1: what they say is what is measured
    population = Population(apart, prior)
    k = population.k(n_unl)
    truth = population.truth(k / n_unl)
    rng = np.random.default_rng([n_unl, round(1000 * prior), round(1000 * apart)])
    counts = dict.fromkeys(("bound", "allowed", "as a number", *CRITERIA), 0.0)
    for _ in range(repeats):
        y, scores, is_positive, X = population.draw(LABELLED, n_unl, rng, COLUMNS)
        estimate = priors.bbe(X, y, random_state=rng, n_threads=1)
        counts["bound"] += estimate.only_upper_bound
        low, high = cast("tuple[float, float]", estimate.allowed)
        if not low <= prior <= high:
            continue
        counts["allowed"] += 1
        how: dict[str, Any] = {"n_boot": n_boot, "random_state": rng}
        here = among_the_first(is_positive, y, scores, k)
        low, high = cast("RankingEstimate", precision_at_k(y, scores, k, estimate.value, **how)).interval
        counts["as a number"] += low <= here <= high
        low, high = cast("RankingEstimate", precision_at_k(y, scores, k, estimate, **how)).interval
        counts["precision here"] += low <= here <= high
        curve = ranking_curve(y, scores, prior=estimate, n_points=20, **how)
        point = int(np.argmin(np.abs(curve.n_flagged - k)))
        low, high = cast("Any", curve.precision_interval)[point]
        counts["curve here"] += low <= among_the_first(is_positive, y, scores, int(curve.n_flagged[point])) <= high
        low, high = cast("RankingEstimate", average_precision(y, scores, estimate, **how)).interval
        counts["average precision"] += low <= truth["average precision"] <= high
        try:
            low, high = cast("RankingEstimate", pu_auc(y, scores, prior=estimate, **how)).interval
        except ValueError:  # by the estimate the AUC is far above 1, and it is refused
            low, high = 0.0, 1.0
        counts["AUC"] += low <= truth["AUC"] <= high
    allowed = max(1.0, counts["allowed"])
    of_all = {name: counts[name] / repeats for name in ("bound", "allowed")}
    return of_all | {name: counts[name] / allowed for name in ("as a number", *CRITERIA)}


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    tasks = [
        (options.unlabelled, prior, apart, options.repeats, options.boot)
        for prior in options.priors
        for apart in options.apart
    ]
    found = run_tasks(covered, tasks, options.jobs, "bounds")
    names = ("bound", "allowed", "as a number", *CRITERIA)
    rows = [
        [f"{prior:g}", f"{apart:g}", *(f"{100 * shares[name]:.0f}" for name in names)]
        for (_, prior, apart, _, _), shares in zip(tasks, found, strict=True)
    ]
    head = ["prior", "apart", "only a bound", "allowed holds the prior", "precision by the number alone", *CRITERIA]
    results = [dict(zip(("prior", "apart"), t[1:3], strict=True)) | f for t, f in zip(tasks, found, strict=True)]
    missed = {name: 1 - float(np.mean([one[name] for one in found])) for name in names[2:]}
    all_of = float(np.mean([missed[name] for name in CRITERIA]))
    title = f"An estimated prior, {LABELLED} labelled and {options.unlabelled:,} unlabelled rows"
    return table(head, rows, title=title), {
        "cells": results,
        "wrong": [
            (
                "2: precisions whose interval misses, by the estimate as a number and with its range",
                missed["as a number"],
                missed["precision here"],
            ),
            ("2: all intervals with an estimated prior that miss", None, all_of),
        ],
    }
