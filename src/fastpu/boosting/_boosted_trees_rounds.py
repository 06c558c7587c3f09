"""Boosting trees on rows in memory: all rounds, the rounds on folds, and what a callback is given for each round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fastpu import _core
from fastpu.boosting._boosted_trees_options import BoostedTreesOptions
from fastpu.boosting._labelled_rows import LabelledBins, LabelledRows
from fastpu.boosting._rounds_by_folds import ChosenRounds, RoundSearch
from fastpu.common._progress import Report
from fastpu.data._categories import category_flags
from fastpu.tree._tree_rows import TreeRowsInMemory
from fastpu.tree.tree_ensemble import TreeEnsemble


@dataclass(frozen=True)
class BoostedTreesRound:
    """What a callback is given after each round of boosting or, with bags, after the rounds of each bag.

    Attributes
    ----------
    round, n_rounds : int
        The number of this round, counted from 1 (with bags: of the last round of the bag so far), and the number of
        rounds that were asked for or that the folds have chosen.
    bag, n_bags : int
        The number of this bag, counted from 1, and the number of bags that were asked for; both are 1 without bags.
    n_leaves, depth : int
        Number of leaves of the tree of this round, and of splits between its root and its deepest leaf.
    risk : float
        The loss of all rows (with bags: of the rows in the bag) after this round.
    eval_auc : float, or None
        The AUC of `eval_set` after this round; None without one, and with bags, which are judged together.
    """

    round: int
    n_rounds: int
    bag: int
    n_bags: int
    n_leaves: int
    depth: int
    risk: float
    eval_auc: float | None


#: What the core calls after each round, with the fields of `BoostedTreesRound` as numbers; True ends the fit.
OnRound: TypeAlias = Callable[[int, int, int, int, float, float], bool]


def round_callback(report: Report | None, n_rounds: int, n_bags: int, *, has_eval_set: bool) -> OnRound | None:
    """Return what the core calls with the numbers of each round; None without a report."""
    if report is None:
        return None

    def on_round(bag: int, round_: int, n_leaves: int, depth: int, risk: float, auc: float) -> bool:
        eval_auc = auc if has_eval_set and n_bags == 1 else None
        return report(BoostedTreesRound(round_, n_rounds, bag + 1, n_bags, n_leaves, depth, risk, eval_auc))

    return on_round


def choose_rounds(
    rows: TreeRowsInMemory, options: BoostedTreesOptions, seed: int, rng: np.random.Generator
) -> ChosenRounds:
    """Choose the number of rounds by folds, which `rng` draws."""
    labelled = LabelledBins(rows.features, rows.labels, rows.weights, rows.clusters)
    search = RoundSearch(labelled, options.n_folds, rng, n_rounds=options.n_rounds, patience=options.patience)
    while not search.is_over:
        search.add(
            [
                _boost(train, options, rows.prior, seed, rows.n_threads, n_rounds=search.n_rounds, eval_rows=eval_rows)
                for train, eval_rows in search.folds()
            ]
        )
    return search.chosen


def boost_trees(
    rows: TreeRowsInMemory,
    options: BoostedTreesOptions,
    seed: int,
    init_model: TreeEnsemble | None,
    eval_rows: LabelledRows | None,
    n_rounds: int,
    report: Report | None,
) -> _core.BoostedTreesResult:
    """Boost all rows for `n_rounds` rounds more than `init_model` has; stop early where `eval_rows` say so."""
    n_before = 0 if init_model is None else init_model.n_trees // init_model.divisor
    return _boost(
        LabelledBins(rows.features, rows.labels, rows.weights, rows.clusters),
        options,
        rows.prior,
        seed,
        rows.n_threads,
        n_rounds=n_rounds,
        eval_rows=eval_rows,
        early_stopping_rounds=0 if eval_rows is None else options.patience,
        init_model=init_model,
        on_round=round_callback(report, n_before + n_rounds, options.n_bags, has_eval_set=eval_rows is not None),
    )


def _boost(
    rows: LabelledBins,
    options: BoostedTreesOptions,
    prior: float,
    seed: int,
    n_threads: int,
    *,
    n_rounds: int,
    eval_rows: LabelledRows | None,
    early_stopping_rounds: int = 0,
    init_model: TreeEnsemble | None = None,
    on_round: OnRound | None = None,
) -> _core.BoostedTreesResult:
    features = rows.features
    core_options = options.for_core(
        prior=prior,
        bags=options.bag_sizes(rows.labels, rows.weights),
        n_features=features.n_features,
        seed=seed,
        n_rounds=n_rounds,
        early_stopping_rounds=early_stopping_rounds,
    )
    trees_before = None
    if init_model is not None:
        trees_before = (init_model._nodes, init_model.tree_starts, init_model.category_sets)
    return _core.boost_trees(
        features._native,
        rows.labels,
        rows.weights,
        category_flags(features.categories, features.n_features),
        core_options,
        clusters=rows.clusters if options.has_bags else None,
        init=trees_before,
        init_oob_sum=init_model.oob_sum if init_model is not None and options.has_bags else None,
        eval_set=None if eval_rows is None else (eval_rows.features, eval_rows.labels, eval_rows.weights),
        callback=on_round,
        n_threads=n_threads,
    )
