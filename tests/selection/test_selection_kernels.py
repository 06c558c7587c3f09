"""`select` with kernel machines: folds, kernel widths and costs share work, and nothing else changes."""

from __future__ import annotations

import functools
from itertools import chain

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core
from fastpu.data._folds import stratified_folds
from fastpu.data._validate import check_matrix
from fastpu.svm._grid import FoldData, solve_grid
from fastpu.svm._svm_methods import CSvm
from oracles.svm import Problem, kernel_matrix
from selection_cases import pu_data, without_seconds

COSTS, WIDTHS = [0.3, 3.0, 30.0], [0.05, 0.4, 3.0]
TIGHT = 1e-8  # a tolerance at which no row held out lies so near to the boundary that two fits put it on both sides
#: Rounding of kernel values in sums over the support vectors, beside `tol`.
ROUNDING = {np.float64: 1e-9, np.float32: 1e-4}


@pytest.fixture(scope="module")
def data():
    X, y, truth = pu_data(160, 40, seed=2)
    return X, y, truth


def alone(fit):
    """The same fit, which `select` does not know and fits one by one."""
    return lambda X, y, **params: fit(X, y, **params)


def both(fit, X, y, grid, **options):
    """What `select` finds with shared work and without."""
    options = {"random_state": 0, "tol": TIGHT} | options
    return fastpu.select(fit, X, y, grid, **options), fastpu.select(alone(fit), X, y, grid, **options)


def assert_same(found, expected):
    assert dict(found.best_params) == dict(expected.best_params)
    first, second = without_seconds(found.table), without_seconds(expected.table)
    assert first.keys() == second.keys()
    for column, values in first.items():
        if column == "message":
            continue  # it has numbers of steps
        assert values == pytest.approx(second[column], abs=1e-6), column
    np.testing.assert_array_equal(found.model.alpha, expected.model.alpha)


# ------------------------------------------------------------------------------------------- the choice of cold fits


@pytest.mark.parametrize("scoring", ["puf", "err_star", "auc", "lift", "average_precision"])
def test_every_criterion_chooses_as_from_fits_one_by_one(scoring, data, grids):
    X, y, _ = data
    options = {"puf": {}, "auc": {}, "lift": {"k": 0.2}}.get(scoring, {"prior": 0.4})
    grid = {"C_pos": [1.0, 10.0], "C_unl": [0.1, 1.0], "gamma": WIDTHS}
    assert_same(*both(fastpu.fit_bsvm, X, y, grid, kernel="rbf", scoring=scoring, **options))
    assert grids == [12]  # three widths, four folds


@pytest.mark.parametrize("scoring", ["puf", "err_star", "auc", "lift", "average_precision"])
def test_every_criterion_is_of_scores_from_the_same_run(scoring, data, monkeypatch):
    """Only the model of all rows has a solver of its own, and no model is made to score the rows held out."""
    X, y, _ = data
    engines, scored = [], []
    make, score = _core.SvmEngine, fastpu.models.KernelMachine.decision_function
    monkeypatch.setattr(_core, "SvmEngine", lambda *args, **options: engines.append(1) or make(*args, **options))
    monkeypatch.setattr(
        fastpu.models.KernelMachine, "decision_function", lambda *args, **o: scored.append(1) or score(*args, **o)
    )
    options = {"puf": {}, "auc": {}, "lift": {"k": 0.2}}.get(scoring, {"prior": 0.4})
    fastpu.select(fastpu.fit_bsvm, X, y, {"C_pos": [1.0, 10.0], "gamma": WIDTHS}, C_unl=0.5, kernel="rbf",
                  scoring=scoring, random_state=0, **options)  # fmt: skip
    assert len(engines) == 1
    assert not scored


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("form", ["dense", "csr", "float32"])
def test_kernels_and_forms_choose_as_fits_one_by_one(kernel, form, data, grids):
    X, _, truth = data
    rows = {"dense": X, "csr": sp.csr_array(X), "float32": X.astype(np.float32)}[form]
    tol = 1e-4 if form == "float32" else TIGHT
    grid = {"C": COSTS, "gamma": ["scale", 0.02]}
    assert_same(*both(fastpu.baselines.fit_svm, rows, truth, grid, kernel=kernel, scoring="error", coef0=0.1, tol=tol))
    assert grids


def test_a_precomputed_kernel_chooses_as_the_kernel_itself(data, grids):
    X, _, truth = data
    K = kernel_matrix(X, gamma=0.4)
    found, expected = both(fastpu.baselines.fit_svm, K, truth, {"C": COSTS}, kernel="precomputed", scoring="error")
    assert_same(found, expected)
    by_rows = fastpu.select(fastpu.baselines.fit_svm, X, truth, {"C": COSTS}, gamma=0.4, scoring="error",
                            random_state=0, tol=TIGHT)  # fmt: skip
    np.testing.assert_allclose(found.table["score"], by_rows.table["score"])
    assert grids == [4, 4]


