"""Fits that are called in tasks, as many at once as the workers have threads."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("dask.array")

import fastpu.dask
from dask_cases import assert_nothing_is_left, chunked, fail, local_cluster, rows, scores_in_task

HANG_SECONDS = 60.0
FITS = {
    "fit_boosted_trees": {"n_rounds": 3, "random_state": 0},
    "fit_forest": {"n_trees": 4, "random_state": 0},
    "fit_pnu_auc_boost": {"n_rounds": 3},
}


def rows_and_chunks():
    X, y = rows(400)
    return X, y, chunked(X, (150, 250)), chunked(y, (150, 250))


@pytest.mark.parametrize("processes", [False, True])
def test_fits_in_tasks_on_all_threads_of_the_workers_do_not_wait_for_each_other(processes):
    given = rows_and_chunks()
    with local_cluster(2, processes=processes) as client:
        for name, options in FITS.items():
            expected = getattr(fastpu.dask, name)(*given[2:], client=client, **options).decision_function(given[0])
            for options_of_task, outcome in (
                (options, None),
                ({**options, "sample_weight": 3}, "TypeError"),
                ({**options, "callback": fail}, "ZeroDivisionError('in the callback')"),
                (options, None),
            ):
                tasks = [client.submit(scores_in_task, name, *given, options_of_task, pure=False) for _ in range(2)]
                for task in tasks:
                    found, is_held = task.result(timeout=HANG_SECONDS)
                    assert is_held
                    if outcome is None:
                        np.testing.assert_array_equal(found, expected)
                    else:
                        assert found.startswith(outcome)
                del tasks, task
        assert_nothing_is_left(client)


def test_a_task_that_has_left_the_threads_of_its_worker_stays_away():
    with local_cluster(1, processes=False) as client:
        task = client.submit(scores_in_task, "fit_forest", *rows_and_chunks(), FITS["fit_forest"], has_left=True)
        found, is_held = task.result(timeout=HANG_SECONDS)
        assert found.shape == (400,)
        assert not is_held
