"""Fit functions on whatever arguments: a result, or ValueError or TypeError.

`python tests/fuzz/fuzz_fits.py -runs=100000`; see CONTRIBUTING.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import engine

sys.path.append(str(Path(__file__).resolve().parent.parent / "methods"))

with engine.instrumented():
    import fastpu
    from fastpu.common._methods import DECLARED, function_of
    from input_table import parameter_of
    from input_values import edge_values

NAN, INF = float("nan"), float("inf")
EDGES = [
    NAN,
    INF,
    -INF,
    5e-324,
    1e-300,
    1e-154,
    1e-40,
    1e-20,
    1e20,
    1e40,
    1e154,
    1e300,
    1.7e308,
    -1.7e308,
    3.4e38,
    1e15,
]
PLAIN = (np.arange(256) - 128) / 16.0
WILD = np.concatenate([EDGES, PLAIN[16:]])
LABELS = np.array([1, 0, -1, 1, 0, -1, 1, 0] * 32)
WRONG = [None, -1, 0, 1, 2, 0.5, NAN, INF, "x", True, [], {}, (), b"x", 1j, np.float32(0.5), np.zeros(2), object]
#: Of parameters that count something, so that a fit does not take long.
ALWAYS = {"n_threads": [1], "n_trees": [1, 5], "n_rounds": [1, 5], "n_epochs": [1, 2], "n_bags": [1, 3]}
ALWAYS |= {"solver_max_iter": [50], "max_iter": [1, 5, 50]}
MOST = 300  # of integers that other parameters are given
FITS = list(DECLARED)
PARAMETERS = {
    name: [key for key, p in inspect.signature(function_of(name)).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name in FITS
}


def values(name: str, key: str) -> list:
    """Values that a parameter takes, by the table of the tests of all functions."""
    known = parameter_of(name, key)
    found = [*edge_values(known), *known.changes]
    return [value for value in found if not isinstance(value, int) or value <= MOST]


class Bytes:
    """What the fuzzer chose, one byte after the other; zero where there are no more."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def below(self, n: int) -> int:
        return self.byte() % n if n else 0

    def one_of(self, choices):
        return choices[self.below(len(choices))]

    def array(self, n: int) -> np.ndarray:
        """n bytes, which repeat themselves where the input is short."""
        rest = np.frombuffer(self.data[self.at :] or b"\x81\x70\x95", dtype=np.uint8)
        self.at += 1 + n // 8
        return np.resize(rest, n)


def matrix(source: Bytes):
    """Rows of some form, mostly plain numbers."""
    n, d = 2 + source.below(11), 1 + source.below(4)
    form = source.byte()
    rows = (WILD if form >= 224 else PLAIN)[source.array(n * d)].reshape(n, d)
    with np.errstate(over="ignore"):
        if form % 2:
            rows = rows.astype(np.float32)
    match form % 32 // 2:
        case 9 | 10:
            return sp.csr_array(rows)
        case 11:
            return sp.coo_matrix(rows)
        case 12:
            return np.asfortranarray(rows)
        case 13:
            return rows[::-1]
        case 14:
            return rows.tolist()
        case 15:
            return source.one_of(
                [rows[0], rows[:, :0], rows[:0], rows.astype(object), rows > 0, rows.astype(complex), 3]
            )
    return rows


def fit(source: Bytes) -> None:
    name = source.one_of(FITS)
    X = matrix(source)
    n = X.shape[0] if hasattr(X, "shape") and X.ndim == 2 else len(X) if hasattr(X, "__len__") else 1
    labels = LABELS[source.array(n)] if source.below(4) == 0 else np.resize([1, source.one_of([0, -1])], n)
    if source.below(32) == 31:
        labels = source.one_of([labels[1:], labels.astype(str), labels.astype(float) + NAN, labels.astype(bool), None])
    options = {key: source.one_of(values) for key, values in ALWAYS.items() if key in PARAMETERS[name]}
    for _ in range(source.below(4)):
        key = source.one_of(PARAMETERS[name])
        if source.below(8) == 7 and key not in ALWAYS:
            options[key] = source.one_of(WRONG)
        elif key == "sample_weight":
            options[key] = np.abs(PLAIN[source.array(n)])
        elif key == "eval_set":
            options[key] = (X, labels)
        elif key not in ALWAYS and (taken := values(name, key)):
            options[key] = source.one_of(taken)
    has_no_prior = name in ("fit_forest", "fit_boosted_trees") and not {"loss"} & options.keys()
    if "prior" in PARAMETERS[name] and not has_no_prior:  # their defaults have none
        options.setdefault("prior", 0.5)
    for key in ("C_pos", "C_unl"):
        if key in PARAMETERS[name]:
            options.setdefault(key, 0.5)
    call = function_of(name)
    model = call(X, **options) if name == "fit_one_class_svm" else call(X, labels, **options)
    if isinstance(model, list):
        return
    if isinstance(model, fastpu.models.SVMPath):
        assert not np.isnan(model.scores(X, [1.0], n_threads=1)).any()
        return
    scores = model.decision_function(X, n_threads=1)
    assert scores.shape == (n,)
    assert not np.isnan(scores).any()
    assert set(model.predict(X, n_threads=1)) <= {-1, 1}


def one_input(data: bytes) -> None:
    try:
        fit(Bytes(data))
    except (ValueError, TypeError):
        return


if __name__ == "__main__":
    engine.start(one_input)
