"""What the classifiers of AUC by squared losses do beside calling their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.baselines.ls_auc import fit_ls_auc
from fastpu.common._params import check_float
from fastpu.estimators._base import FastpuClassifier
from fastpu.estimators._prior import check_prior_name
from fastpu.estimators._risk import WithPrior

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


class SAMULT(FastpuClassifier):
    """The classifier of `fit_samult`.

    It learns from labels -1, 0 and 1. The smaller of two labels is negative: without unlabelled rows only the risk of
    the labelled ones is left, and the fit is that of `fastpu.baselines.fit_ls_auc`.
    """

    def _other_label(self, classes: NDArray[Any]) -> int:  # noqa: ARG002 - always negative
        return -1

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        if (codes == 0).any():
            return super()._call(rows, codes, arguments)
        check_float("gamma", arguments.pop("gamma"), low=0, high=1)
        return {"model_": fit_ls_auc(rows, codes, **arguments)}


class PNUAUC(WithPrior):
    """The classifier of `fit_pnu_auc`.

    The smaller of two labels is unlabelled for eta = 1 and negative otherwise. For eta = 0 the prior has no influence
    and is not estimated, and `prior_` is None.
    """

    eta: float

    def _other_label(self, classes: NDArray[Any]) -> int:  # noqa: ARG002 - eta alone decides
        return 0 if self.eta == 1 else -1

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        if self.eta != 0 or not isinstance(self.prior, str):
            return super()._arguments(rows, codes, data)
        check_prior_name(self.prior)
        return {**super(WithPrior, self)._arguments(rows, codes, data), "prior": 0.5}  # without any influence

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        fitted = super()._call(rows, codes, arguments)
        return {**fitted, "prior_": None} if self.eta == 0 else fitted
