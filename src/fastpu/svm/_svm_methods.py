"""The arguments of each SVM that belong neither to the kernel nor to the solver, and the problem that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fastpu.common._params import check_float
from fastpu.common._types import LabelsLike, VectorLike
from fastpu.data._training_rows import require_both
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.svm._row_costs import cost_per_row
from fastpu.svm._svm_problem import ProblemKind, SvmMethod, SvmProblem, check_supervised

_BOTH = ("positive", "negative")
_ROUNDING = 1e-12  # relative error that rounding may leave in sums of weights


@dataclass(frozen=True)
class BiasedSvm(SvmMethod):
    """The arguments of `fit_bsvm` that belong neither to the kernel nor to the solver."""

    C: float
    C_pos: float
    C_unl: float
    sample_weight: VectorLike | None

    function: ClassVar[str] = "fit_bsvm"
    title: ClassVar[str] = "biased SVM"
    kind: ClassVar[ProblemKind] = "c_svm"

    @staticmethod
    def checked(*, C: float, C_pos: float, C_unl: float, sample_weight: VectorLike | None) -> BiasedSvm:
        return BiasedSvm(
            C=check_float("C", C, low=0, open_low=True),
            C_pos=check_float("C_pos", C_pos, low=0, open_low=True),
            C_unl=check_float("C_unl", C_unl, low=0, open_low=True),
            sample_weight=sample_weight,
        )

    def problem(self, y: LabelsLike | None, n_rows: int) -> SvmProblem:
        labels = check_labels(y, n_rows, pu_only=self.function)
        weights = check_sample_weight(self.sample_weight, n_rows)
        by_group = np.where(labels == 1, self.C_pos, self.C_unl)
        cost = cost_per_row(n_rows, {"C": self.C}, {"C_pos or C_unl": by_group, "sample_weight": weights})
        signs = np.where(labels == 1, np.int8(1), np.int8(-1))
        require_both(signs, cost, self.function, ("positive", "unlabelled"))
        return SvmProblem(signs, cost, weights)

    def params(self) -> dict[str, object]:
        return {"C": self.C, "C_pos": self.C_pos, "C_unl": self.C_unl}


@dataclass(frozen=True)
class CSvm(SvmMethod):
    """The arguments of `fit_svm` that belong neither to the kernel nor to the solver."""

    C: float
    sample_cost: VectorLike | None
    sample_weight: VectorLike | None

    function: ClassVar[str] = "fit_svm"
    title: ClassVar[str] = "C-SVM"
    kind: ClassVar[ProblemKind] = "c_svm"

    @staticmethod
    def checked(*, C: float, sample_cost: VectorLike | None, sample_weight: VectorLike | None) -> CSvm:
        return CSvm(check_float("C", C, low=0, open_low=True), sample_cost, sample_weight)

    def problem(self, y: LabelsLike | None, n_rows: int) -> SvmProblem:
        labels = check_supervised(y, n_rows, self.function)
        weights = check_sample_weight(self.sample_weight, n_rows)
        cost = cost_per_row(n_rows, {"C": self.C}, {"sample_cost": self.sample_cost, "sample_weight": weights})
        require_both(labels, cost, self.function, _BOTH)
        return SvmProblem(labels, cost, weights)

    def params(self) -> dict[str, object]:
        return {"C": self.C}


@dataclass(frozen=True)
class NuSvm(SvmMethod):
    """The arguments of `fit_nu_svm` that belong neither to the kernel nor to the solver."""

    nu: float
    sample_weight: VectorLike | None

    function: ClassVar[str] = "fit_nu_svm"
    title: ClassVar[str] = "nu-SVM"
    kind: ClassVar[ProblemKind] = "nu_svm"

    @staticmethod
    def checked(*, nu: float, sample_weight: VectorLike | None) -> NuSvm:
        return NuSvm(check_float("nu", nu, low=0, high=1, open_low=True), sample_weight)

    def problem(self, y: LabelsLike | None, n_rows: int) -> SvmProblem:
        labels = check_supervised(y, n_rows, self.function)
        weights = check_sample_weight(self.sample_weight, n_rows)
        cost = cost_per_row(n_rows, {}, {"sample_weight": weights})
        require_both(labels, cost, self.function, _BOTH)
        positive, negative = (float(cost[labels == sign].sum()) for sign in (1, -1))
        bound = 2 * min(positive, negative) / (positive + negative)
        if self.nu > bound * (1 + _ROUNDING):
            raise ValueError(
                f"nu must be at most 2 min(W+, W-) / (W+ + W-) = {bound:.6g} for classes of weight W+ = {positive:g} "
                f"and W- = {negative:g}, got {self.nu!r}"
            )
        return SvmProblem(labels, cost, weights, min(self.nu, bound))

    def params(self) -> dict[str, object]:
        return {"nu": self.nu}


@dataclass(frozen=True)
class OneClassSvm(SvmMethod):
    """The arguments of `fit_one_class_svm` that belong neither to the kernel nor to the solver."""

    nu: float
    sample_weight: VectorLike | None

    function: ClassVar[str] = "fit_one_class_svm"
    title: ClassVar[str] = "one-class SVM"
    kind: ClassVar[ProblemKind] = "one_class"

    @staticmethod
    def checked(*, nu: float, sample_weight: VectorLike | None) -> OneClassSvm:
        return OneClassSvm(check_float("nu", nu, low=0, high=1, open_low=True), sample_weight)

    def problem(self, y: LabelsLike | None, n_rows: int) -> SvmProblem:
        del y
        weights = check_sample_weight(self.sample_weight, n_rows)
        return SvmProblem(None, cost_per_row(n_rows, {}, {"sample_weight": weights}), weights, self.nu)

    def params(self) -> dict[str, object]:
        return {"nu": self.nu}
