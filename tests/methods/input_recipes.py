"""Every public function with a valid call of it, small enough to be made a thousand times; see `input_table.py`."""

from __future__ import annotations

import dataclasses
import faulthandler
import inspect
import os
import re
import reprlib
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

import fastpu
from fastpu.common._methods import DECLARED
from method_recipes import bits as bits_of_all

N_ROWS = 24
_SECONDS = 120 if "asan" in os.environ.get("LD_PRELOAD", "") or sys.gettrace() is not None else 20

#: Methods without a word of documentation on their arguments: other parts of fastpu call them.
NOT_FOR_USERS = {"SVMPath.changes", "SVMPath.knot_values", "SVMPath.train", "SVMPath.alpha_at"}
#: Methods that boosting libraries call with what they hold: tests/boosting/test_objectives.py.
_FOR_LIBRARIES = {"objectives.Objective.calc_ders_range", "objectives.Objective.metric"}


# -- what is public ----------------------------------------------------------------------------------------------------


#: Modules whose names stand without the module's in the tables.
_BARE = (fastpu, fastpu.baselines, fastpu.models, fastpu.exceptions)


def _public(module: ModuleType, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in module.__all__:
        item = getattr(module, name)
        if inspect.ismodule(item):
            found |= _public(item, f"{name}.")
        elif callable(item):
            found[name if module in _BARE else prefix + name] = item
    return found


def _is_tried_elsewhere(name: str) -> bool:
    """Whether bad arguments are tried in tests/plot or tests/audit: figures are slow, and a plan needs its answers."""
    return name.startswith(("audit.", "plot.")) and name != "plot.path"


_PUBLIC = {name: item for name, item in _public(fastpu).items() if not _is_tried_elsewhere(name)}
FUNCTIONS: dict[str, Callable[..., Any]] = {name: f for name, f in _PUBLIC.items() if not inspect.isclass(f)}
CLASSES: dict[str, type] = {
    name: item for name, item in _PUBLIC.items() if inspect.isclass(item) and not issubclass(item, Warning)
}
METHODS = [
    f"{name}.{method}"
    for name, item in CLASSES.items()
    for method, value in inspect.getmembers(item, inspect.isfunction)
    if not method.startswith("_")
    and f"{name}.{method}" not in NOT_FOR_USERS | _FOR_LIBRARIES
    and not inspect.isabstract(item)
    if not issubclass(item, tuple)
]


def signature(name: str) -> dict[str, inspect.Parameter]:
    """The parameters of a public function or method."""
    parameters = dict(inspect.signature(FUNCTIONS[name] if name in FUNCTIONS else _method(name)).parameters)
    parameters.pop("self", None)
    return parameters


def some(cases: dict[str, Any], name: str) -> dict[str, Any]:
    """All cases for one function, and a quarter of them for every other, which reads its input through the same check.

    The quarter is another one for the next function, so that every case is tried with many.
    """
    known = [*FUNCTIONS, *METHODS]
    return cases if name == "fit_isvm" else dict(list(cases.items())[known.index(name) % 4 :: 4])


def _method(name: str) -> Any:
    owner, _, method = name.rpartition(".")
    return getattr(CLASSES[owner], method)


# -- data --------------------------------------------------------------------------------------------------------------


@cache
def problem() -> tuple[np.ndarray, np.ndarray]:
    """Rows in three columns, numbers of few bits, and their true labels; read-only."""
    rng = np.random.default_rng(9)
    truth = np.where(np.arange(N_ROWS) % 3 == 0, 1, -1).astype(np.int8)
    X = rng.normal(size=(N_ROWS, 3)) + np.outer(truth, [0.75, -0.25, 0.0])
    X = np.round(X * 64) / 64
    for array in (X, truth):
        array.flags.writeable = False
    return X, truth


def labels_for(groups: str) -> np.ndarray:
    """Labels of these groups of rows for the rows of `problem`."""
    truth = problem()[1]
    if groups == "P":
        return np.ones(N_ROWS, dtype=np.int8)
    if groups == "PN":
        return truth.copy()
    hidden = np.arange(N_ROWS) % 2 == 1
    if groups == "PU":
        return np.where((truth == 1) & ~hidden, 1, 0).astype(np.int8)
    return np.where(hidden, 0, truth).astype(np.int8)


def weights() -> np.ndarray:
    return 0.5 + np.arange(N_ROWS) % 4


# -- valid calls -------------------------------------------------------------------------------------------------------

#: Given wherever a signature has them, to keep a call small and repeatable.
_SMALL = {
    "n_rounds": 4, "n_trees": 3, "n_epochs": 3, "n_centers": 5, "n_hidden": 4, "n_neighbors": 3,
    "max_bins": 8,
    "random_state": 0, "n_threads": 1, "cv": 2, "n_points": 3, "stop_tol": 0.0, "max_events": 100,
}  # fmt: skip
_REQUIRED = {"prior": 0.4, "C_pos": 1.0, "C_unl": 0.5}


def _mean_score(prior: float) -> float:
    return 2.0 * prior


def _data() -> dict[str, Any]:
    """A valid value of each parameter that has no default, and what functions want beside it."""
    X, truth = problem()
    return {
        "X": X.copy(), "X_unl": X.copy(), "P": X[:8].copy(), "U": X[8:].copy(),
        "y_pred": truth[::-1].copy(), "scores": np.round(X[:, 0] * 8) / 8, "priors": [0.25, 0.5],
        "function": _mean_score, "lams": [2.0, 1.0], "feature": 0, "iteration": 1, "lam": 2.0,
        "fit": fastpu.fit_bsvm, "grid": {"C_pos": [1.0, 4.0]}, "k": 3, **_REQUIRED,
    }  # fmt: skip


_GROUPS = {
    **dict.fromkeys((f"metrics.{name}" for name in fastpu.metrics.__all__), "PU"),
    **dict.fromkeys(("metrics.auc", "metrics.f1", "metrics.pn_risk"), "PN"), "metrics.un_risk": "PUN",
    "as_labels": "PU", "priors.km2": "PU", "priors.bbe": "PU",
    "priors.scar_test": "PU", **dict.fromkeys(("objectives.logistic", "objectives.upu"), "PU"),
    "objectives.pnu_auc": "PUN",
    "datasets.hide_labels": "PN", "datasets.split_pnu": "PN", "datasets.split_case_control": "PN",
    "datasets.split_single_set": "PN", "select": "PU", "plot.path": "PU", "SVMPath.select": "PU",
}  # fmt: skip
#: Needed by name: a function that is in neither table has no valid call and fails.
_BARE = {
    "bin_features", "knn_graph", "knn_similarity", "stack", "load", "priors.sensitivity",
    *(f"datasets.{name}" for name in fastpu.datasets.__all__ if name.startswith("make_")),
}  # fmt: skip


def arguments(name: str, **given: Any) -> dict[str, Any]:
    """The arguments of a small valid call, all by name and newly made; `given` are added to or replace them.

    Some of `given` stand for what differs between functions: ``gauss=True`` for Gaussian centres, ``eval=True`` for a
    set to judge by, ``wide=True`` for so many columns that matrices are not factored, ``seed`` for other rows.
    """
    parameters = signature(name)
    found = {p: v for p, v in _SMALL.items() if p in parameters}
    data = _data()
    found |= {p: data[p] for p, info in parameters.items() if info.default is info.empty and p in data}
    if name in DECLARED:
        groups: str | None = DECLARED[name].groups
    else:
        groups = "PU" if name.endswith(".with_probabilities") else _GROUPS.get(name)
        assert groups or name in _BARE or name in METHODS, f"{name} has no recipe"
    if groups and "y" in parameters:
        found["y"] = labels_for(groups)
    found |= _extras(name)
    if given.pop("pu", False):
        found["y"] = labels_for("PU")
    if given.pop("gauss", False):
        found["model"] = "gauss"
    if given.pop("eval", False):
        found["eval_set"] = (problem()[0][::-1].copy(), labels_for("PU" if groups == "PU" else "PN")[::-1].copy())
    if given.pop("wide", False):
        found["X"] = np.random.default_rng(1).normal(size=(N_ROWS, 2001))
    if (seed := given.pop("seed", None)) is not None:
        found["X"] = np.random.default_rng(seed).normal(size=(N_ROWS, 3))
    return {**found, **given}


def _extras(name: str) -> dict[str, Any]:
    """What single functions want beside."""
    if name == "select":
        return {"C_unl": 0.5, "n_threads": 1}
    if name == "fit_boosted_trees":
        return {"min_leaf_rows": 2, "prior": None}
    if name == "priors.scar_test":
        return {"prior": 0.4, "n_permutations": 9, "n_divisions": 2}
    if name == "stack":
        return {"P": problem()[0][:8].copy(), "U": problem()[0][8:].copy()}
    if name == "plot.path":
        return {"model": instance("SVMPath"), "X": problem()[0].copy(), "ax": _Axes.pair()}
    if name == "SVMPath.select":
        return {"X": problem()[0].copy(), "y": labels_for("PU"), "n_folds": None}
    if name.endswith(".with_probabilities"):
        return {"X": problem()[0].copy()}
    if name.endswith(".with_threshold"):
        return {"prior": 0.4, "X_unl": problem()[0].copy()}
    if name == "load" or name.endswith(".save"):
        return {"path": _model_file()}
    return {}


class _Axes:
    """Made once: figures are slow."""

    _made: Any = None

    @classmethod
    def pair(cls) -> Any:
        if cls._made is None:
            from matplotlib.figure import Figure

            cls._made = list(Figure().subplots(2, 1))
        return cls._made


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


@cache
def _model_file() -> str:
    path = str(Path(_folder().name) / "model.npz")
    instance("LinearMachine").save(path)
    return path


@cache
def instance(owner: str) -> Any:
    """An object of a public class that has methods."""
    recipe = _INSTANCES[owner]
    return quietly(recipe)


@cache
def calibrated(owner: str) -> Any:
    """The same with probabilities."""
    return quietly(instance(owner).with_probabilities, **arguments(f"{owner}.with_probabilities"))


def _fitted(name: str, **given: Any) -> Callable[[], Any]:
    return lambda: FUNCTIONS[name](**arguments(name, **given))


def _model_class(name: str) -> str:
    """The class of a method's models; the first one where there are several."""
    return str(inspect.signature(FUNCTIONS[name]).return_annotation).partition(" ")[0]


#: A call that makes an object of a class: for models that of the first method of the class, where nothing else is said.
_INSTANCES: dict[str, Callable[[], Any]] = {
    **{_model_class(name): _fitted(name) for name in reversed(DECLARED)},
    "BinnedFeatures": _fitted("bin_features"),
    "KNNGraph": _fitted("knn_graph"),
    "KernelMachine": _fitted("fit_bsvm", kernel="rbf"),
    "MappingMachine": _fitted("fit_smc", C=10.0),
    "RiskNetwork": _fitted("fit_nnpu", model="mlp"),
}


# -- calls -------------------------------------------------------------------------------------------------------------


_DOCUMENTED = (
    fastpu.exceptions.ConvergenceWarning,
    fastpu.exceptions.DegenerateModelWarning,
    fastpu.exceptions.EstimateWarning,
    fastpu.exceptions.ScaleWarning,
)


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


@contextmanager
def watchdog(seconds: int = _SECONDS) -> Any:
    """Ends what hangs: TimeoutError where Python still looks at signals, and the process with a traceback if not."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: Any) -> None:
        raise TimeoutError(f"it took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(3 * seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def call(name: str, **given: Any) -> Any:
    """Make the valid call with these arguments put in, and the warnings that fastpu documents left unheard."""
    kwargs = arguments(name, **given)
    with warnings.catch_warnings():
        for category in _DOCUMENTED:
            warnings.simplefilter("ignore", category)
        result = _target(name)(**kwargs)
        if inspect.isgenerator(result) or hasattr(result, "__next__"):
            return list(result)
    return result


def attempt(name: str, **given: Any) -> Any:
    """What `call` returns, or the error that it raises, within the time of the watchdog."""
    try:
        with watchdog():
            return call(name, **given)
    except Exception as error:  # noqa: BLE001 - whatever comes is judged by the test
        return error


def _target(name: str) -> Callable[..., Any]:
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    owner, _, method = name.rpartition(".")
    bound: Callable[..., Any] = getattr(calibrated(owner) if method == "predict_proba" else instance(owner), method)
    return bound


# -- results -----------------------------------------------------------------------------------------------------------


def bits(value: Any, *, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """All that was learned or computed, to the bit, but for times and the arguments of the call."""
    left_out = {"params", "_edges", *but}
    return {place: found for place, found in bits_of_all(value).items() if left_out.isdisjoint(place.split("."))}


#: What a field of a model, or an entry of its history, may hold beside finite numbers, and why.
_MAY_BE_NAN = {
    "oob_decision_function": "a row in every bag is out of none",
    "history['nu']": "the mapping is no nu-SVM",
    "history['eval_risk']": "there may be no set to judge by",
}
_MAY_BE_INFINITE = {
    "LinearMachine.intercept_low": "every intercept below may be optimal",
    "LinearMachine.intercept_high": "every intercept above may be optimal",
    "history['intercept_low']": "every intercept below may be optimal",
    "history['intercept_high']": "every intercept above may be optimal",
    "SVMPath.costs": "a row that must be on its side",
    "SVMPath.history": "what a segment after the last one would be",
    "StumpEnsemble.thresholds": "a cut below or above all numbers",
    "threshold": "everything or nothing may be called positive",
}


def sound(value: Any, where: str = "result") -> None:
    """Assert that a result has no NaN, a model no infinite number either, but for what is named above."""
    if isinstance(value, fastpu.Model):
        owner = type(value).__name__
        for field in dataclasses.fields(value):
            held = getattr(value, field.name)
            if field.name == "history":
                for key, entries in held.items():
                    _numbers(entries, owner, "history", f"history[{key!r}]")
            elif field.name not in ("params", "_late_profile"):  # rows may hold infinite numbers
                _numbers(held, owner, field.name)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            sound(item, f"{where}[{key!r}]")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            sound(item, f"{where}[{i}]")
    elif sp.issparse(value):
        sound(value.data, f"{where}.data")
    elif isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        assert not np.isnan(value).any(), f"{where} holds NaN"


def _numbers(value: Any, owner: str, *fields: str) -> None:
    if not isinstance(value, float) and not (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return
    known = {*fields, *(f"{owner}.{field}" for field in fields)}
    assert not np.isnan(value).any() or known & set(_MAY_BE_NAN), f"{owner}.{fields[-1]} holds NaN"
    is_told = known & set(_MAY_BE_INFINITE) or known & set(_MAY_BE_NAN)
    assert not np.isinf(value).any() or is_told, f"{owner}.{fields[-1]} holds inf"


def names(text: str, name: str) -> bool:
    """Tell whether a message has the name of an argument, as a word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def shows(text: str, value: Any) -> bool:
    """Tell whether a message shows what came: a value, an entry of it, its type or its shape."""
    if isinstance(value, list | tuple | dict) and " got " in text:  # an entry of it, and which
        return True
    shown = {reprlib.repr(value), repr(value), str(value), type(value).__name__, getattr(value, "__name__", "")}
    if isinstance(value, np.generic):
        shown |= {repr(value.item()), str(value.item())}
    if isinstance(value, float | int) and abs(value) < 1e308:
        shown |= {f"{float(value):g}", repr(float(value))}
    return any(part and part in text for part in shown) or str(getattr(value, "shape", "?")) in text
