"""What the boosting functions refuse, and that the message names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from boosting_cases import FITS, assert_same_stumps, each_fit, make_problem


@pytest.fixture(scope="module")
def data():
    problem = make_problem(np.random.default_rng(1), n=120, d=4, kinds=("normal", "rounded", "zeros"))
    return problem.X, problem.y


BAD_OPTIONS = [
    ({"n_rounds": 0}, ValueError, "n_rounds must be an integer .*1.*, got 0"),
    ({"n_rounds": -3}, ValueError, "n_rounds.*-3"),
    ({"n_rounds": 2.5}, TypeError, "n_rounds.*2.5"),
    ({"n_rounds": "9"}, TypeError, "n_rounds.*'9'"),
    ({"n_rounds": True}, TypeError, "n_rounds.*True"),
    ({"n_rounds": None}, TypeError, "n_rounds.*None"),
    ({"max_bins": 0}, ValueError, "max_bins.*0"),
    ({"max_bins": -1}, ValueError, "max_bins.*-1"),
    ({"max_bins": 8.0}, TypeError, "max_bins.*8.0"),
    ({"max_bins": 10**12}, ValueError, "max_bins.*1000000000000"),
    ({"stop_tol": -1e-9}, ValueError, "stop_tol.*-1e-09"),
    ({"stop_tol": np.nan}, ValueError, "stop_tol.*nan"),
    ({"stop_tol": "small"}, TypeError, "stop_tol.*'small'"),
    ({"max_bins": "all"}, ValueError, "max_bins must be None, 'exact' or an integer from 1 to 65535, got 'all'"),
    ({"early_stopping_rounds": 0}, ValueError, "early_stopping_rounds.*0"),
    ({"n_folds": 1}, ValueError, "n_folds.*1"),
    ({"random_state": "x"}, TypeError, "random_state.*'x'"),
    ({"n_threads": 0}, ValueError, "n_threads.*0"),
    ({"n_threads": 1.5}, TypeError, "n_threads.*1.5"),
    ({"callback": 5}, TypeError, "callback.*5"),
    ({"progress": "yes"}, TypeError, "progress.*'yes'"),
    ({"sample_weight": 2.0}, TypeError, "sample_weight.*2.0"),
    ({"sample_weight": np.ones(7)}, ValueError, "sample_weight.*120.*7"),
    ({"sample_weight": np.zeros(120)}, ValueError, "sample_weight.*zero"),
    ({"sample_weight": -np.ones(120)}, ValueError, "sample_weight.*-1"),
    ({"sample_weight": np.full(120, np.nan)}, ValueError, "sample_weight.*nan"),
    ({"sample_weight": np.full(120, np.inf)}, ValueError, "sample_weight.*inf"),
    ({"sample_weight": np.ones((120, 2))}, ValueError, "sample_weight.*one-dimensional"),
    ({"sample_weight": np.ones(120) * 1j}, TypeError, "sample_weight.*complex"),
    ({"eval_set": 5}, TypeError, "eval_set.*5"),
    ({"eval_set": (np.zeros((3, 4)),)}, (TypeError, ValueError), "eval_set"),
    (
        {"eval_set": (np.zeros((3, 5)), [1, -1, 1])},
        ValueError,
        r"X of eval_set must have 4 features \(columns\) like the training data, got 5",
    ),
    ({"eval_set": (np.zeros((3, 4)), [1, -1])}, ValueError, "eval_set.*3.*2"),
    ({"eval_set": [(np.zeros((3, 4)), [1, -1, 1])]}, TypeError, r"one pair \(X, y\), got a list of 1 pair$"),
    ({"eval_set": [(np.zeros((3, 4)), [1, -1, 1])] * 2}, TypeError, r"one pair \(X, y\), got a list of 2 pairs$"),
    ({"eval_set": (([[1.0] * 4], [1]),) * 2}, TypeError, r"one pair \(X, y\), got a tuple of 2 pairs$"),
    ({"eval_set": ([[1.0] * 4] * 2, [[1], [-1]])}, ValueError, r"y of eval_set must be one-dimensional"),
    ({"eval_set": (np.zeros(4), [1, -1, 1, -1])}, ValueError, r"X of eval_set must.*; use X.reshape\(-1, 1\)"),
    ({"eval_set": (np.zeros((2, 4)), np.array([[1], [-1]]))}, ValueError, r"y of eval_set must.*; use y.ravel\(\)$"),
    ({"eval_set": (np.zeros((2, 4)), [1, 7])}, ValueError, r"y of eval_set must.*fastpu.as_labels\(y, "),
    ({"eval_set": (np.zeros((3, 4)), [1, 1, 1])}, ValueError, "eval_set"),
    ({"eval_set": (np.zeros((3, 4)) * 1j, [1, -1, 1])}, TypeError, "eval_set.*complex"),
    ({"n_estimators": 5}, TypeError, "n_estimators"),
]

BAD_GAMMA = [
    ({"gamma": -0.01}, ValueError, r"gamma must be a number in \[0, 1\], got -0.01"),
    ({"gamma": 1.01}, ValueError, r"gamma must be a number in \[0, 1\], got 1.01"),
    ({"gamma": np.nan}, ValueError, "gamma.*nan"),
    ({"gamma": np.inf}, ValueError, "gamma.*inf"),
    ({"gamma": "half"}, TypeError, "gamma.*'half'"),
    ({"gamma": 1 + 0j}, TypeError, "gamma"),
]

BAD_RHO = [
    ({"rho": -0.01}, ValueError, r"rho must be a number in \[0, 1\), got -0.01"),
    ({"rho": 1.0}, ValueError, r"rho must be a number in \[0, 1\), got 1.0"),
    ({"rho": np.nan}, ValueError, "rho.*nan"),
    ({"rho": None}, TypeError, "rho.*None"),
    ({"step": "newton"}, ValueError, "step.*'jensen'.*'newton'"),
    ({"step": 1}, TypeError, "step.*1"),
]


def bad_cases():
    for name, fit in FITS.items():
        cases = list(BAD_OPTIONS)
        cases += BAD_GAMMA if name != "rankboost_auc" else []
        cases += BAD_RHO if name != "pnu_adaboost" else []
        for number, (options, error, words) in enumerate(cases):
            yield pytest.param(fit, options, error, words, id=f"{name}-{number}-{next(iter(options))}")


@pytest.mark.parametrize(("fit", "options", "error", "words"), list(bad_cases()))
def test_bad_options_are_named(fit, options, error, words, data):
    X, y = data
    with pytest.raises(error, match=words):
        fit(X, y, **options)


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.zeros(6), ValueError, "X must be two-dimensional"),
        (np.zeros((6, 1, 1)), ValueError, "X must be two-dimensional"),
        (np.zeros((0, 2)), ValueError, "X must have at least 1 row"),
        (np.zeros((6, 0)), ValueError, "X must have at least 1 feature"),
        (np.zeros((6, 2)) * 1j, TypeError, "X.*complex"),
        (np.full((6, 2), "a"), TypeError, "X.*<U1"),
        (np.full((6, 2), None), TypeError, "X.*object"),
        (np.zeros((6, 2), dtype="datetime64[s]"), TypeError, "X.*datetime64"),
        ([[1.0, 2.0], [1.0]], ValueError, "X"),
        (None, (TypeError, ValueError), "X"),
        (np.ma.masked_array(np.zeros((6, 2))), TypeError, "X must not be a masked array"),
        (sp.csr_matrix(np.ones((6, 2)) * 1j), TypeError, "X.*complex"),
        (sp.csr_matrix((6, 0)), ValueError, "X must have at least 1 feature"),
    ],
)
@each_fit
def test_bad_matrices_are_named(fit, X, error, words):
    with pytest.raises(error, match=words):
        fit(X, [1, 1, 0, 0, -1, -1])


@each_fit
def test_a_broken_sparse_structure_is_refused_before_it_is_read(fit):
    def broken(**changes):
        matrix = sp.csr_matrix(np.eye(6))
        for name, (position, value) in changes.items():
            getattr(matrix, name)[position] = value
        return matrix

    for matrix in (
        broken(indices=(3, 17)),
        broken(indices=(3, -1)),
        broken(indptr=(2, 5000)),
        broken(indptr=(6, 1 << 30)),
        broken(indptr=(0, 1)),
    ):
        with pytest.raises(ValueError, match="X"):
            fit(matrix, [1, 1, 0, 0, -1, -1])


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        ([1, 0, -1], ValueError, "y must have one entry per row of the data .6., got 3"),
        ([1, 0, -1, 2, 0, 1], ValueError, "y.*2"),
        ([[1], [0], [1], [0], [1], [0]], ValueError, "y"),
        (["p", "u", "p", "u", "p", "u"], (ValueError, TypeError), "y.*'p'"),
        (np.array([1, 0, 1, 0, 1, 0]) * 1j, TypeError, "y"),
        (None, (ValueError, TypeError), "y"),
        ([1] * 6, ValueError, "y"),
        ([0] * 6, ValueError, "y"),
        ([-1] * 6, ValueError, "y"),
        ([1, 0, 1, 0, np.inf, 0], ValueError, "y.*inf"),
    ],
)
@each_fit
def test_bad_labels_are_named(fit, y, error, words):
    with pytest.raises(error, match=words):
        fit(np.arange(12.0).reshape(6, 2), y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@each_fit
def test_labels_in_a_frame_of_one_column_are_to_be_selected(fit, library):
    module = pytest.importorskip(library, reason=f"{library} is an optional input format")
    y = module.DataFrame({"label": [1, 1, 0, 0, -1, -1]})
    words = r"y must be one-dimensional, got DataFrame of shape \(6, 1\); select the column, y\['label'\]$"
    with pytest.raises(ValueError, match=words):
        fit(np.zeros((6, 2)), y)
    with pytest.raises(ValueError, match="y of eval_set.*; select the column, y\\['label'\\]$"):
        fit(np.zeros((6, 2)), y["label"], eval_set=(np.zeros((6, 2)), y))


@each_fit
def test_bins_in_any_other_place_than_that_of_the_matrix_are_refused(fit, data):
    X, y = data
    bins = fastpu.bin_features(X, max_bins=5)
    words = "cannot be read as .*: BinnedFeatures only stand for X in a fit or a prediction"
    with pytest.raises(TypeError, match=f"^y {words}"):
        fit(bins, bins)
    with pytest.raises(TypeError, match=f"^sample_weight {words}"):
        fit(bins, y, sample_weight=bins)
    with pytest.raises(TypeError, match=f"^y of eval_set {words}"):
        fit(bins, y, eval_set=(bins, bins))
    with pytest.raises(TypeError, match=f"^X {words}"):
        fastpu.bin_features(bins)


def test_rankboost_wants_both_labelled_groups():
    X = np.arange(8.0).reshape(4, 2)
    for y, missing in (([1, 1, 0, 0], "negative"), ([0, 0, -1, -1], "positive")):
        with pytest.raises(ValueError, match=missing):
            fastpu.fit_rankboost_auc(X, y)


@each_fit
def test_bad_rows_are_refused_at_predict(fit, data):
    X, y = data
    model = fit(X, y, n_rounds=3)
    for call in (model.decision_function, model.predict, lambda t: list(model.staged_decision_function(t))):
        with pytest.raises(ValueError, match="X must have 4 features.*, got 3"):
            call(X[:, :3])
        with pytest.raises(TypeError, match="X.*complex"):
            call(X * 1j)
        with pytest.raises(ValueError, match="X must be two-dimensional"):
            call(X[0])


@each_fit
def test_missing_and_infinite_values_are_no_error(fit):
    """NaN goes with -inf, at fit and at predict."""
    X = np.array([[np.nan, 1], [-np.inf, 2], [0, np.inf], [1, np.nan], [2, 5], [np.inf, 6]] * 4)
    model = fit(X, [1, 0, -1, 1, 0, -1] * 4, n_rounds=10)
    lowest = np.where(np.isnan(X), -np.inf, X)
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(lowest))
    assert_same_stumps(model, fit(lowest, [1, 0, -1, 1, 0, -1] * 4, n_rounds=10))


@each_fit
def test_bins_of_validation_or_other_rows_have_to_be_those_of_the_training_rows(fit, data):
    X, y = data
    bins = fastpu.bin_features(X, max_bins=5)
    with pytest.raises(ValueError, match="eval_set may hold BinnedFeatures only where X is BinnedFeatures too"):
        fit(X, y, eval_set=(bins, y))
    with pytest.raises(ValueError, match="eval_set must have the cuts of X: bin all rows together"):
        fit(bins, y, eval_set=(fastpu.bin_features(X[:, :2], max_bins=5), y))
    model = fit(bins, y)
    with pytest.raises(ValueError, match=f"X must have {X.shape[1]} features like the training data, got 2"):
        model.decision_function(fastpu.bin_features(X[:, :2], max_bins=5))
