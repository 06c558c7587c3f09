"""The arguments of each SVM that belong neither to the kernel nor to the solver, and the problem that they make.

`point` of each class takes the arguments of its fit function by their names, with single values. The fit function calls
it for every machine that it is to fit, and `select` for every point of a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fastpu.common._params import check_float
from fastpu.common._types import GammaLike, KernelLike, LabelsLike, VectorLike
from fastpu.data._training_rows import require_both
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.svm._row_costs import cost_per_row
from fastpu.svm._svm_options import SvmOptions
from fastpu.svm._svm_point import SvmPoint
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
    def point(
        *,
        C: float,
        C_pos: float,
        C_unl: float,
        sample_weight: VectorLike | None,
        kernel: KernelLike,
        gamma: GammaLike,
        degree: int,
        coef0: float,
        cache_mb: float,
        tol: float,
        max_iter: int | None,
        n_threads: int | None,
    ) -> SvmPoint:
        """Return one machine of `fit_bsvm`; raise ValueError or TypeError if an argument is wrong."""
        method = BiasedSvm(
            C=check_float("C", C, low=0, open_low=True),
            C_pos=check_float("C_pos", C_pos, low=0, open_low=True),
            C_unl=check_float("C_unl", C_unl, low=0, open_low=True),
            sample_weight=sample_weight,
        )
        options = SvmOptions.checked(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            cache_mb=cache_mb,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
        )
        return SvmPoint(method, options)

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
    def point(
        *,
        C: float,
        sample_cost: VectorLike | None,
        sample_weight: VectorLike | None,
        kernel: KernelLike,
        gamma: GammaLike,
        degree: int,
        coef0: float,
        cache_mb: float,
        tol: float,
        max_iter: int | None,
        n_threads: int | None,
    ) -> SvmPoint:
        """Return one machine of `fit_svm`; raise ValueError or TypeError if an argument is wrong."""
        method = CSvm(check_float("C", C, low=0, open_low=True), sample_cost, sample_weight)
        options = SvmOptions.checked(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            cache_mb=cache_mb,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
        )
        return SvmPoint(method, options)

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
    def point(
        *,
        nu: float,
        sample_weight: VectorLike | None,
        kernel: KernelLike,
        gamma: GammaLike,
        degree: int,
        coef0: float,
        cache_mb: float,
        tol: float,
        max_iter: int | None,
        n_threads: int | None,
    ) -> SvmPoint:
        """Return one machine of `fit_nu_svm`; raise ValueError or TypeError if an argument is wrong."""
        method = NuSvm(check_float("nu", nu, low=0, high=1, open_low=True), sample_weight)
        options = SvmOptions.checked(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            cache_mb=cache_mb,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
        )
        return SvmPoint(method, options)

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
    def point(
        *,
        nu: float,
        sample_weight: VectorLike | None,
        kernel: KernelLike,
        gamma: GammaLike,
        degree: int,
        coef0: float,
        cache_mb: float,
        tol: float,
        max_iter: int | None,
        n_threads: int | None,
    ) -> SvmPoint:
        """Return one machine of `fit_one_class_svm`; raise ValueError or TypeError if an argument is wrong."""
        method = OneClassSvm(check_float("nu", nu, low=0, high=1, open_low=True), sample_weight)
        options = SvmOptions.checked(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            cache_mb=cache_mb,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
        )
        return SvmPoint(method, options)

    def problem(self, y: LabelsLike | None, n_rows: int) -> SvmProblem:
        del y
        weights = check_sample_weight(self.sample_weight, n_rows)
        return SvmProblem(None, cost_per_row(n_rows, {}, {"sample_weight": weights}), weights, self.nu)

    def params(self) -> dict[str, object]:
        return {"nu": self.nu}
