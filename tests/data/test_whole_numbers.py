"""Whole numbers that float64 would round, such as long identifiers, are refused by name; nothing merges silently."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from fastpu.data._matrix import first_rounded
from fastpu.data._validate import check_matrix
from helpers import refused

LARGE = 2**53 + 1


@pytest.mark.parametrize(
    ("dtype", "exact", "rounded"),
    [
        (np.int64, [2**53, -(2**53), 2**53 + 2, -(2**63), 2**62], [LARGE, -LARGE, 2**63 - 1, -(2**63) + 1]),
        (np.uint64, [2**53, 2**63, 2**64 - 2**11], [LARGE, 2**64 - 1, 2**63 + 1]),
    ],
)
def test_only_numbers_that_are_rounded_are_found(dtype, exact, rounded):
    assert first_rounded(np.array(exact, dtype=dtype)) is None
    for value in rounded:
        assert first_rounded(np.array([*exact, value], dtype=dtype)) == len(exact)
    assert first_rounded(np.array([], dtype=dtype)) is None
    assert first_rounded(np.array([LARGE], dtype=np.float64)) is None


INPUTS = {
    "array": np.array([[1, 2], [3, LARGE]]),
    "list": [[1, 2], [3, LARGE]],
    "csr": sp.csr_array(np.array([[1, 2], [3, LARGE]])),
    "coo": sp.coo_array(np.array([[1, 2], [3, LARGE]])),
    "frame": pd.DataFrame({"a": [1, 3], "id": [2, LARGE]}),
    "mixed frame": pd.DataFrame({"a": [1.5, 3], "id": [2, LARGE]}),
    "nullable": pd.DataFrame({"a": [1.5, 3], "id": pd.array([None, LARGE], dtype="Int64")}),
    "objects": pd.DataFrame({"a": [1.5, 3], "id": pd.Series([None, LARGE], dtype=object)}),
    "polars": pl.DataFrame({"a": [1, 3], "id": [None, LARGE]}),
}


@pytest.mark.parametrize("X", INPUTS.values(), ids=INPUTS)
def test_they_are_named(X):
    text = refused(ValueError, "X must hold whole numbers that float64 can hold", check_matrix, X, finite=False)
    assert f"got {LARGE} in column" in text
    assert "id" in text or not hasattr(X, "columns")


def test_names_as_strings_are_categories():
    X = pd.DataFrame({"id": [LARGE, LARGE - 1]}).astype(str)
    assert check_matrix(X, finite=False, takes_categories=True).categories == {"0": (str(LARGE - 1), str(LARGE))}
