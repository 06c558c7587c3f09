"""Rows of a method that grows trees or stumps, as binned features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import check_choice, check_int
from fastpu.common._types import MatrixLike
from fastpu.data._categories import ColumnCategories
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import BinnedFeatures, binned

MAX_BINS = 255  # the default


def check_max_bins(max_bins: object) -> int | None:
    """Return the most cuts of a feature, or None for the default."""
    return None if max_bins is None else check_int("max_bins", max_bins, low=1, high=_core.MOST_CUTS)


def check_max_bins_or_word(max_bins: object, words: tuple[str, ...]) -> int | str | None:
    """Return the most cuts of a feature, None for the default, or one of the words that stand for another search."""
    if isinstance(max_bins, str):
        return check_choice("max_bins", max_bins, words, f", None or an integer from 1 to {_core.MOST_CUTS}")
    return check_max_bins(max_bins)


def read_features(X: MatrixLike, categories: ColumnCategories | None = None) -> Matrix | BinnedFeatures:
    """Return X, checked; a frame is read with these categories, or with those that it has."""
    if isinstance(X, BinnedFeatures):
        return X
    return check_matrix(X, finite=False, takes_categories=True, categories=categories)


def check_bins_of(features: Matrix | BinnedFeatures, max_bins: int | str | None) -> None:
    """Raise ValueError if `max_bins` is given for features that were binned with another number of cuts."""
    if isinstance(features, BinnedFeatures) and max_bins is not None and max_bins != features.max_bins:
        raise ValueError(
            f"max_bins must be None (or {features.max_bins}, as in X) where X is BinnedFeatures, got {max_bins!r}"
        )


def bin_features_of(
    features: Matrix | BinnedFeatures, max_bins: int | None, weights: NDArray[np.float64] | None, n_threads: int
) -> BinnedFeatures:
    """Return the features binned, each with at most 255 cuts by default; binned features are returned as they are."""
    if isinstance(features, BinnedFeatures):
        return features
    return binned(features, max_bins or MAX_BINS, weights, n_threads)
