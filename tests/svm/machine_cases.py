"""Fits, data and comparisons that the tests of the kernel machines share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from oracles.svm import kernel_matrix

#: Scores of one and the same model by another sum, against the sum of the sizes of its terms.
SCORE_TOL = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}

#: What `tol` of a fit allows two optimal models to differ by, with room for the condition of the problem.
TIGHT, FIT_TOL = 1e-9, 1e-5


@dataclass(frozen=True)
class Fit:
    """One of the public functions, with what it needs beside rows and labels {+1, -1}."""

    function: Callable[..., fastpu.models.KernelMachine]
    labels: str  # "PN", "PU" or none
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, X: Any, y: Any, **options: Any) -> fastpu.models.KernelMachine:
        return self.with_labels(X, self.coded(y), **options)

    def with_labels(self, X: Any, y: Any, **options: Any) -> fastpu.models.KernelMachine:
        given = (X, y) if self.labels else (X,)
        return self.function(*given, **{**self.options, **options})

    def coded(self, y: Any) -> np.ndarray:
        """Labels {+1, -1} as the function wants them."""
        return np.where(np.asarray(y) == 1, 1, -1 if self.labels == "PN" else 0)


FITS = {
    "svm": Fit(fastpu.baselines.fit_svm, "PN"),
    "nu_svm": Fit(fastpu.baselines.fit_nu_svm, "PN", {"nu": 0.75}),
    "one_class_svm": Fit(fastpu.baselines.fit_one_class_svm, "", {"nu": 0.5}),
    "bsvm": Fit(fastpu.fit_bsvm, "PU", {"C_pos": 1.0, "C_unl": 0.8, "kernel": "rbf"}),
    "bagging_svm": Fit(fastpu.fit_bagging_svm, "PU", {"n_bags": 5, "random_state": 3, "kernel": "rbf"}),
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)

#: Those that solve one problem.
SINGLE = {name: fit for name, fit in FITS.items() if name != "bagging_svm"}
each_single_fit = pytest.mark.parametrize("fit", SINGLE.values(), ids=SINGLE)

KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.1},
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)

FORMS = {
    "dense64": lambda X: X,
    "dense32": lambda X: X.astype(np.float32),
    "csr64": sp.csr_array,
    "csr32": lambda X: sp.csr_array(X.astype(np.float32)),
}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def two_groups(n: int = 60, d: int = 4, *, seed: int = 0, apart: float = 1.2) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two overlapping groups, to one side of the origin, some entries 0; all of it exact in float32."""
    rng = np.random.default_rng([51, seed])
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = rng.normal(size=(n, d)) + 0.7
    X[:, : max(1, d // 2)] += apart * (y[:, None] == 1)
    X[rng.random(X.shape) < 0.25] = 0.0
    return np.round(X * 64) / 64, y


def kernel_values(A: Any, B: Any, model: fastpu.models.KernelMachine) -> np.ndarray:
    """The kernel of a model between the rows of two matrices, by its definition."""
    A, B = (M.toarray() if sp.issparse(M) else M for M in (A, B))
    return kernel_matrix(A, B, kernel=model.kernel, gamma=model.gamma, degree=model.degree, coef0=model.coef0)


def assert_scores(
    model: fastpu.models.KernelMachine, found: np.ndarray, X: Any, X_train: Any, dtype: Any = np.float64
) -> None:
    """`found` are the scores of X, up to the rounding of sums of kernel values of type `dtype`."""
    K = kernel_values(X, X_train[model.support], model)
    size = float((np.abs(K) @ model.alpha).max()) + abs(model.intercept)
    atol = SCORE_TOL[np.dtype(dtype)] * size
    np.testing.assert_allclose(found, K @ model.dual_coef + model.intercept, rtol=0, atol=atol)
