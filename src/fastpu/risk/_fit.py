"""What `fit_upu` and `fit_nnpu` share: arguments, what callbacks see, rows, basis functions, models and warnings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import MANY, check_choice, check_float, check_int, check_random_state
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import one_verdict, warn
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._moments import column_moments
from fastpu.data._training_rows import TrainingRows, open_training_rows
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._gauss_basis import check_bandwidth, default_bandwidth, gauss_features, open_centers
from fastpu.model._model import Model
from fastpu.model._prior import prior_among_unlabeled, take_prior_in
from fastpu.model._scoring import refuse_nan_scores
from fastpu.risk.risk_machine import RiskMachine

_MOST_HIDDEN = 10**6
_CONSTANT = 16  # a column that varies by so many rounding errors of its mean does not vary


@dataclass(frozen=True)
class RiskRound:
    """One epoch of Adam, or one step of Newton's method, as a callback sees it.

    Attributes
    ----------
    round, n_rounds : int
        The number of the epoch or step, from 1, and the most that there may be.
    risk : float
        For Adam the mean risk of the batches of the epoch, each before its step; for Newton's method the risk after the
        step.
    eval_risk : float, or None
        The risk of the evaluation set, or of the rows held out, after the epoch; None without these.
    n_reversed : int
        Batches of the epoch in which nnPU took a step back.
    """

    round: int
    n_rounds: int
    risk: float
    eval_risk: float | None
    n_reversed: int


class Basis(NamedTuple):
    """What f is linear in: the rows, or basis functions around centres."""

    features: Matrix
    centers: Matrix | None
    bandwidth: float | None


class Shape:
    """The form of f, and the loss in the risk that it minimises ("" for a method that has but one).

    Both are checked among a function's arguments, by their names; `other` is said of what another function takes.
    """

    def __init__(
        self, given: Mapping[str, Any], models: Sequence[str], losses: Sequence[str] = (), other: str = ""
    ) -> None:
        self.model = check_choice("model", given["model"], models, other)
        self.loss = check_choice("loss", given["loss"], losses, other) if losses else ""
        self.n_hidden = check_int("n_hidden", given.get("n_hidden", 1), low=1, high=_MOST_HIDDEN)
        self.n_centers = min(check_int("n_centers", given["n_centers"], low=1), MANY)
        self.centers = given["centers"]
        self.bandwidth = check_bandwidth(self.model, self.centers, given["bandwidth"])

    def params(self) -> dict[str, object]:
        params: dict[str, object] = {"loss": self.loss} if self.loss else {}
        params["model"] = self.model
        if self.model == "mlp":
            params["n_hidden"] = self.n_hidden
        if self.model == "gauss":
            params["n_centers"] = self.n_centers if self.centers is None else None
            params["bandwidth"] = self.bandwidth
        return params

    def basis(
        self,
        rows: TrainingRows,
        generator: np.random.Generator,
        n_threads: int,
        check_room: Callable[[int], None] | None = None,
    ) -> Basis:
        if self.model != "gauss":
            return Basis(rows.matrix, None, None)
        centers = open_centers(rows.matrix, self.centers, self.n_centers, rows.weights, generator)
        if check_room is not None:
            check_room(centers.n_rows)
        bandwidth = self.bandwidth or default_bandwidth(rows.matrix, rows.weights, centers)
        return Basis(DenseMatrix(gauss_features(rows.matrix, centers, bandwidth, n_threads)), centers, bandwidth)


@dataclass(frozen=True)
class Columns:
    """What is subtracted from dense rows for Adam, and the size that its rows are divided by (`fit_upu` defines it).

    Adam's steps have one length for all parameters, so a fit must not depend on the unit of the columns. `centre` holds
    the means of the columns whose mean is further from 0 than their standard deviation, and 0 for the others, since
    Adam takes very many steps where a coefficient and the intercept do nearly the same. It is None if there is no such
    column, or the rows are sparse. Columns without an entry, and constant ones far from 0, do not count in `size`.
    """

    centre: NDArray[np.float64] | None = None
    size: float = 1.0

    def moved(self, matrix: Matrix) -> Matrix:
        if self.centre is None or matrix.is_sparse:
            return matrix
        return DenseMatrix(matrix.values - self.centre.astype(matrix.dtype))

    def moved_back(self, net: _core.Net) -> _core.Net:
        """Return a net for rows less the centre as one for rows that are not centred."""
        centre = self.centre
        if centre is None:
            return net
        if not net["hidden_intercept"].size:
            return {**net, "intercept": net["intercept"] - float(centre @ net["coef"])}
        hidden_intercept = net["hidden_intercept"] - centre @ net["hidden_coef"]
        return {**net, "hidden_intercept": hidden_intercept.astype(net["hidden_intercept"].dtype)}


def read_columns(matrix: Matrix, weights: NDArray[np.float64] | None) -> Columns:
    of = column_moments(matrix, weights)
    is_far = np.abs(of.means) > np.sqrt(of.variances)
    shares = np.where(is_far, 1.0, of.shares)
    around = (of.variances + of.means**2) / np.maximum(shares, np.finfo(float).tiny)
    squares = np.where(is_far, of.variances, around)
    rounding = _CONSTANT * float(np.finfo(matrix.dtype).eps)
    counts = (shares > 0) & (squares > 0) & (np.sqrt(squares) > rounding * np.abs(of.means))
    centre = None
    if is_far.any() and not matrix.is_sparse:
        centre = np.where(is_far, of.means * of.unit, 0.0).astype(matrix.dtype).astype(np.float64)
    if not counts.any():
        return Columns(centre)
    size = float(np.median(np.sqrt(squares[counts]))) / math.sqrt(float(shares[counts].mean()))
    return Columns(centre, size * of.unit)


Machine = TypeVar("Machine", bound=RiskMachine)

#: The default of lam is this times prior / sqrt(positive rows), for rows of the size 1; chosen by measurement.
_RIDGE = {"linear": 1.0, "gauss": 0.05}
_NETWORK_LAM = 0.005  # the weight decay in the reference setting of nnPU's authors


class RiskRows(TrainingRows):
    """The training rows and all that says what is minimised on them, checked among a function's arguments.

    `features` is what the fit is linear in: `matrix`, or basis functions around `centers`. `prior` is that among the
    unlabelled rows.
    """

    def __init__(self, function: str, shape: Shape, given: Mapping[str, Any]) -> None:
        self.function, self.shape = function, shape
        self.given_lam = None if given["lam"] is None else check_float("lam", given["lam"], low=0)
        self.given_prior, self.scenario = take_prior_in(given["scenario"], given["prior"])
        self.n_threads = resolve_n_threads(given["n_threads"])
        self.generator = check_random_state(given["random_state"])
        require_rows(given["X"], function)
        rows = open_training_rows(check_matrix(given["X"]), given["y"], given["sample_weight"], function)
        super().__init__(**vars(rows))
        masses = {"n_pos": self.mass(1), "n_unl": self.mass(0)}
        self.prior = prior_among_unlabeled(self.given_prior, **masses, scenario=self.scenario)
        self.features, self.centers, self.bandwidth = shape.basis(rows, self.generator, self.n_threads)

    @cached_property
    def columns(self) -> Columns:
        """The columns of `matrix`, or those of basis functions, which have no unit."""
        return Columns() if self.shape.model == "gauss" else read_columns(self.matrix, self.weights)

    @cached_property
    def lam(self) -> float:
        """The ridge: of a linear model in the units of `X`, four times as large for columns twice as large."""
        if self.given_lam is not None:
            return self.given_lam
        if self.shape.model == "mlp":
            return _NETWORK_LAM
        # The fewer positive rows there are, the less certain are means over them. Weights may stand for repeated rows.
        mass = max(float(np.count_nonzero(self.labels == 1)), self.mass(1))
        size = self.columns.size
        if not 0 < size * size < math.inf:
            raise ValueError(
                f"X must be such that squares of its entries neither overflow nor vanish, got columns of the size "
                f"{size:.3g}, to whose square the default lam is proportional; scale X"
            )
        return _RIDGE[self.shape.model] * self.prior / math.sqrt(mass) * size * size

    def params(self) -> dict[str, object]:
        """Return the arguments about the rows and what is minimised on them, for the model."""
        return {
            "method": self.function,
            "prior": self.given_prior,
            "scenario": self.scenario,
            "prior_among_unlabeled": self.prior,
            "lam": self.lam,
            **self.shape.params(),
        }


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
