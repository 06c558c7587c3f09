"""What every fitted model keeps: bits in files, pickles and copies, arrays nobody can change, arguments, names."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import fastpu
from helpers import refused
from method_recipes import FITS, bits, model_bits

if TYPE_CHECKING:
    from method_recipes import Recipe

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
NAMES = ("age", "income", "height", "weight", "visits", "score")


def fitted(recipe: Recipe, *arguments: Any) -> fastpu.Model:
    """The model of so few rows that the fit may end early or call all of them the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return recipe.call(*arguments)


@pytest.mark.parametrize(
    ("recipe", "form"),
    [pytest.param(recipe, form, id=f"{name}-{form}") for name, recipe in FITS.items() for form in recipe.forms],
)
def test_models_come_back_from_files_pickles_and_copies(recipe, form, tmp_path):
    arguments = recipe.arguments(120, form=form)
    model = fitted(recipe, *arguments)
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
    model = fitted(recipe, *arguments)
    given = {name: value for name, value in model.params.items() if recipe.takes(name)}
    asked = {name: value for name, value in recipe.options.items() if name != "random_state"}
    assert asked.items() <= given.items()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = recipe.call(*arguments, **given)
    assert dict(again.params) == dict(model.params)
    assert model_bits(again, arguments[0]) == model_bits(model, arguments[0])


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("recipe", FITS.values(), ids=FITS)
def test_names_of_columns_are_kept_and_compared(recipe, frame):
    X, *labels = recipe.arguments(120)
    table = frame({name: X[:, j] for j, name in enumerate(NAMES)})
    model = fitted(recipe, table, *labels)
    assert model.feature_names == NAMES
    np.testing.assert_array_equal(model.predict(table), model.predict(X))
    refused(ValueError, "income", model.predict, table[["age", "height", "income", *NAMES[3:]]])
    refused(ValueError, "X must have 6 features", model.predict, table[[*NAMES[:5]]])
