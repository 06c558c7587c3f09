"""Parameters, vectors and labels are checked, and bad ones are named."""

from __future__ import annotations

import decimal
import fractions
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fastpu.common._params import check_bool, check_choice, check_float, check_int, check_random_state
from fastpu.data._validate import (
    check_binary,
    check_labels,
    check_sample_weight,
    check_vector,
    label_counts,
    well_scaled,
)
from helpers import refused

# ------------------------------------------------------------------------------------ parameters


@pytest.mark.parametrize("value", [1, np.int8(1), np.uint64(1)])
def test_integers_of_any_kind_become_int(value):
    assert type(check_int("n_rounds", value, low=1)) is int


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0, ValueError, "n_rounds must be an integer >= 1, got 0"),
        (-(10**30), ValueError, "n_rounds must be an integer >= 1, got -1000"),
        (3.0, TypeError, "n_rounds must be an integer >= 1, got 3.0 (float)"),
        (np.array([3]), TypeError, "got ndarray of shape (1,) and dtype int64"),
    ],
)
def test_bad_integers(value, error, text):
    refused(error, text, check_int, "n_rounds", value, low=1)


def test_integer_ranges_in_words():
    refused(ValueError, "k must be an integer in [2, 5], got 6", check_int, "k", 6, low=2, high=5)
    refused(ValueError, "k must be an integer <= 5, got 6", check_int, "k", 6, high=5)
    refused(ValueError, "k must be an integer <= 5, got an integer of 50001 bits", check_int, "k", 2**50_000, high=5)
    refused(TypeError, "k must be an integer, got 1.5 (float)", check_int, "k", 1.5)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(1), fractions.Fraction(1, 2)])
def test_numbers_of_any_kind_become_float(value):
    assert type(check_float("gamma", value, low=0, high=1)) is float


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1.5, ValueError, "rho must be a number in [0, 1), got 1.5"),
        (1, ValueError, "rho must be a number in [0, 1), got 1.0"),
        (np.nan, ValueError, "rho must be a number in [0, 1), got nan"),
        (np.float32("nan"), ValueError, "got nan"),
        (10**400, ValueError, "rho must be a number in [0, 1), got 1000"),
        (decimal.Decimal("0.5"), TypeError, "(Decimal)"),
    ],
)
def test_bad_floats(value, error, text):
    refused(error, text, check_float, "rho", value, low=0, high=1, open_high=True)


def test_open_and_infinite_ends():
    refused(ValueError, "C must be a finite number > 0, got 0.0", check_float, "C", 0, low=0, open_low=True)
    refused(ValueError, "C must be a finite number > 0, got inf", check_float, "C", np.inf, low=0, open_low=True)
    assert check_float("C", np.inf, low=0, allow_inf=True) == np.inf
    refused(ValueError, "C must be a number >= 0, got nan", check_float, "C", np.nan, low=0, allow_inf=True)


def test_closed_ends_belong_to_the_range_and_open_ones_do_not():
    assert [check_int("k", end, low=2, high=5) for end in (2, 5)] == [2, 5]
    assert [check_float("rho", end, low=0, high=1) for end in (0, 1)] == [0.0, 1.0]
    assert check_float("C", 1e-300, low=0, open_low=True) == 1e-300
    assert check_float("rho", np.nextafter(1, 0), low=0, high=1, open_high=True) < 1
    refused(ValueError, "a must be a finite number < 2, got 2.0", check_float, "a", 2, high=2, open_high=True)
    is_open = {"open_low": True, "open_high": True}
    refused(ValueError, "p must be a number in (0, 1), got 0.0", check_float, "p", 0, low=0, high=1, **is_open)


def test_choices_and_switches():
    assert check_choice("step", "jensen", ("jensen", "line_search")) == "jensen"
    refused(ValueError, "step must be one of 'a', 'b', got 'c'", check_choice, "step", "c", ("a", "b"))
    refused(TypeError, "step must be one of 'a', 'b', got 1 (int)", check_choice, "step", 1, ("a", "b"))
    assert check_bool("progress", np.True_) is True
    refused(TypeError, "progress must be True or False, got 1 (int)", check_bool, "progress", 1)


def test_random_states():
    generator = np.random.default_rng(3)
    assert check_random_state(generator) is generator
    assert check_random_state(np.int64(3)).random() == np.random.default_rng(3).random()
    assert isinstance(check_random_state(None), np.random.Generator)
    refused(ValueError, "random_state must be an integer >= 0, got -1", check_random_state, -1)
    refused(TypeError, "random_state must be None, an integer >= 0 or", check_random_state, 1.0)
    refused(TypeError, "default_rng(seed)", check_random_state, np.random.RandomState(0))


# ------------------------------------------------------------------------------ vectors and labels


