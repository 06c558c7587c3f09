"""The loss of trees, and the class prior that some losses need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastpu.common._params import check_choice
from fastpu.common._text import describe
from fastpu.model._prior import check_scenario, take_prior_in


@dataclass(frozen=True)
class LossAndPrior:
    """A loss with its prior, None if it needs none, and the scenario that the prior belongs to."""

    loss: str
    prior: float | None
    scenario: str


def check_loss_and_prior(
    loss: object, prior: object, scenario: object, *, losses: Sequence[str], with_prior: Sequence[str]
) -> LossAndPrior:
    """Check that the loss is one of `losses`, and that a prior is given if and only if the loss is in `with_prior`."""
    name, drawn_as = check_choice("loss", loss, losses), check_scenario(scenario)
    if name in with_prior:
        if prior is None:
            raise ValueError(
                f"prior must be given for loss={name!r}: the share of positives among the unlabelled rows, for example "
                f"by fastpu.priors.bbe; got None"
            )
        return LossAndPrior(name, *take_prior_in(drawn_as, prior))
    if prior is not None:
        raise ValueError(f"prior must be None for loss={name!r}, which needs none, got {describe(prior)}")
    if drawn_as != "case_control":
        raise ValueError(f"scenario must be 'case_control' for loss={name!r}, which has no prior, got {drawn_as!r}")
    return LossAndPrior(name, None, drawn_as)
