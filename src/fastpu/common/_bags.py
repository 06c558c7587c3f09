"""How many rows a bag holds: one rule for forests, for bags of boosted trees and for bags of any classifier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fastpu.common._params import check_float
from fastpu.common._text import describe

BagRatio: TypeAlias = float | Literal["auto"] | None

_MOST_OF_UNLABELLED = 0.632  # as a bootstrap: every third bag leaves a row out, so that it has out-of-bag scores
_MOST_BEYOND_RATIO = 0.1  # of the unlabelled rows: where many of them are positive, more do harm


@dataclass(frozen=True)
class AutoBags:
    """What "auto" means for a method.

    Attributes
    ----------
    ratio : float
        Unlabelled rows of a bag for each positive one, where there are enough positive ones.
    least_unl : tuple of int
        Fewest unlabelled rows of a bag: of bag 0, 1, ..., and then from the first again. Beyond `ratio` at most a
        tenth of all is taken.
    least_pos : int
        Fewest positive rows of a bag: of fewer draws each is in it several times, or leaves of some rows could not
        tell them from others.
    few_pos : float
        Most positive rows at which `least_unl` counts.
    """

    ratio: float
    least_unl: tuple[int, ...]
    least_pos: int = 0
    few_pos: float = math.inf


@dataclass(frozen=True)
class BagSizes:
    """The draws for bags.

    Attributes
    ----------
    draws_unl : tuple of int
        Draws of unlabelled rows for bag 0, 1, ..., and then from the first again.
    repeats_pos : int
        How often each draw of a positive row is in the bag.
    replace_unl : bool
        Whether unlabelled rows are drawn with replacement.
    """

    draws_unl: tuple[int, ...]
    repeats_pos: int = 1
    replace_unl: bool = False


def check_bag_ratio(bag_ratio: object) -> BagRatio:
    """Return "auto", the unlabelled rows of a bag for each positive one, or None for a bootstrap."""
    if bag_ratio is None:
        return None
    if isinstance(bag_ratio, str):
        if bag_ratio != "auto":
            raise ValueError(f"bag_ratio must be 'auto', a finite number > 0 or None, got {describe(bag_ratio)}")
        return "auto"
    return check_float("bag_ratio", bag_ratio, low=0, open_low=True)


def bag_sizes(bag_ratio: BagRatio, n_pos: int, n_unl: int, auto: AutoBags) -> BagSizes:
    """Return the sizes of the bags for so many rows of positive weight.

    By "auto" no bag takes all unlabelled rows if there are two or more: each then is left out of some bag.
    """
    if bag_ratio is None:
        return BagSizes((n_unl,), replace_unl=True)
    if bag_ratio != "auto":
        return BagSizes((max(1, round(min(bag_ratio * n_pos, n_unl))),))
    most = max(1, round(_MOST_OF_UNLABELLED * n_unl))
    beyond = round(_MOST_BEYOND_RATIO * n_unl) if n_pos <= auto.few_pos else 0
    wanted = [max(1, round(auto.ratio * n_pos), min(least, beyond)) for least in auto.least_unl]
    return BagSizes(tuple(min(most, size) for size in wanted), max(1, math.ceil(auto.least_pos / n_pos)))
