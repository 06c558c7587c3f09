"""Boosted stumps of rows on many machines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastpu import _core
from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.boosting._stump_model import make_model
from fastpu.boosting._stump_options import STOP_TOL, StepName, StumpOptions
from fastpu.boosting._stump_rounds import BoostRound, RoundReporter
from fastpu.boosting._stump_rows import check_group_counts
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._progress import make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, RoundCallback
from fastpu.dask._census import take_census
from fastpu.dask._client import Client, find_client, waits_outside_the_pool
from fastpu.dask._collections import DaskMatrix, DaskVector, read_rows
from fastpu.dask._fit_data import open_fit_data, require_eval_set
from fastpu.dask._members import Exchange, Members
from fastpu.dask._spread_rows import SpreadRows, SpreadScoredRows
from fastpu.dask._worker_rows import WorkerRows
from fastpu.data._categories import category_flags
from fastpu.data.binned_features import BinnedFeatures
from fastpu.model._with_profile import DrawnRows, numbers_to_draw, with_profile_of
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
    step: StepName = "jensen",
    eval_set: tuple[DaskMatrix | MatrixLike, DaskVector | LabelsLike] | None = None,
    early_stopping_rounds: int | None = None,
    stop_tol: float = STOP_TOL,
    sample_weight: DaskVector | None = None,
    groups: DaskVector | None = None,
    n_threads: int | None = None,
    callback: RoundCallback[BoostRound] | None = None,
    progress: bool = False,
) -> StumpEnsemble:
    """PNUAUCBoost of the rows of a Dask collection, which stay on their workers.

    The model is that of `fastpu.fit_pnu_auc_boost` on all rows together with the same ``max_bins``, bit by bit, for any
    partitions, workers and threads. In every round each worker sends one histogram, of 32 bytes for each bin of a
    column, and receives some hundred bytes.

    Parameters
    ----------
    X : Dask array, Dask frame, or list of futures or of lazy objects
        Partitions of whole rows: arrays, CSR matrices or frames. The categories of a Dask frame must be known.
        Partitions may be empty, and differ in size.
    y : Dask array, Dask series, or list of futures or of lazy objects
        Labels in the partitions of `X`: +1 for labelled positive rows, 0 for unlabelled rows, -1 for labelled negative
        rows. There must be rows of two of these kinds.
    client : dask.distributed.Client, optional
        The client of the workers. By default the current one.
    n_rounds : int, default 200
        The number of stumps, >= 1. With `early_stopping_rounds` it is the largest number.
    gamma : float, default 0.5
        The weight, in [0, 1], of pairs of a positive and a negative row; pairs with an unlabelled row have the rest. It
        has no effect if one of the three groups has no rows.
    rho : float, default 0.01
        The L1 penalty on the weights of the stumps, in [0, 1). Stumps with a gain Delta <= rho are not added.
    max_bins : int or BinnedFeatures, optional
        The most cuts of a feature, from 1 to 65535. By default 255. The cuts are those that `fastpu.bin_features` finds
        for all rows. The cuts of BinnedFeatures (of a sample, for example) are used as they are, which saves a pass
        over the rows. ``max_bins="exact"`` needs all rows in one order, on one machine.
    step : {"jensen", "line_search"}, default "jensen"
        How the weight alpha of a stump is chosen. "jensen" takes alpha = atanh(Delta) - atanh(rho), which minimises an
        upper bound of the objective. "line_search" minimises the objective along the stump.
    eval_set : (X, y), optional
        Held-out rows and their labels, by whose AUC each round is judged: Dask collections, or what
        `fastpu.fit_pnu_auc_boost` takes. The AUC compares +1 with -1, or with 0 if no row is -1. The driver gathers
        their codes, one byte a value, and judges alone.
    early_stopping_rounds : int, optional
        By default all rounds are made. With a number >= 1, the fit stops after that many rounds without a better AUC of
        `eval_set`, which must be passed, and keeps the rounds up to the best one.
    stop_tol : float, default 1e-9
        The fit ends when no stump has a gain Delta > rho + stop_tol. It must be >= 0.
    sample_weight : Dask array, Dask series, or list of futures or of lazy objects, optional
        Weights >= 0 in the partitions of `X`. A weight counts as that many repetitions of the row.
    groups : Dask array, Dask series, or list of futures or of lazy objects, optional
        A label of any kind for each row, in the partitions of `X`, which says which rows belong together, such as those
        of one customer. Groups are checked, and change nothing, as in `fastpu.fit_pnu_auc_boost` without folds.
    n_threads : int, optional
        The most threads of each worker, >= 1. By default as many as Dask gave it. The model is the same, bit by bit,
        for any number.
    callback : callable, optional
        ``callback(info: BoostRound) -> bool | None``, called on the driver after every round. If it returns True, the
        fit ends, and the model has the rounds so far.
    progress : bool, default False
        Whether to show a progress bar that counts rounds. The bar is that of tqdm; without tqdm a line is printed to
        standard error every ten seconds.

    Returns
    -------
    StumpEnsemble
        The model that `fastpu.fit_pnu_auc_boost` returns. Its `decision_function` and `predict` also take Dask
        collections, and are lazy then.

    Raises
    ------
    WorkerLostError
        If a worker that held rows is gone.
    TypeError, ValueError
        If an argument is not as described, partitions do not fit each other, or no client is open. The message names
        the argument or the partition.

    Warns
    -----
    ConvergenceWarning
        If early stopping, or a `stop_tol` above its default, was asked for and all `n_rounds` rounds are made before it
        ends the fit.
    DegenerateModelWarning
        If no stump has a gain Delta > rho + stop_tol in the first round. The model is then empty.

    Notes
    -----
    Folds choose the number of rounds on one machine only: choose it there, with a sample. Partitions are read three
    times (four with more than 255 categories in a column) and released each time, so more rows than memory can be
    fitted. Persist the collection if it fits into memory. A worker keeps two bytes a value and 33 bytes a row. The
    driver gets labels and scores at the end, for the threshold: 9 bytes a row, and 8 more with weights. All workers
    together may hold 17,179,869,184 rows.

    References
    ----------
    PNUAUCBoost: boosting for semi-supervised AUC optimisation; see `fastpu.fit_pnu_auc_boost`.

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
    cuts = max_bins if isinstance(max_bins, BinnedFeatures) else check_max_bins(max_bins)
    require_eval_set(early_stopping_rounds, eval_set)
    resolve_n_threads(n_threads)

    connected = find_client(client)
    partitions = read_rows(X, y, sample_weight, groups)
    census = take_census(connected, partitions)
    check_group_counts(options, census.all_groups, is_weighted=census.is_weighted)
    data = open_fit_data(connected, partitions, census, cuts, eval_set, n_threads)
    with (
        make_report(callback, progress, total=options.n_rounds, description=options.title) as report,
        closing(data.bin_on_workers()) as spread,
    ):
        reporter = None if report is None else RoundReporter(report, options.n_rounds, data.has_eval_set)
        with closing(Members(spread, partial(boost_as_member, options))) as members:
            result = follow_members(options, data.form, data.eval_rows, members.exchange, AfterStump(spread, reporter))
        rows = SpreadScoredRows.read(spread)
        model = rows.with_threshold(make_model(options, data.form, result))
        numbers = numbers_to_draw(rows.labels.size, rows.labels, rows.weights)
        return with_profile_of(model, DrawnRows(spread.take(numbers), numbers))


