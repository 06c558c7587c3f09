"""Entries that are missing where training had none tell nothing: they follow the larger part of the training rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu

pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.UnlikeRowsWarning")  # lost columns are meant

FITS = {
    "forest": lambda X, y: fastpu.fit_forest(X, y, n_trees=100, random_state=0),
    "best splits": lambda X, y: fastpu.fit_forest(X, y, n_trees=50, splitter="best", random_state=0),
    "boosted trees": lambda X, y: fastpu.fit_boosted_trees(X, y, random_state=0),
    "bags": lambda X, y: fastpu.fit_boosted_trees(X, y, n_bags=10, random_state=0),
}
FEATURES = 6
#: How far the mean place of the negatives among all rows, in [0, 1], may move where a column that told them apart is
#: lost: such rows look more alike, so that their places move towards the middle.
MOST_MOVED = 0.1


def drawn_rows(n, seed=0, sign=1):
    """Rows, 20 % of them positive, whose first four columns are larger (or smaller, for sign = -1) for these."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    X = rng.standard_normal((n, FEATURES))
    X[:, :4] += 1.2 * truth[:, None]
    return sign * X, truth


@pytest.fixture(scope="module", params=FITS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def model(kind):
    X, truth = drawn_rows(4000)
    return FITS[kind](X, truth & (np.arange(4000) % 4 == 0))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_lost_column_moves_negatives_neither_to_the_top_nor_to_the_end(kind, sign):
    X, truth = drawn_rows(4000, sign=sign)
    model = FITS[kind](X, truth & (np.arange(4000) % 4 == 0))
    Z, is_positive = drawn_rows(4000, seed=1, sign=sign)
    usual = np.sort(model.decision_function(Z))

    def mean_place(rows):
        return np.searchsorted(usual, model.decision_function(rows)).mean() / usual.size

    lost = Z.copy()
    lost[:, 0] = np.nan
    assert abs(mean_place(lost[~is_positive]) - mean_place(Z[~is_positive])) < MOST_MOVED


def test_a_node_sends_them_with_its_larger_part(model):
    nodes = model.nodes
    splits = np.flatnonzero(nodes["feature"] >= 0)
    starts = np.asarray(model.tree_starts)[nodes["tree"][splits]]
    left, right = (nodes["cover"][starts + nodes[side][splits]] for side in ("left", "right"))
    np.testing.assert_array_equal(nodes["missing_left"][splits], left >= right)


def test_some_rows_of_a_batch_miss_entries_and_get_the_bits_of_single_rows(model):
    Z, _ = drawn_rows(3000, seed=2)
    rng = np.random.default_rng(3)
    Z[rng.random(Z.shape) < 0.02] = np.nan
    Z[2500:, 0] = np.nan
    Z[7, 1] = -np.inf  # counts as missing
    Z[8, 1] = np.inf  # does not
    some = rng.permutation(3000)[:60]
    of_batch = model.decision_function(Z)
    np.testing.assert_array_equal(of_batch, model.decision_function(Z, n_threads=2))
    np.testing.assert_array_equal(of_batch, model.decision_function(sp.csr_array(Z)))
    single = [model.decision_function(Z[row : row + 1])[0] for row in [7, 8, *some]]
    np.testing.assert_array_equal(of_batch[[7, 8, *some]], single)


def test_rows_in_single_precision_and_as_bins_go_the_same_way(kind):
    X, truth = drawn_rows(2000)
    X = X.astype(np.float32)
    y = truth & (np.arange(2000) % 4 == 0)
    bins = fastpu.bin_features(X)
    model = FITS[kind](bins, y)
    np.testing.assert_array_equal(model.decision_function(bins), model.decision_function(X))
    X[:50, 2] = np.nan
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(X.astype(np.float64)))


def test_where_training_missed_entries_they_mean_what_they_meant_there(kind):
    X, truth = drawn_rows(4000)
    X[truth & (np.arange(4000) % 2 == 0), 5] = np.nan  # half of the positives, and nobody else
    model = FITS[kind](X, truth & (np.arange(4000) % 4 < 2))
    Z, _ = drawn_rows(500, seed=4)
    before = model.decision_function(Z)
    Z[:, 5] = np.nan
    assert np.mean(model.decision_function(Z) > before) > 0.95
