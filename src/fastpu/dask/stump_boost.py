"""Boosted stumps of rows on many machines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastpu import _core
from fastpu.boosting._folds import LabelledRows
from fastpu.boosting._stump_model import make_model
from fastpu.boosting._stump_options import STOP_TOL, StepName, StumpOptions
from fastpu.boosting._stump_rounds import BoostRound, RoundReporter
from fastpu.boosting._stump_rows import check_group_counts
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._progress import make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import RoundCallback
from fastpu.dask._binning import open_fit
from fastpu.dask._client import waits_outside_the_pool
from fastpu.dask._members import Holding, Members, SpreadRows
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
    step: StepName = "jensen",
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    stop_tol: float = STOP_TOL,
    sample_weight: object = None,
    n_threads: int | None = None,
    callback: RoundCallback[BoostRound] | None = None,
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
    if isinstance(max_bins, str):
        raise ValueError(
            f"max_bins must be None, an integer or BinnedFeatures in fastpu.dask, got {max_bins!r}: a search of every "
            f"threshold needs all rows in one order, on one machine"
        )
    options = StumpOptions(
        function="fit_pnu_auc_boost",
        title="PNUAUCBoost",
        own_params=("gamma", "rho", "step"),
        loss="auc",
        gamma=gamma,
        rho=rho,
        step=step,
        n_rounds=n_rounds,
        stop_tol=stop_tol,
        early_stopping_rounds=early_stopping_rounds,
    )
    data = open_fit(given, lambda groups, total: check_group_counts(options, groups, is_weighted=total is not None))
    with (
        make_report(callback, progress, total=options.n_rounds, description=options.title) as report,
        closing(data.hold()) as rows,
    ):
        reporter = None if report is None else RoundReporter(report, options.n_rounds, data.held is not None)
        with closing(Members(rows, partial(boost_as_member, options))) as members:
            result = follow_members(options, data.form, data.held, members.exchange, _Watch(rows, reporter))
        model = make_model(options, data.form, result)
        return rows.scored().with_threshold(model)


@dataclass(frozen=True)
class _Watch:
    """What the core calls on the driver after every round: errors of workers then name the round."""

    rows: SpreadRows
    reporter: RoundReporter | None

    def __call__(self, round_: int, *stump: Any) -> bool:
        self.rows.where = f"after round {round_}"
        return self.reporter is not None and self.reporter(round_, *stump)


def boost_as_member(
    options: StumpOptions, rows: Holding, exchange: Callable[[str, bytes], bytes], n_threads: int
) -> _core.StumpBoostResult:
    """Make all rounds on the rows that a worker holds, together with the other members."""
    features: BinnedFeatures = rows.features
    return _core.stump_boost_as_member(
        features._native,
        rows.labels,
        rows.weights,
        category_flags(features.categories, features.n_features),
        options.for_core(options.n_rounds, None),
        exchange=exchange,
        eval_set=None,
        callback=None,
        n_threads=n_threads,
    )


def follow_members(
    options: StumpOptions,
    form: BinnedFeatures,
    judged: LabelledRows | None,
    exchange: Callable[[str, bytes], bytes],
    on_round: Callable[..., bool] | None = None,
) -> _core.StumpBoostResult:
    """Make the same rounds as the members without rows; `form` has the cuts. The driver alone judges and reports."""
    return _core.stump_boost_as_member(
        form._native,
        None,
        None,
        category_flags(form.categories, form.n_features),
        options.for_core(options.n_rounds, None if judged is None else options.early_stopping_rounds),
        exchange=exchange,
        eval_set=None if judged is None else (judged.features, judged.labels, None),
        callback=on_round,
        n_threads=resolve_n_threads(None),
    )
