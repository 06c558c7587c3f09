"""The share of fresh rows that a threshold calls positive, by in-sample and by out-of-bag scores."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from learners import LEARNERS
from samples import draw
from shared import run_tasks, table

import fastpu

if TYPE_CHECKING:
    from argparse import Namespace

ASKED, FRESH = 0.05, 20_000
WITHIN = 0.1
WAYS = ("training rows", "out of bag")
MODELS = {**LEARNERS, "bagging SVM": fastpu.fit_bagging_svm}


def shares(task: tuple[str, int, int]) -> list[tuple[float, float]]:
    """The shares called positive where ASKED is the prior, draw by draw, by the scores of WAYS."""
    name, n_labelled, repeats = task
    warnings.simplefilter("ignore")
    found = []
    for repeat in range(repeats):
        rows = draw("normals", n_labelled, FRESH, np.random.default_rng([n_labelled, repeat]))
        model = MODELS[name](rows.X, rows.y, random_state=repeat, n_threads=1)
        placed = model.with_threshold(prior=ASKED, X_unl=rows.X[~rows.y]), model.with_threshold(prior=ASKED)
        before, after = (float(np.mean(each.predict(rows.fresh) == 1)) for each in placed)
        found.append((before, after))
    return found


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    tasks = [(name, n_labelled, options.draws) for name in MODELS for n_labelled in options.labelled]
    found = run_tasks(shares, tasks, options.jobs, "thresholds")
    rows = []
    for (name, n_labelled, _), cell in zip(tasks, found, strict=True):
        means, spreads = np.mean(cell, axis=0), np.std(cell, axis=0)
        rows.append([name, str(n_labelled), *(f"{m:.3f} ± {s:.3f}" for m, s in zip(means, spreads, strict=True))])
    title = (
        f"The share of fresh rows called positive where {ASKED:g} is asked for, mean and spread ({options.draws} draws)"
    )
    off = np.abs(np.array([np.mean(cell, axis=0) for cell in found]) / ASKED - 1) > WITHIN
    far = np.abs(np.concatenate(found) / ASKED - 1) > WITHIN
    results = [dict(zip(("learner", "labelled"), task[:2], strict=True)) | {"shares": cell}
               for task, cell in zip(tasks, found, strict=True)]  # fmt: skip
    return table(["learner", "labelled", *WAYS], rows, title=title), {
        "cells": results,
        "wrong": [
            ("3: cells whose mean share is off by more than a tenth", *off.mean(axis=0).tolist()),
            ("3: draws whose share is off by more than a tenth", *far.mean(axis=0).tolist()),
        ],
    }
