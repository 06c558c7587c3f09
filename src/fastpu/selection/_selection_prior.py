"""The prior that `select` is passed: for a criterion that needs one, and for the fits that take one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._sharing import bound_arguments
from fastpu.data._validate import label_counts
from fastpu.model._prior import needs_prior, prior_among_unlabeled
from fastpu.selection._grid import FitSignature, Grid


@dataclass(frozen=True)
class SelectionPrior:
    """A prior and the scenario that it belongs to, which is "case_control" for an estimate, whatever is passed."""

    value: float
    scenario: str

    def among_unlabelled(self, labels: NDArray[np.int8]) -> float:
        """Return the prior among the unlabelled rows, of rows with these labels."""
        n_pos, n_unl, n_neg = label_counts(labels)
        return prior_among_unlabeled(self.value, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg, scenario=self.scenario)


@dataclass(frozen=True)
class _WithPrior:
    """A fit that is prior_arguments a prior, and its scenario, where it needs one and has none of its own."""

    fit: Callable[..., Any]
    prior: Mapping[str, Any]

    def __call__(self, X: object, y: object, **arguments: Any) -> Any:
        return self.fit(X, y, **{**(self.prior if self.applies(arguments) else {}), **arguments})

    def applies(self, arguments: Mapping[str, Any]) -> bool:
        fixed = {**bound_arguments(self.fit), **arguments}
        return "prior" not in fixed and needs_prior(self.fit, fixed)


def fit_with_prior(
    fit: Callable[..., Any],
    arguments: FitSignature,
    fixed: Mapping[str, Any],
    grid: Grid,
    labels: NDArray[np.int8],
    prior: SelectionPrior,
) -> Callable[..., Any]:
    """Return `fit` with the prior at the points of the grid that need one, or `fit` itself if none does."""
    if not arguments.takes("prior"):
        return fit
    prior_arguments: dict[str, Any] = {"prior": prior.value}
    if arguments.takes("scenario"):
        prior_arguments["scenario"] = prior.scenario
    elif (labels == 0).any():
        prior_arguments["prior"] = prior.among_unlabelled(labels)
    prepared = _WithPrior(fit, prior_arguments)
    return prepared if any(prepared.applies({**fixed, **point}) for point, _ in grid.points()) else fit
