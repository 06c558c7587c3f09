"""Columns that know the labels are told of where out-of-bag scores tell labelled from unlabelled rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import fastpu
from fastpu.exceptions import LabelWarning
from fastpu.tree import _leaks

FITS = {
    "forest": lambda X, y, **rest: fastpu.fit_forest(X, y, n_trees=150, random_state=0, **rest),
    "boosted trees": lambda X, y, **rest: fastpu.fit_boosted_trees(X, y, n_bags=8, random_state=0, **rest),
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
TEXT = "out-of-bag scores tell labelled from unlabelled rows nearly perfectly"


def rows(seed=0, n=3000, n_pos=60):
    rng = np.random.default_rng([7, seed])
    truth = rng.random(n) < 0.05
    X = pd.DataFrame(rng.normal(size=(n, 6)) + 1.5 * truth[:, None], columns=list("abcdef"))
    y = np.zeros(n, dtype=int)
    y[rng.choice(np.flatnonzero(truth), n_pos, replace=False)] = 1
    return X, y, rng


LEAKS = {
    "a flag": lambda y, rng: y.astype(float),
    "a flag upside down": lambda y, rng: 1.0 - y,
    "a date that unlabelled rows lack": lambda y, rng: np.where(y == 1, rng.normal(size=y.size), np.nan),
    "a gap of labelled rows": lambda y, rng: np.where(y == 1, np.nan, rng.normal(size=y.size)),
    "an outcome": lambda y, rng: np.where(y == 1, "proven", rng.choice(list("uvw"), y.size)),
    "two outcomes": lambda y, rng: np.where(
        y == 1, rng.choice(["won", "lost"], y.size), rng.choice(list("uvw"), y.size)
    ),
    "numbers of cases in the middle": lambda y, rng: np.where(y == 1, 0, rng.choice([-1, 1], y.size)),
}


def told(fit, X, y, **rest):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit(X, y, **rest)
    return [str(one.message) for one in found if issubclass(one.category, LabelWarning)]


@each_fit
@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_a_column_that_knows_the_labels_is_named(leak, fit):
    X, y, rng = rows()
    X.insert(2, "leak", leak(y, rng))
    (text,) = told(fit, X, y)
    assert f"{TEXT}, and so by column 2 ('leak') alone. If" in text


def test_two_columns_are_both_named():
    X, y, _ = rows()
    X["first"], X["second"] = y, 3.0 * y
    (text,) = told(FITS["forest"], X, y)
    assert any(f"by column {i}" in text and f"and column {j}" in text for i, j in ((6, 7), (7, 6)))


@each_fit
@pytest.mark.parametrize("seed", range(3))
def test_honest_columns_are_not_suspected(seed, fit):
    X, y, rng = rows(seed)
    X["number"] = np.arange(y.size)
    X["name"] = rng.permutation(y.size).astype(str)
    X["shop"] = rng.choice([f"s{i}" for i in range(200)], y.size)
    assert told(fit, X, y) == []


@each_fit
def test_classes_far_apart_are_not_suspected_if_some_positives_are_unlabelled(fit):
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.1
    X = rng.normal(size=(3000, 4)) + 9.0 * truth[:, None]
    assert told(fit, X, truth & (rng.random(3000) < 0.5)) == []


def test_columns_that_do_it_together_are_named_by_their_gains():
    _, y, rng = rows()
    angle = rng.uniform(0, 2 * np.pi, y.size)
    radius = np.where(y == 1, rng.uniform(0, 1, y.size), rng.uniform(2, 3, y.size))
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), rng.normal(size=y.size)])
    (text,) = told(FITS["forest"], X, y)
    assert f"{TEXT}; the columns with the largest gains are column " in text
    assert {text.find(f"column {j}") < text.find("column 2") for j in (0, 1)} == {True}


def test_few_rows_say_nothing():
    X, y, _ = rows()
    X["leak"] = y
    some = np.concatenate([np.flatnonzero(y == 1)[:9], np.flatnonzero(y == 0)])
    assert told(FITS["forest"], X.iloc[some], y[some]) == []
    some = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:99]])
    assert told(FITS["forest"], X.iloc[some], y[some], bag_ratio=0.5) == []


def test_rows_of_weight_0_say_nothing():
    """The unlabelled rows that count are honest: only those of weight 0 lack the flag."""
    X, y, rng = rows()
    X["flag"] = np.where(y == 1, 1.0, rng.random(y.size) < 0.5)
    counted = (y == 1) | (X["flag"] == 1)
    assert told(FITS["forest"], X, y, sample_weight=counted.astype(float)) == []
    assert told(FITS["forest"], X.assign(flag=y), y, sample_weight=np.ones(y.size))


def test_the_auc_is_the_share_of_pairs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        pos, unl = rng.integers(0, 6, 30).astype(float), rng.integers(0, 5, 50).astype(float)
        pairs = np.mean((pos[:, None] > unl) + 0.5 * (pos[:, None] == unl))
        assert _leaks.auc_of_scores(pos, unl) == pytest.approx(pairs)
        of_pos, of_unl = np.bincount(pos.astype(int), minlength=7), np.bincount(unl.astype(int), minlength=7)
        codes = np.arange(7)
        assert _leaks._auc_of_counts(codes, codes, of_pos, of_unl) == pytest.approx(pairs)
