"""The options of mapping convergence, and the rows that it works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_bool, check_float, check_int

Rows: TypeAlias = NDArray[np.int64]  # numbers of rows of X
Scores: TypeAlias = NDArray[np.float64]

_HELD_OUT = 0.2  # share of the labelled positives that is held out by default with max_pos_reject


@dataclass(frozen=True)
class MappingOptions:
    """The checked arguments of `fit_smc` and `fit_svmc` that belong neither to the kernel nor to the solver.

    `keeps_all` says whether all rejected rows stay in N (SMC, which has nothing to repair), or only the support vectors
    among them (SVMC).
    """

    keeps_all: bool
    nu_map: float
    C: float
    nu: float | None
    max_iter: int
    max_pos_reject: float | None
    hold_out: float | None
    repair: bool

    @staticmethod
    def checked(
        *,
        keeps_all: bool,
        nu_map: float,
        C: float,
        nu: float | None,
        max_iter: int,
        max_pos_reject: float | None,
        hold_out: float | None,
        repair: bool,
    ) -> MappingOptions:
        most = None
        if max_pos_reject is not None:
            most = check_float("max_pos_reject", max_pos_reject, low=0, high=1, open_high=True)
        share = None if most is None else _HELD_OUT
        if hold_out is not None:
            share = check_float("hold_out", hold_out, low=0, high=1, open_low=True, open_high=True)
        return MappingOptions(
            keeps_all=keeps_all,
            nu_map=check_float("nu_map", nu_map, low=0, high=1, open_low=True),
            C=check_float("C", C, low=0, open_low=True),
            nu=None if nu is None else check_float("nu", nu, low=0, high=1, open_low=True),
            max_iter=check_int("max_iter", max_iter, low=1),
            max_pos_reject=most,
            hold_out=share,
            repair=check_bool("repair", repair),
        )

    def params(self) -> dict[str, object]:
        params: dict[str, object] = {
            "nu_map": self.nu_map,
            "C": self.C,
            "nu": self.nu,
            "max_iter": self.max_iter,
            "max_pos_reject": self.max_pos_reject,
            "hold_out": self.hold_out,
        }
        return params if self.keeps_all else {**params, "repair": self.repair}


@dataclass(frozen=True)
class PURows:
    """The numbers of the training positives, of the held-out positives (perhaps none) and of the unlabelled rows."""

    positive: Rows
    held_out: Rows
    unlabeled: Rows


def split_rows(labels: NDArray[np.int8], hold_out: float | None, generator: np.random.Generator) -> PURows:
    positive = np.flatnonzero(labels == 1).astype(np.int64)
    unlabeled = np.flatnonzero(labels == 0).astype(np.int64)
    if hold_out is None:
        return PURows(positive, positive[:0], unlabeled)
    if positive.size < 2:
        raise ValueError(f"y must have at least 2 positive rows for hold_out = {hold_out:g}, got {positive.size}")
    n_held_out = min(max(1, round(hold_out * positive.size)), positive.size - 1)
    order = generator.permutation(positive)
    return PURows(np.sort(order[n_held_out:]), np.sort(order[:n_held_out]), unlabeled)
