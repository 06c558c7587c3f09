"""The options and the rows of the methods of squared losses of pairs: LSAUC, SAMULT and PNU-AUC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_choice, check_float, entries_of
from fastpu.common._types import LabelsLike, MatrixLike, VectorLike
from fastpu.data._training_rows import TrainingRows, open_training_rows, warn_of_balancing
from fastpu.data._validate import check_matrix, label_counts
from fastpu.data.binned_features import require_rows
from fastpu.kernels._gauss_basis import check_bandwidth
from fastpu.model._threshold import GROUP
from fastpu.risk._model_form import Basis, ModelForm, check_n_centers


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """What the three methods take beside the rows; `lams` has the values of lam by their names in messages."""

    function: str
    lams: Mapping[str, float]
    form: ModelForm
    tol: float
    max_iter: int
    generator: np.random.Generator
    n_threads: int


@dataclass(frozen=True)
class PairRows(TrainingRows):
    """The rows of the groups that a method reads, and the basis that f is linear in."""

    options: PairOptions
    basis: Basis


def check_lams(lam: float | Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    return {name: check_float(name, one, low=0) for name, one in entries_of("lam", lam).items()}


def check_form(model: object, n_centers: object, centers: MatrixLike | None, bandwidth: object) -> ModelForm:
    name = check_choice("model", model, ("linear", "gauss"))
    return ModelForm(
        model=name,
        n_centers=check_n_centers(n_centers),
        centers=centers,
        bandwidth=check_bandwidth(name, centers, bandwidth),
    )


def open_pair_rows(
    X: MatrixLike,
    y: LabelsLike,
    sample_weight: VectorLike | None,
    options: PairOptions,
    groups: tuple[int, ...],
    needed: tuple[int, ...] = (),
    why: str = "",
) -> PairRows:
    """Check the rows of these groups, and that there are rows of the `needed` ones, or of all."""
    require_rows(X, options.function)
    rows = open_training_rows(check_matrix(X), y, sample_weight, options.function, groups=groups, is_relative=False)
    counts = dict(zip((1, 0, -1), label_counts(rows.labels), strict=True))
    needed = needed or groups
    if not all(counts[g] for g in needed):
        wanted = " and ".join(f"{GROUP[g]} ({g:+d})" if g else "unlabelled (0)" for g in needed)
        listed = ", ".join(f"{counts[g]} {GROUP[g]}" for g in counts)
        hint = "" if counts[-1] or -1 not in needed else "; if 0 means negative, pass fastpu.as_labels(y, negative=0)"
        raise ValueError(
            f"y must hold {wanted} rows for {options.function}{why}, got {listed} rows of positive weight{hint}"
        )
    warn_of_balancing(options.function, rows.labels, rows.weights)
    return PairRows(**vars(rows), options=options, basis=_basis(rows, options))


def _basis(rows: TrainingRows, options: PairOptions) -> Basis:
    if options.form.model != "gauss":
        return Basis(rows.matrix, None, None)
    centers = options.form.draw_centers(rows, options.generator)
    _check_room(centers.n_rows)
    return options.form.basis_around(centers, rows, options.n_threads)


def _check_room(size: int) -> None:
    try:
        np.empty(48 * size * size, dtype=np.uint8)  # fails before the work begins
    except (MemoryError, ValueError):  # the latter from sizes beyond any address
        raise MemoryError(
            f"matrices of {size} x {size} numbers need {48 * size * size} bytes, more than there are; use fewer centres"
        ) from None
