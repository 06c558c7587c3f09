"""The training rows of a forest in memory: checked, binned, and recognised by a fit that goes on from a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, VectorLike
from fastpu.data._category_order import in_order
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._training_rows import warn_of_balancing
from fastpu.data._validate import check_labels, check_sample_weight, well_scaled
from fastpu.data.binned_features import BinnedFeatures
from fastpu.forest._forest_options import FUNCTION, ForestOptions
from fastpu.tree._binning import bin_features_of, check_bins_of, read_features
from fastpu.tree._fingerprint import fingerprint_of
from fastpu.tree._init_model import check_same_arguments, check_same_rows
from fastpu.tree._tree_rows import TreeRowsInMemory
from fastpu.tree.tree_ensemble import TreeEnsemble


def read_forest_rows(
    X: MatrixLike,
    y: LabelsLike,
    sample_weight: VectorLike | None,
    groups: GroupsLike | None,
    options: ForestOptions,
    init_model: TreeEnsemble | None,
    n_threads: int,
) -> TreeRowsInMemory:
    """Return the rows, checked and binned; raise ValueError unless they are those of `init_model`, if it is given."""
    table = read_features(X, None if init_model is None else init_model.categories)
    check_bins_of(table, options.max_bins)
    unscaled_weights = check_sample_weight(sample_weight, table.n_rows)
    warn_of_other_order(X, y=y, sample_weight=sample_weight, groups=groups)
    clusters = cluster_numbers(groups, table.n_rows)
    labels = check_labels(y, table.n_rows, pu_only=FUNCTION)
    weights = check_chances(labels, unscaled_weights)
    prior = options.prior_among_unlabelled(labels, weights)

    if not isinstance(table, BinnedFeatures):
        table = in_order(table, labels, weights, are_relative=True, is_known=init_model is not None)
    is_present = None if weights is None else (weights > 0).astype(np.float64)  # weights do not move the cuts
    features = bin_features_of(table, options.max_bins, is_present, n_threads)
    fingerprint = fingerprint_of(features, labels, unscaled_weights, n_threads, clusters)
    check_same_arguments(init_model, options.params(features.max_bins), features, labels.size)
    check_same_rows(init_model, fingerprint)
    return TreeRowsInMemory(labels, weights, features, prior, fingerprint, clusters, n_threads)


def check_chances(labels: NDArray[np.int8], weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return the weights of a forest, which are chances to be drawn, in a scale whose sums do not overflow."""
    if weights is None:
        return None
    weights = well_scaled(weights)
    for label, what in ((1, "positive row (+1)"), (0, "unlabelled row (0)")):
        if not (weights[labels == label] > 0).any():
            raise ValueError(f"sample_weight must be positive for at least one {what}, got zeros only")
    warn_of_balancing(FUNCTION, labels, weights)
    return weights
