"""A table of any library is known by its titles: rows whose columns are in another order, or others, are not scored."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastpu
from helpers import refused

pa = pytest.importorskip("pyarrow")
nw = pytest.importorskip("narwhals")


pytestmark = pytest.mark.filterwarnings("ignore:.*with_probabilities:fastpu.exceptions.EstimateWarning")


class Capsule:
    """A table of a library that nobody knows, with the Arrow interface alone."""

    def __init__(self, frame):
        self._table = pa.Table.from_pandas(frame, preserve_index=False)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class Protocol:
    """The same with the older interchange protocol alone."""

    def __init__(self, frame):
        self._table = pa.Table.from_pandas(frame, preserve_index=False)

    def __dataframe__(self, **options):
        return self._table.__dataframe__(**options)


LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "Table": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "RecordBatch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
    "narwhals of pandas": lambda frame: nw.from_native(frame),
    "narwhals of polars": lambda frame: nw.from_native(pl.from_pandas(frame)),
    "capsule": Capsule,
    "protocol": Protocol,
}
TITLES = {
    "strings": ["age", "income", "height", "weight"],
    "numbers": [0, 1, 2, 3],
    "other numbers": [7, 3, 5, 1],
    "mixed": ["age", 1, "height", "weight"],
    "tuples": pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2)]),
    "dates": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]),
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] > 0) & (RNG.random(60) < 0.5)
FITS = {
    "linear": lambda X: fastpu.fit_upu(X, Y, prior=0.4),
    "forest": lambda X: fastpu.fit_forest(X, Y, n_trees=5, random_state=0),
    "stumps": lambda X: fastpu.fit_pnu_auc_boost(X, Y, n_rounds=5),
    "kernel": lambda X: fastpu.fit_bsvm(X, Y, C_pos=1.0, C_unl=0.5, kernel="rbf"),
}


def table(library, titles, order=slice(None)):
    return LIBRARIES[library](pd.DataFrame(X, columns=TITLES[titles]).iloc[:, order])


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("titles", TITLES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_titles_are_kept_and_other_orders_refused(library, titles, fit, tmp_path):
    model = FITS[fit](table(library, titles))
    assert len(model.feature_names) == 4
    scores = FITS[fit](X).decision_function(X)
    model.save(tmp_path / "model.npz")
    for fitted in (model, fastpu.load(tmp_path / "model.npz")):
        assert fitted.feature_names == model.feature_names
        np.testing.assert_array_equal(fitted.decision_function(table(library, titles)), scores)
        for order in ([3, 2, 1, 0], [0, 2, 1, 3]):
            text = "X must have the feature names of the training data, in the same order: column "
            for method in (fitted.decision_function, fitted.predict):
                refused(ValueError, text, method, table(library, titles, order))
            refused(ValueError, text.replace("X", "X_unl", 1), fitted.with_threshold, prior=0.4,
                    X_unl=table(library, titles, order))  # fmt: skip
        text = refused(ValueError, "must have 4 features", fitted.predict, table(library, titles, [0, 1, 3]))
        assert f"got 3; missing: {TITLES[titles][2]!r}"[:15] in text


@pytest.mark.parametrize("titles", ["strings", "numbers", "mixed", "tuples"])
@pytest.mark.parametrize(
    ("trained", "scored"),
    [
        *itertools.product(["pandas"], LIBRARIES),
        *itertools.product(LIBRARIES, ["pandas"]),
        ("Table", "RecordBatch"),
        ("polars", "narwhals of polars"),
    ],
)
def test_a_model_of_one_library_scores_tables_of_another(trained, scored, titles):
    model = FITS["linear"](table(trained, titles))
    np.testing.assert_array_equal(model.predict(table(scored, titles)), model.predict(X))
    refused(ValueError, "in the same order: column 0", model.predict, table(scored, titles, [3, 2, 1, 0]))


def test_missing_and_unexpected_columns_are_named():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = FITS["linear"](frame)
    text = "got 5; unexpected: 'e'"
    refused(ValueError, text, model.predict, frame.assign(e=1.0))
    refused(ValueError, "missing: 'b', 'd'; unexpected: 'x', 'y'", model.predict, frame.rename(
        columns={"b": "x", "d": "y"}))  # fmt: skip
    refused(ValueError, "missing: 'a'", model.predict, pd.DataFrame(X))
    text = refused(ValueError, "for their order use X[list(model.feature_names)]", model.predict, frame[list("dcba")])
    ordered = frame[list("dcba")][list(model.feature_names)]
    np.testing.assert_array_equal(model.predict(ordered), model.predict(frame))


@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_entries_and_categories_of_any_library(library):
    shop = np.array(["a", "b", None, "c"], dtype=object)[RNG.integers(0, 4, 60)]
    frame = pd.DataFrame({"x": X[:, 0], "shop": shop, "kind": pd.Categorical(shop), "n": np.arange(60)})
    frame.loc[3, "x"] = None
    model = fastpu.fit_forest(frame, Y, n_trees=5, random_state=0)
    again = fastpu.fit_forest(LIBRARIES[library](frame), Y, n_trees=5, random_state=0)
    assert again.categories["1"] == model.categories["1"]
    np.testing.assert_array_equal(again.packed_nodes, model.packed_nodes)
    np.testing.assert_array_equal(
        model.decision_function(LIBRARIES[library](frame[5:])), model.decision_function(frame[5:])
    )


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_without_rows_has_no_scores(library, fit):
    model = FITS[fit](pd.DataFrame(X, columns=list("abcd")))
    model = model.with_probabilities(prior=0.4, X=X, y=Y)
    dtype = float if library == "protocol" else object
    empty = LIBRARIES[library](pd.DataFrame(columns=list("abcd"), dtype=dtype))
    assert model.decision_function(empty).shape == (0,)
    assert model.predict(empty).shape == (0,)
    assert model.predict_proba(empty).shape == (0, 2)
    refused(ValueError, "must have at least 1 row", model.with_threshold, prior=0.4, X_unl=empty)
    refused(ValueError, "must have at least 1 row", fastpu.fit_upu, empty, [], prior=0.4)
    assert model.predict(np.empty((0, 4))).shape == (0,)


def test_rows_that_are_elsewhere_are_refused_with_what_to_do():
    narwhals = nw.from_native(pl.LazyFrame({"a": [1.0]}))
    refused(TypeError, "rows must be in memory", fastpu.fit_upu, narwhals, [1], prior=0.4)
    frames = pytest.importorskip("dask.dataframe")
    far = frames.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2)
    for call in (FITS["linear"], FITS["forest"], fastpu.bin_features, lambda X: fastpu.stack(P=X, U=X)):
        refused(TypeError, "the functions of fastpu.dask fit to them there", call, far)
    refused(TypeError, "the functions of fastpu.dask fit to them there", FITS["linear"], far.to_dask_array())


@pytest.mark.parametrize("titles", ["strings", "numbers", "mixed"])
def test_names_of_dask_frames_are_compared_at_once(titles):
    frames = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=TITLES[titles])
    model = FITS["linear"](frame).with_probabilities(prior=0.4, X=frame, y=Y)
    far, turned = (frames.from_pandas(part, npartitions=3) for part in (frame, frame.iloc[:, ::-1]))
    np.testing.assert_array_equal(model.decision_function(far).compute(), model.decision_function(frame))
    lazy = model.predict_proba(far)
    assert hasattr(lazy, "__dask_graph__")
    np.testing.assert_array_equal(np.asarray(lazy.compute()), model.predict_proba(frame))
    np.testing.assert_array_equal(
        model.predict_proba(far.to_dask_array(lengths=True)).compute(), model.predict_proba(frame)
    )
    assert (
        model.with_threshold(prior=0.4, X_unl=far).threshold == model.with_threshold(prior=0.4, X_unl=frame).threshold
    )
    y = frames.from_pandas(pd.Series(Y), npartitions=3)
    again = model.with_probabilities(prior=0.3, X=far, y=y)
    np.testing.assert_array_equal(
        again.calibration_values, model.with_probabilities(prior=0.3, X=frame, y=Y).calibration_values
    )
    for call in (
        model.decision_function,
        model.predict,
        model.predict_proba,
        lambda X: model.with_threshold(prior=0.4, X_unl=X),
        lambda X: model.with_probabilities(prior=0.4, X=X, y=y),
    ):
        refused(ValueError, "in the same order: column 0", call, turned)
