"""The kernel of a call: its name, its numbers and the caller's function, checked, with a default width by the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._functions import check_function
from fastpu.common._params import check_choice, check_float, check_int, check_word_or_number
from fastpu.common._types import GammaLike, KernelFunction, KernelName
from fastpu.data._matrix import Matrix
from fastpu.data._moments import column_moments

KERNELS: tuple[KernelName, ...] = ("linear", "poly", "rbf", "sigmoid", "precomputed")
KERNELS_WITH_GAMMA = ("poly", "rbf", "sigmoid")
SYMMETRY = 1e-6  # difference of K(x, z) and K(z, x), relative to the largest entry, that products in float32 leave

_MAX_DEGREE = 1000
_GAMMA_WORDS: tuple[Literal["scale", "auto"], ...] = ("scale", "auto")


@dataclass(frozen=True)
class KernelOptions:
    """The arguments of a call that choose a kernel, checked: one of `KERNELS`, or "callable" with its function."""

    name: KernelName | Literal["callable"]
    gamma: GammaLike
    degree: int
    coef0: float
    function: KernelFunction | None = None

    def params(self) -> dict[str, object]:
        return {"kernel": self.name, "gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}


def check_kernel(kernel: object, gamma: object, degree: object, coef0: object) -> KernelOptions:
    other = ", or a function k(A, B) of two matrices of rows"
    function: KernelFunction | None = None
    if callable(kernel):
        expected = f"one of {', '.join(map(repr, KERNELS))}{other}"
        function = check_function("kernel", kernel, expected, arguments=("A", "B"))
    return KernelOptions(
        name="callable" if function is not None else check_choice("kernel", kernel, KERNELS, other),
        gamma=check_word_or_number("gamma", gamma, _GAMMA_WORDS),
        degree=check_int("degree", degree, low=0, high=_MAX_DEGREE),
        coef0=check_float("coef0", coef0),
        function=function,
    )


@dataclass(frozen=True)
class Kernel:
    """A kernel whose numbers are all known; `gamma` is None if it does not use it."""

    name: str
    gamma: float | None
    degree: int
    coef0: float
    function: KernelFunction | None = None

    @property
    def core_gamma(self) -> float:
        """The number that `_core` takes for gamma, which is any where the kernel has none."""
        return 1.0 if self.gamma is None else self.gamma

    @property
    def core_params(self) -> _core.KernelParams | None:
        """What `_core` takes for the kernel; None where a matrix or a function has its values."""
        if self.name in ("precomputed", "callable"):
            return None
        return _core.KernelParams(kind=self.name, gamma=self.core_gamma, degree=self.degree, coef0=self.coef0)

    def check(self) -> None:
        """Raise ValueError if this cannot be the kernel of a model, which may come from a damaged or hostile file."""
        if self.name not in (*KERNELS, "callable"):
            raise ValueError(f"kernel {self.name!r} is unknown")
        gamma = self.gamma
        if self.name in KERNELS_WITH_GAMMA and not (isinstance(gamma, int | float) and 0 < gamma < np.inf):
            raise ValueError(f"gamma must be a positive number for kernel {self.name!r}, got {gamma}")
        if not 0 <= self.degree <= np.iinfo(np.int32).max or not np.isfinite(self.coef0):
            raise ValueError(f"degree must be >= 0 and coef0 finite, got {self.degree} and {self.coef0}")
        if (self.name == "callable") != (self.function is not None):
            raise ValueError("function must be there for the kernel 'callable', and for no other")


def resolve_gamma(options: KernelOptions, matrix: Matrix, weights: NDArray[np.float64] | None) -> Kernel:
    """Return the kernel with the number that `gamma` stands for, 1 / (d var(X)) for "scale".

    The variance is that of all entries, zeros of CSR included, weighted by row, so that a weight has the effect of
    repeating the row. A variance of 0 gives 1.
    """
    gamma = _gamma_for(options, matrix, weights) if options.name in KERNELS_WITH_GAMMA else None
    return Kernel(options.name, gamma, options.degree, options.coef0, options.function)


def _gamma_for(options: KernelOptions, matrix: Matrix, weights: NDArray[np.float64] | None) -> float:
    if options.gamma == "auto":
        gamma = 1.0 / matrix.n_features
    elif isinstance(options.gamma, str):
        of = column_moments(matrix, weights)
        variance = float(of.variances.mean() + (of.means - of.means[0]).var()) * of.unit * of.unit
        gamma = 1.0 / (matrix.n_features * variance) if variance > 0 else 1.0
        if not (0 < gamma < math.inf):
            raise ValueError(
                f"gamma='scale' is 1 / (n_features * variance of X), which is no positive number for the variance "
                f"{variance:g}; scale X or pass a number"
            )
    else:
        gamma = options.gamma
    # A gamma that float32 cannot hold would make another kernel, or a constant one.
    least, most = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
    if value_dtype(options.name, matrix.dtype) == np.float32 and not least <= gamma <= most:
        raise ValueError(
            f"gamma must be between {least:.3g} and {most:.3g} for X in float32, got {gamma:g}; scale X or "
            f"pass it as float64"
        )
    return gamma


def value_dtype(kernel: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of kernel values for rows of `dtype`: that of the rows, but float64 for polynomials.

    Powers may be so large that rounding errors of float32 in their sums reach the size of a margin.
    """
    return np.dtype(np.float64) if kernel == "poly" else dtype
