"""The points that a call of `fit_pual`, `fit_gllc` or `fit_bls_svm` fits: values of C_pos, C_unl, lam and sigma."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray

from fastpu.common._params import check_float, check_one_length, check_word_or_number, entries_of, is_sequence

#: One number for all models, or an entry for each model.
NumberOrMany: TypeAlias = float | Sequence[float] | NDArray[Any]
#: The same, where each number may also be "median".
SigmaOrMany: TypeAlias = float | Literal["median"] | Sequence[float | Literal["median"]] | NDArray[Any]

_LEAST, _MOST = 1e-100, 1e100  # range of C_pos, C_unl, lam and sigma: products of two do not overflow


@dataclass(frozen=True)
class Point:
    """The parameters of one model; `sigma` is a squared length."""

    C_pos: float
    C_unl: float
    lam: float
    sigma: float


@dataclass(frozen=True)
class ParameterPoints:
    """The checked parameters of all models, with an entry for each model.

    A sigma of "median" is a number once the neighbours are known. `is_one` tells whether the caller asked for one model
    and not for a list.
    """

    C_pos: Sequence[float]
    C_unl: Sequence[float]
    lam: Sequence[float]
    sigma: Sequence[float | str]
    is_one: bool

    def with_median(self, median: float) -> list[Point]:
        sigmas = [median if isinstance(sigma, str) else sigma for sigma in self.sigma]
        return [Point(*values) for values in zip(self.C_pos, self.C_unl, self.lam, sigmas, strict=True)]


def check_points(*, C_pos: NumberOrMany, C_unl: NumberOrMany, lam: NumberOrMany, sigma: SigmaOrMany) -> ParameterPoints:
    """Check the parameters; a single number is repeated where others are sequences."""
    of_pos = [check_parameter(*entry) for entry in entries_of("C_pos", C_pos).items()]
    of_unl = [check_parameter(*entry) for entry in entries_of("C_unl", C_unl).items()]
    of_lam = [check_parameter(*entry) for entry in entries_of("lam", lam).items()]
    of_sigma = [_check_sigma(*entry) for entry in entries_of("sigma", sigma).items()]
    columns = {
        "C_pos": (C_pos, len(of_pos)),
        "C_unl": (C_unl, len(of_unl)),
        "lam": (lam, len(of_lam)),
        "sigma": (sigma, len(of_sigma)),
    }
    lengths = {name: length for name, (value, length) in columns.items() if is_sequence(value)}
    check_one_length(lengths)
    n = max(lengths.values(), default=1)
    return ParameterPoints(
        C_pos=of_pos if len(of_pos) == n else of_pos * n,
        C_unl=of_unl if len(of_unl) == n else of_unl * n,
        lam=of_lam if len(of_lam) == n else of_lam * n,
        sigma=of_sigma if len(of_sigma) == n else of_sigma * n,
        is_one=not lengths,
    )


def check_parameter(name: str, value: object) -> float:
    """Return the number after checking that it is > 0, and in a range where products of two do not overflow."""
    number = check_float(name, value, low=0, open_low=True)
    if not _LEAST <= number <= _MOST:
        raise ValueError(f"{name} must be between {_LEAST:g} and {_MOST:g}, got {value!r}")
    return number


def _check_sigma(name: str, value: object) -> float | str:
    word_or_number = check_word_or_number(name, value, ("median",))
    return word_or_number if isinstance(word_or_number, str) else check_parameter(name, word_or_number)
