"""Boosted stumps of rows on many machines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal

from fastpu import _core
from fastpu.boosting._eval_set import check_patience
from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.boosting._stump_boost import STOP_TOL, BoostRound, Method, check_group_counts, make_model
from fastpu.boosting.stump_boost import pnu_auc_method
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import MANY, check_float, check_int
from fastpu.common._progress import Report, make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, RoundCallback
from fastpu.dask._census import take_census
from fastpu.dask._client import Client, find_client, waits_outside_the_pool
from fastpu.dask._collections import DaskMatrix, DaskVector, read_rows
from fastpu.dask._fit_data import FitData, open_fit_data, require_eval_set
from fastpu.dask._members import Exchange, Members
from fastpu.dask._spread_rows import SpreadRows, SpreadScoredRows
from fastpu.dask._worker_rows import WorkerRows
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import BinnedFeatures
from fastpu.model._profile import keep_profile, rows_of_profile
from fastpu.tree._binning import check_max_bins


@answers_unknown_keywords
@waits_outside_the_pool
def fit_pnu_auc_boost(
    X: DaskMatrix,
    y: DaskVector,
    *,
    client: Client | None = None,
    n_rounds: int = 200,
    gamma: float = 0.5,
    rho: float = 0.01,
    max_bins: int | BinnedFeatures | None = None,
    step: Literal["jensen", "line_search"] = "jensen",
    eval_set: tuple[DaskMatrix | MatrixLike, DaskVector | LabelsLike] | None = None,
    early_stopping_rounds: int | None = None,
    stop_tol: float = STOP_TOL,
    sample_weight: DaskVector | None = None,
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
    X : Dask array, Dask frame, or list of futures or of lazy objects
        Partitions of whole rows: arrays, CSR matrices or frames. Categories of a Dask frame must be known. Partitions
        may be empty, and differ in size.
    y : Dask array, Dask series, or list of futures or of lazy objects
        Labels in the partitions of `X`: at least two of +1 positive, 0 unlabelled and -1 negative.
    client : dask.distributed.Client, optional
        The client of the workers. By default the current one.
    n_rounds : int, default 200
        Most rounds; each adds a stump.
    gamma : float, default 0.5
        Weight of the pairs of labelled rows, in [0, 1].
    rho : float, default 0.01
        L1 penalty of the weights of the stumps, in [0, 1).
    max_bins : int or BinnedFeatures, optional
        Most cuts of a feature, by default 255. The cuts are those that `fastpu.bin_features` finds for all rows. Or
        binned features, of a sample, say: their cuts are taken as they are, which saves a pass over the rows. Searching
        every threshold, as ``max_bins="exact"`` does on one machine, needs all rows in one order.
    step : {"jensen", "line_search"}, default "jensen"
        How the weight of a stump is found: by a bound of the risk in closed form, or by minimising the risk itself.
    eval_set : (X, y), optional
        Rows by whose AUC each round is judged: collections, or what `fastpu.fit_pnu_auc_boost` takes. Their codes, one
        byte a value, are gathered on the driver, which alone judges.
    early_stopping_rounds : int, optional
        Stop after so many rounds without a better AUC of `eval_set`, which it needs, and keep the rounds up to the best
        one.
    stop_tol : float, default 1e-9
        Stop if the gain of the best stump is at most `rho` + `stop_tol`.
    sample_weight : Dask array, Dask series, or list of futures or of lazy objects, optional
        Weights >= 0 in the partitions of `X`. A weight counts as that many repetitions of the row.
    n_threads : int, optional
        Most threads of each worker. By default those that Dask gave it.
    callback : callable, optional
        ``callback(info: BoostRound) -> bool``, called on the driver after every round. True ends the fit with the
        rounds so far.
    progress : bool, default False
        Whether to show a progress bar that counts rounds, by tqdm if it is installed.

    Returns
    -------
    StumpEnsemble
        As `fastpu.fit_pnu_auc_boost` returns it. Its `decision_function` and `predict` take Dask collections too, and
        are lazy then.

    Raises
    ------
    WorkerLostError
        If a worker is gone that held rows.
    TypeError, ValueError
        If an argument is not as described, `y` lacks a group of rows that is needed, partitions do not fit each other,
        or no client is open.

    Notes
    -----
    Rounds chosen by folds are for rows that fit one machine: choose them there, with a sample. Partitions are read
    three times (four with more than 255 categories in a column) and let go each time, so more rows than memory can be
    fitted; persist the collection if it has room. A worker keeps two bytes a value and 33 bytes a row. The driver gets
    labels and scores at the end, for the threshold: 9 bytes a row, and 8 more with weights. At most 17,179,869,184 rows
    in all.

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
    method = pnu_auc_method(gamma, rho, step)
    rounds = check_int("n_rounds", n_rounds, low=1)
    tolerance = check_float("stop_tol", stop_tol, low=0)
    if isinstance(max_bins, str):
        raise ValueError(
            f"max_bins must be None, an integer or BinnedFeatures in fastpu.dask, got {max_bins!r}: a search of every "
            f"threshold needs all rows in one order, on one machine"
        )
    cuts = max_bins if isinstance(max_bins, BinnedFeatures) else check_max_bins(max_bins)
    patience = check_patience(early_stopping_rounds)
    require_eval_set(early_stopping_rounds, eval_set)
    resolve_n_threads(n_threads)

    connected = find_client(client)
    partitions = read_rows(X, y, sample_weight)
    census = take_census(connected, partitions)
    check_group_counts(method, census.all_groups, is_weighted=census.is_weighted)
    data = open_fit_data(connected, partitions, census, cuts, eval_set, n_threads)
    with (
        make_report(callback, progress, total=rounds, description=method.title) as report,
        closing(data.bin_on_workers()) as rows,
    ):
        result = _boost(rows, data, MemberStumps(method, rounds, tolerance), patience, report)
        model = make_model(method, result, data.form, data.form.max_bins, rounds, patience, tolerance)
        scored = SpreadScoredRows.read(rows)
        model = scored.with_threshold(model)
        numbers = rows_of_profile(scored.labels.size, scored.labels, scored.weights)
        keep_profile(model, rows.take(numbers), numbers)
        return model


@dataclass(frozen=True)
class MemberStumps:
    """What every member of a fit has to know to make all rounds."""

    method: Method
    n_rounds: int
    stop_tol: float

    def __call__(self, rows: WorkerRows, exchange: Exchange, n_threads: int, /) -> None:
        """Make the rounds on a worker, on its own rows."""
        self.boost(rows.binned(), exchange, n_threads, rows=rows)

    def boost(
        self,
        features: BinnedFeatures,
        exchange: Exchange,
        n_threads: int,
        *,
        rows: WorkerRows | None = None,
        patience: int = 0,
        eval_rows: LabelledRows | None = None,
        callback: Callable[..., bool] | None = None,
    ) -> _core.StumpBoostResult:
        """Make the rounds as a member with these rows; the driver has none, and alone judges and calls back."""
        options = _core.StumpBoostOptions(
            n_rounds=min(self.n_rounds, MANY),
            stop_tol=self.stop_tol,
            early_stopping_rounds=min(patience, MANY),
            **self.method.options,
        )
        return _core.stump_boost(
            features,
            None if rows is None else rows.labels,
            None if rows is None else rows.weights,
            category_flags(features.categories, features.n_features),
            options,
            max_bins=0,
            most_distinct=0,
            eval_set=None if eval_rows is None else (eval_rows.features, eval_rows.labels, None),
            callback=callback,
            n_threads=n_threads,
            exchange=exchange,
        )


def _boost(
    rows: SpreadRows, data: FitData, stumps: MemberStumps, patience: int, report: Report | None
) -> _core.StumpBoostResult:
    """Make all rounds on the workers, which the driver follows without rows."""

    def on_round(round_: int, *numbers: Any) -> bool:
        rows.where = f"after round {round_}"
        info = BoostRound(round_, stumps.n_rounds, *numbers)
        return report is not None and report(info if data.has_eval_set else replace(info, eval_auc=None))

    with closing(Members(rows, stumps)) as members:
        return stumps.boost(
            data.form,
            members.exchange,
            resolve_n_threads(None),
            patience=patience,
            eval_rows=data.eval_rows,
            callback=on_round,
        )
