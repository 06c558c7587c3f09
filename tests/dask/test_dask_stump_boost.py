"""Boosted stumps on Dask: weights that are set afresh, empty models, and lost workers."""

from __future__ import annotations

import time

import pytest

import fastpu

pytest.importorskip("distributed")

import fastpu.dask
from dask_cases import (
    SIZES,
    Kill,
    assert_same_model,
    chunked,
    local_cluster,
    rows,
)


def test_options_mean_the_same_and_weights_are_set_afresh(client):
    X, y = rows(negatives=True)
    options = {"n_rounds": 140, "max_bins": 12, "gamma": 0.9, "rho": 0.0, "step": "line_search"}
    seen, near = [], []
    found = fastpu.dask.fit_pnu_auc_boost(
        chunked(X, SIZES[3]), chunked(y, SIZES[3]), client=client, callback=seen.append, **options
    )
    assert_same_model(found, fastpu.fit_pnu_auc_boost(X, y, callback=near.append, **options))
    assert seen == near


def test_an_empty_model_warns_as_on_one_machine(client):
    X, y = rows(200)
    lazy = chunked(X, (150, 50)), chunked(y, (150, 50))
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="found no stump to add"):
        found = fastpu.dask.fit_pnu_auc_boost(*lazy, client=client, rho=0.9)
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        assert_same_model(found, fastpu.fit_pnu_auc_boost(X, y, rho=0.9, max_bins=255))


@pytest.mark.parametrize("meeting", [True, False])
def test_a_killed_worker_ends_the_fit(meeting):
    X, y = rows(1500)
    with local_cluster(2) as client:
        kill = Kill(client, 4, meeting=meeting)
        with pytest.raises(fastpu.dask.WorkerLostError, match=r"tcp://.* is gone after round \d+, with partitions \["):
            fastpu.dask.fit_pnu_auc_boost(
                chunked(X, (1000, 500)), chunked(y, (1000, 500)), client=client, callback=kill, n_rounds=5000
            )  # so many rounds that the worker is gone before they are done
        assert time.monotonic() - kill.when < 60
