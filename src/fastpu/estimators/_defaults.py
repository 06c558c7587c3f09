"""What the classifiers do whose functions need a cost or a prior, or refuse an option that others need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.estimators._base import FastpuClassifier
from fastpu.estimators._prior import estimate_prior
from fastpu.model._prior import check_prior
from fastpu.priors import PriorEstimate

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
