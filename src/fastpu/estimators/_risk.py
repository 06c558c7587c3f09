"""What the classifiers of risks estimated without negatives do beside calling their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.estimators._arguments import with_prior, with_prior_attributes
from fastpu.estimators._base import FastpuClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from fastpu.priors import PriorEstimate

__all__ = ["InEpochs", "WithPrior"]


class WithPrior(FastpuClassifier):
    """A classifier whose function needs a prior, which is estimated if none is given.

    Parameters
    ----------
    prior : float or {"bbe", "km2", "pen_l1", "tice"}, default "bbe"
        P(Y = 1) among the unlabelled rows, better known than estimated. A name has it estimated by that function of
        `fastpu.priors` in every fit, whatever `scenario` is; with sample weights from rows drawn in proportion to
        these. An `EstimateWarning` tells where it is an upper bound only.

    Attributes
    ----------
    prior_ : float
        The prior that was used; of an estimate the share among the unlabelled rows.
    prior_estimate_ : PriorEstimate or None
        What the estimate says of itself (`allowed`, `only_upper_bound`); None for a prior that was given.
    """

    prior: float | str = "bbe"
    prior_: float
    prior_estimate_: PriorEstimate | None

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        return with_prior(super()._arguments(rows, codes, data), rows, codes, data["sample_weight"])

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        call = super()._call
        return with_prior_attributes(lambda given: call(rows, codes, given), arguments)


class InEpochs(WithPrior):
    """A classifier whose function always trains in epochs."""

    _rounds = "n_epochs"
