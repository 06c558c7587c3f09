"""Rows that stand in the data several times: out-of-bag scores of labelled ones are too good, and a warning says so."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.exceptions import CopiedRowsWarning

FITS = {
    "fit_forest": lambda X, y, **options: fastpu.fit_forest(X, y, n_trees=40, random_state=0, **options),
    "fit_boosted_trees": lambda X, y, **options: fastpu.fit_boosted_trees(
        X, y, n_rounds=5, n_bags=4, random_state=0, **options
    ),
}


def noise(n_pos: int = 60, n_unl: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_pos + n_unl, 4)), np.repeat([1, 0], [n_pos, n_unl])


def warned(fit, X, y, **options) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(X, y, **options)
    return any(issubclass(each.category, CopiedRowsWarning) for each in caught)


def test_out_of_bag_scores_of_noise_are_good_where_labelled_rows_have_copies():
    X, y = noise()
    once = fastpu.fit_forest(X, y, random_state=0).oob_decision_function
    twice = [np.concatenate([part, part]) for part in (X, y)]
    with pytest.warns(CopiedRowsWarning):
        copied = fastpu.fit_forest(*twice, random_state=0).oob_decision_function
    assert fastpu.metrics.auc(2 * y - 1, once) < 0.6
    assert fastpu.metrics.auc(2 * twice[1] - 1, copied) > 0.8


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, pd.DataFrame, fastpu.bin_features], ids=lambda f: f.__name__
)
def test_copies_of_labelled_rows_are_counted_in_a_warning(fit, form):
    X, y = noise()
    rows = np.concatenate([np.arange(360), np.arange(9)])  # of 69 labelled rows 18 have a copy
    with pytest.warns(CopiedRowsWarning, match=r"18 of the 69 labelled positive rows"):
        fit(form(X[rows]), y[rows])
    assert not warned(fit, form(X), y)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_copies_that_do_no_harm_are_passed_over(fit):
    X, y = noise()
    unlabelled = np.concatenate([np.arange(360), np.arange(60, 360)])
    assert not warned(fit, X[unlabelled], y[unlabelled])
    few = np.concatenate([np.arange(360), np.arange(2)])
    assert not warned(fit, X[few], y[few])
    # A copy that has lost its label pulls its labelled twin down.
    lost = np.concatenate([X, X[:60]]), np.concatenate([y, np.zeros(60)])
    assert not warned(fit, *lost)
    # Rows of weight 0 are in no bag.
    rows, weights = np.concatenate([np.arange(360), np.arange(60)]), np.repeat([1.0, 0.0], [360, 60])
    assert not warned(fit, X[rows], y[rows], sample_weight=weights)
    assert warned(fit, X[rows], y[rows], sample_weight=weights + 1)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize("n_levels", [2, 3, 5])
def test_equal_rows_of_few_categories_are_no_copies(fit, n_levels):
    """Their labels are drawn one by one, half of those of the positive rows."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, n_levels, (600, 4))
        truth = rng.random(600) < 1 / (1 + np.exp(2.0 * n_levels - 2.0 * codes[:, 0] - codes[:, 1]))
        y = truth & (rng.random(600) < 0.5)
        frame = pd.DataFrame(codes.astype(str)).astype("category")
        assert not warned(fit, frame, y)
        assert not warned(fit, codes.astype(float), y)


def test_equal_rows_have_equal_hashes_in_every_form_and_subset():
    X, _ = noise()
    X[:, 2] = np.abs(X[:, 2]) > 1.0
    X[7] = X[3]
    wide = fastpu.bin_features(X, max_bins=400)
    for dense in (fastpu.bin_features(X), wide):
        every = fastpu._core.row_hashes(dense._native, np.arange(360), n_threads=2)
        assert every[7] == every[3]
        assert np.unique(every).size == 359
        part = np.array([300, 3, 3, 0])
        np.testing.assert_array_equal(fastpu._core.row_hashes(dense._native, part, n_threads=1), every[part])
        taken = fastpu._core.row_hashes(dense[part]._native, np.arange(4), n_threads=1)
        np.testing.assert_array_equal(taken, every[part])
    binned = fastpu.bin_features(X)
    sparse = fastpu.bin_features(sp.csr_array(X))
    of_dense, of_sparse = (fastpu._core.row_hashes(b._native, np.arange(360), n_threads=2) for b in (binned, sparse))
    np.testing.assert_array_equal(of_dense, of_sparse)
    with pytest.raises(IndexError, match="rows must be from 0 to 359"):
        fastpu._core.row_hashes(binned._native, np.array([360]), n_threads=1)
