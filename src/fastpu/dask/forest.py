"""PU forests of rows that many machines hold."""

from __future__ import annotations

from typing import Literal

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._progress import make_report
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import RandomState, RoundCallback, Scenario
from fastpu.dask._client import Client, find_client, waits_outside_the_pool
from fastpu.dask._collections import DaskMatrix, DaskVector, read_rows
from fastpu.dask._forest_growth import grow_forest
from fastpu.dask._forest_rows import read_forest_rows
from fastpu.forest._forest_growth import ForestRound
from fastpu.forest._forest_model import make_forest
from fastpu.forest._forest_options import FUNCTION, ForestOptions
from fastpu.model._prior import PriorEstimate
from fastpu.model._with_profile import DrawnRows, numbers_to_draw, with_profile_of
from fastpu.tree._init_model import check_init_model, tree_seed
from fastpu.tree.tree_ensemble import TreeEnsemble


@answers_unknown_keywords
@waits_outside_the_pool
def fit_forest(
    X: DaskMatrix,
    y: DaskVector,
    *,
    client: Client | None = None,
    n_trees: int = 500,
    loss: Literal["gini", "nnpu", "upu"] = "gini",
    prior: float | PriorEstimate | None = None,
    scenario: Scenario = "case_control",
    splitter: Literal["random", "best"] = "random",
    bag_ratio: float | Literal["auto"] | None = "auto",
    max_features: Literal["auto", "sqrt", "all"] | int | float = "auto",
    min_leaf_rows: int = 3,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    max_bins: int | None = None,
    init_model: TreeEnsemble | None = None,
    sample_weight: DaskVector | None = None,
    groups: DaskVector | None = None,
    random_state: RandomState = None,
    n_threads: int = 1,
    callback: RoundCallback[ForestRound] | None = None,
    progress: bool = False,
) -> TreeEnsemble:
    """PU forest of the rows of a Dask collection, which stay on their workers.

    The forest is that of `fastpu.fit_forest` on all rows together, bit by bit. Rows stay on the workers as codes of one
    byte a value. A tree needs only the rows of its bag. They are gathered on one worker, which grows the tree, while
    other workers grow other trees. Which rows are in the bag of a tree follows from the seed, the number of the tree
    and the places of the rows in the collection. So neither the partitions nor the workers change the model. Warnings
    are those of `fastpu.fit_forest`.

    Parameters
    ----------
    X : Dask array, Dask frame, or list of futures or of lazy objects
        Partitions of whole rows: arrays, CSR matrices or frames. The categories of a Dask frame must be known.
        Partitions may be empty, and differ in size.
    y : Dask array, Dask series, or list of futures or of lazy objects
        Labels in the partitions of `X`: +1 for labelled positive rows, 0 for unlabelled rows.
    client : dask.distributed.Client, optional
        The client of the workers. By default the current one.
    n_trees : int, default 500
        The number of trees, >= 1. More trees make the scores less noisy, and the fit slower.
    loss : {"gini", "nnpu", "upu"}, default "gini"
        What the splits of a tree minimise; `fastpu.fit_forest` has the formulas. "gini" needs no prior; "nnpu" and
        "upu" need one.
    prior : float or PriorEstimate, optional
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows. "nnpu" and "upu" need it. Leave it out for the other loss.
    scenario : {"case_control", "single_set"}, default "case_control"
        Which rows `prior` is the share of positives of. "case_control": of the unlabelled rows, which are a sample of
        the population. "single_set": of all n rows, because they are one sample and some of its positives were
        labelled. That share is converted to (prior n - n_pos) / n_unl, the share among the unlabelled rows.
    splitter : {"random", "best"}, default "random"
        How a node is split. "random" draws one cut for each feature that is tried, uniformly between its smallest and
        its largest value in the node, and takes the best of these cuts (extra trees). "best" tries all cuts.
    bag_ratio : "auto", float or None, default "auto"
        How many unlabelled rows are drawn for a bag.

        - "auto" draws two for each positive row. With few labels, three of four bags draw more: at least 100, 500 and
          2000 unlabelled rows, but at most a tenth of all; the fourth bag draws at least 10. No bag draws more than 63
          % of the unlabelled rows, so that all of them have out-of-bag scores. With fewer than ten labels, each
          positive row that is drawn counts several times.
        - A number > 0 is the number of unlabelled rows for each positive row, in every bag. Where that is more than
          there are, a bag has all of them, and no unlabelled row has an out-of-bag score.
        - None draws as many unlabelled rows as there are, with replacement (a bootstrap).
    max_features : {"auto", "sqrt", "all"}, int or float, default "auto"
        How many features are tried at each node.

        - "auto" is "sqrt"; if `X` is dense and has more than 100 features, it is a fifth of them.
        - "sqrt" is the square root of their number, rounded down.
        - "all" tries all of them.
        - An int >= 1 tries that many, up to all.
        - A float in (0, 1] tries that share, rounded down, but at least one.

        Features that are constant in the node do not count.
    min_leaf_rows : int, default 3
        The fewest rows of the bag in a leaf, >= 1. A row that was drawn twice counts twice.
    max_depth : int, optional
        The most splits between the root and a leaf, >= 1. By default there is no limit.
    max_leaves : int, optional
        The most leaves of a tree, >= 2. The split that lowers the loss most is made next. By default there is no limit.
    max_bins : int, optional
        The most cuts of a feature, from 1 to 65535. By default 255. A feature with more distinct values is cut at its
        quantiles (see `fastpu.bin_features`).
    init_model : TreeEnsemble, optional
        A forest of the same rows and arguments, to which `n_trees` trees are added. The result is the forest that a
        single fit of all trees gives. Other rows, labels or weights are refused.
    sample_weight : Dask array, Dask series, or list of futures or of lazy objects, optional
        Weights >= 0 in the partitions of `X`. The weight of a row is its chance to be drawn, relative to the other rows
        with its label. It changes nothing else.
    groups : Dask array, Dask series, or list of futures or of lazy objects, optional
        A label of any kind for each row, in the partitions of `X`, which says which rows belong together, such as those
        of one customer. A group may have rows in several partitions. For each bag, groups are drawn with replacement,
        as many as there are. Groups that are not drawn, some 37 %, are left out of the bag as a whole. A row is scored
        out of bag by the trees whose bags hold no row of its group. So out-of-bag scores, and thresholds and
        probabilities from them, are those of rows of new groups.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the bags, features and cuts. An int gives the same result in every call. A
        generator is drawn from, and so advances. None takes a fresh seed.
    n_threads : int, default 1
        The number of threads of each task, >= 1. A worker runs as many tasks at once as Dask gave it threads.
    callback : callable, optional
        ``callback(info: ForestRound) -> bool | None``, called for the trees in their order, whenever some are done. If
        it returns True, the fit ends, and the forest has the trees so far.
    progress : bool, default False
        Whether to show a progress bar that counts trees. The bar is that of tqdm; without tqdm a line is printed to
        standard error every ten seconds.

    Returns
    -------
    TreeEnsemble
        As `fastpu.fit_forest` returns it. `oob_decision_function` has an entry for each row, in the order of the
        collection. `decision_function` and `predict` take Dask collections too, and are lazy then. `check` compares
        other rows with the bins of the training rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `y` has labelled negatives, no positive or no unlabelled row, `init_model`
        was fitted to other rows or with other arguments, or `y`, `sample_weight` or `groups` has other partitions than
        `X`.
    WorkerLostError
        If rows are lost with a worker, and cannot be computed again. The tasks of a worker that is lost otherwise are
        repeated by others.

    Notes
    -----
    The rows of a bag are gathered for each tree: for b rows and d features about ``b d`` bytes. That is little while
    bags are small, as with few positive rows. With 100,000 positive rows and 500 trees it is 7 GB for 50 features.
    Beyond that a `bag_ratio` below 2 or `fit_boosted_trees` sends less. A task holds the rows of its bags. The driver
    draws the bags, and has the trees and 13 bytes a row, for labels and out-of-bag scores, and 8 more with weights.
    With groups it has 4 more, and the label of each group.

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
    options = ForestOptions(
        n_trees=n_trees,
        loss=loss,
        prior=prior,
        scenario=scenario,
        splitter=splitter,
        bag_ratio=bag_ratio,
        max_features=max_features,
        min_leaf_rows=min_leaf_rows,
        max_depth=max_depth,
        max_leaves=max_leaves,
        max_bins=max_bins,
    )
    init_model = check_init_model(init_model, FUNCTION)
    seed = tree_seed(random_state, init_model)
    threads = resolve_n_threads(n_threads)
    partitions = read_rows(X, y, sample_weight, groups)
    with read_forest_rows(find_client(client), partitions, options, init_model) as rows:
        with make_report(callback, progress, total=options.n_trees, description="forest") as report:
            grown = grow_forest(rows, options, seed.value, init_model, threads, report)
        model = make_forest(grown, rows, options, seed, init_model)
        numbers = numbers_to_draw(rows.labels.size, rows.labels, rows.weights)
        return with_profile_of(model, DrawnRows(rows.take(numbers), numbers))
