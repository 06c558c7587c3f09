"""The options of AUC by squared losses, checked, and the rows that they are for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu.common._frozen import set_fields
from fastpu.common._params import MANY, check_choice, check_float, check_int, entries_of
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, VectorLike
from fastpu.data._training_rows import TrainingRows, open_training_rows, warn_of_balancing
from fastpu.data._validate import check_matrix, label_counts
from fastpu.data.binned_features import require_rows
from fastpu.kernels._basis import Basis, LinearBasis, basis_centers, gauss_basis
from fastpu.kernels._gauss_basis import check_bandwidth
from fastpu.model._threshold import GROUP

ModelName: TypeAlias = Literal["linear", "gauss"]
Ridges: TypeAlias = float | Sequence[float] | NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """The options of `fit_ls_auc`, `fit_samult` and `fit_pnu_auc`, which are checked when the record is made."""

    function: str
    lam: Ridges
    model: ModelName
    n_centers: int
    centers: MatrixLike | None
    bandwidth: float | None
    tol: float
    max_iter: int
    n_threads: int | None
    threads: int = field(init=False)  # that a call may use

    def __post_init__(self) -> None:
        for name, entry in entries_of("lam", self.lam).items():
            check_float(name, entry, low=0)
        set_fields(
            self,
            tol=check_float("tol", self.tol, low=0, open_low=True),
            max_iter=min(check_int("max_iter", self.max_iter, low=1), MANY),
            threads=resolve_n_threads(self.n_threads),
            model=check_choice("model", self.model, ("linear", "gauss")),
            n_centers=min(check_int("n_centers", self.n_centers, low=1), MANY),
            bandwidth=check_bandwidth(self.model, self.centers, self.bandwidth),
        )

    @property
    def lams(self) -> list[float]:
        """The ridge weights, one for each model."""
        return [float(entry) for entry in entries_of("lam", self.lam).values()]

    @property
    def is_one(self) -> bool:
        """Whether `lam` is a number and not a sequence, so that there is one model and not a list."""
        return "lam" in entries_of("lam", self.lam)

    def params(self) -> dict[str, object]:
        """Return the options that a model keeps a record of, but for `lam`."""
        params: dict[str, object] = {"model": self.model}
        if self.model == "gauss":
            params["n_centers"] = self.n_centers if self.centers is None else None
            params["bandwidth"] = self.bandwidth
        return {**params, "tol": self.tol, "max_iter": self.max_iter}


def read_pair_rows(
    X: MatrixLike, y: LabelsLike, sample_weight: VectorLike | None, options: PairOptions, labels: tuple[int, ...]
) -> TrainingRows:
    """Return the rows of these labels, checked."""
    require_rows(X, options.function)
    matrix = check_matrix(X)
    return open_training_rows(matrix, y, sample_weight, options.function, groups=labels, is_relative=False)


def check_pair_groups(rows: TrainingRows, options: PairOptions, needed: tuple[int, ...], why: str = "") -> None:
    """Raise ValueError unless there are rows of all `needed` labels; `why` says with which option these are needed."""
    counts = dict(zip((1, 0, -1), label_counts(rows.labels), strict=True))
    if not all(counts[label] for label in needed):
        wanted = " and ".join(f"{GROUP[g]} ({g:+d})" if g else "unlabelled (0)" for g in needed)
        listed = ", ".join(f"{counts[g]} {GROUP[g]}" for g in counts)
        hint = "" if counts[-1] or -1 not in needed else "; if 0 means negative, pass fastpu.as_labels(y, negative=0)"
        raise ValueError(
            f"y must hold {wanted} rows for {options.function}{why}, got {listed} rows of positive weight{hint}"
        )
    warn_of_balancing(options.function, rows.labels, rows.weights)


def make_basis(rows: TrainingRows, options: PairOptions, generator: np.random.Generator) -> Basis:
    """Return the features of the rows, or their basis functions around given or drawn centres."""
    if options.model == "linear":
        return LinearBasis(rows.matrix)
    centers = basis_centers(rows, options.centers, options.n_centers, generator)
    _check_room(centers.n_rows)
    return gauss_basis(rows, centers, options.bandwidth, options.threads)


def _check_room(size: int) -> None:
    try:
        np.empty(48 * size * size, dtype=np.uint8)  # fails before the work begins
    except (MemoryError, ValueError):  # the latter from sizes beyond any address
        raise MemoryError(
            f"matrices of {size} x {size} numbers need {48 * size * size} bytes, more than there are; use fewer centres"
        ) from None
