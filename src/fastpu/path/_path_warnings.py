"""The warnings about a path that ends early or is trivial."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from fastpu.common._warn import set_within, warn
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.path.path_model import SVMPath

_forgives_precision: ContextVar[bool] = ContextVar("fastpu_forgives_precision", default=False)


@contextmanager
def precision_forgiven() -> Iterator[None]:
    """Suppress, in this thread, the warning of a path that ends because rounding errors hide the margin."""
    with set_within(_forgives_precision, True):
        yield


def warn_of_path(function: str, path: SVMPath) -> None:
    status, knots = path.status, path.knots
    if status == "trivial":
        heavier = {1: "positive", -1: "negative or unlabelled", 0: "other"}[path.heavier]
        warn(
            f"{function}: w = 0 is optimal for every lam, and all rows are called the same. The weighted mean of the "
            f"class with the smaller sum of costs lies in the convex hull of the {heavier} rows; change the costs or "
            f"the kernel",
            DegenerateModelWarning,
        )
    reasons = {
        "max_events": "the path had max_events events; raise max_events or lam_min",
        "stalled": "rounding errors hide which rows are on the margin; raise lam_min or scale X",
        "precision": "lam is so small that float64 does not show the margin; raise lam_min, or scale X",
        "indefinite": "the kernel is not positive semidefinite; use another kernel",
    }
    if status in reasons and not (status == "precision" and _forgives_precision.get()):
        warn(
            f"{function}: the path ends at lam = {knots[-1]:.6g}, having begun at {knots[0]:.6g}: {reasons[status]}. "
            f"The largest KKT violation is {path.violation:.3g}",
            ConvergenceWarning,
        )
