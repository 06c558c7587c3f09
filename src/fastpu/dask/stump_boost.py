"""Boosted stumps of rows on many machines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from fastpu import _core
from fastpu.boosting._folds import LabelledRows
from fastpu.boosting._stump_boost import STOP_TOL, BoostRound, check_group_counts, make_model
from fastpu.boosting.stump_boost import pnu_auc_method
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import MANY, check_float, check_int
from fastpu.common._progress import make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.dask._binning import open_fit
from fastpu.dask._client import waits_outside_the_pool
from fastpu.dask._members import Holding, Members
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import BinnedFeatures


@answers_unknown_keywords
@waits_outside_the_pool
def fit_pnu_auc_boost(
    X: object,
    y: object,
    *,
    client: object = None,
    n_rounds: int = 200,
    gamma: float = 0.5,
    rho: float = 0.01,
    max_bins: int | BinnedFeatures | None = None,
    step: Literal["jensen", "line_search"] = "jensen",
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    stop_tol: float = STOP_TOL,
    sample_weight: object = None,
    n_threads: int | None = None,
    callback: Callable[[BoostRound], bool | None] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """PNUAUCBoost of the rows of a Dask collection, which stay on their workers.

    The model is that of `fastpu.fit_pnu_auc_boost` on all rows together with the same ``max_bins``, bit by bit, for any
    partitions, workers and threads. In every round each worker sends one histogram, of 32 bytes for each bin of a
    column, and is sent some hundred bytes. Warnings and references are those of `fastpu.fit_pnu_auc_boost`.

    Parameters
    ----------
    X, y, client, eval_set, early_stopping_rounds, sample_weight, n_threads
        As in `fastpu.dask.fit_boosted_trees`.
    n_rounds, gamma, rho, step, stop_tol, callback, progress
        As in `fastpu.fit_pnu_auc_boost`, with their defaults; the callback is called on the driver.
    max_bins : int or BinnedFeatures, optional
        As in `fastpu.dask.fit_boosted_trees`. Searching every threshold, as ``max_bins="exact"`` does on one machine,
        needs all rows in one order.

    Returns
    -------
    StumpEnsemble
        As `fastpu.fit_pnu_auc_boost` returns it, and lazy as that of `fastpu.dask.fit_boosted_trees`.

    Raises
    ------
    TypeError, ValueError, WorkerLostError
        As in `fastpu.fit_pnu_auc_boost` and `fastpu.dask.fit_boosted_trees`.

    Notes
    -----
    Rounds chosen by folds are for rows that fit one machine: choose them there, with a sample. Partitions are read as
    `fastpu.dask.fit_boosted_trees` says. A worker keeps two bytes a value and 33 bytes a row, and the driver gets what
    it says there. At most 17,179,869,184 rows in all.

    Examples
    --------
    >>> import numpy as np, fastpu.dask
    >>> from dask import array
    >>> from dask.distributed import Client
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> y = (X[:, 0] > 0) & (np.arange(1000) < 300)
    >>> with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as client:
    ...     rows = array.from_array(X, chunks=(250, 3))
    ...     labels = array.from_array(y, chunks=250)
    ...     model = fastpu.dask.fit_pnu_auc_boost(rows, labels, n_rounds=20)
    >>> alone = fastpu.fit_pnu_auc_boost(X, y, n_rounds=20, max_bins=255)
    >>> bool((model.alphas == alone.alphas).all()) and model.threshold == alone.threshold
    True
    """
    given = locals()
    method = pnu_auc_method(gamma, rho, step)
    rounds = check_int("n_rounds", n_rounds, low=1)
    tolerance = check_float("stop_tol", stop_tol, low=0)
    if isinstance(max_bins, str):
        raise ValueError(
            f"max_bins must be None, an integer or BinnedFeatures in fastpu.dask, got {max_bins!r}: a search of every "
            f"threshold needs all rows in one order, on one machine"
        )
    data = open_fit(given, lambda groups, total: check_group_counts(method, groups, is_weighted=total is not None))
    limits = {"n_rounds": min(rounds, MANY), "early_stopping_rounds": min(data.patience, MANY)}
    make_rounds = partial(_make_rounds, {**method.options, **limits, "stop_tol": tolerance})
    with (
        make_report(callback, progress, total=rounds, description=method.title) as report,
        closing(data.hold()) as rows,
    ):

        def on_round(round_: int, *told: Any) -> bool:
            rows.where = f"after round {round_}"
            info = BoostRound(round_, rounds, *told)
            return report is not None and report(info if data.held is not None else replace(info, eval_auc=None))

        with closing(Members(rows, make_rounds)) as members:
            result = make_rounds(Holding(data.form), members.exchange, resolve_n_threads(None), data.held, on_round)
        model = make_model(method, result, data.form, data.form.max_bins, rounds, data.patience, tolerance)
        return rows.scored().with_threshold(model)


def _make_rounds(
    options: dict[str, Any],
    rows: Holding,
    exchange: Callable[[str, bytes], bytes],
    n_threads: int,
    judged: LabelledRows | None = None,
    callback: Any = None,
) -> _core.StumpBoostResult:
    """Make all rounds, as every member does on the rows that it holds, and the driver without rows."""
    patience = options["early_stopping_rounds"] if judged is not None else 0
    return _core.stump_boost(
        rows.features,
        rows.labels,
        rows.weights,
        category_flags(rows.features.categories, rows.features.n_features),
        _core.StumpBoostOptions(**{**options, "early_stopping_rounds": patience}),
        max_bins=0,
        most_distinct=0,
        eval_set=None if judged is None else (judged.features, judged.labels, None),
        callback=callback,
        n_threads=n_threads,
        exchange=exchange,
    )
