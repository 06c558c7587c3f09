"""What a first use of frames and labels meets: warnings of what is upside down or out of order, and lines that mend."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import fastpu
from fastpu.common._frozen import FrozenMapping
from fastpu.data._validate import check_matrix
from fastpu.exceptions import EstimateWarning, LabelWarning
from helpers import refused

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 3)), columns=list("abc"))
Y = pd.Series((X["a"] > 0) & (np.arange(60) % 2 == 0))


@pytest.mark.parametrize("codes", [(2, 1), (1, 0), (1.0, 0.0), (1, -1)])
def test_numbers_that_are_coded_upside_down_are_warned_of(codes):
    estimators = pytest.importorskip("fastpu.estimators")
    unlabeled, positive = codes
    y = np.where(np.arange(60) < 6, positive, unlabeled)
    with pytest.warns(LabelWarning, match="the larger one counts as positive"):
        estimators.ISVMClassifier().fit(X, y)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")  # noise has no boundary
def test_row_labels_in_another_order_are_warned_of():
    turned = Y[::-1]
    with pytest.warns(
        LabelWarning, match=r"y and X have the same row labels in different orders, .* row \d+ of y is taken for"
    ):
        fastpu.fit_forest(X, turned, n_trees=40, random_state=0)
    with pytest.warns(LabelWarning, match="y and X have the same row labels in different orders"):
        fastpu.fit_upu(X, turned, prior=0.4)
    with pytest.warns(LabelWarning, match="y and X have the same row labels in different orders"):
        fastpu.fit_bsvm(X, turned, C_pos=20.0, C_unl=5.0)


def test_estimates_of_a_prior_leave_negatives_out():
    y = np.where(Y, 1, np.where(np.arange(60) % 7 == 0, -1, 0))
    text = "y holds -1 and no 0, which is ambiguous"
    for estimate in (fastpu.priors.bbe, fastpu.priors.km2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EstimateWarning)
            found, expected = (estimate(X[rows], y[rows], random_state=0) for rows in (y < 2, y >= 0))
        assert found.value == expected.value
        refused(ValueError, text, estimate, X, np.where(Y, 1, -1))


def test_places_of_categories_are_found_once_and_not_pickled():
    known = FrozenMapping({"0": ("a", "b")})
    assert known.places("0") is known.places("0")
    assert len(pickle.dumps(known)) == len(pickle.dumps(FrozenMapping({"0": ("a", "b")})))


CATEGORIES = {
    "intervals": pd.cut(np.arange(6.0), 3),  # ordered
    "intervals without order": pd.Categorical(pd.cut(np.arange(6.0), 3), ordered=False),
    "periods": pd.Categorical(pd.period_range("2020-01", periods=6, freq="M")),
    "times": pd.Categorical(pd.date_range("2020-01-01", periods=6), ordered=True),
    "tuples": pd.Categorical([(0, 1), (1, 2)] * 3),
}


@pytest.mark.parametrize("column", CATEGORIES)
def test_the_line_mends_categories_that_are_neither_strings_nor_numbers(column):
    frame = pd.DataFrame({"one": CATEGORIES[column]})
    text = refused(TypeError, "in column 'one', must have categories that are", fastpu.fit_forest, frame, Y[:6])
    names = {"X": frame}
    exec(re.findall(r"X(?:\[.*?\])? = .*", text)[0], names)  # noqa: S102
    assert check_matrix(names["X"], finite=False, takes_categories=True).n_rows == 6


COLUMNS = {
    "dates": pd.date_range("2020-01-01", periods=3),
    "periods": pd.period_range("2020-01", periods=3, freq="M"),
    "intervals": pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]),
    "bytes": [b"1", b"2", b"3"],
    "mixed": pd.Series([1, "2", None], dtype=object),
}


@pytest.mark.parametrize("takes_categories", [True, False])
@pytest.mark.parametrize("column", COLUMNS)
def test_the_line_mends_all_columns_of_a_kind(column, takes_categories):
    frame = pd.DataFrame({"one": COLUMNS[column], "two": COLUMNS[column]})
    text = refused(TypeError, "in columns 'one', 'two'; ", check_matrix, frame, takes_categories=takes_categories)
    names = {"pandas": pd, "X": frame}
    exec(re.findall(r"X(?:\[\[.*?\]\])? = .*", text)[0], names)  # noqa: S102
    assert check_matrix(names["X"], finite=False, takes_categories=takes_categories).n_rows == 3
