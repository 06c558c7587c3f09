"""Bags by "auto": enough unlabelled rows whatever the number of labels, and never all of them."""

from __future__ import annotations

import numpy as np
import pytest
from common.helpers import refused

import fastpu
from fastpu.common._bags import bag_sizes
from fastpu.forest._forest_options import AUTO_BAGS


def rare_rows(n: int, n_labelled: int, *, share: float = 0.05) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classes that one column tells apart well; returns rows, the truth, and which rows are labelled."""
    rng = np.random.default_rng([n, n_labelled])
    truth = np.arange(n) < max(n_labelled + 1, round(share * n))
    X = rng.standard_normal((n, 4))
    X[truth, 0] += 4.0
    order = rng.permutation(n)
    return X[order], truth[order], (np.arange(n) < n_labelled)[order]


@pytest.mark.parametrize("n_pos", [1, 2, 7, 100, 5000])
@pytest.mark.parametrize("n_unl", [1, 2, 3, 10, 300, 20_000, 10**7])
def test_a_bag_never_has_all_unlabelled_rows_and_never_none(n_pos, n_unl):
    sizes = bag_sizes("auto", n_pos, n_unl, AUTO_BAGS)
    assert min(sizes.draws_unl) >= 1
    assert max(sizes.draws_unl) < n_unl or n_unl == 1


def test_few_labels_have_bags_of_several_sizes_and_many_labels_two_rows_for_each():
    assert bag_sizes("auto", 1, 100_000, AUTO_BAGS).draws_unl == (10, 100, 500, 2000)
    assert bag_sizes("auto", 1, 4000, AUTO_BAGS).draws_unl == (10, 100, 400, 400)  # a tenth
    assert bag_sizes("auto", 220, 4000, AUTO_BAGS).draws_unl == (440,) * 4
    assert bag_sizes("auto", 1000, 100_000, AUTO_BAGS).draws_unl == (2000,) * 4
    assert [bag_sizes("auto", n, 4000, AUTO_BAGS).repeats_pos for n in (1, 2, 3, 5, 9, 10, 1000)] == [
        10,
        5,
        4,
        2,
        2,
        1,
        1,
    ]


def test_a_number_means_the_same_in_every_bag():
    assert bag_sizes(2.0, 3, 4000, AUTO_BAGS) == bag_sizes(6 / 3, 3, 4000, AUTO_BAGS)
    sizes = bag_sizes(1e9, 3, 4000, AUTO_BAGS)
    assert (sizes.draws_unl, sizes.repeats_pos, sizes.replace_unl) == ((4000,), 1, False)
    sizes = bag_sizes(None, 3, 4000, AUTO_BAGS)
    assert (sizes.draws_unl, sizes.repeats_pos, sizes.replace_unl) == ((4000,), 1, True)


def test_with_a_thousand_labels_the_forest_is_that_of_two_rows_for_each():
    X, _, y = rare_rows(8000, 1000, share=0.3)
    one = fastpu.fit_forest(X, y, n_trees=8, random_state=0)
    other = fastpu.fit_forest(X, y, n_trees=8, random_state=0, bag_ratio=2.0)
    np.testing.assert_array_equal(one.packed_nodes, other.packed_nodes)


@pytest.mark.parametrize("n_labelled", [1, 2, 3, 5])
def test_a_forest_of_few_labels_ranks(n_labelled):
    X, truth, y = rare_rows(3000, n_labelled)
    model = fastpu.fit_forest(X, y, random_state=0)
    held = model.oob_decision_function[~y]
    assert np.isfinite(held).all()
    assert fastpu.metrics.auc(truth[~y], held) > 0.9
    assert np.unique(held).size > 1000


@pytest.mark.parametrize(("n_pos", "n_unl"), [(104, 196), (30, 2), (1, 2), (50, 3), (3, 40)])
def test_unlabelled_rows_have_out_of_bag_scores_whenever_there_are_two(n_pos, n_unl):
    rng = np.random.default_rng(0)
    y = np.arange(n_pos + n_unl) < n_pos
    X = rng.standard_normal((y.size, 3)) + 2.0 * y[:, None]
    model = fastpu.fit_forest(X, y, n_trees=200, min_leaf_rows=1, random_state=0)
    assert np.isfinite(model.oob_decision_function[~y]).all()
    every = fastpu.fit_forest(X, y, n_trees=200, min_leaf_rows=1, random_state=0, bag_ratio=1e9)
    assert np.isnan(every.oob_decision_function[~y]).all()


@pytest.mark.parametrize("bag_ratio", ["auto", 3.0])
def test_a_forest_in_parts_is_that_of_one_fit(bag_ratio):
    X, _, y = rare_rows(3000, 3)
    given = {"random_state": 3, "bag_ratio": bag_ratio}
    whole = fastpu.fit_forest(X, y, n_trees=13, n_threads=2, **given)
    first = fastpu.fit_forest(X, y, n_trees=6, **given)
    both = fastpu.fit_forest(X, y, n_trees=7, init_model=first, bag_ratio=bag_ratio, n_threads=1)
    np.testing.assert_array_equal(both.packed_nodes, whole.packed_nodes)
    np.testing.assert_array_equal(both.oob_decision_function, whole.oob_decision_function)
    assert both.params["bag_ratio"] == bag_ratio


def test_a_forest_goes_on_by_its_own_rule_alone():
    X, _, y = rare_rows(500, 3)
    first = fastpu.fit_forest(X, y, n_trees=4, bag_ratio=2.0, random_state=0)
    refused(ValueError, "bag_ratio must be that of init_model, 2.0, got 'auto'", fastpu.fit_forest, X, y,
            init_model=first)  # fmt: skip
    refused(ValueError, "bag_ratio must be 'auto', a finite number > 0 or None, got 'all'", fastpu.fit_forest, X, y,
            bag_ratio="all")  # fmt: skip


def test_bags_of_boosted_trees_rank_by_a_single_label():
    X, truth, y = rare_rows(3000, 1)
    model = fastpu.fit_boosted_trees(X, y, n_bags=20, random_state=0)
    held = model.oob_decision_function[~y]
    assert np.isfinite(held).all()
    assert fastpu.metrics.auc(truth[~y], held) > 0.8
