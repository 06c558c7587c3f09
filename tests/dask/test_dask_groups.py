"""Groups of rows that belong together, in Dask collections: those of one machine, wherever their rows are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu

frame = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

from dask_cases import array, assert_nothing_is_left, assert_same_model  # noqa: E402 - Dask may be absent
from fastpu import dask as on_dask  # noqa: E402 - Dask may be absent

#: Every partition has rows of many groups.
CHUNKS = {"one": 900, "some": (300, 0, 200, 1, 399), "many": 113}
OF_ROWS = np.random.default_rng(7).integers(0, 60, size=900)


def rows(n=900):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    X[rng.random(n) < 0.2, 2] = np.nan
    y = ((X[:, 0] + X[:, 1] > 0.8) & (rng.random(n) < 0.5)).astype(np.int8)
    y[-200:] = 0
    return X, y, rng.integers(0, 4, size=n) / 2.0


def far(*parts, chunks):
    return [None if part is None else array.from_array(part, chunks=(chunks, *part.shape[1:])) for part in parts]


GROUPS = {
    "whole numbers": OF_ROWS + 2**60,
    "words": np.array([f"customer {'x' * (k % 5)}{k}" for k in OF_ROWS]),
    "objects": np.array([(int(k), "b") if k % 2 else str(k) for k in OF_ROWS] + [None], dtype=object)[:-1],
}


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_groups_are_those_of_all_partitions(client, chunks, weighted, groups):
    X, y, weights = rows()
    weights[OF_ROWS == 3] = 0  # a group that no bag draws from, but that is drawn
    given = weights if weighted else None
    far_X, far_y, far_weights, far_groups = far(X, y, given, groups, chunks=chunks)
    options = {"n_trees": 20, "random_state": 3}
    found = on_dask.fit_forest(far_X, far_y, sample_weight=far_weights, groups=far_groups, **options)
    expected = fastpu.fit_forest(X, y, sample_weight=given, groups=groups, **options)
    assert_same_model(found, expected)
    assert expected.fingerprint.size == 4
    for group in (0, 3):
        assert np.unique(found.oob_count[group == OF_ROWS]).size == 1


@pytest.mark.parametrize(
    "options",
    [
        {"bag_ratio": None, "loss": "nnpu", "prior": 0.3},
        {"bag_ratio": 100.0, "n_threads": 2},
        {"bag_ratio": 0.5, "loss": "upu", "prior": 0.4, "splitter": "best"},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_pos", [1, 4, 900])
def test_groups_with_few_labels(client, options, n_pos):
    X, y, weights = rows()
    y[np.flatnonzero(y)[n_pos:]] = 0
    far_X, far_y, far_weights, far_groups = far(X, y, weights, OF_ROWS, chunks=250)
    options = {"n_trees": 9, "random_state": 2, **options}
    with warnings.catch_warnings(record=True) as found_warnings:
        warnings.simplefilter("always")
        found = on_dask.fit_forest(far_X, far_y, sample_weight=far_weights, groups=far_groups, **options)
    with warnings.catch_warnings(record=True) as expected_warnings:
        warnings.simplefilter("always")
        expected = fastpu.fit_forest(X, y, sample_weight=weights, groups=OF_ROWS, **options)
    assert_same_model(found, expected)
    assert [str(own.message) for own in found_warnings] == [str(own.message) for own in expected_warnings]


def test_groups_of_a_frame(client, tmp_path):
    pytest.importorskip("pyarrow")
    X, y, weights = rows()
    table = pandas.DataFrame(X, columns=list("abcdef")).assign(
        known=y, often=weights, who=GROUPS["words"], shop=pandas.Categorical(OF_ROWS.astype(str))
    )
    for k in range(6):
        table.iloc[150 * k : 150 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    far_table = frame.read_parquet(tmp_path)
    expected = fastpu.fit_forest(
        table[list("abcdef")], y, sample_weight=weights, groups=OF_ROWS, n_trees=10, random_state=0
    )
    for who in ("who", "shop"):
        found = on_dask.fit_forest(
            far_table[list("abcdef")],
            far_table["known"],
            sample_weight=far_table["often"],
            groups=far_table[who],
            n_trees=10,
            random_state=0,
        )
        assert_same_model(found, expected)


def test_a_forest_by_groups_goes_on_with_the_same_groups_alone(client):
    X, y, _ = rows()
    far_X, far_y, far_groups, others = far(X, y, OF_ROWS, OF_ROWS // 2, chunks=300)
    half = on_dask.fit_forest(far_X, far_y, groups=far_groups, n_trees=8, random_state=5)
    whole = on_dask.fit_forest(far_X, far_y, groups=far_groups, n_trees=12, init_model=half)
    near = fastpu.fit_forest(X, y, groups=GROUPS["words"], n_trees=8, random_state=5)
    assert_same_model(half, near)
    assert_same_model(whole, fastpu.fit_forest(X, y, groups=OF_ROWS, n_trees=12, init_model=half))
    assert_same_model(on_dask.fit_forest(far_X, far_y, groups=far_groups, n_trees=12, init_model=near), whole)
    for groups in (None, others):
        with pytest.raises(ValueError, match="groups must be those of init_model"):
            on_dask.fit_forest(far_X, far_y, groups=groups, n_trees=2, init_model=half)
    alone = on_dask.fit_forest(far_X, far_y, n_trees=2)
    with pytest.raises(ValueError, match="groups must be those of init_model, which has none"):
        on_dask.fit_forest(far_X, far_y, groups=far_groups, n_trees=2, init_model=alone)


def test_copies_within_a_group_do_not_count_in_any_partitions(client):
    X, y, weights = rows(450)
    twice = [np.concatenate([part, part]) for part in (X, y, weights, np.arange(450) // 3)]
    far_X, far_y, far_weights, far_groups = far(*twice, chunks=(300, 0, 200, 1, 399))
    options = {"n_trees": 5, "random_state": 3}
    found = on_dask.fit_forest(far_X, far_y, sample_weight=far_weights, groups=far_groups, **options)
    assert_same_model(found, fastpu.fit_forest(*twice[:2], sample_weight=twice[2], groups=twice[3], **options))


def test_groups_that_every_bag_holds_are_warned_of(client):
    X, y, _ = rows()
    few = np.where(np.arange(900) % 90 < 89, 0, OF_ROWS)
    far_X, far_y, far_groups = far(X, y, few, chunks=300)
    with pytest.warns(fastpu.exceptions.EstimateWarning, match="have no out-of-bag score, as every bag"):
        on_dask.fit_forest(far_X, far_y, groups=far_groups, n_trees=1, random_state=0)


ROUNDS = {"n_rounds": 6, "random_state": 3}
OPTIONS = {
    "fit_forest": {"n_trees": 9, "random_state": 3},
    "fit_boosted_trees": ROUNDS,
    "fit_pnu_auc_boost": {"n_rounds": 20, "max_bins": 255},
}


@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "fit_forest"])
def test_groups_change_nothing_without_bags_and_folds(client, name):
    X, y, weights = rows()
    far_X, far_y, far_weights, far_groups = far(X, y, weights, GROUPS["words"], chunks=(500, 0, 400))
    found = getattr(on_dask, name)(far_X, far_y, sample_weight=far_weights, groups=far_groups, **OPTIONS[name])
    given = {"sample_weight": weights, **OPTIONS[name]}
    assert_same_model(found, getattr(fastpu, name)(X, y, groups=GROUPS["words"], **given))
    assert_same_model(found, getattr(fastpu, name)(X, y, **given))


def test_a_checkpoint_is_that_of_the_same_groups(client, tmp_path):
    X, y, _ = rows()
    far_X, far_y, far_groups, words, others = far(X, y, OF_ROWS, GROUPS["words"], OF_ROWS // 2, chunks=300)
    given = {"client": client, "checkpoint": tmp_path / "fit.npz", **ROUNDS}
    found = on_dask.fit_boosted_trees(far_X, far_y, groups=far_groups, **given)
    assert_same_model(on_dask.fit_boosted_trees(far_X, far_y, groups=words, **given), found)  # only the names differ
    for groups in (others, None):
        with pytest.raises(ValueError, match="checkpoint must name a new file, or that of a fit to the same rows"):
            on_dask.fit_boosted_trees(far_X, far_y, groups=groups, **given)
    given["checkpoint"] = tmp_path / "other.npz"
    on_dask.fit_boosted_trees(far_X, far_y, **given)
    with pytest.raises(ValueError, match="which is of another fit"):
        on_dask.fit_boosted_trees(far_X, far_y, groups=far_groups, **given)


MISSING = np.where(OF_ROWS == 5, np.nan, OF_ROWS)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize(
    ("groups", "error", "words"),
    [
        (OF_ROWS, TypeError, "groups must be a Dask array, a Dask frame or a list of futures for fastpu.dask, got"),
        (far(OF_ROWS, chunks=900)[0], ValueError, "groups must have the partitions of X, 2 of them, got 1"),
        (far(OF_ROWS, chunks=(300, 600))[0], ValueError, "partition 0 has 500 rows there, and 300 here"),
        (far(OF_ROWS[:899], chunks=500)[0], ValueError, "partition 1 has 400 rows there, and 399 here"),
        (
            far(MISSING, chunks=500)[0],
            ValueError,
            "partition [01]: groups must name the group of every row, got a miss",
        ),
        (far(OF_ROWS + 1j, chunks=500)[0], TypeError, "partition [01]: groups must hold labels, such as numbers or"),
        (far(OF_ROWS[:, None], chunks=500)[0], ValueError, "partition [01]: groups must be one-dimensional"),
        (
            [[OF_ROWS[:500], OF_ROWS[500:899]]],
            ValueError,
            r"partition 1: groups must have one entry per row \(400\), got",
        ),
    ],
    ids=["memory", "one", "other", "short", "missing", "complex", "a column", "futures"],
)
def test_what_is_no_group_is_refused(client, name, groups, error, words):
    X, y, _ = rows()
    if isinstance(groups, list):
        groups = client.scatter(groups[0], hash=False)
    far_X, far_y = far(X, y, chunks=500)
    with pytest.raises(error, match=words):
        getattr(on_dask, name)(far_X, far_y, groups=groups, **OPTIONS[name])


def test_nothing_is_left_of_groups_that_are_refused(client):
    X, y, _ = rows()
    far_X, far_y, far_groups = far(X, y, MISSING, chunks=500)
    with pytest.raises(ValueError, match="groups must name"):
        on_dask.fit_forest(far_X, far_y, groups=far_groups, n_trees=5)
    assert_nothing_is_left(client)


def test_an_empty_partition_has_no_groups(client):
    X, y, _ = rows()
    parts = [slice(0, 900), slice(0, 0)]
    far_X, far_y = (client.scatter([every[part] for part in parts], hash=False) for every in (X, y))
    with pytest.raises(ValueError, match=r"partition 1: groups must have one entry per row \(0\), got 900"):
        on_dask.fit_forest(far_X, far_y, groups=client.scatter([OF_ROWS, OF_ROWS], hash=False), n_trees=5)
