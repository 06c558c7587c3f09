"""The code that `fit_upu` and `fit_nnpu` share: rows, basis functions, linear models and warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from fastpu.common._params import check_float, check_random_state
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import one_verdict, warn
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._training_rows import TrainingRows, open_training_rows
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._gauss_basis import gauss_features
from fastpu.model._model import Model, refuse_nan_scores
from fastpu.model._prior import check_prior_in, prior_among_unlabeled
from fastpu.risk._arguments import Shape
from fastpu.risk._columns import Columns, read_columns
from fastpu.risk.risk_machine import RiskMachine

Machine = TypeVar("Machine", bound=RiskMachine)

#: The default of lam is this times prior / sqrt(positive rows), for rows of the size 1; chosen by measurement.
_RIDGE = {"linear": 1.0, "gauss": 0.05}
_NETWORK_LAM = 0.005  # the weight decay in the reference setting of nnPU's authors


@dataclass(frozen=True)
class RiskRows(TrainingRows):
    """The training rows, with the prior among the unlabelled ones.

    `features` is what the fit is linear in: `matrix`, or the basis functions around `centers`.
    """

    function: str
    prior: float
    given_prior: float
    scenario: str
    features: Matrix
    centers: Matrix | None
    bandwidth: float | None
    given_lam: float | None
    model: str
    generator: np.random.Generator
    n_threads: int

    @cached_property
    def columns(self) -> Columns:
        """The columns of `matrix`, or those of basis functions, which have no unit."""
        return Columns() if self.model == "gauss" else read_columns(self.matrix, self.weights)

    @cached_property
    def lam(self) -> float:
        """The ridge: of a linear model in the units of `X`, four times as large for columns twice as large."""
        if self.given_lam is not None:
            return self.given_lam
        if self.model == "mlp":
            return _NETWORK_LAM
        # The fewer positive rows there are, the less certain are means over them. Weights may stand for repeated rows.
        mass = max(float(np.count_nonzero(self.labels == 1)), self.mass(1))
        size = self.columns.size
        if not 0 < size * size < math.inf:
            raise ValueError(
                f"X must be such that squares of its entries neither overflow nor vanish, got columns of the size "
                f"{size:.3g}, to whose square the default lam is proportional; scale X"
            )
        return _RIDGE[self.model] * self.prior / math.sqrt(mass) * size * size

    def params(self) -> dict[str, object]:
        """Return the arguments about the prior, for the model."""
        return {
            "prior": self.given_prior,
            "scenario": self.scenario,
            "prior_among_unlabeled": self.prior,
            "lam": self.lam,
        }


def open_risk_rows(function: str, shape: Shape, given: Mapping[str, Any]) -> RiskRows:
    """Check the rows among a function's arguments, by their names, and what else says what is minimised on them."""
    ridge = None if given["lam"] is None else check_float("lam", given["lam"], low=0)
    prior, drawn_as = check_prior_in(given["scenario"], given["prior"])
    threads = resolve_n_threads(given["n_threads"])
    generator = check_random_state(given["random_state"])
    require_rows(given["X"], function)
    rows = open_training_rows(check_matrix(given["X"]), given["y"], given["sample_weight"], function)
    share = prior_among_unlabeled(prior, n_pos=rows.mass(1), n_unl=rows.mass(0), scenario=drawn_as)
    features, (centers, bandwidth) = rows.matrix, shape.basis(rows, generator)
    if centers is not None and bandwidth is not None:
        features = DenseMatrix(gauss_features(rows.matrix, centers, bandwidth, threads))
    return RiskRows(
        **vars(rows),
        function=function,
        prior=share,
        given_prior=prior,
        scenario=drawn_as,
        features=features,
        centers=centers,
        bandwidth=bandwidth,
        given_lam=ridge,
        model=shape.model,
        generator=generator,
        n_threads=threads,
    )


def make_model(kind: type[Machine], matrix: Matrix, centers: Matrix | None, **fields: Any) -> Machine:
    """Return a linear model in the columns of the rows, or in basis functions around centres."""
    arrays: dict[str, Any] = {} if centers is None else centers.fields("centers")
    return kind(
        n_features=matrix.n_features,
        feature_names=matrix.feature_names,
        threshold=0.0,
        basis="linear" if centers is None else "gauss",
        **arrays,
        **fields,
    )


def warn_of(model: Model, rows: RiskRows, unfinished: str) -> None:
    """Warn of a fit that did not converge, and of a model that calls all rows, or all unlabelled ones, the same."""
    if unfinished:
        warn(f"{rows.function}: {unfinished}", ConvergenceWarning)
    if model.status == "callback":
        return
    scores = refuse_nan_scores(model._decision_function(rows.matrix, rows.n_threads), "X")
    is_called = scores > 0
    among = is_called[rows.labels == 0]
    n_called = int(np.count_nonzero(among))
    if n_called not in (0, among.size):
        return
    n_other = among.size * ((1 - rows.prior) if n_called else rows.prior)  # rows that should not be called that
    is_for_all = bool((is_called == is_called[0]).all())
    if not is_for_all and n_other < 1:
        return
    scores = scores if is_for_all else scores[rows.labels == 0]
    kind = "training" if is_for_all else "unlabelled"
    verdict = one_verdict(scores.size if n_called else 0, scores.size, scores.min(), scores.max(), kind)
    warn(
        f"{rows.function}: the model {verdict}. By the prior, {n_other:.3g} of the unlabelled rows are of the other "
        f"class. Scale the features, lower lam or train it for longer; where the classes overlap this much, rank by "
        f"the scores, or take the threshold that fits the prior (with_threshold)",
        DegenerateModelWarning,
    )