def test_a_grid_over_nu_chooses_as_fits_one_by_one(data, grids):
    X, _, truth = data
    assert_same(*both(fastpu.baselines.fit_nu_svm, X, truth, {"nu": [0.2, 0.4, 0.7]}, gamma=0.4, scoring="error"))
    assert grids == [4]


def test_weights_and_costs_of_rows_count_as_in_fits_one_by_one(data, grids):
    X, _, truth = data
    rng = np.random.default_rng(0)
    weights, costs = rng.integers(0, 3, len(X)).astype(float), rng.uniform(0.5, 2, len(X))
    grid = {"C": COSTS, "gamma": ["scale", 0.4]}
    assert_same(
        *both(fastpu.baselines.fit_svm, X, truth, grid, sample_weight=weights, sample_cost=costs, scoring="error")
    )
    assert grids


def test_partial_functions_share_work_too(data, grids):
    X, y, _ = data
    fit = functools.partial(fastpu.fit_bsvm, kernel="rbf", C_unl=0.5)
    assert_same(*both(fit, X, y, {"C_pos": [1.0, 10.0], "gamma": WIDTHS}))
    assert grids == [12]


def test_greedy_moves_share_work_too(data, grids):
    X, y, _ = data
    grid = {"C_pos": [3.0, 10.0], "gamma": [0.2, 0.4]}
    assert_same(*both(fastpu.fit_bsvm, X, y, grid, C_unl=0.5, kernel="rbf", refine="greedy"))
    assert len(grids) > 1


def test_a_criterion_of_the_users_gets_the_models_of_the_fit_function(data, grids):
    X, y, _ = data
    seen = []

    def judge(model, X, y):
        seen.append(model)
        return float(np.mean(model.decision_function(X)[y == 1]))

    found, expected = both(fastpu.fit_bsvm, X, y, {"C_pos": [1.0, 10.0]}, C_unl=0.5, kernel="rbf", scoring=judge)
    assert_same(found, expected)
    assert grids == [4]
    for model, other in zip(np.array(seen[:8]).reshape(4, 2).T.ravel(), np.array(seen[8:]).reshape(4, 2).T.ravel(),
                            strict=True):  # fmt: skip
        assert isinstance(model, fastpu.models.KernelMachine)
        assert model.params == other.params
        np.testing.assert_array_equal(model.support, other.support)
        np.testing.assert_allclose(model.dual_coef, other.dual_coef, atol=1e-5)
        assert model.n_features == other.n_features


# ----------------------------------------------------------------------------------------- what is not shared, flaws


def test_what_a_grid_of_kernel_machines_does_not_cover_is_fitted_one_by_one(data, grids):
    X, y, _ = data
    options = {"C_unl": 0.5, "random_state": 0, "cv": 2}
    fastpu.select(fastpu.fit_bsvm, X, y, {"C_pos": [1.0, 2.0]}, kernel="linear", **options)
    fastpu.select(fastpu.fit_bsvm, X, y, {"C_pos": [1.0], "kernel": ["rbf", "linear"]}, **options)
    fastpu.select(fastpu.fit_bsvm, X, y, {"C_pos": [1.0]}, kernel="rbf", callback=lambda _: False, **options)
    assert not grids


def test_the_fit_itself_says_which_argument_is_missing(data, grids):
    X, y, _ = data
    with pytest.raises(TypeError, match=r"^fit_bsvm\(\) missing 1 required keyword-only argument: 'C_unl'; C_unl"):
        fastpu.select(fastpu.fit_bsvm, X, y, {"C_pos": [1.0, 2.0]}, kernel="rbf", random_state=0)
    assert not grids


@pytest.mark.filterwarnings("ignore:1 of 2 points of grid failed:fastpu.exceptions.FailedFitWarning")
def test_only_the_point_that_cannot_be_fitted_fails(data, grids):
    X, _, truth = data
    found, expected = both(fastpu.baselines.fit_nu_svm, X, truth, {"nu": [0.4, 1.0]}, gamma=0.4, scoring="error",
                           sample_weight=np.where(truth == 1, 1.0, 2.0))  # fmt: skip
    assert_same(found, expected)
    assert found.table["status"].tolist() == ["ok", "failed"]
    assert not grids  # the checks of the points come first


