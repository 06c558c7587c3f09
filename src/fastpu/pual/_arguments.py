"""The arguments that `fit_pual`, `fit_gllc` and `fit_bls_svm` share, and what their callbacks are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastpu.common._params import (
    check_float,
    check_int,
    check_one_length,
    check_random_state,
    check_word_or_number,
    entries_of,
    is_sequence,
)
from fastpu.common._threads import resolve_n_threads
from fastpu.kernels._kernels import check_kernel

_LEAST, _MOST = 1e-100, 1e100  # range of C_pos, C_unl, lam and sigma: products of two do not overflow


@dataclass(frozen=True)
class PualRound:
    """The state of the solver of PUAL, GLLC or the biased LS-SVM, as a callback sees it.

    Attributes
    ----------
    C_pos, C_unl, lam, sigma : float
        The parameters of the model that is being fitted; sigma is a squared length.
    n_iter : int
        Rounds, steps or iterations of the solver so far; 0 for a closed form.
    objective : float
        What is minimised, at the best point so far.
    gap : float
        Duality gap at that point.
    """

    C_pos: float
    C_unl: float
    lam: float
    sigma: float
    n_iter: int
    objective: float
    gap: float


@dataclass(frozen=True)
class Point:
    """The parameters of one model; a sigma of None stands for the median of the edges until the graph is known."""

    C_pos: float
    C_unl: float
    lam: float
    sigma: float | None


class PualOptions:
    """The arguments that all three functions share, checked by their names; `more` are of the function's own.

    `values` are those that the model keeps in `params`.
    """

    def __init__(self, function: str, title: str, given: Mapping[str, Any], **more: object) -> None:
        self.function, self.title = function, title
        self.kernel = check_kernel(given["kernel"], given["gamma"], given["degree"], given["coef0"])
        components = given["n_components"]
        self.n_components = None if components is None else check_int("n_components", components, low=1)
        if components is not None and self.kernel.name == "linear":
            raise ValueError(
                f"n_components must be None for kernel='linear', which needs no approximation, got {components}"
            )
        if "n_neighbors" in given:
            more = {"n_neighbors": check_int("n_neighbors", given["n_neighbors"], low=0), **more}
        self.values: Mapping[str, object] = {**self.kernel.params(), "n_components": self.n_components, **more}
        self.generator = check_random_state(given["random_state"])
        self.n_threads = resolve_n_threads(given["n_threads"])


def check_points(given: Mapping[str, object]) -> tuple[list[Point], bool]:
    """Return one point for each model, and whether there is only one: numbers are repeated beside sequences."""
    values = {name: given.get(name, 1.0) for name in ("C_pos", "C_unl", "lam", "sigma")}
    columns = {
        name: [_check_entry(*entry) for entry in entries_of(name, value).items()] for name, value in values.items()
    }
    lengths = {name: len(columns[name]) for name, value in values.items() if is_sequence(value)}
    check_one_length(lengths)
    n = max(lengths.values(), default=1)
    full = {name: column if name in lengths else column * n for name, column in columns.items()}
    return [Point(**dict(zip(full, row, strict=True))) for row in zip(*full.values(), strict=True)], not lengths


def _check_entry(name: str, value: object) -> float | None:
    if name.startswith("sigma") and isinstance(check_word_or_number(name, value, ("median",)), str):
        return None
    return check_parameter(name, value)


def check_parameter(name: str, value: object) -> float:
    """Return the number after checking that it is > 0, and in a range where products of two do not overflow."""
    number = check_float(name, value, low=0, open_low=True)
    if not _LEAST <= number <= _MOST:
        raise ValueError(f"{name} must be between {_LEAST:g} and {_MOST:g}, got {value!r}")
    return number
