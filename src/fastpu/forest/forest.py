"""PU forests: the mean of trees, each of a bag of positive rows against a few unlabelled ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._sharing import marked
from fastpu.common._threads import resolve_n_threads
from fastpu.data._categories import category_flags
from fastpu.data._category_order import in_order
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_sample_weight
from fastpu.forest._fit import FUNCTION, WITH_PRIOR, ForestFit, ForestRound, ForestRows, check_groups
from fastpu.model._profile import keeps_profile
from fastpu.tree._copies import hashes_of_rows
from fastpu.tree._fit import bin_rows, fingerprint_of, open_rows
from fastpu.tree.tree_ensemble import TreeEnsemble


@answers_unknown_keywords
@keeps_profile
@marked(prior_where=("loss", WITH_PRIOR))
def fit_forest(
    X: object,
    y: object,
    *,
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
    groups: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[ForestRound], bool | None] | None = None,
    progress: bool = False,
) -> TreeEnsemble:
    r"""PU forest: the mean of trees, each of all positives against a few unlabelled rows.

    Take it first for a table: columns of any kind and in any units, missing entries and categories are used as they
    are, no prior is needed, and the defaults serve. `TreeEnsemble.oob_decision_function` ranks the unlabelled rows
    without a second fit. Where a line or a smooth boundary in few columns is enough, `fit_bagging_svm` and `fit_isvm`
    can be better, and where classes overlap much, `fit_boosted_trees` in bags.

    Each tree has a bag of its own: n_P positive rows drawn with replacement, and some unlabelled rows drawn without,
    which stand in for negatives. Few of the hidden positives are in any one bag, and the mean evens out the
    harm that they do. A tree splits its bag to minimise, over its leaves l,

    .. math:: \text{"gini":}\quad & \sum_l \frac{2 p_l u_l}{p_l + u_l}, \qquad \text{score of a leaf } \frac{p}{p + u}

        \text{"upu", "nnpu":}\quad & \sum_l \min_{-1 \le v \le 1} \pi p_l (1 - v)^2 + w_l (1 + v)^2, \qquad
            w_l = u_l - \pi p_l, \qquad \text{score } v

    with p_l and u_l the shares of the bag's positive and unlabelled rows that are in l, and :math:`\pi` the prior. The
    second is the squared loss of positive and negative rows, whose share is estimated by what positive rows leave of
    the unlabelled ones; "nnpu" cuts it off at 0. The score of a row is the mean over the trees.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        float32 and float64, C-contiguous or CSR, are used without a copy. Missing entries (NaN, and -inf) go to the
        side of each split that is better for them; where training rows miss nothing, a missing entry of a new row
        follows the larger part of the training rows at each split. Columns of a frame with strings, dtype category or
        enum are split by sets of categories, and those of more than 255 by their places in an order that the labels of
        other rows give. A category that the training data do not have follows the larger part too; of more than 255 it
        gets the place in the middle, and of just 255 it counts as missing. Ordered columns of pandas are numbers, the
        places of their levels.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled; also {1, 0}, bool or {1, nan}. See `fastpu.as_labels`.
    n_trees : int, default 500
        Number of trees; more are never worse, only slower.
    loss : {"gini", "nnpu", "upu"}, default "gini"
        What splits minimise. "gini" needs no prior.
    prior : float, optional
        For "nnpu" and "upu", which need it: P(Y = 1), in (0, 1), among the unlabelled rows or, in ``"single_set"``,
        among all rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        What `prior` speaks of; in ``"single_set"`` it is converted, (prior n - n_pos) / n_unl.
    splitter : {"random", "best"}, default "random"
        "random" draws one cut for each feature that a node looks at, uniformly between its smallest and its largest
        value there, and takes the best of these (extra trees); "best" tries all cuts.
    bag_ratio : "auto", float or None, default "auto"
        How many unlabelled rows a bag draws. "auto" draws two for each positive one. With few labels, three of four
        bags draw more: at least 100, 500 and 2000, but no more than a tenth of all unlabelled rows; the fourth
        draws at least 10. No bag draws more than 63 % of them, so that all have out-of-bag scores. With fewer than
        ten labels each positive row that is drawn counts several times.

        A number > 0 is the unlabelled rows for each positive one, in every bag, at most all. Where that is all of
        them, no unlabelled row has an out-of-bag score. None draws as many as there are, with replacement.
    max_features : {"auto", "sqrt", "all"}, int or float, default "auto"
        Features that a node looks at, of those that are not constant in it: the root of the number of all, all, a
        number, or a share in (0, 1]. "auto" is the root, and a fifth of more than 100 dense features.
    min_leaf_rows : int, default 3
        Fewest rows of the bag in a leaf; a row that was drawn twice counts twice.
    max_depth : int, optional
        Most levels of splits.
    max_leaves : int, optional
        Most leaves, >= 2; splits that lower the loss most come first.
    max_bins : int, optional
        Most cuts of a feature, from 1 to 65535, at quantiles where it has more values (see `bin_features`); by default
        255. Leave it out for X that is binned.
    init_model : TreeEnsemble, optional
        A forest of the same rows and arguments, to which `n_trees` trees are added: the forest is then the one that a
        single fit of all trees gives. Other rows, labels or weights are refused.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0: the chance of a row to be drawn, relative to the others of its group, and nothing else: the cuts
        are those of all rows alike. Rows of weight 0 count as absent, but get out-of-bag scores. Weights that are equal
        within both groups change nothing: repeat rows for larger bags.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. Each bag then
        leaves some 37 % of the groups out, and draws its rows from the others alone: as many groups as there are are
        drawn with replacement, and those that are not drawn are left out. A row is scored out of bag by the trees whose
        bags hold no row of its group. So out-of-bag scores, and thresholds and probabilities from them, are those of
        rows of new groups. Without groups they are too good where the rows of a group are alike.
    random_state : int >= 0, numpy.random.Generator or None
        Draws bags, features and cuts. Every tree has a seed of its own that is derived from it.
    n_threads, progress
        As in `fit_svm`.
    callback : callable, optional
        ``callback(info: ForestRound) -> bool``, called after every tree in their order; True ends the fit with the
        trees so far.

    Returns
    -------
    TreeEnsemble
        With `oob_decision_function`, which scores every training row by the trees whose bags it is not in: it ranks
        the unlabelled rows without a second fit. The threshold maximises the balanced accuracy of these scores between
        P and U; `with_threshold` matches a prior instead.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `y` has labelled negatives, no positive or no unlabelled row, or
        `init_model` was made of other rows or by other arguments.
    MemoryError
        If codes or trees do not fit into memory.

    Warns
    -----
    CopiedRowsWarning
        If at least a tenth of the labelled rows are copies of each other, with the same bin or category in every
        column, and hardly any of them like an unlabelled row: their out-of-bag scores are too good.
    LabelWarning
        If out-of-bag scores tell labelled from unlabelled rows nearly perfectly (an AUC of 0.998, with 10 labelled and
        100 unlabelled rows or more): the columns that do it are named, as they probably know the labels. If
        `sample_weight` is one number for each kind of label, which changes nothing.
    DegenerateModelWarning
        If every tree is a single leaf, as where all columns are constant, or the model calls all training rows the
        same.

    Notes
    -----
    Binning takes O(n d), a tree O(b m log b) on average for a bag of b rows of which a node looks at m features, and a
    score O(log b) a tree. Memory: one or two bytes a value, b rows a thread, and 24 bytes a node.

    References
    ----------
    Mordelet and Vert (2014), A bagging SVM to learn from positive and unlabeled examples, for the bags; Geurts, Ernst
    and Wehenkel (2006), Extremely randomized trees; Wilton, Koay, Ko, Xu and Ye (2022), Positive-unlabeled learning
    using random forests via recursive greedy risk minimization, for "upu" and "nnpu".

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(400) < 0.5
    >>> X = rng.standard_normal((400, 4)) + 1.5 * truth[:, None]
    >>> y = truth & (np.arange(400) < 100)
    >>> model = fastpu.fit_forest(X, y, n_trees=100, random_state=0)
    >>> model.n_trees
    100
    >>> hidden, others = truth & ~y, ~truth
    >>> bool(model.oob_decision_function[hidden].mean() > model.oob_decision_function[others].mean())
    True
    """
    fit = ForestFit(locals())
    threads = resolve_n_threads(n_threads)
    before = fit.start.before
    data, cuts = open_rows(X, max_bins, before)
    given = check_sample_weight(sample_weight, data.n_rows)
    warn_of_other_order(X, y=y, sample_weight=sample_weight, groups=groups)
    clusters = cluster_numbers(groups, data.n_rows)
    labels, weights, among_unlabelled = check_groups(y, given, data.n_rows, fit.growth)
    counted = None if weights is None else (weights > 0).astype(np.float64)  # for cuts, rows are there or absent
    data = in_order(data, labels, weights, are_relative=True, is_known=before is not None)
    features = bin_rows(data, cuts, counted, threads)

    def score_all(model: TreeEnsemble) -> NDArray[np.float64]:
        return model.decision_function(features, n_threads=threads)

    def grow(options: dict[str, Any], report: Any) -> _core.ForestResult:
        return _core.grow_forest(
            features._native,
            labels,
            weights,
            category_flags(features.categories, features.n_features),
            _core.ForestOptions(**options, first_set=fit.n_sets),
            clusters=clusters,
            oob_sum=None if before is None else before.oob_sum,
            oob_count=None if before is None else before.oob_count,
            callback=report,
            n_threads=threads,
        )

    def hashes(label: int) -> NDArray[np.uint64]:
        return hashes_of_rows(features, rows.counted(label), threads, clusters)

    known_by = fingerprint_of(features, labels, given, threads, clusters)
    rows = ForestRows(labels, weights, score_all, features, among_unlabelled, known_by, hashes, features.column)
    model = fit.model(rows, grow)
    if clusters is not None:
        rows.warn_of_groups_in_all_bags(FUNCTION, model)
    return model
