"""What fits of boosted trees share: checks of arguments, the call of the core, the model and its warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.boosting._folds import Chosen, LabelledRows, best_so_far, row_counts
from fastpu.common._bags import AutoBags, BagRatio, check_bag_ratio
from fastpu.common._params import MANY, check_float, check_int
from fastpu.common._warn import warn
from fastpu.data._categories import category_flags
from fastpu.data._matrix import columns_of
from fastpu.data.binned_features import BinnedFeatures
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.model._threshold import ScoredRows
from fastpu.tree._copies import hashes_of_rows, warn_of_copies
from fastpu.tree._fit import (
    bag_options,
    check_loss,
    check_max_features,
    drawn_features,
    joined,
)
from fastpu.tree._leaks import warn_of_leaks
from fastpu.tree.tree_ensemble import TreeEnsemble

FUNCTION = "fit_boosted_trees"
LossName: TypeAlias = Literal["pnu_auc", "logistic", "upu"]
LOSSES: tuple[str, ...] = get_args(LossName)
WITH_PRIOR = ("upu",)
_GAMMA = 0.5
_LEAST_WEIGHT = 1e-200
_AUTO_BAGS = AutoBags(ratio=3.0, least_unl=(200,), few_pos=4)
_LEAF_ROWS, _LEAF_ROWS_IN_BAGS = 20, 3
_MOST_RATE = 1e6  # far beyond any useful one; without it scores could overflow, which the core refuses less plainly


@dataclass(frozen=True)
class BoostedTreesRound:
    """What a callback is told after a round of boosting, or with bags after the rounds of a bag.

    Attributes
    ----------
    round, n_rounds : int
        The number of this round, or of the last one of the bag so far, from 1, and how many rounds were asked for (or
        chosen by folds).
    bag, n_bags : int
        The number of the bag, from 1, and how many bags were asked for; 1 where there are none.
    n_leaves, depth : int
        The leaves and the levels of splits of the round's tree.
    risk : float
        The loss of all rows (of the bag) after the round.
    eval_auc : float, or None
        AUC of the evaluation set after the round; None with bags, which are judged together.
    """

    round: int
    n_rounds: int
    bag: int
    n_bags: int
    n_leaves: int
    depth: int
    risk: float
    eval_auc: float | None


@dataclass(frozen=True)
class Settings:
    """The arguments that say what is minimised and how: all but the rows, the seed and the number of rounds."""

    loss: str
    prior: float | None
    scenario: str
    gamma: float
    learning_rate: float
    max_leaves: int
    max_depth: int | None
    min_leaf_rows: int
    min_leaf_hessian: float
    lam: float
    n_bags: int
    bag_ratio: BagRatio
    subsample_unl: float
    max_features: str | int | float

    @property
    def ranks(self) -> bool:
        """Whether the scores only rank, so that 0 is no natural threshold."""
        return self.loss not in WITH_PRIOR


def check_settings(given: Mapping[str, Any]) -> Settings:
    kind, prior, scenario = check_loss(given, LOSSES, WITH_PRIOR)
    gamma = check_float("gamma", given["gamma"], low=0, high=1)
    if kind != "pnu_auc" and gamma != _GAMMA:
        raise ValueError(f"gamma must be left at {_GAMMA} for loss={kind!r}, which has none, got {gamma:g}")
    bags = check_int("n_bags", given["n_bags"], low=1)
    ratio = check_bag_ratio(given["bag_ratio"])
    if bags == 1 and ratio != "auto":
        raise ValueError(f"bag_ratio must be left at 'auto' for n_bags=1, which takes all rows, got {ratio}")
    leaf_rows = _LEAF_ROWS if bags == 1 else _LEAF_ROWS_IN_BAGS
    if given["min_leaf_rows"] is not None:
        leaf_rows = check_int("min_leaf_rows", given["min_leaf_rows"], low=1)
    max_depth = given["max_depth"]
    return Settings(
        loss=kind,
        prior=prior,
        scenario=scenario,
        gamma=gamma,
        learning_rate=check_float("learning_rate", given["learning_rate"], low=0, high=_MOST_RATE, open_low=True),
        max_leaves=min(check_int("max_leaves", given["max_leaves"], low=2), MANY),
        max_depth=None if max_depth is None else min(check_int("max_depth", max_depth, low=1), MANY),
        min_leaf_rows=min(leaf_rows, MANY),
        min_leaf_hessian=check_float("min_leaf_hessian", given["min_leaf_hessian"], low=0),
        lam=check_float("lam", given["lam"], low=0),
        n_bags=bags,
        bag_ratio=ratio,
        subsample_unl=check_float("subsample_unl", given["subsample_unl"], low=0, high=1, open_low=True),
        max_features=check_max_features(given["max_features"]),
    )


def check_group_counts(settings: Settings, groups: tuple[int, int, int], weight: float | None) -> None:
    """Raise ValueError unless there are the groups of rows that the loss needs; `weight` is the sum of all weights."""
    n_pos, n_unl, n_neg = groups
    counts = row_counts(groups)
    if weight is not None:
        counts += " of positive weight"
        if weight < _LEAST_WEIGHT:
            raise ValueError(f"sample_weight must sum to at least {_LEAST_WEIGHT:g}: rows count by it, got less")
    if settings.loss != "pnu_auc":
        if n_neg:
            raise ValueError(
                f"y must hold +1 and 0 alone for loss={settings.loss!r}, got {counts}; loss='pnu_auc' takes labelled "
                f"negatives"
            )
        if not (n_pos and n_unl):
            raise ValueError(f"y must hold +1 and 0 for loss={settings.loss!r}, got {counts}")
    elif (n_pos > 0) + (n_unl > 0) + (n_neg > 0) < 2:
        raise ValueError(f"y must hold at least two of +1, 0 and -1 for {FUNCTION}, got {counts}")
    if settings.n_bags > 1 and not (n_pos and n_unl):
        raise ValueError(f"y must hold +1 and 0 for n_bags > 1: bags differ in their unlabelled rows, got {counts}")


@dataclass(frozen=True)
class BoostingRun:
    """What the core is called with beside the rows; `prior` is the one among the unlabelled rows."""

    settings: Settings
    prior: float
    seed: int
    n_threads: int

    def run(
        self,
        rows: LabelledRows,
        n_rounds: int,
        judged: LabelledRows | None,
        *,
        patience: int = 0,
        init: tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]] | None = None,
        init_oob_sum: NDArray[np.float64] | None = None,
        callback: Any = None,
    ) -> _core.BoostedTreesResult:
        """Boost rows in memory."""
        features = cast("BinnedFeatures", rows.features)
        bags = {}
        if self.settings.n_bags > 1:
            bags = bag_options(self.settings.bag_ratio, _AUTO_BAGS, rows.labels, rows.weights)
        return _core.boost_trees(
            features._native,
            rows.labels,
            rows.weights,
            category_flags(features.categories, features.n_features),
            self._options(n_rounds, features.n_features, patience, bags),
            clusters=rows.clusters if bags else None,
            init=init,
            init_oob_sum=init_oob_sum if bags else None,
            eval_set=None if judged is None else (judged.features, judged.labels, judged.weights),
            callback=callback,
            n_threads=self.n_threads,
        )

    def run_member(
        self,
        member: _core.MemberRows,
        n_features: int,
        n_rounds: int,
        judged: LabelledRows | None,
        *,
        init: tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]] | None = None,
        callback: Any = None,
    ) -> _core.BoostedTreesResult:
        """Boost the rows of all members of a fit on several machines, as one of them."""
        return _core.boost_member_trees(
            member,
            self._options(n_rounds, n_features, 0, {}),
            init=init,
            eval_set=None if judged is None else (judged.features, judged.labels, judged.weights),
            callback=callback,
            n_threads=self.n_threads,
        )

    def _options(
        self, n_rounds: int, n_features: int, patience: int, bags: dict[str, Any]
    ) -> _core.BoostedTreesOptions:
        settings = self.settings
        return _core.BoostedTreesOptions(
            loss=settings.loss,
            gamma=settings.gamma,
            prior=self.prior,
            n_rounds=min(n_rounds, MANY),
            learning_rate=settings.learning_rate,
            max_leaves=settings.max_leaves,
            max_depth=-1 if settings.max_depth is None else settings.max_depth,
            min_leaf_rows=float(settings.min_leaf_rows),
            min_leaf_hessian=settings.min_leaf_hessian,
            lam=settings.lam,
            subsample_unl=settings.subsample_unl,
            max_features=drawn_features(settings.max_features, n_features),
            n_bags=settings.n_bags if bags else 0,
            seed=self.seed,
            early_stopping_rounds=min(patience, MANY),
            **bags,
        )


# ---- The model ----


def make_model(
    grown: Any,
    features: BinnedFeatures,
    scored: ScoredRows,
    training: BoostingRun,
    before: TreeEnsemble | None,
    params: dict[str, Any],
    chosen: Chosen | None,
    fingerprint: NDArray[np.uint64] | None,
    clusters: NDArray[np.int32] | None = None,
) -> TreeEnsemble:
    """Return the model of the trees in `grown`, a `_core.BoostedTreesResult` or an object with its fields."""
    settings, status = training.settings, grown.status
    if chosen is not None and chosen.is_final and status == "n_rounds":
        status = "early_stopping"
    risk, objective = grown.risk, grown.tree_risk
    if before is not None:
        risk = np.concatenate([before.history["risk"], risk])
        parts = [old_or_new.reshape(grown.n_bags, -1) for old_or_new in (before.objective, objective)]
        objective = np.concatenate(parts, axis=1).ravel()
    trees = joined(before, grown, grown.n_bags)
    n_trees = trees["tree_starts"].size - 1
    history = {"risk": risk, "n_leaves": (np.diff(trees["tree_starts"]) + 1) // 2}
    if grown.eval_auc.size:
        history["eval_auc"] = grown.eval_auc
    if chosen is not None:
        history["fold_auc"] = chosen.auc
    model = TreeEnsemble(
        **columns_of(features),
        threshold=0.0,
        n_iter=n_trees,
        converged=status
        in ("no_gain", "early_stopping", *(["n_rounds"] if not params["early_stopping_rounds"] else [])),
        status=status,
        objective=objective,
        history=history,
        params=params,
        **trees,
        divisor=grown.n_bags,
        seed=training.seed,
        oob_sum=grown.oob_sum if settings.n_bags > 1 else None,
        oob_count=grown.oob_count if settings.n_bags > 1 else None,
        training_labels=scored.labels if settings.n_bags > 1 else None,
        training_weights=scored.differing_weights() if settings.n_bags > 1 else None,
        fingerprint=fingerprint,
    )
    if settings.ranks:
        model = scored.with_threshold(model)
    if settings.n_bags > 1:
        n_threads = training.n_threads
        if clusters is not None:
            scored.warn_of_groups_in_all_bags(FUNCTION, model)

        def hashes(label: int) -> NDArray[np.uint64]:
            return hashes_of_rows(features, scored.counted(label), n_threads, clusters)

        if not warn_of_copies(FUNCTION, hashes):
            warn_of_leaks(FUNCTION, model, scored, features.column)
    _warn(model, scored, grown, chosen)
    return model


def _warn(model: TreeEnsemble, scored: ScoredRows, grown: Any, chosen: Chosen | None) -> None:
    if not model._is_split.any():
        warn(
            f"{FUNCTION} found no split: every row has the same score; either all columns are constant, or "
            f"min_leaf_rows = {model.params['min_leaf_rows']}, min_leaf_hessian or lam leave none (rows count by their "
            f"weights); lower them, or give more rows",
            DegenerateModelWarning,
        )
        return
    if model.status == "callback":
        return
    scored.warn_if_alike(FUNCTION, model, "choose another loss, prior or n_rounds")
    patience = model.params["early_stopping_rounds"]
    if model.status == "n_rounds" and patience:
        warn(
            f"{FUNCTION} ran all {model.params['n_rounds']} rounds before early stopping ended it: "
            f"{best_so_far(grown, chosen, patience)}; raise n_rounds",
            ConvergenceWarning,
        )
