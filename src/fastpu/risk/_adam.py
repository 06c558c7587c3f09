"""How `fit_nnpu` trains by Adam: its arguments, the rows to train on and those that judge the epochs, and the model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._progress import make_report, on_round
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._training_rows import check_eval_pair
from fastpu.data._validate import check_labels, check_matrix
from fastpu.kernels._gauss_basis import gauss_features
from fastpu.risk._fit import RiskRound, RiskRows, Shape, make_model, warn_of
from fastpu.risk.risk_machine import RiskMachine, RiskNetwork

_LEAST_HELD = 10  # fewest positive rows to hold out: the risk of fewer is too noisy to stop by
_ROWS_A_BATCH = 1000  # fewest rows in a batch of batch_size="auto"
_POSITIVES_A_BATCH = 10  # fewest positive rows in such a batch, on average
# Weighted rows are shuffled as copies of themselves: at most so many in all, or four for each row if that is more. The
# time of an epoch grows with the copies.
_MOST_COPIES = 2**17


def n_held_out(n_pos: int, fraction: float) -> int:
    """Return how many positive rows are held out: 0 if they would be too few for a reliable risk."""
    count = round(fraction * n_pos)
    return count if _LEAST_HELD <= count < n_pos else 0


class Split:
    """The numbers of the rows to train on and to hold out. In batches a row of weight 3 is listed three times.

    `fraction` of the positive and of the unlabelled rows are held out, unless it is None. `chosen` are the rows to
    train on (None for all), and `weights` are their weights each time they are listed (None for 1). `held` are the rows
    held out to judge the epochs (None for none).
    """

    def __init__(
        self,
        labels: NDArray[np.int8],
        weights: NDArray[np.float64] | None,
        *,
        fraction: float | None,
        batch_size: int | str | None,
        generator: np.random.Generator,
    ) -> None:
        copies = np.ones(labels.size, dtype=np.int64) if weights is None else _copies(weights)
        held = np.zeros(labels.size, dtype=np.int64)
        if fraction is not None and n_held_out(int(copies[labels == 1].sum()), fraction):
            for group in (1, 0):
                rows = np.repeat(np.flatnonzero(labels == group), copies[labels == group])
                count = min(max(1, round(fraction * rows.size)), rows.size - 1)
                held += np.bincount(generator.choice(rows, count, replace=False), minlength=labels.size)
        left, is_held = copies - held, bool(held.any())
        each = None if weights is None else weights / copies
        self.batch_size = _batch_size(left, labels) if isinstance(batch_size, str) else batch_size
        if self.batch_size is None:  # each row is listed once, with all that is left of its weight
            self.chosen = np.flatnonzero(left) if is_held else None
            self.weights = weights if not is_held or each is None else each * left
        else:
            self.chosen = np.repeat(np.arange(labels.size), left) if is_held or weights is not None else None
            self.weights = each
        self.held = np.flatnonzero(held) if is_held else None
        self.held_weights = None if each is None or self.held is None else (each * held)[self.held]


def _copies(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of copies of each row in the shuffled list: its weight if that is an integer."""
    most = max(_MOST_COPIES, 4 * weights.size)
    total = float(weights.sum())
    scaled = weights * (most / total) if total > most else weights
    return np.maximum(1, np.rint(scaled)).astype(np.int64)


