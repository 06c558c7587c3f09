"""Files made to do harm: refused, or a model whose scores are numbers or an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.model import _record
from fastpu.model._calibration import METHODS
from fastpu.model._load import _from_parts, load
from helpers import outcome, refused
from method_recipes import fitted, models_of_all_kinds, problem
from toy_model import assert_same, toy

SMALL = {"objective": np.array([1.5]), "history": {}, "params": {}, "basis": None, "codes": None, "note": None}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def small_file(path):
    toy(**SMALL).save(path)
    return path.read_bytes()


def parts(path):
    """The header and the arrays of a file."""
    with np.load(path, allow_pickle=False) as content:
        arrays = dict(content)
    return json.loads(arrays.pop("header").tobytes()), arrays


# ------------------------------------------------------------------------------------------------ bytes


def test_every_shorter_file_is_refused(path):
    whole = small_file(path)
    path.write_bytes(whole)
    for size in reversed(range(len(whole))):
        os.truncate(path, size)
        refused(ValueError, "cannot be loaded", load, path)


def test_every_byte_counts_or_means_nothing(path):
    whole = small_file(path)
    model, n_loaded = toy(**SMALL), 0
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0xFF if place % 2 else 0x01
        path.write_bytes(changed)
        found = outcome(load, path)
        if isinstance(found, Exception):
            assert type(found) is ValueError
            assert "cannot be loaded" in str(found)
        else:  # a date, or the version of zip that made it
            assert_same(model, found)
            n_loaded += 1
    assert n_loaded < len(whole) / 4


LIMITED = """
import resource, sys
import fastpu

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000,) * 2)
for path in sys.argv[1:]:
    try:
        fastpu.load(path)
    except ValueError as error:
        assert "cannot be loaded" in str(error), error
    else:
        raise AssertionError(path)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_claims_of_size_take_no_memory(tmp_path):
    whole = small_file(tmp_path / "model.npz")
    entry = whole.find(b"PK\x01\x02")
    names = []

    def hostile(name, content):
        names.append(str(tmp_path / name))
        Path(names[-1]).write_bytes(content)

    claim = (2**31).to_bytes(4, "little") * 2  # of a member, in the directory of the file
    hostile("member", whole[: entry + 20] + claim + whole[entry + 28 :])
    for number, shape in enumerate(("(1152921504606846976,)", "(1000000000000000,)", "(4294967296, 4294967296)")):
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
        data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(16)
        with zipfile.ZipFile(tmp_path / f"shape-{number}", "w") as archive:
            archive.writestr("header.npy", zipfile.ZipFile(tmp_path / "model.npz").read("header.npy"))
            archive.writestr("coef.npy", data)
        names.append(str(tmp_path / f"shape-{number}"))
    with (
        zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.npy", "w") as out,
    ):
        for _ in range(150):
            out.write(bytes(1_000_000))
    names.append(str(tmp_path / "bomb"))
    command = [sys.executable, "-c", LIMITED, *names]
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------------- every class


def model_cases() -> dict[str, fastpu.Model]:
    """A model of every class and form that a file can hold."""
    X, y = problem(180)
    with_probabilities = {
        method: fitted("fit_bpsi").with_probabilities(prior=0.4, X=X, y=y, method=method) for method in METHODS
    }
    return {**models_of_all_kinds(), **with_probabilities}


def test_every_class_is_here():
    known = {cls for cls in _record.MODEL_CLASSES.values() if cls.__module__.startswith("fastpu.")}
    bases = {base for cls in known for base in cls.__mro__[1:]}
    leaves = {cls for cls in known if cls not in bases}
    assert {cls.__name__ for cls in leaves} <= {type(m).__name__ for m in model_cases().values()}


