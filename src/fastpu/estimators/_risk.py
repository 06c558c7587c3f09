"""What the classifiers of risks estimated without negatives do beside calling their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.estimators._base import FastpuClassifier
from fastpu.estimators._prior import estimate_prior
from fastpu.model._prior import check_prior
from fastpu.priors import PriorEstimate

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


class WithPrior(FastpuClassifier):
    """A classifier whose function needs a prior, which is estimated if none is given.

    Parameters
    ----------
    prior : float, PriorEstimate or "bbe", default "bbe"
        P(Y = 1) among the unlabelled rows, better known than estimated. "bbe" has it estimated by `fastpu.priors.bbe`
        in every fit, whatever `scenario` is; with sample weights from rows drawn in proportion to these. An
        `EstimateWarning` tells where it is an upper bound only.

    Attributes
    ----------
    prior_ : float
        The prior that was used; of an estimate the share among the unlabelled rows.
    prior_estimate_ : PriorEstimate or None
        What the estimate says of itself (`allowed`, `only_upper_bound`); None for a prior that was given as a number.
    """

    prior: float | str = "bbe"
    prior_: float
    prior_estimate_: PriorEstimate | None

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, with a PriorEstimate as `prior` if it is to be estimated."""
        arguments = super()._arguments(rows, codes, data)
        if not isinstance(self.prior, str):
            check_prior(self.prior)
            # An estimate is of the unlabelled rows, whatever the scenario.
            return arguments | ({"scenario": "case_control"} if isinstance(self.prior, PriorEstimate) else {})
        estimate = estimate_prior(
            self.prior,
            rows,
            codes,
            data["sample_weight"],
            random_state=arguments["random_state"],
            n_threads=arguments["n_threads"],
        )
        # The estimate is of the unlabelled rows, whatever the scenario.
        return {**arguments, "prior": estimate, "scenario": "case_control"}

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        prior = arguments["prior"]
        estimate = prior if isinstance(prior, PriorEstimate) else None
        value = prior if estimate is None else estimate.value
        fitted = super()._call(rows, codes, {**arguments, "prior": value})
        return {**fitted, "prior_": float(value), "prior_estimate_": estimate}


class InEpochs(WithPrior):
    """A classifier whose function always trains in epochs."""

    _rounds = "n_epochs"
