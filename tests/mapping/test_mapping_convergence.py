"""SMC and SVMC against the loop written over scikit-learn, and the mathematics of mapping convergence."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.mapping import _svm_stages as _mapping_svm
from mapping_cases import (
    FIT_TOL,
    FITS,
    KERNELS,
    ORACLE,
    TIGHT,
    below,
    each_fit,
    forgetful,
    groups,
    line,
    never_rejected,
    rejected_in,
)
from oracles import mapping_convergence as oracle

#: LIBSVM keeps its kernel in float32: what that leaves open in its scores, relative to the largest.
LIBSVM_TOL = 1e-3

# The groups overlap, and over-iteration is not what most of these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:the last boundary of:fastpu.exceptions.DegenerateModelWarning")

SEEDS = [(seed, k) for seed in (0, 1, 3, 4) for k in (6, 12)]


@pytest.fixture
def training_sets(monkeypatch):
    """The rows of P and of N in every fit of an SVM, in order."""
    sets = []
    separate = _mapping_svm.SvmStages.separate

    def recorded(self, positive, negative):
        sets.append((positive.copy(), negative.copy()))
        return separate(self, positive, negative)

    monkeypatch.setattr(_mapping_svm.SvmStages, "separate", recorded)
    return sets


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


@each_fit
def test_the_labels_are_those_of_the_oracle_at_an_ordinary_tolerance(fit):
    X, y, truth = groups(0, k=6)
    unlabelled = y == 0
    loose, tight = (fit(X, y, C=100, gamma=1.0, tol=tol) for tol in (1e-3, TIGHT))
    assert np.mean(loose.unlabeled_set == tight.unlabeled_set) > 0.98
    assert np.mean((loose.unlabeled_set == 1) == truth[unlabelled]) > 0.95


@pytest.mark.parametrize("name", FITS)
def test_the_printed_method_agrees_with_the_oracle_on_separable_rows(name):
    """Small, separable, a hard margin: every number of the run is determined."""
    rng = np.random.default_rng(4)
    truth = np.arange(60) % 4 == 0
    X = np.where(truth[:, None], 0.0, 4.0) * np.sign(rng.normal(size=(60, 2))) + 0.5 * rng.normal(size=(60, 2))
    y = np.where(truth & (np.arange(60) % 8 == 0), 1, 0)
    X[truth & (y == 0)] *= 0.3  # within the labelled ones
    model = FITS[name](X, y, C=1e4, gamma=0.1, tol=TIGHT)
    run = oracle.mapping_convergence(X, y, C=1e4, gamma=0.1, **ORACLE[name])
    np.testing.assert_array_equal(never_rejected(model), run.left)
    np.testing.assert_array_equal(never_rejected(model), np.flatnonzero(truth & (y == 0)))
    np.testing.assert_array_equal(np.sign(model.decision_function(X)), np.where(truth, 1, -1))
    np.testing.assert_allclose(model.decision_function(X), run.decision_function(X), atol=LIBSVM_TOL)


# -- the invariants of the specification -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@each_fit
def test_every_row_of_u_is_rejected_once_or_left(fit, seed):
    X, y, _ = groups(seed)
    model = fit(X, y, C=30, gamma=1.0)
    history = model.history
    parts = [*rejected_in(model), never_rejected(model)]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.flatnonzero(y == 0))
    np.testing.assert_array_equal(model.unlabeled_rows, np.flatnonzero(y == 0))
    np.testing.assert_array_equal(history["n_new"], [rows.size for rows in parts[:-1]])
    np.testing.assert_array_equal(history["n_left"], (y == 0).sum() - np.cumsum(history["n_new"]))
    assert (np.diff(history["n_left"][:-1]) < 0).all() or model.history["kind"].max() == 2
    assert history["n_new"][-1] == history["n_back"][-1] == 0
    assert set(model.unlabeled_set) <= {-1, 1}
    assert (model.unlabeled_set == 1).sum() == history["n_left"][-1]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["smc", "svmc_paper"])
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_there_are_no_more_fits_than_rows_left_by_the_mapping_and_one(name, seed):
    X, y, _ = groups(seed, n=120)
    model = FITS[name](X, y, C=3, gamma=2.0, max_iter=1000)
    assert model.n_iter <= model.history["n_left"][0] + 1


def test_the_training_set_of_smc_only_grows(training_sets):
    X, y, _ = groups(3)
    model = fastpu.fit_smc(X, y, C=100, gamma=1.0)
    assert len(training_sets) == model.n_iter > 3
    rejected = rejected_in(model)
    for i, (positive, negative) in enumerate(training_sets):
        np.testing.assert_array_equal(positive, np.flatnonzero(y == 1))
        np.testing.assert_array_equal(negative, np.concatenate(rejected[: i + 1]))  # in the order of the iterations


@pytest.mark.parametrize("psi2", [{"C": 100.0}, {"nu": 0.05}], ids=["C", "nu"])
def test_svmc_trains_on_support_vectors_and_what_is_new(training_sets, psi2):
    X, y, _ = groups(3)
    model = fastpu.fit_svmc(X, y, gamma=1.0, repair=False, **psi2)
    rejected = rejected_in(model)
    np.testing.assert_array_equal(training_sets[0][1], rejected[0])
    assert model.n_iter >= 3
    for i in range(1, model.n_iter):
        positive, negative = training_sets[i]
        np.testing.assert_array_equal(positive, np.flatnonzero(y == 1))
        support = np.setdiff1d(model.at(i).support, positive)
        assert np.sort(negative).tolist() == np.sort(np.concatenate([support, rejected[i]])).tolist()
        np.testing.assert_array_equal(negative[support.size :], rejected[i])
        assert model.history["n_neg"][i + 1] == negative.size
        assert model.history["n_support_neg"][i] == support.size
        assert model.history["n_support_pos"][i] == model.at(i).support.size - support.size


@pytest.mark.parametrize("seed", range(3))
def test_the_first_boundary_of_smc_and_svmc_is_the_same(seed):
    X, y, _ = groups(seed)
    models = [fit(X, y, C=30, gamma=1.0) for fit in FITS.values()]
    for model in models[1:]:
        for i in (0, 1):
            np.testing.assert_array_equal(rejected_in(model)[i], rejected_in(models[0])[i])
            np.testing.assert_array_equal(model.at(i).dual_coef, models[0].at(i).dual_coef)
            assert model.at(i).intercept == models[0].at(i).intercept


@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])  # the sigmoid one is not definite: its optimum not unique
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_the_last_boundary_of_smc_is_the_svm_of_p_against_the_rejected_rows(name):
    kernel = KERNELS[name]
    X, y, _ = groups(0)
    model = fastpu.fit_smc(X, y, C=5, tol=TIGHT, **kernel)
    rejected = model.unlabeled_rows[model.unlabeled_set == -1]
    rows = np.concatenate([np.flatnonzero(y == 1), rejected])
    direct = fastpu.baselines.fit_svm(X[rows], np.where(y[rows] == 1, 1, -1), C=5, tol=TIGHT, **kernel)
    np.testing.assert_allclose(model.decision_function(X), direct.decision_function(X), atol=FIT_TOL)
    np.testing.assert_allclose(model.objective[-1], direct.objective[-1], rtol=1e-6)


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_the_svm_of_p_and_the_negative_support_vectors_alone_is_the_same(C):
    X, y, _ = groups(1)
    model = fastpu.fit_svmc(X, y, C=C, gamma=1.0, tol=TIGHT, repair=False)
    positive = np.flatnonzero(y == 1)
    for i in range(1, model.n_iter + 1):
        boundary = model.at(i)
        rows = np.union1d(positive, boundary.support)
        alone = fastpu.baselines.fit_svm(X[rows], np.where(y[rows] == 1, 1, -1), C=C, gamma=1.0, tol=TIGHT)
        np.testing.assert_allclose(alone.decision_function(X), boundary.decision_function(X), atol=FIT_TOL)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("psi2", [{"C": 100.0}, {"nu": 0.05}], ids=["C", "nu"])
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")
def test_repair_leaves_no_rejected_row_outside_n_that_is_called_positive(training_sets, seed, psi2):
    X, y, _ = groups(seed)
    model = fastpu.fit_svmc(X, y, gamma=1.0, **psi2)
    assert model.status == "converged"
    rejected = model.unlabeled_rows[model.unlabeled_set == -1]
    forgotten = np.setdiff1d(rejected, training_sets[-1][1])
    assert (model.decision_function(X[forgotten]) < 0).all()


def test_repair_restores_what_the_printed_method_forgets(training_sets):
    X, y, options = forgetful()
    whole, printed = fastpu.fit_smc(X, y, **options), fastpu.fit_svmc(X, y, repair=False, **options)
    training_sets.clear()
    repaired = fastpu.fit_svmc(X, y, **options)

    def forgotten(model) -> int:
        rows = model.unlabeled_rows[model.unlabeled_set == -1]
        return int((model.decision_function(X[rows]) >= 0).sum())

    assert forgotten(whole) == 0
    assert forgotten(printed) > 30
    assert forgotten(repaired) == 0
    np.testing.assert_array_equal(never_rejected(repaired), never_rejected(whole))

    # The same run up to the point where the printed method ends; from then on nothing is dropped.
    n = printed.n_iter
    np.testing.assert_array_equal(repaired.history["kind"], [0] + n * [1] + (repaired.n_iter - n) * [2])
    np.testing.assert_array_equal(repaired.history["n_neg"][: n + 1], printed.history["n_neg"])
    np.testing.assert_array_equal(repaired.at(n).dual_coef, printed.dual_coef)
    assert repaired.history["n_back"][n] > 30
    assert not repaired.history["n_back"][:n].any()
    for (_, before), (_, after) in zip(training_sets[n:], training_sets[n + 1 :], strict=False):
        assert np.isin(before, after).all()
    assert len(training_sets) == repaired.n_iter


@each_fit
def test_the_order_of_the_rows_does_not_matter(fit):
    X, y, _ = groups(4)
    model = fit(X, y, C=100, gamma=1.0, tol=TIGHT)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = fit(X[order], y[order], C=100, gamma=1.0, tol=TIGHT)
    np.testing.assert_array_equal(np.sort(order[never_rejected(shuffled)]), never_rejected(model))
    for name in ("kind", "n_neg", "n_new", "n_left", "n_support_pos", "n_support_neg"):
        np.testing.assert_array_equal(shuffled.history[name], model.history[name], err_msg=name)
    np.testing.assert_allclose(shuffled.decision_function(X), model.decision_function(X), atol=FIT_TOL)


@each_fit
def test_with_a_gap_the_set_is_that_of_the_hidden_positives(fit):
    """The boundary halves its distance to P until it stands in the gap."""
    X, y = line()
    model = fit(X, y, psi1=below(2.02), C=1e3, kernel="linear", tol=1e-6)  # such that no row lies on a boundary
    np.testing.assert_array_equal(never_rejected(model), np.flatnonzero((X[:, 0] > 9) & (y == 0)))
    places = [-boundary.intercept / boundary.coef[0] for boundary in map(model.at, range(1, model.n_iter + 1))]
    np.testing.assert_allclose(places, [6.025, 8.025, 9.025], atol=1e-6)
    assert model.predict([[8.9], [9.1]]).tolist() == [-1, 1]


# -- the stages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("nu_map", [0.01, 0.5])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
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
def test_a_mapping_without_strong_negatives_falls_back_to_the_lowest_few(fit, shift):
    X, y = line()
    with pytest.warns(
        fastpu.exceptions.DegenerateModelWarning, match="called all 172 unlabelled rows the same, and the 9"
    ) as caught:
        model = fit(X, y, psi1=below(shift), C=1e3, kernel="linear")
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


class Ball:
    """A one-class estimator: the ball about the mean of P whose radius is a share of the largest distance in P."""

    def __init__(self, share):
        self.share = share

    def fit(self, P):
        self.centre = P.mean(axis=0)
        self.radius = self.share * np.linalg.norm(P - self.centre, axis=1).max()
        return self

    def decision_function(self, rows):
        return self.radius - np.linalg.norm(rows - self.centre, axis=1)


@pytest.mark.parametrize("fit", [fastpu.fit_smc, fastpu.fit_svmc])
def test_the_threshold_of_an_estimator_that_covers_p_stays_where_it_is(fit):
    X, y, _ = groups(0, k=6)
    wide = Ball(1.5)
    model = fit(X, y, psi1=wide, C=100)
    scores = wide.fit(X[y == 1]).decision_function(X)
    assert scores[y == 1].min() > 0.1
    np.testing.assert_array_equal(model.rejected_by == 0, scores[y == 0] < 0)
    tight = Ball(1.0).fit(X[y == 1]).decision_function(X)  # what the threshold would be if it were raised
    assert np.count_nonzero(tight[y == 0] < 0) > np.count_nonzero(scores[y == 0] < 0)

    narrow = fit(X, y, psi1=Ball(0.5), C=100)  # lowered until the farthest row of P is on the boundary
    np.testing.assert_array_equal(narrow.rejected_by == 0, tight[y == 0] < 0)
