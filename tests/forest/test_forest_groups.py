"""Rows in groups: bags of forests and of boosted trees leave whole groups out."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import fastpu
from fastpu.exceptions import CopiedRowsWarning, EstimateWarning, LabelWarning
from method_recipes import model_bits

BAGGED = {
    "forest": partial(fastpu.fit_forest, n_trees=60),
    "boosted trees": partial(fastpu.fit_boosted_trees, n_bags=30, n_rounds=8),
}
every = pytest.mark.parametrize("fit", BAGGED.values(), ids=BAGGED)


def customers(n=120, rows=8, seed=0, d=6):
    """Rows of customers, which are alike, and labels of customers that are drawn without regard to their rows."""
    rng = np.random.default_rng(seed)
    X = np.repeat(3.0 * rng.standard_normal((n, d)), rows, axis=0) + 0.2 * rng.standard_normal((n * rows, d))
    customer = np.repeat(np.arange(n), rows)
    order = rng.permutation(n * rows)
    return X[order], customer[order] % 4 == 0, customer[order]


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.LabelWarning")  # of fits without groups
@every
def test_labels_that_tell_nothing_of_new_customers_are_not_learnt_out_of_bag(fit):
    # On the mean over data; one draw of 30 labelled customers has a standard error of .05.
    found = []
    for seed in range(4):
        X, y, customer = customers(seed=seed)
        scores = fit(X, y, groups=customer, random_state=0).oob_decision_function
        found.append(fastpu.metrics.auc(y, scores))
        assert fastpu.metrics.auc(y, fit(X, y, random_state=0).oob_decision_function) > 0.7
    assert 0.38 < np.mean(found) < 0.62


def test_out_of_bag_scores_that_know_the_customers_are_told_of():
    X, y, customer = customers()
    with pytest.warns(
        LabelWarning, match="If several rows belong together, such as those of one customer, pass groups"
    ):
        fastpu.fit_forest(X, y, random_state=0)
    fastpu.fit_forest(X, y, groups=customer, random_state=0)


@every
def test_rows_of_a_group_are_out_of_the_same_bags(fit):
    X, y, customer = customers()
    y = y & (np.arange(y.size) % 3 > 0)  # groups have labelled and unlabelled rows
    model = fit(X, y, groups=customer, random_state=0)
    for own in np.unique(customer):
        assert np.unique(model.oob_count[customer == own]).size == 1
    share = model.oob_count.mean() / model.divisor
    assert 0.3 < share < 0.5  # 1/e of the groups are not drawn, and of a drawn one all rows may be missed


@every
def test_the_names_of_groups_do_not_matter_and_threads_do_not_either(fit):
    X, y, customer = customers(n=40)
    model = fit(X, y, groups=customer, random_state=0, n_threads=1)
    named = [f"customer {(7 * number) % 40}" for number in customer.tolist()]
    assert model_bits(fit(X, y, groups=named, random_state=0, n_threads=3)) == model_bits(model)
    assert model_bits(fit(X, y, groups=customer // 2, random_state=0)) != model_bits(model)


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.LabelWarning")  # of fits without groups
@every
def test_trees_that_are_added_have_the_bags_of_a_single_fit(fit):
    X, y, customer = customers(n=40)
    whole = fit(X, y, groups=customer, random_state=0)
    n = {"n_trees": 25} if "n_trees" in fit.keywords else {"n_rounds": 3}
    rest = {name: fit.keywords[name] - value for name, value in n.items()}
    part = fit(X, y, groups=customer, random_state=0, **n)
    both = fit(X, y, groups=customer, init_model=part, **rest)
    np.testing.assert_array_equal(both.packed_nodes, whole.packed_nodes)
    np.testing.assert_array_equal(both.oob_count, whole.oob_count)
    np.testing.assert_allclose(both.oob_sum, whole.oob_sum, rtol=1e-12)
    with pytest.raises(ValueError, match="groups must be those of init_model, which has some"):
        fit(X, y, init_model=part, **rest)
    with pytest.raises(ValueError, match="groups must be those of init_model, which has some"):
        fit(X, y, groups=customer // 2, init_model=part, **rest)
    with pytest.raises(ValueError, match="groups must be those of init_model, which has none"):
        fit(X, y, groups=customer, init_model=fit(X, y, random_state=0, **n), **rest)


@every
def test_files_keep_what_groups_are_known_by(fit, tmp_path):
    X, y, customer = customers(n=30)
    model = fit(X, y, groups=customer, random_state=0)
    model.save(tmp_path / "model.npz")
    assert fastpu.load(tmp_path / "model.npz").fingerprint.tolist() == model.fingerprint.tolist()
    assert model.fingerprint.size == 4


@every
def test_groups_that_are_in_every_bag_are_told(fit):
    X, y, _ = customers(n=30)
    with pytest.warns(EstimateWarning, match="rows have no out-of-bag score, as every bag holds a row of their group"):
        model = fit(X, y, groups=np.zeros(y.size), random_state=0)
    assert np.isnan(model.oob_decision_function).all()
    with pytest.warns(EstimateWarning, match=f"{y.sum()} of the {y.sum()} labelled positive rows"):
        fit(X, y, groups=np.where(y, -1, np.arange(y.size)), random_state=0)  # all labelled rows are of one group


@every
def test_every_bag_has_rows_of_both_labels(fit):
    X, y, customer = customers(n=40)
    two = np.isin(customer, np.unique(customer[y])[:2])  # a bag in seven would have none
    model = fit(X, y & two, groups=customer, min_leaf_rows=1, random_state=0)
    assert (model.history["n_leaves"] > 1).all()


@every
def test_rows_without_weight_are_scored_with_their_group(fit):
    X, y, customer = customers()
    weights = np.where(np.arange(y.size) % 2 == 0, 1.0, 0.0)
    model = fit(X, y, groups=customer, sample_weight=weights, random_state=0)
    for own in np.unique(customer):
        assert np.unique(model.oob_count[customer == own]).size == 1


@every
def test_copies_within_a_group_do_no_harm_and_are_not_warned_of(fit):
    X, y, customer = customers(rows=1)
    X, y, customer = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(customer, 3)
    with pytest.warns(CopiedRowsWarning, match="pass groups, or keep one row"):
        fit(X, y, random_state=0)
    fit(X, y, groups=customer, random_state=0)


def test_weights_are_chances_within_the_groups_that_a_bag_may_hold():
    X, y, customer = customers()
    weights = np.where(customer < 60, 1e6, 1.0)
    model = fastpu.fit_forest(X, y, groups=customer, sample_weight=weights, random_state=0, n_trees=60)
    heavy = model.oob_count[customer < 60].mean()
    assert heavy < model.oob_count[customer >= 60].mean()
