"""Boosted stumps on Dask: the bits of one machine for any partitions, early stopping, and lost workers."""

from __future__ import annotations

import time
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import fastpu

pytest.importorskip("distributed")
frames = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

import fastpu.dask  # noqa: E402 - Dask may be absent
from dask_cases import Kill, assert_nothing_is_left, chunked, local_cluster  # noqa: E402 - Dask may be absent
from fastpu.dask._shared_fit import SharedFit  # noqa: E402 - Dask may be absent

ARRAYS = ("features", "thresholds", "polarity", "alphas", "deltas", "z", "objective", "category_sets")
SIZES = {1: (2400,), 3: (1000, 1, 1399), 7: (500, 0, 900, 100, 500, 200, 200)}


def rows(n=2400, *, negatives=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[rng.random(X.shape) < 0.03] = np.nan
    truth = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + rng.normal(size=n) > 0.5
    y = (truth & (rng.random(n) < 0.4)).astype(np.int8)
    if negatives:
        y[~truth & (rng.random(n) < 0.2)] = -1
    return X, y


def assert_same_model(found, expected):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("threshold", "threshold_rule", "status", "converged", "params", "feature_names", "categories"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.history.keys() == expected.history.keys()
    for name, values in expected.history.items():
        np.testing.assert_array_equal(found.history[name], values)


@pytest.mark.parametrize("n_parts", SIZES)
@pytest.mark.parametrize("negatives", [True, False])
def test_the_model_is_that_of_one_machine(client, n_parts, negatives):
    X, y = rows(negatives=negatives)
    lazy = chunked(X, SIZES[n_parts]), chunked(y, SIZES[n_parts])
    found = fastpu.dask.fit_pnu_auc_boost(*lazy, client=client, n_rounds=20)
    assert_same_model(found, fastpu.fit_pnu_auc_boost(X, y, n_rounds=20, max_bins=255))


def test_options_mean_the_same_and_weights_are_set_afresh(client):
    X, y = rows()
    options = {"n_rounds": 140, "max_bins": 12, "gamma": 0.9, "rho": 0.0, "step": "line_search"}
    seen, near = [], []
    found = fastpu.dask.fit_pnu_auc_boost(
        chunked(X, SIZES[3]), chunked(y, SIZES[3]), client=client, callback=seen.append, **options
    )
    assert_same_model(found, fastpu.fit_pnu_auc_boost(X, y, callback=near.append, **options))
    assert seen == near


def test_weights_and_a_partition_without_positives(client):
    X, y = rows(1200)
    order = np.argsort(-y, kind="stable")
    X, y = X[order], y[order]
    weights = np.random.default_rng(1).integers(0, 4, size=len(y)).astype(np.float64)
    sizes = (300, 600, 300)
    assert y[300 + 600 :].max() <= 0
    found = fastpu.dask.fit_pnu_auc_boost(
        chunked(X, sizes), chunked(y, sizes), sample_weight=chunked(weights, sizes), client=client, n_rounds=20
    )
    assert_same_model(found, fastpu.fit_pnu_auc_boost(X, y, sample_weight=weights, n_rounds=20, max_bins=255))


def test_futures_of_csr_blocks_at_given_cuts(client):
    X, y = rows(900)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.6, 0.0, np.nan_to_num(X))
    parts = [slice(0, 400), slice(400, 900)]
    blocks = client.scatter([sparse.csr_array(X[part]) for part in parts], hash=False)
    labels = client.scatter([y[part] for part in parts], hash=False)
    cuts = fastpu.bin_features(sparse.csr_array(X), max_bins=20)
    found = fastpu.dask.fit_pnu_auc_boost(blocks, labels, client=client, max_bins=cuts, n_rounds=20)
    assert_same_model(found, fastpu.fit_pnu_auc_boost(cuts, y, n_rounds=20))


def with_categories(X, y):
    frame = pandas.DataFrame(X, columns=list("abcde"))
    kinds = np.array(["up", "down", "left"])
    frame["kind"] = pandas.Categorical(kinds[(y + 1) * (np.arange(len(y)) % 3 == 0)], categories=kinds)
    return frame


def test_frames_with_categories_are_fitted_and_scored_lazily(client):
    X, y = rows(1000)
    frame = with_categories(X, y)
    held = frames.from_pandas(frame, npartitions=3)
    labels = frames.from_pandas(pandas.Series(y), npartitions=3)
    found = fastpu.dask.fit_pnu_auc_boost(held, labels, client=client, n_rounds=20)
    assert len(found.category_sets)
    assert_same_model(found, fastpu.fit_pnu_auc_boost(frame, y, n_rounds=20, max_bins=255))
    scores = found.decision_function(held)
    assert scores.npartitions == 3
    np.testing.assert_array_equal(scores.compute().to_numpy(), found.decision_function(frame))


@pytest.mark.parametrize("lazy", [True, False])
def test_the_driver_ends_the_fit_by_its_eval_set(client, lazy):
    X, y = rows()
    held_X, held_y = rows(300, seed=1)
    options = {"n_rounds": 100, "early_stopping_rounds": 5}
    expected = fastpu.fit_pnu_auc_boost(X, y, eval_set=(held_X, held_y), max_bins=255, **options)
    assert expected.status == "early_stopping"
    held = (chunked(held_X, (200, 100)), chunked(held_y, (200, 100))) if lazy else (held_X, held_y)
    found = fastpu.dask.fit_pnu_auc_boost(
        chunked(X, SIZES[3]), chunked(y, SIZES[3]), client=client, eval_set=held, **options
    )
    assert_same_model(found, expected)


def test_an_empty_model_warns_as_on_one_machine(client):
    X, y = rows(200)
    lazy = chunked(X, (150, 50)), chunked(y, (150, 50))
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="found no stump to add"):
        found = fastpu.dask.fit_pnu_auc_boost(*lazy, client=client, rho=0.9)
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        assert_same_model(found, fastpu.fit_pnu_auc_boost(X, y, rho=0.9, max_bins=255))


