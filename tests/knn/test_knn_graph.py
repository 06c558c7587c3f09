"""Nearest neighbours are exactly those of the oracle, whatever finds them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import fastpu
from knn_cases import DTYPES, HARD, METHODS, assert_exact, by_core
from oracles import knn_graph as oracle

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "f64"])
each_method = pytest.mark.parametrize("method", METHODS, ids=["auto", "tree", "blocks"])
each_kind = pytest.mark.parametrize("kind", HARD)


#: Rounding of a sum of d squares, relative, in units of 2^-53: differences and squares round as well.
ROUNDINGS = 8


# ---- fast equals slow ------------------------------------------------------------------------------------------------


@each_method
@each_dtype
@each_kind
def test_neighbours_are_those_of_the_oracle(kind, dtype, method, rng):
    for n, d in ((300, 2), (300, 9), (150, 40)):
        X = HARD[kind](rng, n, d).astype(dtype)
        assert_exact(X, 5, by_core(X, 5, method=method))


@given(
    hnp.arrays(
        np.float64,  # hypothesis refuses 1e-3 as float32 with NumPy 1
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=90),
        elements=st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 1e-3, 1e3, 1e-30, -1e15]),
        fill=st.just(0.0),
    ),
    st.sampled_from([np.float32, np.float64]),
    st.integers(0, 8),
    st.sampled_from(METHODS),
)
def test_any_rows(X, dtype, k, method):
    X, k = X.astype(dtype), min(k, len(X) - 1)
    assert_exact(X, k, by_core(X, k, method=method))
    assert_exact(X, k, by_core(sp.csr_array(X), k))


# ---- what the numbers mean -------------------------------------------------------------------------------------------


@each_kind
def test_squared_distances_have_the_rounding_of_their_sums_alone(kind, rng):
    X = HARD[kind](rng, 25, 19)
    graph = fastpu.knn_graph(X)
    exact = oracle.exact_squares(X)
    for i, (row, squared) in enumerate(zip(graph.indices, graph.squared_distances, strict=True)):
        for j, value in zip(row, squared, strict=True):
            assert abs(float(exact[i][j]) - value) <= ROUNDINGS * 2.0**-53 * value


def test_squares_below_the_least_double_are_zero_and_their_ties_are_settled_by_index(rng):
    X = rng.normal(size=(150, 4)) * 1e-200
    for method in METHODS:
        found = by_core(X, 3, method=method)
        assert_exact(X, 3, found)
        assert not found[1].any()
    assert_exact(X, 3, by_core(sp.csr_array(X), 3))


@each_method
def test_subnormal_rows(method, rng):
    X = rng.integers(0, 1000, size=(150, 4)) * 5e-324
    assert_exact(X, 3, by_core(X, 3, method=method))
    X = (rng.integers(0, 1000, size=(150, 4)) * 1e-45).astype(np.float32)
    assert_exact(X, 3, by_core(X, 3, method=method))
    X = rng.normal(size=(150, 4)) * 1e-158  # squares are subnormal
    assert_exact(X, 3, by_core(X, 3, method=method))


@each_method
def test_rows_whose_squares_just_fit(method, rng):
    X = rng.uniform(-1, 1, size=(150, 4)) * 1e153
    assert_exact(X, 3, by_core(X, 3, method=method))
    assert_exact(X, 3, by_core(sp.csr_array(X), 3))
