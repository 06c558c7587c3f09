"""Bagging SVM: the mean of SVMs of bags, out-of-bag scores, the draws."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from helpers import refused
from machine_cases import TIGHT, each_form, each_kernel, two_groups
from method_recipes import model_bits

#: Scores of models that are refitted from rows: what `tol` leaves open.
REFIT_TOL = 1e-5


@pytest.fixture(scope="module")
def data():
    X, truth = two_groups(90, 4, seed=2, apart=1.5)
    y = np.where((truth == 1) & (np.arange(90) % 3 != 0), 1, 0)
    return X, y


class Draws(np.random.Generator):
    """Draws what it is told: positions among the unlabelled rows."""

    def __init__(self, positions):
        super().__init__(np.random.PCG64(0))
        self.positions = np.asarray(positions)

    def integers(self, low, high, size):
        assert self.positions.shape == size
        assert low <= self.positions.min() <= self.positions.max() < high
        return self.positions


def rows_of(y, size):
    """The `bag_ratio` of bags of so many unlabelled rows."""
    return size / np.sum(y == 1)


def each_bag_alone(X, y, bags, *, C=1.0, **options):
    """The SVM of each bag, fitted to its rows one below the other, repeats and all."""
    positives = np.flatnonzero(y == 1)
    for bag in bags:
        rows = np.concatenate([positives, bag])
        signs = np.repeat([1, -1], [len(positives), len(bag)])
        cost = np.where(signs == 1, 1.0, len(positives) / len(bag))
        yield fastpu.baselines.fit_svm(X[rows], signs, C=C, sample_cost=cost, tol=TIGHT, **options)


# -- what it computes --------------------------------------------------------------------------------------------------


@each_form
@each_kernel
def test_the_model_is_the_mean_of_the_svms_of_the_bags(kernel, form, data):
    X, y = data
    rows = form(X)
    model = fastpu.fit_bagging_svm(
        rows, y, C=0.8, n_bags=6, bag_ratio=rows_of(y, 17), tol=TIGHT, random_state=1, **kernel
    )
    alone = list(each_bag_alone(rows, y, model.bags, C=0.8, **kernel))
    scores = np.column_stack([m.decision_function(rows) for m in alone])
    atol = REFIT_TOL if rows.dtype == np.float64 else 2e-3
    np.testing.assert_allclose(model.decision_function(rows), scores.mean(axis=1), atol=atol)
    np.testing.assert_allclose(model.bag_intercepts, [m.intercept for m in alone], atol=atol)
    np.testing.assert_allclose(model.intercept, model.bag_intercepts.mean())
    np.testing.assert_allclose(model.objective, [m.objective[-1] for m in alone], rtol=1e-4)

    oob = np.full(len(y), np.nan)
    for i in np.flatnonzero(y == 0):
        out = [t for t, bag in enumerate(model.bags) if i not in bag]
        oob[i] = scores[i, out].mean() if out else np.nan
    np.testing.assert_allclose(model.oob_decision_function, oob, atol=atol)
    assert np.isnan(model.oob_decision_function[y == 1]).all()


def test_defaults_are_those_of_the_paper(data):
    X, y = data
    n_pos = int(np.sum(y == 1))
    assert n_pos > 20
    model = fastpu.fit_bagging_svm(X, y, random_state=0)
    assert model.bags.shape == (11, n_pos)
    assert model.kernel == "linear"
    few = np.where(np.cumsum(y) <= 20, y, 0)
    assert fastpu.fit_bagging_svm(X, few, random_state=0).bags.shape == (35, 20)
    assert fastpu.fit_bagging_svm(X, y, bag_ratio=rows_of(y, 20), random_state=0).bags.shape == (35, 20)
    assert fastpu.fit_bagging_svm(X, y, bag_ratio=rows_of(y, 21), random_state=0).bags.shape == (11, 21)
    assert fastpu.fit_bagging_svm(X, few, n_bags=3, random_state=0).bags.shape == (3, 20)


# -- the draws ---------------------------------------------------------------------------------------------------------


def test_bags_are_unlabelled_rows_drawn_with_replacement(data):
    X, y = data
    model = fastpu.fit_bagging_svm(X, y, n_bags=200, bag_ratio=rows_of(y, 12), random_state=0, tol=0.1)
    assert (y[model.bags] == 0).all()
    drawn = np.bincount(model.bags.ravel(), minlength=len(y))[y == 0]
    expected = 200 * 12 / np.sum(y == 0)
    assert abs(drawn - expected).max() < 6 * np.sqrt(expected)
    assert any(len(set(bag)) < 12 for bag in model.bags)
    np.testing.assert_array_equal(
        model.bags, np.flatnonzero(y == 0)[np.random.default_rng(0).integers(0, np.sum(y == 0), size=(200, 12))]
    )


def test_a_row_in_every_bag_has_no_out_of_bag_score(data):
    X, y = data
    few = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:2]])
    model = fastpu.fit_bagging_svm(
        X[few], y[few], n_bags=2, bag_ratio=rows_of(y, 2), random_state=Draws([[0, 0], [0, 1]])
    )
    oob = model.oob_decision_function
    assert np.isnan(oob[:-1]).all()
    assert np.isfinite(oob[-1])


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_large_bags_have_a_common_start_which_changes_nothing_but_the_time(kernel, data, monkeypatch):
    X, y = data
    options = {"kernel": kernel, "gamma": 0.5, "bag_ratio": None, "n_bags": 6, "random_state": 0}
    models = [fastpu.fit_bagging_svm(X, y, n_threads=n_threads, **options) for n_threads in (1, 2, 7)]
    # With a callback, bags are fitted a few at a time.
    models.append(fastpu.fit_bagging_svm(X, y, n_threads=1, callback=lambda info: False, **options))
    assert len({model_bits(model, X) for model in models}) == 1
    tight = fastpu.fit_bagging_svm(X, y, tol=1e-7, **options)
    monkeypatch.setattr("fastpu.svm._bag_fits._SHARING_BAGS", 7)
    assert models[0].history["n_steps"].sum() < fastpu.fit_bagging_svm(X, y, **options).history["n_steps"].sum()
    cold = fastpu.fit_bagging_svm(X, y, tol=1e-7, **options)
    assert max(tight.violation, cold.violation) <= 1e-7
    np.testing.assert_allclose(tight.objective, cold.objective, rtol=1e-6)
    np.testing.assert_allclose(tight.oob_decision_function, cold.oob_decision_function, atol=1e-4)


# -- callbacks and endings ---------------------------------------------------------------------------------------------


def test_the_callback_hears_of_every_bag_in_order(data):
    X, y = data
    heard = []
    model = fastpu.fit_bagging_svm(X, y, n_bags=11, random_state=0, n_threads=1, callback=heard.append)
    assert (model.n_iter, model.status, model.converged) == (11, "tol", True)
    assert set(model.history) == {"n_steps", "objective", "gap", "violation"}
    assert (model.gap, model.violation) == (model.history["gap"].max(), model.history["violation"].max())
    assert [info.bag for info in heard] == list(range(1, 12))
    assert {info.n_bags for info in heard} == {11}
    for name, values in model.history.items():
        np.testing.assert_array_equal([getattr(info, name) for info in heard], values, err_msg=name)
    assert all(type(info.n_steps) is int and type(info.gap) is float for info in heard)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_a_true_callback_ends_the_fit_with_the_bags_so_far(n_threads, data):
    X, y = data
    options = {"n_bags": 11, "random_state": 0, "n_threads": n_threads}
    full = fastpu.fit_bagging_svm(X, y, **options)
    model = fastpu.fit_bagging_svm(X, y, callback=lambda info: info.bag == 3, **options)
    assert (model.n_iter, model.status, model.converged) == (3, "callback", False)
    np.testing.assert_array_equal(model.bags, full.bags[:3])
    np.testing.assert_array_equal(model.bag_intercepts, full.bag_intercepts[:3])
    three = fastpu.fit_bagging_svm(X, y, n_bags=3, bag_ratio=rows_of(y, model.bags.shape[1]), random_state=0)
    np.testing.assert_array_equal(model.bags, three.bags)
    ends = {"but": ("status", "converged")}
    assert model_bits(model, X, **ends) == model_bits(three, X, **ends)


def test_bags_that_do_not_converge_are_counted(data):
    X, y = data
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="of 4 bags of fit_bagging_svm did not converge"
    ) as caught:
        model = fastpu.fit_bagging_svm(X, y, kernel="rbf", C=100, n_bags=4, max_iter=2, random_state=0)
    message = str(caught[0].message)
    for words in ("ran all max_iter = 2 pair updates: the largest KKT violation is", "duality gap", "raise max_iter"):
        assert words in message
    assert caught[0].filename == __file__
    assert (model.status, model.converged) == ("max_iter", False)
    np.testing.assert_array_equal(model.history["n_steps"], [2, 2, 2, 2])


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"sample_weight": np.ones(90)}, TypeError, "sample_weight must be None for fit_bagging_svm, where a repeated"),
        ({"n_bags": 10**6, "bag_ratio": 1e6}, ValueError, "all bags together may hold at most 268435456"),
        ({"bag_ratio": 1e300}, ValueError, "unlabelled rows, got 11 bags of"),
        ({"bag_ratio": 1.7e308}, ValueError, "unlabelled rows, got 11 bags of"),
        ({"C": 1e308, "bag_ratio": 0.01}, ValueError, "C / bag_ratio must be a positive number"),
    ],
)
def test_bad_options_are_named(options, error, words, data):
    X, y = data
    refused(error, words, fastpu.fit_bagging_svm, X, y, **options)
