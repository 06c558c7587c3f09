"""Data, and fit functions whose scores are known, that the tests of `select` share."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fastpu
from fastpu.datasets import make_two_normals, split_case_control


def pu_data(n: int = 200, labeled: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, PU labels and true labels."""
    X, truth = make_two_normals(n, random_state=seed)
    split = split_case_control(truth, labeled=labeled, unlabeled=1.0, random_state=seed)
    return X, split.y_train, truth


def without_seconds(table: Any) -> dict[str, list[Any]]:
    return {name: column.tolist() for name, column in table.items() if name != "seconds"}


@dataclass(frozen=True)
class Shifted:
    """Scores are the first feature plus a tenth of a number."""

    by: float
    converged: bool = True
    status: str = "tol"

    def decision_function(self, X: Any) -> np.ndarray:
        return np.asarray(X, dtype=float)[:, 0] + self.by / 10


@dataclass
class Recorder:
    """A fit function that remembers its calls and returns `Shifted` by its parameter `shift`.

    `warns` maps values of the parameter to what the fit warns of, `raises` to errors.
    """

    warns: dict[float, type[Warning]] = field(default_factory=dict)
    raises: dict[float, Exception] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, X: Any, y: Any, *, shift: float = 0.0, other: object = None, kernel: str = "linear") -> Any:
        self.calls.append({"rows": len(y), "shift": shift, "other": other})
        if isinstance(shift, list):
            return [self._one(value) for value in shift]
        return self._one(shift)

    def _one(self, shift: float) -> Shifted:
        if shift in self.raises:
            raise self.raises[shift]
        if shift in self.warns:
            warnings.warn(f"shift is {shift}", self.warns[shift], stacklevel=2)
        return Shifted(
            shift,
            converged=self.warns.get(shift) is not fastpu.exceptions.ConvergenceWarning,
            status="collapse" if self.warns.get(shift) is fastpu.exceptions.DegenerateModelWarning else "tol",
        )


class Sharing(Recorder):
    """The same with the promise that lists of `shift` are taken."""

    shares = ("shift",)


def peak(at: float) -> Any:
    """A criterion that is largest for the model with that shift."""

    def closeness(model: Any, X: Any, y: Any) -> float:
        return -abs(model.by - at)

    return closeness
