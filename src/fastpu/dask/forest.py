"""PU forests of rows that many machines hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from operator import attrgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._threads import resolve_n_threads
from fastpu.dask._bags import Forest, Tasks, grow_on_parts
from fastpu.dask._binning import Census, bin_partitions, find_form, take_census
from fastpu.dask._client import Client, find_client, results_of, wait_for, waits_outside_the_pool
from fastpu.dask._collections import read_rows
from fastpu.dask._members import Holding
from fastpu.data._validate import check_sample_weight
from fastpu.data.binned_features import BinnedFeatures
from fastpu.forest._fit import ForestFit, ForestRound, ForestRows, Growth, check_groups
from fastpu.tree._copies import hashes_of_rows
from fastpu.tree._fit import MAX_BINS, check_max_bins, fingerprint_of_parts
from fastpu.tree.tree_ensemble import TreeEnsemble


@answers_unknown_keywords
@waits_outside_the_pool
def fit_forest(
    X: object,
    y: object,
    *,
    client: Client | None = None,
    n_trees: int = 500,
    loss: Literal["gini", "nnpu", "upu"] = "gini",
    prior: float | None = None,
    scenario: Literal["case_control", "single_set"] = "case_control",
    splitter: Literal["random", "best"] = "random",
    bag_ratio: float | Literal["auto"] | None = "auto",
    max_features: Literal["auto", "sqrt", "all"] | int | float = "auto",
    min_leaf_rows: int = 3,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    max_bins: int | None = None,
    init_model: TreeEnsemble | None = None,
    sample_weight: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int = 1,
    callback: Callable[[ForestRound], bool | None] | None = None,
    progress: bool = False,
) -> TreeEnsemble:
    """`fastpu.fit_forest` of a Dask collection: the same forest, bit for bit.

    Rows stay on the workers, as codes of one byte a value. A tree needs the rows of its bag alone: they are gathered
    on one worker, which grows the tree, while others grow others. Which rows are in the bag of a tree follows from the
    seed, the number of the tree and the places of the rows in the collection, so neither the partitions nor the
    workers change the model. Warnings are those of `fastpu.fit_forest`.

    Parameters
    ----------
    X, y, client
        As in `fastpu.dask.fit_boosted_trees`; +1 positive, 0 unlabelled.
    n_trees, loss, prior, scenario, splitter, bag_ratio, max_features, min_leaf_rows, max_depth, max_leaves, \
