"""Boosted trees on Dask: who asks whom, lazy scores, fits that go on, and what happens to lost workers."""

from __future__ import annotations

import importlib.util
import pickle
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import fastpu

pytest.importorskip("distributed")
array = pytest.importorskip("dask.array")
frames = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

import fastpu.dask  # noqa: E402 - Dask may be absent
from dask_cases import (  # noqa: E402 - Dask may be absent
    SIZES,
    Kill,
    assert_nothing_is_left,
    assert_same_model,
    chunked,
    local_cluster,
    rows,
)
from fastpu.dask._boosted_growth import LostWorkers  # noqa: E402 - Dask may be absent
from fastpu.dask._boosted_rounds import first_unlabelled  # noqa: E402 - Dask may be absent

FIT = {"n_rounds": 6, "learning_rate": 0.2, "random_state": 3}


@pytest.mark.parametrize("is_direct", [True, False])
def test_the_driver_need_not_reach_the_workers(monkeypatch, is_direct):
    X, y = rows()
    options = {**FIT, "subsample_unl": 0.5}
    with local_cluster(5, processes=False) as client:
        monkeypatch.setattr(client, "direct_to_workers", is_direct)
        found = fastpu.dask.fit_boosted_trees(chunked(X, (600,) * 5), chunked(y, (600,) * 5), client=client, **options)
        assert_nothing_is_left(client)
    assert_same_model(found, fastpu.fit_boosted_trees(X, y, **options))


def test_scores_of_arrays_are_lazy_too(client):
    X, y = rows(400)
    model = fastpu.fit_boosted_trees(X, y, **FIT)
    scores = model.decision_function(chunked(X, (100, 0, 300)))
    assert scores.chunks == ((100, 0, 300),)
    np.testing.assert_array_equal(scores.compute(), model.decision_function(X))
    with pytest.raises(ValueError, match="whole rows in every chunk"):
        model.decision_function(array.from_array(X, chunks=(100, 2)))


@pytest.mark.parametrize("form", ["array", "frame"])
def test_a_large_model_is_not_a_part_of_the_graph(client, form, monkeypatch):
    X, y = rows(400)
    model = fastpu.fit_boosted_trees(X, y, **FIT)
    monkeypatch.setattr("fastpu.model._lazy._LARGE", 100)
    far = chunked(X, (100, 300)) if form == "array" else frames.from_pandas(pandas.DataFrame(X), npartitions=2)
    with client.as_current():
        scores = model.decision_function(far)
    assert len(pickle.dumps(scores)) < len(pickle.dumps(model)) + len(pickle.dumps(far))
    np.testing.assert_array_equal(np.asarray(scores.compute()), model.decision_function(X))


def test_a_fit_that_was_stopped_early_goes_on_with_the_same_rows_alone(client):
    X, y = rows()
    weights = np.random.default_rng(2).integers(1, 4, 3000).astype(np.float64)
    held = rows(300, seed=1)
    options = {**FIT, "n_rounds": 60, "learning_rate": 1.0, "early_stopping_rounds": 4, "eval_set": held}
    more = {**options, "n_rounds": 3, "random_state": None}
    near = fastpu.fit_boosted_trees(X, y, sample_weight=weights, **options)
    with pytest.warns(fastpu.exceptions.ConvergenceWarning):
        expected = fastpu.fit_boosted_trees(X, y, sample_weight=weights, init_model=near, **more)

    def fit(*arrays, **given):
        lazy_X, lazy_y, lazy_weights = (chunked(each, SIZES[7]) for each in arrays)
        return fastpu.dask.fit_boosted_trees(lazy_X, lazy_y, sample_weight=lazy_weights, client=client, **given)

    far = fit(X, y, weights, **options)
    assert_same_model(far, near)
    with pytest.warns(fastpu.exceptions.ConvergenceWarning):
        found = fit(X, y, weights, init_model=far, **more)
    assert_same_model(found, expected)
    assert found.history["risk"].size == found.n_trees == near.n_trees + found.history["eval_auc"].argmax() + 1
    other_y, other_weights = y.copy(), weights.copy()
    other_y[2000], other_weights[2999] = 1 - y[2000], 9.0
    for changed, name in (((X[::-1], y, weights), "X"), ((X, other_y, weights), "y"),
                          ((X, y, other_weights), "sample_weight")):  # fmt: skip
        with pytest.raises(ValueError, match=f"{name} must be that of init_model, in the same order of rows"):
            fit(*changed, init_model=far, **more)


def test_partitions_that_do_not_fit_each_other_are_refused(client):
    X, y = rows(100)

    def fit(*args):
        return fastpu.dask.fit_boosted_trees(*args, client=client)

    far = {
        name: client.scatter(part, hash=False)
        for name, part in (
            ("X", X[:60]),
            ("X of 4", X[60:, :4]),
            ("other X", X[60:]),
            ("y", y[:60]),
            ("other y", y[60:]),
            ("few", y[:30]),
        )
    }
    with pytest.raises(ValueError, match=r"the same columns in all partitions: n_features is 5 in partition 0"):
        fit([far["X"], far["X of 4"]], [far["y"], far["other y"]])
    with pytest.raises(ValueError, match=r"partition 1: y must have one entry per row"):
        fit([far["X"], far["other X"]], [far["y"], far["few"]])


