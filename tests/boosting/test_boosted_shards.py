"""Boosted trees of rows in shards: the same bits as of all rows together, however they are shared out."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import LocalWorkers
from fastpu import _core
from fastpu.boosting import _boosted_trees
from fastpu.data._categories import category_flags
from fastpu.tree.tree_ensemble import packed
from tree_cases import mixed_frame, pnu_rows

pytest.importorskip("distributed")  # the driver's side is that of fastpu.dask
from fastpu.dask._boosted_rows import SharedRows

#: Sums that are halved are rounded to other units, about 2^-31 of the sum over all rows.
HALVED = 1e-6
#: Of gains that differ by less than these units another one may be the largest.
OTHER_TIES = 1e-3
NO_TREES = {"init_nodes": None, "init_starts": None, "init_sets": None}


def shards_of(bins, labels, weights, parts, settings, before):
    is_unl = (labels == 0) & (True if weights is None else weights > 0)
    numbers = np.cumsum(is_unl).astype(np.uint32) - 1
    return [
        _core.BoostedShard(
            bins[rows]._native,
            labels[rows],
            None if weights is None else weights[rows],
            categorical=category_flags(bins.categories, bins.n_features),
            loss=settings.loss,
            gamma=settings.gamma,
            prior=settings.prior or 0.5,
            **before,
            n_unlabelled=int(is_unl.sum()),
            numbers=numbers[rows][is_unl[rows]],
            n_threads=1 + k % 2,
        )
        for k, rows in enumerate(parts)
    ]


class FewOfMany(SharedRows):
    """Shards that say they had a billion rows more."""

    def counts(self):
        n_rows, *others = super().counts()
        return (n_rows + 10**9, *others)


def fit_shards(bins, y, n_parts, *, seed, n_rounds, sample_weight=None, before=None, of_many=False, **options):
    """Boost the rows in parts of random sizes, or of the same size."""
    given = {"loss": "pnu_auc", "prior": None, "scenario": "case_control", "gamma": 0.5, "learning_rate": 0.05}
    given |= {"max_leaves": 4, "max_depth": None, "min_leaf_rows": None, "min_leaf_hessian": 1e-3, "lam": 10.0}
    given |= {"n_bags": 1, "bag_ratio": 3.0, "subsample_unl": 1.0, "max_features": "all"}
    settings = _boosted_trees.check_settings(**{**given, **options})
    cuts = np.sort(np.random.default_rng(n_parts).integers(0, len(y), n_parts - 1))
    parts = [rows for rows in np.split(np.arange(len(y)), cuts) if rows.size]
    if of_many:
        parts = [np.arange(k, len(y), n_parts) for k in range(n_parts)]
    init = NO_TREES
    if before is not None:
        init = {"init_nodes": before._nodes, "init_starts": before.tree_starts, "init_sets": before.category_sets}
    shards = shards_of(bins, np.asarray(y, dtype=np.int8), sample_weight, parts, settings, init)
    rows = (FewOfMany if of_many else SharedRows)(LocalWorkers(shards), len(y) // n_parts)
    training = _boosted_trees.Training(settings, settings.prior or 0.5, seed, 1)
    return training.run(None, n_rounds, None, elsewhere=rows, cuts=bins[:1], before=before)


def assert_same_bits(grown, model):
    np.testing.assert_array_equal(packed(grown.nodes), model.packed_nodes)
    np.testing.assert_array_equal(grown.tree_start, model.tree_starts)
    np.testing.assert_array_equal(grown.category_sets, model.category_sets)
    np.testing.assert_array_equal(grown.risk, model.history["risk"])


OPTIONS = {
    "plain": {},
    "few rows in leaves": {"min_leaf_rows": 1, "max_leaves": 15, "learning_rate": 0.5},
    "many rows in leaves": {"min_leaf_rows": 40, "max_depth": 3},
    "drawn": {"subsample_unl": 0.5, "max_features": 0.6, "min_leaf_rows": 5},
    "logistic": {"loss": "logistic", "lam": 0.0},
    "upu": {"loss": "upu", "prior": 0.3},
}

#: Weights of the rows; those of "shares" and "counts" are whole numbers times a factor.
WEIGHTS = {
    "whole": [0.0, 1.0, 2.0, 5.0], "real": [0.0, 0.3, 1.7, np.pi], "shares": [0.7, 2.1, 3.5],
    "counts": [2e5, 3e5, 5e5],
}  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("weighted", [None, *WEIGHTS])
def test_same_bits_for_any_partition(weighted, options):
    X, y = pnu_rows(600)
    if "loss" in options:
        y = np.maximum(y, 0)
    weights = None
    if weighted is not None:
        weights = np.random.default_rng(1).choice(WEIGHTS[weighted], len(y))
    bins = fastpu.bin_features(X, max_bins=20, sample_weight=weights)
    model = fastpu.fit_boosted_trees(bins, y, sample_weight=weights, n_rounds=5, random_state=2, n_threads=2, **options)
    for n_parts in (1, 3, 7):
        grown = fit_shards(bins, y, n_parts, seed=model.seed, n_rounds=5, sample_weight=weights, **options)
        assert_same_bits(grown, model)


def test_same_bits_with_categories():
    X, y = mixed_frame(400)
    bins = fastpu.bin_features(X[["colour", "b", "shop"]])
    model = fastpu.fit_boosted_trees(bins, y, n_rounds=5, random_state=2, min_leaf_rows=5)
    assert model.category_sets.size
    for n_parts in (1, 4):
        assert_same_bits(fit_shards(bins, y, n_parts, seed=model.seed, n_rounds=5, min_leaf_rows=5), model)


@pytest.mark.parametrize("subsample_unl", [1.0, 0.7])
def test_same_bits_of_sparse_rows(subsample_unl):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = pnu_rows(400)
    X = np.where(np.random.default_rng(4).random(X.shape) < 0.8, 0.0, np.nan_to_num(X))
    bins = fastpu.bin_features(sparse.csr_array(X))
    options = {"min_leaf_rows": 10, "subsample_unl": subsample_unl}
    model = fastpu.fit_boosted_trees(bins, y, n_rounds=5, random_state=2, **options)
    for n_parts in (1, 4):
        assert_same_bits(fit_shards(bins, y, n_parts, seed=model.seed, n_rounds=5, **options), model)


@pytest.mark.parametrize("options", [{}, {"subsample_unl": 0.5, "max_features": 0.6}])
def test_rounds_added_later_are_those_of_a_single_fit(options):
    X, y = pnu_rows(300)
    bins = fastpu.bin_features(X)
    given = {"min_leaf_rows": 5, "random_state": 2, **options}
    first = fastpu.fit_boosted_trees(bins, y, n_rounds=3, **given)
    all_rounds = fastpu.fit_boosted_trees(bins, y, n_rounds=6, **given)
    grown = fit_shards(bins, y, 3, seed=first.seed, n_rounds=3, before=first, min_leaf_rows=5, **options)
    np.testing.assert_array_equal(grown.risk, all_rounds.history["risk"][3:])
    start = all_rounds.tree_starts[3]
    np.testing.assert_array_equal(packed(grown.nodes), all_rounds.packed_nodes[start:])


@pytest.mark.parametrize(
    ("options", "near"),
    [({}, HALVED), ({"loss": "logistic", "max_leaves": 15, "subsample_unl": 0.5}, OTHER_TIES)],
    ids=["plain", "drawn"],
)
def test_sums_of_more_rows_than_a_word_holds_are_halved(options, near):
    X, y = pnu_rows(2000)
    if "loss" in options:
        y = np.maximum(y, 0)
    bins = fastpu.bin_features(X, max_bins=20)
    model = fastpu.fit_boosted_trees(bins, y, n_rounds=5, random_state=2, **options)
    grown = [fit_shards(bins, y, n_parts, seed=model.seed, n_rounds=5, of_many=True, **options) for n_parts in (20, 30)]
    np.testing.assert_array_equal(packed(grown[0].nodes), packed(grown[1].nodes))
    np.testing.assert_array_equal(grown[0].risk, grown[1].risk)
    np.testing.assert_allclose(grown[0].risk, model.history["risk"], rtol=near)
    with pytest.raises(ValueError, match="spread evenly, in random order, over its partitions"):
        fit_shards(bins, y, 1, seed=model.seed, n_rounds=5, of_many=True, **options)


def test_shards_refuse_what_does_not_fit():
    X, y = pnu_rows(50)
    bins, labels = fastpu.bin_features(X), np.asarray(y, dtype=np.int8)
    given = {"categorical": None, "loss": "pnu_auc", "gamma": 0.5, "prior": 0.5, **NO_TREES, "n_threads": 1}
    with pytest.raises(ValueError, match="as many as unlabelled rows"):
        _core.BoostedShard(bins._native, labels, None, **given, n_unlabelled=50, numbers=np.zeros(1, dtype=np.uint32))
    shard = _core.BoostedShard(bins._native, labels, None, **given, n_unlabelled=50, numbers=None)
    with pytest.raises(ValueError, match="cannot draw"):
        shard.draw(0, 1)
    split, none = (0, 0, False, False, np.zeros(4, dtype=np.uint64)), np.empty(0, dtype=np.uint32)
    with pytest.raises(ValueError, match="there is no node 0"):
        shard.split([(0, 1, split, False)], none)
    tops = shard.tops(False)
    shard.start(
        False, tops, shard.sums(False, tops), 1.0, 1.0, 0, True, 1.0, 1, np.array([0, 1], dtype=np.uint32), True
    )
    for call, words in (
        (lambda: shard.histogram(1), "there is no node 1"),
        (lambda: shard.split([(0, 2, split, False)], none), "a child must be the next node"),
        (lambda: shard.split([(0, 1, (99, *split[1:]), False)], none), "there is no feature 99"),
        (lambda: shard.split([(0, 1, split)], none), "must have 4 parts"),
        (lambda: shard.split([], np.array([3], dtype=np.uint32)), "there is no node 3"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    leaves = np.array([1, 2], dtype=np.uint32)
    counts, histogram, sums, scores = shard.split([(0, 1, split, True)], leaves)
    assert counts[2] + counts[3] == len(y)
    assert histogram.any()
    np.testing.assert_array_equal(sums, shard.split([], leaves)[2])
    np.testing.assert_array_equal(np.max(scores.reshape(2, 2, 3), axis=(0, 1)), np.zeros(3))
