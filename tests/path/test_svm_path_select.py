"""The best point of a path: as good as any of a dense grid, and as good as it says."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from fastpu.common._params import check_random_state
from fastpu.data._folds import stratified_folds
from fastpu.data._validate import check_matrix
from fastpu.metrics import err_star, puf_score
from fastpu.path._selection import crossings, curve_on_path
from helpers import refused
from path_cases import KERNELS, normal_rows


def pu_problem(seed: int, n: int = 60):
    """Training rows with their labels, and held-out rows with theirs."""
    X, truth = normal_rows(seed, 2 * n, 2, share=0.5, apart=2.0)
    rng = np.random.default_rng(seed)
    y = np.where((truth > 0) & (rng.random(2 * n) < 0.5), 1, 0)
    y[:4] = 1, 0, 1, 0
    return X[:n], y[:n], X[n:], y[n:]


def criterion_at(scores, y, name, prior=0.4, scenario="case_control"):
    if name == "puf":
        return puf_score(y, scores, scenario=scenario)
    return err_star(y, scores, prior=prior, scenario=scenario)


def grid_of(path: fastpu.models.SVMPath, X) -> np.ndarray:
    """Many lam: a dense grid, and one between every two at which a row changes sides."""
    found = crossings(path, check_matrix(X), 1).lam
    cuts = np.unique(np.concatenate([found, path.lams, [10 * path.lams[0]]]))
    cuts = cuts[cuts >= path.end]
    dense = np.geomspace(path.end, 10 * path.lams[0], 1000)
    return np.concatenate([dense, np.sqrt(cuts[1:] * cuts[:-1]), path.lams[1:] * (1 + 1e-7)])


@pytest.mark.parametrize("exponent", [-440, -270, 270, 440])
def test_the_best_lam_of_rows_of_any_size_is_the_same(exponent):
    """Products of lam and of lam f(x) overflowed, or lost their digits."""
    X, y = normal_rows(5, 60, 3)
    best = fastpu.fit_svm_path(X, y, kernel="linear").select("f1").params
    found = fastpu.fit_svm_path(np.ldexp(X, exponent), y, kernel="linear").select("f1").params
    assert found["value"] == best["value"]
    for name in ("lam", "lam_low", "lam_high"):
        assert np.ldexp(found[name], -2 * exponent) == pytest.approx(best[name], rel=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("costs", [{}, {"C_pos": 5.0}, {"C_pos": 1.0}])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("name", "scenario"), [("puf", "case_control"), ("puf", "single_set"), ("err_star", "case_control")]
)
def test_no_lam_is_better(kernel, costs, seed, name, scenario):
    X, y, X_new, y_new = pu_problem(seed)
    path = fastpu.fit_pu_svm_path(X, y, lam_min=1e-2, n_threads=1, **costs, **KERNELS[kernel])
    prior = 0.4 if name == "err_star" else None
    machine = path.select(name, X_new, y_new, prior=prior, scenario=scenario)
    value, lam = machine.params["value"], machine.params["lam"]
    assert machine.params["lam_low"] <= lam <= machine.params["lam_high"]
    assert criterion_at(machine.decision_function(X_new), y_new, name, scenario=scenario) == pytest.approx(value, abs=0)
    scores = path.scores(X_new, grid_of(path, X_new))
    values = [criterion_at(column, y_new, name, scenario=scenario) for column in scores.T]
    assert (max(values) if name == "puf" else min(values)) == value
    inside = np.geomspace(*np.clip([machine.params["lam_low"], machine.params["lam_high"]], path.end, 1e6), 9)[1:-1]
    same = path.scores(X_new, inside) > 0
    assert (same == same[:, :1]).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_change_sides_where_their_score_is_zero(kernel):
    X, y, X_new, _ = pu_problem(7)
    path = fastpu.fit_pu_svm_path(X, y, lam_min=1e-2, n_threads=1, **KERNELS[kernel])
    found = crossings(path, check_matrix(X_new), 1)
    assert found.lam.size > 10
    inside = (found.lam > path.end * 1.001) & (found.lam < 1e6)
    for lam, row in zip(found.lam[inside], found.row[inside], strict=True):
        before, at, after = path.scores(X_new[[row]], [lam * (1 + 1e-6), lam, lam * (1 - 1e-6)])[0]
        assert abs(at) < 1e-9
        assert before * after <= 0
    # Followed from the top, the signs are those of the scores.
    for lam in np.geomspace(path.end * 1.01, 5 * path.lams[0], 40):
        called = found.called.copy()
        np.logical_xor.at(called, found.row[found.lam > lam], True)
        np.testing.assert_array_equal(called, path.scores(X_new, lam)[:, 0] > 0)


def test_a_function_is_maximised_over_all_intervals():
    X, y, X_new, y_new = pu_problem(3)
    path = fastpu.fit_pu_svm_path(X, y, kernel="rbf", gamma=0.5, lam_min=1e-2)
    seen = []

    def agreement(labels, predicted):
        np.testing.assert_array_equal(labels, y_new)
        seen.append(float((predicted == np.where(labels > 0, 1, -1)).mean()))
        return seen[-1]

    machine = path.select(agreement, X_new, y_new)
    assert machine.params["value"] == max(seen)
    assert (machine.predict(X_new) == np.where(y_new > 0, 1, -1)).mean() == max(seen)
    assert machine.params["scoring"] == "callable"
    puf = path.select(puf_score, X_new, y_new)
    assert puf.params["value"] == path.select("puf", X_new, y_new).params["value"]


def test_end_is_the_last_breakpoint():
    X, y, X_new, _ = pu_problem(1)
    path = fastpu.fit_pu_svm_path(X, y)
    machine = path.select("end")
    assert machine.params["lam"] == path.lams[-1] == path.end
    np.testing.assert_array_equal(machine.decision_function(X_new), path.decision_function(X_new))


@pytest.mark.parametrize("kernel", KERNELS)
def test_folds_are_paths_of_their_own_on_the_scale_of_all_rows(kernel):
    X, y, _, _ = pu_problem(5, 90)
    path = fastpu.fit_pu_svm_path(X, y, C_pos=2.0, lam_min=0.05, n_threads=1, **KERNELS[kernel])
    machine = path.select("puf", n_folds=3, random_state=0)
    again = path.select("puf", n_folds=3, random_state=0)
    assert machine.params == again.params
    assert machine.params["n_folds"] == 3
    # The same by hand: models of each fold at lam n_train / n, on the rows left out.
    folds = stratified_folds(np.asarray(y, dtype=np.int8), 3, check_random_state(0))

    def value_at(lam: float) -> float:
        scores = np.empty(len(y))
        for kept, held in folds:
            part = fastpu.fit_pu_svm_path(X[kept], y[kept], C_pos=2.0, n_threads=1, **with_gamma)
            scores[held] = part.at(lam * kept.size / len(y)).decision_function(X[held])
        return criterion_at(scores, y, "puf")

    with_gamma = {"kernel": kernel} if path.gamma is None else {"kernel": kernel, "gamma": path.gamma}
    assert value_at(machine.params["lam"]) == pytest.approx(machine.params["value"], abs=0)
    assert all(value_at(lam) <= machine.params["value"] for lam in np.geomspace(0.06, 2 * path.lams[0], 12))


def test_what_folds_find_below_the_end_of_the_path_is_not_taken():
    # On these rows, far from the origin, the path ends where float64 no longer shows the margin, before those of folds.
    rng = np.random.RandomState(34)
    X = rng.normal(loc=100, size=(100, 2))
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="float64 does not show the margin"):
        path = fastpu.fit_svm_path(X, np.where(rng.randint(0, 2, 100), 1, -1))
    assert (path.status, path.converged) == ("precision", False)
    assert path.violation > 0
    for seed in (0, 1):
        assert path.select("puf", n_folds=5, random_state=seed).params["lam"] >= path.lams[-1]


def test_trivial_paths_have_one_machine():
    X = np.vstack([np.eye(2), -np.eye(2), [[0.1, 0.0], [-0.1, 0.0]]])
    y = np.array([1, 1, 1, 1, 0, 0])
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        path = fastpu.fit_pu_svm_path(X, y)
    assert path.select("puf", X, y).params["value"] == 1.0
    assert (path.select("end").predict(X) == 1).all()
    refused(ValueError, "model must have breakpoints, got a trivial path", fastpu.plot.path, path)


def test_bad_arguments_are_named():
    X, y, X_new, y_new = pu_problem(0)
    path = fastpu.fit_pu_svm_path(X, y)
    refused(ValueError, "prior must be given for scoring='err_star'", path.select, "err_star", X_new, y_new)
    refused(ValueError, "prior must not be given for scoring='puf'", path.select, "puf", X_new, y_new, prior=0.5)
    refused(ValueError, "X and y must be given together or not at all, got only X", path.select, "puf", X_new)
    refused(ValueError, "n_folds must not be given with X and y", path.select, "puf", X_new, y_new, n_folds=3)
    refused(ValueError, "n_folds must be at most the number of rows", path.select, "puf", n_folds=1000)
    refused(
        ValueError, "y must hold positive rows (+1) and unlabelled ones (0)", path.select, "puf", X_new, y_new * 0 + 1
    )
    refused(ValueError, "X must have 2 features", path.select, "puf", X_new[:, :1], y_new)
    refused(ValueError, "the result of scoring", path.select, lambda y, p: float("nan"), X_new, y_new)


def issue_rows(seed: int, n: int = 240):
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < 0.4, 1, -1)
    X = rng.normal(size=(n, 4)) + 0.9 * truth[:, None] * [1, 0.6, 0.3, 0]
    return X, truth, np.where((truth > 0) & (rng.random(n) < 0.5), 1, 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("lam_min", [0.0, 1e-2])
def test_no_candidate_lies_nearer_to_0_than_the_end_of_the_path(kernel, lam_min, seed):
    """Below its end a path is one machine, or none: a change of side there would be rounding."""
    X, _, y = issue_rows(seed, 90)
    path = fastpu.fit_pu_svm_path(X, y, C_pos=10.0, lam_min=lam_min, n_threads=1, **KERNELS[kernel])
    for options in ({}, {"n_folds": 3, "random_state": seed}, {"X": X[::2], "y": y[::2]}):
        curve = curve_on_path(path, "puf", options.get("X"), options.get("y"), prior=None, scenario="case_control",
                              n_folds=options.get("n_folds"), random_state=seed, n_threads=1)  # fmt: skip
        assert curve is not None
        assert curve.cuts.size > 3
        assert curve.cuts.min() >= path.end * (1 - 1e-12)
        assert path.select("puf", **options).params["lam"] >= path.end * (1 - 1e-12)


def test_f1_and_error_are_what_functions_of_the_labels_say():
    X, truth, _ = issue_rows(1, 120)
    path = fastpu.fit_svm_path(X[:80], truth[:80], kernel="linear", n_threads=1)
    X_new, y_new = X[80:], truth[80:]
    f1 = path.select("f1", X_new, y_new)
    assert f1.params["value"] == pytest.approx(fastpu.metrics.f1(y_new, f1.predict(X_new)), abs=1e-12)
    assert f1.params["value"] == path.select(fastpu.metrics.f1, X_new, y_new).params["value"]
    error = path.select("error", X_new, y_new)
    assert error.params["value"] == (error.predict(X_new) != y_new).mean()
    assert error.params["value"] == -path.select(lambda y, p: -(y != p).mean(), X_new, y_new).params["value"]
