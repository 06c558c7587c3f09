"""The methods that Tables 1 and 2 compare: each is one entry of METHODS."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.common._methods import function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FINE = 0.1  # step of a grid as fine as the paper's


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    Attributes
    ----------
    row : str
        Its name in the tables; `variant` tells those apart that the paper has one row for.
    fit : str
        The function of fastpu.
    fixed : mapping
        Its arguments that are not tuned.
    weighed : bool
        Whether the costs C_unl = C and C_pos = C (1 - w) / w are tuned over C and w, or C alone.
    widths : bool
        Whether the width sigma of an RBF kernel and the ridge weight lam are tuned, and no costs.
    draws : bool
        Whether it takes a random state.
    over : str, or None
        The row that it is said to improve on.
    """

    row: str
    fit: str
    variant: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    weighed: bool = False
    widths: bool = False
    draws: bool = False
    over: str | None = None

    @property
    def name(self) -> str:
        return f"{self.row}, {self.variant}" if self.variant else self.row

    def function(self, seed: int) -> Callable[..., Any]:
        """Return the fit with what is not tuned."""
        given = {**self.fixed, "n_threads": 1} | ({"random_state": seed} if self.draws else {})
        fit = function_of(self.fit)
        if self.widths:
            return partial(_with_width, fit, **given)
        return partial(_with_weight, fit, **given) if self.weighed else partial(fit, **given)

    def grid(self, step: float, weights: int) -> dict[str, list[float]]:
        """Return the values of C, 10^-4 to 10^4, and of w, 0.01 to 0.15, if there is one; or of sigma and lam."""
        if self.widths:
            powers = (2.0 ** np.arange(-6, 7, 1 if step <= _FINE else 2)).tolist()
            return {"sigma": powers, "lam": powers}
        costs = 10.0 ** np.linspace(-4, 4, round(8 / step) + 1)
        shares = np.unique(np.round(np.linspace(1, 15, weights)) / 100)
        return {"C": costs.tolist()} | ({"w": shares.tolist()} if self.weighed else {})


def _with_weight(fit: Callable[..., Any], X: Any, y: Any, *, C: float, w: float, **given: Any) -> Any:
    return fit(X, y, C_pos=C * (1 - w) / w, C_unl=C, **given)


def _with_width(fit: Callable[..., Any], X: Any, y: Any, *, sigma: float, lam: float, **given: Any) -> Any:
    # Squared errors by means, as the costs of ISVM are; the neighbours' weights have the kernel's width.
    n_pos = int(np.count_nonzero(np.asarray(y) == 1))
    costs = {"C_pos": 1 / n_pos, "C_unl": 1 / (len(X) - n_pos)}
    return fit(X, y, **costs, lam=lam, kernel="rbf", gamma=1 / (2 * sigma**2), sigma=2 * sigma**2, **given)


class Remembered:
    """A fit that remembers its models, and what it warned of: both tables tune the same ones."""

    def __init__(self, fit: Callable[..., Any]) -> None:
        self._fit = fit
        self._known: dict[str, tuple[Any, list[warnings.WarningMessage]]] = {}
        inner = fit
        while isinstance(inner, partial):
            inner = inner.func
        self.shares: tuple[str, ...] = getattr(inner, "shares", ())

    def __call__(self, X: Any, y: Any, **params: Any) -> Any:
        key = repr(sorted(params.items()))
        if key not in self._known:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self._known[key] = self._fit(X, y, **params), caught
        model, caught = self._known[key]
        for warning in caught:
            warnings.warn(warning.message, stacklevel=2)  # type: ignore[arg-type] (a Warning)
        return model


METHODS = (
    Method("BASVM", "fit_bagging_svm", draws=True),
    Method("BSVM", "fit_bsvm", weighed=True),
    Method("BLSSVM", "fit_gllc", widths=True),
    Method("ISVM", "fit_isvm", over="BSVM"),
    Method("BPSI", "fit_bpsi", weighed=True),
    Method("IPSI", "fit_ipsi", fixed={"init": "psi"}, over="BPSI"),
    Method("IPSI", "fit_ipsi", variant="hinge start", fixed={"init": "hinge"}, over="BPSI"),
    Method("IPSI", "fit_ipsi", variant="ISVM start", fixed={"init": "isvm"}, over="BPSI"),
)
