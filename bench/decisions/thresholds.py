"""The share of fresh rows that a threshold calls positive, by in-sample and by out-of-bag scores, and its interval."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from learners import LEARNERS
from samples import draw
from shared import run_tasks, table

import fastpu

if TYPE_CHECKING:
    from argparse import Namespace

ASKED, FRESH, CHECKED = 0.05, 50_000, 2000
WITHIN = 0.1
WAYS = ("training rows", "out of bag")
MODELS = {**LEARNERS, "bagging SVM": fastpu.fit_bagging_svm}


def shares(task: tuple[str, int, int]) -> list[tuple[float, float, bool, bool]]:
    """The shares called positive where ASKED is the prior, draw by draw, by the scores of WAYS.

    And whether the interval of `threshold_rule` and the range of `check` hold the latter.
    """
    name, n_labelled, repeats = task
    warnings.simplefilter("ignore")
    found = []
    for repeat in range(repeats):
        rows = draw("normals", n_labelled, FRESH, np.random.default_rng([n_labelled, repeat]))
        model = MODELS[name](rows.X, rows.y, random_state=repeat, n_threads=1)
        placed = model.with_threshold(prior=ASKED, X_unl=rows.X[~rows.y]), model.with_threshold(prior=ASKED)
        scores = model.decision_function(rows.fresh, n_threads=1)
        before, after = (float(np.mean(scores > each.threshold)) for each in placed)
        ends = re.search(r"the share among all rows like these is ([\d.]+) to ([\d.]+)", placed[1].threshold_rule)
        of_rule = tuple(map(float, ends.groups())) if ends else (0.0, 0.0)
        of_check = placed[1].check(rows.fresh[:CHECKED], n_threads=1)
        low, high = of_check.positive_range
        found.append((before, after, of_rule[0] <= after <= of_rule[1], low <= of_check.positive <= high))
    return found


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    tasks = [(name, n_labelled, options.draws) for name in MODELS for n_labelled in options.labelled]
    found = run_tasks(shares, tasks, options.jobs, "thresholds")
    rows = []
    for (name, n_labelled, _), cell in zip(tasks, found, strict=True):
        of_ways, held = np.array([one[:2] for one in cell]), np.mean([one[2:] for one in cell], axis=0)
        means, spreads = of_ways.mean(axis=0), of_ways.std(axis=0)
        said = [f"{m:.3f} ± {s:.3f}" for m, s in zip(means, spreads, strict=True)]
        rows.append([name, str(n_labelled), *said, *(f"{100 * share:.0f}" for share in held)])
    title = (
        f"The share of fresh rows called positive where {ASKED:g} is asked for, mean and spread ({options.draws} draws)"
    )
    of_cells = np.array([[one[:2] for one in cell] for cell in found])
    off = np.abs(of_cells.mean(axis=1) / ASKED - 1) > WITHIN
    far = np.abs(of_cells / ASKED - 1) > WITHIN
    misses = 1 - np.array([one[2:] for cell in found for one in cell]).mean(axis=0)
    results = [dict(zip(("learner", "labelled"), task[:2], strict=True)) | {"shares": cell}
               for task, cell in zip(tasks, found, strict=True)]  # fmt: skip
    head = ["learner", "labelled", *WAYS, "interval of the rule holds, %", f"range of {CHECKED:,} rows holds, %"]
    return table(head, rows, title=title), {
        "cells": results,
        "wrong": [
            ("3: cells whose mean share is off by more than a tenth", *off.mean(axis=0).tolist()),
            ("3: draws whose share is off by more than a tenth", *far.mean(axis=(0, 1)).tolist()),
            ("3: draws whose share is outside the interval of 90 % of `threshold_rule`", None, float(misses[0])),
            (f"3: batches of {CHECKED:,} whose share is outside the range of nine of ten", None, float(misses[1])),
        ],
    }
