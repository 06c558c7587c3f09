"""LSAUC, SAMULT and PNU-AUC: forms of rows, weights, randomness, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

import fastpu
from fastpu.auc import _fit as _ls_auc
from fastpu.auc import _moments as _ls_moments
from helpers import refused
from ls_auc_cases import FITS, ROUNDING, SINGLE, assert_same, bits, centers_of, each_fit, pnu_rows

FORMS = {
    "dense64": np.array,
    "dense32": lambda X: np.array(X, dtype=np.float32),
    "csr64": sp.csr_array,
    "csr32": lambda X: sp.csr_array(X.astype(np.float32)),
}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@pytest.fixture(scope="module")
def data():
    X, y, _ = pnu_rows()
    return X, y


# -- rows --------------------------------------------------------------------------------------------------------------


@each_form
@each_fit
def test_all_forms_of_rows_give_the_same_model(fit, form, data):
    X, y = data
    rows = form(X)
    tol = ROUNDING if rows.dtype == np.float64 else SINGLE
    model, expected = fit(rows, y), fit(X, y)
    assert_same(model, expected, tol)
    wanted = expected.decision_function(X)
    for other in (rows, X, sp.csr_array(X), X.astype(np.float32)):
        np.testing.assert_allclose(model.decision_function(other), wanted, atol=10 * tol)
    if model.basis == "gauss":
        assert sp.issparse(model.centers) == sp.issparse(rows)
        np.testing.assert_array_equal(centers_of(model), centers_of(expected))


@each_fit
def test_the_fewest_rows_and_features(fit):
    model = fit([[2.0], [1.0], [0.0]], [1, 0, -1], lam=1.0)
    assert np.isfinite(model.decision_function([[0.5], [3.0]])).all()
    constant = fit(np.column_stack([[2.0, 1.0, 0.0], np.full(3, 7.0)]), [1, 0, -1], lam=1.0)
    if constant.basis == "linear":
        assert constant.coef[1] == 0


def short_blocks(native, *_):
    n_rows = native[3][0] if isinstance(native, tuple) else len(native)
    return [slice(start, min(start + 64, n_rows)) for start in range(0, n_rows, 64)]


def test_sums_over_many_blocks_are_those_of_one(monkeypatch):
    X, y, _ = pnu_rows(700, 5, seed=3)
    for form in (np.array, sp.csr_array):
        whole = [fit(form(X), y) for fit in FITS.values()]
        monkeypatch.setattr(_ls_moments, "row_blocks", short_blocks)
        for fit, model in zip(FITS.values(), whole, strict=True):
            assert_same(fit(form(X), y), model)
        monkeypatch.undo()


# -- weights -----------------------------------------------------------------------------------------------------------


@each_form
@each_fit
def test_weights_are_repeated_rows(fit, form, data):
    X, y = data
    repeats = np.random.default_rng(2).integers(0, 4, size=len(y))
    repeats[:6] = 2
    rows = form(X)
    model = fit(rows, y, sample_weight=repeats)
    again = fit(form(np.repeat(X, repeats, axis=0)), np.repeat(y, repeats))
    assert_same(model, again, ROUNDING if rows.dtype == np.float64 else SINGLE)


@each_fit
def test_repeating_all_rows_and_scaling_all_weights_change_nothing(fit, data):
    X, y = data
    expected = fit(X, y)
    for factor in (3.0, 1e-290, 1e290):
        model = fit(X, y, sample_weight=np.full(len(y), factor))
        if expected.basis == "linear":
            assert_same(model, expected)
    assert bits(fit(X, y, sample_weight=np.ones(len(y))), X) == bits(expected, X)


@pytest.mark.parametrize("name", ["ls_auc", "samult", "pnu_pu", "pnu_nu"])
def test_weights_of_one_group_count_among_themselves_alone(name, data):
    """Each group is a mean: its scale does not matter, however small it is."""
    X, y = data
    expected = FITS[name](X, y)
    for group in (1, 0, -1):
        assert_same(FITS[name](X, y, sample_weight=np.where(y == group, 1e-310, 1e200)), expected)


@each_fit
def test_rows_of_weight_zero_are_absent(fit, data):
    X, y = data
    kept = np.random.default_rng(1).random(len(y)) < 0.7
    kept[:6] = True
    far = np.where(kept[:, None], X, 1e9)
    assert bits(fit(far, y, sample_weight=kept), X) == bits(fit(X[kept], y[kept]), X)


def test_unlabelled_rows_are_left_out_of_ls_auc(data):
    X, y = data
    for options in ({}, {"basis": "gauss", "n_centers": 10}):
        fit = FITS["ls_auc"]
        far = np.where((y == 0)[:, None], 1e6, X)
        assert bits(fit(far, y, **options), X) == bits(fit(X[y != 0], y[y != 0], **options), X)


# -- threads of BLAS, randomness, text ---------------------------------------------------------------------------------


def test_the_threads_of_blas_are_as_many_as_before(data):
    X, y = data
    before = [(info["filepath"], info["num_threads"]) for info in threadpool_info()]
    fastpu.fit_ls_auc(X, y)
    assert [(info["filepath"], info["num_threads"]) for info in threadpool_info()] == before


def test_random_state_draws_the_centers_and_nothing_else(data):
    X, y = data
    fit = FITS["samult_gauss"]
    assert bits(fit(X, y, random_state=1)) == bits(fit(X, y, random_state=np.random.default_rng(1)))
    assert bits(fit(X, y, random_state=1)) != bits(fit(X, y, random_state=2))
    assert bits(FITS["samult"](X, y, random_state=1)) == bits(FITS["samult"](X, y, random_state=2))
    model = fit(X, y)
    assert len(model.centers) == 12
    assert {tuple(center) for center in model.centers} <= {tuple(row) for row in X}
    assert len(fit(X, y, n_centers=10**9).centers) == len(np.unique(X, axis=0))
    distances = np.linalg.norm(X[:, None] - model.centers[None], axis=2)
    assert model.bandwidth == pytest.approx(np.median(distances[distances > 0]), rel=0.05)


def test_text_in_csr_is_never_made_dense():
    """A matrix that would take 1.6 GB, and a system that would take 8 TB."""
    rng = np.random.default_rng(5)
    n, d, each = 200, 1_000_000, 30
    columns = np.sort(rng.choice(2000, size=(n, each)), axis=1) * 499
    columns[:60, 0] = 7
    y = np.repeat([1, 0, -1, 0], [40, 20, 80, 60])
    X = sp.csr_array((np.ones(n * each), (np.repeat(np.arange(n), each), columns.ravel())), shape=(n, d))
    for name, fit in FITS.items():
        if name == "pnu_nu":
            continue  # beyond the bound on eta
        scores = fit(X, y, lam=0.1).decision_function(X)
        assert scores[:40].mean() > scores[60:140].mean()


# -- what is refused ---------------------------------------------------------------------------------------------------

SHARED = [
    ({"lam": -1.0}, ValueError, "lam must be a finite number >= 0, got -1"),
    ({"lam": "much"}, TypeError, "lam must be a finite number >= 0, got 'much'"),
    ({"lam": []}, ValueError, "lam must be a number >= 0 or a sequence of at least one of them"),
    ({"lam": [0.1, np.nan]}, ValueError, "lam[1] must be a finite number >= 0, got nan"),
    ({"basis": "rbf"}, ValueError, "basis must be one of 'linear', 'gauss', got 'rbf'"),
    ({"n_centers": 0}, ValueError, "n_centers must be an integer >= 1, got 0"),
    ({"basis": "linear", "centers": np.ones((2, 4))}, ValueError, "centers is for basis='gauss'"),
    ({"basis": "linear", "bandwidth": 1.0}, ValueError, "bandwidth is for basis='gauss'"),
    ({"basis": "gauss", "bandwidth": 0}, ValueError, "bandwidth must be a finite number > 0, got 0"),
    ({"basis": "gauss", "bandwidth": 1e-200}, ValueError, "bandwidth must be such that its square"),
    ({"basis": "gauss", "centers": np.ones((3, 2))}, ValueError, "centers must have 4 features"),
    ({"basis": "gauss", "centers": np.full((3, 4), 1e200)}, ValueError, "bandwidth=None is the median distance"),
    ({"tol": 0}, ValueError, "tol must be a finite number > 0, got 0"),
    ({"max_iter": 0}, ValueError, "max_iter must be an integer >= 1, got 0"),
    ({"random_state": -1}, ValueError, "random_state must be an integer >= 0, got -1"),
    ({"n_threads": 0}, ValueError, "n_threads must be an integer >= 1, got 0"),
    ({"sample_weight": 2.0}, TypeError, "sample_weight must have one entry per row (90), got the scalar 2.0"),
    ({"sample_weight": -np.ones(90)}, ValueError, "sample_weight must be >= 0, got -1.0 at position 0"),
]


@pytest.mark.parametrize(("options", "error", "words"), SHARED)
@each_fit
def test_bad_options(fit, options, error, words, data):
    refused(error, words, fit, *data, **options)


def test_bad_options_of_their_own(data):
    refused(ValueError, "gamma must be a number in [0, 1], got 1.5", fastpu.fit_samult, *data, gamma=1.5)
    refused(TypeError, "gamma must be a number in [0, 1], got [0.1]", fastpu.fit_samult, *data, gamma=[0.1])
    fit = fastpu.fit_pnu_auc
    refused(ValueError, "eta must be a number in [-1, 1], got -1.5", fit, *data, prior=0.5, eta=-1.5)
    refused(ValueError, "prior must be a number in (0, 1), got 0", fit, *data, prior=0)
    refused(ValueError, "scenario must be one of", fit, *data, prior=0.5, scenario="both")
    refused(ValueError, "prior must be at least", fit, *data, prior=0.01, scenario="single_set", eta=0.5)
    with pytest.raises(TypeError, match="prior"):
        fit(*data)
    X, y = data
    overall = {"scenario": "single_set", "eta": 0.5, "prior": float(np.mean(y >= 0))}
    refused(ValueError, "prior must be smaller with eta = 0.5", fit, X, y, **overall)
    overall |= {"eta": -0.5, "prior": float(np.mean(y == 1))}
    refused(ValueError, "prior must be larger with eta = -0.5", fit, X, y, **overall)


def test_missing_groups(data):
    X, y = data
    cases = [
        (fastpu.fit_ls_auc, {}, 1, "y must hold labelled positive (+1) and labelled negative (-1) rows for fit_ls_auc"),
        (fastpu.fit_samult, {}, 0, "y must hold labelled positive (+1) and unlabelled (0) and labelled negative (-1)"),
        (fastpu.fit_pnu_auc, {"prior": 0.5}, -1, "rows for fit_pnu_auc with eta = 0, got"),
        (fastpu.fit_pnu_auc, {"prior": 0.5, "eta": 1}, 0, "labelled positive (+1) and unlabelled (0) rows"),
        (fastpu.fit_pnu_auc, {"prior": 0.5, "eta": -1}, -1, "unlabelled (0) and labelled negative (-1) rows"),
        (fastpu.fit_pnu_auc, {"prior": 0.5, "eta": -0.5}, 1, "with eta = -0.5"),
    ]
    for fit, options, group, words in cases:
        refused(ValueError, words, fit, X[y != group], y[y != group], **options)
        refused(ValueError, words, fit, X, y, sample_weight=y != group, **options)
    refused(
        ValueError,
        "if 0 means negative, pass fastpu.as_labels(y, negative=0)",
        fastpu.fit_ls_auc,
        X,
        (y == 1).astype(int),
    )


@each_fit
def test_bad_rows(fit, data):
    X, y = data
    for value in (np.nan, np.inf):
        bad = X.copy()
        bad[7, 2] = value
        refused(ValueError, "X must not hold NaN or infinite entries", fit, bad, y)
    refused(ValueError, "y must have one entry per row of the data (90), got 89", fit, X, y[:-1])
    refused(TypeError, "X must hold real numbers", fit, X.astype(complex), y)
    refused(TypeError, "got BinnedFeatures", fit, fastpu.bin_features(X), y)


@pytest.mark.filterwarnings("ignore::fastpu.ScaleWarning")
def test_overflow_is_refused(data, monkeypatch):
    X, y = data
    words = "squares can be added up for fit_ls_auc"
    for scale in (1e160, 1e307):
        refused(ValueError, words, fastpu.fit_ls_auc, X * scale, y)
        monkeypatch.setattr(_ls_auc, "_MOST_DIRECT", 0)
        refused(ValueError, words, fastpu.fit_ls_auc, X * scale, y)
        monkeypatch.undo()
    X = X.copy()
    X[np.flatnonzero(y == 1)[3], 2] = -1e200
    where = "got the largest -1e+200 in column 2; scale the features"
    refused(ValueError, where, fastpu.fit_ls_auc, X, y)
    refused(ValueError, where, fastpu.fit_ls_auc, sp.csr_array(X), y)
    small = fastpu.fit_ls_auc(data[0] * 1e-150, y)
    assert np.isfinite(small.coef).all()


@pytest.mark.parametrize("lam", [0.0, 1e-3, 1.79e308])
def test_moments_that_overflow_together_are_refused(data, lam):
    """Their sum was infinite where none of them is: a model of zeros came, with an objective of NaN."""
    X, y = data
    X = X / np.abs(X).max(axis=0)
    words = f"do not overflow, got lam={lam:g}; scale the features, or lower lam"
    refusals = []
    for size in np.geomspace(1e153, 1e155, 300):
        try:
            model = fastpu.fit_ls_auc(X * size, y, lam=lam)
        except ValueError as error:
            refusals.append(str(error))
        else:
            assert np.isfinite([*model.coef, *model.objective, *model.history["residual"]]).all()
    assert any(words in each for each in refusals)


def test_centers_that_the_dtype_of_x_cannot_hold_are_refused(data):
    X, y = data
    refused(
        ValueError, "centers must be numbers of float32, the dtype of X, got some beyond its range",
        fastpu.fit_ls_auc, X.astype(np.float32), y, basis="gauss", centers=X[:5] * 1e300,
    )  # fmt: skip


def test_memory_is_refused_before_work_begins(data):
    X, y = data
    centers = np.arange(4e6).reshape(-1, 4)
    refused(
        MemoryError, "1000000 x 1000000 numbers need 48000000000000 bytes",
        fastpu.fit_ls_auc, X, y, basis="gauss", centers=centers, bandwidth=1.0,
    )  # fmt: skip


def test_models_that_make_no_sense_are_refused(data):
    model = FITS["samult_gauss"](*data)
    fields = model.__reduce__()[1][1]
    refused(ValueError, "centers_dense must have shape", type(model), **{**fields, "coef": np.ones(3)})
    refused(ValueError, "basis must be", type(model), **{**fields, "basis": "cubic"})
