"""W and R of nearest neighbours: the formulas, and the invariants of the specification's section 11."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from knn_cases import HARD
from oracles import knn_graph as oracle

MODES = ("mutual", "union")
each_mode = pytest.mark.parametrize("mode", MODES)
each_kind = pytest.mark.parametrize("kind", HARD)

#: exp of a negative number and a sum of few terms, relative to the largest weight, 1.
ROUNDING = 1e-15


def grid(rng, n, d):
    """Normal rows on a grid so coarse that shifts by whole numbers and scaling by powers of two are exact."""
    return np.round(rng.normal(size=(n, d)) * 2.0**20) / 2.0**20


def assert_valid(W, R, X, n_neighbors, mode) -> None:
    """What holds for any rows."""
    n, (_, counts) = len(X), np.unique(np.asarray(X) + 0.0, axis=0, return_counts=True)
    has_twins, heaviest = counts.max() > 1, float(counts.max())
    for matrix in (W, R):
        assert isinstance(matrix, sp.csr_array)
        assert matrix.shape == (n, n)
        assert matrix.dtype == np.float64
        assert matrix.has_canonical_format
        fresh = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(n, n))
        assert fresh.has_canonical_format
        assert (matrix != matrix.T).nnz == 0
    most = n * n_neighbors * (1 if mode == "mutual" else 2) * (2 if has_twins else 1)
    assert W.nnz <= most
    assert R.nnz <= most + n
    assert not W.diagonal().any()
    assert W.nnz == 0 or (W.data.min() > 0 and W.data.max() <= heaviest)
    degrees = np.diff(W.indptr)
    np.testing.assert_array_equal(np.diff(R.indptr), degrees + (degrees > 0))
    if mode == "mutual" and not has_twins:
        assert degrees.max(initial=0) <= n_neighbors
    np.testing.assert_allclose(R @ np.ones(n), 0, atol=ROUNDING * heaviest**2)
    values = np.linalg.eigvalsh(R.toarray())
    assert values[0] >= -ROUNDING * heaviest**2 * max(n, 1)
    assert values[-1] <= 2 * W.sum(axis=1).max(initial=0) / n + ROUNDING * heaviest**2 * n


# ---- the formulas ----------------------------------------------------------------------------------------------------


@each_mode
@each_kind
def test_w_and_r_are_those_of_the_oracle(kind, mode, rng):
    X = HARD[kind](rng, 120, 4)
    for k, sigma in ((1, 0.03), (1, "median"), (5, 1.0), (20, 1e6), (20, "median")):
        W, R = fastpu.knn_similarity(X, n_neighbors=k, sigma=sigma, mode=mode)
        expected_W, expected_R = oracle.similarity(X, k, sigma, mode)
        np.testing.assert_allclose(W.toarray(), expected_W, rtol=1e-13, atol=0)
        np.testing.assert_allclose(R.toarray(), expected_R, rtol=1e-13, atol=ROUNDING)
        assert_valid(W, R, X, k, mode)


@each_mode
def test_the_quadratic_form_is_what_the_docstring_says(mode, rng):
    W, R = fastpu.knn_similarity(rng.normal(size=(80, 3)), mode=mode)
    f = rng.normal(size=80)
    expected = (W.toarray() * (f[:, None] - f[None, :]) ** 2).sum() / (2 * 80)
    np.testing.assert_allclose(f @ (R @ f), expected, rtol=1e-12)


@each_mode
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), k=st.integers(0, 45), sigma=st.floats(1e-6, 1e6))
def test_any_graph_is_valid(mode, seed, n, k, sigma):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), rng.integers(0, 3))
    W, R = fastpu.knn_similarity(X, n_neighbors=k, sigma=sigma, mode=mode)
    assert_valid(W, R, X, min(k, n - 1), mode)
    np.testing.assert_allclose(W.toarray(), oracle.similarity(X, k, sigma, mode)[0], rtol=1e-12)


# ---- twins -----------------------------------------------------------------------------------------------------------


@each_mode
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("times", [2, 12])
def test_every_row_repeated_k_times_has_k_times_the_quadratic_form(mode, form, times, rng):
    """60 distinct rows, 5 neighbours: were twins neighbours, 12 of each would fill all lists, and R would vanish."""
    X = np.round(rng.normal(size=(60, 3)) * 64) / 64
    order = rng.permutation(60 * times)
    repeated = np.repeat(X, times, axis=0)[order]
    W, R = fastpu.knn_similarity(form(repeated), mode=mode)
    single_W, single_R = fastpu.knn_similarity(form(X), mode=mode)
    assert fastpu.knn_graph(repeated).median(mode) == fastpu.knn_graph(X).median(mode)
    assert W.nnz == times * single_W.nnz
    np.testing.assert_array_equal(np.sort(np.diff(W.indptr)), np.sort(np.repeat(np.diff(single_W.indptr), times)))
    for scores in rng.normal(size=(3, 60)):
        of_all = np.repeat(scores, times)[order]
        assert of_all @ (R @ of_all) == pytest.approx(times * (scores @ (single_R @ scores)), rel=1e-12)


@each_mode
def test_twins_are_no_neighbours_and_share_their_edges_with_the_weight_of_all_pairs(mode):
    X = np.array([[0.0], [1.0], [-0.0], [3.0], [1.0], [0.0]])  # three twins, two twins, and one alone
    W, R = fastpu.knn_similarity(X, n_neighbors=1, sigma=1.0, mode=mode)
    near, far = np.exp(-1.0), np.exp(-4.0)
    dense = W.toarray()
    assert dense[np.ix_([0, 2, 5], [0, 2, 5])].sum() == dense[1, 4] == 0
    assert dense[np.ix_([0, 2, 5], [1, 4])].sum() == pytest.approx(6 * near)
    assert (dense[[0, 2, 5]].sum(axis=1) > 0).all()
    assert dense[3, [1, 4]].sum() == pytest.approx(2 * far if mode == "union" else 0)
    assert np.abs(R.sum(axis=1)).max() < ROUNDING
    alike = fastpu.knn_similarity(np.ones((9, 2)), mode=mode)
    assert alike[0].nnz == alike[1].nnz == 0


def as_given(graph):
    """The same neighbours as a graph of the user's own, which knows no rows."""
    return fastpu.models.KNNGraph(graph.indices, graph.squared_distances)


