"""The values of C of one call of a large-margin method."""

from __future__ import annotations

from fastpu.common._params import check_float, entries_of


def check_costs(C: object) -> list[float]:
    """Return the one value of C, or the values of a sequence of them."""
    return [check_float(name, cost, low=0, open_low=True) for name, cost in entries_of("C", C).items()]
