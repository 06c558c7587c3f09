"""The training rows of the PUAL family: positive and unlabelled ones, their weights and their kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastpu.common._types import LabelsLike, MatrixLike, VectorLike
from fastpu.data._matrix import Matrix
from fastpu.data._training_rows import TrainingRows, open_training_rows
from fastpu.kernels._check_rows import check_training_rows
from fastpu.kernels._kernel import Kernel, resolve_gamma
from fastpu.pual._options import BlsSvmOptions
from fastpu.pual._parameter_points import check_parameter


class PualRows:
    """Training rows with the numbers of positive and unlabelled ones; `numbers` are those of all in the caller's X.

    The `gamma` of `kernel` is a number.
    """

    def __init__(self, rows: TrainingRows, kernel: Kernel, n_threads: int) -> None:
        labels, weights = rows.labels, rows.weights
        self.matrix: Matrix = rows.matrix
        self.kernel = kernel
        self.n_threads = n_threads
        self.pos: NDArray[np.int64] = np.flatnonzero(labels == 1)
        self.unl: NDArray[np.int64] = np.flatnonzero(labels == 0)
        is_unl = labels == 0
        self.weights = weights
        self.numbers: NDArray[np.int64] = np.arange(rows.n_given) if rows.numbers is None else rows.numbers
        self.mass_pos = float(self.weights_of(self.pos).sum())
        self.mass_unl = float(self.weights_of(self.unl).sum())
        #: The weight of each positive as a share of the weight of all positives, in their order.
        self.share_pos: NDArray[np.float64] = self.weights_of(self.pos) / self.mass_pos
        #: The weight of each unlabelled row as a share of the weight of all unlabelled rows; 0 for positives.
        self.share_unl: NDArray[np.float64] = is_unl / self.unl.size
        if weights is not None:
            self.share_unl = np.where(is_unl, weights / float(weights[self.unl].max()), 0.0)
            self.share_unl /= self.share_unl.sum()

    @property
    def n(self) -> int:
        return self.matrix.n_rows

    def weights_of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.ones(rows.size) if self.weights is None else self.weights[rows]


def open_pual_rows(
    X: MatrixLike, y: LabelsLike, options: BlsSvmOptions, sample_weight: VectorLike | None = None
) -> PualRows:
    """Check the rows, labels and weights of a public function."""
    matrix = check_training_rows(X, options.kernel, options.function)
    rows = open_training_rows(matrix, y, sample_weight, options.function, is_relative=False)
    if rows.weights is not None:
        for group, name in ((1, "positive"), (0, "unlabelled")):
            check_parameter(f"the sum of sample_weight over {name} rows", rows.mass(group))
    return PualRows(rows, resolve_gamma(options.kernel, rows.matrix, rows.weights), options.n_threads)
