"""Weights that are one number for each kind of label, and so change nothing, are told of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastpu
from fastpu.exceptions import LabelWarning

FITS = {
    "fit_forest": lambda X, y, w: fastpu.fit_forest(X, y, n_trees=40, sample_weight=w, random_state=0),
    "fit_pnu_auc_boost": lambda X, y, w: fastpu.fit_pnu_auc_boost(X, y, n_rounds=5, sample_weight=w),
    "fit_pnu_adaboost": lambda X, y, w: fastpu.baselines.fit_pnu_adaboost(X, y, n_rounds=5, sample_weight=w),
    "fit_rankboost_auc": lambda X, y, w: fastpu.baselines.fit_rankboost_auc(
        X, negative(y), n_rounds=5, sample_weight=w
    ),
    "fit_ls_auc": lambda X, y, w: fastpu.baselines.fit_ls_auc(X, negative(y), sample_weight=w),
}
each_fit = pytest.mark.parametrize("name", FITS)


def negative(y):
    return np.where(y == 1, 1, -1)


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, ((X[:, 0] > 0) & (rng.random(120) < 0.7)).astype(int)


def told(name, y, weights):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = FITS[name](rows()[0], y, weights)
    return model, [str(one.message) for one in found if issubclass(one.category, LabelWarning)]


@each_fit
def test_weights_that_balance_the_groups_are_told_of_and_change_nothing(name):
    X, y = rows()
    plain = FITS[name](X, y, None).decision_function(X)
    for weights in (np.where(y == 1, 7.0, 1.0), np.where(y == 1, 0.5, 0.02), (1 + 3 * y) * (np.arange(120) >= 0)):
        model, (text,) = told(name, y, weights)
        assert text.startswith(f"{name}: sample_weight is constant within each kind of label, which changes nothing")
        np.testing.assert_allclose(model.decision_function(X), plain, rtol=1e-9, atol=1e-9)


@each_fit
def test_weights_with_a_meaning_are_not_told_of(name):
    _, y = rows()
    for weights in (None, np.ones(120), np.full(120, 3.0), 1.0 + np.arange(120) % 2, (np.arange(120) % 3 > 0) * 1.0):
        assert told(name, y, weights)[1] == []
