"""Fit functions and the functions of _core on whatever arguments: a result, or ValueError or TypeError.

`python tests/fuzz/fuzz_bindings.py -runs=100000`; see CONTRIBUTING. What `_core` leaves to Python to check (finite
entries, columns in range) is right here as well, but types, shapes and lengths are not always.
"""

from __future__ import annotations

import inspect
import os
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

import engine

with engine.instrumented():
    import fastpu
    from fastpu import _core
    from fastpu.boosting import _boosted_trees
    from fastpu.common._methods import DECLARED, function_of
    from fastpu.data._matrix import CsrMatrix

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
KERNELS = ["linear", "rbf", "poly", "sigmoid", "precomputed"]
# Values that parameters of these names may have; those that count stay small, or a fit takes long.
VALUES = {
    "C": [1.0, 1e-3, 1e3, 1e-300, 1e300],
    "C_pos": [1.0, 1e-3, 1e3, 0.0, INF],
    "C_unl": [1.0, 0.1, 1e3, 0.0],
    "bag_ratio": [3.0, 0.1, 1e300, None],
    "batch_size": [None, 1, 5, 100],
    "beta": [0.0, 0.5],
    "bandwidth": [None, 1.0, 1e-200, 1e200],
    "cache_mb": [200, 1, 0.001],
    "check_increase": [True, False],
    "coef0": [0.0, 1.0, -1.0, 1e200],
    "degree": [3, 0, 1, 2],
    "early_stopping_rounds": [None, 1, 2],
    "eta": [0.0, 0.5, 1.0, -1.0, -0.5],
    "gamma": [0.5, 1.0, 0.0, "scale", "auto", 1e-300, 1e300],
    "gamma_nn": [1.0, 0.0, 0.5],
    "hold_out": [None, 0.3],
    "init": ["hinge", "zero"],
    "kernel": KERNELS,
    "lam": [0.0, 1e-3, 1.0, 1e-300, 1e300],
    "lam_min": [0.0, 0.1],
    "learning_rate": [1e-3, 0.1, 1e3],
    "loss": ["sigmoid", "squared", "gini", "nnpu", *_boosted_trees.LOSSES],
    "max_bins": [None, 1, 2, 255],
    "max_depth": [None, 1, 3],
    "max_events": [None, 1, 20],
    "max_features": ["sqrt", "all", 1, 3, 0.5],
    "max_iter": [None, 1, 5, 50],
    "max_leaves": [None, 2, 5],
    "max_pos_reject": [None, 0.1],
    "min_leaf_rows": [1, 3, 100],
    "model": ["linear", "gauss", "mlp"],
    "n_bags": [1, 3],
    "n_centers": [1, 3, 200],
    "n_components": [None, 1, 3],
    "n_epochs": [1, 2],
    "n_hidden": [1, 4],
    "n_neighbors": [1, 2, 5],
    "n_rounds": [1, 5],
    "nu": [0.5, 0.1, 1.0, None],
    "nu_map": [0.01, 0.5, 1.0],
    "prior": [0.5, 0.0, 1.0, 0.2],
    "random_state": [None, 0, 7],
    "repair": [True, False],
    "rho": [0.01, 0.0, 0.5],
    "scenario": ["case_control", "single_set"],
    "sigma": [1.0, 1e-200, 1e200],
    "solver": ["auto", "exact", "iadmm", "smo"],
    "solver_max_iter": [None, 5],
    "solver_tol": [1e-9, 1e-3],
    "splitter": ["random", "best"],
    "step": ["jensen", "line_search"],
    "stop_tol": [1e-9, 0.0, 0.1],
    "tol": [1e-3, 1e-9, 0.5],
}
ALWAYS = {"n_threads": [1], "n_trees": [1, 5], "n_rounds": [1, 5], "n_epochs": [1, 2]}
ALWAYS["solver_max_iter"] = [50]
ALWAYS["max_iter"] = [1, 5, 50]
FITS = list(DECLARED)
PARAMETERS = {
    name: [key for key, p in inspect.signature(function_of(name)).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name in FITS
}


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
        elif key in VALUES and key not in ALWAYS:
            options[key] = source.one_of(VALUES[key])
        elif key == "sample_weight":
            options[key] = np.abs(PLAIN[source.array(n)])
        elif key == "eval_set":
            options[key] = (X, labels)
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


def rows_of(source: Bytes, n: int, d: int):
    rows = PLAIN[source.array(n * d)].reshape(n, d).astype(source.one_of([np.float64, np.float64, np.float32]))
    if source.below(3):
        return rows
    return CsrMatrix.of(sp.csr_array(rows))


def spoilt(source: Bytes, value):
    """The same argument in a form that may be wrong."""
    kind = source.below(12)
    if isinstance(value, CsrMatrix) and kind < 9:
        name = source.one_of(["data", "indptr"])  # columns in range are for the caller to see to
        return replace(value, **{name: spoilt(source, getattr(value, name))})
    if isinstance(value, np.ndarray):
        match kind:
            case 0:
                return value.astype(source.one_of([np.float32, np.float64, np.int32, np.int64, np.int8, bool, complex]))
            case 1:
                return value[:-1].copy()
            case 2:
                return np.concatenate([value, value])
            case 3:
                return value[..., None]
            case 4:
                return np.repeat(value, 2, axis=0)[::2]
            case 5:
                return value.tolist()
            case 6:
                return value.astype(object)
            case 7:
                return value.reshape(-1)
    if isinstance(value, dict) and value and kind < 9:
        key = source.one_of(list(value))
        return {**value, key: spoilt(source, value[key])} if kind else {k: v for k, v in value.items() if k != key}
    return source.one_of(WRONG)


#: A tree of a root and two leaves.
NODES = np.array(
    [(0.0, 0, 1, 4, 0.5), (0.25, 0, 0, 2, 0.0), (0.75, 0, 0, 2, 0.0)],
    dtype=[("threshold", "f8"), ("split", "u4"), ("left", "i4"), ("cover", "u4"), ("gain", "f4")],
)
TREES = [NODES, np.array([0, 3]), np.zeros((0, 4), dtype=np.uint64)]


def grown(x, pu: np.ndarray, d: int):
    """A forest of two trees."""
    options = _core.ForestOptions(n_trees=2, max_features=d)
    others = {"oob_sum": np.zeros(pu.size), "oob_count": np.zeros(pu.size, dtype=np.int32)}
    arguments = [_core.bin_features(x, 255, None, 1), pu, None, None, options]
    return _core.grow_forest, arguments, {**others, "callback": None, "n_threads": 1}


def core_call(source: Bytes):
    """A function of _core and arguments that are right."""
    n, d = 2 + source.below(10), 1 + source.below(4)
    x = rows_of(source, n, d)
    signs = np.resize(np.array([1, -1], dtype=np.int8), n)
    pu = np.resize(np.array([1, 0], dtype=np.int8), n)
    costs = np.ones(n)
    numbers = np.arange(n, dtype=np.int64)
    kernel = {"kernel": source.one_of(["linear", "rbf", "poly"]), "gamma": 0.5, "degree": 2, "coef0": 1.0}
    run = {"n_threads": 1}
    which = source.below(13)
    if which in (0, 1):
        setup = {**kernel, "function": None, "cache_bytes": source.one_of([0, 10_000]), **run}
        made = _core.SvmEngine(x, **setup)
        if which == 0:
            problem = source.one_of(["c_svm", "nu_svm", "one_class", "x"])
            return (
                made.solve,
                [problem, numbers, signs, costs],
                {"nu": 0.5, "start": None, "tol": 1e-3, "max_iter": 50, "callback": None},
            )
        return (
            made.solve_bags,
            [numbers[:1], np.full((2, 1), n - 1, dtype=np.int64)],
            {"cost_pos": costs[:1], "cost_unl": 1.0, "tol": 1e-3, "max_iter": 50, "score_rows": numbers},
        )
    if which == 2:
        made = _core.LargeMarginEngine(x, **run)
        return (
            made.solve,
            [signs, costs, None],
            {
                "solver": source.one_of(["exact", "iadmm"]),
                "tol": 1e-6,
                "max_iter": 50,
                "start": source.one_of([None, {"beta": costs, "intercept": 0.0}]),
                "callback": None,
            },
        )
    if which == 3:
        return _core.bin_features, [x, source.one_of([1, 255, 65535]), source.one_of([None, costs]), 1], {}
    if which == 4:
        return _core.kernel_scores, [x, x, np.ones((n, 1)), np.zeros(1)], {**kernel, **run}
    if which == 5:
        return (
            _core.stump_boost,
            [x, signs, None, None, _core.StumpBoostOptions(n_rounds=3)],
            {
                "max_bins": source.one_of([0, 3, 255]),
                "most_distinct": source.one_of([0, 2, 2**31 - 1]),
                "eval_set": source.one_of([None, (x, signs, None), (x, signs, costs)]),
                "callback": None,
                "rows": None,
                "made": None,
                **run,
            },
        )
    if which == 6:
        return (
            _core.stump_scores,
            [x, np.zeros(2, dtype=np.int32), np.zeros(2), np.ones(2, dtype=np.int8), np.ones(2)],
            {"n_features": d, "low": 0.0, "categorical": None, "category_sets": None, "n_threads": 1},
        )
    if which == 7:
        return _core.knn_search, [x, 1], {**run, "method": source.one_of(["", "tree", "blocks"])}
    if which == 8:
        return _core.kernel_matrix, [x, x], {**kernel, **run}
    if which == 9:
        start = {
            "hidden_coef": np.zeros((d, 0)),
            "hidden_intercept": np.zeros(0),
            "coef": np.zeros(d),
            "intercept": 0.0,
        }
        options = _core.NnpuOptions(n_epochs=2)
        return (
            _core.fit_nnpu,
            [x, pu, None, start, options],
            {"chosen": None, "eval_rows": None, "callback": None, **run},
        )
    if which == 10:
        return _core.fit_upu, [x, pu, None, _core.UpuOptions(lam=0.1, max_iter=5)], {"callback": None, **run}
    if which == 11:
        square = PLAIN[source.array(d * d)].reshape(d, d) + 20 * np.eye(d)
        return source.one_of(
            [
                (_core.tiled_gram, [square], {"n_threads": 1}),
                (_core.tiled_cholesky, [square], {"n_threads": 1}),
                (_core.tiled_solve, [square, np.ones((3, d))], {"n_threads": 1}),
                (_core.tiled_back_solve, [square, np.ones((3, d))], {"n_threads": 1}),
                (_core.tiled_product, [square, square], {"n_threads": 1}),
                (_core.tiled_symmetric_product, [square, square], {"n_threads": 1}),
                (_core.PualDual, [square], run),
                grown(x, pu, d),
                (_core.check_trees, TREES, {"n_features": d}),
                (_core.tree_scores, [x, *TREES], {"n_features": d, "n_threads": 1}),
            ]
        )
    return (
        _core.svm_path,
        [x, numbers, signs, costs],
        {**kernel, "function": None, "lam_min": 0.0, "max_events": 10, "cache_bytes": 10_000, **run, "callback": None},
    )


def core(source: Bytes) -> None:
    os.environ["FASTPU_ISA"] = source.one_of(["", "baseline", "none"])
    try:
        call_core(source)
    finally:
        del os.environ["FASTPU_ISA"]


def call_core(source: Bytes) -> None:
    function, arguments, options = core_call(source)
    for _ in range(source.below(3)):
        if options and source.below(3) == 0:
            key = source.one_of(list(options))
            # How long a call takes stays as it is.
            if key not in {"max_iter", "n_rounds", "max_events", "n_threads", "cache_bytes", "n_epochs"}:
                options[key] = spoilt(source, options[key])
        else:
            at = source.below(len(arguments))
            if not isinstance(arguments[at], int):
                arguments[at] = spoilt(source, arguments[at])
    function(*arguments, **options)


def one_input(data: bytes) -> None:
    source = Bytes(data)
    is_core = source.byte() % 2 == 1
    try:
        (core if is_core else fit)(source)
    except (ValueError, TypeError):
        return
    except (KeyError, RuntimeError) as error:
        # Entries of dicts for _core, which are missing or which pybind11 cannot convert.
        if not is_core or (isinstance(error, RuntimeError) and "Unable to cast" not in str(error)):
            raise


if __name__ == "__main__":
    engine.start(one_input)
