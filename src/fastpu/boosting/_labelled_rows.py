"""Rows with their labels and weights, as boosting learns from them or is judged by them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastpu.data._clusters import as_numbers
from fastpu.data._matrix import Matrix
from fastpu.data.binned_features import BinnedFeatures

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11


@dataclass(frozen=True)
class LabelledRows:
    """Training rows, or rows of an evaluation set; `clusters` are the numbers of their groups, if they have some."""

    features: Matrix | BinnedFeatures
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    clusters: NDArray[np.int32] | None = None

    def take(self, rows: NDArray[np.intp]) -> Self:
        weights = None if self.weights is None else self.weights[rows]
        clusters = None if self.clusters is None else as_numbers(self.clusters[rows])
        return replace(self, features=self.features[rows], labels=self.labels[rows], weights=weights, clusters=clusters)


@dataclass(frozen=True)
class LabelledBins(LabelledRows):
    """Such rows that are binned, as boosted trees learn from them."""

    features: BinnedFeatures


def row_counts(groups: tuple[int, int, int]) -> str:
    """Return the numbers of positive, unlabelled and negative rows in words."""
    n_pos, n_unl, n_neg = groups
    return f"{n_pos} positive (+1), {n_unl} unlabelled (0) and {n_neg} negative (-1) rows"
