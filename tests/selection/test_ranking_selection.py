"""`select` by lift and average precision: the metrics on the rows held out."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from fastpu.metrics import average_precision, lift_at_k
from helpers import refused
from selection_cases import Recorder, pu_data

pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")


def ranked(X, y, *, column=0):
    """A model whose score is one column."""

    class Model:
        converged, status = True, "tol"
        decision_function = staticmethod(lambda rows: np.asarray(rows)[:, column])

    return Model()


def folds(y):
    rows = np.arange(y.size)
    return [(rows[rows % 3 != part], rows[rows % 3 == part]) for part in range(3)]


@pytest.mark.parametrize("labels", ["PU", "PUN"])
def test_scores_are_the_metrics_of_positive_and_unlabelled_rows_held_out(labels):
    X, y, truth = pu_data(150, 45)
    if labels == "PUN":
        y = np.where((truth == -1) & (np.arange(150) % 5 == 0), -1, y)
    cv = folds(y)
    grid = {"column": [0, 1]}
    for scoring, options in (("lift", {"k": 0.2}), ("lift", {"k": 4}), ("average_precision", {"prior": 0.3})):
        chosen = fastpu.select(ranked, X, y, grid, scoring=scoring, cv=cv, **options)
        expected = np.empty((2, 3))
        for column in (0, 1):
            for part, (_, held) in enumerate(cv):
                pos, unl = (X[held[y[held] == label], column] for label in (1, 0))
                function = lift_at_k if scoring == "lift" else average_precision
                expected[column, part] = function(pos, unl, **options)
        np.testing.assert_array_equal([chosen.table[f"fold_{part}"] for part in range(3)], expected.T)
        assert chosen.best_params["column"] == expected.mean(axis=1).argmax()
        assert chosen.scoring == scoring


def test_the_prior_of_a_single_set_becomes_that_of_the_unlabelled_rows():
    X, y, _ = pu_data(120, 30)
    cv = folds(y)[:1]
    held = cv[0][1]
    pos, unl = (X[held[y[held] == label], 0] for label in (1, 0))
    prior = (0.5 * held.size - pos.size) / unl.size
    chosen = fastpu.select(
        ranked, X, y, {"column": [0]}, scoring="average_precision", cv=cv, prior=0.5, scenario="single_set"
    )
    assert chosen.best_score == pytest.approx(average_precision(pos, unl, prior=prior), abs=1e-14)


def test_a_fit_that_takes_the_prior_is_given_it():
    X, y, _ = pu_data(120, 30)
    seen = []

    def fit(X, y, *, prior, column=0):
        seen.append(prior)
        return ranked(X, y, column=column)

    fastpu.select(fit, X, y, {"column": [0]}, scoring="lift", k=0.1, cv=2, prior=0.25, random_state=0)
    fastpu.select(fit, X, y, {"column": [0]}, scoring="average_precision", cv=2, prior=0.25, random_state=0)
    assert seen == [0.25] * 6


ROWS = np.arange(40)
CASES = {
    "no k": ({"scoring": "lift"}, TypeError, "k must be a whole number of unlabelled rows >= 1, or a share of them"),
    "k": ({"scoring": "lift", "k": 1.5}, ValueError, "in (0, 1], got 1.5"),
    "idle k": ({"k": 5}, ValueError, "k must be None unless scoring='lift', got 5 for scoring='puf' (str)"),
    "k of a function": ({"scoring": max, "k": 5}, ValueError, "k must be None unless scoring='lift', got 5 for scor"),
    "too large in a fold": (
        {"scoring": "lift", "k": 8},
        ValueError,
        "k must be at most 7, the number of unlabelled rows in fold 0 of 4, got 8; the share of rows",
    ),
    "too large in one fold of the user's": (
        {"scoring": "lift", "k": 5, "cv": [(ROWS, ROWS), (ROWS, np.flatnonzero(ROWS % 10 == 9))]},
        ValueError,
        "k must be at most 3, the number of unlabelled rows in fold 1 of 2, got 5",
    ),
    "too large for a validation set": (
        {"scoring": "lift", "k": 3, "validation": (np.zeros((3, 2)), [1, 0, 0])},
        ValueError,
        "k must be at most 2, the number of unlabelled rows in y of validation, got 3",
    ),
    "cv as text": (
        {"cv": "5"},
        TypeError,
        "cv must be an integer >= 2 or pairs of arrays of row numbers, got '5' (str",
    ),
    "no prior": ({"scoring": "average_precision"}, ValueError, "prior must be given for scoring='average_precision'"),
    "idle prior": ({"scoring": "lift", "k": 1, "prior": 0.5}, ValueError, "prior must be None where neither scoring"),
    "no unlabelled row": ({"y": [1] * 40, "scoring": "lift", "k": 1}, ValueError, "(0) for scoring='lift', got 40 pos"),
    "only unlabelled rows": (
        {"y": [0] * 40, "scoring": "average_precision", "prior": 0.5},
        ValueError,
        "(0) for scoring='average_precision', got 0 positive",
    ),
    "impossible prior": (
        {"scoring": "average_precision", "prior": 0.2, "scenario": "single_set"},
        ValueError,
        "prior must be at least 0.3 with scenario='single_set'",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_arguments(case):
    options, error, text = CASES[case]
    X, y, _ = pu_data(40, 12)
    call = {"y": y, **options}
    refused(error, text, fastpu.select, Recorder(), X, call.pop("y"), {"shift": [0.0, 1.0]}, **call)
