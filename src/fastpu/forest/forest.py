"""PU forests: the mean of trees, each of a bag of positive rows against a few unlabelled ones."""

from __future__ import annotations

from typing import Literal

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._progress import make_report
from fastpu.common._sharing import marked
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, RandomState, RoundCallback, Scenario, VectorLike
from fastpu.forest._forest_growth import ForestRound, grow_forest
from fastpu.forest._forest_model import make_forest
from fastpu.forest._forest_options import FUNCTION, LOSSES_WITH_PRIOR, ForestOptions
from fastpu.forest._forest_rows import read_forest_rows
from fastpu.model._prior import PriorEstimate
from fastpu.model._with_profile import with_profile
from fastpu.tree._init_model import check_init_model, tree_seed
from fastpu.tree.tree_ensemble import TreeEnsemble


@answers_unknown_keywords
@marked(prior_where=("loss", LOSSES_WITH_PRIOR))
def fit_forest(
    X: MatrixLike,
    y: LabelsLike,
    *,
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
    sample_weight: VectorLike | None = None,
    groups: GroupsLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[ForestRound] | None = None,
    progress: bool = False,
) -> TreeEnsemble:
    r"""PU forest: the mean of trees, each of all positives against a few unlabelled rows.

    Take it first for a table. It uses columns of any kind and in any units, missing entries and categories as they are,
    it needs no prior, and its defaults serve. `TreeEnsemble.oob_decision_function` ranks the unlabelled rows without a
    second fit. `fit_bagging_svm` and `fit_isvm` can be better where a line or a smooth boundary in few columns is
    enough, and `fit_boosted_trees` in bags where classes overlap much.

    Each tree has a bag of its own: n_P positive rows drawn with replacement, and some unlabelled rows drawn without
    replacement, which stand in for negatives. Few of the hidden positives are in any one bag, and the mean over the
    trees evens out the harm that they do. A tree splits its bag to minimise, over its leaves l,

    .. math:: \text{"gini":}\quad & \sum_l \frac{2 p_l u_l}{p_l + u_l}, \qquad \text{score of a leaf } \frac{p}{p + u}

        \text{"upu", "nnpu":}\quad & \sum_l \min_{-1 \le v \le 1} \pi p_l (1 - v)^2 + w_l (1 + v)^2, \qquad
            w_l = u_l - \pi p_l, \qquad \text{score } v

    where p_l is the share of the bag's positive rows that are in leaf l, u_l that of its unlabelled rows, and
    :math:`\pi` the prior. The second formula is the squared loss of positive and negative rows. The negative rows are
    not known: their share in a leaf is estimated by the unlabelled rows minus the positive ones expected among them.
    "nnpu" sets an estimate below 0 to 0. The score of a row is the mean over the trees.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        The rows. Arrays of float32 and float64, C-contiguous or CSR, are used without a copy.

        Missing entries are NaN and -inf. At each split they go to the side that is better for them. Where no training
        row of the node misses the entry, a missing entry of a new row follows the larger part of the training rows.

        Columns of a frame with strings, or of dtype category or enum, are categories, and are split by sets of
        categories. A column with more than 255 categories is split like numbers: its categories are put in an order
        that the labels of other rows give. A category that the training data do not have follows the larger part of
        the training rows. (In a column of more than 255 categories it gets the place in the middle, and in one of
        exactly 255 it counts as missing.) Ordered columns of pandas are numbers: the places of their levels.
    y : array-like of shape (n,)
        Labels: +1 positive, 0 unlabelled. {1, 0}, bool and {1, nan} are taken too; see `fastpu.as_labels` for others.
    n_trees : int, default 500
        Number of trees. More trees are never worse, only slower.
    loss : {"gini", "nnpu", "upu"}, default "gini"
        What the splits of a tree minimise. "gini" needs no prior.
    prior : float, optional
        Share of positives, P(Y = 1), in (0, 1). "nnpu" and "upu" need it. It is the share among the unlabelled rows
        or, with ``scenario="single_set"``, among all rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        Which rows `prior` is the share of positives of: "case_control" means the unlabelled rows, "single_set" all
        rows. The latter is converted: (prior n - n_pos) / n_unl.
    splitter : {"random", "best"}, default "random"
        How a node is split. "random" draws one cut for each feature that is tried, uniformly between the smallest and
        the largest value in the node, and takes the best of these cuts (extra trees). "best" tries all cuts.
    bag_ratio : "auto", float or None, default "auto"
        How many unlabelled rows are drawn for a bag. "auto" draws two for each positive row. With few labels, three of
        four bags draw more: at least 100, 500 and 2000 unlabelled rows, but at most a tenth of all; the fourth bag
        draws at least 10. No bag draws more than 63 % of the unlabelled rows, so that all of them have out-of-bag
        scores. With fewer than ten labels each positive row that is drawn counts several times.

        A number > 0 is the number of unlabelled rows for each positive row, in every bag, up to all unlabelled rows.
        If every bag takes all of them, no unlabelled row has an out-of-bag score. None draws as many unlabelled rows as
        there are, with replacement.
    max_features : {"auto", "sqrt", "all"}, int or float, default "auto"
        How many features are tried at each node: "sqrt" (the square root of their number), "all", an int (so many), or
        a float in (0, 1] (that share of them). "auto" is "sqrt", and a fifth of the features if X is dense and has more
        than 100. Features that are constant in the node are not counted.
    min_leaf_rows : int, default 3
        Fewest rows of the bag in a leaf. A row that was drawn twice counts twice.
    max_depth : int, optional
        Most splits between the root and a leaf. By default there is no limit.
    max_leaves : int, optional
        Most leaves of a tree, >= 2: the split that lowers the loss most is made next. By default there is no limit.
    max_bins : int, optional
        Most cuts of a feature, from 1 to 65535; by default 255. A feature with more distinct values is cut at its
        quantiles (see `bin_features`). It must be left out if X is binned.
    init_model : TreeEnsemble, optional
        A forest of the same rows and arguments, to which `n_trees` trees are added. The result is the forest that a
        single fit of all trees gives. Other rows, labels or weights are refused.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. The weight of a row is its chance to be drawn, relative to the other rows with its label, and
        nothing else: the cuts of features do not depend on it. Rows of weight 0 are in no bag, but get out-of-bag
        scores. Weights that are equal among the positive rows, and among the unlabelled rows, change nothing: for
        larger bags repeat rows.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. For each bag,
        groups are drawn with replacement, as many as there are. Those that are not drawn, some 37 %, are left out of
        the bag as a whole. A row is scored out of bag by the trees whose bags hold no row of its group. So out-of-bag
        scores, and thresholds and probabilities from them, are valid for rows of new groups. Without groups they are
        too good if the rows of a group are alike.
    random_state : int >= 0, numpy.random.Generator or None
        Seed of the bags, features and cuts that are drawn. The seed of every tree is derived from it.
    n_threads : int, optional
        Most threads to use. By default these are the CPUs that this process may use. The forest is the same, bit by
        bit, for any number.
    callback : callable, optional
        ``callback(info: ForestRound) -> bool``, called after every tree in their order. True ends the fit with the
        trees so far.
    progress : bool, default False
        Whether to show a progress bar that counts trees, by tqdm if it is installed.

    Returns
    -------
    TreeEnsemble
        Its `oob_decision_function` scores every training row by the trees whose bags do not hold the row, and so ranks
        the unlabelled rows without a second fit. Its threshold maximises the balanced accuracy of these scores between
        positive and unlabelled rows; `with_threshold` matches a prior instead.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `y` has labelled negatives, no positive or no unlabelled row, or
        `init_model` was fitted to other rows or with other arguments.
    MemoryError
        If codes or trees do not fit into memory.

    Warns
    -----
    CopiedRowsWarning
        If at least a tenth of the labelled rows are copies of each other, with the same bin or category in every
        column, and hardly any of them equals an unlabelled row. Their out-of-bag scores are too good.
    LabelWarning
        If out-of-bag scores tell labelled from unlabelled rows nearly perfectly: an AUC of 0.998, with at least 10
        labelled and 100 unlabelled rows. The columns that do it are named, as they probably know the labels. Also if
        `sample_weight` is one number for each kind of label, which changes nothing.
    DegenerateModelWarning
        If every tree is a single leaf, for example because all columns are constant, or if the model calls all training
        rows the same.

    Notes
    -----
    Binning takes O(n d), a tree O(b m log b) on average for a bag of b rows where m features are tried at a node, and a
    score O(log b) for each tree. Memory: one or two bytes for each value, b rows for each thread, and 24 bytes for each
    node.

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
    rows = read_forest_rows(X, y, sample_weight, groups, options, init_model, resolve_n_threads(n_threads))
    with make_report(callback, progress, total=options.n_trees, description="forest") as report:
        grown = grow_forest(rows, options, seed.value, init_model, report)
    model = make_forest(grown, rows, options, seed, init_model)
    return with_profile(model, X, y, sample_weight)
