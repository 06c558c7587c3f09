"""Boosted trees and stumps on Dask: the bits of one machine for any partitions, forms of rows and weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import fastpu

pytest.importorskip("distributed")
frames = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

import fastpu.dask  # noqa: E402 - Dask may be absent
from dask_cases import SIZES, assert_nothing_is_left, assert_same_model, chunked, rows  # noqa: E402 - Dask may be absent

#: Options of either function; on one machine stumps are cut into as many bins as on many only if told so.
OPTIONS = {
    "fit_boosted_trees": {"n_rounds": 6, "learning_rate": 0.2, "random_state": 3},
    "fit_pnu_auc_boost": {"n_rounds": 20, "max_bins": 255},
}
DRAWN = {"loss": "logistic", "subsample_unl": 0.5, "max_features": 0.7}

boosting = pytest.mark.parametrize("name", OPTIONS)


def near(name, *args, **options):
    return getattr(fastpu, name)(*args, **OPTIONS[name] | options)


def far(name, client, *args, **options):
    return getattr(fastpu.dask, name)(*args, client=client, **OPTIONS[name] | options)


@pytest.mark.parametrize("n_parts", SIZES)
@pytest.mark.parametrize(
    ("name", "negatives", "options"),
    [
        ("fit_boosted_trees", True, {}),
        ("fit_boosted_trees", False, DRAWN),
        ("fit_pnu_auc_boost", True, {}),
        ("fit_pnu_auc_boost", False, {}),
    ],
    ids=str,
)
def test_the_model_is_that_of_one_machine(client, name, n_parts, negatives, options):
    X, y = rows(negatives=negatives)
    found = far(name, client, chunked(X, SIZES[n_parts]), chunked(y, SIZES[n_parts]), **options)
    assert_same_model(found, near(name, X, y, **options))


@boosting
def test_weights_and_a_partition_without_positives(client, name):
    X, y = rows(1200, negatives=True)
    order = np.argsort(-y, kind="stable")
    X, y = X[order], y[order]
    weights = 0.3 * np.random.default_rng(1).integers(0, 4, size=len(y))
    sizes = (300, 600, 300)
    assert y[300 + 600 :].max() <= 0
    lazy = [chunked(values, sizes) for values in (X, y, weights)]
    found = far(name, client, *lazy[:2], sample_weight=lazy[2])
    assert_same_model(found, near(name, X, y, sample_weight=weights))


@boosting
def test_futures_of_csr_blocks_on_one_of_two_workers(client, name):
    X, y = rows(900)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.6, 0.0, np.nan_to_num(X))
    parts, worker = [slice(0, 400), slice(400, 900)], next(iter(client.nthreads()))
    blocks = client.scatter([sparse.csr_array(X[part]) for part in parts], workers=[worker], hash=False)
    labels = client.scatter([y[part] for part in parts], workers=[worker], hash=False)
    cuts = fastpu.bin_features(sparse.csr_array(X), max_bins=20)
    found = far(name, client, blocks, labels, max_bins=cuts)
    assert_same_model(found, near(name, cuts, y, max_bins=None))


@boosting
def test_frames_with_categories_are_fitted_and_scored_lazily(client, name):
    X, y = rows(1000)
    frame = pandas.DataFrame(X, columns=list("abcde"))
    kinds = np.array(["up", "down", "left", "right"])
    frame["kind"] = pandas.Categorical(kinds[(np.nan_to_num(X[:, 3]) > 0) + 2 * y], categories=kinds)
    frame.loc[:300, "kind"] = "up"
    held = frames.from_pandas(frame, npartitions=3)
    found = far(name, client, held, frames.from_pandas(pandas.Series(y), npartitions=3))
    assert len(found.category_sets)
    assert_same_model(found, near(name, frame, y))
    scores = found.decision_function(held)
    assert scores.npartitions == 3
    np.testing.assert_array_equal(scores.compute().to_numpy(), found.decision_function(frame))
    np.testing.assert_array_equal(found.predict(held).compute().to_numpy(), found.predict(frame))


@boosting
@pytest.mark.parametrize("lazy", [True, False])
def test_the_driver_ends_the_fit_by_its_eval_set(client, name, lazy):
    X, y = rows(negatives=name == "fit_pnu_auc_boost")
    held_X, held_y = rows(300, negatives=name == "fit_pnu_auc_boost", seed=1)
    options = {"n_rounds": 100, "early_stopping_rounds": 4}
    if name == "fit_boosted_trees":
        options["learning_rate"] = 1.0
    expected = near(name, X, y, eval_set=(held_X, held_y), **options)
    assert expected.status == "early_stopping"
    held = (chunked(held_X, (200, 100)), chunked(held_y, (200, 100))) if lazy else (held_X, held_y)
    found = far(name, client, chunked(X, SIZES[3]), chunked(y, SIZES[3]), eval_set=held, **options)
    assert_same_model(found, expected)


@boosting
def test_what_does_not_fit_is_refused(client, name):
    X, y = rows(100)
    lazy_X, lazy_y = chunked(X, (60, 40)), chunked(y, (60, 40))
    kinds = frames.from_pandas(pandas.DataFrame({"kind": pandas.Categorical(["a", "b"] * 50)}), npartitions=2)
    kinds["kind"] = kinds["kind"].cat.as_unknown()
    for args, options, error, words in (
        ((X, y), {}, TypeError, "X must be a Dask array, a Dask frame or a list of futures"),
        ((lazy_X, chunked(y, (100,))), {}, ValueError, "y must have the partitions of X, 2 of them, got 1"),
        ((lazy_X, chunked(y, (50, 50))), {}, ValueError, "partition 0 has 60 rows there, and 50 here"),
        ((lazy_X, lazy_y), {"early_stopping_rounds": 5}, ValueError, "needs an eval_set"),
        ((lazy_X, lazy_y), {"max_bins": "exact"}, (TypeError, ValueError), "max_bins must be"),
        ((lazy_X, lazy_y), {"max_bins": 0}, ValueError, "max_bins must be"),
        ((lazy_X, lazy_y), {"gamma": 2}, ValueError, "gamma must be"),
        ((lazy_X, lazy_y), {"n_bags": 5}, TypeError, "n_bags"),
        ((lazy_X, lazy_y), {"n_folds": 5}, TypeError, "n_folds"),
        ((lazy_X.rechunk({1: 2}), lazy_y), {}, ValueError, "whole rows in every chunk"),
        ((lazy_X, 0 * lazy_y), {}, ValueError, "y must hold at least two of"),
        ((lazy_X, lazy_y + 7), {}, ValueError, r"partition [01]: y must hold 1"),
        ((kinds, lazy_y), {}, ValueError, r"known categories in column 'kind': name them by astype"),
    ):
        with pytest.raises(error, match=words):
            far(name, client, *args, **options)
    assert_nothing_is_left(client)


@boosting
def test_an_interrupted_driver_leaves_nothing_on_the_workers(client, name):
    X, y = rows(500)

    def interrupt(info):
        if info.round == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        far(name, client, chunked(X, (300, 200)), chunked(y, (300, 200)), callback=interrupt)
    assert_nothing_is_left(client)
