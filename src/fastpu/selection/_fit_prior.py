"""The prior of a criterion as that of the fits: at which points of a grid a fit is given it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastpu.data._validate import label_counts
from fastpu.model._prior import needs_prior, prior_among_unlabeled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fastpu.selection._criteria import Criterion
    from fastpu.selection._grid import Arguments, Grid


@dataclass(frozen=True)
class _WithPrior:
    """A fit that is given a prior, and its scenario, where it needs one and has none of its own."""

    fit: Callable[..., Any]
    prior: Mapping[str, Any]

    def __call__(self, X: object, y: object, **arguments: Any) -> Any:
        return self.fit(X, y, **{**(self.prior if self.applies(arguments) else {}), **arguments})

    def applies(self, arguments: Mapping[str, Any]) -> bool:
        return "prior" not in arguments and not _is_bound(self.fit) and needs_prior(self.fit, arguments)


def _is_bound(fit: Any) -> bool:
    """Return whether a partial function has a prior already."""
    while isinstance(fit, functools.partial):
        if "prior" in fit.keywords:
            return True
        fit = fit.func
    return False


def with_prior(
    fit: Callable[..., Any],
    arguments: Arguments,
    given: Mapping[str, Any],
    grids: Sequence[Grid],
    labels: NDArray[np.int8],
    criterion: Criterion,
) -> Callable[..., Any]:
    """Return `fit` with the prior of the criterion at the points of the grid that need one, or `fit` if none does."""
    if arguments.takes("prior"):
        prior: dict[str, Any] = {"prior": criterion.prior}
        n_pos, n_unl, n_neg = label_counts(labels)
        if arguments.takes("scenario"):
            prior["scenario"] = criterion.scenario
        elif n_unl:
            prior["prior"] = prior_among_unlabeled(
                criterion.prior, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg, scenario=criterion.scenario
            )
        given_prior = _WithPrior(fit, prior)
        if any(given_prior.applies({**given, **point}) for part in grids for point in part.points()):
            return given_prior
    if not criterion.takes_prior:
        raise ValueError(
            f"prior must be None where neither scoring nor fit needs it, got {criterion.prior:g} for scoring="
            f"{criterion.name!r} and {arguments.function}"
        )
    return fit
