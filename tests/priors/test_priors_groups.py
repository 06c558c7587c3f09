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
