"""The profile of the training rows that models of fits on Dask keep: that of a fit on the same bins."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu

pytest.importorskip("distributed")
pytest.importorskip("dask.array")

import fastpu.dask
from dask_cases import chunked, local_cluster, rows
from fastpu.model._profile import arrays_of_profile

FITS = {
    "fit_forest": {"n_trees": 5, "random_state": 0},
    "fit_boosted_trees": {"n_rounds": 3, "random_state": 0},
    "fit_pnu_auc_boost": {"n_rounds": 3},
}
SIZES = (900, 0, 700, 1, 1399)  # of the worker with one row none may be drawn


def test_the_profile_is_that_of_a_fit_on_bins(monkeypatch):
    monkeypatch.setattr("fastpu.model._with_profile.MOST_ROWS", 500)
    X, y = rows(sum(SIZES))
    X[::7, 1] = np.nan
    weights = np.random.default_rng(0).choice([0.0, 1.0, 3.0], len(y))
    far = [chunked(values, SIZES) for values in (X, y, weights)]
    with local_cluster(4, processes=False) as client:
        models = {
            name: getattr(fastpu.dask, name)(far[0], far[1], sample_weight=far[2], client=client, **options)
            for name, options in FITS.items()
        }
    for name, options in FITS.items():
        alike = weights > 0 if name == "fit_forest" else weights  # the cuts of a forest do not depend on weights
        bins = fastpu.bin_features(X, sample_weight=alike)
        near = getattr(fastpu, name)(bins, y, sample_weight=weights, **options)
        found, expected = arrays_of_profile(models[name].profile), arrays_of_profile(near.profile)
        assert found.keys() == expected.keys()
        for key, values in expected.items():
            np.testing.assert_array_equal(found[key], values, err_msg=f"{name}: {key}")
        assert models[name].check(X[:500]).n_before == found["rows"][0] == 500


def test_rows_like_those_of_training_are_called_alike():
    X, y = rows(2000)
    X[:, 2] = np.random.default_rng(1).choice([0.0, 1.0, 2.0, 3.0, 10.0], len(y))  # the last value is far from its cut
    with local_cluster(1, processes=False) as client:
        far = [chunked(values, (1200, 800)) for values in (X, y)]
        model = fastpu.dask.fit_forest(*far, client=client, n_trees=20, random_state=0)
    report = model.check(X[y == 0])
    assert not report.unlike
    assert all(column.shift.distance < 0.05 for column in report.columns)
    X[:, 2] += 1.0
    assert model.check(X[y == 0]).unlike == (2,)
