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
    unlabelled rows. Pass ``n_bags=20`` for the best ranking: each bag holds few of the hidden positives. One booster is
    the default, because it is quicker, and because callbacks and early stopping then follow its rounds. On most tables
    `fit_forest` is the better first choice.

    The score F is a sum of small trees. Each tree is a step of Newton's method towards the minimum of

    .. math:: \text{"pnu\_auc":}\quad & \log (\gamma A_P B_N + \tfrac{1 - \gamma}{2} (A_P B_U + A_U B_N)),
            \qquad A_G = \mathrm{mean}_G\, e^{-F}, \quad B_G = \mathrm{mean}_G\, e^F

        \text{"logistic":}\quad & \mathrm{mean}_P\, \ell(F) + \mathrm{mean}_U\, \ell(-F),
            \qquad \ell(z) = \log(1 + e^{-z})

        \text{"upu":}\quad & \pi\, \mathrm{mean}_P(-F) + \mathrm{mean}_U\, \ell(-F)

    with :math:`\pi` the prior. "pnu_auc" is the risk of `fit_pnu_auc_boost`: an upper bound of one minus the AUC over
    all pairs of groups, computed in O(n). Pairs with a group that is missing are left out. The scores of "logistic" are
    logarithms of the ratio of the densities of P and U, those of "upu" are log odds.

    A tree is split where the sum of G^2 / (H + lam) over its leaves gains most; the best split is made first. A leaf
    has the value -learning_rate G / (H + lam). G and H are the sums over its rows of n times the first and second
    derivatives of the loss by the scores of the rows, so that `lam` and `min_leaf_hessian` mean the same for every n.

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
        Labels: +1 positive, 0 unlabelled and, for "pnu_auc", -1 negative. "pnu_auc" needs any two of these three kinds
        of rows, the other losses need +1 and 0. {1, 0}, bool and {1, nan} are taken too; see `fastpu.as_labels`.
    loss : {"pnu_auc", "logistic", "upu"}, default "pnu_auc"
        The loss of the formulas above that the trees minimise. "pnu_auc" is for the AUC and takes labelled negatives,
        "logistic" tells P from U, and "upu" makes a classifier if the prior is known.
    prior : float, optional
        Share of positives, P(Y = 1), in (0, 1). "upu" needs it. It is the share among the unlabelled rows or, with
        ``scenario="single_set"``, among all rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        Which rows `prior` is the share of positives of: "case_control" means the unlabelled rows, "single_set" all
        rows. The latter is converted: (prior n - n_pos) / n_unl.
    gamma : float, default 0.5
        For "pnu_auc" with all three groups: the weight of the pairs of labelled rows, in [0, 1].
    n_rounds : int, default 100
        Number of trees, in every bag.
    learning_rate : float, default 0.05
        Part of Newton's step that is made, in (0, 1e6]. More than 1 overshoots.
    max_leaves : int, default 4
        Most leaves of a tree, >= 2: the split that gains most is made next.
    max_depth : int, optional
        Most splits between the root and a leaf. By default there is no limit.
    min_leaf_rows : int, optional
        Fewest rows of a leaf, each counted by its weight. By default 20, and 3 with bags, which are small.
    min_leaf_hessian : float, default 1e-3
        Least sum H of a leaf, >= 0.
    lam : float, default 10.0
        Weight of the ridge penalty, which is added to H: 0, or at least 1e-12.
    n_bags : int, default 1
        Number of boosters whose scores are averaged. With more than one, each has a bag of its own: n_P positive rows
        drawn with replacement, unlabelled rows drawn without replacement (see `bag_ratio`), and all negative rows.
    bag_ratio : "auto", float or None, default "auto"
        How many unlabelled rows are drawn for a bag. "auto" draws three for each positive row. With fewer than five
        labels it draws at least 200, but at most a tenth of all unlabelled rows. It never draws more than 63 % of them,
        so that all of them have out-of-bag scores. A number > 0 is the number of unlabelled rows for each positive row,
        up to all unlabelled rows. None draws as many as there are, with replacement. Leave it at "auto" for
        ``n_bags=1``, which takes all rows.
    subsample_unl : float, default 1.0
        Share of the unlabelled rows that a tree is grown on, in (0, 1]. They are drawn anew for each tree.
    max_features : {"sqrt", "all"}, int or float, default "all"
        How many features a tree may split: "sqrt" (the square root of their number), "all", an int (so many), or a
        float in (0, 1] (that share of them, rounded down, but at least one). They are drawn anew for each tree.
    max_bins : int, optional
        Most cuts of a feature, from 1 to 65535; by default 255. A feature with more distinct values is cut at its
        quantiles (see `bin_features`). It must be left out if X is binned.
    eval_set : (X, y), optional
        Rows by whose AUC each round is judged: of +1 against -1, or against 0 if there is no -1. Bags are judged
        together.
    early_stopping_rounds : int, optional
        Stop after so many rounds without a better AUC of `eval_set`, and keep the rounds up to the best one. Without an
        `eval_set` the number of rounds is chosen by cross-validation: the AUC after each round is averaged over folds,
        whose rows are held out, until so many rounds have brought no better one. The largest number of rounds is
        chosen whose mean AUC is within one standard error of the best.
    n_folds : int, default 5
        Most folds of that cross-validation, >= 2.
    init_model : TreeEnsemble, optional
        A model of the same rows and arguments, to which `n_rounds` rounds are added. The trees are then those of a
        single fit of all rounds. Other rows, labels or weights are refused, and so is a model that a callback stopped
        before its last bag.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. A weight counts as that many repetitions of the row. Bags draw rows of positive weight, all with
        the same chance.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. A bag leaves whole
        groups out: groups are drawn with replacement, as many as there are, and rows of the others are not in the bag.
        Folds hold whole groups out. Without bags and folds, groups change nothing.
    random_state : int >= 0, numpy.random.Generator or None
        Seed of the bags, rows, features and folds that are drawn. The seeds of every bag and round are derived from it.
    n_threads : int, optional
        Most threads to use. By default these are the CPUs that this process may use. The model is the same, bit by
        bit, for any number.
    callback : callable, optional
        ``callback(info: BoostedTreesRound) -> bool``, called after every round, or with bags after every bag. True ends
        the fit with the rounds or bags so far. Bags that early stopping may end are grown in steps of some rounds, and
        the callback is called after each bag of a step. In a later step, or with `init_model`, bags that
        exist get further rounds. If the callback ends the fit before all bags have these rounds, no bag keeps them.
    progress : bool, default False
        Whether to show a progress bar that counts rounds, or bags, by tqdm if it is installed.

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
        With bags: if out-of-bag scores tell labelled from unlabelled rows nearly perfectly: an AUC of 0.998, with at
        least 10 labelled and 100 unlabelled rows. The columns that do it are named, as they probably know the labels.
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
