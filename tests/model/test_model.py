"""Models cannot be changed, and travel through pickles, copies and files as they are."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import FrozenInstanceError, dataclass, fields

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from fastpu.exceptions import DegenerateModelWarning
from fastpu.model import _record
from fastpu.model._fields import field_specs
from fastpu.model._load import load
from fastpu.model._model import Model
from helpers import refused
from toy_model import Toy, arrays_of, assert_same, toy

# -------------------------------------------------------------------------------------- immutable


def test_nothing_can_be_changed():
    model = toy()
    with pytest.raises(FrozenInstanceError):
        model.threshold = 1.0
    with pytest.raises(FrozenInstanceError):
        del model.coef
    for array in arrays_of(model):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    for mapping in (model.history, model.params):
        with pytest.raises(TypeError):
            mapping["new"] = 1
        with pytest.raises(TypeError):
            del mapping["delta"]
        for change in ("update", "setdefault", "pop", "popitem", "clear"):
            with pytest.raises(TypeError, match="cannot be changed"):
                getattr(mapping, change)("delta")
        with pytest.raises(TypeError):
            mapping |= {"new": 1}


def test_the_arrays_given_stay_the_callers():
    coef, history = np.array([1.0, 2.0]), {"delta": np.zeros(1)}
    model = toy(coef=coef, history=history)
    coef[0], history["delta"][0] = 9.0, 9.0
    history["new"] = np.zeros(1)
    assert model.coef[0] == 1.0
    assert model.history["delta"][0] == 0.0
    assert list(model.history) == ["delta"]


def test_read_only_arrays_are_shared():
    coef = np.array([1.0, 2.0])
    coef.flags.writeable = False
    assert toy(coef=coef).coef is coef


def test_repr_is_short():
    assert repr(toy()) == "Toy(n_features=2, n_iter=3, converged=True, status='stop_tol reached', threshold=0.25)"
    assert repr(toy().params).startswith("{'n_rounds': 3")


def test_models_are_told_apart_by_identity():
    model = toy()
    assert model == model
    assert model != toy()
    assert len({model, toy()}) == 2


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"coef": [1.0, 2.0]}, TypeError, "coef must be an array, got [1.0, 2.0] (list)"),
        ({"coef": np.array([1, 2])}, TypeError, "coef must have dtype float64, got int64"),
        ({"coef": np.array([[1.0, 2.0]])}, ValueError, "coef must have 1 dimension(s), got shape (1, 2)"),
        ({"coef": None}, TypeError, "coef must be an array, got None (NoneType)"),
        ({"coef": np.ones(3)}, ValueError, "coef must have 2 entries, got 3"),
        (
            {"basis": np.ones((1, 1), dtype=np.float16)},
            TypeError,
            "basis must have dtype float32 or float64, got float16",
        ),
        ({"history": {"delta": [1]}}, TypeError, "history['delta'] must be an array"),
        (
            {"history": {"delta": np.array(["a"])}},
            TypeError,
            "history['delta'] must have dtype boolean, integer or float, got <U1",
        ),
        ({"history": {"delta": np.array([None])}}, TypeError, "history['delta'] must have dtype"),
        ({"history": {"a/b": np.zeros(1)}}, ValueError, "history must have plain names as keys, got 'a/b'"),
        ({"history": [1]}, TypeError, "history must be a mapping"),
        ({"params": {"rng": object()}}, TypeError, "params['rng'] must be None, a number, a string or a tuple"),
        ({"params": {1: 2}}, ValueError, "params must have plain names as keys, got 1"),
        ({"n_features": 0}, ValueError, "n_features must be >= 1, got 0"),
        ({"n_features": 2.0}, TypeError, "n_features must be of type int, got 2.0 (float)"),
        ({"n_iter": True}, TypeError, "n_iter must be of type int, got True (bool)"),
        ({"n_iter": -1}, ValueError, "n_iter must be >= 0, got -1"),
        ({"converged": 1}, TypeError, "converged must be of type bool"),
        ({"status": None}, TypeError, "status must be of type str"),
        ({"threshold": np.nan}, ValueError, "threshold must be a number, got nan"),
        ({"feature_names": ("a",)}, ValueError, "feature_names must have 2 names, got 1"),
        ({"feature_names": ["a", "b"]}, TypeError, "feature_names must be a tuple of titles"),
        ({"feature_names": ("a", {})}, TypeError, "feature_names[1] must be None, a number, a string"),
    ],
)
def test_fields_are_checked(changes, error, text):
    with pytest.raises(error, match=re.escape(text)):
        toy(**changes)


def test_scalars_become_plain():
    model = toy(
        threshold=np.float32(0.5),
        n_iter=np.int64(4),
        converged=np.True_,
        params={"gamma": np.float64(0.1), "k": [1, np.int8(2)]},
    )
    assert [type(v) for v in (model.threshold, model.n_iter, model.converged)] == [float, int, bool]
    assert type(model.params["gamma"]) is float
    assert model.params["k"] == (1, 2)
    assert toy(threshold=1).threshold == 1.0


def test_a_field_of_a_kind_that_no_file_holds_is_refused():
    @dataclass(frozen=True, eq=False, kw_only=True, repr=False)
    class Odd(Toy):
        seen: set

    with pytest.raises(TypeError, match="field 'seen' of a model has an annotation of unknown kind"):
        field_specs(Odd)


def test_nobody_takes_the_name_of_a_class_of_fastpu(monkeypatch):
    monkeypatch.setattr(_record, "MODEL_CLASSES", {})
    type("Own", (Model,), {"__module__": "fastpu.own"})
    with pytest.raises(TypeError, match=r"there is a model class Own in fastpu\.own already"):
        type("Own", (Model,), {"__module__": "elsewhere"})
    type("Other", (Model,), {"__module__": "here"})
    type("Other", (Model,), {"__module__": "elsewhere"})


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol):
    assert_same(toy(), pickle.loads(pickle.dumps(toy(), protocol)))


# ----------------------------------------------------------------------------------------- scores


def test_scores_and_signs(rng):
    X = rng.normal(size=(50, 2))
    model = toy()
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, X @ model.coef)
    signs = model.predict(X, n_threads=2)
    assert signs.dtype == np.int64
    np.testing.assert_array_equal(signs, np.where(scores > 0.25, 1, -1))
    np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), scores)
    np.testing.assert_array_equal(model.decision_function(pd.DataFrame(X, columns=["a", "b"])), scores)
    # A score at the threshold is not above it.
    assert toy(threshold=1.0).predict([[1.0, 0.0]])[0] == -1


@pytest.mark.parametrize(
    ("X", "text"),
    [
        (np.ones((1, 3)), "X must have 2 features (columns) like the training data, got 3"),
        (np.ones(2), "X must be two-dimensional"),
        (np.array([[1.0, np.nan]]), "X must not hold NaN or infinite entries, got nan at row 0, column 1"),
        (pd.DataFrame({"b": [1.0], "a": [1.0]}), "X must have the feature names of the training data"),
    ],
)
def test_scoring_bad_input(X, text):
    for method in (toy().decision_function, toy().predict):
        with pytest.raises(ValueError, match=re.escape(text)):
            method(X)
    with pytest.raises(ValueError, match=re.escape(text.replace("X", "X_unl", 1))):
        toy().with_threshold(prior=0.5, X_unl=X)


def test_scores_that_are_no_numbers_are_refused():
    @dataclass(frozen=True, eq=False, kw_only=True, repr=False)
    class Broken(Toy):
        def _decision_function(self, matrix, n_threads):
            return np.array([0.0, np.nan])

    broken = Broken(**{field.name: getattr(toy(), field.name) for field in fields(Toy)})
    text = "X has entries so large that its scores overflow, first in row 1"
    for method in (broken.decision_function, broken.predict):
        refused(ValueError, text, method, np.ones((2, 2)))


def test_what_is_lazy_in_a_way_of_its_own_is_refused():
    class Graph:
        __dask_graph__ = None

    refused(TypeError, "X must be a Dask array or a Dask frame, or in memory, got", toy().decision_function, Graph())


def test_the_threshold_can_match_a_prior(rng):
    X = rng.normal(size=(200, 2))
    model = toy()
    matched = model.with_threshold(prior=0.3, X_unl=X)
    assert np.sum(matched.predict(X) == 1) == 60
    scores = np.sort(model.decision_function(X))
    assert matched.threshold == 0.5 * scores[139] + 0.5 * scores[140]
    exact = binomtest(60, 200).proportion_ci(0.9)
    assert matched.threshold_rule == (
        f"prior 0.3: 60 of 200 unlabelled rows positive; the share among all rows like these is {exact.low:.3g} to "
        f"{exact.high:.3g} (90 % interval)"
    )
    assert matched.coef is model.coef
    assert model.threshold == 0.25
    assert model.threshold_rule == "zero"
    assert type(matched) is Toy


def test_the_threshold_can_be_that_of_the_best_rows_or_a_number(rng, tmp_path):
    X = rng.normal(size=(200, 2))
    model = toy()
    best = model.with_threshold(k=30, X_unl=X)
    scores = np.sort(model.decision_function(X))
    assert best.threshold == 0.5 * scores[169] + 0.5 * scores[170]
    assert best.threshold_rule == "k 30: 30 of 200 unlabelled rows positive"
    assert model.with_threshold(k=0.15, X_unl=X).threshold == best.threshold
    assert np.sum(model.with_threshold(k=200, X_unl=X).predict(X) == 1) == 200  # asked for, so no warning
    given = model.with_threshold(value=1.5)
    assert (given.threshold, given.threshold_rule) == (1.5, "value 1.5")
    for found in (best, given):
        again = round_trip(found, tmp_path)
        assert (again.threshold, again.threshold_rule) == (found.threshold, found.threshold_rule)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "exactly one of prior, k and value must be given for with_threshold, got none"),
        ({"prior": 0.5, "k": 2}, "exactly one of prior, k and value must be given for with_threshold, got prior and k"),
        (
            {"value": 1.0, "X_unl": np.ones((3, 2))},
            "X_unl must be None with value, which needs no rows, got ndarray of shape (3, 2)",
        ),
        ({"prior": 0.5}, "X_unl must be given for with_threshold, got None: the model has no out-of-bag scores"),
        ({"k": 2}, "X_unl must be given for with_threshold, got None: the model has no out-of-bag scores"),
        ({"k": 4, "X_unl": np.ones((3, 2))}, "k must be a whole number of unlabelled rows from 1 to 3"),
        ({"value": np.nan}, "value must be a number, got nan"),
    ],
)
def test_what_a_threshold_is_made_from_is_said_once(given, text):
    refused(ValueError, text, toy().with_threshold, **given)


@pytest.mark.parametrize(("prior", "positive"), [(0.3, 0), (0.7, 10)])
def test_all_or_nothing_gets_a_warning(prior, positive):
    X = np.ones((10, 2))
    with pytest.warns(DegenerateModelWarning, match=f"calls {positive} of 10 unlabelled rows positive"):
        matched = toy().with_threshold(prior=prior, X_unl=X)
    assert np.sum(matched.predict(X) == 1) == positive


# ------------------------------------------------------------------------------------------- files


def round_trip(model, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    return load(path)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"feature_names": None, "basis": None, "codes": None, "note": None},
        {"objective": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324])},
        {"objective": np.zeros(0), "history": {}, "params": {}, "n_iter": 0},
        {"basis": np.zeros((0, 3)), "threshold": -np.inf},
        {
            "params": {
                "C": np.inf,
                "low": -np.inf,
                "nan": np.nan,
                "zero": -0.0,
                "grid": (1, (2.5, None), "x"),
                "big": 2**70,
                "none": (),
            }
        },
        {"note": "\ud800 lone, \x00 nul and \u2028", "feature_names": ("", "日本")},
        {"history": {f"k{i}": np.arange(3).astype(t) for i, t in enumerate("?bBhHiIqQefd")}},
        {"history": {"matrix": np.arange(6).reshape(3, 2), "point": np.array(3.0)}},
        {"basis": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "coef": np.arange(4.0)[::2]},
        {"coef": np.array([1.0, 2.0], dtype=">f8")},
    ],
)
def test_files_give_back_the_same_model(changes, tmp_path):
    model = toy(**changes)
    loaded = round_trip(model, tmp_path)
    assert_same(model, loaded)
    assert repr(loaded.params) == repr(model.params)
    X = np.eye(2)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert_same(loaded, round_trip(pickle.loads(pickle.dumps(loaded)), tmp_path))


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9_]{1,8}", fullmatch=True),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        max_size=6,
    )
)
def test_any_parameters_survive(tmp_path_factory, params):
    model = toy(params=params)
    assert repr(round_trip(model, tmp_path_factory.mktemp("m")).params) == repr(model.params)


def test_the_file_is_a_plain_npz_without_a_clock(tmp_path):
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    toy().save(first)
    toy().save(second)
    assert first.read_bytes() == second.read_bytes()
    with np.load(first, allow_pickle=False) as content:
        np.testing.assert_array_equal(content["coef"], toy().coef)
        np.testing.assert_array_equal(content["basis"], toy().basis)
        assert json.loads(content["header"].tobytes())["magic"] == "fastpu-model"


@pytest.mark.parametrize("name", ["model", "model.npz", "model.tar", "mödel .x"])
def test_names_are_taken_as_given(name, tmp_path):
    for path in (tmp_path / name, str(tmp_path / name)):
        toy().save(path)
        assert [p.name for p in tmp_path.iterdir()] == [name]
        assert_same(toy(), load(path))


def test_bad_paths(tmp_path):
    for function in (toy().save, load):
        for path in (3, None, tmp_path.open):
            with pytest.raises(TypeError, match="path must be a string or a path, got"):
                function(path)
        for path in ("a\0b", b"a\0b"):
            with pytest.raises(ValueError, match=r"path must not hold a null character, got 'a\\x00b'"):
                function(path)
    assert list(tmp_path.iterdir()) == []
