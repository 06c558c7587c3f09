"""A forest of a Dask collection is bit for bit that of the same rows on one machine."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from helpers import through_odd_bytes

frame = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

from dask_cases import KILL, array, assert_nothing_is_left, assert_same_model, local_cluster  # noqa: E402 - Dask may be absent
from fastpu import dask as on_dask  # noqa: E402 - Dask may be absent
from fastpu.dask import _forest_growth, _forest_out_of_bag, _tasks  # noqa: E402 - Dask may be absent

HANG_SECONDS = 60.0


def rows(n=900, *, seed=0):
    """The last two hundred rows have no positive ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n) < 0.2, 2] = np.nan
    X[:, 3] = np.where(rng.random(n) < 0.6, 0.0, X[:, 3])
    y = ((X[:, 0] + X[:, 1] > 0.8) & (rng.random(n) < 0.5)).astype(np.int8)
    y[-200:] = 0
    return X, y, rng.integers(0, 4, size=n) / 2.0


def far(*parts, chunks):
    return [None if part is None else array.from_array(part, chunks=(chunks, *part.shape[1:])) for part in parts]


#: Groups of rows that lie far from each other.
OF_ROWS = np.random.default_rng(7).integers(0, 60, size=900)
CHUNKS = {"one": 900, "some": (300, 0, 200, 1, 399), "many": 113}


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
@pytest.mark.parametrize("weighted", [False, True])
def test_partitions_do_not_matter(client, chunks, weighted):
    X, y, weights = rows()
    given = weights if weighted else None
    far_X, far_y, far_weights = far(X, y, given, chunks=chunks)
    options = {"n_trees": 20, "random_state": 3}
    found = on_dask.fit_forest(far_X, far_y, sample_weight=far_weights, **options)
    assert_same_model(found, fastpu.fit_forest(X, y, sample_weight=given, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "nnpu", "prior": 0.3, "splitter": "best", "max_bins": 9},
        {"loss": "upu", "prior": 0.4, "scenario": "single_set", "max_leaves": 12},
        {"bag_ratio": None, "max_features": "all", "max_depth": 4},
        {"bag_ratio": 100.0, "min_leaf_rows": 1, "max_bins": 300, "n_threads": 2},
    ],
    ids=str,
)
def test_options_mean_the_same(client, options):
    X, y, _ = rows()
    far_X, far_y = far(X, y, chunks=250)
    found = on_dask.fit_forest(far_X, far_y, client=client, n_trees=7, random_state=1, **options)
    assert_same_model(found, fastpu.fit_forest(X, y, n_trees=7, random_state=1, **options))


def test_frames_with_categories(client):
    X, y, _ = rows()
    table = pandas.DataFrame(X[:, :3], columns=["a", "b", "c"])
    kind = np.random.default_rng(1).integers(0, 9, size=900) + 2 * y
    table["kind"] = pandas.Categorical(kind.astype(str), categories=[str(k) for k in range(12)][::-1])
    table.loc[:299, "kind"] = table["kind"].iloc[0]
    expected = fastpu.fit_forest(table, y, n_trees=15, random_state=0)
    assert len(expected.category_sets) > 0
    far_table = frame.from_pandas(table, npartitions=3)
    far_y = frame.from_pandas(pandas.Series(y), npartitions=3)
    found = on_dask.fit_forest(far_table, far_y, n_trees=15, random_state=0)
    assert_same_model(found, expected)
    # The sets of categories of the trees to come are numbered after those that are there.
    more = fastpu.fit_forest(table, y, n_trees=5, init_model=expected)
    assert_same_model(on_dask.fit_forest(far_table, far_y, n_trees=5, init_model=found), more)


