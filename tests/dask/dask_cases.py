"""Clusters of processes on this machine, and rows in chunks."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import threading
import time

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")
array = pytest.importorskip("dask.array")


def rows(n=3000, *, negatives=False, seed=0):
    """Five columns with missing entries, whose labels are of one kind, of two, or of three."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[rng.random(X.shape) < 0.03] = np.nan
    truth = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2]) + rng.normal(size=n) > 0.5
    y = (truth & (rng.random(n) < 0.4)).astype(np.int8)
    if negatives:
        y[~truth & (rng.random(n) < 0.2)] = -1
    return X, y


#: Rows of partitions, 3,000 in all.
SIZES = {1: (3000,), 3: (1000, 1, 1999), 7: (500, 0, 900, 100, 1000, 200, 300)}


def assert_same_model(found, expected):
    """All fields of the models are equal, arrays bit by bit."""
    for field in dataclasses.fields(expected):
        if field.name == "_late_profile":
            continue  # that of a fit on Dask is of bins
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "history":
            assert one.keys() == other.keys()
            one, other = list(one.values()), list(other.values())
        np.testing.assert_equal(one, other, err_msg=field.name)


@contextlib.contextmanager
def local_cluster(n_workers, *, processes=True, **more):
    cluster = distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=processes, dashboard_address=":0", silence_logs=50, **more
    )
    with cluster, distributed.Client(cluster) as connected:
        yield connected


def chunked(values, sizes):
    chunks = (tuple(sizes), *((size,) for size in values.shape[1:]))
    return array.from_array(values, chunks=chunks)


def assert_nothing_is_left(client):
    """No actor and no task is on any worker, or not for long; what tests have scattered does not count."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = client.run(lambda dask_worker: [*dask_worker.state.actors, *dask_worker.state.tasks])
        left = [key for keys in found.values() for key in keys if not str(key).startswith(("ndarray-", "csr_array-"))]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(left)


def holds_a_thread():
    """Whether this thread is one of those in which the worker runs its tasks."""
    return threading.current_thread() in distributed.get_worker().executor._threads


def scores_in_task(name, X, y, lazy_X, lazy_y, options, *, has_left=False):
    """Scores by a fit in a task, or what it raises, and whether the task holds a thread of its worker after it."""
    from fastpu import dask as on_dask

    if has_left:
        distributed.secede()
    try:
        model = getattr(on_dask, name)(lazy_X, lazy_y, **options)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        return repr(error), holds_a_thread()
    return model.decision_function(X), holds_a_thread()


def fail(_info):
    """Fails as a callback."""
    raise ZeroDivisionError("in the callback")


#: Ends a process that has no say in it; on Windows, which has no SIGKILL, any signal does.
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class Kill:
    """Kills a worker after some round, once: where the members of the fit meet, or another one."""

    def __init__(self, client, round_, *, meeting=True):
        self.client, self.round, self.when, self.choose = client, round_, None, max if meeting else min

    def __call__(self, info):
        if info.round == self.round and self.when is None:
            meetings = self.client.run(lambda dask_worker: (len(dask_worker.state.actors), os.getpid()))
            os.kill(self.choose(meetings.values())[1], KILL)
            self.when = time.monotonic()
