"""SciPy's BLAS as the C++ core sees it, against NumPy (private hooks of _core; no public function uses them)."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import numpy as np
import pytest

from fastpu import _blas, _core

core: Any = _core

DTYPES = (np.float32, np.float64)
BOOLS = (False, True)
PADDINGS = (0, 3)


def relative_tolerance(dtype: type) -> float:
    # A few rounding errors per term of the sums below, which have at most 300 terms of size one.
    return 300 * float(np.finfo(dtype).eps)


def strided(rng: np.random.Generator, shape: tuple[int, int], dtype: type, padding: int) -> np.ndarray:
    """A matrix whose rows are `padding` elements further apart than they are long."""
    whole = np.full((shape[0], shape[1] + padding), np.nan, dtype=dtype)
    matrix = whole[:, : shape[1]]
    matrix[:] = rng.standard_normal(shape)
    return matrix


def transposed_shape(shape: tuple[int, int], transpose: bool) -> tuple[int, int]:
    return shape[::-1] if transpose else shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize(("transpose_a", "transpose_b"), list(itertools.product(BOOLS, BOOLS)))
@pytest.mark.parametrize("shape", [(5, 7, 3), (1, 1, 1), (40, 30, 300), (4, 3, 0), (0, 3, 2)])
def test_gemm_matches_numpy(dtype, padding, transpose_a, transpose_b, shape):
    rng = np.random.default_rng(0)
    n_rows, n_cols, depth = shape
    a = strided(rng, transposed_shape((n_rows, depth), transpose_a), dtype, padding)
    b = strided(rng, transposed_shape((depth, n_cols), transpose_b), dtype, padding)
    c = strided(rng, (n_rows, n_cols), dtype, padding)
    expected = 2 * (a.T if transpose_a else a) @ (b.T if transpose_b else b) - 0.5 * c
    core._blas_gemm(a, b, c, transpose_a=transpose_a, transpose_b=transpose_b, alpha=2.0, beta=-0.5)
    np.testing.assert_allclose(c, expected, rtol=0, atol=relative_tolerance(dtype) * 10)
    if padding and n_rows:
        assert np.isnan(c.base[:, n_cols:]).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("transpose_a", BOOLS)
@pytest.mark.parametrize("lower", BOOLS)
def test_syrk_matches_numpy_and_leaves_the_other_triangle(dtype, padding, transpose_a, lower):
    rng = np.random.default_rng(1)
    a = strided(rng, transposed_shape((20, 9), transpose_a), dtype, padding)
    c = strided(rng, (20, 20), dtype, padding)
    before = c.copy()
    full = 2 * (a.T @ a if transpose_a else a @ a.T) + 0.5 * before
    core._blas_syrk(a, c, transpose_a=transpose_a, lower=lower, alpha=2.0, beta=0.5)
    written = np.tril(np.ones_like(c, dtype=bool)) if lower else np.triu(np.ones_like(c, dtype=bool))
    np.testing.assert_allclose(c[written], full[written], rtol=0, atol=relative_tolerance(dtype))
    np.testing.assert_array_equal(c[~written], before[~written])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("transpose_a", BOOLS)
@pytest.mark.parametrize("shape", [(11, 4), (1, 1), (3, 0)])
def test_gemv_matches_numpy(dtype, padding, transpose_a, shape):
    rng = np.random.default_rng(2)
    a = strided(rng, transposed_shape(shape, transpose_a), dtype, padding)
    x = rng.standard_normal(shape[1]).astype(dtype)
    y = rng.standard_normal(shape[0]).astype(dtype)
    expected = 2 * (a.T if transpose_a else a) @ x - y
    core._blas_gemv(a, x, y, transpose_a=transpose_a, alpha=2.0, beta=-1.0)
    np.testing.assert_allclose(y, expected, rtol=0, atol=relative_tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_zero_beta_ignores_the_old_result(dtype):
    a = np.ones((2, 2), dtype=dtype)
    c = np.full((2, 2), np.nan, dtype=dtype)
    core._blas_gemm(a, a, c, transpose_a=False, transpose_b=False, alpha=1.0, beta=0.0)
    np.testing.assert_array_equal(c, np.full((2, 2), 2.0))
    y = np.full(2, np.nan, dtype=dtype)
    core._blas_gemv(a, a[0], y, transpose_a=False, alpha=1.0, beta=0.0)
    np.testing.assert_array_equal(y, [2.0, 2.0])


@pytest.mark.parametrize("lower", BOOLS)
@pytest.mark.parametrize("n_columns", [1, 4])
def test_cholesky_solves(lower, n_columns):
    rng = np.random.default_rng(3)
    half = rng.standard_normal((12, 12))
    full = half @ half.T + np.eye(12)
    b = strided(rng, (12, n_columns), np.float64, 2)
    expected = np.linalg.solve(full, b)
    factor = np.where(np.tri(12, dtype=bool) == lower, full, np.nan)
    np.fill_diagonal(factor, np.diag(full))
    assert core._blas_potrf(factor, lower=lower) == 0
    reference = np.linalg.cholesky(full)
    np.testing.assert_allclose(np.tril(factor if lower else factor.T), reference, rtol=0, atol=1e-12, equal_nan=False)
    core._blas_potrs(factor, b, lower=lower)
    np.testing.assert_allclose(b, expected, rtol=1e-9)


def test_cholesky_reports_the_first_minor_that_is_not_positive():
    assert core._blas_potrf(np.diag([1.0, 2.0, -1.0]), lower=True) == 3


def test_refuses_shapes_that_do_not_fit():
    a = np.zeros((3, 4))
    with pytest.raises(ValueError, match=r"do not fit: 3 x 4 and 3 x 4"):
        core._blas_gemm(a, a, a, transpose_a=False, transpose_b=False, alpha=1.0, beta=0.0)
    with pytest.raises(ValueError, match=r"C must be 3 x 3, got 3 x 4"):
        core._blas_gemm(a, a, a.copy(), transpose_a=False, transpose_b=True, alpha=1.0, beta=0.0)


def test_refuses_sizes_beyond_32_bits():
    # A stride of zero makes a tall matrix out of one row, so that this needs no memory.
    tall = np.lib.stride_tricks.as_strided(np.zeros((1, 1)), shape=(2**31, 1), strides=(8, 8))
    with pytest.raises(ValueError, match="number of rows must be between 0 and 2147483647 for BLAS, got 2147483648"):
        core._blas_potrf(tall, lower=True)


@pytest.mark.parametrize(
    "bad", [np.zeros((2, 2), dtype=np.int64), np.zeros((2, 2), dtype=complex), [[1.0, 2.0], [3.0, 4.0]]]
)
def test_hooks_convert_nothing(bad):
    with pytest.raises(TypeError):
        core._blas_gemm(bad, bad, bad, transpose_a=False, transpose_b=False, alpha=1.0, beta=0.0)


def test_hooks_do_not_write_read_only_arrays():
    a = np.eye(2)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="not writeable"):
        core._blas_potrf(a, lower=True)


def test_table_is_a_capsule_of_its_name():
    assert '"fastpu._blas.table.v1"' in repr(_blas.table)


def test_other_python_threads_run_meanwhile():
    """The GIL is released: a thread counts while this one multiplies."""
    n = 1200
    a = np.ones((n, n))
    c = np.zeros((n, n))
    ticks: list[float] = []
    is_over = threading.Event()

    def tick() -> None:
        while not is_over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        start = time.perf_counter()
        core._blas_gemm(a, a, c, transpose_a=False, transpose_b=False, alpha=1.0, beta=0.0)
        end = time.perf_counter()
    finally:
        is_over.set()
        ticker.join()
    during = [t for t in ticks if start < t < end]
    # With the GIL held there would be none but perhaps one at either end.
    assert len(during) >= 3, f"{len(during)} ticks in {end - start:.3f} s"
