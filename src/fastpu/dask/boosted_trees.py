"""Boosted trees of rows on many machines."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Literal

from fastpu.boosting._boosted_trees_options import FUNCTION, BoostedTreesOptions, LossName
from fastpu.boosting._boosted_trees_rounds import BoostedTreesRound
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._progress import make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, RandomState, RoundCallback, Scenario
from fastpu.dask._boosted_growth import ROUNDS_BETWEEN_CHECKPOINTS, fit_on_workers
from fastpu.dask._boosted_rounds import MemberRounds, RoundsSoFar, first_unlabelled
from fastpu.dask._census import take_census
from fastpu.dask._checkpoint import Checkpoint, checkpoint_digest
from fastpu.dask._client import Client, find_client, waits_outside_the_pool
from fastpu.dask._collections import DaskMatrix, DaskVector, read_rows
from fastpu.dask._fit_data import open_fit_data, require_eval_set
from fastpu.data.binned_features import BinnedFeatures
from fastpu.model._file import file_name
from fastpu.model._prior import PriorEstimate, proper_prior
from fastpu.tree._init_model import check_init_model, check_same_arguments, tree_seed
from fastpu.tree.tree_ensemble import TreeEnsemble


@answers_unknown_keywords
@waits_outside_the_pool
def fit_boosted_trees(
    X: DaskMatrix,
    y: DaskVector,
    *,
    client: Client | None = None,
    loss: LossName = "pnu_auc",
    prior: float | PriorEstimate | None = None,
    scenario: Scenario = "case_control",
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
    eval_set: tuple[DaskMatrix | MatrixLike, DaskVector | LabelsLike] | None = None,
    early_stopping_rounds: int | None = None,
    init_model: TreeEnsemble | None = None,
    sample_weight: DaskVector | None = None,
    groups: DaskVector | None = None,
    random_state: RandomState = None,
    checkpoint: str | PathLike[str] | None = None,
    n_threads: int | None = None,
    callback: RoundCallback[BoostedTreesRound] | None = None,
    progress: bool = False,
) -> TreeEnsemble:
    """Boosted trees of the rows of a Dask collection, which stay on their workers.

    The model is that of `fastpu.fit_boosted_trees` on all rows together, bit by bit, for any partitions, workers and
    threads: what workers send are sums of whole numbers. In every round each worker sends about one histogram a leaf,
    of 8 bytes for each of up to 256 bins of a column, and is sent a few thousand bytes. Warnings are those of
    `fastpu.fit_boosted_trees`, and those below.

    Parameters
    ----------
    X : Dask array, Dask frame, or list of futures or of lazy objects
        Partitions of whole rows: arrays, CSR matrices or frames. The categories of a Dask frame must be known.
        Partitions may be empty, and differ in size.
    y : Dask array, Dask series, or list of futures or of lazy objects
        Labels in the partitions of `X`: +1 for labelled positive rows, 0 for unlabelled rows and, with
        ``loss="pnu_auc"``, -1 for labelled negative rows. "pnu_auc" needs rows of two of these kinds, the other losses
        need +1 and 0.
    client : dask.distributed.Client, optional
        The client of the workers. By default the current one.
    loss : {"pnu_auc", "logistic", "upu"}, default "pnu_auc"
        What the trees minimise; `fastpu.fit_boosted_trees` has the formulas. "pnu_auc" is for the AUC and takes
        labelled negatives. "logistic" tells P from U. "upu" makes a classifier if the prior is known.
    prior : float or PriorEstimate, optional
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows. "upu" needs it. Leave it out for the other losses.
    scenario : {"case_control", "single_set"}, default "case_control"
        Which rows `prior` is the share of positives of. "case_control": of the unlabelled rows, which are a sample of
        the population. "single_set": of all n rows, because they are one sample and some of its positives were
        labelled. That share is converted to (prior n - n_pos) / n_unl, the share among the unlabelled rows.
    gamma : float, default 0.5
        The weight, in [0, 1], of pairs of a positive and a labelled negative row in "pnu_auc"; pairs with an unlabelled
        row have the rest. It has no effect if one of the three groups has no rows. Leave it at 0.5 for the other
        losses.
    n_rounds : int, default 100
        The number of trees, >= 1. With `early_stopping_rounds` it is the largest number.
    learning_rate : float, default 0.05
        The part of Newton's step that a tree makes, in (0, 1e6]. Values above 1 overshoot. Smaller values need more
        rounds.
    max_leaves : int, default 4
        The most leaves of a tree, >= 2. The split that gains most is made next.
    max_depth : int, optional
        The most splits between the root and a leaf, >= 1. By default there is no limit.
    min_leaf_rows : int, optional
        The fewest rows of a leaf, >= 1, each counted by its weight. By default 20.
    min_leaf_hessian : float, default 1e-3
        The least sum of second derivatives in a leaf, >= 0.
    lam : float, default 10.0
        The weight of the ridge penalty on the values of leaves, which is added to that sum: 0, or at least 1e-12. A
        larger value makes leaves smaller.
    subsample_unl : float, default 1.0
        The share of the unlabelled rows that each tree is grown on, in (0, 1]. They are drawn anew for each tree. Below
        1 every worker draws the rows of all workers, in O(number of unlabelled rows) time and memory.
    max_features : {"sqrt", "all"}, int or float, default "all"
        How many features each tree may split on. They are drawn anew for each tree.

        - "all" takes all of them.
        - "sqrt" is the square root of their number, rounded down.
        - An int >= 1 takes that many, up to all.
        - A float in (0, 1] takes that share, rounded down, but at least one.
    max_bins : int or BinnedFeatures, optional
        The most cuts of a feature, from 1 to 65535. By default 255. The cuts are those that `fastpu.bin_features` finds
        for all rows. The cuts of BinnedFeatures (of a sample, for example) are used as they are, which saves a pass
        over the rows.
    eval_set : (X, y), optional
        Held-out rows and their labels, by whose AUC each round is judged: Dask collections, or what
        `fastpu.fit_boosted_trees` takes. The AUC compares +1 with -1, or with 0 if no row is -1. The driver gathers
        their codes, one byte a value, and judges alone.
    early_stopping_rounds : int, optional
        By default all rounds are made. With a number >= 1, the fit stops after that many rounds without a better AUC of
        `eval_set`, which must be passed, and keeps the rounds up to the best one.
    init_model : TreeEnsemble, optional
        A model of the same rows and arguments, to which `n_rounds` rounds are added. The trees are then those of a
        single fit of all rounds. Other rows, labels or weights are refused.
    sample_weight : Dask array, Dask series, or list of futures or of lazy objects, optional
        Weights >= 0 in the partitions of `X`. A weight counts as that many repetitions of the row.
    groups : Dask array, Dask series, or list of futures or of lazy objects, optional
        A label of any kind for each row, in the partitions of `X`, which says which rows belong together, such as those
        of one customer. Groups are checked, and change nothing, as in `fastpu.fit_boosted_trees` without bags and
        folds.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the rows and features. An int gives the same result in every call. A generator is
        drawn from, and so advances. None takes a fresh seed.
    checkpoint : path, optional
        A file that is written every 10 rounds. By default none is written. If a worker is lost, the fit goes on from
        the file with the workers that are left, provided that the partitions can be computed again. If the driver is
        lost, make the same call again: it goes on from the file. Either way the model is the same. The file stays, and
        a further call with it returns at once.
    n_threads : int, optional
        The most threads of each worker, >= 1. By default as many as Dask gave it. The model is the same, bit by bit,
        for any number.
    callback : callable, optional
        ``callback(info: BoostedTreesRound) -> bool | None``, called on the driver after every round. If it returns
        True, the fit ends, and the model has the rounds so far.
    progress : bool, default False
        Whether to show a progress bar that counts rounds. The bar is that of tqdm; without tqdm a line is printed to
        standard error every ten seconds.

    Returns
    -------
    TreeEnsemble
        As `fastpu.fit_boosted_trees` returns it. Its `decision_function` and `predict` take Dask collections too, and
        are lazy then.

    Raises
    ------
    WorkerLostError
        If a worker is gone that held rows, and there is no `checkpoint`, or the rows cannot be computed again.
    TypeError, ValueError
        If an argument is not as described or has no meaning for the loss, `y` lacks a group that the loss needs,
        `init_model` was fitted to other rows or with other arguments, partitions do not fit each other, no client is
        open, or the checkpoint is that of another fit.

    Warns
    -----
    RuntimeWarning
        If a worker was lost and the fit went on from its checkpoint.

    Notes
    -----
    Bags, and rounds chosen by folds, are for rows that fit one machine: fit them there, to a sample. Partitions are
    read three times (four with more than 255 categories in a column) and let go each time, so more rows than memory can
    be fitted; persist the collection if it has room. A worker keeps two bytes a value and 45 bytes a row. The driver
    gets labels and scores at the end, for the threshold: 9 bytes a row, and 8 more with weights. A worker may hold at
    most 536,870,911 rows. If there are more rows than that in all, a worker may hold about 60 million, in random order.

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
    options = BoostedTreesOptions(
        loss=loss,
        prior=prior,
        scenario=scenario,
        gamma=gamma,
        learning_rate=learning_rate,
        max_leaves=max_leaves,
        max_depth=max_depth,
        min_leaf_rows=min_leaf_rows,
        min_leaf_hessian=min_leaf_hessian,
        lam=lam,
        n_bags=1,
        bag_ratio="auto",
        subsample_unl=subsample_unl,
        max_features=max_features,
        max_bins=None if isinstance(max_bins, BinnedFeatures) else max_bins,
        n_rounds=n_rounds,
        early_stopping_rounds=early_stopping_rounds,
        n_folds=5,
    )
    require_eval_set(early_stopping_rounds, eval_set)
    path = None if checkpoint is None else file_name(checkpoint)
    init_model = check_init_model(init_model, FUNCTION)
    seed = tree_seed(random_state, init_model)
    resolve_n_threads(n_threads)

    # The rows, counted and cut into bins.
    connected = find_client(client)
    partitions = read_rows(X, y, sample_weight, groups)
    census = take_census(connected, partitions)
    options.check_group_counts(census.all_groups, census.weight)
    data = open_fit_data(connected, partitions, census, max_bins, eval_set, n_threads)
    check_same_arguments(init_model, options.params(data.form.max_bins), data.form, census.n_rows)
    share = proper_prior(options.prior, options.scenario, n_pos=census.mass[0], n_unl=census.mass[1])

    # The rounds so far, those of init_model or of the checkpoint.
    so_far = RoundsSoFar() if init_model is None else RoundsSoFar.of_model(init_model)
    n_all = so_far.n_trees + options.n_rounds
    file = None
    if path is not None:
        file = Checkpoint(path, checkpoint_digest(options, share, so_far.n_first, data))
        has_seed = random_state is not None or init_model is not None
        saved = file.load(n_rounds=n_all, n_first=so_far.n_first, seed=seed.value if has_seed else None)
        if saved is not None:
            so_far, seed = saved[0], replace(seed, value=saved[1])

    rounds = MemberRounds(
        options=options,
        prior=share,
        seed=seed.value,
        so_far=so_far,
        first_unlabelled=first_unlabelled(options, [groups[1] for groups in census.groups]),
        n_rounds=n_all,
        n_at_once=n_all if file is None else ROUNDS_BETWEEN_CHECKPOINTS,
    )
    with make_report(callback, progress, total=options.n_rounds, description="boosted trees") as report:
        return fit_on_workers(data, rounds, seed, init_model, file, report)
