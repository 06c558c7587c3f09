"""fit_svm, fit_nu_svm and fit_one_class_svm give the scores of scikit-learn's SVC, NuSVC and OneClassSVM (LIBSVM).

That they are optimal is for their duality gap and the oracle to say; here their parameters mean what they mean there.
"""

from __future__ import annotations

import numpy as np
import pytest

import fastpu

svm = pytest.importorskip("sklearn.svm")
sets = pytest.importorskip("sklearn.datasets")

TOL = 1e-6  # of both solvers
SCORES = 2e-4  # what is left of both, relative to the largest score; LIBSVM's kernel values are float32

KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.25},
    "poly": {"kernel": "poly", "gamma": 0.125, "degree": 3, "coef0": 1.0},
}
DATA_SETS = {
    "iris": lambda: sets.load_iris(return_X_y=True),
    "cancer": lambda: sets.load_breast_cancer(return_X_y=True),
    "moons": lambda: sets.make_moons(120, noise=0.3, random_state=0),
    "noisy": lambda: sets.make_classification(120, 10, n_informative=6, flip_y=0.3, random_state=10),
}


def rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """At most 120 rows of variance 1, on a grid that float32 holds, so that LIBSVM and we see the same."""
    X, y = DATA_SETS[name]()
    y = y == y.max()
    some = np.random.default_rng(95).permutation(len(y))[:120]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.round(X[some] * 256) / 256, np.where(y[some], 1, -1)


def assert_same_scores(ours, theirs, X):
    expected = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), expected, rtol=0, atol=SCORES * np.abs(expected).max())


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", DATA_SETS)
def test_scores_are_those_of_scikit_learn(name, kernel, is_weighted):
    X, y = rows(name)
    w = np.random.default_rng(96).choice([0.25, 1.0, 2.0], size=len(y)) if is_weighted else None
    mass = np.ones(len(y)) if w is None else w
    options = {"tol": TOL, **KERNELS[kernel]}
    given = {"n_threads": 1, **options}
    machine = svm.SVC(C=3.0, **options).fit(X, y, sample_weight=w)
    assert_same_scores(fastpu.baselines.fit_svm(X, y, C=3.0, sample_weight=w, **given), machine, X)
    assert_same_scores(fastpu.baselines.fit_svm(X, y, C=1.5, sample_cost=2 * mass, **given), machine, X)
    if kernel != "linear":  # where the hulls meet the optimum is w = 0, towards which both crawl
        nu = 0.5 * 2 * min(mass[y > 0].sum(), mass[y < 0].sum()) / mass.sum()
        machine = svm.NuSVC(nu=nu, **options).fit(X, y, sample_weight=w)
        assert_same_scores(fastpu.baselines.fit_nu_svm(X, y, nu=nu, sample_weight=w, **given), machine, X)
        machine = svm.OneClassSVM(nu=0.3, **options).fit(X, sample_weight=w)
        assert_same_scores(fastpu.baselines.fit_one_class_svm(X, nu=0.3, sample_weight=w, **given), machine, X)
