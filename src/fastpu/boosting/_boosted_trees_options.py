"""The arguments that say how boosted trees are grown, and the options of the core that they become."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.boosting._labelled_rows import row_counts
from fastpu.common._bags import AutoBags, BagRatio, BagSizes, bag_sizes, check_bag_ratio
from fastpu.common._frozen import set_fields
from fastpu.common._params import MANY, check_float, check_int
from fastpu.data._validate import label_counts
from fastpu.model._prior import PriorEstimate
from fastpu.tree._binning import check_max_bins
from fastpu.tree._loss_and_prior import check_loss_and_prior
from fastpu.tree._max_features import MaxFeatures, check_max_features, number_of_features

FUNCTION = "fit_boosted_trees"
LossName: TypeAlias = Literal["pnu_auc", "logistic", "upu"]
#: The losses of the core by their names, with what each of them needs.
LOSSES = {info.name: info for info in _core.tree_losses()}
LOSSES_WITH_PRIOR = tuple(name for name, info in LOSSES.items() if info.needs_prior)
NO_BAGS = BagSizes((1,))

_AUTO_BAGS = AutoBags(ratio=3.0, least_unl=(200,), few_pos=4)
_GAMMA = 0.5
_LEAF_ROWS, _LEAF_ROWS_IN_BAGS = 20, 3
_LEAST_WEIGHT = 1e-200
_MOST_RATE = 1e6  # far beyond any useful one; without it scores could overflow, which the core refuses less plainly


@dataclass(frozen=True, kw_only=True)
class BoostedTreesOptions:
    """The options of `fastpu.fit_boosted_trees`, which says what each of them means. They are checked when set."""

    loss: str
    prior: float | PriorEstimate | None
    scenario: str
    gamma: float
    learning_rate: float
    max_leaves: int
    max_depth: int | None
    min_leaf_rows: int | None
    min_leaf_hessian: float
    lam: float
    n_bags: int
    bag_ratio: BagRatio
    subsample_unl: float
    max_features: MaxFeatures
    max_bins: int | None
    n_rounds: int
    early_stopping_rounds: int | None
    n_folds: int

    def __post_init__(self) -> None:
        checked = check_loss_and_prior(
            self.loss, self.prior, self.scenario, losses=tuple(LOSSES), with_prior=LOSSES_WITH_PRIOR
        )
        gamma = check_float("gamma", self.gamma, low=0, high=1)
        if not LOSSES[checked.loss].needs_gamma and gamma != _GAMMA:
            raise ValueError(f"gamma must be left at {_GAMMA} for loss={checked.loss!r}, which has none, got {gamma:g}")
        n_bags, bag_ratio = check_int("n_bags", self.n_bags, low=1), check_bag_ratio(self.bag_ratio)
        if n_bags == 1 and bag_ratio != "auto":
            raise ValueError(f"bag_ratio must be left at 'auto' for n_bags=1, which takes all rows, got {bag_ratio}")
        leaf_rows = _LEAF_ROWS if n_bags == 1 else _LEAF_ROWS_IN_BAGS
        if self.min_leaf_rows is not None:
            leaf_rows = min(check_int("min_leaf_rows", self.min_leaf_rows, low=1), MANY)
        patience = self.early_stopping_rounds
        set_fields(
            self,
            loss=checked.loss,
            prior=checked.prior,
            scenario=checked.scenario,
            gamma=gamma,
            learning_rate=check_float("learning_rate", self.learning_rate, low=0, high=_MOST_RATE, open_low=True),
            max_leaves=min(check_int("max_leaves", self.max_leaves, low=2), MANY),
            max_depth=None if self.max_depth is None else min(check_int("max_depth", self.max_depth, low=1), MANY),
            min_leaf_rows=leaf_rows,
            min_leaf_hessian=check_float("min_leaf_hessian", self.min_leaf_hessian, low=0),
            lam=check_float("lam", self.lam, low=0),
            n_bags=n_bags,
            bag_ratio=bag_ratio,
            subsample_unl=check_float("subsample_unl", self.subsample_unl, low=0, high=1, open_low=True),
            max_features=check_max_features(self.max_features, ("sqrt", "all")),
            max_bins=check_max_bins(self.max_bins),
            n_rounds=check_int("n_rounds", self.n_rounds, low=1),
            early_stopping_rounds=None if patience is None else check_int("early_stopping_rounds", patience, low=1),
            n_folds=check_int("n_folds", self.n_folds, low=2),
        )

    @property
    def has_bags(self) -> bool:
        return self.n_bags > 1

    @property
    def only_ranks(self) -> bool:
        """Whether the scores only rank, so that 0 is no natural threshold."""
        return self.loss not in LOSSES_WITH_PRIOR

    @property
    def patience(self) -> int:
        """Rounds without a better AUC that end the fit; 0 without early stopping."""
        return 0 if self.early_stopping_rounds is None else min(self.early_stopping_rounds, MANY)

    def n_callbacks(self, n_rounds: int, *, has_eval_set: bool) -> int | None:
        """Return how often the callback is called in a fit of so many rounds; None where nobody knows beforehand."""
        if not self.has_bags:
            return n_rounds
        return None if self.patience and has_eval_set else self.n_bags  # early stopping grows bags in steps

    def params(self, max_bins: int) -> dict[str, object]:
        """Return the `params` that all models have in common that can go on from each other."""
        options = asdict(self)
        for name in ("n_rounds", "early_stopping_rounds", "n_folds"):
            del options[name]
        return {"method": FUNCTION, **options, "max_bins": max_bins}

    def bag_sizes(self, labels: NDArray[np.int8], weights: NDArray[np.float64] | None) -> BagSizes:
        if not self.has_bags:
            return NO_BAGS
        n_pos, n_unl, _ = label_counts(labels, weights)  # negative rows are in every bag
        return bag_sizes(self.bag_ratio, n_pos, n_unl, _AUTO_BAGS)

    def for_core(
        self,
        *,
        prior: float,
        bags: BagSizes,
        n_features: int,
        seed: int,
        n_rounds: int,
        early_stopping_rounds: int = 0,
    ) -> _core.BoostedTreesOptions:
        """Return the options of the core for some rounds; `prior` is the one among the unlabelled rows."""
        return _core.BoostedTreesOptions(
            loss=self.loss,
            gamma=self.gamma,
            prior=prior,
            n_rounds=min(n_rounds, MANY),
            learning_rate=self.learning_rate,
            max_leaves=self.max_leaves,
            max_depth=-1 if self.max_depth is None else self.max_depth,
            min_leaf_rows=float(self.min_leaf_rows or _LEAF_ROWS),
            min_leaf_hessian=self.min_leaf_hessian,
            lam=self.lam,
            subsample_unl=self.subsample_unl,
            max_features=number_of_features(self.max_features, n_features),
            n_bags=self.n_bags if self.has_bags else 0,
            repeats_pos=bags.repeats_pos,
            bag_unl=bags.draws_unl,
            replace_unl=bags.replace_unl,
            seed=seed,
            early_stopping_rounds=early_stopping_rounds,
        )

    def check_group_counts(self, groups: tuple[int, int, int], weight: float | None) -> None:
        """Raise ValueError unless the loss finds the groups of rows that it needs; `weight` is the sum of all weights.

        `groups` are the numbers of positive, unlabelled and negative rows of positive weight.
        """
        n_pos, n_unl, n_neg = groups
        counts = row_counts(groups)
        if weight is not None:
            counts += " of positive weight"
            if weight < _LEAST_WEIGHT:
                raise ValueError(f"sample_weight must have a sum of at least {_LEAST_WEIGHT:g}, got {weight:g}")
        if not LOSSES[self.loss].takes_negatives:
            if n_neg:
                raise ValueError(
                    f"y must hold +1 and 0 alone for loss={self.loss!r}, got {counts}; loss='pnu_auc' takes labelled "
                    f"negatives"
                )
            if not (n_pos and n_unl):
                raise ValueError(f"y must hold +1 and 0 for loss={self.loss!r}, got {counts}")
        elif (n_pos > 0) + (n_unl > 0) + (n_neg > 0) < 2:
            raise ValueError(f"y must hold at least two of +1, 0 and -1 for {FUNCTION}, got {counts}")
        if self.has_bags and not (n_pos and n_unl):
            raise ValueError(f"y must hold +1 and 0 for n_bags > 1: bags differ in their unlabelled rows, got {counts}")
