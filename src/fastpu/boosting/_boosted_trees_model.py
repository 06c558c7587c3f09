"""The model that is made of boosted trees, and the warnings about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.boosting._boosted_trees_options import FUNCTION, BoostedTreesOptions
from fastpu.boosting._rounds_by_folds import ChosenRounds, best_so_far
from fastpu.common._warn import warn
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.tree._copies import warn_of_copies
from fastpu.tree._init_model import TreeSeed
from fastpu.tree._leaks import warn_of_leaks
from fastpu.tree._tree_arrays import TreeArrays, tree_arrays
from fastpu.tree._tree_rows import BaggedRows, TreeRows
from fastpu.tree.tree_ensemble import TreeEnsemble


@dataclass(frozen=True)
class BoostedRounds:
    """All rounds of a model, those of `init_model` first, of every bag.

    Attributes
    ----------
    trees : TreeArrays
    tree_risk : ndarray of float64
        The loss after each tree, in its bag.
    risk : ndarray of float64
        The loss after each round; with bags the mean over them.
    eval_auc : ndarray of float64
        The AUC of `eval_set` after each round of this fit; empty without one.
    oob_sum, oob_count : ndarray, or None
        With bags, for each row the sum of its scores in the bags that leave it out, and the number of these bags.
    n_bags : int
        How many bags there are; a callback may have stopped the fit before the last.
    best_round : int
        How many rounds of this fit are kept.
    status : str
        Why the rounds ended, in the words of `TreeEnsemble.status`.
    """

    trees: TreeArrays
    tree_risk: NDArray[np.float64]
    risk: NDArray[np.float64]
    eval_auc: NDArray[np.float64]
    oob_sum: NDArray[np.float64] | None
    oob_count: NDArray[np.int32] | None
    n_bags: int
    best_round: int
    status: str


def all_rounds(init_model: TreeEnsemble | None, grown: _core.BoostedTreesResult, *, has_bags: bool) -> BoostedRounds:
    """Return the rounds of the model that the fit went on from, if any, and the new ones."""
    tree_risk, risk, n_bags = grown.tree_risk, grown.risk, grown.n_bags
    if init_model is not None:
        risk = np.concatenate([init_model.history["risk"], risk])
        by_bag = [own.reshape(n_bags, -1) for own in (init_model.objective, tree_risk)]
        tree_risk = np.concatenate(by_bag, axis=1).ravel()
    return BoostedRounds(
        tree_arrays(init_model, grown, n_bags),
        tree_risk,
        risk,
        grown.eval_auc,
        grown.oob_sum if has_bags else None,
        grown.oob_count if has_bags else None,
        n_bags,
        grown.best_round,
        grown.status,
    )


def make_boosted_trees(
    rounds: BoostedRounds,
    rows: TreeRows,
    options: BoostedTreesOptions,
    seed: TreeSeed,
    chosen: ChosenRounds | None,
    n_rounds: int,
) -> TreeEnsemble:
    """Return the model of these rounds, with its threshold; `n_rounds` were asked for in all."""
    status, trees = rounds.status, rounds.trees
    if chosen is not None and chosen.is_final and status == "n_rounds":
        status = "early_stopping"
    history = {"risk": rounds.risk, "n_leaves": trees.n_leaves}
    if rounds.eval_auc.size:
        history["eval_auc"] = rounds.eval_auc
    if chosen is not None:
        history["fold_auc"] = chosen.auc
    params = {
        **options.params(rows.features.max_bins),
        **({} if chosen is None else {"n_folds": chosen.n_folds}),
        "n_rounds": n_rounds,
        "early_stopping_rounds": options.early_stopping_rounds,
        "random_state": seed.random_state,
    }
    is_complete = status == "n_rounds" and not options.patience
    model = TreeEnsemble(
        n_features=rows.features.n_features,
        feature_names=rows.features.feature_names,
        categories=rows.features.categories,
        threshold=0.0,
        n_iter=trees.n_trees,
        converged=is_complete or status in ("no_gain", "early_stopping"),
        status=status,
        objective=rounds.tree_risk,
        history=history,
        params=params,
        packed_nodes=trees.packed_nodes,
        tree_starts=trees.tree_starts,
        category_sets=trees.category_sets,
        divisor=rounds.n_bags,
        seed=seed.value,
        oob_sum=rounds.oob_sum,
        oob_count=rounds.oob_count,
        training_labels=rows.labels if options.has_bags else None,
        training_weights=rows.differing_weights() if options.has_bags else None,
        fingerprint=rows.fingerprint,
    )
    if options.only_ranks:
        model = rows.with_threshold(model)
    _warn_of_rounds(model, rows, rounds, options, chosen)
    return model


def warn_of_bags(model: TreeEnsemble, rows: BaggedRows) -> None:
    """Warn where the out-of-bag scores of bags are not what they seem."""
    if rows.clusters is not None:
        rows.warn_of_groups_in_all_bags(FUNCTION, model)
    if not warn_of_copies(FUNCTION, rows):
        warn_of_leaks(FUNCTION, model, rows)


def _warn_of_rounds(
    model: TreeEnsemble,
    rows: TreeRows,
    rounds: BoostedRounds,
    options: BoostedTreesOptions,
    chosen: ChosenRounds | None,
) -> None:
    if not model._is_split.any():
        warn(
            f"{FUNCTION} found no split: every row has the same score. Either all columns are constant, or "
            f"min_leaf_rows = {options.min_leaf_rows}, min_leaf_hessian or lam allow none (rows count by their "
            f"weights): lower them, or give more rows",
            DegenerateModelWarning,
        )
        return
    if model.status == "callback":
        return
    rows.warn_if_alike(FUNCTION, model, "choose another loss, prior or n_rounds")
    if model.status == "n_rounds" and options.patience:
        warn(
            f"{FUNCTION} ran all {model.params['n_rounds']} rounds before early stopping ended it: "
            f"{best_so_far(rounds, chosen, options.early_stopping_rounds)}; raise n_rounds",
            ConvergenceWarning,
        )
