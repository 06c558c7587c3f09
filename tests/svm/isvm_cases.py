"""Rows, fits and comparisons that the tests of the large-margin iterations share."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import fastpu
from oracles import isvm

#: Two solutions with relative duality gaps below 1e-9 differ by the square root of that, with room for what it is of.
FIT_TOL = 1e-4

#: Sums over rows in another order.
ROUNDING = 1e-12

#: From where all rows are inside the margin to where few are.
COSTS = 10.0 ** np.arange(-4, 5)


#: The public functions with arguments, for labels {+1, 0}.
FITS = {
    "isvm": partial(fastpu.fit_isvm),
    "ipsi": partial(fastpu.fit_ipsi),
    "bpsi": partial(fastpu.baselines.fit_bpsi, C_pos=0.5, C_unl=0.1),
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)

#: Without the warning of a collapse.
quiet = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")

#: Those of Algorithm 1.
ITERATIONS = {name: fit for name, fit in FITS.items() if name != "bpsi"}
each_iteration = pytest.mark.parametrize("fit", ITERATIONS.values(), ids=ITERATIONS)


def pu_rows(
    n: int = 40, d: int = 3, *, seed: int = 0, share: float = 0.4, apart: float = 1.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of two groups, PU labels {1, 0} and true labels; a share of the positives is labelled, one at least."""
    rng = np.random.default_rng([5, seed])
    truth = np.where(rng.random(n) < 0.5, 1, -1)
    X = rng.normal(size=(n, d))
    X[:, 0] += apart * (truth == 1)
    y = ((truth == 1) & (rng.random(n) < share)).astype(np.int64)
    y[np.flatnonzero(truth == 1)[0]] = 1
    return X, y, truth


def classifier(model: fastpu.models.LinearMachine) -> isvm.Classifier:
    """A model as the oracle knows it."""
    return isvm.Classifier(model.coef, model.intercept, (model.intercept_low, model.intercept_high))


def stepped(fit: Any, X: Any, y: Any, **options: Any) -> list[fastpu.models.LinearMachine]:
    """f_0, f_1, ...: the models of fits that are stopped after each of their steps, and the last of the whole fit."""
    models = []
    for last in range(1000):
        model = fit(X, y, callback=lambda info, last=last: info.step == last, **options)
        models.append(model)
        if model.status != "callback":
            return models
    raise AssertionError("no end")