def test_flawed_models_are_marked(data, grids):
    X, y, _ = data
    options = {"C_unl": 0.1, "kernel": "rbf", "gamma": 0.4}
    found, expected = both(fastpu.fit_bsvm, X, y, {"C_pos": [0.1, 1.0]}, **options)
    assert grids == [4]
    assert found.table["status"].tolist() == expected.table["status"].tolist() == ["degenerate", "ok"]
    assert found.table["message"].tolist() == expected.table["message"].tolist()
    with pytest.raises(ValueError, match="all max_iter = 3 pair updates"):
        fastpu.select(fastpu.fit_bsvm, X, y, {"C_pos": [1.0, 3.0]}, max_iter=3, **options)


# ---------------------------------------------------------------------------------------------------- certificates


def folds_of(y, n_folds=3):
    rng = np.random.default_rng(0)
    return [FoldData(train.astype(np.int64), held.astype(np.int64), y[train])
            for train, held in stratified_folds(y, n_folds, rng)]  # fmt: skip


def points():
    return [{"C": C, "gamma": gamma} for gamma in WIDTHS for C in COSTS]


def solve(X, points, folds, *, gamma="scale", cache_mb=200, n_threads=None):
    """The fits of `fit_svm` at points of C, and of gamma where they have one, to all folds."""
    made = [
        CSvm.point(C=point["C"], gamma=point.get("gamma", gamma), kernel="rbf", degree=3, coef0=0.0, tol=1e-3,
                   cache_mb=cache_mb, max_iter=None, n_threads=n_threads, sample_cost=None, sample_weight=None)
        for point in points
    ]  # fmt: skip
    return solve_grid(check_matrix(X), folds, [made] * len(folds))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_features", [3, 40])
@pytest.mark.parametrize("cache_mb", [0.02, 200])
def test_every_fit_meets_tol_by_its_stored_model_and_scores_the_rows_held_out(dtype, n_features, cache_mb):
    """40 features are so many that distances are shared."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, n_features)).astype(dtype) / np.sqrt(n_features / 3).astype(dtype)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=120) > 0, 1, -1).astype(np.int8)
    folds = folds_of(y)
    for fold, fits in zip(folds, solve(X, points(), folds, cache_mb=cache_mb), strict=True):
        for point, fit in zip(points(), fits, strict=True):
            model = fit.model()
            assert model.converged
            assert model.params["C"] == point["C"]
            rows, labels = X[fold.train], y[fold.train]
            alpha = np.zeros(labels.size)
            alpha[model.support] = model.alpha
            problem = Problem("c_svm", kernel_matrix(rows, gamma=model.gamma), labels, np.full(labels.size, point["C"]))
            room = ROUNDING[dtype] * (1 + point["C"])
            assert abs(alpha @ labels) <= 1e-9 * alpha.sum()
            assert (alpha <= point["C"]).all()
            assert problem.violation(alpha) <= 1e-3 + room
            scores = model.decision_function(X[fold.held_out])
            np.testing.assert_allclose(fit.held_out_scores, scores, atol=room)


def test_greedy_search_ends_at_once_where_no_parameter_has_two_values(data):
    X, y, _ = data
    found, expected = both(fastpu.fit_bsvm, X, y, {"C_pos": [1.0], "C_unl": [0.5]}, kernel="rbf", refine="greedy")
    assert_same(found, expected)
    assert found.table["stage"].tolist() == ["grid"]


@pytest.mark.parametrize("n_features", [3, 40])
def test_results_have_the_same_bits_for_every_number_of_threads_and_cache(n_features):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, n_features)) / np.sqrt(n_features)  # enough rows for variables to be shrunk
    y = np.where(X[:, 0] > 0.3 * rng.normal(size=600), 1, -1).astype(np.int8)
    folds = folds_of(y)
    found = [
        solve(X, points(), folds, n_threads=threads, cache_mb=cache_mb)
        for threads, cache_mb in [(1, 200), (2, 200), (7, 200), (2, 1.0), (1, 0.02)]
    ]
    for others in found[1:]:
        for fit, other in zip(chain.from_iterable(found[0]), chain.from_iterable(others), strict=True):
            np.testing.assert_array_equal(fit.held_out_scores, other.held_out_scores)
            np.testing.assert_array_equal(fit.solved.alpha, other.solved.alpha)


def test_neighbours_solutions_save_steps(data):
    X, _, truth = data
    y = truth.astype(np.int8)
    costs = np.geomspace(0.1, 1000, 12)
    folds = folds_of(y)
    fits = solve(X, [{"C": C} for C in costs], folds, gamma=0.4)
    single = [solve(X, [{"C": C}], folds, gamma=0.4) for C in costs]
    assert _steps(fits) < sum(_steps(one) for one in single)


def _steps(fits):
    return sum(fit.solved.end.n_steps for of_fold in fits for fit in of_fold)