@dataclass(frozen=True)
class AfterStump:
    """What the core calls on the driver after every round: errors of workers then name the round."""

    rows: SpreadRows
    reporter: RoundReporter | None

    def __call__(self, round_: int, *stump: Any) -> bool:
        """Take the number of the round, and what the reporter takes after it."""
        self.rows.where = f"after round {round_}"
        return self.reporter is not None and self.reporter(round_, *stump)


def boost_as_member(
    options: StumpOptions, rows: WorkerRows, exchange: Exchange, n_threads: int
) -> _core.StumpBoostResult:
    """Make all rounds on the rows of a worker, together with the other members."""
    features = rows.binned()
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
    eval_rows: LabelledRows | None,
    exchange: Exchange,
    on_round: Callable[..., bool] | None = None,
) -> _core.StumpBoostResult:
    """Make the same rounds as the members without rows; `form` has the cuts. The driver alone judges and reports."""
    return _core.stump_boost_as_member(
        form._native,
        None,
        None,
        category_flags(form.categories, form.n_features),
        options.for_core(options.n_rounds, None if eval_rows is None else options.early_stopping_rounds),
        exchange=exchange,
        eval_set=None if eval_rows is None else (eval_rows.features, eval_rows.labels, None),
        callback=on_round,
        n_threads=resolve_n_threads(None),
    )
