"""What the classifiers of PUAL and its relatives do beside calling their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.estimators._base import FastpuClassifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray


class WithLandmarks(FastpuClassifier):
    """A classifier whose kernel may be approximated, where it is not linear.

    Parameters
    ----------
    n_components : int, optional
        Landmarks of Nystroem's method. The linear kernel needs no approximation, and is fitted without one.
    """

    C_pos: float
    C_unl: float
    lam: float
    sigma: float | str
    kernel: str | Callable[..., object]

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(rows, codes, data)
        return {**arguments, "n_components": None} if self.kernel == "linear" else arguments