def test_what_does_not_fit_is_refused(client):
    X, y = rows(100)
    lazy_X, lazy_y = chunked(X, (60, 40)), chunked(y, (60, 40))
    for args, options, error, words in (
        ((X, y), {}, TypeError, "X must be a Dask array, a Dask frame or a list of futures"),
        ((lazy_X, chunked(y, (50, 50))), {}, ValueError, "partition 0 has 60 rows there, and 50 here"),
        ((lazy_X, lazy_y), {"early_stopping_rounds": 5}, ValueError, "needs an eval_set"),
        ((lazy_X, lazy_y), {"max_bins": "exact"}, ValueError, "max_bins must be None, an integer or BinnedFeatures"),
        ((lazy_X, lazy_y), {"max_bins": 0}, ValueError, "max_bins must be"),
        ((lazy_X, lazy_y), {"gamma": 2}, ValueError, "gamma must be"),
        ((lazy_X, lazy_y), {"n_folds": 5}, TypeError, "n_folds"),
        ((lazy_X, 0 * lazy_y), {}, ValueError, "y must hold at least two of"),
    ):
        with pytest.raises(error, match=words):
            fastpu.dask.fit_pnu_auc_boost(*args, client=client, **options)
    assert_nothing_is_left(client)


def test_an_interrupted_driver_leaves_nothing_on_the_workers(client):
    X, y = rows(500)

    def interrupt(info):
        if info.round == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fastpu.dask.fit_pnu_auc_boost(chunked(X, (300, 200)), chunked(y, (300, 200)), client=client, callback=interrupt)
    assert_nothing_is_left(client)


def test_a_killed_worker_ends_the_fit_or_a_checkpoint_goes_on(tmp_path):
    X, y = rows(1500)
    frame = with_categories(X, y)
    held = rows(300, seed=1)
    options = {"n_rounds": 160, "eval_set": (with_categories(*held), held[1])}
    expected = fastpu.fit_pnu_auc_boost(frame, y, max_bins=255, **options)
    parts = slice(0, 600), slice(600, 1500)
    path = tmp_path / "fit.npz"
    with local_cluster(2) as client:
        lazy = (
            [client.submit(frame.iloc.__getitem__, part) for part in parts],
            [client.submit(y.__getitem__, part) for part in parts],
        )
        kill = Kill(client, 4)
        with pytest.raises(fastpu.dask.WorkerLostError, match=r"tcp://.* is gone after round [45], with partitions \["):
            fastpu.dask.fit_pnu_auc_boost(*lazy, client=client, callback=kill, **options)
        assert time.monotonic() - kill.when < 60
        client.wait_for_workers(2, timeout=60)
        kill, seen = Kill(client, 150), []

        def watch(info):
            seen.append(info.round)
            kill(info)

        with pytest.warns(RuntimeWarning, match=r"the fit goes on from round (\d+)") as warned:
            found = fastpu.dask.fit_pnu_auc_boost(*lazy, client=client, checkpoint=path, callback=watch, **options)
        assert int(str(warned[0].message).rsplit("round ", 1)[1].split()[0]) > 100
        assert seen == list(range(1, 161))
        assert_same_model(found, expected)
        seen.clear()
        again = fastpu.dask.fit_pnu_auc_boost(*lazy, client=client, checkpoint=path, callback=watch, **options)
        assert_same_model(again, expected)
        assert 0 < len(seen) < 60
        with pytest.raises(ValueError, match="of another fit"):
            fastpu.dask.fit_pnu_auc_boost(*lazy, client=client, checkpoint=path, **{**options, "gamma": 0.2})


class LosesWorkers(SharedFit):
    """A fit of nothing, whose workers are lost again and again; some times a round was saved before."""

    def __init__(self, saved):
        self.n_saved, self._left = 0, list(saved)
        self._data = SimpleNamespace(client=self)

    @property
    def n_made(self):
        return self.n_saved

    def nthreads(self):
        return {"a worker": 1}

    def _place_rows(self):
        return nullcontext()

    def make(self, _workers):
        if not self._left:
            return "model"
        self.n_saved += self._left.pop(0)
        raise fastpu.dask.WorkerLostError("gone")


def test_workers_that_are_lost_again_and_again_end_the_fit_unless_rounds_are_saved():
    fit = LosesWorkers([0, 0, 0, 1, 0, 0, 0])
    with pytest.warns(RuntimeWarning, match="gone; the fit goes on from round"):
        assert fit._retried(fit.make, "file") == "model"
    fit = LosesWorkers([1, 0, 0, 0, 0])
    with pytest.warns(RuntimeWarning, match="gone; the fit goes on"), pytest.raises(fastpu.dask.WorkerLostError):
        fit._retried(fit.make, "file")
    assert not fit._left
