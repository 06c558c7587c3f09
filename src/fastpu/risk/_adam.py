"""How `fit_nnpu` trains by Adam: its arguments, the rows that judge the epochs, and the model that is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._progress import make_callback, of_rounds
from fastpu.common._text import describe
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._validate import check_labels, check_matrix
from fastpu.kernels._gauss_basis import gauss_features
from fastpu.risk._arguments import RiskRound, Shape
from fastpu.risk._fit import RiskRows, make_model, warn_of
from fastpu.risk._split import split_rows
from fastpu.risk.risk_machine import RiskMachine
from fastpu.risk.risk_network import RiskNetwork

_RATES = {"linear": 0.05, "gauss": 0.02, "mlp": 0.01}  # Adam's learning rates, chosen by measurement
_PATIENCE = 30  # early_stopping_rounds="auto"
_EPOCHS = 100  # epochs by default if no rule may stop the fit earlier
_MOST_EPOCHS = 2000  # most epochs by default if a rule may stop the fit earlier


@dataclass(frozen=True)
class Training:
    """The arguments of a fit by Adam; `n_epochs` is None if it depends on whether a rule may stop the fit earlier."""

    beta: float
    gamma_nn: float
    learning_rate: float
    batch_size: int | str | None
    n_epochs: int | None
    validation_fraction: float
    early_stopping_rounds: int | None


def check_training(shape: Shape, given: Mapping[str, Any]) -> Training:
    """Check those of a function's arguments, by their names, that say how f is trained."""
    batch_size, n_epochs, patience = given["batch_size"], given["n_epochs"], given["early_stopping_rounds"]
    size: int | str | None = None
    if isinstance(batch_size, str):
        size = check_choice("batch_size", batch_size, ("auto",))
        if shape.model != "mlp":
            size = None  # a linear model has one minimum, and an epoch takes little time: all rows make one batch
    elif batch_size is not None:
        size = check_int("batch_size", batch_size, low=1)
    epochs = None if n_epochs is None else check_int("n_epochs", n_epochs, low=1)
    if isinstance(patience, str):
        check_choice("early_stopping_rounds", patience, ("auto",))
        patience = _PATIENCE if epochs is None else None
    elif patience is not None:
        patience = check_int("early_stopping_rounds", patience, low=1)
    rate, fraction = given["learning_rate"], given["validation_fraction"]
    return Training(
        beta=check_float("beta", given["beta"], low=0),
        gamma_nn=check_float("gamma_nn", given["gamma_nn"], low=0, high=1),
        learning_rate=_RATES[shape.model] if rate is None else check_float("learning_rate", rate, low=0, open_low=True),
        batch_size=size,
        n_epochs=epochs,
        validation_fraction=check_float("validation_fraction", fraction, low=0, high=1, open_low=True, open_high=True),
        early_stopping_rounds=patience,
    )


def _check_eval_set(eval_set: object, rows: RiskRows) -> tuple[Matrix | None, NDArray[np.int8] | None]:
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


def fit_by_adam(
    rows: RiskRows,
    shape: Shape,
    training: Training,
    *,
    eval_set: object,
    callback: object,
    progress: object,
) -> RiskMachine | RiskNetwork:
    eval_rows, eval_labels = _check_eval_set(eval_set, rows)
    eval_weights, patience = None, training.early_stopping_rounds
    features = rows.columns.moved(rows.features)
    eval_rows = None if eval_rows is None else rows.columns.moved(eval_rows)
    start = _start(rows, shape)
    seed = int(rows.generator.integers(2**63))
    # A linear model is stopped by the risk that it is fitted to: it has one minimum, and a ridge against overfitting.
    holds_out = patience is not None and shape.model == "mlp" and eval_rows is None
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
    stops = patience is not None and (eval_rows is not None or shape.model != "mlp")
    n_epochs = training.n_epochs or (_MOST_EPOCHS if stops else _EPOCHS)
    with make_callback(callback, progress, total=n_epochs, description="nnPU") as hook:

        def info(epoch: int, risk: float, _p: float, _n: float, n_reversed: int, eval_risk: float) -> RiskRound:
            return RiskRound(epoch, n_epochs, risk, None if eval_rows is None else eval_risk, n_reversed)

        options = _core.NnpuOptions(
            loss=shape.loss,
            prior=rows.prior,
            beta=training.beta,
            gamma_nn=training.gamma_nn,
            lam=rows.lam,
            learning_rate=training.learning_rate,
            scale=rows.columns.size,
            n_epochs=min(n_epochs, MANY),
            batch_size=min(split.batch_size or 0, MANY),
            seed=seed,
            early_stopping_rounds=min(patience or 0, MANY) if stops else 0,
        )
        result = _core.fit_nnpu(
            features,
            rows.labels,
            split.weights,
            start,
            options,
            chosen=split.chosen,
            eval_rows=None if eval_rows is None else (eval_rows, eval_labels, eval_weights),
            callback=of_rounds(hook, info),
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
        **vars(training),
        "n_epochs": n_epochs,
    }
    model = _model_of_net(
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
            f"the risk of the training rows still fell by a thousandth within the last {patience} of them"
            if eval_rows is None
            else f"the least risk of {'the rows held out' if holds_out else 'eval_set'} so far, "
            f"{float(history['eval_risk'][kept - 1]):.4g}, is that of epoch {kept}, and {patience} epochs "
            f"must pass without a lower one"
        )
        unfinished = (
            f"all n_epochs = {n_epochs} epochs were run before early stopping ended them: {last}; raise n_epochs or "
            f"learning_rate, or pass early_stopping_rounds=None"
        )
    warn_of(model, rows, unfinished)
    return model


def _model_of_net(rows: RiskRows, net: _core.Net, **fields: Any) -> RiskMachine | RiskNetwork:
    """Return the model of a net: a network, or without hidden units a linear model."""
    if not net["hidden_intercept"].size:
        fields |= {"bandwidth": rows.bandwidth, "coef": net["coef"].astype(np.float64), "intercept": net["intercept"]}
        return make_model(RiskMachine, rows.matrix, rows.centers, **fields)
    return RiskNetwork(
        n_features=rows.matrix.n_features, feature_names=rows.matrix.feature_names, threshold=0.0, **net, **fields
    )


def _start(rows: RiskRows, shape: Shape) -> _core.Net:
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
