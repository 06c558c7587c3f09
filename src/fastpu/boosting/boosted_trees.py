"""Boosted trees for losses of positive, unlabelled and, for the AUC, negative rows."""

from __future__ import annotations

import dataclasses
from typing import Literal

from fastpu.boosting._boosted_trees_model import all_rounds, make_boosted_trees, warn_of_bags
from fastpu.boosting._boosted_trees_options import FUNCTION, LOSSES_WITH_PRIOR, BoostedTreesOptions, LossName
from fastpu.boosting._boosted_trees_rounds import BoostedTreesRound, boost_trees, choose_rounds
from fastpu.boosting._boosted_trees_rows import read_boosted_rows
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._progress import make_report
from fastpu.common._sharing import marked
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, RandomState, RoundCallback, Scenario, VectorLike
from fastpu.model._prior import PriorEstimate
from fastpu.model._with_profile import with_profile
from fastpu.tree._init_model import check_init_model, tree_seed
from fastpu.tree.tree_ensemble import TreeEnsemble


@answers_unknown_keywords
@marked(prior_where=("loss", LOSSES_WITH_PRIOR))
def fit_boosted_trees(
    X: MatrixLike,
    y: LabelsLike,
    *,
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
    n_bags: int = 1,
    bag_ratio: float | Literal["auto"] | None = "auto",
    subsample_unl: float = 1.0,
    max_features: Literal["sqrt", "all"] | int | float = "all",
    max_bins: int | None = None,
    eval_set: tuple[MatrixLike, LabelsLike] | None = None,
    early_stopping_rounds: int | None = None,
    n_folds: int = 5,
    init_model: TreeEnsemble | None = None,
    sample_weight: VectorLike | None = None,
    groups: GroupsLike | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    callback: RoundCallback[BoostedTreesRound] | None = None,
    progress: bool = False,
) -> TreeEnsemble:
    r"""Boosted trees for positive and unlabelled rows, and bags of boosted trees.

    It is for tables in which columns interact and classes overlap, and for labelled negatives beside positive and
    unlabelled rows. Pass ``n_bags=20`` for the best ranking: each bag holds few of the hidden positives. The default is
    one booster, which is quicker; callbacks and early stopping then follow its rounds. On most tables `fit_forest` is
    the better first choice.

    The score F is a sum of small trees. Each tree is a step of Newton's method towards the minimum of

    .. math:: \text{"pnu\_auc":}\quad & \log (\gamma A_P B_N + \tfrac{1 - \gamma}{2} (A_P B_U + A_U B_N)),
            \qquad A_G = \mathrm{mean}_G\, e^{-F}, \quad B_G = \mathrm{mean}_G\, e^F

        \text{"logistic":}\quad & \mathrm{mean}_P\, \ell(F) + \mathrm{mean}_U\, \ell(-F),
            \qquad \ell(z) = \log(1 + e^{-z})

        \text{"upu":}\quad & \pi\, \mathrm{mean}_P(-F) + \mathrm{mean}_U\, \ell(-F)

    with :math:`\pi` the prior. "pnu_auc" is the risk of `fit_pnu_auc_boost`: an upper bound of one minus the AUC over
    all pairs of groups, computed in O(n). A term of a group without rows is left out. The scores of "logistic" are
    logarithms of the ratio of the densities of P and U; those of "upu" are log odds.

    A tree is split where the sum of G^2 / (H + lam) over its leaves grows most; the best split is made first. A leaf
    has the value -learning_rate G / (H + lam). G and H are the sums over its rows of n times the first and second
    derivatives of the loss by the scores of the rows, so that `lam` and `min_leaf_hessian` mean the same for every n.

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
        Labels: +1 for labelled positive rows, 0 for unlabelled rows and, with ``loss="pnu_auc"``, -1 for labelled
        negative rows. "pnu_auc" needs rows of two of these kinds, the other losses need +1 and 0. {1, 0}, booleans and
        {1, NaN} mean positive and unlabelled; `fastpu.as_labels` converts other codings.
    loss : {"pnu_auc", "logistic", "upu"}, default "pnu_auc"
        What the trees minimise (see the formulas above). "pnu_auc" is for the AUC and takes labelled negatives.
        "logistic" tells P from U. "upu" makes a classifier if the prior is known.
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
        The number of trees, >= 1, in every bag. With `early_stopping_rounds` it is the largest number.
    learning_rate : float, default 0.05
        The part of Newton's step that a tree makes, in (0, 1e6]. Values above 1 overshoot. Smaller values need more
        rounds.
    max_leaves : int, default 4
        The most leaves of a tree, >= 2. The split that gains most is made next.
    max_depth : int, optional
        The most splits between the root and a leaf, >= 1. By default there is no limit.
    min_leaf_rows : int, optional
        The fewest rows of a leaf, >= 1, each counted by its weight. By default 20, or 3 with bags, which are small.
    min_leaf_hessian : float, default 1e-3
        The least sum H of a leaf, >= 0.
    lam : float, default 10.0
        The weight of the ridge penalty on the values of leaves, which is added to H: 0, or at least 1e-12. A larger
        value makes leaves smaller.
    n_bags : int, default 1
        The number of boosters, >= 1, whose scores are averaged. With one, it is grown on all rows. With more, each has
        a bag of its own: n_P positive rows drawn with replacement, unlabelled rows drawn without replacement (see
        `bag_ratio`), and all negative rows.
    bag_ratio : "auto", float or None, default "auto"
        How many unlabelled rows are drawn for a bag. Leave it at "auto" for ``n_bags=1``.

        - "auto" draws three for each positive row. With fewer than five labels it draws at least 200, but at most a
          tenth of all unlabelled rows. It never draws more than 63 % of them, so that all of them have out-of-bag
          scores.
        - A number > 0 is the number of unlabelled rows for each positive row. Where that is more than there are, a bag
          has all of them.
        - None draws as many unlabelled rows as there are, with replacement (a bootstrap).
    subsample_unl : float, default 1.0
        The share of the unlabelled rows that each tree is grown on, in (0, 1]. They are drawn anew for each tree.
    max_features : {"sqrt", "all"}, int or float, default "all"
        How many features each tree may split on. They are drawn anew for each tree.

        - "all" takes all of them.
        - "sqrt" is the square root of their number, rounded down.
        - An int >= 1 takes that many, up to all.
        - A float in (0, 1] takes that share, rounded down, but at least one.
    max_bins : int, optional
        The most cuts of a feature, from 1 to 65535. By default 255. A feature with more distinct values is cut at its
        quantiles (see `bin_features`). Leave it out if `X` is binned.
    eval_set : (X, y), optional
        Held-out rows and their labels, by whose AUC each round is judged. The AUC compares +1 with -1, or with 0 if no
        row is -1. Bags are judged together, by their mean scores.
    early_stopping_rounds : int, optional
        By default all rounds are made. With a number >= 1, the fit stops after that many rounds without a better AUC of
        `eval_set`, and keeps the rounds up to the best one. Without an `eval_set` the number of rounds is chosen by
        cross-validation: the AUC of the held-out rows after each round is averaged over the folds, until that many
        rounds have brought no better mean. Of all rounds whose mean is within one standard error of the best, the last
        is chosen.
    n_folds : int, default 5
        The number of folds of that cross-validation, >= 2. There are fewer if a kind of label has fewer rows.
    init_model : TreeEnsemble, optional
        A model of the same rows and arguments, to which `n_rounds` rounds are added. The trees are then those of a
        single fit of all rounds. Other rows, labels or weights are refused. So is a model that a callback stopped
        before its last bag.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Bags draw rows of positive weight, all with
        the same chance.
    groups : array-like of shape (n,), optional
        A label of any kind for each row, which says which rows belong together, such as those of one customer. With
        bags, groups are drawn with replacement for each bag, as many as there are, and the rows of the other groups are
        left out of it. Folds hold whole groups out. Without bags and folds, groups change nothing.
    random_state : int >= 0, numpy.random.Generator or None, default None
        Seed or generator that draws the bags, rows, features and folds. An int gives the same result in every call. A
        generator is drawn from, and so advances. None takes a fresh seed.
    n_threads : int, optional
        The most threads to use, >= 1. By default, one for each CPU that this process may use. The model is the same,
        bit by bit, for any number.
    callback : callable, optional
        ``callback(info: BoostedTreesRound) -> bool | None``, called after every round or, with bags, after every bag.
        If it returns True, the fit ends, and the model has the rounds or bags so far. With bags and an `eval_set` for
        early stopping, bags grow in steps of some rounds, and the callback is called after each bag of a step. If it
        ends a step (or a fit with `init_model`) before all bags have the rounds of that step, no bag keeps them.
    progress : bool, default False
        Whether to show a progress bar that counts rounds, or bags if there are several. The bar is that of tqdm;
        without tqdm a line is printed to standard error every ten seconds.

    Returns
    -------
    TreeEnsemble
        With `staged_decision_function`, `feature_importances` and, of bags, `oob_decision_function`. For "upu" its
        threshold is 0. For the other losses the threshold maximises the balanced accuracy between P and N, or between P
        and U where there are no N; with bags this is the balanced accuracy of out-of-bag scores. `with_threshold`
        matches a prior instead.

        `history` has "risk", the loss after every round (the mean over the bags), and "n_leaves" of every tree. With
        an `eval_set` it has "eval_auc" after every round of this fit: those that early stopping dropped are included,
        those of `init_model` are not. Where folds chose the rounds, it has "fold_auc", the mean over the folds.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described or has no meaning for the loss, `y` lacks a group that the loss needs, or
        `init_model` was fitted to other rows or with other arguments.
    MemoryError
        If codes, histograms or trees do not fit into memory.

    Warns
    -----
    ConvergenceWarning
        If early stopping was asked for and all rounds were made before it.
    CopiedRowsWarning
        With bags: if at least a tenth of the labelled rows are copies of each other, with the same bin or category in
        every column, and hardly any of them equals an unlabelled row. Their out-of-bag scores are too good.
    LabelWarning
        With bags: if out-of-bag scores tell labelled from unlabelled rows nearly perfectly: their AUC is at least
        0.998, or it is at least 0.99 and that of a single column is at least 0.998. There must be at least 10 labelled
        and 100 unlabelled rows. The columns that do it are named, because they probably know the labels.
        Also if half of the labelled rows have entries in a column that hardly any of 1,150 or more unlabelled rows has.
    DegenerateModelWarning
        If no split was found, or the model calls all training rows the same.

    Notes
    -----
    Binning takes O(n d), a tree O(n d) times the share of rows in the smaller children, and a score O(log max_leaves)
    for each tree. For the search of splits, g and h are rounded to whole numbers, whose sums are the same in any order.
    Their units are at most 2^-29 of a bound of the sum over all rows. The values of leaves come from finer sums.
    Memory: one or two bytes for each value and 45 bytes for each row, with bags once more for each thread.

    References
    ----------
    du Plessis, Niu and Sugiyama (2015), Convex formulation for learning from positive and unlabeled data, for "upu";
    Chen and Guestrin (2016), XGBoost, for the trees; Mordelet and Vert (2014), A bagging SVM to learn from
    positive and unlabeled examples, for the bags.

    Examples
    --------
    >>> import numpy as np, fastpu
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.5
    >>> X = rng.standard_normal((1000, 4)) + 1.5 * truth[:, None]
    >>> y = truth & (np.arange(1000) < 300)
    >>> model = fastpu.fit_boosted_trees(X, y, n_rounds=50, n_bags=5, bag_ratio=1.0, random_state=0)
    >>> model.n_trees
    250
    >>> hidden, others = truth & ~y, ~truth
    >>> bool(model.oob_decision_function[hidden].mean() > model.oob_decision_function[others].mean())
    True
    """
    options = BoostedTreesOptions(
        loss=loss,
        prior=prior,
        scenario=scenario,
        gamma=gamma,
        n_rounds=n_rounds,
        learning_rate=learning_rate,
        max_leaves=max_leaves,
        max_depth=max_depth,
        min_leaf_rows=min_leaf_rows,
        min_leaf_hessian=min_leaf_hessian,
        lam=lam,
        n_bags=n_bags,
        bag_ratio=bag_ratio,
        subsample_unl=subsample_unl,
        max_features=max_features,
        max_bins=max_bins,
        early_stopping_rounds=early_stopping_rounds,
        n_folds=n_folds,
    )
    init_model = check_init_model(init_model, FUNCTION)
    seed = tree_seed(random_state, init_model)
    threads = resolve_n_threads(n_threads)
    rows, eval_rows = read_boosted_rows(X, y, sample_weight, groups, eval_set, options, init_model, threads)

    chosen = None
    if options.patience and eval_rows is None:
        chosen = choose_rounds(rows, options, seed.value, seed.rng)
    n_new = options.n_rounds if chosen is None else chosen.n_rounds
    n_calls = options.n_callbacks(n_new, has_eval_set=eval_rows is not None)
    with make_report(callback, progress, total=n_calls, description="boosted trees") as report:
        grown = boost_trees(rows, options, seed.value, init_model, eval_rows, n_new, report)
    if init_model is not None and grown.n_bags < init_model.divisor:
        # The callback stopped the fit before all bags had further rounds.
        return with_profile(dataclasses.replace(init_model, status=grown.status, converged=False), X, y, sample_weight)
    n_before = 0 if init_model is None else init_model.n_trees // init_model.divisor
    rounds = all_rounds(init_model, grown, has_bags=options.has_bags)
    model = make_boosted_trees(rounds, rows, options, seed, chosen, n_before + options.n_rounds)
    if options.has_bags:
        warn_of_bags(model, rows)
    return with_profile(model, X, y, sample_weight)
