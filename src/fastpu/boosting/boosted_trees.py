"""Boosted trees for losses of positive, unlabelled and, for the AUC, negative rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Literal

import numpy as np

from fastpu.boosting._boosted_trees import (
    FUNCTION,
    WITH_PRIOR,
    BoostedTreesRound,
    BoostingRun,
    LossName,
    check_group_counts,
    check_settings,
    make_model,
)
from fastpu.boosting._folds import LabelledRows, check_eval_set, check_patience, rounds_by_folds
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int
from fastpu.common._progress import make_report, on_round
from fastpu.common._sharing import marked
from fastpu.common._threads import resolve_n_threads
from fastpu.data._category_order import in_order
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels, check_sample_weight, label_counts
from fastpu.model._prior import prior_by_labels
from fastpu.model._profile import keeps_profile
from fastpu.model._threshold import ScoredRows
from fastpu.tree._fit import Start, bin_rows, fingerprint_of, open_rows
from fastpu.tree.tree_ensemble import TreeEnsemble


@answers_unknown_keywords
@keeps_profile
@marked(prior_where=("loss", WITH_PRIOR))
def fit_boosted_trees(
    X: object,
    y: object,
    *,
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
    n_bags: int = 1,
    bag_ratio: float | Literal["auto"] | None = "auto",
    subsample_unl: float = 1.0,
    max_features: Literal["sqrt", "all"] | int | float = "all",
    max_bins: int | None = None,
    eval_set: tuple[object, object] | None = None,
    early_stopping_rounds: int | None = None,
    n_folds: int = 5,
    init_model: TreeEnsemble | None = None,
    sample_weight: object = None,
    groups: object = None,
    random_state: int | np.random.Generator | None = None,
    n_threads: int | None = None,
    callback: Callable[[BoostedTreesRound], bool | None] | None = None,
    progress: bool = False,
) -> TreeEnsemble:
    r"""Boosted trees for positive and unlabelled rows, and bags of boosted trees.

    It is for tables in which columns interact and classes overlap, and for labelled negatives beside positive and
    unlabelled rows. Pass ``n_bags=20`` for the best ranking: each bag holds few of the hidden positives. One booster is
    the default, as it is quicker, and callbacks and early stopping go by its rounds. On most tables `fit_forest` is the
    better first choice.

    The score F sums small trees, each of which takes a step of Newton's method on its leaves towards the minimum of

    .. math:: \text{"pnu\_auc":}\quad & \log (\gamma A_P B_N + \tfrac{1 - \gamma}{2} (A_P B_U + A_U B_N)),
            \qquad A_G = \mathrm{mean}_G\, e^{-F}, \quad B_G = \mathrm{mean}_G\, e^F

        \text{"logistic":}\quad & \mathrm{mean}_P\, \ell(F) + \mathrm{mean}_U\, \ell(-F),
            \qquad \ell(z) = \log(1 + e^{-z})

        \text{"upu":}\quad & \pi\, \mathrm{mean}_P(-F) + \mathrm{mean}_U\, \ell(-F)

    with :math:`\pi` the prior. "pnu_auc" is the risk of `fit_pnu_auc_boost`, an upper bound of one minus the AUC over
    all pairs of groups, in O(n); the pairs of a group that is missing drop out. The scores of "logistic" are log ratios
    of the densities of P and U, those of "upu" log odds.

    A tree splits where the sum over its leaves of G^2 / (H + lam) gains most, best first; a leaf has the value
    -learning_rate G / (H + lam). G and H are the sums of n times the first and second derivatives of the loss by the
    rows' scores, so that `lam` and `min_leaf_hessian` mean the same for every n.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or BinnedFeatures of shape (n, d)
        As in `fit_forest`, missing entries and categories included.
    y : array-like of shape (n,)
        +1 positive, 0 unlabelled and, for "pnu_auc", -1 negative; "pnu_auc" takes any two or three of these, the others
        +1 and 0. See `fastpu.as_labels`.
    loss : {"pnu_auc", "logistic", "upu"}, default "pnu_auc"
        What is minimised.
    prior : float, optional
        For "upu", which needs it, as in `fit_forest`.
    scenario, max_depth, max_bins, n_threads, progress
        As in `fit_forest`.
    gamma : float, default 0.5
        For "pnu_auc" with all three groups, in [0, 1]: the weight of the labelled pairs.
    n_rounds : int, default 100
        Number of trees, in every bag.
    learning_rate : float, default 0.05
        Part of Newton's step that is made, in (0, 1e6]; more than 1 overshoots.
    max_leaves : int, default 4
        Most leaves of a tree, >= 2; splits that gain most come first.
    min_leaf_rows : int, optional
        Fewest rows of a leaf, by weight: counted, not estimated. By default 20, and 3 with bags, which are small.
    min_leaf_hessian : float, default 1e-3
        Least sum H of a leaf, >= 0.
    lam : float, default 10.0
        Weight of the ridge penalty, which is added to H: 0, or at least 1e-12.
    n_bags : int, default 1
        Boosters whose scores are averaged. With more than one each has a bag of its own: n_P positive rows drawn with
        replacement, unlabelled rows drawn without (see `bag_ratio`), and all negative rows.
    bag_ratio : "auto", float or None, default "auto"
        How many unlabelled rows a bag draws. "auto" draws three for each positive one. With fewer than five labels it
        draws at least 200, but then no more than a tenth of all unlabelled rows. It never draws more than 63 % of
        them, so that all have out-of-bag scores. A number > 0 is the unlabelled rows for each positive one, at most
        all. None draws as many as there are, with replacement. Leave it
        out for ``n_bags=1``, which takes all rows.
    subsample_unl : float, default 1.0
        Share of the unlabelled rows that a tree is grown on, in (0, 1], drawn anew for each.
    max_features : {"sqrt", "all"}, int or float, default "all"
        Features that a tree may split, drawn anew for each: the root of their number, all, a number, or a share in
        (0, 1], rounded down, but at least one.
    eval_set : (X, y), optional
        Rows judged by their AUC after each round: +1 against -1, or against 0 where there is no -1. Bags are judged
        together.
    early_stopping_rounds : int, optional
        Stop after so many rounds without a better AUC of `eval_set`, and keep the rounds up to the best. Without an
        `eval_set` the number of rounds is chosen by cross-validation, as in `fit_pnu_auc_boost`.
    n_folds : int, default 5
        Most folds of that cross-validation, >= 2.
    init_model : TreeEnsemble, optional
        A model of the same rows and arguments, to which `n_rounds` rounds are added: the trees are then those that a
        single fit of all rounds gives. Other rows, labels or weights are refused, and a model that a callback stopped
        before its last bag.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0; a weight counts as that many repetitions of the row. Bags draw rows of positive weight, all with
        the same chance.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of one customer: a label of any kind for each row. Bags then leave
        whole groups out, as in `fit_forest`, and folds hold whole groups out. Where there are neither, groups change
        nothing.
    random_state : int >= 0, numpy.random.Generator or None
        Draws bags, rows, columns and folds. Every bag and round has a seed of its own that is derived from it.
    callback : callable, optional
        ``callback(info: BoostedTreesRound) -> bool``, called after every round, or after every bag where there are
        some; True ends the fit with the rounds or bags so far. Bags that early stopping may end grow in steps of some
        rounds, and it is called after each bag of a step. Bags that were to get more rounds, by `init_model` or a
        further step, stay as they were, unless the last one has got them.

    Returns
    -------
    TreeEnsemble
        With `staged_decision_function`, `feature_importances` and, of bags, `oob_decision_function`. Its threshold is 0
        for "upu". For the others it maximises the balanced accuracy between P and N, or P and U where there
        are no N, of out-of-bag scores where there are bags; `with_threshold` matches a prior instead. `history` has
        "risk", the loss after every round of the model (the mean over the bags), and "n_leaves" of every tree; also
        "eval_auc" after every round that this fit made, those included that early stopping dropped and those of
        `init_model` not, or "fold_auc" where folds chose the rounds.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described or has no meaning for the loss, `y` lacks a group that the loss needs,
        or `init_model` was made of other rows or by other arguments.
    MemoryError
        If codes, histograms or trees do not fit into memory.

    Warns
    -----
    ConvergenceWarning
        If early stopping was asked for and all rounds were made before it.
    CopiedRowsWarning, LabelWarning
        If bags leave out labelled rows of which they hold copies, or their out-of-bag scores tell labelled from
        unlabelled rows nearly perfectly, as in `fit_forest`.
    DegenerateModelWarning
        If no split was found, or the model calls all training rows the same.

    Notes
    -----
    Binning takes O(n d), a tree O(n d) times the share of rows in the smaller children, and a score O(log max_leaves) a
    tree. For the search of splits, g and h are rounded to whole numbers, whose sums are the same in any order; the
    units are at most 2^-29 of a bound of their sum over all rows; the values of leaves come from finer sums.
    Memory: one or two bytes a value and 45 bytes a row, with bags once more for each thread.

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
    settings = check_settings(locals())
    n_new = check_int("n_rounds", n_rounds, low=1)
    patience = check_patience(early_stopping_rounds)
    most_folds = check_int("n_folds", n_folds, low=2)
    threads = resolve_n_threads(n_threads)
    start = Start.of(init_model, random_state, FUNCTION)
    before = start.before
    data, cuts = open_rows(X, max_bins, before)
    warn_of_other_order(X, y=y, sample_weight=sample_weight, groups=groups)
    labels = check_labels(y, data.n_rows)
    weights = check_sample_weight(sample_weight, data.n_rows)
    clusters = cluster_numbers(groups, data.n_rows)
    check_group_counts(settings, label_counts(labels, weights), None if weights is None else float(weights.sum()))
    data = in_order(data, labels, weights, is_known=before is not None)
    held = check_eval_set(eval_set, data)
    features = bin_rows(data, cuts, weights, threads)
    rows = LabelledRows(features, labels, weights, clusters)
    params = {"method": FUNCTION, **dataclasses.asdict(settings), "max_bins": features.max_bins}
    n_before = 0
    start.check(features, params, features.n_rows)
    if before is not None:
        if before.divisor < settings.n_bags:
            raise ValueError(
                f"init_model must have all of its {settings.n_bags} bags, got a model that a callback stopped after "
                f"{before.divisor} of them: it can be used as it is, but to add rounds fit all bags again"
            )
        n_before = before.n_trees // before.divisor
    in_bags = clusters if settings.n_bags > 1 else None
    known_by = fingerprint_of(features, labels, weights, threads, in_bags)
    start.check_rows(known_by)
    among_unlabelled = prior_by_labels(settings.prior, settings.scenario, labels, weights)
    training = BoostingRun(settings, among_unlabelled, start.seed, threads)

    chosen = None
    if patience and held is None:
        chosen = rounds_by_folds(training.run, rows, most_folds, start.rng, n_new, patience)
        params["n_folds"] = chosen.n_folds
    to_run = n_new if chosen is None else chosen.n_rounds
    bags = settings.n_bags
    calls: int | None = to_run if bags == 1 else bags
    if bags > 1 and patience and held is not None:
        calls = None  # bags grow in steps, nobody knows how many
    with make_report(callback, progress, total=calls, description="boosted trees") as report:

        def info(bag: int, round_: int, n_leaves: int, depth: int, risk: float, auc: float) -> BoostedTreesRound:
            judged = auc if held is not None and bags == 1 else None
            return BoostedTreesRound(round_, n_before + to_run, bag + 1, bags, n_leaves, depth, risk, judged)

        grown = training.run(
            rows,
            to_run,
            held,
            patience=0 if chosen else patience,
            init=None if before is None else (before._nodes, before.tree_starts, before.category_sets),
            init_oob_sum=None if before is None else before.oob_sum,
            callback=on_round(report, info),
        )
    if before is not None and grown.n_bags < before.divisor:  # the other bags have no new rounds
        return dataclasses.replace(before, status=grown.status, converged=False)
    params |= {
        "n_rounds": n_before + n_new,
        "early_stopping_rounds": patience or None,
        "random_state": start.random_state,
    }
    scored = ScoredRows(labels, weights, lambda model: model._decision_function(features, threads))
    return make_model(grown, features, scored, training, before, params, chosen, known_by, in_bags)
