"""Titles of columns on Dask: kept by the model, whatever they are, and compared wherever rows come in."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu

pytest.importorskip("distributed")
frames = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

import fastpu.dask  # noqa: E402 - Dask may be absent
from dask_cases import assert_same_model, chunked, rows  # noqa: E402 - Dask may be absent
from fastpu.dask._collections import read_rows  # noqa: E402 - Dask may be absent

OPTIONS = {
    "fit_boosted_trees": {"n_rounds": 4, "random_state": 3},
    "fit_pnu_auc_boost": {"n_rounds": 8, "max_bins": 255},
    "fit_forest": {"n_trees": 4, "random_state": 3},
}
TITLES = {
    "words": list("abcde"),
    "numbers": [10, 11, 12, 13, 14],
    "numbers and a word": [0, 1, "two", 3, 4],
}
methods = pytest.mark.parametrize("name", OPTIONS)
boosting = pytest.mark.parametrize("name", ["fit_boosted_trees", "fit_pnu_auc_boost"])
_ARE_NAMES = fastpu.bin_features(pandas.DataFrame({7: [0.0, 1.0]})).feature_names is not None
_known = pytest.mark.skipif(not _ARE_NAMES, reason="on one machine titles that are no strings are not names either")
titles = pytest.mark.parametrize(
    "names", [pytest.param(value, id=key, marks=() if key == "words" else _known) for key, value in TITLES.items()]
)


def given(names, *, n=300, seed=0):
    X, y = rows(n, seed=seed)
    return pandas.DataFrame(X, columns=names), y


def lazy_frame(table):
    return frames.from_pandas(table, npartitions=2)


def lazy_labels(y, form):
    """Labels of the same partitions: beside the rows in one frame, or read apart from them."""
    if form == "series":
        return frames.from_pandas(pandas.Series(y), npartitions=2)
    return chunked(y, (len(y) // 2, len(y) - len(y) // 2))


def far(name, table, y, form="series", **options):
    return getattr(fastpu.dask, name)(lazy_frame(table), lazy_labels(y, form), **OPTIONS[name] | options)


@pytest.mark.parametrize(
    "names",
    [
        [10, 11],
        [0, "b"],
        [0.5, True],
        ["a", "a"],
        pandas.date_range("2020", periods=2),
        pandas.CategoricalIndex(["v", "u"]),
    ],
    ids=lambda names: type(names[0]).__name__,
)
def test_labels_that_are_read_beside_the_rows_leave_their_titles(names):
    table, labels = pandas.DataFrame(np.eye(4)[:, :2], columns=names), pandas.Series([0, 1, 0, 1])
    read = read_rows(lazy_frame(table), lazy_labels(labels, "series"), None)
    last = read.X[1].compute()
    assert last.columns.tolist() == table.columns.tolist()
    np.testing.assert_array_equal(last.to_numpy(), table.to_numpy()[2:])
    assert read.y[1].compute().tolist() == [0, 1]


@methods
@titles
def test_titles_are_those_of_one_machine(client, name, names):
    table, y = given(names)
    found = far(name, table, y, "array" if name == "fit_forest" else "series")
    assert_same_model(found, getattr(fastpu, name)(table, y, **OPTIONS[name]))
    assert found.feature_names == tuple(names)


@methods
@titles
def test_columns_in_another_order_are_refused_for_scores(client, name, names):
    table, y = given(names)
    found = far(name, table, y)
    other = table[table.columns[::-1]]
    for scored in (found.decision_function, found.predict):
        with pytest.raises(ValueError, match="column"):
            scored(lazy_frame(other)).compute()
        with pytest.raises(ValueError, match="column"):
            scored(other)
    np.testing.assert_array_equal(
        found.decision_function(lazy_frame(table)).compute().to_numpy(), found.decision_function(table)
    )


@titles
def test_partitions_with_their_columns_in_another_order_are_refused(client, names):
    table, y = given(names)
    parts = [table[:150], table[150:][table.columns[::-1]]]
    far_X, far_y = client.scatter(parts, hash=False), client.scatter([y[:150], y[150:]], hash=False)
    with pytest.raises(ValueError, match="X must have the same names of columns in all partitions"):
        fastpu.dask.fit_boosted_trees(far_X, far_y)


@boosting
@titles
def test_columns_in_another_order_are_refused_in_an_eval_set_and_in_cuts(client, name, names):
    table, y = given(names)
    held, held_y = given(names, n=100, seed=1)
    other = held[held.columns[::-1]]
    for eval_set in ((lazy_frame(other), lazy_labels(held_y, "series")), (other, held_y)):
        with pytest.raises(ValueError, match="column"):
            far(name, table, y, eval_set=eval_set)
    with pytest.raises(ValueError, match="max_bins"):
        far(name, table, y, max_bins=fastpu.bin_features(other))
    right = far(name, table, y, eval_set=(lazy_frame(held), lazy_labels(held_y, "series")))
    assert_same_model(right, far(name, table, y, eval_set=(held, held_y)))
