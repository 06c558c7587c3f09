"""What PUAL, GLLC and the biased LS-SVM refuse, and in which words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from helpers import refused
from pual_cases import FITS, each_fit, pu_rows


@pytest.fixture(scope="module")
def data():
    return pu_rows(30, 3)


@each_fit
def test_sequences_of_different_lengths(fit, data):
    refused(
        ValueError,
        "sequences of parameters must have the same length, one entry for each model, got 2 of C_pos, 3 of lam",
        fit, *data, C_pos=[1, 2], lam=[1, 2, 3],
    )  # fmt: skip


@each_fit
def test_kernels_and_components(fit, data):
    refused(ValueError, "n_components must be None for kernel='linear'", fit, *data, n_components=3)
    refused(ValueError, "kernel must return finite numbers", fit, *data, kernel=lambda A, B: A @ B.T * np.nan)
    refused(ValueError, "kernel must be positive semidefinite", fit, *data, kernel="sigmoid", gamma=2.0, coef0=1.0)
    refused(ValueError, "overflow", fit, np.full((30, 3), 1e200), data[1], kernel="poly", gamma=1.0)


@pytest.mark.parametrize("size", [8e307, 1.5e308])
@each_fit
def test_kernel_values_whose_sums_overflow(fit, size, data):
    X, y = data
    K = X @ X.T
    K *= size / np.abs(K).max()
    options = {"kernel": "precomputed"} | ({} if fit is FITS["bls_svm"] else {"n_neighbors": 0})
    words = "smaller entries, because sums of kernel values overflow"
    refused(ValueError, words, fit, K, y, **options)
    words = "smaller entries, because sums of their squares, or of kernel values, overflow"
    refused(ValueError, words, fit, K, y, n_components=20, random_state=0, **options)


def test_graphs(data):
    X, y = data
    W, R = fastpu.knn_similarity(X)
    for fit in (fastpu.fit_pual, fastpu.fit_gllc):
        refused(TypeError, "graph must be None, a pair (W, R) as knn_similarity gives it", fit, X, y, graph=R)
        refused(TypeError, "graph must be (W, R) of SciPy sparse matrices, got", fit, X, y, graph=(W, R.toarray()))
        refused(ValueError, "graph must be that of the 30 rows of X, got R of shape (29, 29)", fit, X, y,
                graph=(W, R[:29, :29]))  # fmt: skip
        refused(
            ValueError,
            "graph must be symmetric, got R that differs",
            fit,
            X,
            y,
            graph=(W, R @ sp.csr_array(np.diag(np.arange(30.0)))),
        )
        eye = sp.csr_array(np.eye(30))
        refused(ValueError, "graph must be a Laplacian, R 1 = 0, got a sum of", fit, X, y, graph=(W, R + eye))
        refused(ValueError, "graph must have weights >= 0", fit, X, y, graph=(W, -R))
        refused(ValueError, "graph must be finite", fit, X, y, graph=(W, R * np.nan))
        refused(ValueError, "graph must be given with kernel='precomputed'", fit, X @ X.T, y, kernel="precomputed")
        with pytest.raises(ValueError, match="graph must be that of the 30 rows"):
            fit(X, y, graph=fastpu.knn_graph(X[:20]))


def test_a_kernel_matrix_that_cannot_be_had_is_refused_with_its_size():
    X = np.zeros((3_000_000, 1))
    X[:, 0] = np.arange(3_000_000)
    y = np.arange(3_000_000) < 5
    for fit in FITS.values():
        options = {} if fit is FITS["bls_svm"] else {"n_neighbors": 0}
        with pytest.raises(MemoryError, match="cannot allocate 72000000000000 bytes for the kernel matrix"):
            fit(X, y, kernel="rbf", **options)
