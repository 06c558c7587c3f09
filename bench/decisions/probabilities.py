"""Probabilities of the first rows beside the truth, and the log loss of all, by each way to calibrate."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from learners import LEARNERS
from samples import draw
from shared import run_tasks, table

from fastpu.metrics import precision_at_k

if TYPE_CHECKING:
    from argparse import Namespace

FIRST = 500  # rows of the claims; of smaller populations a third of the positive ones
METHODS = ("sigmoid", "isotonic", "beta")
WITHIN = 0.15


def measured(task: tuple[str, str, int, int]) -> list[dict[str, float]]:
    """For every draw the truth, the precision and by each method the mean of the first rows, and the log loss."""
    population, name, n_labelled, repeats = task
    warnings.simplefilter("ignore")
    found = []
    for repeat in range(repeats):
        rows = draw(population, n_labelled, 1, np.random.default_rng([n_labelled, repeat]))
        model = LEARNERS[name](rows.X, rows.y, random_state=repeat, n_threads=1)
        scores, truth, prior = model.oob_decision_function, rows.truth, rows.prior
        unl = np.flatnonzero(~rows.y & ~np.isnan(scores))
        k = min(FIRST, round(prior * unl.size / 3))
        first = unl[np.argsort(-scores[unl], kind="stable")[:k]]
        known = ~np.isnan(scores)
        one = {
            "truth": float(truth[first].mean()),
            "precision": float(precision_at_k(rows.y[known], scores[known], k, prior)),
        }
        for method in METHODS:
            proba = model.with_probabilities(prior=prior, y=rows.y, method=method).oob_predict_proba[:, 1]
            p = np.clip(proba[unl], 1e-6, 1 - 1e-6)
            one[f"first, {method}"] = float(proba[first].mean())
            one[f"loss, {method}"] = float(-np.mean(np.where(truth[unl], np.log(p), np.log1p(-p))))
        found.append(one)
    return found


def report(options: Namespace) -> tuple[str, dict[str, Any]]:
    tasks = [
        (population, name, n_labelled, options.draws)
        for population in options.populations
        for name in LEARNERS
        for n_labelled in options.labelled
    ]
    found = run_tasks(measured, tasks, options.jobs, "probabilities")
    rows = []
    for (population, name, n_labelled, _), cell in zip(tasks, found, strict=True):
        column = {key: np.array([one[key] for one in cell]) for key in cell[0]}
        truth, precision = column["truth"], column["precision"]
        cells = [f"{column[f'first, {m}'].mean():.2f}" for m in METHODS]
        cells += [f"{column[f'first, {m}'].mean() / truth.mean() - 1:+.0%}" for m in METHODS]
        cells += [f"{np.mean(np.abs(column[f'first, {m}'] / precision - 1) <= WITHIN):.0%}" for m in METHODS]
        losses = [column[f"loss, {m}"].mean() for m in METHODS]
        cells += [f"{loss / losses[0] - 1:+.1%}" for loss in losses[1:]]
        rows.append([population, name, str(n_labelled), f"{truth.mean():.2f}", f"{precision.mean():.2f}", *cells])
    head = ["rows", "learner", "labelled", "truth", "precision_at_k", *METHODS, *(f"{m} off by" for m in METHODS),
            *(f"{m} near precision_at_k" for m in METHODS), *(f"log loss of {m}" for m in METHODS[1:])]  # fmt: skip
    title = (
        f"The mean probability of the first rows ({FIRST} claims, else as many as a third of the positives), the prior "
        f"known, {options.draws} draws; near: draws within {WITHIN:.0%}; log loss beside that of the sigmoid"
    )
    truths = [float(np.mean([one["truth"] for one in cell])) for cell in found]
    far = {}
    for m in METHODS:
        means = [float(np.mean([one[f"first, {m}"] for one in cell])) for cell in found]
        far[m] = float(np.mean(np.abs(np.divide(means, truths) - 1) > WITHIN))
    results = [dict(zip(("rows", "learner", "labelled"), task[:3], strict=True)) | {"draws": cell}
               for task, cell in zip(tasks, found, strict=True)]  # fmt: skip
    return table(head, rows, title=title), {
        "cells": results,
        "wrong": [
            (
                "4: cells whose mean probability of the first rows is off by more than 15 %, sigmoid and beta",
                far["sigmoid"],
                far["beta"],
            ),
        ],
    }
