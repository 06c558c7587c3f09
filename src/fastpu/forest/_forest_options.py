"""The arguments that say how the trees of a forest are grown, and the options of the core that they become."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._bags import AutoBags, BagRatio, BagSizes, bag_sizes, check_bag_ratio
from fastpu.common._frozen import set_fields
from fastpu.common._params import MANY, check_choice, check_int
from fastpu.data._validate import label_counts
from fastpu.model._prior import PriorEstimate, prior_by_labels
from fastpu.tree._binning import check_max_bins
from fastpu.tree._loss_and_prior import check_loss_and_prior
from fastpu.tree._max_features import MaxFeatures, check_max_features, number_of_features

FUNCTION = "fit_forest"
LOSSES = ("gini", "nnpu", "upu")
LOSSES_WITH_PRIOR = ("nnpu", "upu")
SPLITTERS = ("random", "best")
AUTO_BAGS = AutoBags(ratio=2.0, least_unl=(10, 100, 500, 2000), least_pos=10)


@dataclass(frozen=True, kw_only=True)
class ForestOptions:
    """The options of `fastpu.fit_forest`, which says what each of them means. They are checked when they are set."""

    n_trees: int
    loss: str
    prior: float | PriorEstimate | None
    scenario: str
    splitter: str
    bag_ratio: BagRatio
    max_features: MaxFeatures
    min_leaf_rows: int
    max_depth: int | None
    max_leaves: int | None
    max_bins: int | None

    def __post_init__(self) -> None:
        checked = check_loss_and_prior(
            self.loss, self.prior, self.scenario, losses=LOSSES, with_prior=LOSSES_WITH_PRIOR
        )
        set_fields(
            self,
            n_trees=check_int("n_trees", self.n_trees, low=1),
            loss=checked.loss,
            prior=checked.prior,
            scenario=checked.scenario,
            splitter=check_choice("splitter", self.splitter, SPLITTERS),
            bag_ratio=check_bag_ratio(self.bag_ratio),
            max_features=check_max_features(self.max_features, ("auto", "sqrt", "all")),
            min_leaf_rows=min(check_int("min_leaf_rows", self.min_leaf_rows, low=1), MANY),
            max_depth=None if self.max_depth is None else min(check_int("max_depth", self.max_depth, low=1), MANY),
            max_leaves=None if self.max_leaves is None else min(check_int("max_leaves", self.max_leaves, low=2), MANY),
            max_bins=check_max_bins(self.max_bins),
        )

    def params(self, max_bins: int) -> dict[str, object]:
        """Return the `params` that all forests have in common that can go on from each other."""
        options = asdict(self)
        del options["n_trees"]
        return {"method": FUNCTION, **options, "max_bins": max_bins}

    def prior_among_unlabelled(self, labels: NDArray[np.int8], weights: NDArray[np.float64] | None) -> float:
        """Return the share of positives among the unlabelled rows; 0.5, which nothing reads, if there is no prior."""
        return prior_by_labels(self.prior, self.scenario, labels, weights)

    def bag_sizes(self, labels: NDArray[np.int8], weights: NDArray[np.float64] | None) -> BagSizes:
        n_pos, n_unl, _ = label_counts(labels, weights)
        return bag_sizes(self.bag_ratio, n_pos, n_unl, AUTO_BAGS)

    def for_core(
        self,
        *,
        prior: float,
        bags: BagSizes,
        n_features: int,
        is_sparse: bool,
        seed: int,
        first_tree: int,
        n_trees: int,
        first_set: int = 0,
    ) -> _core.ForestOptions:
        """Return the options of the core for some trees, from `first_tree` on, of a forest of these rows.

        `prior` is the one among the unlabelled rows, and `first_set` how many sets of categories earlier trees have.
        """
        return _core.ForestOptions(
            loss=self.loss,
            prior=prior,
            random_cuts=self.splitter == "random",
            n_trees=min(n_trees, MANY),
            first_tree=first_tree,
            first_set=first_set,
            seed=seed,
            repeats_pos=bags.repeats_pos,
            bag_unl=bags.draws_unl,
            replace_unl=bags.replace_unl,
            max_features=number_of_features(self.max_features, n_features, is_sparse=is_sparse),
            min_leaf_rows=self.min_leaf_rows,
            max_depth=-1 if self.max_depth is None else self.max_depth,
            max_leaves=0 if self.max_leaves is None else self.max_leaves,
        )