def test_files_of_parquet_that_dask_joins_by_what_is_read_of_them(client, tmp_path):
    pytest.importorskip("pyarrow")
    X, y, weights = rows()
    table = pandas.DataFrame(X, columns=list("abcdef")).assign(known=y, often=weights)
    for k in range(6):
        table.iloc[150 * k : 150 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    far_table = frame.read_parquet(tmp_path)
    far_X = far_table.drop(columns=["known", "often"])
    assert len(far_X.to_delayed()) != len(far_table["known"].to_delayed()) != far_table.npartitions
    found = on_dask.fit_forest(far_X, far_table["known"], sample_weight=far_table["often"], n_trees=10, random_state=0)
    expected = fastpu.fit_forest(
        table.drop(columns=["known", "often"]), y, sample_weight=weights, n_trees=10, random_state=0
    )
    assert_same_model(found, expected)


def test_csr_blocks_as_futures(client):
    X, y, _ = rows()
    X = np.nan_to_num(X)
    cuts = [slice(0, 400), slice(400, 650), slice(650, 900)]
    far_X, far_y = (client.scatter([part[cut] for cut in cuts], hash=False) for part in (sp.csr_matrix(X), y))
    found = on_dask.fit_forest(far_X, far_y, n_trees=10, random_state=0)
    assert_same_model(found, fastpu.fit_forest(sp.csr_matrix(X), y, n_trees=10, random_state=0))


@pytest.mark.parametrize("weighted", [False, True])
def test_copies_of_labelled_rows_are_found_in_other_partitions(client, weighted):
    X, y, weights = rows(450)
    twice = [np.concatenate([part, part]) for part in (X, y, weights)]
    given = twice[2] if weighted else None
    n_pos = int(np.count_nonzero(twice[1][twice[2] > 0] == 1 if weighted else twice[1] == 1))
    far_X, far_y, far_weights = far(*twice[:2], given, chunks=(300, 0, 200, 1, 399))
    with pytest.warns(fastpu.exceptions.CopiedRowsWarning, match=f"{n_pos} of the {n_pos} labelled positive rows"):
        on_dask.fit_forest(far_X, far_y, sample_weight=far_weights, n_trees=5, random_state=3)


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_a_column_that_knows_the_labels_is_found_in_all_partitions(client, chunks):
    X, y, _ = rows()
    X[:, 4] = y
    far_X, far_y = far(X, y, chunks=chunks)
    with pytest.warns(fastpu.exceptions.LabelWarning, match="and so by column 4 alone"):
        on_dask.fit_forest(far_X, far_y, n_trees=60, random_state=0)


def test_a_forest_goes_on(client):
    X, y, _ = rows()
    far_X, far_y = far(X, y, chunks=300)
    half = on_dask.fit_forest(far_X, far_y, n_trees=8, random_state=5)
    whole = on_dask.fit_forest(far_X, far_y, n_trees=12, init_model=half)
    assert_same_model(whole, fastpu.fit_forest(X, y, n_trees=20, random_state=5))
    with pytest.raises(ValueError, match="min_leaf_rows must be that of init_model"):
        on_dask.fit_forest(far_X, far_y, n_trees=2, init_model=half, min_leaf_rows=7)
    few_X, few_y = far(X[:300], y[:300], chunks=300)
    with pytest.raises(ValueError, match="X must have the 900 rows of init_model, got 300"):
        on_dask.fit_forest(few_X, few_y, n_trees=2, init_model=half)
    near = fastpu.fit_forest(X, y, n_trees=8, random_state=5)
    assert_same_model(on_dask.fit_forest(far_X, far_y, n_trees=12, init_model=near), whole)
    for other, name in (((X[::-1], y), "X"), ((X, np.where(np.arange(900) == 8, 1 - y, y)), "y")):
        with pytest.raises(ValueError, match=f"{name} must be that of init_model, in the same order of rows"):
            on_dask.fit_forest(*far(*other, chunks=300), n_trees=2, init_model=half)


def test_a_callback_sees_the_trees_in_order_and_ends_the_fit(client):
    X, y, _ = rows()
    far_X, far_y = far(X, y, chunks=300)
    seen, near = [], []
    found = on_dask.fit_forest(
        far_X, far_y, n_trees=9, random_state=0, callback=lambda tree: seen.append(tree) or tree.tree == 5
    )
    expected = fastpu.fit_forest(
        X, y, n_trees=9, random_state=0, callback=lambda tree: near.append(tree) or tree.tree == 5
    )
    assert seen == near
    assert_same_model(found, expected)


def test_labels_are_refused_as_on_one_machine(client):
    X, y, _ = rows(60)
    for labels in (np.zeros(60, np.int8), np.ones(60, np.int8), np.where(y == 1, 1, -1).astype(np.int8)):
        with pytest.raises(ValueError, match="y ") as near:
            fastpu.fit_forest(X, labels)
        with pytest.raises(ValueError, match="y ") as found:
            on_dask.fit_forest(*far(X, labels, chunks=20))
        assert str(found.value) == str(near.value)


def test_tasks_of_a_worker_that_dies_are_repeated():
    X, y, _ = rows(3000)
    options = {"n_trees": 600, "random_state": 0, "max_leaves": 40}
    with local_cluster(2) as own:
        pids = list(own.run(os.getpid).values())
        far_X, far_y = far(X, y, chunks=500)

        def kill_soon():
            time.sleep(0.5)
            os.kill(pids[1], KILL)

        killer = threading.Thread(target=kill_soon)
        killer.start()
        start = time.monotonic()
        found = on_dask.fit_forest(far_X, far_y, client=own, **options)
        killer.join()
        assert time.monotonic() - start < HANG_SECONDS
    assert_same_model(found, fastpu.fit_forest(X, y, **options))


@pytest.mark.parametrize(
    ("n_gathered", "killed_at", "n_waits"),
    [(1 << 27, "growing trees", 1), (1 << 19, "growing trees", 3), (1 << 19, "scoring out of bag", 1)],
)
def test_bags_and_sums_that_are_lost_with_a_worker_are_made_again(monkeypatch, n_gathered, killed_at, n_waits):
    X, y, _ = rows(3000)
    groups = np.random.default_rng(0).integers(0, 200, size=3000)
    options = {"n_trees": 300, "random_state": 0, "max_leaves": 40}
    monkeypatch.setattr(_forest_growth, "_GATHERED_BYTES", n_gathered)
    wait_for, results_of, waited = _forest_growth.wait_for, _forest_out_of_bag.results_of, []
    with local_cluster(2) as own:
        pid = list(own.run(os.getpid).values())[1]

        def kill_before(wait):
            def kill_and_wait(client, futures, what):
                waited.append(what)
                if waited.count(what) == n_waits and what == killed_at:
                    os.kill(pid, KILL)
                return wait(client, futures, what)

            return kill_and_wait

        monkeypatch.setattr(_forest_growth, "wait_for", kill_before(wait_for))
        monkeypatch.setattr(_forest_out_of_bag, "results_of", kill_before(results_of))
        far_X, far_y, far_groups = far(X, y, groups, chunks=500)
        found = on_dask.fit_forest(far_X, far_y, groups=far_groups, client=own, **options)
    assert waited.count(killed_at) >= n_waits
    assert_same_model(found, fastpu.fit_forest(X, y, groups=groups, **options))


def test_arrays_may_begin_at_any_byte_of_a_message(monkeypatch):
    X, y, weights = rows()
    table = pandas.DataFrame(X).assign(kind=pandas.Categorical(np.where(X[:, 0] > 0, "a", "b")))
    expected = fastpu.fit_forest(table, y, sample_weight=weights, groups=OF_ROWS, n_trees=12, random_state=0)

    def call(function, *arguments):
        return function(*through_odd_bytes(arguments))

    submit = _tasks.Tasks.submit
    monkeypatch.setattr(_tasks.Tasks, "submit", lambda tasks, *parts: submit(tasks, call, *parts))
    with local_cluster(1, processes=False) as own:
        parts = [
            [own.scatter(part[first : first + 300], hash=False) for first in (0, 300, 600)]
            for part in (table, y, weights, OF_ROWS)
        ]
        found = on_dask.fit_forest(
            parts[0], parts[1], sample_weight=parts[2], groups=parts[3], client=own, n_trees=12, random_state=0
        )
    assert_same_model(found, expected)


def test_rows_that_are_lost_with_their_worker_end_the_fit():
    X, y, _ = rows()
    with local_cluster(2) as own:
        address, pid = list(own.run(os.getpid).items())[1]
        far_X, far_y = ([own.scatter(part, workers=[address], hash=False)] for part in (X, y))
        os.kill(pid, KILL)
        start = time.monotonic()
        with pytest.raises(on_dask.WorkerLostError, match="a Dask worker is gone"):
            on_dask.fit_forest(far_X, far_y, client=own, n_trees=5)
        assert time.monotonic() - start < HANG_SECONDS


def test_nothing_is_left_on_the_workers(client):
    X, y, weights = rows()
    far_X, far_y, far_weights, far_groups = far(X, y, weights, OF_ROWS, chunks=300)

    def interrupt(tree):
        raise KeyboardInterrupt

    kept = []
    for callback in (None, interrupt):
        try:
            on_dask.fit_forest(
                far_X, far_y, sample_weight=far_weights, groups=far_groups, n_trees=12, callback=callback
            )
        except KeyboardInterrupt as error:
            kept.append(error)  # with its traceback, as a notebook keeps it
        assert_nothing_is_left(client)
    assert kept
