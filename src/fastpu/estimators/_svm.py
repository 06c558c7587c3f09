"""What the classifiers of support vector machines do beside calling their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.data._validate import check_matrix
from fastpu.estimators._base import FastpuClassifier
from fastpu.estimators._pu_classifier import Labels
from fastpu.svm.svm import fit_one_class_svm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray


class WithCosts(FastpuClassifier):
    """A classifier whose function needs two costs, which balance the groups if none are given.

    Parameters
    ----------
    C_pos, C_unl : float, optional
        Costs of a labelled positive and of an unlabelled row. By default n / (2 n_pos) and n / (2 n_unl), of weights
        where there are some, so that both groups weigh the same.
    """

    C_pos: float | None = None
    C_unl: float | None = None

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments, weights = super()._arguments(rows, codes, data), data["sample_weight"]
        mass = np.ones(codes.size) if weights is None else weights
        for name, code in (("C_pos", 1), ("C_unl", 0)):
            if arguments[name] is None:
                of_group = float(mass[codes == code].sum())
                # Without any row of the group the fit function says what is missing.
                arguments[name] = float(mass.sum()) / (2 * of_group) if of_group else 1.0
        return arguments


class OneClassSVM(FastpuClassifier):
    """The classifier of `fit_one_class_svm`.

    Of two labels the larger one is the class, of -1, 0 and 1 it is 1. Without labels, or if all are 1, all rows are of
    the class, and `predict` returns 1 and -1; if all are True, it returns True and False.
    """

    kernel: str | Callable[..., object]

    def _read_labels(self, y: Any, n_rows: int) -> tuple[Labels, NDArray[np.int8]]:
        if y is None:
            return Labels(np.array([-1, 1]), 0, coded=True), np.ones(n_rows, dtype=np.int8)
        return super()._read_labels(y, n_rows)

    def _labels_of_one_value(self, value: Any) -> Labels:
        if value != 1:
            return super()._labels_of_one_value(value)
        is_bool = isinstance(value, bool)
        return Labels(np.array([False, True] if is_bool else [-1, 1]), 0, coded=not is_bool)

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        if (codes != 1).any():
            rows, arguments = self._positive(rows, codes, arguments)
        return {"model_": fit_one_class_svm(rows, **arguments)}

    def _positive(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the rows of the class, and the arguments that go with them."""
        if self.kernel == "precomputed":
            raise ValueError("y must be None for kernel='precomputed': pass the kernel matrix of the rows of the class")
        matrix = check_matrix(rows)  # NaN in rows that are left out is refused as well
        kept = np.flatnonzero(codes == 1)
        weights = arguments["sample_weight"]
        arguments = {**arguments, "sample_weight": None if weights is None else weights[kept]}
        return matrix[kept].table(), arguments
