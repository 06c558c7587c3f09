"""Numbers that are made of the columns of a table: standardised, filled, a column for each category."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from fastpu.data._validate import check_matrix
from fastpu.ensemble._columns import Columns, as_table


def read(X):
    return check_matrix(X, nan="allow", categories="learn")


def test_numbers_are_filled_with_medians_and_standardised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(51, 3)) * [1.0, 1e6, 1e-6] + [0.0, 1e7, 3.0]
    X[rng.random(X.shape) < 0.2] = np.nan
    Z = Columns.of(read(X)).apply(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-9)
    for column, made in zip(X.T, Z.T, strict=True):
        known = np.sort(column[~np.isnan(column)])
        assert np.unique(made[np.isnan(column)]).size == 1
        middle = known[(known.size - 1) // 2]
        np.testing.assert_allclose(made[np.isnan(column)][0], made[column == middle][0])


def test_what_new_rows_become_depends_on_the_first_ones_alone():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    columns = Columns.of(read(X))
    np.testing.assert_allclose(columns.apply(X[:3] + 100.0), columns.apply(X[:3]) + 100.0 / X.std(axis=0))


def test_categories_get_a_column_each_the_most_frequent_hundred():
    names = [f"shop {i:03d}" for i in range(150)]
    values = names + names[50:] * 2
    frame = pd.DataFrame({"shop": pd.Series(values, dtype="category"), "x": np.arange(len(values), dtype=float)})
    table = read(frame)
    columns = Columns.of(table)
    assert columns.source.tolist() == [0] * 100 + [1]
    assert columns.place.tolist() == [*range(50, 150), -1]
    Z = columns.apply(table.values)
    assert [np.unique(made).size for made in Z.T[:100]] == [2] * 100
    np.testing.assert_array_equal(Z[:, 0] > 0, np.array(values) == names[50])


def test_constant_columns_and_columns_without_an_entry_become_zero():
    X = np.column_stack([np.full(9, 7.0), np.zeros(9), np.full(9, np.nan), np.arange(9.0)])
    Z = Columns.of(read(X)).apply(X)
    assert np.abs(Z[:, :3]).max() < 1e-12


def test_sparse_rows_are_a_table_if_a_quarter_is_filled():
    X = np.eye(8)
    assert as_table(read(sp.csr_array(X))) is None
    X[:, :2] = 1.0
    np.testing.assert_array_equal(as_table(read(sp.csr_array(X))).values, X)
