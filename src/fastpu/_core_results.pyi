"""What functions of `fastpu._core` return: dicts, of which a type checker shall know every entry."""

from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

class MarginSolution(TypedDict):
    coef: NDArray[np.float64]
    intercept: float
    intercept_low: float
    intercept_high: float
    objective: float
    gap: float
    beta: NDArray[np.float64]
    decision: NDArray[np.float64]
    n_iter: int
    status: str
    method: str

class SvmSolution(TypedDict):
    alpha: NDArray[np.float64]
    intercept: float
    margin: float
    objective: float
    gap: float
    violation: float
    n_steps: int
    status: str
    decision: NDArray[np.float64]
    history: dict[str, NDArray[Any]]

class GridChain(TypedDict):
    gamma: float
    rows: NDArray[np.int64]
    labels: NDArray[np.int8] | None
    base: NDArray[np.float64]
    points: list[tuple[float, float, float]]
    held: NDArray[np.int64]

class GridFit(TypedDict):
    support: NDArray[np.int64]
    alpha: NDArray[np.float64]
    intercept: float
    margin: float
    objective: float
    gap: float
    violation: float
    n_steps: int
    status: str
    n_positive: int
    score_range: tuple[float, float]

class PathSolution(TypedDict):
    status: str
    heavier: int
    start_alpha: NDArray[np.float64]
    knots: NDArray[np.float64]
    offsets: NDArray[np.float64]
    weights: NDArray[np.float64]
    objective: NDArray[np.float64]
    norm: NDArray[np.float64]
    n_margin: NDArray[np.int64]
    change_start: NDArray[np.int64]
    change_row: NDArray[np.int32]
    change_alpha: NDArray[np.float64]
    event_knot: NDArray[np.int64]
    event_kind: NDArray[np.uint8]
    event_row: NDArray[np.int32]
    violation: float

class DualSolution(TypedDict):
    alpha: NDArray[np.float64]
    objective: float
    gap: float
    n_iter: int
    status: str
    iterations: NDArray[np.int64]
    objectives: NDArray[np.float64]
    gaps: NDArray[np.float64]

class UpuSolution(TypedDict):
    coef: NDArray[np.float64]
    intercept: float
    risks: NDArray[np.float64]
    decrement: float
    status: str

class Net(TypedDict):
    hidden_coef: NDArray[Any]
    hidden_intercept: NDArray[Any]
    coef: NDArray[Any]
    intercept: float

class NetTraining(TypedDict):
    net: Net
    risk: NDArray[np.float64]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    n_reversed: NDArray[np.int64]
    eval_risk: NDArray[np.float64]
    best_epoch: int
    status: str
