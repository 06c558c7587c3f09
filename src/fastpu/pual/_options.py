"""The checked options of `fit_pual`, `fit_gllc` and `fit_bls_svm`; each has those of the one before it, and more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastpu import _core
from fastpu.common._params import MANY, check_int
from fastpu.kernels._kernel import KernelOptions


@dataclass(frozen=True, kw_only=True)
class BlsSvmOptions:
    """What the biased LS-SVM takes beside the rows and the parameters of the points."""

    kernel: KernelOptions
    n_components: int | None
    generator: np.random.Generator
    n_threads: int

    function: ClassVar[str] = "fit_bls_svm"
    title: ClassVar[str] = "BLS-SVM"

    def __post_init__(self) -> None:
        if self.n_components is not None and self.kernel.name == "linear":
            raise ValueError(
                f"n_components must be None for kernel='linear', which needs no approximation, got {self.n_components}"
            )

    def params(self) -> dict[str, Any]:
        """Return what a model keeps of the options."""
        return {**self.kernel.params(), "n_components": self.n_components}


@dataclass(frozen=True, kw_only=True)
class GllcOptions(BlsSvmOptions):
    """What GLLC takes: those of the biased LS-SVM, and neighbours."""

    n_neighbors: int

    function: ClassVar[str] = "fit_gllc"
    title: ClassVar[str] = "GLLC"

    def params(self) -> dict[str, Any]:
        return {**super().params(), "n_neighbors": self.n_neighbors}


@dataclass(frozen=True, kw_only=True)
class PualOptions(GllcOptions):
    """What PUAL takes: those of GLLC, and the limits of its solver."""

    tol: float
    max_iter: int

    function: ClassVar[str] = "fit_pual"
    title: ClassVar[str] = "PUAL"

    def params(self) -> dict[str, Any]:
        return {**super().params(), "tol": self.tol, "max_iter": self.max_iter}

    @property
    def of_dual(self) -> _core.PualDualOptions:
        return _core.PualDualOptions(tol=self.tol, max_iter=min(self.max_iter, MANY))


def check_components(n_components: object) -> int | None:
    return None if n_components is None else check_int("n_components", n_components, low=1)
