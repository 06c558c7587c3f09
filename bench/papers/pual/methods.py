"""The methods of the tables: each with the grid that it is tuned over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from printed import fit_printed_gllc, fit_printed_pual

import fastpu
from fastpu.common._methods import function_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_DECADES = tuple(10.0**k for k in range(-4, 5))
_STEPS = tuple(a * b for b in (0.1, 1.0, 10.0, 100.0) for a in (1, 2, 3, 4, 5))


class Wide:
    """A fit with an rbf kernel whose width is that of the paper, exp(-|x - z|^2 / (2 width^2)).

    Sequences are passed on, so that `fastpu.select` fits what has one width at once.
    """

    def __init__(self, fit: Any, **options: Any) -> None:
        self.shares = ("C_unl", "sigma")
        self.shares_together = True
        self._fit, self._options = fit, options

    def __call__(self, X: Any, y: Any, *, width: float = 1.0, C_unl: Any = 0.1, sigma: Any = 1.0) -> Any:
        gamma = 1 / (2 * width**2)
        return self._fit(X, y, kernel="rbf", gamma=gamma, C_unl=C_unl, sigma=sigma, **self._options)


#: uPU and nnPU with nothing tuned: the settings of the authors of nnPU; all rows fit into their batches of 10,000.
_RISKS = {
    "uPU": ("fit_upu", {"model": "gauss", "loss": "logistic"}),
    "nnPU": ("fit_nnpu", {"model": "mlp", "loss": "sigmoid", "learning_rate": 1e-3, "batch_size": None,
                          "n_epochs": 100}),
}  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A column of a table: its name, the fit, the grid, and whether greedy moves refine it."""

    name: str
    fit: Any
    grid: Mapping[str, Sequence[float]] | None
    greedy: bool


def _thin(values: Sequence[float], every: int) -> list[float]:
    """Return every so-many-th value, the middle one among them."""
    return list(values[len(values) // 2 % every :: every])


def linear_methods(every: int) -> list[Method]:
    """Return PUAL and GLLC with the grid of section 4.1.3."""
    C_unl = [round(0.01 * k, 2) for k in range(1, 51)]  # all of them: PUAL is good at few
    grid = {"lam": _thin(_STEPS, every), "sigma": _thin(_STEPS, every), "C_unl": C_unl}
    return [Method("PUAL", fastpu.fit_pual, grid, False), Method("GLLC", fastpu.fit_gllc, grid, False)]


def kernel_methods(every: int, prior: float, seed: int) -> list[Method]:
    """Return the methods of Table 3 with the grid of section 4.2.4, also in the printed form; and uPU and nnPU."""
    printed = {"width": list(_DECADES), "C_unl": [0.5, 0.3, 0.1, 0.05, 0.01]}  # which has no sigma
    grid = {"width": list(_DECADES), "sigma": _thin(_DECADES, every), "C_unl": printed["C_unl"]}
    methods = [
        Method("PUAL", Wide(fastpu.fit_pual), grid, True),
        Method("GLLC", Wide(fastpu.fit_gllc), grid, True),
        Method("PUAL, printed form", fit_printed_pual, printed, True),
        Method("GLLC, printed form", fit_printed_gllc, printed, True),
    ]
    for name, (function, options) in _RISKS.items():
        fit = partial(function_of(function), prior=prior, random_state=seed, **options)
        methods.append(Method(name, fit, None, False))
    return methods
