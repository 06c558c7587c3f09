"""Names of columns are kept, and a message about a column gives its name, whichever method or layer it comes from."""

from __future__ import annotations

import re
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastpu
from fastpu.common._methods import DECLARED
from helpers import refused
from input_recipes import quietly
from method_recipes import FITS, RECIPES

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
NAMES = ("age", "income", "height", "weight", "visits", "score")
TAKING_ROWS = {name: recipe for name, recipe in RECIPES.items() if recipe.name not in {"select", "bin_features"}}
#: Functions of `fastpu.priors` that take missing entries.
PRIORS_OF_TABLES = {"priors.bbe", "priors.scar_test"}
#: The number of a column that no name follows.
NAMELESS = re.compile(r"\bcolumn \d+(?! \(')")

each_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def named(frame, X):
    return frame({name: X[:, j] for j, name in enumerate(NAMES)})


def messages(call) -> list[str]:
    """What a call warns of, and what it refuses."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (ValueError, TypeError) as error:
            return [str(error), *(str(warning.message) for warning in caught)]
    return [str(warning.message) for warning in caught]


@each_frame
@pytest.mark.parametrize("recipe", FITS.values(), ids=FITS)
def test_names_of_columns_are_kept_and_compared(recipe, frame):
    X, *labels = recipe.arguments(120)
    table = named(frame, X)
    model = quietly(recipe.call, table, *labels)
    assert model.feature_names == NAMES
    np.testing.assert_array_equal(model.predict(table), model.predict(X))
    refused(ValueError, "income", model.predict, table[["age", "height", "income", *NAMES[3:]]])
    refused(ValueError, "X must have 6 features", model.predict, table[[*NAMES[:5]]])


@each_frame
@pytest.mark.parametrize("name", TAKING_ROWS)
def test_bad_entries_are_named(name, frame):
    recipe = TAKING_ROWS[name]
    X, *labels = recipe.arguments(60)
    takes_missing = DECLARED[recipe.name].nan if recipe.name in DECLARED else recipe.name in PRIORS_OF_TABLES
    for bad in () if takes_missing else (np.nan, np.inf):
        spoiled = X.copy()
        spoiled[5, 2] = bad
        text = f"got {bad} at row 5, column 2 ('height')"
        assert "') ('" not in refused(ValueError, text, recipe.call, named(frame, spoiled), *labels)  # named once
    dates = named(frame, X)
    day = date(2026, 1, 1)
    dates = dates.assign(visits=day) if frame is pd.DataFrame else dates.with_columns(visits=pl.lit(day))
    refused(TypeError, "in column 'visits'", recipe.call, dates, *labels)


@pytest.mark.parametrize("name", TAKING_ROWS)
def test_every_message_about_a_column_names_it(name):
    recipe = TAKING_ROWS[name]
    X, *labels = recipe.arguments(40)
    for size in (1e-300, 1e20, 1e160, 1e307):
        frame = named(pd.DataFrame, X * np.where(np.arange(6) == 3, size, 1.0))
        for text in messages(lambda frame=frame: recipe.call(frame, *labels)):
            assert not NAMELESS.search(text), text


@each_frame
def test_what_the_core_says_of_a_column_is_named(frame):
    """These messages are made in C++, which knows no names."""
    X, y = RECIPES["fit_isvm"].arguments(40)
    X = X.copy()
    X[:, 3] *= 1e200
    huge = named(frame, X)
    for call in (
        lambda: fastpu.fit_isvm(huge, y),
        lambda: fastpu.knn_graph(huge),
        lambda: fastpu.fit_pual(huge, y, C_pos=1.0, C_unl=0.5),
        lambda: fastpu.fit_upu(huge, y, prior=0.5, loss="squared", lam=0.1),
    ):
        assert "column 3 ('weight')" in messages(call)[0]


def test_a_model_names_the_columns_of_an_array():
    X, y = RECIPES["fit_isvm"].arguments(60)
    model = fastpu.fit_isvm(named(pd.DataFrame, X), y)
    X = X.copy()
    X[1, 4] = np.nan
    refused(ValueError, "at row 1, column 4 ('visits')", model.decision_function, X)
