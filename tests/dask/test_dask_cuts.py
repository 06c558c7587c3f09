"""Cuts of rows in partitions are those that bin_features finds for all rows together."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
from boosting_cases import in_float32, make_problem, to_csr
from fastpu import _core
from fastpu.data._validate import check_matrix

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")

from fastpu.dask import _census, _cuts  # noqa: E402 - Dask may be absent
from fastpu.dask._collections import read_rows  # noqa: E402 - Dask may be absent


def parts_of(rng, n_rows, n_parts):
    """Rows of consecutive parts, none of them empty."""
    ends = np.sort(rng.integers(0, n_rows + 1, size=n_parts - 1))
    return [rows for rows in np.split(np.arange(n_rows), ends) if rows.size]


def read(X, rows):
    return check_matrix(X[rows], finite=False)


@pytest.mark.parametrize("at_once", [None, 3])
@pytest.mark.parametrize("weighted", [None, "whole", "real"])
@pytest.mark.parametrize("max_bins", [5, 300])
def test_cuts_are_those_of_all_rows_together(client, monkeypatch, max_bins, weighted, at_once):
    rng = np.random.default_rng([1, max_bins])
    problem = make_problem(rng, n=900, d=14, weighted=weighted)
    if at_once is not None:
        monkeypatch.setattr(_cuts, "_columns_at_once", lambda *_: at_once)
    parts = [np.arange(0), *parts_of(rng, 900, 4)]
    labels, weights = (
        [dask.delayed(values[part]) for part in parts] if values is not None else None
        for values in (problem.y, problem.weights)
    )
    for matrix in (problem.X, in_float32(problem.X), to_csr(problem.X)):
        bins = fastpu.bin_features(matrix, max_bins=max_bins, sample_weight=problem.weights)
        rows = read_rows([dask.delayed(matrix[part]) for part in parts], labels, weights)
        form = _cuts.find_form(client, rows, _census.take_census(client, rows), max_bins)
        for name in ("cut_starts", "cut_values", "bin_values"):
            np.testing.assert_array_equal(getattr(form._native, name), getattr(bins._native, name))


# ---- Rows binned at given cuts ----


@pytest.mark.parametrize(
    ("cuts", "words"),
    [
        (([0, 1], [0.5], [0.0, 1.0]), "has 2 entries for 2 groups"),
        (([0, 1, 2], [0.5], [0.0, 1.0]), "runs from 0 to 2"),
        (([0, 2, 2], [0.5, 0.5], [0.0, 1.0, 2.0, 3.0]), "do not ascend"),
        (([0, 1, 1], [np.nan], [0.0, 1.0, 2.0]), "is NaN"),
        (([0, 1, 1], [0.5], [0.0, 1.0]), "2 values for 3 bins"),
        (([0, 1, 1], [0.5], [0.0, np.inf, 1.0]), "not finite"),
    ],
)
def test_cuts_that_cannot_be_are_refused(cuts, words):
    start, value, bin_value = (np.array(c, dtype) for c, dtype in zip(cuts, ("i8", "f8", "f8"), strict=True))
    X = np.zeros((3, 2))
    for matrix in (X, check_matrix(to_csr(X))):
        with pytest.raises(ValueError, match=words):
            _core.bin_features(matrix, 255, None, 1, None, (start, value, bin_value))


def test_more_cuts_than_a_code_can_count_are_refused():
    cuts = (np.array([0, 300]), np.arange(300.0), np.arange(301.0))
    with pytest.raises(ValueError, match="300 cuts, too many for its codes"):
        _core.bin_features(np.zeros((3, 1)), 255, None, 1, None, cuts)
