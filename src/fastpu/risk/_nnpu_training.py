"""How `fit_nnpu` trains by Adam: the rows that judge the epochs, the start, and the rule that stops the fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import MANY
from fastpu.common._progress import Report, on_round
from fastpu.data._matrix import DenseMatrix, Matrix
from fastpu.data._training_rows import check_eval_pair
from fastpu.data._validate import check_labels, check_matrix
from fastpu.kernels._basis import GaussBasis
from fastpu.kernels._gauss_basis import gauss_features
from fastpu.risk._held_out import HeldOutSplit
from fastpu.risk._options import NnpuOptions
from fastpu.risk._risk_rows import RiskRows
from fastpu.risk.risk_machine import RiskRound

_EPOCHS = 100  # epochs by default if no rule may stop the fit earlier
_MOST_EPOCHS = 2000  # most epochs by default if a rule may stop the fit earlier


@dataclass(frozen=True)
class JudgingRows:
    """Rows whose risk is computed after every epoch, in the form of the training rows."""

    matrix: Matrix
    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None


@dataclass(frozen=True)
class TrainingPlan:
    """What is trained on, and when training ends.

    Training stops early only if `stops_early`. Without `judging` rows a linear model is stopped by the risk that it is
    fitted to: it has one minimum, and a ridge against overfitting.
    """

    split: HeldOutSplit
    judging: JudgingRows | None
    n_epochs: int
    stops_early: bool


def open_eval_set(eval_set: object, rows: RiskRows) -> JudgingRows | None:
    """Check the caller's evaluation rows, if there are any."""
    if eval_set is None:
        return None
    X, y = check_eval_pair(eval_set)
    names, basis = rows.matrix.feature_names, rows.basis
    matrix = check_matrix(X, name="X of eval_set", n_features=rows.matrix.n_features, feature_names=names)
    labels = check_labels(y, matrix.n_rows, name="y of eval_set", pu_only=rows.options.function)
    with np.errstate(over="ignore"):
        matrix = matrix.convert(rows.matrix.dtype, sparse=rows.matrix.is_sparse)
    if not np.isfinite(matrix.entries).all():
        raise ValueError(
            f"X of eval_set must hold numbers within the range of {rows.matrix.dtype}, the dtype of X, got larger "
            f"ones; pass X as float64"
        )
    if isinstance(basis, GaussBasis):
        matrix = DenseMatrix(gauss_features(matrix, basis.centers, basis.bandwidth, rows.options.n_threads))
    return JudgingRows(rows.columns.moved(matrix), labels, None)


def start_of_training(rows: RiskRows) -> _core.Net:
    """Return the parameters that a fit starts from: 0, or for a network LeCun's normal numbers, for rows of size 1."""
    dtype, n_features = rows.basis.features.dtype, rows.basis.features.n_features
    form, generator = rows.options.form, rows.options.generator
    if form.model != "mlp":
        hidden_coef, coef = np.zeros((n_features, 0)), np.zeros(n_features)
    else:
        hidden_coef = generator.standard_normal((n_features, form.n_hidden)) / math.sqrt(n_features)
        hidden_coef /= rows.columns.size
        coef = generator.standard_normal(form.n_hidden) / math.sqrt(form.n_hidden)
    return _core.Net(
        hidden_coef=hidden_coef.astype(dtype),
        hidden_intercept=np.zeros(hidden_coef.shape[1], dtype=dtype),
        coef=coef.astype(dtype),
        intercept=0.0,
    )


def plan_training(
    features: Matrix, rows: RiskRows, options: NnpuOptions, eval_rows: JudgingRows | None
) -> TrainingPlan:
    """Hold out rows for a network that may be stopped early and has no evaluation rows."""
    has_patience, is_network = options.early_stopping_rounds is not None, options.form.model == "mlp"
    holds_out = has_patience and is_network and eval_rows is None
    split = HeldOutSplit(
        rows.labels,
        rows.weights,
        fraction=options.validation_fraction if holds_out else None,
        batch_size=options.batch_size,
        generator=options.generator,
    )
    judging = eval_rows
    if split.held_out is not None:
        judging = JudgingRows(features[split.held_out], rows.labels[split.held_out], split.held_out_weights)
    stops_early = has_patience and (judging is not None or not is_network)
    n_epochs = options.n_epochs or (_MOST_EPOCHS if stops_early else _EPOCHS)
    return TrainingPlan(split, judging, n_epochs, stops_early)


def train(
    features: Matrix,
    start: _core.Net,
    rows: RiskRows,
    plan: TrainingPlan,
    options: NnpuOptions,
    seed: int,
    report: Report | None,
) -> _core.NetTraining:
    """Train by Adam; `features` are the rows that the core reads."""
    judging = plan.judging

    def record(epoch: int, risk: float, _p: float, _n: float, n_reversed: int, eval_risk: float) -> RiskRound:
        return RiskRound(epoch, plan.n_epochs, risk, None if judging is None else eval_risk, n_reversed)

    return _core.fit_nnpu(
        features,
        rows.labels,
        plan.split.weights,
        start,
        _core.NnpuOptions(
            loss=options.loss,
            prior=rows.prior,
            beta=options.beta,
            gamma_nn=options.gamma_nn,
            lam=rows.lam,
            learning_rate=options.learning_rate,
            scale=rows.columns.size,
            n_epochs=min(plan.n_epochs, MANY),
            batch_size=min(plan.split.batch_size or 0, MANY),
            seed=seed,
            early_stopping_rounds=min(options.early_stopping_rounds or 0, MANY) if plan.stops_early else 0,
        ),
        chosen=plan.split.chosen,
        eval_rows=None if judging is None else (judging.matrix, judging.labels, judging.weights),
        callback=on_round(report, record),
        n_threads=options.n_threads,
    )
