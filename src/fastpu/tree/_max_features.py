"""How many features are tried at each node of a tree, or for each tree."""

from __future__ import annotations

import math
import numbers
from typing import TypeAlias

from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._text import describe

#: "auto", "sqrt", "all", a number of features, or a share of them.
MaxFeatures: TypeAlias = str | int | float

_WIDE = 100  # of more dense features than these more are needed than their square root: on embeddings each tells little
_WIDE_SHARE = 0.2


def check_max_features(value: object, words: tuple[str, ...]) -> MaxFeatures:
    """Return one of the words, a number of features >= 1, or a share of them in (0, 1]."""
    if isinstance(value, str):
        return check_choice("max_features", value, words)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return check_float("max_features", value, low=0, high=1, open_low=True)
    try:
        return min(check_int("max_features", value, low=1), MANY)
    except TypeError as error:
        raise TypeError(
            f"max_features must be {', '.join(map(repr, words))}, a number of features or a share of them in (0, 1], "
            f"got {describe(value)}"
        ) from error


def number_of_features(max_features: MaxFeatures, n_features: int, *, is_sparse: bool = False) -> int:
    """Return how many of `n_features` are tried."""
    if max_features == "auto":
        max_features = _WIDE_SHARE if n_features > _WIDE and not is_sparse else "sqrt"
    if max_features == "all":
        return n_features
    if max_features == "sqrt":
        return math.isqrt(n_features)
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    return min(int(max_features), n_features)
