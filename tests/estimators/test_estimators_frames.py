"""Frames as a CSV file gives them, in every classifier: dtypes of labels and columns, names, and what is refused."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

pytest.importorskip("sklearn", minversion="1.6")
pytest.importorskip("pyarrow")
import sklearn
from sklearn.utils.fixes import parse_version

import fastpu
from estimator_cases import CLASSIFIERS, labels_for, make, pu_rows
from fastpu import estimators
from fastpu.common._methods import DECLARED
from fastpu.estimators import puf_scorer
from helpers import refused
from meta_cases import NAMES as METAS
from meta_cases import around

NAMES = [kind.__name__ for kind in CLASSIFIERS] + METAS
every = pytest.mark.parametrize("name", NAMES)
#: One of each kind that reads labels and columns in a way of its own.
some = pytest.mark.parametrize("name", ["ISVMClassifier", "BoostedTreesClassifier", "TwoStepClassifier"])
needs_polars = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="older versions do not read younger polars' frames",
)
X, TRUTH, LABELLED = pu_rows(n=80)
CSV = pd.DataFrame(X.round(3), columns=["age", "income", "height"]).assign(
    visits=np.arange(80) % 4, member=np.arange(80) % 3 == 0, town=np.where(np.arange(80) % 2, "A", "B")
).to_csv(index=False)  # fmt: skip
pytestmark = [
    pytest.mark.filterwarnings("ignore:propensity_columns are all columns:fastpu.exceptions.EstimateWarning"),
    pytest.mark.filterwarnings("ignore:SARClassifier (ended|finds)"),
    pytest.mark.filterwarnings("ignore:fit_.*svm_path does not show the margin"),
    pytest.mark.filterwarnings("ignore::fastpu.exceptions.ScaleWarning"),
    pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning"),  # of priors, from so few rows
]


def table(**options):
    """The numbers and booleans of the file."""
    return pd.read_csv(io.StringIO(CSV), **options).drop(columns="town")


def fresh(name):
    kind = getattr(estimators, name)
    return around(name) if name in METAS else make(kind)


def labels(name):
    """Booleans as a class takes them."""
    return LABELLED if name in METAS else labels_for(getattr(estimators, name), TRUTH, LABELLED)


def own(name):
    """Whether the class reads frames itself, rather than the estimator that it is around."""
    return name not in METAS


# -------------------------------------------------------------------------------------------------------------- labels


def series(y):
    """The labels as columns of frames hold them, with the classes that they have then."""
    plain, words = pd.Series(y), pd.Series(np.where(y, "pos", "other"))
    return {
        "boolean": (plain.astype("boolean"), [False, True]),
        "Int64": (plain.astype(int).astype("Int64"), [0, 1]),
        "UInt8": (plain.astype(int).astype("UInt8"), [0, 1]),
        "Float64": (plain.astype(float).astype("Float64"), [0.0, 1.0]),
        "arrow booleans": (plain.astype("bool[pyarrow]"), [False, True]),
        "arrow integers": (plain.astype("int64[pyarrow]"), [0, 1]),
        "objects": (plain.astype(object), [False, True]),
        "objects of NumPy": (np.array([np.bool_(label) for label in y.tolist()], dtype=object), [False, True]),
        "words": (words, ["other", "pos"]),
        "a list": (np.where(y, 7, 3).tolist(), [3, 7]),
        "string": (words.astype("string"), ["other", "pos"]),
        "category": (words.astype("category"), ["other", "pos"]),
        "polars booleans": (pl.Series(y), [False, True]),
        "polars words": (pl.Series(words.tolist()), ["other", "pos"]),
        "polars categories": (pl.Series(words.tolist(), dtype=pl.Categorical), ["other", "pos"]),
    }


@some
def test_labels_of_any_column_are_the_same_and_keep_their_kind(name):
    y = labels(name)
    frame = table()
    expected = fresh(name).fit(frame, y)
    scores, predicted = expected.decision_function(frame), expected.predict(frame)
    for kind, (column, classes) in series(y).items():
        fitted = fresh(name).fit(frame, column)
        assert fitted.classes_.tolist() == classes, kind
        assert type(fitted.classes_.tolist()[0]) is type(classes[0]), kind
        np.testing.assert_array_equal(fitted.decision_function(frame), scores)
        np.testing.assert_array_equal(fitted.predict(frame) == classes[1], predicted)
        assert fitted.score(frame, column) == np.mean(predicted == y)
        if name == "ISVMClassifier":
            assert puf_scorer()(fitted, frame, column) == puf_scorer()(expected, frame, y)


@some
def test_missing_labels_are_refused_with_a_way_out(name):
    y = labels(name)
    words = pd.Series(np.where(y, "pos", None))
    for column in (
        pd.Series(y).astype("boolean").where(y, pd.NA),
        pd.Series(y).astype(int).astype("Int64").where(y, pd.NA),
        pd.Series(y).astype(float).where(y),
        words,
        words.astype("string"),
        words.astype("category"),
        pl.Series([True if label else None for label in y]),
        pl.Series([1 if label else None for label in y]),
    ):
        message = (
            f"Input y contains NaN or other missing labels, {np.sum(~y)} of 80: where they mean unlabelled, pass fast"
        )
        refused(ValueError, message, fresh(name).fit, table(), column)
    if y is LABELLED:  # the way out
        read = fastpu.as_labels(words.astype("string"), positive="pos")
        expected = fresh(name).fit(table(), y).decision_function(table())
        np.testing.assert_array_equal(fresh(name).fit(table(), read).decision_function(table()), expected)


# ------------------------------------------------------------------------------------------------------------- columns


@some
def test_columns_of_any_dtype_are_the_same(name):
    y = labels(name)
    frame = table()
    fitted = fresh(name).fit(frame, y)
    scores = fitted.decision_function(frame)
    for other in (
        table(dtype_backend="numpy_nullable"),
        table(dtype_backend="pyarrow"),
        frame.set_index(frame.index[::-1]),
    ):
        again = fresh(name).fit(other, y)
        assert again.feature_names_in_.tolist() == frame.columns.tolist()
        assert again.n_features_in_ == 5
        # The solvers of scikit-learn sum booleans and floats in another order.
        np.testing.assert_allclose(again.decision_function(other), scores, rtol=0, atol=0 if own(name) else 1e-6)
        np.testing.assert_allclose(fitted.decision_function(other), scores, rtol=0, atol=0 if own(name) else 1e-9)


@needs_polars
@every
def test_polars_frames_are_the_same(name):
    y = labels(name)
    frame, other = table(), pl.read_csv(io.StringIO(CSV)).drop("town")
    fitted = fresh(name).fit(frame, y)
    again = fresh(name).fit(other, pl.Series(y))
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    tolerance = 0 if own(name) else 1e-6
    np.testing.assert_allclose(again.decision_function(other), fitted.decision_function(frame), rtol=0, atol=tolerance)
    refused(ValueError, "feature names should match", again.predict, other[:, ::-1])
    message = "rows must be in memory, got a polars LazyFrame"
    refused(TypeError, message, fresh(name).fit, other.lazy(), y)


@every
def test_missing_entries_are_named_or_taken(name):
    y = labels(name)
    for frame in (table(), table(dtype_backend="numpy_nullable"), table(dtype_backend="pyarrow")):
        frame.loc[4, "age"] = None
        if own(name) and not DECLARED[getattr(estimators, name)._function.__name__].nan:
            message = "X must not hold NaN or infinite entries, got nan at row 4, column 0 ('age')"
            refused(ValueError, message, fresh(name).fit, frame, y)
        elif own(name):
            assert np.isfinite(fresh(name).fit(frame, y).decision_function(frame)).all()
        else:
            refused(ValueError, "Input X contains NaN", fresh(name).fit, frame, y)


@some
def test_columns_without_names_are_taken_and_those_of_mixed_or_equal_names_refused(name):
    y = labels(name)
    frame = table()
    fitted = fresh(name).fit(frame, y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(fitted.predict(frame.to_numpy(dtype=float)), fitted.predict(frame))
    numbered = fresh(name).fit(frame.set_axis(range(5), axis=1), y)
    assert not hasattr(numbered, "feature_names_in_")
    np.testing.assert_array_equal(numbered.predict(frame.set_axis(range(5), axis=1)), fitted.predict(frame))
    twice = frame.set_axis(["a", "b", "a", "c", "d"], axis=1)
    refused(
        ValueError,
        "X must have a name of its own for each column, got 'a' for columns 0 and 2",
        fresh(name).fit,
        twice,
        y,
    )
    mixed = frame.set_axis(["a", 1, 2, 3, 4], axis=1)
    refused(
        TypeError, "Feature names are only supported if all input features have string names", fresh(name).fit, mixed, y
    )


@pytest.mark.parametrize("name", [name for name in NAMES if own(name)])
def test_columns_that_are_no_numbers_are_named_with_what_to_do(name):
    y = labels(name)
    takes_categories = DECLARED[getattr(estimators, name)._function.__name__].categories
    words = pd.read_csv(io.StringIO(CSV))
    if takes_categories:
        assert fresh(name).fit(words, y).n_features_in_ == words.shape[1]
    else:
        said = refused(TypeError, "X must have numeric or boolean columns, got dtype ", fresh(name).fit, words, y)
        way_out = (
            "if it holds numbers, make them so with pandas.to_numeric; if words, make numbers of them with pandas."
        )
        assert f"in column 'town'; {way_out}" in said
    objects = table().astype({"age": object})  # which are numbers
    assert fresh(name).fit(objects, y).n_features_in_ == objects.shape[1]
    dates = table().assign(day=pd.date_range("2020-01-01", periods=80))
    refused(TypeError, "in column 'day'", fresh(name).fit, dates, y)
