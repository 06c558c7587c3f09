"""Columns that know the labels are told of where out-of-bag scores tell labelled from unlabelled rows."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom

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


PARTS = {
    "a flag": lambda known, rng: known.astype(float),
    "a late date": lambda known, rng: np.where(known, 5.0 + rng.random(known.size), rng.normal(size=known.size)),
    "a date that others lack": lambda known, rng: np.where(known, rng.normal(size=known.size), np.nan),
    "two outcomes": lambda known, rng: np.where(
        known, rng.choice(["won", "lost"], known.size), rng.choice(list("uvw"), known.size)
    ),
}


@each_fit
@pytest.mark.parametrize("share", [0.95, 0.7])
@pytest.mark.parametrize("leak", PARTS.values(), ids=PARTS)
def test_a_column_that_knows_most_of_the_labels_is_named(leak, share, fit):
    X, y, rng = rows()
    known = (y == 1) & (np.cumsum(y) <= share * y.sum())
    X.insert(2, "leak", leak(known, rng))
    (text,) = told(fit, X, y)
    said = r": in column 2 \('leak'\) (\d+) of 60 labelled rows have entries that none of 2940 unlabelled rows has\. If"
    number, n = int(re.search(said, text).group(1)), np.count_nonzero(known)
    assert n - 12 < number <= n if leak is PARTS["a late date"] else number == n  # a bin of dates may hold both


@each_fit
def test_what_hidden_positives_have_too_is_no_leak(fit):
    X, y, rng = rows()
    truth = np.random.default_rng([7, 0]).random(y.size) < 0.05  # that of the rows
    X["proof"] = np.where(truth & (rng.random(y.size) < 0.95), 1.0, 0.0)
    assert told(fit, X, y) == []


@each_fit
def test_too_few_unlabelled_rows_say_nothing_of_a_part(fit):
    X, y, _ = rows()
    X["flag"] = (y == 1) & (np.cumsum(y) <= 50)
    some = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:1100]])
    assert told(fit, X.iloc[some], y[some]) == []
    with_groups = told(FITS["forest"], X, y, groups=np.arange(y.size) // 3)  # of 3,000 rows, 1,000 customers
    assert with_groups == []


def test_columns_that_are_not_looked_at_further_tell_nothing():
    """The cheap look leaves out no column that one of the others would find, and many of those that none finds."""
    rng = np.random.default_rng(1)
    kept, told = 0, 0
    for _ in range(3000):
        n_bins = int(rng.integers(2, 40))
        of_pos = rng.multinomial(rng.integers(10, 200), rng.dirichlet(np.full(n_bins, 0.3))).astype(float)
        of_unl = rng.multinomial(rng.integers(1200, 20_000), rng.dirichlet(np.full(n_bins, 0.3))).astype(float)
        tells = _leaks._separates(of_pos, of_unl) or _leaks._part_apart(of_pos, of_unl, of_unl.sum()) is not None
        looked_at = _leaks._may_tell_apart(of_pos, of_unl)
        assert looked_at or not tells
        kept, told = kept + looked_at, told + tells
    assert 100 < told < kept < 2500


@pytest.mark.parametrize("n_pos", [30, 800])
def test_columns_of_noise_are_not_looked_at_further(n_pos):
    rng = np.random.default_rng(2)
    of_pos, of_unl = (rng.multinomial(n, np.full(256, 1 / 256), size=50).astype(float) for n in (n_pos, 20_000))
    assert not any(_leaks._may_tell_apart(*of_both) for of_both in zip(of_pos, of_unl, strict=True))


@pytest.mark.parametrize("n_unl", [1211, 1500, 1800, 4000, 20_000])
def test_an_honest_mark_of_positives_is_hardly_ever_suspected(n_unl):
    """Of 95 % of the positives and no other row, where one unlabelled row in 200 is positive."""
    told = 0.0
    for n_marked in range(20):
        counts = np.array([3.0, 57.0]), np.array([n_unl - n_marked, float(n_marked)])
        if _leaks._part_apart(*counts, float(n_unl)) is not None:
            told += binom.pmf(n_marked, n_unl, 0.95 * 0.005)
    assert told < 0.0035
    assert _leaks._part_apart(np.array([3.0, 57]), np.array([n_unl, 0.0]), float(n_unl)) == (57, 0)
    assert _leaks._part_apart(np.array([3.0, 57]), np.array([1200.0, 0]), 1200.0) is None


def test_a_part_is_the_purest_of_all_that_hold_half_of_the_labelled_rows():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(200):
        of_pos = rng.integers(0, 12, 6) * (rng.random(6) < 0.5)
        of_unl = rng.integers(0, 4000, 6) * (rng.random(6) < 0.5) + (of_pos > 0) * rng.integers(0, 3, 6)
        if not of_pos.any() or of_unl.sum() < 2000:
            continue
        of_pos, of_unl = of_pos.astype(float), of_unl.astype(float)
        share = of_pos / np.maximum(of_pos + of_unl - 1, 1)
        own = (of_pos - 1) / np.maximum(of_pos + of_unl - 1, 1)
        parts = [(of_pos[:i].sum(), of_unl[:i].sum()) for i in range(1, 7)]
        parts += [(of_pos[i:].sum(), of_unl[i:].sum()) for i in range(1, 7)]
        parts += [(of_pos[own >= cut].sum(), of_unl[share >= cut].sum()) for cut in own[of_pos > 0]]
        n_pos, n_unl = of_pos.sum(), of_unl.sum()
        bounds = [
            beta.ppf(0.99, u + 1, n_unl - u) / (p / n_pos) if u < n_unl else np.inf
            for p, u in parts if p >= n_pos / 2
        ]  # fmt: skip
        part = _leaks._part_apart(of_pos, of_unl, n_unl)
        assert (part is not None) == (min(bounds) <= 0.004)
        if part is not None:
            found += 1
            assert beta.ppf(0.99, part[1] + 1, n_unl - part[1]) / (part[0] / n_pos) == pytest.approx(min(bounds))
            assert _leaks._part_apart(of_pos, of_unl, 1000.0) is None
    assert 5 < found < 150
