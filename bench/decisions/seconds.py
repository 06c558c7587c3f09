"""CPU seconds of what follows a fit, beside those of the fit: a check of a batch, priors, thresholds, probabilities."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from samples import draw
from shared import run_tasks, table

import fastpu
from fastpu import priors

if TYPE_CHECKING:
    from argparse import Namespace

LABELLED, FRESH, PRIOR = 800, 20_000, 0.01


def measured(seed: int) -> dict[str, float]:
    warnings.simplefilter("ignore")
    rows = draw("claims", LABELLED, FRESH, np.random.default_rng(seed))
    seconds, last = {}, time.process_time()

    def lap(name: str) -> None:
        nonlocal last
        now = time.process_time()
        seconds[name], last = now - last, time.process_time()

    model = fastpu.fit_forest(rows.X, rows.y, random_state=seed, n_threads=1)
    lap("fit_forest")
    scores = model.oob_decision_function
    known = ~np.isnan(scores)
    priors.bbe(None, rows.y[known], scores=scores[known])
    lap("bbe by out-of-bag scores")
    model.with_threshold(prior=PRIOR)
    lap("with_threshold(prior=...)")
    model.with_threshold(k=500, X_unl=rows.fresh, n_threads=1)
    lap("with_threshold(k=500), of 20,000 rows")
    model.with_probabilities(prior=PRIOR, y=rows.y)
    lap("with_probabilities")
    model.decision_function(rows.fresh, n_threads=1)
    lap("decision_function of 20,000 rows")
    model.check(rows.fresh, n_threads=1)
    lap("check of 20,000 rows")
    return seconds


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    found = run_tasks(measured, list(range(options.draws)), options.jobs, "seconds")
    medians = {name: float(np.median([each[name] for each in found])) for name in found[0]}
    rows = [[name, f"{seconds:.3f}", f"{seconds / medians['fit_forest']:.2f}"] for name, seconds in medians.items()]
    title = f"CPU seconds with one thread, {LABELLED} labelled and 200,000 unlabelled claims"
    return table(["step", "seconds", "of the fit"], rows, title=title), {"draws": found}
