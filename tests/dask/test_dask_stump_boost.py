"""Boosted stumps on Dask: weights that are set afresh, empty models, and lost workers."""

from __future__ import annotations

import time
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import fastpu

pytest.importorskip("distributed")
pandas = pytest.importorskip("pandas")

import fastpu.dask  # noqa: E402 - Dask may be absent
from dask_cases import (  # noqa: E402 - Dask may be absent
    SIZES,
    Kill,
    assert_same_model,
    chunked,
    local_cluster,
    rows,
)
from fastpu.dask._shared_fit import SharedFit  # noqa: E402 - Dask may be absent


def test_options_mean_the_same_and_weights_are_set_afresh(client):
    X, y = rows(negatives=True)
    options = {"n_rounds": 140, "max_bins": 12, "gamma": 0.9, "rho": 0.0, "step": "line_search"}
    seen, near = [], []
    found = fastpu.dask.fit_pnu_auc_boost(
        chunked(X, SIZES[3]), chunked(y, SIZES[3]), client=client, callback=seen.append, **options
    )
    assert_same_model(found, fastpu.fit_pnu_auc_boost(X, y, callback=near.append, **options))
    assert seen == near


def with_categories(X, y):
    frame = pandas.DataFrame(X, columns=list("abcde"))
    kinds = np.array(["up", "down", "left"])
    frame["kind"] = pandas.Categorical(kinds[(y + 1) * (np.arange(len(y)) % 3 == 0)], categories=kinds)
    return frame


def test_an_empty_model_warns_as_on_one_machine(client):
    X, y = rows(200)
    lazy = chunked(X, (150, 50)), chunked(y, (150, 50))
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="found no stump to add"):
        found = fastpu.dask.fit_pnu_auc_boost(*lazy, client=client, rho=0.9)
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        assert_same_model(found, fastpu.fit_pnu_auc_boost(X, y, rho=0.9, max_bins=255))


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
