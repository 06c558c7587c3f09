"""The code that `fit_upu` and `fit_nnpu` share: rows, basis functions, the fit by Adam, models and warnings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu import _core
from fastpu.common._params import MANY, check_float, check_random_state
from fastpu.common._progress import make_callback
from fastpu.common._text import describe
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import warn
from fastpu.data._matrix import DenseMatrix
from fastpu.data._validate import check_labels, check_matrix, check_sample_weight, well_scaled
from fastpu.data.binned_features import require_rows
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.kernels._gauss_basis import default_bandwidth, gauss_features, open_centers
from fastpu.model._model import refuse_nan_scores
from fastpu.model._prior import check_prior, check_scenario, prior_among_unlabeled
from fastpu.risk._arguments import RiskRound
from fastpu.risk._columns import Columns, read_columns
from fastpu.risk._split import split_rows
from fastpu.risk.risk_machine import RiskMachine
from fastpu.risk.risk_network import RiskNetwork
from fastpu.svm._arguments import require_both

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fastpu.data._matrix import Matrix
    from fastpu.model._model import Model
    from fastpu.risk._arguments import Rule, Shape, Training


#: The default of lam is this times prior / sqrt(positive rows), for rows of the size 1; chosen by measurement.
_RIDGE = {"linear": 1.0, "gauss": 0.05, "mlp": 0.0}


# ------------------------------------------------------------------------------------------------------ rows


@dataclass(frozen=True)
class Rows:
    """The rows whose weight is not 0, with the prior among the unlabelled ones.

    `features` is what the fit is linear in: `matrix`, or the basis functions around `centers`.
    """

    function: str
    matrix: Matrix
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
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
        """The ridge on weights in the units of `X`, which for columns twice as large must be four times as large."""
        if self.given_lam is not None or _RIDGE[self.model] == 0:
            return self.given_lam or 0.0
        # The fewer positive rows there are, the less certain are means over them. Weights may stand for repeated rows.
        positive = self.labels == 1
        n_pos = float(np.count_nonzero(positive))
        mass = n_pos if self.weights is None else max(n_pos, float(self.weights[positive].sum()))
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


def open_rows(
    X: object,
    y: object,
    *,
    function: str,
    prior: object,
    scenario: object,
    lam: object,
    shape: Shape,
    sample_weight: object,
    random_state: object,
    n_threads: object,
) -> Rows:
    ridge = None if lam is None else check_float("lam", lam, low=0)
    given = check_prior(prior)
    drawn_as = check_scenario(scenario)
    threads = resolve_n_threads(n_threads)
    generator = check_random_state(random_state)
    require_rows(X, function)
    matrix = check_matrix(X)
    labels = check_labels(y, matrix.n_rows, pu_only=function)
    weights = check_sample_weight(sample_weight, matrix.n_rows)
    if weights is not None:
        weights = well_scaled(weights)
    if weights is not None and not weights.all():
        require_both(labels * 2 - 1, weights, function, ("positive", "unlabelled"))
        kept = np.flatnonzero(weights).astype(np.int64)  # rows of weight 0 must not even influence rounding errors
        matrix = matrix[kept]
        labels, weights = labels[kept], weights[kept]
    if weights is not None and (weights == 1).all():
        weights = None
    mass = np.ones(labels.size) if weights is None else weights
    n_pos, n_unl = float(mass[labels == 1].sum()), float(mass[labels == 0].sum())
    share = prior_among_unlabeled(given, n_pos=n_pos, n_unl=n_unl, scenario=drawn_as)
    features = matrix
    centers = bandwidth = None
    if shape.model == "gauss":
        centers = open_centers(matrix, shape.centers, shape.n_centers, weights, generator)
        bandwidth = shape.bandwidth or default_bandwidth(matrix, weights, centers)
        features = DenseMatrix(gauss_features(matrix, centers, bandwidth, threads))
    return Rows(
        function=function,
        matrix=matrix,
        labels=labels,
        weights=weights,
        prior=share,
        given_prior=given,
        scenario=drawn_as,
        features=features,
        centers=centers,
        bandwidth=bandwidth,
        given_lam=ridge,
        model=shape.model,
        generator=generator,
        n_threads=threads,
    )


def _check_eval_set(eval_set: object, rows: Rows) -> tuple[Matrix | None, NDArray[np.int8] | None]:
    """Return the evaluation rows in the form of the training rows, and their labels."""
    if eval_set is None:
        return None, None
    if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
        raise TypeError(f"eval_set must be one pair (X, y), got {describe(eval_set)}")
    X, y = eval_set
    matrix = check_matrix(
        X, name="X of eval_set", n_features=rows.matrix.n_features, feature_names=rows.matrix.feature_names
    )
    labels = check_labels(y, matrix.n_rows, name="y of eval_set", pu_only=rows.function)
    with np.errstate(over="ignore"):
        matrix = matrix.convert(rows.matrix.dtype, sparse=rows.matrix.is_sparse)
    if not np.isfinite(matrix.entries).all():
        raise ValueError(f"X of eval_set must hold numbers of {rows.matrix.dtype}, the dtype of X, got larger ones")
    if rows.centers is not None and rows.bandwidth is not None:
        matrix = DenseMatrix(gauss_features(matrix, rows.centers, rows.bandwidth, rows.n_threads))
    return matrix, labels


# ------------------------------------------------------------------------------------------------------ Adam


def fit_by_adam(
    rows: Rows,
    shape: Shape,
    training: Training,
    *,
    title: str,
    rule: Rule,
    eval_set: object,
    callback: object,
    progress: object,
) -> RiskMachine | RiskNetwork:
    """Fit by Adam and return the model."""
    eval_rows, eval_labels = _check_eval_set(eval_set, rows)
    eval_weights = None
    features = rows.columns.moved(rows.features)
    eval_rows = None if eval_rows is None else rows.columns.moved(eval_rows)
    start = _start(rows, shape)
    seed = int(rows.generator.integers(2**63))
    # A linear model is stopped by the risk that it is fitted to: it has one minimum, and a ridge against overfitting.
    holds_out = training.patience is not None and shape.model == "mlp" and eval_rows is None
    split = split_rows(
        rows.labels,
        rows.weights,
        fraction=training.validation_fraction if holds_out else None,
        batch_size=training.batch_size,
        generator=rows.generator,
    )
    if split.held is not None:
        eval_rows, eval_labels = features[split.held], rows.labels[split.held]
        eval_weights = split.held_weights
    stops = training.patience is not None and (eval_rows is not None or shape.model != "mlp")
    n_epochs = training.epochs(stops=stops)
    with make_callback(callback, progress, total=n_epochs, description=title) as hook:

        def on_epoch(epoch: int, risk: float, n_reversed: int, eval_risk: float) -> bool:
            judged = None if eval_rows is None else eval_risk
            return hook is not None and hook(RiskRound(epoch, n_epochs, risk, judged, n_reversed))

        result = _core.fit_nnpu(
            features,
            rows.labels,
            split.weights,
            start,
            loss=shape.loss,
            prior=rows.prior,
            non_negative=rule.non_negative,
            beta=rule.beta,
            gamma_nn=rule.gamma_nn,
            lam=rows.lam,
            weight_decay=training.weight_decay,
            learning_rate=training.learning_rate,
            scale=rows.columns.size,
            n_epochs=min(n_epochs, MANY),
            batch_size=min(split.batch_size or 0, MANY),
            seed=seed,
            early_stopping_rounds=min(training.patience or 0, MANY) if stops else 0,
            chosen=split.chosen,
            eval_x=eval_rows,
            eval_labels=eval_labels,
            eval_weights=eval_weights,
            callback=None if hook is None else on_epoch,
            n_threads=rows.n_threads,
        )
    history = {
        "risk": result["risk"],
        "positive_risk": result["positive"],
        "negative_risk": result["negative"],
        "n_reversed": result["n_reversed"],
    }
    if eval_rows is not None:
        history["eval_risk"] = result["eval_risk"]
    kept = result["best_epoch"]
    params = {
        "method": rows.function,
        **rows.params(),
        **shape.params(),
        **rule.params(),
        **training.params(),
        "n_epochs": n_epochs,
    }
    model = _make_model(
        rows,
        rows.columns.moved_back(result["net"]),
        params=params,
        n_iter=kept,
        # A fit that ran all its epochs is complete, unless a rule should have stopped it earlier.
        converged=result["status"] == ("early_stopping" if stops else "n_epochs"),
        status=result["status"],
        objective=result["risk"][:kept],
        history=history,
    )
    unfinished = ""
    if stops and model.status == "n_epochs":
        last = (
            f"the risk of the training rows still fell by a thousandth within the last {training.patience} of them"
            if eval_rows is None
            else f"the least risk of {'the rows held out' if holds_out else 'eval_set'} so far, "
            f"{float(history['eval_risk'][kept - 1]):.4g}, is that of epoch {kept}, and {training.patience} epochs "
            f"must pass without a lower one"
        )
        unfinished = (
            f"all n_epochs = {n_epochs} epochs were run before early stopping ended them: {last}; raise n_epochs or "
            f"learning_rate, or pass early_stopping_rounds=None"
        )
    warn_of(model, rows, unfinished)
    return model


def _make_model(rows: Rows, net: _core.Net, **fields: Any) -> RiskMachine | RiskNetwork:
    """Return the model of a net: a network, or without hidden units a linear model."""
    if not net["hidden_intercept"].size:
        return make_machine(rows, coef=net["coef"].astype(np.float64), intercept=net["intercept"], **fields)
    return RiskNetwork(
        n_features=rows.matrix.n_features, feature_names=rows.matrix.feature_names, threshold=0.0, **net, **fields
    )


def _start(rows: Rows, shape: Shape) -> _core.Net:
    """Return the parameters that a fit starts from: 0, or for a network LeCun's normal numbers, for rows of size 1."""
    dtype, n_features = rows.features.dtype, rows.features.n_features
    if shape.model != "mlp":
        hidden_coef, coef = np.zeros((n_features, 0)), np.zeros(n_features)
    else:
        hidden_coef = rows.generator.standard_normal((n_features, shape.n_hidden)) / math.sqrt(n_features)
        hidden_coef /= rows.columns.size
        coef = rows.generator.standard_normal(shape.n_hidden) / math.sqrt(shape.n_hidden)
    return {
        "hidden_coef": hidden_coef.astype(dtype),
        "hidden_intercept": np.zeros(hidden_coef.shape[1], dtype=dtype),
        "coef": coef.astype(dtype),
        "intercept": 0.0,
    }


