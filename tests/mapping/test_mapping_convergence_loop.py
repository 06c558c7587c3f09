"""The loop of mapping convergence by itself, and with stages of the user's: functions and estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, OneClassSVM

import fastpu
from fastpu.mapping._loop import Boundary, Groups, converge
from helpers import refused
from mapping_cases import FITS, TIGHT, below, each_fit, groups, line
from method_recipes import model_bits

pytestmark = pytest.mark.filterwarnings("ignore:the last boundary of:fastpu.exceptions.DegenerateModelWarning")


# -- the loop ----------------------------------------------------------------------------------------------------------


class Line:
    """Stages over numbers on a line, positives on the right: boundaries between N and P.

    `n_support` of the largest of N carry the boundary.
    """

    def __init__(self, x, first, n_support=1, pull=0.5):
        self.x, self.first, self.n_support, self.pull = np.asarray(x, float), first, n_support, pull
        self.trained_on = []

    def psi1(self, positive, unlabeled):
        return self.boundary(self.first, None)

    def psi2(self, positive, negative):
        assert negative.size
        self.trained_on.append(negative.tolist())
        low, high = self.x[negative].max(), self.x[positive].min()
        support = negative[np.argsort(self.x[negative], kind="stable")[-self.n_support :]]
        return self.boundary(low + self.pull * (high - low), np.sort(support))

    def boundary(self, place, support):
        return Boundary(
            score=lambda rows: self.x[rows] - place,
            support=support,
            n_support_pos=1,
            fitted=place,
        )

    def run(self, *, reset=False, repair=False, max_iter=100):
        """Converge with the last number as P."""
        n_unl = self.x.size - 1
        groups = Groups(np.array([n_unl]), np.array([], dtype=np.int64), np.arange(n_unl))
        options = {"reset": reset, "repair": repair, "max_iter": max_iter}
        return converge(groups, self.psi1, self.psi2, max_pos_reject=None, on_iteration=None, **options)


def test_a_score_of_zero_is_positive():
    stages = Line([0, 5, 10], first=0.0)
    found = stages.run()
    assert found.used_fallback  # h_0(0) = 0 rejects nothing
    assert found.rejected_by.tolist() == [0, -1]  # h_1(5) = 0
    assert found.status == "converged"


@given(
    x=st.lists(st.integers(0, 40), min_size=3, max_size=25),
    first=st.integers(-1, 45),
    n_support=st.integers(1, 4),
    reset=st.booleans(),
    repair=st.booleans(),
    max_iter=st.integers(1, 30),
)
def test_whatever_the_stages_say_every_row_has_one_fate(x, first, n_support, reset, repair, max_iter):
    stages = Line([*x, 41], first, n_support, pull=0.7)
    found = stages.run(reset=reset, repair=repair, max_iter=max_iter)
    n_unl = len(x)
    log = found.log
    assert {len(values) for values in log.values()} == {len(found.boundaries)}
    assert found.kept == len(stages.trained_on) == len(found.boundaries) - 1 <= max_iter
    assert (found.status == "converged") == (log["n_new"][-1] == log["n_back"][-1] == 0)
    assert np.array_equal(np.cumsum(log["n_new"]) + log["n_left"], np.full(len(log["kind"]), n_unl))
    assert np.array_equal(np.bincount(found.rejected_by[found.rejected_by >= 0]), np.trim_zeros(log["n_new"], "b"))
    assert found.rejected_by.min() >= -1
    assert log["n_neg"][1:] == [len(rows) for rows in stages.trained_on]
    assert all(len(set(rows)) == len(rows) for rows in stages.trained_on)
    if not repair:
        assert found.kept <= log["n_left"][0] + 1
    if not reset:
        assert all(set(a) <= set(b) for a, b in zip(stages.trained_on, stages.trained_on[1:], strict=False))
    if repair and found.status == "converged":
        outside = np.setdiff1d(np.flatnonzero(found.rejected_by >= 0), stages.trained_on[-1])
        if reset and 2 not in log["kind"]:
            outside = np.setdiff1d(np.flatnonzero(found.rejected_by >= 0), found.boundaries[-1].support)
        assert (found.boundaries[-1].score(outside) < 0).all()


# -- functions of the user's -------------------------------------------------------------------------------------------


def linear(P, N):
    """A psi2: the boundary half-way between the means."""
    low, high = np.asarray(N.mean(axis=0)).ravel(), np.asarray(P.mean(axis=0)).ravel()

    def score(rows):
        return np.asarray((rows @ (high - low)) - (high @ high - low @ low) / 2).ravel()

    return score


def test_functions_get_the_rows_of_p_u_and_n():
    X, y = line()
    seen = []

    def psi1(P, U):
        seen.append((P[:, 0].tolist(), U[:, 0].tolist()))
        return lambda rows: rows[:, 0] - 3.0

    def psi2(P, N):
        seen.append((P[:, 0].tolist(), N[:, 0].tolist()))
        return lambda rows: rows[:, 0] - 9.0

    model = fastpu.fit_smc(X, y, psi1=psi1, psi2=psi2)
    x = X[:, 0]
    positive = x[y == 1].tolist()
    assert seen[0] == (positive, x[y == 0].tolist())
    assert seen[1] == (positive, x[(y == 0) & (x < 3)].tolist())
    assert seen[2] == (positive, x[(y == 0) & (x < 9)].tolist())
    assert len(seen) == 3
    assert isinstance(model, fastpu.models.MappingScorer)
    np.testing.assert_array_equal(model.decision_function([[0.0], [9.5]]), [-9.0, 0.5])
    np.testing.assert_array_equal(model.predict([[0.0], [9.5], [9.0]]), [-1, 1, -1])
    np.testing.assert_array_equal(list(model.staged_decision_function([[4.0]])), [[1.0], [-5.0], [-5.0]])
    assert np.isnan(model.objective).all()
    assert model.history["n_support_neg"].tolist() == [0, 60, (x < 9).sum()]
    assert (model.params["psi1"], model.params["psi2"]) == ("function", "function")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_fit
def test_functions_get_rows_in_the_form_of_x(fit, form, dtype):
    X, y, _ = groups(0, n=120)
    rows = form(X.astype(dtype))
    kind = {sp.csc_matrix: sp.csr_matrix, np.asarray: np.ndarray}.get(form, form)

    def checked(table):
        assert type(table) is kind
        assert table.dtype == dtype
        return table

    def psi1(P, U):
        P, U = checked(P), checked(U)
        assert (P.shape[0], U.shape[0]) == ((y == 1).sum(), (y == 0).sum())
        at = np.asarray(P.mean(axis=0)).ravel()
        return lambda table: (
            0.5 - np.sqrt(np.square((checked(table).toarray() if sp.issparse(table) else table) - at).sum(axis=1))
        )

    def psi2(P, N):
        score = linear(checked(P), checked(N))
        return lambda table: score(checked(table))

    model = fit(rows, y, psi1=psi1, psi2=psi2)
    assert model.decision_function(rows).dtype == np.float64


def test_rows_of_another_form_are_converted_for_a_function_in_blocks(monkeypatch):
    X, y, _ = groups(0, n=120)
    monkeypatch.setattr("fastpu.data._matrix._BLOCK_ENTRIES", 40)
    dense = fastpu.fit_smc(X, y, psi1=linear, psi2=linear)
    np.testing.assert_allclose(dense.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-12)
    sparse = fastpu.fit_smc(sp.csr_array(X), y, psi1=linear, psi2=linear)
    np.testing.assert_allclose(sparse.decision_function(X), sparse.decision_function(sp.csr_array(X)), atol=1e-12)


def test_functions_cannot_write_to_the_rows():
    X, y, _ = groups(0, n=120)
    before = X.copy()

    def spoil(P, other):
        P[:] = 0  # copies
        other[:] = 0

        def score(rows):
            rows[:] = 0
            return np.arange(len(rows)) - 3.0

        return score

    fastpu.fit_smc(X, y, psi1=spoil, psi2=spoil)
    np.testing.assert_array_equal(X, before)
    model = fastpu.fit_smc(X, y, psi1=linear, psi2=lambda P, N: lambda rows: rows.sum(axis=1))
    object.__setattr__(model.scorers.stages[model.n_iter], "function", lambda rows: rows.__setitem__(0, 1.0))
    with pytest.raises(ValueError, match="read-only"):
        model.decision_function(X)
    np.testing.assert_array_equal(X, before)


def test_stages_of_ours_and_the_users_mix():
    X, y, _ = groups(0, k=6)
    ours = fastpu.fit_smc(X, y, C=100, gamma=1.0, tol=TIGHT)
    machine = ours.at(0)
    first = fastpu.fit_smc(X, y, C=100, gamma=1.0, tol=TIGHT, psi1=lambda P, U: machine.decision_function)
    assert isinstance(first, fastpu.models.MappingMachine)
    np.testing.assert_array_equal(first.rejected_by, ours.rejected_by)
    np.testing.assert_array_equal(first.dual_coef, ours.dual_coef)
    refused(ValueError, "iteration must be >= 1 if psi1 is the user's", first.at, 0)
    staged = list(ours.staged_decision_function(X))
    np.testing.assert_array_equal(list(first.staged_decision_function(X)), staged[1:])

    def psi2(P, N):
        rows, labels = np.concatenate([P, N]), np.repeat([1, -1], [len(P), len(N)])
        return fastpu.baselines.fit_svm(rows, labels, C=100, gamma=1.0, tol=TIGHT)

    second = fastpu.fit_smc(X, y, gamma=1.0, tol=TIGHT, psi2=psi2)
    assert isinstance(second, fastpu.models.MappingScorer)
    np.testing.assert_array_equal(second.rejected_by, ours.rejected_by)
    np.testing.assert_array_equal(next(iter(second.staged_decision_function(X))), staged[0])
    np.testing.assert_allclose(second.decision_function(X), ours.decision_function(X), atol=1e-5)


# -- estimators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("name", FITS)
def test_the_svms_of_scikit_learn_in_both_places_give_the_same_run(name, form):
    X, y, _ = groups(0, k=6)
    options = {"gamma": 1.0, "tol": TIGHT}
    ours = FITS[name](form(X), y, C=100, **options)
    psi1, psi2 = OneClassSVM(nu=max(0.01, 1 / (y == 1).sum()), **options), SVC(C=100, **options)
    theirs = FITS[name](form(X), y, psi1=psi1, psi2=psi2)
    np.testing.assert_array_equal(theirs.rejected_by, ours.rejected_by)
    for column in ("kind", "n_neg", "n_new", "n_left", "n_back", "n_support_neg"):
        np.testing.assert_array_equal(theirs.history[column], ours.history[column], err_msg=column)
    np.testing.assert_allclose(theirs.decision_function(form(X)), ours.decision_function(form(X)), atol=1e-2)
    assert not hasattr(psi1, "support_")  # they were copied, not fitted
    assert not hasattr(psi2, "support_")


@pytest.mark.parametrize(
    "psi1", [OneClassSVM(nu=0.3), IsolationForest(random_state=0), make_pipeline(StandardScaler(), OneClassSVM())]
)
def test_the_threshold_of_an_estimator_is_lowered_to_cover_p(psi1):
    X, y, _ = groups(0, k=6)
    model = fastpu.fit_smc(X, y, psi1=psi1, psi2=SVC(C=100))
    mapping = next(iter(model.staged_decision_function(X)))
    assert mapping[y == 1].min() == 0
    np.testing.assert_array_equal(model.rejected_by == 0, mapping[y == 0] < 0)
    assert model.history["pos_reject"][0] == 0


def test_without_support_vectors_svmc_is_smc():
    X, y, _ = groups(0, k=6)
    for psi2 in (LogisticRegression(C=100), make_pipeline(StandardScaler(), LinearSVC(C=10, random_state=0)), linear):
        a, b = (fit(X, y, psi1=OneClassSVM(nu=0.05), psi2=psi2) for fit in (fastpu.fit_smc, fastpu.fit_svmc))
        assert model_bits(a, X) == model_bits(b, X)


def test_a_function_may_return_an_estimator_with_support_vectors():
    X, y, _ = groups(0, k=6)
    psi1 = OneClassSVM(nu=0.05, gamma=1.0)

    def psi2(P, N):
        return SVC(C=100, gamma=1.0).fit(np.concatenate([P, N]), np.repeat([1, -1], [len(P), len(N)]))

    a, b = (fastpu.fit_svmc(X, y, psi1=psi1, psi2=p) for p in (psi2, SVC(C=100, gamma=1.0)))
    assert model_bits(a, X) == model_bits(b, X)
    assert (a.history["n_support_neg"][1:] < a.history["n_neg"][1:]).all()


def test_a_mask_of_features_is_no_list_of_support_vectors():
    X, y, _ = groups(0, k=6)

    class Selecting(LogisticRegression):
        def fit(self, X, y):
            super().fit(X, y)
            self.support_ = np.ones(X.shape[1], dtype=bool)
            return self

    model = fastpu.fit_svmc(X, y, psi1=OneClassSVM(nu=0.05), psi2=Selecting(C=100))
    np.testing.assert_array_equal(model.history["n_support_neg"], model.history["n_neg"])


# -- models of the user's stages ---------------------------------------------------------------------------------------


def test_a_model_of_the_users_stages_can_be_pickled_but_not_saved(tmp_path):
    X, y, _ = groups(0, k=6)
    model = fastpu.fit_svmc(X, y, psi1=OneClassSVM(nu=0.05), psi2=SVC(C=100))
    copy = pickle.loads(pickle.dumps(model))
    assert model_bits(copy, X) == model_bits(model, X)
    refused(TypeError, "scorers", model.save, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())
    again = model.with_threshold(prior=0.2, X_unl=X[y == 0])
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.threshold != 0


def test_a_psi1_of_the_users_does_not_keep_the_model_from_being_saved(tmp_path):
    X, y, _ = groups(0, k=6)
    model = fastpu.fit_svmc(X, y, psi1=IsolationForest(random_state=0), C=100, gamma=1.0)
    model.save(tmp_path / "model.npz")
    assert model_bits(fastpu.load(tmp_path / "model.npz"), X) == model_bits(model, X)
    assert np.isnan(model.boundary_intercepts[0])


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"psi2": SVC}, TypeError, "got the class SVC; pass an instance"),
        ({"psi2": RandomForestClassifier()}, TypeError, "got RandomForestClassifier, which has no decision_function"),
        ({"psi1": lambda P, U: None}, TypeError, "psi1 must return a score function, or an estimator with decision_"),
        ({"psi2": lambda P, N: 3.5}, TypeError, "psi2 must return a score function, or an estimator with decision_fu"),
        ({"psi2": SVC(), "nu": 0.1}, ValueError, "nu must be None if psi2 is given"),
    ],
)
def test_stages_that_are_none_are_named(options, error, words):
    X, y, _ = groups(0, n=60)
    refused(error, words, fastpu.fit_svmc, X, y, **options)


@pytest.mark.parametrize(
    ("score", "error", "words"),
    [
        (lambda rows: np.zeros((len(rows), 1)), ValueError, "got ndarray of shape (#, 1) and dtype float64"),
        (lambda rows: np.zeros(len(rows) + 1), ValueError, "must have # entries, got"),
        (lambda rows: 0.5, ValueError, "got 0.5 (float)"),
        (lambda rows: None, TypeError, "got None (NoneType)"),
        (lambda rows: ["a"] * len(rows), TypeError, "got ['a', 'a'"),
        (lambda rows: np.zeros(len(rows)) * 1j, TypeError, "dtype complex128"),
        (lambda rows: [[0.0], [0.0, 1.0]], ValueError, "cannot be read as an array of numbers"),
        (lambda rows: np.where(np.arange(len(rows)) == 1, np.nan, 0.0), ValueError, "got nan at position 1"),
    ],
)
@pytest.mark.parametrize(("stage", "n"), [("psi1", 58), ("psi2", 2)])  # U is scored first, and P
def test_scores_that_are_none_are_named(stage, n, score, error, words):
    X, y, _ = groups(0, n=60)
    good = below(float(np.median(X[:, 0])))
    stages = {"psi1": good, "psi2": good, stage: lambda P, other: score}
    message = refused(error, words.replace("#", str(n)), fastpu.fit_svmc, X, y, **stages)
    assert message.startswith(f"scores by {stage} ")


def test_support_vectors_that_are_no_rows_are_refused():
    X, y, _ = groups(0, n=60)

    class Off(SVC):
        def fit(self, X, y):
            super().fit(X, y)
            self.support_ = self.support_ + self.coef0  # of no use to the rbf kernel
            return self

    for by in (1000, -1000):
        words = "support_ of what psi2 made must number the 2 rows of P followed by the 56 of N, from 0 to 57, got "
        refused(ValueError, words, fastpu.fit_svmc, X, y, psi2=Off(coef0=by))
