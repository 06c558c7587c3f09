"""Boosted stumps of rows in shards: the same bits as of all rows together, however they are shared out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import fastpu
from boosting_cases import run_together

pytest.importorskip("distributed")  # the driver's side is that of fastpu.dask
from fastpu.boosting._stump_options import StumpOptions
from fastpu.dask._worker_rows import WorkerRows
from fastpu.dask.stump_boost import boost_as_member, follow_members

ROUNDS = ("features", "thresholds", "polarity", "alphas", "deltas", "z", "objective", "category_sets")


def fit_shards(
    bins, y, n_parts, *, n_rounds, sample_weight=None, step="jensen", gamma=0.5, loss="auc", exchange_as=None
):
    """Boost the rows, dealt out to so many parts; return the result and how often the members called each operation."""
    part_of = np.random.default_rng(n_parts).integers(0, n_parts, len(y))
    parts = [rows for rows in (np.flatnonzero(part_of == k) for k in range(n_parts)) if rows.size]
    labels = np.asarray(y, dtype=np.int8)
    options = StumpOptions(
        function="test",
        title="test",
        own_params=(),
        loss=loss,
        gamma=gamma,
        rho=0.01,
        step=step,
        n_rounds=n_rounds,
        stop_tol=1e-9,
        early_stopping_rounds=None,
    )
    calls = Counter()

    def member(k, rows):
        weights = None if sample_weight is None else sample_weight[rows]
        own = WorkerRows(bins[rows], labels[rows], weights)
        return lambda exchange: boost_as_member(options, own, exchange, 1 + k % 2)

    def lead(exchange):
        def counted(operation, own):
            calls[operation] += 1
            return exchange(operation, own)

        return follow_members(options, bins[:1], None, counted if exchange_as is None else exchange_as(exchange))

    return run_together([member(k, rows) for k, rows in enumerate(parts)], lead), calls


def assert_same_bits(found, model):
    for name in ROUNDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(model, name))


def pnu_rows(n, *, groups=(1, 0, -1), seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = np.round(X[:, 1], 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + rng.normal(size=n)
    known = rng.random(n) < 0.4
    y = np.where(known & (score > 0), groups[0], np.where(known, groups[-1], groups[1]))
    return X, y.astype(np.int8)


@pytest.mark.parametrize(("weighted", "max_bins"), [(None, 20), ("whole", 20), ("real", 300)])
def test_same_bits_for_any_partition(weighted, max_bins):
    X, y = pnu_rows(2000)
    weights = None
    if weighted is not None:
        choices = [0.0, 1.0, 2.0, 5.0] if weighted == "whole" else [0.0, 0.3, 1.7]
        weights = np.random.default_rng(1).choice(choices, len(y))
    bins = fastpu.bin_features(X, max_bins=max_bins, sample_weight=weights)
    model = fastpu.fit_pnu_auc_boost(bins, y, sample_weight=weights, n_rounds=150, n_threads=2)
    for n_parts in (1, 5):
        found, calls = fit_shards(bins, y, n_parts, n_rounds=150, sample_weight=weights)
        assert_same_bits(found, model)
        assert calls["largest"] > 1  # weights were set afresh


@pytest.mark.parametrize("groups", [(1, 0, 0), (0, 0, -1), (1, -1, -1)], ids=str)
def test_a_group_may_be_missing(groups):
    X, y = pnu_rows(500, groups=groups)
    bins = fastpu.bin_features(X, max_bins=15)
    model = fastpu.fit_pnu_auc_boost(bins, y, n_rounds=30)
    assert_same_bits(fit_shards(bins, y, 3, n_rounds=30)[0], model)


@pytest.mark.parametrize("options", [{"step": "line_search"}, {"gamma": 1.0}, {"gamma": 0.0}, {"loss": "ada"}], ids=str)
def test_same_bits_of_every_loss_and_step(options):
    X, y = pnu_rows(500)
    bins = fastpu.bin_features(X, max_bins=15)
    of_fit = {name: value for name, value in options.items() if name != "loss"}
    fit = fastpu.baselines.fit_pnu_adaboost if "loss" in options else fastpu.fit_pnu_auc_boost
    model = fit(bins, y, n_rounds=30, **of_fit)
    assert_same_bits(fit_shards(bins, y, 3, n_rounds=30, **options)[0], model)


def test_more_rows_than_sums_have_room_for_are_refused():
    X, y = pnu_rows(50)
    groups = np.array([1, 2**34, 5]).tobytes() + np.ones(3).tobytes()

    def exchange_as(exchange):
        return lambda how, part: groups if how == "join" else exchange(how, part)

    with pytest.raises(ValueError, match="X must have at most 17179869184 rows, got 17179869190"):
        fit_shards(fastpu.bin_features(X), y, 2, n_rounds=3, exchange_as=exchange_as)
