"""The training rows of `fit_upu` and `fit_nnpu`, and what is minimised on them: the prior, the basis, the ridge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fastpu.common._types import LabelsLike, MatrixLike, VectorLike
from fastpu.data._training_rows import TrainingRows, open_training_rows
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.kernels._basis import Basis
from fastpu.model._prior import prior_among_unlabeled
from fastpu.risk._column_scales import Columns, read_columns
from fastpu.risk._options import RiskOptions

#: The default of lam is this times prior / sqrt(positive rows), for rows of the size 1; chosen by measurement.
_RIDGE = {"linear": 1.0, "gauss": 0.05}
_NETWORK_LAM = 0.005  # the weight decay in the reference setting of nnPU's authors


@dataclass(frozen=True)
class RiskRows(TrainingRows):
    """Training rows, with the `basis` that f is linear in; `prior` is that among the unlabelled rows."""

    options: RiskOptions
    prior: float
    basis: Basis

    @cached_property
    def columns(self) -> Columns:
        """The columns of `matrix`, or those of basis functions, which have no unit."""
        return Columns() if self.options.form.model == "gauss" else read_columns(self.matrix, self.weights)

    @cached_property
    def lam(self) -> float:
        """The ridge: of a linear model in the units of `X`, four times as large for columns twice as large."""
        model = self.options.form.model
        if self.options.lam is not None:
            return self.options.lam
        if model == "mlp":
            return _NETWORK_LAM
        # The fewer positive rows there are, the less certain are means over them. Weights may stand for repeated rows.
        mass = max(float(np.count_nonzero(self.labels == 1)), self.mass(1))
        size = self.columns.size
        if not 0 < size * size < math.inf:
            raise ValueError(
                f"X must have columns of a size whose square float64 can hold, because the default of lam is "
                f"proportional to it, got the size {size:.3g}; scale X, or pass lam"
            )
        return _RIDGE[model] * self.prior / math.sqrt(mass) * size * size

    def params(self) -> dict[str, Any]:
        """Return what a model keeps of the rows and the options."""
        return {
            "method": self.options.function,
            "prior": self.options.prior,
            "scenario": self.options.scenario,
            "prior_among_unlabeled": self.prior,
            "lam": self.lam,
            **self.options.params(),
        }


def open_risk_rows(X: MatrixLike, y: LabelsLike, sample_weight: VectorLike | None, options: RiskOptions) -> RiskRows:
    """Check the rows, labels and weights of a public function."""
    require_rows(X, options.function)
    rows = open_training_rows(check_matrix(X), y, sample_weight, options.function)
    prior = prior_among_unlabeled(options.prior, n_pos=rows.mass(1), n_unl=rows.mass(0), scenario=options.scenario)
    basis = options.form.basis(rows, options.generator, options.n_threads)
    return RiskRows(
        matrix=rows.matrix,
        labels=rows.labels,
        weights=rows.weights,
        numbers=rows.numbers,
        n_given=rows.n_given,
        options=options,
        prior=prior,
        basis=basis,
    )
