"""Columns on different scales are told before a fit that depends on scale, and nothing else is."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fastpu
from fastpu import estimators
from fastpu.common._methods import DECLARED
from fastpu.data._validate import check_matrix
from fastpu.kernels import _scales
from fastpu.kernels._scales import warn_of_scales
from method_recipes import RECIPES

FITS = {name: recipe for name, recipe in RECIPES.items() if name.startswith("fit_")}


def said(X: object) -> str:
    """The warning for a matrix, or nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_scales(check_matrix(X))
    assert all(warning.category is fastpu.exceptions.ScaleWarning for warning in caught)
    return str(caught[0].message) if caught else ""


@pytest.fixture
def wages(rng):
    """Income beside age and a yes or no."""
    return np.column_stack([rng.normal(5e4, 1.5e4, 300), rng.normal(40, 12, 300), rng.random(300) < 0.3])


@pytest.mark.parametrize("name", FITS)
def test_every_method_that_depends_on_scales_says_so_and_boosting_does_not(name):
    recipe = FITS[name]
    X, *labels = recipe.arguments(80)
    X = X * np.array([1e5, 1, 1, 1, 1, 1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recipe.call(X, *labels, **({"lam": 0.01} if recipe.name == "fit_upu" else {}))
    told = [warning for warning in caught if warning.category is fastpu.exceptions.ScaleWarning]
    assert len(told) == (not DECLARED[recipe.name].binned)  # those that take bins read the order of a column alone
    assert all(warning.filename == str(recipe.call.__code__.co_filename) for warning in told)


@pytest.mark.parametrize("name", [name for name in RECIPES if name.startswith("priors.")])
def test_priors_need_no_warning_as_they_bring_columns_to_one_scale(name):
    recipe = RECIPES[name]
    X, y = recipe.arguments(80)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recipe.call(X * np.array([1e5, 1, 1, 1, 1, 1]), y)
    told = [warning for warning in caught if warning.category is fastpu.exceptions.ScaleWarning]
    assert not told


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_warning_names_columns_their_scales_and_the_remedy(make, wages):
    text = said(make(dict(zip(("income", "age", "owner"), wages.T, strict=True))))
    assert "values vary in column 0 ('income') by 1.2e+04, but in column 2 ('owner') by 1, column 1 ('age') by" in text
    assert "this method sees little of the 2 of 3 columns that vary least: values vary in" in text
    assert "make_pipeline(sklearn.preprocessing.StandardScaler(), classifier)" in text


def test_the_warning_about_one_column_speaks_of_one(wages):
    text = said(wages[:, :2])
    assert "this method sees little of the one of 2 columns that varies least: values vary in column 0 by" in text


def test_dense_and_sparse_rows_are_judged_alike(rng):
    for _ in range(50):
        shape = (int(rng.integers(1, 60)), int(rng.integers(1, 8)))
        X = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape[1]) + rng.choice([0.0, 5.0])
        X[rng.random(shape) < rng.random(shape[1])] = 0.0
        found = []
        for form in (X, sp.csr_array(X)):
            columns, spreads = _scales._spreads(check_matrix(form))
            found.append(dict(zip(columns.tolist(), spreads.tolist(), strict=True)))
        assert found[0] == pytest.approx(found[1], rel=1e-12)
        for column, spread in found[0].items():
            middle = np.sort(X[:, column])[(len(X) - 1) // 2]
            away = np.abs(X[:, column] - middle)
            assert spread == pytest.approx(away[away > 0].mean())


def test_the_warning_for_sparse_rows_keeps_them_sparse(wages):
    assert "StandardScaler(with_mean=False)" in said(sp.csr_array(wages))


def test_scaled_columns_are_silent(wages, rng):
    assert said(wages)
    assert not said(StandardScaler().fit_transform(wages))
    assert not said((wages - wages.min(axis=0)) / np.ptp(wages, axis=0))
    assert not said(wages[:, :1])
    assert not said(np.exp(2 * rng.normal(size=(500, 8))))


def test_rare_categories_and_words_are_silent(rng):
    rare = rng.random((20_000, 8)) < np.logspace(-4, -0.5, 8)
    assert not said(np.hstack([rng.normal(size=(20_000, 2)), rare]))
    assert not said(np.hstack([rng.normal(size=(20_000, 2)), ~rare]))
    words = [f"w{k}" for k in range(3000)]
    often = 1 / np.arange(1, 3001)
    texts = [" ".join(rng.choice(words, rng.integers(1, 200), p=often / often.sum())) for _ in range(400)]
    assert not said(TfidfVectorizer().fit_transform(texts))
    assert not said(TfidfVectorizer().fit_transform(texts).toarray())


def test_images_whose_border_is_dim_are_silent(rng):
    assert not said(rng.random((200, 64)) * np.where(np.arange(64) < 6, 0.5, 255))
    assert said(rng.random((200, 64)) * np.where(np.arange(64) < 7, 0.5, 255))


def test_constant_columns_do_not_count(rng):
    X = np.column_stack([np.full(50, 0.1), np.full(50, 1e9 + 0.3), np.zeros(50), rng.normal(size=50)])
    assert not said(X)
    assert not said(np.zeros((5, 3)))
    assert not said(sp.csr_array((5, 3)))


def test_numbers_at_the_ends_of_the_range(rng):
    X = rng.normal(size=(50, 3))
    for form in (np.asarray, sp.csr_array):
        assert said(form(X * [1e300, 1e-300, 1]))
        assert said(form(X * [1e-300, 1e-310, 1e-303]))
        assert not said(form(np.sign(X) * 1.7e308))
    assert said(np.where(np.arange(50)[:, None] % 3, 1.7e308, -1.7e308) * [1, 1e-3])


def test_many_rows_are_looked_at_in_part_and_huge_numbers_of_columns_at_no_cost(wages):
    assert said(np.tile(wages, (2000, 1)))
    assert not said(sp.csr_array((np.ones(3), ([0, 1, 2], [0, 7, 10**9])), shape=(3, 2**31 - 10)))


def test_kernels_of_the_caller_are_not_judged(wages):
    y = np.arange(300) % 2 == 0
    rows, size = StandardScaler().fit_transform(wages), np.linspace(1, 1e4, 300)
    K = rows @ rows.T
    fastpu.fit_bsvm(K * np.outer(size, size), y, C_pos=1e-9, C_unl=1e-9, kernel="precomputed")
    scale = wages.std(axis=0)
    fastpu.fit_bsvm(
        wages,
        y,
        C_pos=1,
        C_unl=0.5,
        kernel=lambda A, B: np.exp(-(((A / scale)[:, None] - (B / scale)) ** 2).sum(axis=2)),
    )


def test_where_the_scale_does_not_matter_nothing_is_said(wages):
    y = np.arange(300) % 3 - 1
    fastpu.fit_upu(wages, y >= 0, prior=0.5, loss="squared", lam=0.0)
    fastpu.baselines.fit_ls_auc(wages, y, lam=0.0)


def test_the_remedy_works(wages):
    y = np.arange(300) % 3 == 0
    make_pipeline(StandardScaler(), estimators.BSVMClassifier()).fit(wages, y)
    with pytest.warns(fastpu.exceptions.ScaleWarning, match="column 0 by"):
        estimators.BSVMClassifier().fit(wages, y)
