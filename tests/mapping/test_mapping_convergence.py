"""SMC and SVMC against the loop written over scikit-learn, and the mathematics of mapping convergence."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.mapping import _boundaries as _mapping_svm
from machine_cases import each_kernel
from mapping_cases import (
    FIT_TOL,
    FITS,
    ORACLE,
    TIGHT,
    each_fit,
    groups,
    line,
    map_below,
    never_rejected,
    rejected_in,
)
from oracles import mapping_convergence as oracle

#: LIBSVM keeps its kernel in float32: what that leaves open in its scores, relative to the largest.
LIBSVM_TOL = 1e-3

# The groups overlap, and over-iteration is not what most of these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:the last boundary of:fastpu.exceptions.DegenerateModelWarning")

SEEDS = [(seed, k) for seed in (0, 1, 3, 4) for k in (6, 12)]


# -- fast equals slow --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("psi2", [{"C": 1.0}, {"C": 100.0}, {"nu": 0.05}], ids=["C1", "C100", "nu"])
@pytest.mark.parametrize(("seed", "k"), SEEDS)
@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_fit_equals_the_oracle(name, seed, k, psi2):
    X, y, _ = groups(seed, k=k)
    model = FITS[name](X, y, tol=TIGHT, gamma=1.0, **psi2)
    run = oracle.mapping_convergence(X, y, gamma=1.0, **ORACLE[name], **psi2)
    assert model.n_iter == len(run.fits)
    for found, expected in zip(rejected_in(model), run.found, strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(never_rejected(model), run.left)
    np.testing.assert_array_equal(model.history["kind"][1:], run.kinds)
    np.testing.assert_array_equal(model.history["n_neg"][1:], [len(rows) for rows in run.trained_on])
    np.testing.assert_array_equal(model.history["n_support_neg"][1:], [len(rows) for rows in run.support])
    assert (model.status, model.converged, model.used_fallback) == ("converged", True, False)

    boundaries = [run.mapping, *(machine.decision_function for machine in run.fits)]
    for scores, boundary in zip(model.staged_decision_function(X), boundaries, strict=True):
        expected = boundary(X)
        # Where the margin of a nu-SVM is small, its division by it makes rounding large.
        atol = LIBSVM_TOL * np.abs(expected).max() * (1 if "C" in psi2 else 100)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=atol)


# -- the invariants of the specification -------------------------------------------------------------------------------


@each_fit
def test_with_a_gap_the_set_is_that_of_the_hidden_positives(fit, monkeypatch):
    """The boundary halves its distance to P until it stands in the gap."""
    X, y = line()
    map_below(monkeypatch, 2.02)  # such that no row lies on a boundary
    model = fit(X, y, C=1e3, kernel="linear", tol=1e-6)
    np.testing.assert_array_equal(never_rejected(model), np.flatnonzero((X[:, 0] > 9) & (y == 0)))
    places = [-boundary.intercept / boundary.coef[0] for boundary in map(model.at, range(1, model.n_iter + 1))]
    np.testing.assert_allclose(places, [6.025, 8.025, 9.025], atol=1e-6)
    assert model.predict([[8.9], [9.1]]).tolist() == [-1, 1]


# -- the stages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("nu_map", [0.01, 0.5])
@each_kernel
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_the_mapping_covers_all_positives_and_their_copies(kernel, nu_map, dtype):
    X, y, _ = groups(2, n=200)
    positive = np.flatnonzero(y == 1)
    X, y = np.concatenate([X, X[positive]]).astype(dtype), np.append(y, np.zeros(positive.size, int))
    for rows in (X, sp.csr_array(X)):
        model = fastpu.fit_smc(rows, y, nu_map=nu_map, max_iter=300, **kernel)
        mapping = model.at(0)
        scores = mapping.decision_function(rows)
        assert scores[positive].min() >= 0
        assert scores[positive].min() <= 1e-5 * np.abs(scores).max()
        assert (model.rejected_by[-positive.size :] != 0).all()
        assert (mapping.alpha > 0).all()
        assert mapping.alpha.sum() == pytest.approx(max(nu_map, 1 / positive.size) * positive.size)
        if not model.used_fallback:
            np.testing.assert_array_equal(model.rejected_by == 0, scores[model.unlabeled_rows] < 0)


def test_nu_of_the_mapping_is_at_least_one_positive():
    X, y, _ = groups(0, n=100)
    few = np.where(np.cumsum(y) <= 3, y, 0)
    a, b = (fastpu.fit_smc(X, few, nu_map=nu_map, gamma=1.0, C=100) for nu_map in (1e-6, 1 / 3))
    np.testing.assert_array_equal(a.at(0).dual_coef, b.at(0).dual_coef)


@pytest.mark.parametrize("shift", [1e3, -1e3], ids=["nothing", "everything"])
@each_fit
def test_a_mapping_without_strong_negatives_falls_back_to_the_lowest_few(fit, shift, monkeypatch):
    X, y = line()
    map_below(monkeypatch, shift)
    with pytest.warns(
        fastpu.exceptions.DegenerateModelWarning, match="called all 172 unlabelled rows the same, and the 9"
    ) as caught:
        model = fit(X, y, C=1e3, kernel="linear")
    assert caught[0].filename == __file__
    assert model.used_fallback
    n_few = int(np.ceil(0.05 * (y == 0).sum()))
    np.testing.assert_array_equal(rejected_in(model)[0], np.flatnonzero(y == 0)[:n_few])
    np.testing.assert_array_equal(never_rejected(model), np.flatnonzero((X[:, 0] > 9) & (y == 0)))


def test_rows_that_cannot_be_told_apart_are_taken_by_their_order():
    X, y = np.zeros((42, 2)), np.repeat([1, 0], [2, 40])
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning) as caught:
        model = fastpu.fit_smc(X, y)
    assert model.used_fallback
    assert model.unlabeled_rows[model.rejected_by == 0].tolist() == [2, 3]
    assert any("lowest scores" in str(w.message) for w in caught)


def test_a_nu_that_is_too_large_is_cut():
    X, y, _ = groups(1)
    model = fastpu.fit_svmc(X, y, nu=0.9, gamma=1.0)
    n_pos = int((y == 1).sum())
    n_neg = model.history["n_neg"][1:]
    bound = 2 * np.minimum(n_pos, n_neg) / (n_pos + n_neg)
    np.testing.assert_allclose(model.history["nu"][1:], np.minimum(0.9, 0.999 * bound))
    assert np.isnan(model.history["nu"][0])
    assert "nu" not in fastpu.fit_svmc(X, y, gamma=1.0, C=100).history


@pytest.mark.parametrize("name", FITS)
def test_a_warm_start_finds_what_a_cold_one_does(name, monkeypatch):
    X, y, _ = groups(3)
    warm = FITS[name](X, y, C=100, gamma=1.0, tol=TIGHT)
    solve = _mapping_svm.SvmStages.separate
    starts = []

    def cold(self, positive, negative):
        starts.append(self._alpha is not None)
        self._alpha = None
        return solve(self, positive, negative)

    monkeypatch.setattr(_mapping_svm.SvmStages, "separate", cold)
    other = FITS[name](X, y, C=100, gamma=1.0, tol=TIGHT)
    assert starts == [False] + [True] * (warm.n_iter - 1)
    np.testing.assert_array_equal(other.rejected_by, warm.rejected_by)
    np.testing.assert_array_equal(other.history["n_neg"], warm.history["n_neg"])
    np.testing.assert_allclose(other.decision_function(X), warm.decision_function(X), atol=FIT_TOL)
