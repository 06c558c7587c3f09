"""Objectives in XGBoost's training on Dask: workers with some of the rows each, and the means of all."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import objectives

xgboost = pytest.importorskip("xgboost")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
array = pytest.importorskip("dask.array")

XGBOOST = {"max_depth": 3, "base_score": 0, "disable_default_eval_metric": True}
#: Sums of tens of single-precision histogram entries, in another order.
SCORE_TOL = 1e-5


@pytest.fixture(scope="module")
def client():
    with dask.config.set({"distributed.comm.timeouts.connect": "120s"}):  # the workers of a busy machine start late
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        )
    with cluster, distributed.Client(cluster) as connected:
        yield connected


def rows():
    """Few values, so that XGBoost's cuts of a part are those of the whole; only one partition has positive rows."""
    rng = np.random.default_rng(0)
    X = np.round(2 * rng.normal(size=(1200, 5))).clip(-3, 3)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=1200) > 2).astype(np.float32)
    y[300:] = 0
    weights = rng.integers(1, 4, size=1200).astype(np.float32)
    return X, y, weights


@pytest.mark.parametrize("loss", ["pnu_auc", "upu"])
def test_a_model_of_two_workers_is_that_of_one_process(client, loss):
    from xgboost import dask as xgboost_dask

    X, y, weights = rows()
    options = {"prior": 0.3} if loss == "upu" else {}
    far_X, far_y, far_weights = (
        client.persist(array.from_array(part, chunks=(300, *part.shape[1:]))) for part in (X, y, weights)
    )
    data = xgboost_dask.DaskDMatrix(client, far_X, far_y, weight=far_weights)
    objective = getattr(objectives, loss)(**options)
    found = xgboost_dask.train(client, XGBOOST, data, num_boost_round=5, obj=objective)["booster"]
    near = xgboost.DMatrix(X, y, weight=weights)
    expected = xgboost.train(XGBOOST, near, 5, obj=getattr(objectives, loss)(y, **options))
    np.testing.assert_allclose(found.predict(near), expected.predict(near), rtol=SCORE_TOL, atol=SCORE_TOL)
    assert np.unique(found.predict(near)).size > 10
