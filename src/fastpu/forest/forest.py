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

    Try it first on a table. It takes columns of any kind and in any units, missing entries and categories as they are.
    It needs no prior, and its defaults work well. `TreeEnsemble.oob_decision_function` ranks the unlabelled rows
    without a second fit. `fit_bagging_svm` and `fit_isvm` can be better where a line or a smooth boundary in few
    columns is enough, and `fit_boosted_trees` with bags where classes overlap much.

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
        Rows of features. float32 and float64, in C order or CSR, are used without a copy.

        Missing entries are NaN and -inf. At each split they go to the side that lowers the loss more. If no training
        row of the node misses the entry, a new row that misses it goes to the side with more training rows.

        Columns of a frame that hold strings, or have the dtype category or enum, are categories. A split sends a set of
        categories to each side. A column with more than 255 categories is split like numbers: its categories are first
        put in an order that the labels of other rows give. A category that training did not have goes to the side with
        more training rows. (Among more than 255 categories it is placed in the middle of their order; among exactly 255
        it counts as missing.) Ordered columns of pandas are numbers: the places of their levels.
    y : array-like of shape (n,)
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. {1, 0}, booleans and {1, NaN} are taken too;
        `fastpu.as_labels` converts other codings.
    n_trees : int, default 500
        The number of trees, >= 1. More trees make the scores less noisy, and the fit slower.
    loss : {"gini", "nnpu", "upu"}, default "gini"
        What the splits of a tree minimise (see the formulas above). "gini" needs no prior; "nnpu" and "upu" need one.
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
        quantiles (see `bin_features`). Leave it out if `X` is binned.
    init_model : TreeEnsemble, optional
        A forest of the same rows and arguments, to which `n_trees` trees are added. The result is the forest that a
        single fit of all trees gives. Other rows, labels or weights are refused.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. The weight of a row is its chance to be drawn, relative to the other rows with its label. It
        changes nothing else; the cuts of features do not depend on it. Rows of weight 0 are in no bag, but get
        out-of-bag scores. If all positive rows have one weight and all unlabelled rows have one, weights change
        nothing.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. For each
        bag, groups are drawn with replacement, as many as there are. Groups that are not drawn, some 37 %, are left out
        of the bag as a whole. A row is scored out of bag by the trees whose bags hold no row of its group. So
        out-of-bag scores, and thresholds and probabilities from them, are those of rows of new groups. Without `groups`
        these scores are too good if the rows of a group are alike.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the bags, features and cuts. An int gives the same result in every call. A
        generator is drawn from, and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: ForestRound) -> bool | None``, called after every tree, in their order. If it returns True, the
        fit ends, and the forest has the trees so far.
    progress : bool, default False
        Whether to show a progress bar that counts trees. The bar is that of tqdm; without tqdm a line is printed to
        standard error every ten seconds.

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
        If out-of-bag scores tell labelled from unlabelled rows nearly perfectly: their AUC is at least 0.998, or it is
        at least 0.99 and that of a single column is at least 0.998. There must be at least 10 labelled and 100
        unlabelled rows. The columns that do it are named, because they probably know the labels. Also if
        half of the labelled rows have entries in a column that hardly any of 1,150 or more unlabelled rows has. Also if
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
