"""What the classifiers of support vector machines do beside calling their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.estimators._base import FastpuClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

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
