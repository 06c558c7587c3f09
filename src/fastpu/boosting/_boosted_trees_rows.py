"""The training rows of boosted trees in memory: checked, binned, and recognised by a fit that goes on from a model."""

from __future__ import annotations

from fastpu.boosting._boosted_trees_options import BoostedTreesOptions
from fastpu.boosting._eval_set import check_eval_set
from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, VectorLike
from fastpu.data._category_order import in_order
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._validate import check_labels, check_sample_weight, label_counts
from fastpu.data.binned_features import BinnedFeatures
from fastpu.model._prior import prior_by_labels
from fastpu.tree._binning import bin_features_of, check_bins_of, read_features
from fastpu.tree._fingerprint import fingerprint_of
from fastpu.tree._init_model import check_same_arguments, check_same_rows
from fastpu.tree._tree_rows import TreeRowsInMemory
from fastpu.tree.tree_ensemble import TreeEnsemble


def read_boosted_rows(
    X: MatrixLike,
    y: LabelsLike,
    sample_weight: VectorLike | None,
    groups: GroupsLike | None,
    eval_set: tuple[MatrixLike, LabelsLike] | None,
    options: BoostedTreesOptions,
    init_model: TreeEnsemble | None,
    n_threads: int,
) -> tuple[TreeRowsInMemory, LabelledRows | None]:
    """Return the training rows and those of `eval_set`, checked and binned.

    Raise ValueError unless the training rows are those of `init_model`, if it is given.
    """
    table = read_features(X, None if init_model is None else init_model.categories)
    check_bins_of(table, options.max_bins)
    warn_of_other_order(X, y=y, sample_weight=sample_weight, groups=groups)
    labels = check_labels(y, table.n_rows)
    weights = check_sample_weight(sample_weight, table.n_rows)
    clusters = cluster_numbers(groups, table.n_rows)
    options.check_group_counts(label_counts(labels, weights), None if weights is None else float(weights.sum()))

    if not isinstance(table, BinnedFeatures):
        table = in_order(table, labels, weights, is_known=init_model is not None)
    eval_rows = check_eval_set(eval_set, table)
    features = bin_features_of(table, options.max_bins, weights, n_threads)
    check_same_arguments(init_model, options.params(features.max_bins), features, labels.size)
    check_all_bags(init_model, options.n_bags)
    fingerprint = fingerprint_of(features, labels, weights, n_threads, clusters if options.has_bags else None)
    check_same_rows(init_model, fingerprint)
    prior = prior_by_labels(options.prior, options.scenario, labels, weights)
    return TreeRowsInMemory(labels, weights, features, prior, fingerprint, clusters, n_threads), eval_rows


def check_all_bags(init_model: TreeEnsemble | None, n_bags: int) -> None:
    """Raise ValueError if a callback stopped the fit of the model before its last bag."""
    if init_model is not None and init_model.divisor < n_bags:
        raise ValueError(
            f"init_model must have all of its {n_bags} bags, got a model that a callback stopped after "
            f"{init_model.divisor} of them: it can be used as it is, but to add rounds fit all bags again"
        )
