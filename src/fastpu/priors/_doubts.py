"""Reasons against trusting an estimate of the prior."""

from __future__ import annotations

from fastpu.model._prior import PriorEstimate


def doubts(estimate: PriorEstimate, remedy: str) -> str:
    """Return reasons against trusting an estimate, with a remedy, or ""."""
    if estimate.allowed is None:
        return ""
    low, high = estimate.allowed
    if not low <= estimate.value <= high:
        return (
            f"the estimate {estimate.value:.2g} lies outside of the range {low:.2g} to {high:.2g} that held-out scores "
            f"allow; {remedy}"
        )
    if estimate.only_upper_bound:
        return (
            f"the data give only an upper bound of {high:.2g}, not an estimate: the scores allow all shares from "
            f"{low:.2g} to {high:.2g}, and {estimate.value:.2g} is one of them. Positive and negative rows overlap, or "
            f"there are few of them; {remedy}"
        )
    return ""