max_bins, init_model, random_state, progress
        As in `fastpu.fit_forest`.
    sample_weight : Dask array, Dask series, or list of futures or of lazy objects, optional
        As in `fastpu.fit_forest`, in the partitions of `X`.
    n_threads : int, default 1
        Threads of each task; a worker runs as many tasks at once as Dask gave it threads.
    callback : callable, optional
        ``callback(info: ForestRound) -> bool``, called for the trees in their order, whenever some are done; True ends
        the fit with the trees so far.

    Returns
    -------
    TreeEnsemble
        `oob_decision_function` has an entry for each row, in the order of the collection.

    Raises
    ------
    TypeError, ValueError
        As in `fastpu.fit_forest`, and if `y` or `sample_weight` has other partitions than `X`.
    WorkerLostError
        If rows are lost with a worker, and cannot be computed again. The tasks of a worker that is lost otherwise are
        repeated by others.

    Notes
    -----
    The rows of a bag are gathered for each tree: for b of them and d features about ``b d`` bytes. That is little while
    bags are small, as with few positive rows. With 100,000 positive rows and 500 trees it is 7 GB for 50 features;
    beyond that a `bag_ratio` below 2 or `fit_boosted_trees` sends less. A task holds the rows of its bags; the driver
    draws the bags, and has the trees and 13 bytes a row, for labels and out-of-bag scores, and 8 more with weights.

    Examples
    --------
    >>> import dask.array as da, numpy as np
    >>> import fastpu, fastpu.dask
    >>> from dask.distributed import Client
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(400) < 0.5
    >>> X = rng.standard_normal((400, 4)) + 1.5 * truth[:, None]
    >>> y = truth & (np.arange(400) < 100)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     far_X, far_y = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    ...     model = fastpu.dask.fit_forest(far_X, far_y, n_trees=50, random_state=0)
    >>> same = fastpu.fit_forest(X, y, n_trees=50, random_state=0)
    >>> bool(np.array_equal(model.decision_function(X), same.decision_function(X)))
    True
    """
    fit = ForestFit(locals())
    n_cuts = check_max_bins(max_bins) or MAX_BINS
    threads = resolve_n_threads(n_threads)
    rows = read_rows(X, y, sample_weight)
    connected = find_client(client)
    census = take_census(connected, rows, are_relative=True)
    form = find_form(connected, rows, census, n_cuts, are_alike=True)
    parts = bin_partitions(connected, rows, form, census)
    with closing(Tasks(connected, parts)) as tasks:
        wait_for(connected, parts, "binning")
        gathered = _read_groups(tasks, census, form, fit.growth)

        def grow(options: dict[str, Any], report: Any) -> Forest:
            before = _out_of_bag_before(tasks, fit.start.before, census.sizes)
            return grow_on_parts(
                tasks, census.sizes, gathered, options, threads, before=before, first_set=fit.n_sets, on_tree=report
            )

        return fit.model(gathered, grow)


def _read_groups(tasks: Tasks, census: Census, form: BinnedFeatures, growth: Growth) -> ForestRows:
    """Return the labels and weights of all rows, and a function that scores the rows on the workers."""
    told = [tasks.submit(attrgetter("labels", "weights", "fingerprint"), part) for part in tasks.parts]
    labels, weights, hashes = zip(*results_of(tasks.client, told, "reading y"), strict=True)
    given = check_sample_weight(np.concatenate(weights), census.n_rows) if census.is_weighted else None
    labels_of_all, weights_of_all, prior = check_groups(np.concatenate(labels), given, census.n_rows, growth)

    def score_all(model: TreeEnsemble) -> NDArray[np.float64]:
        scores = [tasks.submit(_score, part, model) for part in tasks.parts]
        return np.concatenate(results_of(tasks.client, scores, "scoring"))

    def hashes_of(label: int) -> NDArray[np.uint64]:
        own = [tasks.submit(_hashes, part, label) for part in tasks.parts]
        return np.concatenate(results_of(tasks.client, own, "comparing rows"))

    def codes_of(feature: int) -> NDArray[np.uint32]:
        own = [tasks.submit(_codes, part, feature) for part in tasks.parts]
        return np.concatenate(results_of(tasks.client, own, "looking for columns that know the labels"))

    known_by = fingerprint_of_parts(hashes, form._native)
    return ForestRows(labels_of_all, weights_of_all, score_all, form, prior, known_by, hashes_of, codes_of)


def _hashes(part: Holding, label: int) -> NDArray[np.uint64]:
    if part.features is None:
        return np.empty(0, dtype=np.uint64)
    is_counted = part.labels == label
    if part.weights is not None:
        is_counted &= part.weights > 0
    return hashes_of_rows(part.features, is_counted, 1)


def _codes(part: Holding, feature: int) -> NDArray[np.uint32]:
    return np.empty(0, dtype=np.uint32) if part.features is None else part.features.column(feature)


def _score(part: Holding, model: TreeEnsemble) -> NDArray[np.float64]:
    return np.empty(0) if part.features is None else model.decision_function(part.features, n_threads=1)


def _out_of_bag_before(tasks: Tasks, before: TreeEnsemble | None, sizes: Sequence[int]) -> list[Any]:
    """Return for each partition the out-of-bag sums of `init_model`, as futures, or None."""
    if before is None or before.oob_sum is None or before.oob_count is None:
        return [None] * len(sizes)
    ends = np.cumsum(sizes)[:-1]
    return tasks.scatter(list(zip(np.split(before.oob_sum, ends), np.split(before.oob_count, ends), strict=True)))
