"""The model of trees refuses whatever a file may say that its kernel could not score."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from forest_cases import mixed_frame, wild_rows
from helpers import refused

FIELDS = ("threshold", "split", "left", "cover", "gain")
PACKED = np.dtype([("threshold", "f8"), ("split", "u4"), ("left", "i4"), ("cover", "u4"), ("gain", "f4")])


@pytest.fixture(scope="module")
def model():
    return fastpu.fit_forest(*mixed_frame(), n_trees=20, random_state=0)


def test_a_node_takes_24_bytes(model):
    assert model.packed_nodes.nbytes == 24 * model.nodes.size


def test_nodes_are_new_each_time_and_read_only_within(model):
    first = model.nodes
    first["value"] = 0
    assert not np.array_equal(model.nodes["value"], first["value"], equal_nan=True)
    assert not model.packed_nodes.flags.writeable
    assert model.n_trees == model.n_iter == 20
    np.testing.assert_array_equal(np.bincount(model.nodes["tree"]), np.diff(model.tree_starts))


def test_sets_of_columns_without_categories_are_refused(model):
    refused(ValueError, "must have a feature that is in categories", dataclasses.replace, model, categories={})
    in_order = {column: tuple(range(256)) for column in model.categories}  # whose splits have thresholds
    refused(ValueError, "that is in categories, with at most 255", dataclasses.replace, model, categories=in_order)


@pytest.mark.parametrize(
    "fields",
    [
        {"tree_starts": np.array([0, 3], dtype=np.int64)},
        {"divisor": 0},
        {"seed": -1},
        {"seed": 2**64},
        {"oob_count": None},
        {"oob_sum": np.full(120, np.nan)},
        {"oob_count": np.full(120, -1, dtype=np.int32)},
        {"oob_count": np.zeros(119, dtype=np.int32)},
        {"oob_sum": None, "oob_count": None},
        {"training_labels": np.zeros(119, dtype=np.int8)},
        {"training_labels": np.full(120, 2, dtype=np.int8)},
        {"training_labels": None, "training_weights": np.ones(120)},
        {"training_weights": np.ones(119)},
        {"training_weights": np.full(120, -1.0)},
        {"packed_nodes": np.zeros((3, 4), dtype=np.uint64)},
        {"packed_nodes": np.zeros((0, 3), dtype=np.uint64)},
        {"category_sets": np.zeros((1, 3), dtype=np.uint64)},
        {"category_sets": np.zeros((0, 4), dtype=np.uint64)},
        {"objective": np.zeros(3)},
        {"n_iter": 3},
        {"n_features": 2, "feature_names": None},
        {"categories": {"1": ("a", "a"), "3": (1,)}},
        {"categories": {"1": "ab", "3": (1,)}},
        {"categories": {"9": ("a",)}},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_fields_that_do_not_fit_each_other_are_refused(model, fields):
    with pytest.raises((TypeError, ValueError)):
        dataclasses.replace(model, **fields)


@given(st.integers(0, 10**9), st.sampled_from(FIELDS), st.binary(min_size=8, max_size=8))
def test_any_bytes_in_a_node_give_scores_or_an_error(seed, field, content):
    """Nodes that are not refused can be scored: the walk ends, and reads nothing outside of them."""
    X, y = wild_rows(60)
    model = fastpu.fit_forest(X, y, n_trees=2, random_state=0)
    words = model.packed_nodes.copy()
    place = seed % len(words)
    value = np.frombuffer(content[: PACKED[field].itemsize], dtype=PACKED[field])[0]
    words.view(PACKED)[place, 0][field] = value
    try:
        other = dataclasses.replace(model, packed_nodes=words)
    except ValueError:
        return
    assert np.isfinite(other.decision_function(X)).all()
    assert np.isfinite(other.feature_importances).all()


def test_binned_rows_must_be_cut_where_the_model_is():
    X, y = wild_rows(60)
    model = fastpu.fit_forest(X, y, n_trees=5, random_state=0)
    with pytest.raises(ValueError, match="cut"):
        model.decision_function(fastpu.bin_features(X + 0.125))
    refused(ValueError, "X must have 5 features", model.decision_function, fastpu.bin_features(X[:, :2]))


def test_a_model_without_out_of_bag_scores_wants_rows(model):
    other = dataclasses.replace(model, oob_sum=None, oob_count=None, training_labels=None)
    assert other.oob_decision_function is None
    X, y = mixed_frame()
    refused(
        ValueError, "X must be given for a model without out-of-bag scores", other.with_probabilities, prior=0.3, y=y
    )
    assert other.with_probabilities(prior=0.3, X=X, y=y).calibration == "beta"
    refused(ValueError, "init_model must have its out-of-bag scores", fastpu.fit_forest, X, y, init_model=other)
