"""Matrices of every public function: the same numbers in another form give the same result, and no others are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from input_arrays import BAD_SPARSE, HOLES, NO_MATRIX, SAME, SAME_SPARSE, sparse_of, stored_zeros
from input_recipes import FUNCTIONS, METHODS, arguments, attempt, bits, call, names, signature, some, watchdog
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
    return bits(result, but=("feature_names", "columns"))


@each_function
def test_the_same_numbers_in_another_form_give_the_same_bits(name, unchanged):
    expected = learned(call(name))
    for kind, make in some(SAME, name).items():
        given = {p: make(X) for p, X in matrices(name).items()}
        with unchanged(*given.values()), watchdog():
            assert learned(call(name, **given)) == expected, kind


@each_function
def test_integers_and_booleans_are_numbers(name, unchanged):
    for dtype in some(dict.fromkeys(("i1", "u2", "u8", "?")), name):
        # Numbers below 0 would become unsigned ones that float64 rounds, which are refused.
        rounded = {p: np.abs(np.round(X)) if dtype[0] == "u" else np.round(X) for p, X in matrices(name).items()}
        whole = {p: X.astype(dtype) for p, X in rounded.items()}
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


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.UnlikeRowsWarning")  # of a column that is all gaps
@each_function
def test_what_is_no_matrix_of_numbers_is_refused(name, unchanged):
    faults = {}
    for kind, (make, error) in some(NO_MATRIX, name).items():
        for p, X in matrices(name).items():
            value = make(X)
            # Parts that are stacked are of one kind.
            given = {q: make(Z) if name == "stack" else Z for q, Z in matrices(name).items()} | {p: value}
            with unchanged(value):
                found = attempt(name, **given)
            is_named = isinstance(found, error) and any(names(str(found), q) for q in given)
            is_allowed = (kind in HOLES and allows_holes(name)) or (kind in NO_ROWS and name.endswith(SCORING))
            if not is_named and not (is_allowed and not isinstance(found, Exception)):
                faults[kind] = repr(found)
    assert faults == {}


#: Methods that give no scores for no rows.
SCORING = (".decision_function", ".predict", ".predict_proba", ".scores", ".staged_decision_function")
NO_ROWS = {"no rows", "sparse, no rows"}


def allows_holes(name: str) -> bool:
    """Tell whether a function takes NaN and infinite entries."""
    owners = ("StumpEnsemble", "TreeEnsemble")
    return (
        name in {"stack", "bin_features", "fit_forest", "priors.bbe", "priors.scar_test"}
        or "boost" in name
        or name.startswith(owners)
    )


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
    for kind, make in some(SAME_SPARSE, name).items():
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
    for kind, make in some(BAD_SPARSE, name).items():
        for p, X in matrices(name).items():
            given = {q: sparse_of(Z) for q, Z in matrices(name).items()} | {p: make(sparse_of(X))}
            with unchanged(given[p]):
                found = attempt(name, **given)
            is_dense_only = isinstance(found, TypeError) and "must be dense" in str(found)
            if not is_dense_only and not (isinstance(found, ValueError) and names(str(found), p)):
                faults[kind] = repr(found)
    assert faults == {}


# -- matrices in other arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fit_pual", "fit_gllc"])
def test_graphs_that_are_none_are_refused(name):
    """SciPy's own routines would leave the memory of such a matrix."""
    W, R = call("knn_similarity")
    faults = {}
    for kind, make in BAD_SPARSE.items():
        if kind == "bsr with a block too many":  # R has too few blocks for it
            continue
        found = attempt(name, graph=(W, make(sp.csr_array(R))))
        if not isinstance(found, ValueError) or not names(str(found), "graph"):
            faults[kind] = repr(found)
    assert faults == {}
    expected = bits(call(name, graph=(W, R)))
    for kind in ("int64 indices", "unsorted", "read only", "csc", "coo"):
        assert bits(call(name, graph=(W, SAME_SPARSE[kind](sp.csr_array(R))))) == expected, kind


@pytest.mark.parametrize("name", ["fit_pual", "fit_gllc"])
def test_graphs_of_other_objects_are_read_or_refused(name):
    class Odd:
        def __init__(self, R: Any) -> None:
            self._R = R

        def similarity(self, _: float) -> tuple[Any, Any]:
            return None, self._R

    n = len(matrices(name)["X"])
    eye = sp.dia_array(np.eye(n))
    for R in (np.zeros((n, n)), None, eye, sp.csr_array((n, n + 1)), sp.csr_array((n, n), dtype=complex)):
        found = attempt(name, graph=Odd(R))
        assert isinstance(found, TypeError | ValueError)
        assert names(str(found), "graph")


def test_a_kernel_that_returns_no_sparse_matrix_is_refused():
    for name in (name for name in CASES if "kernel" in signature(name)):
        for kind in ("index past the last column", "enormous index", "negative index", "indptr ends far out"):

            def kernel(A: np.ndarray, B: np.ndarray, kind: str = kind) -> Any:
                return BAD_SPARSE[kind](sp.csr_array(np.exp(-np.abs(A[:, :1] - B[:, 0]))))

            found = attempt(name, kernel=kernel)
            assert isinstance(found, ValueError), f"{name}, {kind}: {found!r}"
            assert names(str(found), "kernel")


CENTERED = [name for name in [*FUNCTIONS, *METHODS] if "centers" in signature(name)]


@pytest.mark.parametrize("name", CENTERED)
def test_centres_are_matrices_like_any_other(name, unchanged):
    X = arguments(name)["X"][:5].copy()
    expected = learned(call(name, gauss=True, centers=X))
    for kind, make in SAME.items():
        value = make(X)
        with unchanged(value):
            assert learned(call(name, gauss=True, centers=value)) == expected, kind
    bad = {kind: make(X) for kind, (make, _) in NO_MATRIX.items()}
    bad |= {kind: make(sparse_of(np.vstack([X, X[:1]]))) for kind, make in BAD_SPARSE.items()}
    for kind, value in bad.items():
        found = attempt(name, gauss=True, centers=value)
        assert isinstance(found, TypeError | ValueError), kind
        assert names(str(found), "centers"), f"{kind}: {found}"


PAIRS = [(name, p) for name in [*FUNCTIONS, *METHODS] for p in ("eval_set", "validation") if p in signature(name)]


@pytest.mark.parametrize(("name", "parameter"), PAIRS, ids=[f"{name}({p})" for name, p in PAIRS])
def test_rows_to_judge_by_are_matrices_like_any_other(name, parameter):
    X, y = arguments(name, eval=True).get("eval_set", (arguments(name)["X"], arguments(name)["y"]))
    bad = {kind: make(X) for kind, (make, _) in NO_MATRIX.items() if kind not in HOLES or not allows_holes(name)}
    bad |= {kind: make(sparse_of(X)) for kind, make in BAD_SPARSE.items()}
    if name == "select":
        bad = {kind: value for kind, value in bad.items() if kind not in HOLES}  # it is for the fit to say
    for kind, value in bad.items():
        found = attempt(name, **{parameter: (value, y)})
        assert isinstance(found, TypeError | ValueError), f"{kind}: {found!r}"
        assert names(str(found), parameter), f"{kind}: {found}"
