"""LSAUC, SAMULT and PNU-AUC: forms of rows, weights, randomness, and what they refuse."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.baselines import _rank_models
from fastpu.common._methods import function_of
from helpers import refused
from ls_auc_cases import FITS, assert_same, each_fit, pnu_rows
from method_recipes import model_bits


@pytest.fixture(scope="module")
def data():
    X, y, _ = pnu_rows()
    return X, y


# -- rows --------------------------------------------------------------------------------------------------------------


def test_sums_over_many_blocks_are_those_of_one(monkeypatch):
    X, y, _ = pnu_rows(700, 5, seed=3)
    for form in (np.array, sp.csr_array):
        whole = [fit(form(X), y) for fit in FITS.values()]
        monkeypatch.setattr("fastpu.data._matrix._BLOCK_ENTRIES", 320)
        for fit, model in zip(FITS.values(), whole, strict=True):
            assert_same(fit(form(X), y), model)
        monkeypatch.undo()


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.LabelWarning")  # which says so
@pytest.mark.parametrize("name", ["ls_auc", "samult", "pnu_pu", "pnu_nu"])
def test_weights_of_one_group_count_among_themselves_alone(name, data):
    """Each group is a mean: its scale does not matter, however small it is."""
    X, y = data
    expected = FITS[name](X, y)
    for group in (1, 0, -1):
        assert_same(FITS[name](X, y, sample_weight=np.where(y == group, 1e-310, 1e200)), expected)


def test_unlabelled_rows_are_left_out_of_ls_auc(data):
    X, y = data
    for options in ({}, {"model": "gauss", "n_centers": 10}):
        fit = FITS["ls_auc"]
        far = np.where((y == 0)[:, None], 1e6, X)
        assert model_bits(fit(far, y, **options), X) == model_bits(fit(X[y != 0], y[y != 0], **options), X)


# -- threads of BLAS, randomness, text ---------------------------------------------------------------------------------


def test_random_state_draws_the_centers_and_nothing_else(data):
    X, y = data
    fit = FITS["samult_gauss"]
    assert model_bits(fit(X, y, random_state=1)) == model_bits(fit(X, y, random_state=np.random.default_rng(1)))
    assert model_bits(fit(X, y, random_state=1)) != model_bits(fit(X, y, random_state=2))
    assert model_bits(FITS["samult"](X, y, random_state=1)) == model_bits(FITS["samult"](X, y, random_state=2))
    model = fit(X, y)
    assert len(model.centers) == 12
    assert {tuple(center) for center in model.centers} <= {tuple(row) for row in X}
    assert len(fit(X, y, n_centers=10**9).centers) == len(np.unique(X, axis=0))
    distances = np.linalg.norm(X[:, None] - model.centers[None], axis=2)
    assert model.bandwidth == pytest.approx(np.median(distances[distances > 0]), rel=0.05)


# -- what is refused ---------------------------------------------------------------------------------------------------

TOGETHER = [
    ({"lam": [0.1, np.nan]}, ValueError, "lam[1] must be a finite number >= 0, got nan"),
    ({"model": "linear", "centers": np.ones((2, 4))}, ValueError, "centers is for model='gauss'"),
    ({"model": "linear", "bandwidth": 1.0}, ValueError, "bandwidth is for model='gauss'"),
    ({"model": "gauss", "bandwidth": 1e-200}, ValueError, "bandwidth must have a square that float64 can hold"),
    ({"model": "gauss", "centers": np.ones((3, 2))}, ValueError, "centers must have 4 features"),
    ({"model": "gauss", "centers": np.full((3, 4), 1e200)}, ValueError, "bandwidth=None is the median distance"),
]


@pytest.mark.parametrize(("options", "error", "words"), TOGETHER)
@each_fit
def test_options_that_do_not_go_together(fit, options, error, words, data):
    refused(error, words, fit, *data, **options)


def test_priors_that_cannot_be_with_the_labels(data):
    fit = fastpu.baselines.fit_pnu_auc
    refused(ValueError, "prior must be at least", fit, *data, prior=0.01, scenario="single_set", eta=0.5)
    X, y = data
    overall = {"scenario": "single_set", "eta": 0.5, "prior": float(np.mean(y >= 0))}
    refused(ValueError, "prior must be smaller with eta = 0.5", fit, X, y, **overall)
    overall |= {"eta": -0.5, "prior": float(np.mean(y == 1))}
    refused(ValueError, "prior must be larger with eta = -0.5", fit, X, y, **overall)


def test_missing_groups(data):
    X, y = data
    cases = [
        (
            fastpu.baselines.fit_ls_auc,
            {},
            1,
            "y must hold labelled positive (+1) and labelled negative (-1) rows for fit_ls_auc",
        ),
        (
            fastpu.baselines.fit_samult,
            {},
            0,
            "y must hold labelled positive (+1) and unlabelled (0) and labelled negative (-1)",
        ),
        (fastpu.baselines.fit_pnu_auc, {"prior": 0.5}, -1, "rows for fit_pnu_auc with eta = 0, got"),
        (fastpu.baselines.fit_pnu_auc, {"prior": 0.5, "eta": 1}, 0, "labelled positive (+1) and unlabelled (0) rows"),
        (fastpu.baselines.fit_pnu_auc, {"prior": 0.5, "eta": -1}, -1, "unlabelled (0) and labelled negative (-1) rows"),
        (fastpu.baselines.fit_pnu_auc, {"prior": 0.5, "eta": -0.5}, 1, "with eta = -0.5"),
    ]
    for fit, options, group, words in cases:
        refused(ValueError, words, fit, X[y != group], y[y != group], **options)
        refused(ValueError, words, fit, X, y, sample_weight=y != group, **options)
    refused(
        ValueError,
        "if 0 means negative, pass fastpu.as_labels(y, negative=0)",
        fastpu.baselines.fit_ls_auc,
        X,
        (y == 1).astype(int),
    )


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.ScaleWarning")
def test_overflow_is_refused(data, monkeypatch):
    X, y = data
    words = "squares can be added up for fit_ls_auc"
    for scale in (1e160, 1e307):
        refused(ValueError, words, fastpu.baselines.fit_ls_auc, X * scale, y)
        monkeypatch.setattr(_rank_models, "_MOST_DIRECT", 0)
        refused(ValueError, words, fastpu.baselines.fit_ls_auc, X * scale, y)
        monkeypatch.undo()
    X = X.copy()
    X[np.flatnonzero(y == 1)[3], 2] = -1e200
    where = "got the largest -1e+200 in column 2; scale the features, or lower lam"
    refused(ValueError, where, fastpu.baselines.fit_ls_auc, X, y)
    refused(ValueError, where, fastpu.baselines.fit_ls_auc, sp.csr_array(X), y)
    small = fastpu.baselines.fit_ls_auc(data[0] * 1e-150, y)
    assert np.isfinite(small.coef).all()


@pytest.mark.parametrize("lam", [0.0, 1e-3, 1.79e308])
def test_moments_that_overflow_together_are_refused(data, lam):
    """The sum of finite moments may be infinite: the model must not be zeros with an objective of NaN."""
    X, y = data
    X = X / np.abs(X).max(axis=0)
    words = f"with lam = {lam:g} beside them, got the largest"
    refusals = []
    for size in np.geomspace(1e153, 1e155, 300):
        try:
            model = fastpu.baselines.fit_ls_auc(X * size, y, lam=lam)
        except ValueError as error:
            refusals.append(str(error))
        else:
            assert np.isfinite([*model.coef, *model.objective, *model.history["residual"]]).all()
    assert any(words in each for each in refusals)


def test_centers_that_the_dtype_of_x_cannot_hold_are_refused(data):
    X, y = data
    refused(
        ValueError, "centers must hold numbers within the range of float32, the dtype of X, got larger ones",
        fastpu.baselines.fit_ls_auc, X.astype(np.float32), y, model="gauss", centers=X[:5] * 1e300,
    )  # fmt: skip


def test_memory_is_refused_before_work_begins(data):
    X, y = data
    centers = np.arange(4e6).reshape(-1, 4)
    refused(
        MemoryError, "1000000 x 1000000 numbers need 48000000000000 bytes",
        fastpu.baselines.fit_ls_auc, X, y, model="gauss", centers=centers, bandwidth=1.0,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["fit_ls_auc", "fit_upu"])
@pytest.mark.parametrize("total", [1.0, 2.0**-900])
def test_weights_that_sum_to_little_draw_as_many_centers(name, total):
    X, truth = fastpu.datasets.make_four_normals(128, random_state=0)
    y = truth if name == "fit_ls_auc" else truth == 1
    options = {"fit_ls_auc": {"model": "gauss"}, "fit_upu": {"model": "gauss", "prior": 0.5, "lam": 0.1}}[name]
    fit = partial(function_of(name), X, y, n_centers=20, random_state=0, **options)
    model = fit(sample_weight=np.full(128, total / 128))
    np.testing.assert_array_equal(model.centers, fit().centers)
    np.testing.assert_allclose(model.decision_function(X), fit().decision_function(X), rtol=1e-9, atol=1e-9)