# ---- special cases ---------------------------------------------------------------------------------------------------


@each_mode
def test_no_neighbours_give_empty_matrices(mode):
    for X, k in (([[1.0]], 5), ([[1.0], [2.0]], 0)):
        for sigma in (1.0, "median"):
            W, R = fastpu.knn_similarity(X, n_neighbors=k, sigma=sigma, mode=mode)
            assert W.nnz == R.nnz == 0
            assert W.shape == R.shape == (len(X), len(X))


@each_mode
def test_median_is_that_of_the_edges_if_need_be_of_different_rows_and_one_if_there_are_none(mode, rng):
    graph = fastpu.knn_graph(rng.normal(size=(60, 2)))
    middle = float(np.median(graph.edges(mode).data))
    for found, expected in zip(graph.similarity("median", mode), graph.similarity(middle, mode), strict=True):
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
    copies = as_given(fastpu.knn_graph(np.repeat(rng.normal(size=(5, 2)), 8, axis=0), n_neighbors=4))
    for found, expected in zip(copies.similarity("median", mode), copies.similarity(1.0, mode), strict=True):
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
    expected = {"mutual": 4.0**2, "union": 100.0**2}[mode]  # of edges that mostly join equal rows
    for scale in (1.0, 2.0**-30, 2.0**30):
        rows = scale * np.array([0.0, 0, 0, 100, 100, 100, 200, 204])[:, None]
        mostly_copies = as_given(fastpu.knn_graph(rows, n_neighbors=2))
        assert np.median(mostly_copies.edges(mode).data) == 0
        assert mostly_copies.median(mode) == expected * scale**2


# ---- invariants ------------------------------------------------------------------------------------------------------


@each_mode
@pytest.mark.parametrize("t", [2.0**-30, 0.5, 2.0**40])
def test_scaling_rows_by_t_and_sigma_by_its_square_changes_nothing(mode, t, rng):
    X = grid(rng, 150, 5)
    for found, expected in zip(
        fastpu.knn_similarity(t * X, sigma=t * t * 0.7, mode=mode),
        fastpu.knn_similarity(X, sigma=0.7, mode=mode),
        strict=True,
    ):
        np.testing.assert_array_equal(found.toarray(), expected.toarray())


@each_mode
def test_without_ties_the_order_of_the_rows_does_not_matter(mode, rng):
    X, order = rng.normal(size=(150, 3)), rng.permutation(150)
    for found, expected in zip(
        fastpu.knn_similarity(X[order], mode=mode), fastpu.knn_similarity(X, mode=mode), strict=True
    ):
        np.testing.assert_allclose(found.toarray(), expected.toarray()[np.ix_(order, order)], rtol=1e-13, atol=ROUNDING)


# ---- the graph as an object ------------------------------------------------------------------------------------------


def test_edges_are_kept_and_read_only(rng):
    graph = fastpu.knn_graph(rng.normal(size=(30, 2)))
    edges = graph.edges()
    assert graph.edges("mutual") is edges
    assert graph.edges("union") is not edges
    for array in (edges.data, graph.indices, graph.squared_distances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    W, R = graph.similarity()
    W.data[:] = 5  # the caller's own
    R.data[:] = 5
    np.testing.assert_array_less(graph.similarity()[0].data, 2)


def test_a_graph_pickles(rng):
    graph = fastpu.knn_graph(np.repeat(rng.normal(size=(15, 2)), 2, axis=0))
    before = graph.similarity()[0].toarray()
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.indices, graph.indices)
    np.testing.assert_array_equal(again.similarity()[0].toarray(), before)
    assert not again.indices.flags.writeable
    assert repr(again) == "KNNGraph(n_rows=30, n_neighbors=5)"
