"""Boosted trees of rows in shards: the same bits as of all rows together, however they are shared out."""

from __future__ import annotations

import inspect
from dataclasses import fields
from functools import partial

import numpy as np
import pytest

import fastpu
from boosting_cases import run_together
from fastpu import _core
from fastpu.boosting._boosted_trees_options import BoostedTreesOptions
from fastpu.tree.tree_ensemble import packed
from tree_cases import pnu_rows

pytest.importorskip("distributed")  # the driver's side is that of fastpu.dask
from fastpu.dask._boosted_rounds import MemberRounds, RoundsSoFar
from fastpu.dask._worker_rows import WorkerRows

#: Sums that are halved are rounded to other units, about 2^-31 of the sum over all rows.
HALVED = 1e-6
#: Of gains that differ by less than these units another one may be the largest.
OTHER_TIES = 1e-3


def of_many(exchange):
    """Let the members say that there are a billion rows more."""
    more = np.array([10**9, 0]).tobytes() + np.zeros(2).tobytes()
    return lambda how, part: exchange(how, part) + (more if how == "join" else b"")


def fit_shards(
    bins, y, n_parts, *, seed, n_rounds, sample_weight=None, before=None, are_many=False, n_at_once=100, **options
):
    """Boost the rows in parts of random sizes, or of the same size; return the trees, with those of `before`."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(fastpu.fit_boosted_trees).parameters.items()
        if name in {field.name for field in fields(BoostedTreesOptions)}
    }
    checked = BoostedTreesOptions(**{**defaults, **options})
    cuts = np.sort(np.random.default_rng(n_parts).integers(0, len(y), n_parts - 1))
    parts = [rows for rows in np.split(np.arange(len(y)), cuts) if rows.size]
    if are_many:
        parts = [np.arange(k, len(y), n_parts) for k in range(n_parts)]
    labels = np.asarray(y, dtype=np.int8)
    is_unl = (labels == 0) & (True if sample_weight is None else sample_weight > 0)
    numbers = np.cumsum(is_unl).astype(np.uint32) - 1
    n_all = n_rounds + (0 if before is None else before.n_trees)
    unlabelled = np.array([0, is_unl.sum()])

    def rounds():
        so_far = RoundsSoFar() if before is None else RoundsSoFar.of_model(before)
        return MemberRounds(checked, checked.prior or 0.5, seed, so_far, unlabelled, n_all, n_at_once)

    def make(mine, features, rows, numbers, n_threads, exchange):
        exchange = of_many(exchange) if are_many else exchange
        member = mine.member(features, mine.so_far, exchange, n_threads, rows=rows, numbers=numbers)
        while mine.so_far.is_open(n_all):
            mine.so_far.add(mine.next_rounds(member, mine.so_far, features.n_features, n_threads))

    def member(k, rows):
        weights = None if sample_weight is None else sample_weight[rows]
        own = WorkerRows(bins[rows], labels[rows], weights)
        return partial(make, rounds(), own.features, own, numbers[rows][is_unl[rows]], 1 + k % 2)

    driver = rounds()
    members = [member(k, rows) for k, rows in enumerate(parts)]
    run_together(members, partial(make, driver, bins[:1], None, None, 1))
    return driver.so_far


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
    for n_parts in (1, 5):
        grown = fit_shards(bins, y, n_parts, seed=model.seed, n_rounds=5, sample_weight=weights, **options)
        assert_same_bits(grown, model)


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
    options |= {"min_leaf_rows": 5}
    assert_same_bits(fit_shards(bins, y, 3, seed=first.seed, n_rounds=3, before=first, **options), all_rounds)
    assert_same_bits(fit_shards(bins, y, 3, seed=first.seed, n_rounds=6, n_at_once=2, **options), all_rounds)


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
    model = fastpu.fit_boosted_trees(bins, y, n_rounds=2, random_state=2, **options)
    grown = [
        fit_shards(bins, y, n_parts, seed=model.seed, n_rounds=2, are_many=True, **options) for n_parts in (16, 20)
    ]
    np.testing.assert_array_equal(packed(grown[0].nodes), packed(grown[1].nodes))
    np.testing.assert_array_equal(grown[0].risk, grown[1].risk)
    np.testing.assert_allclose(grown[0].risk, model.history["risk"], rtol=near)
    with pytest.raises(ValueError, match="spread evenly, in random order, over its partitions"):
        fit_shards(bins, y, 1, seed=model.seed, n_rounds=2, are_many=True, **options)


def test_numbers_must_fit_the_rows():
    X, y = pnu_rows(50)
    bins, labels = fastpu.bin_features(X), np.asarray(y, dtype=np.int8)
    n = int(np.sum(labels == 0))
    for numbers, words in ((np.zeros(n + 1), f"1-D array of {n} elements"), (np.full(n, n), "numbers must be below")):
        with pytest.raises(ValueError, match=words):
            _core.MemberRows(
                bins._native, labels, None, None, _core.BoostedTreesOptions(), init=None, n_unlabelled=n,
                numbers=numbers.astype(np.uint32), exchange=lambda _, part: part, n_threads=1,
            )  # fmt: skip


def test_members_that_are_not_at_the_same_call_are_noticed():
    X, y = pnu_rows(50)
    bins = fastpu.bin_features(X)
    rows = _core.MemberRows(
        bins._native, np.asarray(y, dtype=np.int8), None, None, _core.BoostedTreesOptions(), init=None, n_unlabelled=0,
        numbers=None, exchange=lambda how, part: part if how == "join" else b"", n_threads=1,
    )  # fmt: skip
    with pytest.raises(ValueError, match="not at the same call"):
        _core.boost_member_trees(
            rows, _core.BoostedTreesOptions(), init=None, eval_set=None, callback=None, n_threads=1
        )