# ---------------------------------------------------------------------------------------- models and warnings


def make_machine(
    rows: Rows, *, coef: NDArray[np.float64], intercept: float, params: Mapping[str, object], **common: Any
) -> RiskMachine:
    """Return a linear model in the features of the rows."""
    arrays: dict[str, Any] = {} if rows.centers is None else rows.centers.fields("centers")
    return RiskMachine(
        n_features=rows.matrix.n_features,
        feature_names=rows.matrix.feature_names,
        threshold=0.0,
        params=params,
        basis="linear" if rows.centers is None else "gauss",
        coef=coef,
        intercept=intercept,
        bandwidth=rows.bandwidth,
        **arrays,
        **common,
    )


def warn_of(model: Model, rows: Rows, unfinished: str) -> None:
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
    verdict = "positive" if n_called else "negative"
    n_other = among.size * ((1 - rows.prior) if n_called else rows.prior)  # rows that should not be called that
    is_for_all = bool((is_called == is_called[0]).all())
    if not is_for_all and n_other < 1:
        return
    of = f"{scores.size} training" if is_for_all else f"{among.size} unlabelled"
    scores = scores if is_for_all else scores[rows.labels == 0]
    warn(
        f"{rows.function}: the model calls all {of} rows {verdict}: their scores are between {scores.min():.3g} and "
        f"{scores.max():.3g}. By the prior, {n_other:.3g} of the unlabelled rows are of the other class. Scale the "
        f"features, lower lam or train it for longer; where the classes overlap this much, rank by the scores, or take "
        f"the threshold that fits the prior (with_threshold)",
        DegenerateModelWarning,
    )
