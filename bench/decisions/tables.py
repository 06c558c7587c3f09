"""Estimates of the prior on tables with gaps and categories, by rows and by scores."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, cast

import claims
import numpy as np
from shared import run_tasks, table

import fastpu
from fastpu import priors

if TYPE_CHECKING:
    from argparse import Namespace

    from fastpu.priors import PriorEstimate

LABELLED, UNLABELLED = 400, 4000
WAYS = ("bbe", "bbe, fit=fit_forest", "bbe, out-of-bag scores", "km2, out-of-bag scores")


def _estimate(way: str, X: Any, y: Any, seed: int) -> PriorEstimate:
    if way == "bbe":
        return priors.bbe(X, y, random_state=seed, n_threads=1)
    if way == "bbe, fit=fit_forest":
        return priors.bbe(X, y, fit=_forest, random_state=seed, n_threads=1)
    scores = _forest(X, y).oob_decision_function
    if way == "bbe, out-of-bag scores":
        return priors.bbe(None, y, scores=scores)
    return priors.km2(None, y, scores=scores, random_state=seed, n_threads=1)


def _forest(X: Any, y: Any) -> Any:
    return fastpu.fit_forest(X, y, random_state=0, n_threads=1)


def estimated(task: tuple[str, float, float, int]) -> dict[str, float]:
    """Errors of the estimates of one way, how often the truth is allowed, and the seconds of one."""
    way, prior, apart, draws = task
    warnings.simplefilter("ignore")  # of bounds: how often there is one is counted
    errors, allowed, bound, refused = [], 0, 0, 0
    begun = time.process_time()
    for seed in range(draws):
        rng = np.random.default_rng([seed, round(1000 * prior), round(1000 * apart)])
        X, y, truth = claims.draw(LABELLED, UNLABELLED, prior, apart, rng)
        try:
            found = _estimate(way, X, y, seed)
        except (TypeError, ValueError):
            refused += 1
            continue
        share = float(truth[y == 0].mean())
        low, high = cast("tuple[float, float]", found.allowed)
        errors.append(found.value - share)
        allowed += low <= share <= high
        bound += found.only_upper_bound
    seconds = (time.process_time() - begun) / draws
    made = max(1, len(errors))
    return {
        "error": float(np.mean(np.abs(errors))) if errors else np.nan,
        "bias": float(np.mean(errors)) if errors else np.nan,
        "allowed": allowed / made,
        "bound": bound / made,
        "refused": refused / draws,
        "seconds": seconds,
    }


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    tasks = [(way, prior, apart, options.draws) for prior in (0.05, 0.2) for apart in (2.5, 4.0) for way in WAYS]
    found = run_tasks(estimated, tasks, options.jobs, "tables")
    rows = [
        [f"{prior:g}", f"{apart:g}", way, f"{one['error']:.3f} ({one['bias']:+.3f})",
         *(f"{100 * one[name]:.0f}" for name in ("allowed", "bound", "refused")), f"{one['seconds']:.1f}"]
        for (way, prior, apart, _), one in zip(tasks, found, strict=True)
    ]  # fmt: skip
    head = ["prior", "apart", "estimate", "mean error (bias)", "allowed holds the truth", "only a bound", "refused",
            "seconds"]  # fmt: skip
    title = (
        f"Priors on a table with gaps and {claims.SHOPS} shops, {LABELLED} labelled and {UNLABELLED:,} unlabelled rows"
    )
    wrong = float(np.mean([one["refused"] + (1 - one["refused"]) * (1 - one["allowed"]) for one in found]))
    results = [{"estimate": t[0], "prior": t[1], "apart": t[2]} | f for t, f in zip(tasks, found, strict=True)]
    return table(head, rows, title=title), {
        "cells": results,
        "wrong": [("1: estimates of a prior that are refused, or whose allowed range misses the truth", None, wrong)],
    }
