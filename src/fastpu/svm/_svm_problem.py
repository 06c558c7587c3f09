"""The problem that a kernel machine poses for the rows of a fit, and the arguments that it is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu.common._methods import methods_with
from fastpu.common._types import LabelsLike
from fastpu.data._validate import check_labels, label_counts

ProblemKind: TypeAlias = Literal["c_svm", "nu_svm", "one_class"]


@dataclass(frozen=True)
class SvmProblem:
    """A dual problem over the rows of a fit.

    `cost` is the box of each row; rows whose cost is 0 are not fitted to. `weights` say how often each row counts where
    gamma follows the variance of X, or None if each does once.
    """

    labels: NDArray[np.int8] | None
    cost: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    nu: float = 0.0

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows whose cost is not 0, which alone are fitted to."""
        return np.flatnonzero(self.cost > 0).astype(np.int64)

    @property
    def counts(self) -> NDArray[np.float64] | None:
        """How often each row counts, or None if each does once."""
        if (self.cost > 0).all():
            return self.weights
        return np.where(self.cost > 0, 1.0 if self.weights is None else self.weights, 0.0)


@dataclass(frozen=True)
class SvmMethod(ABC):
    """The arguments of one fit function that belong neither to the kernel nor to the solver, checked.

    The fields of a subclass are named as the arguments are. Its function `point` takes these by their names, and with
    them the arguments of the kernel and of the solver.
    """

    function: ClassVar[str]
    title: ClassVar[str]
    kind: ClassVar[ProblemKind]

    @abstractmethod
    def problem(self, y: LabelsLike | None, n_rows: int) -> SvmProblem:
        """Return the problem for so many rows with these labels; raise ValueError if they do not fit."""

    @abstractmethod
    def params(self) -> dict[str, object]:
        """Return the arguments that a model keeps in its `params`."""


def check_supervised(y: object, n_rows: int, function: str) -> NDArray[np.int8]:
    """Return labels +1 and -1; refuse unlabelled rows, and name the methods that take them."""
    labels = check_labels(y, n_rows)
    n_unl = label_counts(labels)[1]
    if n_unl:
        raise ValueError(
            f"y must hold +1 and -1 alone for {function}, which is supervised, got {n_unl} unlabelled rows (0, False "
            f"or missing): if 0 means negative, pass fastpu.as_labels(y, negative=0); if it means unlabelled, "
            f"{methods_with('U')} learn from such rows"
        )
    return labels