def test_vectors_are_read_where_pandas_and_polars_have_not_been_imported(monkeypatch):
    for name in ("pandas", "polars"):
        monkeypatch.delitem(sys.modules, name)
    np.testing.assert_array_equal(check_vector("weights", [1, 2]), [1.0, 2.0])


def test_a_hint_to_convert_objects_is_for_arrays_alone():
    refused(
        TypeError, "use weights.astype(float) if they are numbers", check_vector, "weights", np.array([1], dtype=object)
    )
    with pytest.raises(TypeError) as caught:
        check_vector("weights", object())
    assert "astype" not in str(caught.value)


def test_weights_of_which_ratios_matter_are_enlarged_only_where_they_are_tiny():
    usual, tiny = np.array([1.0, 0.5, 0.0]), np.array([2.0**-1030, 2.0**-1031, 0.0])
    assert well_scaled(usual) is usual
    np.testing.assert_array_equal(well_scaled(tiny), usual / 2)


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        (1.0, TypeError, "sample_weight must have one entry per row (2), got the scalar 1.0"),
        (np.float64(1), TypeError, "got the scalar 1.0"),
        (np.array(1.0), ValueError, "sample_weight must be one-dimensional"),
        ([1.0], ValueError, "sample_weight must have one entry per row (2), got 1"),
        ([0.0, 0.0], ValueError, "sample_weight must have a positive entry, got zeros only"),
        ([1.0, -0.5], ValueError, "sample_weight must be >= 0, got -0.5 at position 1"),
        ([1.0, np.nan], ValueError, "must not hold NaN or infinite entries, got nan at position 1"),
        ([np.inf, 1.0], ValueError, "got inf at position 0"),
        ([1e308, 1e308], ValueError, "sample_weight must have a finite sum"),
        (pd.Series([1, None], dtype="Int64"), ValueError, "got nan at position 1"),
        (pd.Series(["a", "b"]), TypeError, "sample_weight must hold real numbers"),
    ],
)
def test_bad_weights(weights, error, text):
    refused(error, text, check_sample_weight, weights, 2)


def test_vectors():
    assert check_vector("score", [1, 2], n=2).dtype == np.float64
    assert check_vector("score", [1, np.inf], allow_inf=True)[1] == np.inf
    refused(ValueError, "score must have 3 entries, got 2", check_vector, "score", [1, 2], n=3)
    text = "must not hold NaN entries, got nan at position 0"
    assert refused(ValueError, text, check_vector, "cost", [np.nan], allow_inf=True).endswith("position 0")


def test_labels_of_methods_that_take_negatives():
    np.testing.assert_array_equal(check_labels([1, -1, 1], 3), [1, -1, 1])
    np.testing.assert_array_equal(check_labels([1, 0, -1], 3), [1, 0, -1])
    np.testing.assert_array_equal(check_labels([True, False], 2), [1, 0])
    assert check_labels(np.array([1.0, 0.0]), 2).dtype == np.int8
    refused(ValueError, "y must have one entry per row of the data (3), got 2", check_labels, [1, 0], 3)
    refused(ValueError, "target must be one-dimensional", check_labels, [[1, 0]], 2, name="target")
    assert label_counts(np.array([1, 0, 0, -1, -1, -1], dtype=np.int8)) == (1, 2, 3)


def test_labels_of_methods_that_take_none():
    np.testing.assert_array_equal(check_labels([1, np.nan, 1], 3, pu_only="fit_pual"), [1, 0, 1])
    refused(ValueError, "got 2 of them (-1)", check_labels, [1, 0, -1, -1], 4, pu_only="fit_pual")
    refused(
        ValueError, "at least one positive row (+1) for fit_pual, got none", check_labels, [0], 1, pu_only="fit_pual"
    )
    refused(ValueError, "at least one unlabelled row (0) for fit_pual", check_labels, [1], 1, pu_only="fit_pual")


def test_true_labels():
    for labels in (
        [1, -1, 1],
        [1, 0, 1],
        [True, False, True],
        [1.0, 0.0, 1.0],
        pd.Series([1, 0, 1]),
        pl.Series([1, -1, 1]),
    ):
        np.testing.assert_array_equal(check_binary(labels), [True, False, True])
    refused(ValueError, "y_true must hold two kinds of labels", check_binary, [1, 0, -1])
    refused(ValueError, "y_true must hold positive rows as 1, got 0 and -1 only", check_binary, [0, -1])
    refused(ValueError, "got 2 positive and 0 negative", check_binary, [1, 1])
    refused(ValueError, "got 0 positive and 2 negative", check_binary, [0, 0])
    refused(ValueError, "y_true must not hold missing labels", check_binary, [1, np.nan])
    assert check_binary([1, 1], both=False).all()
