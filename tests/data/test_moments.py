"""Moments of columns are those of their entries, whatever the form of the rows, their scale and how far from 0."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fastpu.data._moments import column_moments
from fastpu.data._validate import check_matrix


def with_stored_zeros(X):
    """All entries are stored, but for some of those that are 0."""
    rows, columns = np.nonzero((X != 0) | (np.arange(X.size).reshape(X.shape) % 2 == 0))
    return sp.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, with_stored_zeros])
@pytest.mark.parametrize("scale", [1.0, 2.0**-500, 2.0**500])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_all_entries(form, scale, weighted, rng):
    X = np.where(rng.random((200, 5)) < 0.4, rng.normal(size=(200, 5)), 0.0)
    X[:, 1] += 1e6
    X[:, 2] = 7.0
    X[:, 3] = 0.0
    mass = rng.integers(0, 4, 200) * 0.3 if weighted else np.ones(200)
    of = column_moments(check_matrix(form(X * scale)), mass if weighted else None)
    means = np.average(X, axis=0, weights=mass)
    assert of.unit <= np.abs(X).max() * scale < 2 * of.unit
    np.testing.assert_allclose(of.means * (of.unit / scale), means, rtol=1e-14, atol=1e-14)  # of entries of about 1
    variances = np.average((X - means) ** 2, axis=0, weights=mass)
    np.testing.assert_allclose(of.variances * (of.unit / scale) ** 2, variances, rtol=1e-9, atol=1e-20)
    np.testing.assert_allclose(of.shares, np.average(X != 0, axis=0, weights=mass), rtol=1e-14)
