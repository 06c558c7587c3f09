"""Boosted trees of rows on many machines."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from fastpu.boosting._boosted_trees import (
    FUNCTION,
    BoostedTreesRound,
    BoostingRun,
    LossName,
    check_group_counts,
    check_settings,
)
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int
from fastpu.common._progress import make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.dask._binning import open_fit
from fastpu.dask._boosted_fit import BoostedFit
from fastpu.dask._client import waits_outside_the_pool
from fastpu.data.binned_features import BinnedFeatures
from fastpu.model._file import file_name
from fastpu.model._prior import proper_prior
from fastpu.tree._fit import Start
from fastpu.tree.tree_ensemble import TreeEnsemble


@answers_unknown_keywords
@waits_outside_the_pool
def fit_boosted_trees(
    X: object,
    y: object,
    *,
    client: object = None,
    loss: LossName = "pnu_auc",
    prior: float | None = None,
    scenario: Literal["case_control", "single_set"] = "case_control",
    gamma: float = 0.5,
    n_rounds: int = 100,
    learning_rate: float = 0.05,
    max_leaves: int = 4,
    max_depth: int | None = None,
    min_leaf_rows: int | None = None,
    min_leaf_hessian: float = 1e-3,
    lam: float = 10.0,
    subsample_unl: float = 1.0,
    max_features: Literal["sqrt", "all"] | int | float = "all",
    max_bins: int | BinnedFeatures | None = None,
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    init_model: TreeEnsemble | None = None,
    sample_weight: object = None,
    random_state: int | np.random.Generator | None = None,
    checkpoint: object = None,
    n_threads: int | None = None,
    callback: Callable[[BoostedTreesRound], bool | None] | None = None,
    progress: bool = False,
) -> TreeEnsemble:
    """Boosted trees of the rows of a Dask collection, which stay on their workers.

    The model is that of `fastpu.fit_boosted_trees` on all rows together, bit by bit, for any partitions, workers and
    threads: what workers send are sums of whole numbers. In every round each worker sends about one histogram a leaf,
    of 8 bytes for each of up to 256 bins of a column, and is sent a few thousand bytes. Errors and warnings are those
    of `fastpu.fit_boosted_trees`, and those below.

    Parameters
    ----------
    X : Dask array, Dask frame, or list of futures or of lazy objects
        Partitions of whole rows: arrays, CSR matrices or frames. Categories of a Dask frame must be known. Partitions
        may be empty, and differ in size.
    y : Dask array, Dask series, or list of futures or of lazy objects
        Labels in the partitions of `X`, as in `fastpu.fit_boosted_trees`.
    client : dask.distributed.Client, optional
        By default the current one.
    loss, prior, scenario, gamma, n_rounds, learning_rate, max_leaves, max_depth, min_leaf_rows, min_leaf_hessian, \
lam, init_model, random_state, callback, progress
        As in `fastpu.fit_boosted_trees`, with their defaults.
    subsample_unl, max_features
        As there. With `subsample_unl` below 1 every worker draws the rows of all workers, in O(number of unlabelled
        rows) time and memory.
    max_bins : int or BinnedFeatures, optional
        Most cuts of a feature, by default 255: the cuts are those that `fastpu.bin_features` finds for all rows. The
        cuts of binned features (of a sample, say) are taken as they are, which saves a pass over the rows.
    eval_set : (X, y), optional
        Rows to be judged by their AUC after each round: collections, or what `fastpu.fit_boosted_trees` takes. Their
        codes, one byte a value, are gathered by the driver, who alone judges.
    early_stopping_rounds : int, optional
        Stop after so many rounds without a better AUC of `eval_set`, which it needs, and keep the rounds up to the
        best.
    sample_weight : Dask array, Dask series, or list of futures or of lazy objects, optional
        Weights >= 0 in the partitions of `X`; a weight counts as that many repetitions of the row.
    checkpoint : path, optional
        A file that is written every 10 rounds. When a worker is lost, the fit goes on from there with the workers that
        are left, if the partitions can be computed again; when the driver is, the same call goes on. Either way the
        model is the same. The file stays, and ends the same call at once.
    n_threads : int, optional
        Most threads of each worker; by default those that Dask gave it.

    Returns
    -------
    TreeEnsemble
        As `fastpu.fit_boosted_trees` returns it. Its `decision_function` and `predict` take Dask collections, and are
        lazy then.

    Raises
    ------
    WorkerLostError
        If a worker is gone that held rows, and there is no `checkpoint`, or the rows cannot be computed again.
    TypeError, ValueError
        If partitions do not fit each other, no client is open, or the checkpoint is that of another fit.

    Warns
    -----
    RuntimeWarning
        If a worker was lost and the fit went on from its checkpoint.

    Notes
    -----
    Bags, and rounds chosen by folds, are for rows that fit one machine: fit them there, to a sample. Partitions are
    read three times (four with more than 255 categories in a column) and let go each time, so more rows than memory
    can be fitted; persist the collection if it has room. A worker keeps two bytes a value and 45 bytes a row. The
    driver gets labels and scores at the end, for the threshold: 9 bytes a row, and 8 more with weights. At most
    536,870,911 rows on a worker; with more rows in all, about 60 million on a worker, in random order.

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
    ...     model = fastpu.dask.fit_boosted_trees(rows, labels, n_rounds=20)
    ...     scores = model.decision_function(rows)  # lazy, chunk by chunk
    ...     best = int(scores.argmax().compute())
    >>> bool((model.packed_nodes == fastpu.fit_boosted_trees(X, y, n_rounds=20).packed_nodes).all())
    True
    """
    given = {**locals(), "n_bags": 1, "bag_ratio": "auto"}
    settings = check_settings(given)
    n_new = check_int("n_rounds", n_rounds, low=1)
    path = None if checkpoint is None else file_name(checkpoint)
    start = Start.of(init_model, random_state, FUNCTION)
    data = open_fit(given, partial(check_group_counts, settings))
    census = data.census
    params = {"method": FUNCTION, **dataclasses.asdict(settings), "max_bins": data.form.max_bins}
    start.check(data.form, params, census.n_rows)
    share = proper_prior(settings.prior, settings.scenario, n_pos=census.mass[0], n_unl=census.mass[1])
    training = BoostingRun(settings, share, start.seed, resolve_n_threads(None))
    n_all = n_new + start.n_trees
    fit = BoostedFit(data, training, start, n_all, path)
    fit.resume(has_seed=random_state is not None or init_model is not None)
    params |= {
        "n_rounds": n_all,
        "early_stopping_rounds": data.patience or None,
        "random_state": start.random_state,
    }
    with make_report(callback, progress, total=n_new, description="boosted trees") as report:
        return fit.run(report, params)
