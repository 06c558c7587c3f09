"""Whole numbers that float64 cannot hold: next to each other they would become the same number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastpu.common._text import short

if TYPE_CHECKING:
    from numpy.typing import NDArray


_EXACT = 2**53  # all whole numbers up to this size are numbers of float64


def first_rounded(values: NDArray[Any]) -> int | None:
    """Return the first position, in C order, of a whole number that is not exact in float64, or None."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return None
    if values.max() <= _EXACT and (values.dtype.kind == "u" or values.min() >= -_EXACT):
        return None
    floats = values.astype(np.float64)
    with np.errstate(invalid="ignore"):  # what is rounded up to the end of the type does not come back
        is_rounded = (floats.astype(values.dtype) != values) | (floats > np.iinfo(values.dtype).max - 1)
    return int(np.argmax(is_rounded)) if is_rounded.any() else None


def check_whole_numbers(values: NDArray[Any], name: str, where: str) -> None:
    """Raise ValueError, saying where the values are, if one of them is not exact in float64."""
    if (position := first_rounded(values)) is not None:
        refuse_rounded(values.ravel()[position], name, where)


def refuse_rounded(value: Any, name: str, where: str) -> NoReturn:
    """Raise ValueError for a whole number that is not exact in float64."""
    raise ValueError(
        f"{name} must hold whole numbers that float64 can hold (all up to 2**53 in size), got {short(int(value))} in "
        f"{where}: rounded, others next to it would be the same; make strings of numbers that are names "
        f"(astype(str) in a frame makes categories of them), or use astype(float) if rounding does no harm"
    )
