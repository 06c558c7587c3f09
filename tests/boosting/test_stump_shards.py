"""Boosted stumps of rows in shards: the same bits as of all rows together, however they are shared out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import fastpu
from boosting_cases import LocalWorkers
from fastpu import _core
from fastpu.data._categories import category_flags

pytest.importorskip("distributed")  # the driver's side is that of fastpu.dask
from fastpu.dask._stump_rows import SharedStumps, StumpsOfShard

ROUNDS = ("features", "thresholds", "polarity", "alphas", "deltas", "z", "objective", "category_sets")


class Shards(SharedStumps):
    """Rows shared out in no order, which count what they are asked."""

    def __init__(self, bins, labels, weights, parts):
        self.asked = Counter()
        shards = [
            _core.StumpShard(
                bins[rows]._native, labels[rows], None if weights is None else weights[rows], n_threads=1 + k % 2
            )
            for k, rows in enumerate(parts)
        ]
        numbered = [StumpsOfShard(shard, np.arange(own.size), own) for shard, own in zip(shards, parts, strict=True)]
        super().__init__(LocalWorkers(numbered))

    def _ask(self, merge, method, *arguments):
        self.asked[method] += 1
        return super()._ask(merge, method, *arguments)


def fit_shards(
    bins, y, n_parts, *, n_rounds, sample_weight=None, made=None, callback=None, step="jensen", gamma=0.5, loss="auc"
):
    """Boost the rows, dealt out to so many parts."""
    part_of = np.random.default_rng(n_parts).integers(0, n_parts, len(y))
    parts = [rows for rows in (np.flatnonzero(part_of == k) for k in range(n_parts)) if rows.size]
    rows = Shards(bins, np.asarray(y, dtype=np.int8), sample_weight, parts)
    options = _core.StumpBoostOptions(loss=loss, gamma=gamma, rho=0.01, step=step, n_rounds=n_rounds)
    result = _core.stump_boost(
        bins[:1],
        None,
        None,
        category_flags(bins.categories, bins.n_features),
        options,
        max_bins=0,
        most_distinct=0,
        eval_set=None,
        callback=None if callback is None else lambda *args: callback(rows, *args),
        n_threads=1,
        rows=rows,
        made=made,
    )
    return result, rows


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


@pytest.mark.parametrize("max_bins", [20, 300])
@pytest.mark.parametrize("weighted", [None, "whole", "real"])
def test_same_bits_for_any_partition(weighted, max_bins):
    X, y = pnu_rows(2000)
    weights = None
    if weighted is not None:
        choices = [0.0, 1.0, 2.0, 5.0] if weighted == "whole" else [0.0, 0.3, 1.7]
        weights = np.random.default_rng(1).choice(choices, len(y))
    bins = fastpu.bin_features(X, max_bins=max_bins, sample_weight=weights)
    model = fastpu.fit_pnu_auc_boost(bins, y, sample_weight=weights, n_rounds=150, n_threads=2)
    for n_parts in (1, 3, 7):
        found, rows = fit_shards(bins, y, n_parts, n_rounds=150, sample_weight=weights)
        assert_same_bits(found, model)
        assert rows.asked["weigh"] > 1
        assert rows.asked["add"] > 0
        assert rows.asked["list"] > 0 or max_bins == 20


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


def test_same_bits_with_categories():
    pandas = pytest.importorskip("pandas")
    X, y = pnu_rows(600)
    kinds = np.array(["a", "b", "c", "d"])[(y + 1) + (np.arange(600) % 7 == 0)]
    frame = pandas.DataFrame({"kind": pandas.Categorical(kinds), "x": X[:, 0]})
    bins = fastpu.bin_features(frame)
    model = fastpu.fit_pnu_auc_boost(bins, y, n_rounds=20)
    assert len(model.category_sets)
    assert_same_bits(fit_shards(bins, y, 4, n_rounds=20)[0], model)


def test_same_bits_of_sparse_rows():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = pnu_rows(800)
    X = np.where(np.random.default_rng(4).random(X.shape) < 0.8, 0.0, np.nan_to_num(X))
    bins = fastpu.bin_features(sparse.csr_array(X))
    model = fastpu.fit_pnu_auc_boost(bins, y, n_rounds=140)
    assert_same_bits(fit_shards(bins, y, 4, n_rounds=140)[0], model)


def test_a_fit_goes_on_after_weights_were_set_afresh():
    pandas = pytest.importorskip("pandas")
    X, y = pnu_rows(900)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pandas.Categorical(np.array(["a", "b", "c"])[(y + 1) * (np.arange(900) % 3 == 0)])
    bins = fastpu.bin_features(frame, max_bins=20)
    model = fastpu.fit_pnu_auc_boost(bins, y, n_rounds=300)
    weighed = []

    def note(rows, *_):
        weighed.append(rows.asked["weigh"])
        return False

    found, _ = fit_shards(bins, y, 2, n_rounds=300, callback=note)
    assert_same_bits(found, model)
    after = np.flatnonzero(np.diff(weighed)) + 2  # rounds, counted from 1
    assert after.size >= 2
    for n_made in after:
        made = [getattr(model, name)[:n_made] for name in ROUNDS[:-1]]
        by_categories = np.isin(model.features[:n_made], [4])
        assert by_categories.any()
        made.append(model.category_sets[: by_categories.sum()])
        rounds = []

        def note_round(rows, round_, *_, rounds=rounds):
            rounds.append(round_)
            return False

        found, _ = fit_shards(bins, y, 3, n_rounds=300, made=tuple(made), callback=note_round)
        assert_same_bits(found, model)
        assert rounds == list(range(n_made + 1, 301))


def test_shards_refuse_what_does_not_fit():
    X, y = pnu_rows(50)
    bins = fastpu.bin_features(X)
    shard = _core.StumpShard(bins._native, y, None, n_threads=1)
    with pytest.raises(ValueError, match="labels must be"):
        _core.StumpShard(bins._native, y + np.int8(5), None, n_threads=1)
    shard.start(True)
    shard.weigh(shard.tops())
    codes, numbers = np.zeros(4, dtype=np.uint64), np.zeros(14)
    for change, words in (
        ((9, 0, False, codes, True, numbers), "there is no feature 9"),
        ((0, -1, False, codes, True, numbers), "there is no cut -1"),
        ((0, 999, False, codes, True, numbers), "there is no cut 999"),
        ((0, 0, False, codes, True), "6 parts"),
        ((0, 0, False, codes, True, numbers[:3]), "1-D array of 14"),
    ):
        with pytest.raises(ValueError, match=words):
            shard.add(change)
    made = [np.zeros(1, t) for t in (np.int32, float, np.int8, float, float, float, float)]
    for broken, words in (((9, 0.0), "there is no feature 9"), ((0, 0.123), "is no cut of feature 0")):
        made[0][0], made[1][0] = broken
        with pytest.raises(ValueError, match=words):
            fit_shards(bins, y, 2, n_rounds=3, made=(*made, np.empty((0, 4), np.uint64)))


def test_more_rows_than_sums_have_room_for_are_refused(monkeypatch):
    X, y = pnu_rows(50)
    counts = np.array([1, 2**34, 5])
    monkeypatch.setattr(Shards, "groups", lambda self: (counts, counts.astype(float)), raising=False)
    with pytest.raises(ValueError, match="X must have at most 17179869184 rows, got 17179869190"):
        fit_shards(fastpu.bin_features(X), y, 2, n_rounds=3)
