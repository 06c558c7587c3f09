"""Priors of rows that belong together: whole groups are held out, and redrawn."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu.priors import bbe
from fastpu.priors._sample import GroupedSample


def customers(seed, n=200, rows=8):
    rng = np.random.default_rng(seed)
    kind = rng.permutation(np.arange(n) % 7)  # two of seven are positive, one of these is labelled
    centre = 3.0 * rng.standard_normal((n, 6)) + 10.0 * (kind < 2)[:, None] * (np.arange(6) == 0)
    X = np.repeat(centre, rows, axis=0) + 0.2 * rng.standard_normal((n * rows, 6))
    return X, np.repeat(kind == 0, rows), np.repeat(np.arange(n), rows)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")
def test_an_estimate_by_groups_is_that_of_customers():
    plain, grouped = [], []
    for seed in range(4):
        X, y, customer = customers(seed)
        plain.append(bbe(X, y, random_state=0).value)
        grouped.append(bbe(X, y, groups=customer, random_state=0).value)
    assert np.mean(plain) < 0.08  # one of six is true
    assert 0.11 < np.mean(grouped) < 0.25


def test_folds_and_samples_keep_groups_together():
    _, y, customer = customers(0, n=40)
    sample = GroupedSample(np.flatnonzero(y), np.flatnonzero(~y), customer.astype(np.int32))
    rng = np.random.default_rng(0)
    for drawn in (sample, sample.redrawn(rng), sample.redrawn(rng)):
        pos, unl, n_folds = drawn.folds(rng)
        fold, own = np.concatenate([pos, unl]), customer[np.concatenate([drawn.pos, drawn.unl])]
        assert n_folds > 1
        for one in np.unique(own):
            assert np.unique(fold[own == one]).size == 1
            assert np.count_nonzero(own == one) % 8 == 0  # all of its rows, as often as it was drawn
    assert np.unique(customer[sample.redrawn(rng).unl]).size < np.unique(customer[sample.unl]).size


def test_an_interval_by_groups_is_wider():
    X, y, customer = customers(0)
    scores = X[:, 0]
    given = {"scores": scores, "n_boot": 40, "random_state": 0}
    plain, grouped = bbe(None, y, **given), bbe(None, y, groups=customer, **given)
    assert grouped.value == plain.value
    assert np.std(grouped.samples) > 1.3 * np.std(plain.samples)


def test_a_single_group_of_positive_rows_allows_no_estimate():
    X, y, customer = customers(0, n=40)
    one = np.where(y, -1, customer)
    with pytest.raises(ValueError, match="groups must have at least two groups with positive rows, got one"):
        bbe(X, y, groups=one)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")
def test_groups_of_copies_allow_what_single_rows_allow():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [60, 400])
    scores = rng.normal(size=460) + 3.0 * ((y == 1) | (rng.random(460) < 0.2))
    one = bbe(None, y, scores=scores)
    copied = {"scores": np.repeat(scores, 2), "groups": [f"row {i // 2}" for i in range(920)]}
    found = bbe(None, np.repeat(y, 2), **copied)
    assert found.value == bbe(None, np.repeat(y, 2), scores=np.repeat(scores, 2)).value  # that of the rows
    assert found.allowed == pytest.approx(one.allowed)
    assert bbe(None, y, scores=scores, groups=np.arange(460)[::-1]).allowed == one.allowed
    by_rows = bbe(None, np.repeat(y, 2), scores=np.repeat(scores, 2)).allowed
    assert np.ptp(by_rows) < 0.9 * np.ptp(one.allowed)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")
@pytest.mark.parametrize("sizes", ["ten rows each", "one to many rows"])
def test_what_is_allowed_by_groups_holds_the_truth_where_rows_do_not(sizes):
    held = {"rows": [], "groups": []}
    rng = np.random.default_rng(3)
    for n_labelled, n_others, prior, apart in ((20, 200, 0.05, 2.0), (60, 400, 0.2, 5.0), (60, 400, 0.2, 2.0)):
        for _ in range(20):
            n = n_labelled + n_others
            truth = np.concatenate([np.ones(n_labelled, dtype=bool), rng.random(n_others) < prior])
            rows = np.full(n, 10) if sizes == "ten rows each" else rng.geometric(0.1, n)
            customer = np.repeat(np.arange(n), rows)
            own = np.sqrt(0.9) * rng.normal(size=n) + apart * truth
            scores = own[customer] + np.sqrt(0.1) * rng.normal(size=customer.size)
            for by, groups in (("rows", None), ("groups", customer)):
                low, high = bbe(None, customer < n_labelled, scores=scores, groups=groups).allowed
                held[by].append(low <= prior <= high)
    assert np.mean(held["groups"]) >= 0.9
    assert np.mean(held["rows"]) < 0.85


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")
def test_default_rankers_allow_more_by_groups():
    X, y, customer = customers(0, n=60)
    plain, grouped = (bbe(X, y, groups=groups, random_state=0).allowed for groups in (np.arange(y.size), customer))
    assert np.ptp(grouped) > 1.5 * np.ptp(plain)
