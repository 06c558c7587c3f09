"""The arguments that the squared-loss AUC methods share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._text import describe
from fastpu.kernels._gauss_basis import check_bandwidth

if TYPE_CHECKING:
    from collections.abc import Sequence


_BASES = ("linear", "gauss")


@dataclass(frozen=True)
class Basis:
    """The features that f is linear in, and how large systems are solved."""

    kind: str
    n_centers: int
    centers: object
    bandwidth: float | None
    tol: float
    max_iter: int

    def params(self) -> dict[str, object]:
        """Return the arguments that influence the model, as they were given."""
        params: dict[str, object] = {"basis": self.kind}
        if self.kind == "gauss":
            params["n_centers"] = self.n_centers if self.centers is None else None
            params["bandwidth"] = self.bandwidth
        return {**params, "tol": self.tol, "max_iter": self.max_iter}


def check_basis(
    *, basis: object, n_centers: object, centers: object, bandwidth: object, tol: object, max_iter: object
) -> Basis:
    kind = check_choice("basis", basis, _BASES)
    return Basis(
        kind=kind,
        n_centers=min(check_int("n_centers", n_centers, low=1), MANY),
        centers=centers,
        bandwidth=check_bandwidth("basis", kind, centers, bandwidth),
        tol=check_float("tol", tol, low=0, open_low=True),
        max_iter=min(check_int("max_iter", max_iter, low=1), MANY),
    )


def check_lams(value: object) -> tuple[list[float], bool]:
    """Return the values of `lam`, which may be a sequence, and whether it was a single one."""
    if not ((isinstance(value, np.ndarray) and value.ndim > 0) or isinstance(value, list | tuple)):
        return [check_float("lam", value, low=0)], True
    values: Sequence[object] = list(value)
    if not values:
        raise ValueError(f"lam must be a number >= 0 or a sequence of at least one of them, got {describe(value)}")
    return [check_float(f"lam[{i}]", item, low=0) for i, item in enumerate(values)], False