@pytest.mark.parametrize(
    ("weights", "kind", "match"),
    [
        (np.full(100, 3e306), ValueError, "^sample_weight must have a finite sum"),
        (np.ones((100, 2)), ValueError, "partition .: sample_weight must be one-dimensional"),
        (np.ma.masked_equal(np.arange(100.0), 3), TypeError, "partition .: sample_weight must not be a masked array"),
    ],
)
def test_weights_are_checked_in_each_partition_and_together(client, weights, kind, match):
    X, y = rows(100)
    far = [[client.scatter(part, hash=False) for part in (every[:50], every[50:])] for every in (X, y, weights)]
    with pytest.raises(kind, match=match):
        fastpu.dask.fit_boosted_trees(far[0], far[1], sample_weight=far[2], client=client)


def test_rows_that_are_drawn_need_numbers_of_32_bits():
    with pytest.raises(ValueError, match="subsample_unl must be 1 for more than 4294967295 unlabelled rows, got 429"):
        first_unlabelled(SimpleNamespace(subsample_unl=0.5), [2**31, 2**31])


@pytest.mark.parametrize(("saved", "goes_on"), [([0, 0, 0, 1, 0, 0, 0], True), ([1, 0, 0, 0, 0], False)])
def test_workers_that_are_lost_again_and_again_end_the_fit_unless_rounds_are_saved(saved, goes_on):
    client, error, n_trees = SimpleNamespace(nthreads=lambda: {"a worker": 1}), fastpu.dask.WorkerLostError("gone"), 0
    lost = LostWorkers(client, object(), n_trees)
    for n_more in saved[: len(saved) if goes_on else -1]:
        n_trees += n_more
        with pytest.warns(RuntimeWarning, match=f"gone; the fit goes on from round {n_trees}"):
            lost.go_on(error, n_trees)
    if not goes_on:
        with pytest.raises(fastpu.dask.WorkerLostError):
            lost.go_on(error, n_trees)


def test_without_workers_or_a_checkpoint_a_fit_does_not_go_on():
    error = fastpu.dask.WorkerLostError("gone")
    with pytest.raises(fastpu.dask.WorkerLostError):
        LostWorkers(SimpleNamespace(nthreads=lambda: {"a worker": 1}), None, 0).go_on(error, 5)
    lost = LostWorkers(SimpleNamespace(nthreads=dict), object(), 0)
    with pytest.warns(RuntimeWarning, match="gone"):
        lost.go_on(error, 5)
    with pytest.raises(fastpu.dask.WorkerLostError):
        lost.go_on(error, 5)


def test_without_a_client_it_says_what_to_do(monkeypatch):
    def no_client():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("fastpu.dask._client.distributed.get_client", no_client)
    X, y = rows(100)
    with pytest.raises(ValueError, match="client must be given, or a Dask client be open"):
        fastpu.dask.fit_boosted_trees(chunked(X, (100,)), chunked(y, (100,)))
    with pytest.raises(TypeError, match=r"client must be a dask\.distributed\.Client or None, got"):
        fastpu.dask.fit_boosted_trees(chunked(X, (100,)), chunked(y, (100,)), client="tcp://127.0.0.1:1")


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    spec = importlib.util.find_spec("fastpu.dask._client")
    with pytest.raises(ImportError, match="pip install dask distributed"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


#: So many rounds that a worker is gone before they are done, also where the news of a round arrives late.
MANY_ROUNDS = {**FIT, "n_rounds": 300}


def test_a_killed_worker_ends_the_fit():
    X, y = rows(2000)
    with local_cluster(2) as client:
        kill = Kill(client, 4, meeting=False)
        with pytest.raises(fastpu.dask.WorkerLostError, match=r"tcp://.* is gone after round \d+, with partitions \["):
            fastpu.dask.fit_boosted_trees(
                chunked(X, (700, 600, 700)), chunked(y, (700, 600, 700)), client=client, callback=kill, **MANY_ROUNDS
            )
        assert time.monotonic() - kill.when < 60


def test_with_a_checkpoint_a_fit_goes_on_without_a_killed_worker(tmp_path):
    X, y = rows(2000)
    expected = fastpu.fit_boosted_trees(X, y, **MANY_ROUNDS)
    lazy = chunked(X, (700, 600, 700)), chunked(y, (700, 600, 700))
    given = {"checkpoint": tmp_path / "fit.npz", **MANY_ROUNDS}
    with local_cluster(2) as client:
        given["client"] = client
        with pytest.warns(RuntimeWarning, match="the fit goes on from round [123]0"):
            found = fastpu.dask.fit_boosted_trees(*lazy, callback=Kill(client, 14), **given)
        assert_same_model(found, expected)
        again = fastpu.dask.fit_boosted_trees(*lazy, **given)
        assert_same_model(again, expected)
        with pytest.raises(ValueError, match="of another fit"):
            fastpu.dask.fit_boosted_trees(*lazy, **{**given, "lam": 2.0})
        other_y = chunked(y[np.argsort(X[:, 0] == X[0, 0])], (700, 600, 700))  # as many of each label
        with pytest.raises(ValueError, match="of another fit"):
            fastpu.dask.fit_boosted_trees(lazy[0], other_y, **given)
