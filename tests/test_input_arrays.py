"""Matrices of every public function: the same numbers in another form give the same result, and no others are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from input_arrays import BAD_SPARSE, HOLES, NO_MATRIX, SAME, SAME_SPARSE, sparse_of, stored_zeros
from input_recipes import FUNCTIONS, METHODS, arguments, attempt, bits, call, names, signature, watchdog
from input_table import parameter_of

#: Functions with the matrices that they take together: what goes for one goes for the others.
CASES = {
    name: [p for p in signature(name) if parameter_of(name, p).kind == "matrix" and p not in {"centers", "N"}]
    for name in [*FUNCTIONS, *METHODS]
}
CASES = {name: parameters for name, parameters in CASES.items() if parameters}
each_function = pytest.mark.parametrize("name", CASES)


def matrices(name: str) -> dict[str, np.ndarray]:
    """The matrices of the valid call of a function."""
    return {p: v for p, v in arguments(name).items() if p in CASES[name]}


def learned(result: Any) -> Any:
    """The bits of a result but for the names of columns, which only frames have."""
    if isinstance(result, tuple) and isinstance(result[0], pd.DataFrame | pl.DataFrame | sp.csr_array | sp.csr_matrix):
        table = result[0].toarray() if sp.issparse(result[0]) else result[0].to_numpy()  # what was stacked
        result = (np.ascontiguousarray(table, dtype=float), *result[1:])
    return _nameless(bits(result))


def _nameless(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _nameless(item) for key, item in found.items() if key != "feature_names"}
    return [_nameless(item) for item in found] if isinstance(found, list) else found


@each_function
def test_the_same_numbers_in_another_form_give_the_same_bits(name, unchanged):
    expected = learned(call(name))
    for kind, make in SAME.items():
        given = {p: make(X) for p, X in matrices(name).items()}
        with unchanged(*given.values()), watchdog():
            assert learned(call(name, **given)) == expected, kind


@each_function
def test_integers_and_booleans_are_numbers(name, unchanged):
    for dtype in ("i1", "u2", "i4", "u8", "?"):
        whole = {p: np.round(X).astype(dtype) for p, X in matrices(name).items()}
        outcomes = []
        for given in ({p: X.astype(np.float64) for p, X in whole.items()}, whole):
            try:
                with unchanged(*given.values()), watchdog():
                    outcomes.append(learned(call(name, **given)))
            except ValueError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1], dtype


@each_function
def test_half_precision_is_taken_as_float32(name):
    single = {p: X.astype(np.float32) for p, X in matrices(name).items()}
    half = {p: X.astype(np.float16) for p, X in matrices(name).items()}
    assert learned(call(name, **half)) == learned(call(name, **single))


@each_function
def test_what_is_no_matrix_of_numbers_is_refused(name, unchanged):
    faults = {}
    for kind, (make, error) in NO_MATRIX.items():
        for p, X in matrices(name).items():
            value = make(X)
            # Parts that are stacked are of one kind.
            given = {q: make(Z) if name == "stack" else Z for q, Z in matrices(name).items()} | {p: value}
            with unchanged(value):
                found = attempt(name, **given)
            is_named = isinstance(found, error) and any(names(str(found), q) for q in given)
            if not is_named and not (kind in HOLES and allows_holes(name) and not isinstance(found, Exception)):
                faults[kind] = repr(found)
    assert faults == {}


def allows_holes(name: str) -> bool:
    """Tell whether a function takes NaN and infinite entries."""
    return name in {"stack", "bin_features"} or "boost" in name or name.startswith("StumpEnsemble")


# -- sparse ------------------------------------------------------------------------------------------------------------


def takes_sparse(name: str) -> bool:
    given = {p: sparse_of(X) for p, X in matrices(name).items()}
    found = attempt(name, **given)
    assert not isinstance(found, Exception) or "must be dense" in str(found)
    return not isinstance(found, Exception)


@each_function
def test_the_same_sparse_matrix_in_another_form_gives_the_same_bits(name, unchanged):
    if not takes_sparse(name):
        return
    plain = {p: sparse_of(X) for p, X in matrices(name).items()}
    expected = learned(call(name, **plain))
    for kind, make in SAME_SPARSE.items():
        given = {p: make(S) for p, S in plain.items()}
        with unchanged(*given.values()), watchdog():
            assert learned(call(name, **given)) == expected, kind


FITS = [name for name in CASES if name.startswith("fit_")]

#: Sums of stored zeros are sums in another order, and solvers stop within their tolerances.
ZEROS_TOL = 1e-6


@pytest.mark.parametrize("name", FITS)
def test_zeros_that_are_stored_are_zeros(name, unchanged):
    S = sparse_of(arguments(name)["X"])
    expected = call(name, X=S).decision_function(S)
    for kind, given in stored_zeros(S).items():
        with unchanged(given), watchdog():
            model = call(name, X=given)
            scores = model.decision_function(given)
        np.testing.assert_allclose(scores, expected, rtol=ZEROS_TOL, atol=ZEROS_TOL, err_msg=kind)


@each_function
def test_sparse_matrices_that_are_none_are_refused(name, unchanged):
    faults = {}
    for kind, make in BAD_SPARSE.items():
        for p, X in matrices(name).items():
            given = {q: sparse_of(Z) for q, Z in matrices(name).items()} | {p: make(sparse_of(X))}
            with unchanged(given[p]):
                found = attempt(name, **given)
            is_dense_only = isinstance(found, TypeError) and "must be dense" in str(found)
            if not is_dense_only and not (isinstance(found, ValueError) and names(str(found), p)):
                faults[kind] = repr(found)
    assert faults == {}
