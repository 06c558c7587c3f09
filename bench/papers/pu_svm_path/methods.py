"""The five methods of the PU-SvmPath paper, with the costs of its Table 1."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from published import COLUMNS

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def _mean_square(X: Any) -> float:
    squares = X.multiply(X).sum() if hasattr(X, "multiply") else np.square(X).sum()
    return float(squares) / X.shape[0]


def _svm_path(X: Any, y: NDArray[np.int8]) -> fastpu.Model:
    return fastpu.fit_svm_path(X, np.where(y > 0, 1, -1), kernel="linear")


def _pu_svm_path(X: Any, y: NDArray[np.int8]) -> fastpu.Model:
    return fastpu.fit_pu_svm_path(X, y)


def _svm_light(X: Any, y: NDArray[np.int8]) -> fastpu.Model:
    return fastpu.baselines.fit_svm(X, np.where(y > 0, 1, -1), C=1 / _mean_square(X), kernel="linear")


def _bias_svm(X: Any, y: NDArray[np.int8]) -> fastpu.Model:
    positive, other = y > 0, y <= 0
    ratio = math.log(np.count_nonzero(other)) / math.log(max(2, np.count_nonzero(positive)))
    return fastpu.fit_bsvm(X, y, C_pos=ratio / _mean_square(X[positive]), C_unl=1 / _mean_square(X[other]))


def _one_class(X: Any, y: NDArray[np.int8]) -> fastpu.Model:
    # The paper does not give its parameters: LIBSVM's defaults.
    return fastpu.baselines.fit_one_class_svm(X[y > 0], nu=0.5, gamma="auto")


METHODS: dict[str, Callable[[Any, NDArray[np.int8]], fastpu.Model]] = dict(
    zip(COLUMNS, (_svm_path, _pu_svm_path, _svm_light, _bias_svm, _one_class), strict=True)
)


def run_all(X: Any, y: NDArray[np.int8], test: Any, truth: NDArray[np.int8]) -> dict[str, dict[str, float | str]]:
    """Fit all methods; return F1 on the test rows in percent, and the status of each fit."""
    found: dict[str, dict[str, float | str]] = {}
    for column, fit in METHODS.items():
        with warnings.catch_warnings():
            # That all rows are called the same is a result here.
            warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)
            model = fit(X, y)
        predicted = model.predict(test) > 0
        right = int(np.count_nonzero(predicted & (truth > 0)))
        called = int(np.count_nonzero(predicted)) + int(np.count_nonzero(truth > 0))
        found[column] = {"f1": 200.0 * right / called, "status": model.status}
    return found
