"""Rows with their labels and weights, as boosting learns from them or is judged by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.data._clusters import as_numbers
from fastpu.data._matrix import Matrix
from fastpu.data.binned_features import BinnedFeatures


@dataclass(frozen=True)
class LabelledRows:
    """Training rows, or rows of an evaluation set; `clusters` are the numbers of their groups, if they have some."""

    features: Matrix | BinnedFeatures
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    clusters: NDArray[np.int32] | None = None

    def take(self, rows: NDArray[np.intp]) -> LabelledRows:
        weights = None if self.weights is None else self.weights[rows]
        clusters = None if self.clusters is None else as_numbers(self.clusters[rows])
        return LabelledRows(self.features[rows], self.labels[rows], weights, clusters)


def row_counts(groups: tuple[int, int, int]) -> str:
    """Return the numbers of positive, unlabelled and negative rows in words."""
    n_pos, n_unl, n_neg = groups
    return f"{n_pos} positive (+1), {n_unl} unlabelled (0) and {n_neg} negative (-1) rows"