@pytest.mark.parametrize("name", ["PathPoints", "KernelExpansion", "KernelModel"])
def test_a_class_that_no_fit_returns_is_unknown(name, path):
    """Classes that only hold what others share would load without what users call."""
    model = fitted("fit_svm_path")
    model.save(path)
    header, arrays = parts(path)
    assert header["class"] == "SVMPath"
    arrays["header"] = np.frombuffer(json.dumps({**header, "class": name}).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    refused(ValueError, f"unknown class '{name}'", load, path)


def broken_arrays(array: np.ndarray) -> list[np.ndarray]:
    """Arrays of other sizes and dtypes, and with entries that no fit leaves."""
    first = array.reshape(-1)[:1] if array.size else np.zeros(1, array.dtype)
    found = [array[:0], array[:-1], np.concatenate([array, array[-1:]]), array[None], first.reshape(())]
    found.append(array.astype(np.int8 if array.dtype == bool else bool))
    if array.ndim == 2:
        found.append(np.ascontiguousarray(array.T))
    if array.dtype == bool:
        return [*found, ~array]
    if array.dtype.kind == "f":
        values: list[Any] = [np.nan, np.inf, np.finfo(array.dtype).max, -1.0]
    else:
        limits = np.iinfo(array.dtype)
        if array.size > 5:  # differences of neighbours are positive, if they wrap around
            changed = array.copy()
            changed.reshape(-1)[1:4] = limits.max, limits.min, -1 if limits.min else 0
            found.append(changed)
        values = [limits.min, limits.max, 100 % limits.max]
    for value in values:
        for places in (slice(None), slice(-1, None)):
            changed = array.copy()
            changed.reshape(-1)[places] = value
            found.append(changed)
    return found


NUMBERS: list[Any] = [None, -1, 2**63, 1e308, np.nan, np.inf, True]
OTHERS: list[Any] = ["", "precomputed", "rbf", [], ["x"], {}]


def broken(header: dict[str, Any], arrays: dict[str, Any]):
    """Headers and arrays with one thing changed."""
    fields = header["fields"]
    for name, array in arrays.items():
        for changed in broken_arrays(array):
            yield name, header, {**arrays, name: changed}
        rest = {key: value for key, value in arrays.items() if key != name}
        yield f"no {name}", header, rest
        if fields.get(name) == "array":
            yield f"None for {name}", {**header, "fields": {**fields, name: None}}, rest
        elif name.count("/") == 1:
            owner, _, key = name.partition("/")
            kept = [entry for entry in fields[owner] if entry != key]
            yield f"no {name}", {**header, "fields": {**fields, owner: kept}}, rest
    for name, node in fields.items():
        for value in () if node == "array" else NUMBERS + OTHERS:
            yield f"{name} = {value!r}", {**header, "fields": {**fields, name: value}}, arrays
        for key in node if isinstance(node, dict) else ():
            for value in (None, "x", -1, np.nan):
                yield f"{name}[{key}] = {value!r}", {**header, "fields": {**fields, name: {**node, key: value}}}, arrays


def uses(model):
    """What a caller may do with a model that was loaded."""
    d = min(model.n_features, 50)
    X = np.linspace(-2, 2, 3 * d).reshape(3, d)
    yield lambda: model.decision_function(X)
    yield lambda: model.decision_function(sp.csr_array(np.eye(3, d)), n_threads=2)
    if model.calibration:
        yield lambda: model.predict_proba(X)[:, 1]
    if hasattr(model, "staged_decision_function"):
        yield lambda: np.concatenate(list(model.staged_decision_function(X)) or [np.zeros(3)])
    if hasattr(model, "lams"):
        yield lambda: model.at(0.5).decision_function(X)
        yield lambda: model.scores(X, [0.1, 10.0])
        yield lambda: model.coef is None or model.coef[:0]
        yield lambda: model.events["lam"][:0]
    for name in ("centers", "support_vectors", "unlabeled_set"):
        if hasattr(model, name):
            yield lambda name=name: getattr(model, name)


def loaded(header, arrays):
    """What `load` makes of the content of a file: a model, or None where it is refused."""
    try:
        return _from_parts(header, dict(arrays))
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return None


@pytest.mark.parametrize("case", model_cases())
def test_a_broken_model_is_refused_or_works(case, path):
    model = model_cases()[case]
    model.save(path)
    header, arrays = parts(path)
    n_refused = n_loaded = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that are too large for what is done with them
        for what, changed_header, changed_arrays in broken(header, arrays):
            found = loaded(changed_header, changed_arrays)
            if found is None:
                n_refused += 1
                continue
            n_loaded += 1
            for use in uses(found):
                result = outcome(use)
                if isinstance(result, np.ndarray):
                    assert not np.isnan(result).any(), what
    assert n_refused > n_loaded / 4