def _batch_size(left: NDArray[np.int64], labels: NDArray[np.int8]) -> int | None:
    """Return the size of batches with enough rows, and enough positive ones, in each; None for all rows at once."""
    n, n_pos = int(left.sum()), int(left[labels == 1].sum())
    n_batches = min(n // _ROWS_A_BATCH, n_pos // _POSITIVES_A_BATCH)
    return -(-n // n_batches) if n_batches > 1 else None


_RATES = {"linear": 0.05, "gauss": 0.02, "mlp": 0.01}  # Adam's learning rates, chosen by measurement
_PATIENCE = 30  # early_stopping_rounds="auto"
_EPOCHS = 100  # epochs by default if no rule may stop the fit earlier
_MOST_EPOCHS = 2000  # most epochs by default if a rule may stop the fit earlier


class AdamOptions:
    """The arguments of a fit by Adam, checked by their names.

    `n_epochs` is None if it depends on whether a rule may stop the fit earlier.
    """

    def __init__(self, shape: Shape, given: Mapping[str, Any]) -> None:
        batch_size, n_epochs, patience = given["batch_size"], given["n_epochs"], given["early_stopping_rounds"]
        rate, fraction = given["learning_rate"], given["validation_fraction"]
        self.beta = check_float("beta", given["beta"], low=0)
        self.gamma_nn = check_float("gamma_nn", given["gamma_nn"], low=0, high=1)
        self.learning_rate = _RATES[shape.model]
        if rate is not None:
            self.learning_rate = check_float("learning_rate", rate, low=0, open_low=True)
        self.batch_size: int | str | None = None
        if isinstance(batch_size, str):
            word = check_choice("batch_size", batch_size, ("auto",))
            # A linear model has one minimum, and an epoch takes little time: all rows make one batch.
            self.batch_size = word if shape.model == "mlp" else None
        elif batch_size is not None:
            self.batch_size = check_int("batch_size", batch_size, low=1)
        self.n_epochs = None if n_epochs is None else check_int("n_epochs", n_epochs, low=1)
        self.validation_fraction = check_float(
            "validation_fraction", fraction, low=0, high=1, open_low=True, open_high=True
        )
        self.early_stopping_rounds: int | None = None
        if isinstance(patience, str):
            check_choice("early_stopping_rounds", patience, ("auto",))
            self.early_stopping_rounds = _PATIENCE if n_epochs is None else None
        elif patience is not None:
            self.early_stopping_rounds = check_int("early_stopping_rounds", patience, low=1)


Judges: TypeAlias = tuple[Matrix, NDArray[np.int8], NDArray[np.float64] | None]


def _check_eval_set(eval_set: object, rows: RiskRows) -> Judges | None:
    """Return the evaluation rows in the form of the training rows, their labels, and None for weights."""
    if eval_set is None:
        return None
    X, y = check_eval_pair(eval_set)
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
    return rows.columns.moved(matrix), labels, None


def fit_by_adam(rows: RiskRows, training: AdamOptions, given: Mapping[str, Any]) -> RiskMachine | RiskNetwork:
    judges = _check_eval_set(given["eval_set"], rows)
    patience, is_network = training.early_stopping_rounds, rows.shape.model == "mlp"
    features = rows.columns.moved(rows.features)
    start = _start(rows)
    seed = int(rows.generator.integers(2**63))
    # A linear model is stopped by the risk that it is fitted to: it has one minimum, and a ridge against overfitting.
    holds_out = patience is not None and is_network and judges is None
    split = Split(
        rows.labels,
        rows.weights,
        fraction=training.validation_fraction if holds_out else None,
        batch_size=training.batch_size,
        generator=rows.generator,
    )
    if split.held is not None:
        judges = features[split.held], rows.labels[split.held], split.held_weights
    stops = patience is not None and (judges is not None or not is_network)
    n_epochs = training.n_epochs or (_MOST_EPOCHS if stops else _EPOCHS)
    with make_report(given["callback"], given["progress"], total=n_epochs, description="nnPU") as report:

        def info(epoch: int, risk: float, _p: float, _n: float, n_reversed: int, eval_risk: float) -> RiskRound:
            return RiskRound(epoch, n_epochs, risk, None if judges is None else eval_risk, n_reversed)

        options = _core.NnpuOptions(
            loss=rows.shape.loss,
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
            eval_rows=judges,
            callback=on_round(report, info),
            n_threads=rows.n_threads,
        )
    history = {
        "risk": result["risk"],
        "positive_risk": result["positive"],
        "negative_risk": result["negative"],
        "n_reversed": result["n_reversed"],
    }
    if judges is not None:
        history["eval_risk"] = result["eval_risk"]
    kept = result["best_epoch"]
    model = _model_of_net(
        rows,
        rows.columns.moved_back(result["net"]),
        params={**rows.params(), **vars(training), "n_epochs": n_epochs},
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
            if judges is None
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


def _start(rows: RiskRows) -> _core.Net:
    """Return the parameters that a fit starts from: 0, or for a network LeCun's normal numbers, for rows of size 1."""
    dtype, n_features = rows.features.dtype, rows.features.n_features
    if rows.shape.model != "mlp":
        hidden_coef, coef = np.zeros((n_features, 0)), np.zeros(n_features)
    else:
        hidden_coef = rows.generator.standard_normal((n_features, rows.shape.n_hidden)) / math.sqrt(n_features)
        hidden_coef /= rows.columns.size
        coef = rows.generator.standard_normal(rows.shape.n_hidden) / math.sqrt(rows.shape.n_hidden)
    return {
        "hidden_coef": hidden_coef.astype(dtype),
        "hidden_intercept": np.zeros(hidden_coef.shape[1], dtype=dtype),
        "coef": coef.astype(dtype),
        "intercept": 0.0,
    }
