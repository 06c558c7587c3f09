"""What every fitted model keeps: bits in files, pickles and copies, arrays nobody can change, its arguments."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from input_recipes import quietly
from method_recipes import FITS, bits, fitted, model_bits

#: Arguments that speak of single rows or of how a fit runs, and those that are recorded where the fit looks at them.
NOT_ALWAYS_RECORDED = {
    *("X", "y", "sample_weight", "sample_cost", "eval_set", "graph", "centers", "groups", "init_model"),
    *("n_threads", "callback", "progress", "cache_mb"),
    *("random_state", "n_folds", "n_centers", "bandwidth", "n_hidden"),
}


@pytest.mark.parametrize(
    ("recipe", "form"),
    [pytest.param(recipe, form, id=f"{name}-{form}") for name, recipe in FITS.items() for form in recipe.forms],
)
def test_models_come_back_from_files_pickles_and_copies(recipe, form, tmp_path):
    arguments = recipe.arguments(120, form=form)
    model = quietly(recipe.call, *arguments)
    assert not any(array.flags.writeable for array in vars(model).values() if isinstance(array, np.ndarray))
    model.save(tmp_path / "model.npz")
    expected, scores = bits(model), model.predict(arguments[0])
    for again in (fastpu.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert type(again) is type(model)
        assert bits(again) == expected
        np.testing.assert_array_equal(again.predict(arguments[0]), scores)
    X = arguments[0]
    (X.data if sp.issparse(X) else X)[:] = 0.0
    assert bits(model) == expected, "the model keeps rows of the caller"


@pytest.mark.parametrize("recipe", FITS.values(), ids=FITS)
def test_params_are_arguments_that_make_the_same_model(recipe):
    arguments = recipe.arguments(120)
    model = quietly(recipe.call, *arguments)
    given = {name: value for name, value in model.params.items() if recipe.takes(name)}
    assert set(inspect.signature(recipe.function).parameters) - NOT_ALWAYS_RECORDED <= given.keys()
    asked = {name: value for name, value in recipe.options.items() if name != "random_state"}
    assert asked.items() <= given.items()
    again = quietly(recipe.call, *arguments, **given)
    assert dict(again.params) == dict(model.params)
    assert model_bits(again, arguments[0]) == model_bits(model, arguments[0])


@pytest.mark.parametrize("name", FITS)
def test_what_the_loop_recorded_is_a_table(name):
    pandas = pytest.importorskip("pandas", reason="an optional extra")
    history = fitted(name).history
    frame = pandas.DataFrame(history)
    assert list(frame) == list(history)
    assert len(frame) > 0
    for column, recorded in history.items():
        np.testing.assert_array_equal(frame[column], recorded)


@pytest.mark.parametrize("name", FITS)
def test_a_model_keeps_a_profile_of_its_unlabelled_rows_or_of_all(name):
    n_rows, y = 80, FITS[name].arguments(80)[1:]
    n_unlabelled = np.count_nonzero(y[0] == 0) if y else 0
    model = fitted(name)
    assert model.profile.n_rows == (n_unlabelled or n_rows)
    assert model.profile.columns.missing.size == model.n_features
