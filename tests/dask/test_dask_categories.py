"""Columns of strings and of many categories give the same model on Dask, bit for bit, however rows are divided."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import fastpu

frame = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

from dask import delayed  # noqa: E402 - Dask may be absent

from dask_cases import assert_same_model  # noqa: E402 - Dask may be absent
from fastpu import dask as on_dask  # noqa: E402 - Dask may be absent

N_ROWS, N_SHOPS = 1500, 400


def table(seed=0):
    """A third of the shops, whose names tell nothing, have positive rows."""
    rng = np.random.default_rng(seed)
    shop = rng.integers(0, N_SHOPS, N_ROWS)
    names = rng.permutation(N_SHOPS).astype(str).astype(object)[shop]
    names[rng.random(N_ROWS) < 0.1] = None
    kinds = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, N_ROWS)]
    X = pandas.DataFrame({"x": rng.normal(size=N_ROWS), "shop": names, "kind": kinds})
    y = ((shop < N_SHOPS / 3) & (rng.random(N_ROWS) < 0.5)).astype(np.int8)
    return X, y, rng.integers(0, 3, N_ROWS) / 2.0


def fit_all(fits, X, y, weights):
    return [
        fits.fit_forest(X, y, n_trees=10, sample_weight=weights, random_state=0),
        fits.fit_boosted_trees(X, y, n_rounds=10, sample_weight=weights, random_state=0),
        fits.fit_pnu_auc_boost(X, y, n_rounds=10, sample_weight=weights, max_bins=200),
    ]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert len(one.categories["1"]) > 255
        assert_same_model(one, other)


@pytest.mark.parametrize("sizes", [(N_ROWS,), (700, 0, 1, 799)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_categories_are_ordered_as_on_one_machine(client, sizes, weighted):
    X, y, weights = table()
    given = weights if weighted else None
    ends = np.cumsum((0, *sizes))
    slices = [slice(start, stop) for start, stop in pairwise(ends)]
    far = [None if part is None else [delayed(part[rows]) for rows in slices] for part in (X, y, given)]
    found = fit_all(on_dask, *far)
    assert_same(found, fit_all(fastpu, X, y, given))


def test_frames_of_strings_are_fitted_and_scored_lazily(client):
    X, y, _ = table()
    far_X, far_y = frame.from_pandas(X, npartitions=3), frame.from_pandas(pandas.Series(y), npartitions=3)
    found = fit_all(on_dask, far_X, far_y, None)
    assert_same(found, fit_all(fastpu, X, y, None))
    for model in found:
        np.testing.assert_array_equal(model.decision_function(far_X).compute(), model.decision_function(X))


def test_categories_of_two_kinds_in_one_column_are_refused(client):
    X, y, _ = table()
    parts = [delayed(X[["x", "kind"]].assign(kind=kind.astype("category"))) for kind in (X["kind"], X["x"].round())]
    with pytest.raises(TypeError, match="must have categories of one kind, strings or numbers"):
        on_dask.fit_boosted_trees(parts, [delayed(y), delayed(y)], client=client)


def test_weights_count_and_levels_stay_on_dask(client):
    X, y, _ = table()
    weights = np.random.default_rng(3).choice([0.0, 1e-6, 0.3, 7.0], N_ROWS)
    levels = [f"level {k}" for k in (3, 0, 4, 1, 2)]
    code = np.random.default_rng(4).integers(0, 4, N_ROWS)
    X = X.assign(kind=pandas.Categorical.from_codes(code, categories=levels, ordered=True))
    slices = [slice(0, 600), slice(600, 601), slice(601, N_ROWS)]
    far = [[delayed(part[rows]) for rows in slices] for part in (X, y, weights)]
    found = fit_all(on_dask, *far)
    assert_same(found, fit_all(fastpu, X, y, weights))
    assert found[0].categories["levels"] == ("2",)
    other = X[601:].assign(kind=X["kind"][601:].cat.reorder_categories(levels[::-1]))
    parts = [delayed(X[:601]), delayed(other)]
    with pytest.raises(ValueError, match="the same levels in all partitions of an ordered column"):
        on_dask.fit_boosted_trees(parts, [delayed(y[:601]), delayed(y[601:])], client=client)


def test_few_labels_leave_sets_on_dask(client):
    X, y, _ = table()
    y[np.flatnonzero(y)[40:]] = 0
    far = [[delayed(part[:700]), delayed(part[700:])] for part in (X, y)]
    for one, other in zip(fit_all(on_dask, *far, None), fit_all(fastpu, X, y, None), strict=True):
        assert len(one.categories["1"]) == 255
        assert_same_model(one, other)
