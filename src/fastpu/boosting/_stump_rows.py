"""The training rows of boosted stumps: read and checked, and binned at the thresholds that are searched."""

from __future__ import annotations

import numpy as np

from fastpu import _core
from fastpu.boosting._labelled_rows import LabelledRows, row_counts
from fastpu.boosting._stump_options import StumpOptions
from fastpu.common._params import MANY
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, VectorLike
from fastpu.data._categories import category_flags
from fastpu.data._category_order import in_order
from fastpu.data._clusters import cluster_numbers
from fastpu.data._matrix import Matrix
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._training_rows import warn_of_balancing
from fastpu.data._validate import check_labels, check_sample_weight, label_counts
from fastpu.data.binned_features import BinnedFeatures, binned
from fastpu.model._threshold import GROUP
from fastpu.tree._binning import check_bins_of, read_features

#: With max_bins=None every threshold of a feature is searched that has at most so many distinct values, ...
MOST_DISTINCT = 20_000
#: ... and so many quantiles of a feature that has more.
N_QUANTILES = 255


def read_rows(
    X: MatrixLike, y: LabelsLike, sample_weight: VectorLike | None, groups: GroupsLike | None, options: StumpOptions
) -> LabelledRows:
    """Return the rows of a fit, checked. Rows that the loss does not read have the weight 0, or are left out."""
    features = read_features(X)
    check_bins_of(features, options.max_bins)
    warn_of_other_order(X, y=y, sample_weight=sample_weight, groups=groups)
    labels = check_labels(y, features.n_rows)
    weights = check_sample_weight(sample_weight, features.n_rows)
    clusters = cluster_numbers(groups, features.n_rows)
    check_group_counts(options, label_counts(labels, weights), is_weighted=weights is not None)
    warn_of_balancing(options.function, labels, weights)
    unused = options.unused_label
    if not isinstance(features, BinnedFeatures):
        features = in_order(features, labels, weights, unused=unused)
    if unused is not None and (labels == unused).any():  # with weight 0 their values give no thresholds either
        weights = np.where(labels == unused, 0.0, 1.0 if weights is None else weights)
    rows = LabelledRows(features, labels, weights, clusters)
    if options.leaves_out_unlabeled and isinstance(features, Matrix) and not labels.all():
        return rows.take(np.flatnonzero(labels))
    return rows


def check_group_counts(options: StumpOptions, sizes: tuple[int, int, int], *, is_weighted: bool) -> None:
    """Raise ValueError unless there are the groups of rows that the function needs, of positive weight."""
    n_pos, n_unl, n_neg = sizes
    counts = row_counts(sizes) + (" of positive weight" if is_weighted else "")
    if (n_pos > 0) + (n_unl > 0) + (n_neg > 0) < 2:
        raise ValueError(f"y must hold at least two of +1, 0 and -1 for {options.function}, got {counts}")
    if options.unused_label is None:
        return
    needed = [label for label in GROUP if label != options.unused_label]
    if not all(size for label, size in zip((1, 0, -1), sizes, strict=True) if label in needed):
        groups = " and ".join(GROUP[label] for label in needed)
        only = f" with gamma = {options.gamma:g}, which reads no others" if "gamma" in options.own_params else ""
        raise ValueError(f"y must hold {groups} rows for {options.function}{only}, got {counts}")


def bin_rows(rows: LabelledRows, options: StumpOptions) -> _core.BinnedFeatures | _core.SearchedFeatures:
    """Return the rows binned at the thresholds that are searched."""
    features, max_bins = rows.features, options.max_bins
    if isinstance(features, BinnedFeatures):
        return features._native
    if isinstance(max_bins, int):
        return binned(features, max_bins, rows.weights, options.threads)._native
    return _core.bin_at_every_threshold(
        features,
        rows.weights,
        category_flags(features.categories, features.n_features),
        most_distinct=MOST_DISTINCT if max_bins is None else MANY,
        n_quantiles=N_QUANTILES,
        n_threads=options.threads,
    )
