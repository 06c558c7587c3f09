"""Estimates of the class prior: rare positives, what the user is told, and the order and the units of rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

import fastpu
import fastpu.estimators
from fastpu.data._validate import check_matrix
from fastpu.metrics import pu_auc
from fastpu.priors import PriorEstimate, _km2, _likelihood, bbe, km2
from fastpu.priors._likelihood import Likelihood, best_bin, best_of, score_share, share_likelihoods
from fastpu.priors._scaling import on_one_scale, row_keys
from helpers import rows_of
from oracles import priors as oracle
from test_priors import draw, each_method

# What is told of estimates has tests of its own, which look at it.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")

# -- shares from scores ------------------------------------------------------------------------------------------------


def test_best_bin_of_many_rows_looks_at_enough_cuts():
    rng = np.random.default_rng(0)
    truth = rng.random(20_000) < 0.1
    pos, unl = rng.normal(3, 1, 3000), rng.normal(0, 1, 20_000) + 3 * truth
    found, bound = best_bin(pos, unl)
    every = [(np.mean(unl >= cut) / np.mean(pos >= cut)) for cut in np.sort(unl)[-4000:-800]]
    assert min(every) <= found < 1.05 * min(every) < bound


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_likelihood_of_shares_is_that_of_the_best_slopes(seed):
    rng = np.random.default_rng(seed)
    pos = np.round(rng.normal(1.5, 1, 60), 1)
    unl = np.round(rng.normal(0, 1, 120) + 1.5 * (rng.random(120) < 0.4), 1)
    scores, of_pos, of_unl = _likelihood._binned(pos, unl)
    mass = of_pos / 120 + of_unl / 240
    normal = norm.ppf(np.cumsum(mass) - mass / 2)
    normal = (normal - np.average(normal, weights=mass)) / np.sqrt(np.cov(normal, aweights=mass, ddof=0))
    for found, of_scores in zip(share_likelihoods(pos, unl), (scores, normal), strict=True):
        best = int(np.argmin(found.lost))  # what is lost is lost against the best share, which is among these
        tried = np.append(found.logits[::10], found.logits[max(best - 1, 0) : best + 2])
        expected = oracle.share_deviances(of_scores, of_pos, of_unl, 1 / (1 + np.exp(-tried)))
        n = found.lost[::10].size
        np.testing.assert_allclose(found.lost[::10], expected[:n], atol=0.02)


def test_the_better_model_counts_at_each_share():
    logits = np.array([-1.0, 0.0, 1.0])
    parts = (([3.0, 1, 4], 2.0, [0.1, 0.2, 0.3]), ([2.0, 4, 3], 3.0, [0.4, 0.5, 0.6]))
    models = [Likelihood(logits, np.array(loss), excess, np.array(pure)) for loss, excess, pure in parts]
    np.testing.assert_array_equal(best_of(models).loss, [2, 1, 3])
    np.testing.assert_array_equal(best_of(models).lost, [1, 0, 2])
    np.testing.assert_array_equal(best_of(models).pure, [0.4, 0.2, 0.6])
    assert best_of(models).pure_at(0.5) == 0.2


def test_bins_keep_counts_and_equal_scores_together():
    rng = np.random.default_rng(0)
    pos, unl = np.round(rng.normal(1e6, 1, 500)), rng.normal(1e6, 1, 900)
    scores, of_pos, of_unl = _likelihood._binned(pos, unl)
    assert of_pos.sum() == 500
    assert of_unl.sum() == 900
    assert (np.diff(scores) > 0).all()
    assert np.count_nonzero(of_pos) <= np.unique(pos).size
    moved = _likelihood._binned(7 * pos + 3, 7 * unl + 3)
    for part, other in zip((scores, of_pos, of_unl), moved, strict=True):
        np.testing.assert_allclose(part, other, atol=1e-6)


# -- order and scale ---------------------------------------------------------------------------------------------------


@st.composite
def discrete_rows(draw):
    """Rows of few different values: binary columns, one-hot codes, integers; and labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_pos, n_unl = draw(st.integers(20, 120)), draw(st.integers(30, 200))
    truth = np.append(np.ones(n_pos, bool), rng.random(n_unl) < draw(st.floats(0, 1)))
    kind, size = draw(st.sampled_from(["binary", "one-hot", "integers"])), draw(st.integers(1, 8))
    if kind == "binary":
        X = (rng.random((truth.size, size)) < np.where(truth[:, None], *rng.random((2, size)))).astype(float)
    elif kind == "one-hot":
        levels = [rng.choice(size + 1, truth.size, p=rng.dirichlet(np.ones(size + 1))) for _ in range(2)]
        X = np.eye(size + 1)[np.where(truth, *levels)]
    else:
        X = rng.poisson(np.where(truth, *rng.uniform(1, 30, 2)))[:, None].astype(float)
    return X, np.repeat([1, 0], [n_pos, n_unl]), rng.permutation(truth.size)


@settings(max_examples=15)  # of four estimates each
@given(case=discrete_rows(), form=st.sampled_from([np.asarray, sp.csr_array, np.float32]))
def test_km2_does_not_depend_on_the_order_of_rows(case, form):
    """Equal rows are one point with a weight, so that the estimate of the same form is even the same by the bit."""
    X, y, order = case
    tol = 0 if form is np.asarray else 2e-3
    expected = km2(X, y, random_state=0)
    assert km2(form(X[order]), y[order], random_state=0).value == pytest.approx(expected.value, rel=0, abs=tol)
    most = km2(X, y, max_rows=10, random_state=0).value  # rows are drawn
    assert km2(X[order], y[order], max_rows=10, random_state=0).value == most


DISCRETE = {
    "one-hot": lambda truth, rng: np.eye(8)[np.where(truth, *(rng.choice(8, truth.size, p=p) for p in LEVELS))],
    "binary": lambda truth, rng: (
        rng.random((truth.size, 3)) < np.where(truth[:, None], [0.9, 0.8, 0.7], [0.2, 0.1, 0.3])
    ),
    "age": lambda truth, rng: np.round(rng.normal(np.where(truth, 60, 35), 8))[:, None],
}
LEVELS = ([0.3, 0.25, 0.2, 0.1, 0.08, 0.05, 0.02, 0], [0, 0.02, 0.05, 0.08, 0.1, 0.2, 0.25, 0.3])


@pytest.mark.parametrize("prior", [0.1, pytest.param(0.3, marks=pytest.mark.slow), 0.6])
@pytest.mark.parametrize("kind", DISCRETE)
def test_km2_is_near_the_truth_for_discrete_rows(kind, prior):
    values = []
    for seed in range(6):
        rng = np.random.default_rng([seed, 2])
        truth = np.append(np.ones(200, bool), rng.random(400) < prior)
        X = DISCRETE[kind](truth, rng).astype(float)
        values.append(km2(X, np.arange(600) < 200, random_state=0).value - prior)
    assert abs(np.mean(values)) < 0.1
    assert np.std(values) < 0.1


@pytest.mark.parametrize("scale", [1e-170, 1e-8, 1e8, 1e200])
@each_method
def test_the_units_of_columns_do_not_matter(method, scale):
    X, y, _ = draw(5, n_pos=60, n_unl=100, d=3)
    units = np.array([scale, 1.0, 8.0])
    expected = method(X, y, random_state=0)
    for form in (np.array, sp.csr_array):
        found = method(form(X * units), y, random_state=0)
        assert found.value == pytest.approx(expected.value, abs=0.02)
        np.testing.assert_allclose(found.allowed, expected.allowed, atol=0.05)


def test_columns_on_one_scale():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5, 3, 400), rng.random(400) < 0.01, np.full(400, 7.0), rng.poisson(0.3, 400)])
    scaled = on_one_scale(check_matrix(X)).values
    np.testing.assert_allclose(scaled.std(axis=0)[0], 1, rtol=0.01)
    assert 0.99 < np.ptp(scaled[:, 1]) < 1.01  # a rare category stays 1 away from the others
    assert np.ptp(scaled[:, 2]) == 0
    shifted = on_one_scale(check_matrix(X * [1e9, 4, 2, 0.1] + [3, 8, 0, -2])).values
    np.testing.assert_allclose(scaled, shifted, atol=1e-9)
    sparse = on_one_scale(check_matrix(sp.csr_array(X)))
    differences = sparse.table().toarray() - scaled
    np.testing.assert_allclose(differences, np.tile(differences[0], (400, 1)), atol=1e-9)  # but for the origin


def test_keys_are_equal_for_equal_rows_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(5000, 6)).astype(float)
    keys = row_keys(check_matrix(X))
    assert np.unique(keys).size == np.unique(X, axis=0).shape[0]
    np.testing.assert_array_equal(keys, row_keys(check_matrix(np.where(X == 0, -0.0, X))))
    np.testing.assert_array_equal(keys, row_keys(check_matrix(X.astype(np.float32))))
    np.testing.assert_array_equal(keys, row_keys(check_matrix(sp.csr_array(X))))


# -- rare positives ----------------------------------------------------------------------------------------------------


def overlapping(seed, prior, *, n_pos=300, n_unl=2000):
    """Normal classes in columns of unlike units, of which a good ranker has an AUC of some 0.85."""
    rng = np.random.default_rng([seed, 3])
    truth = np.append(np.ones(n_pos, bool), rng.random(n_unl) < prior)
    X = rng.normal(size=(truth.size, 6))
    X[:, :4] += truth[:, None] * np.array([1.2, 0.8, 0.6, 0.4])
    return X * [1e4, 1.0, 1e-2, 10.0, 1e3, 1.0], np.repeat([1, 0], [n_pos, n_unl]), float(truth[n_pos:].mean())


@pytest.mark.parametrize(
    ("prior", "most"),
    [
        (0.01, 0.05),
        pytest.param(0.05, 0.06, marks=pytest.mark.slow),
        pytest.param(0.1, 0.06, marks=pytest.mark.slow),
        (0.3, 0.1),
    ],
)
def test_bbe_of_rare_positives_is_near_the_truth_and_says_how_near(prior, most):
    errors, holds = [], []
    for seed in range(6):
        X, y, truth = overlapping(seed, prior)
        found = bbe(X, y, random_state=seed)
        errors.append(found.value - truth)
        holds.append(found.allowed[0] <= truth <= found.allowed[1])
        assert found.allowed[0] <= found.value <= found.allowed[1]
    assert np.abs(errors).mean() < most
    assert sum(holds) >= 5


@each_method
def test_estimates_of_classes_that_overlap_are_told_to_be_upper_bounds(method):
    X, y, truth = overlapping(0, 0.02)
    with pytest.warns(
        fastpu.exceptions.EstimateWarning,
        match=rf"^{method.__name__}: (the data give only an upper bound of 0|the estimate)",
    ) as told:
        found = method(X, y, random_state=0)
    assert len(told) == 1
    assert truth < found.allowed[1] < 0.2
    assert found.only_upper_bound or found.value > found.allowed[1]
    assert ("only an upper bound: at most" in repr(found)) == found.only_upper_bound


@pytest.mark.parametrize("allowed", [(0.001, 0.95), (1.05, 1.5)])
def test_an_estimate_a_little_outside_of_what_is_allowed_is_told(allowed, monkeypatch):
    X, y, _ = draw(0, n_pos=200, n_unl=300, apart=4.0)
    value = km2(X, y, random_state=0).value
    share = _likelihood.ScoreShare(value, *(value * np.array(allowed)))
    monkeypatch.setattr(_km2, "_allowed", lambda *_: share)
    with pytest.warns(fastpu.exceptions.EstimateWarning, match=r"^km2: the estimate 0\.\d+ lies outside of the range"):
        km2(X, y, random_state=0)


def test_the_share_of_scores_is_the_median_of_three_and_in_what_they_allow():
    rng = np.random.default_rng(0)
    for apart in (0.5, 2.0, 5.0):
        pos = rng.normal(apart, 1, 300)
        unl = rng.normal(0, 1, 900) + apart * (rng.random(900) < 0.2)
        found, (ratio, bound), models = score_share(pos, unl), best_bin(pos, unl), share_likelihoods(pos, unl)
        likeliest = [np.clip(ratio, *model.interval(0.02)) for model in models]
        low, high = best_of(models).interval(3.84)
        is_seen = best_of(models).pure_at(found.value) >= 0.5
        assert is_seen == (apart > 1)
        assert found.value == np.median([ratio, *likeliest])
        assert found.low == (min(low, found.value) if is_seen else 0.0)
        assert found.high == max(high, bound, found.value)
        assert found.low <= 0.2 <= found.high


def test_where_all_shares_are_alike_to_the_models_the_best_bin_counts():
    pos, unl = np.repeat([0.0, 1.0], [10, 30]), np.repeat([0.0, 1.0], [60, 40])
    assert score_share(pos, unl).value == best_bin(pos, unl)[0] == pytest.approx(0.4 / 0.75)


# Of additive logistic classes of normal columns: the function of a column, the slope, the columns, and of the first 16
# draws those whose estimate was once more than twice the truth without a warning.
ADDITIVE = {
    "square": (np.square, 1.5, 8, [8]),
    "abs": (np.abs, 1.0, 8, [8]),
    "sin": (lambda x: np.sin(2 * x), 2.5, 4, [0, 14]),
    "steps": (np.sign, 1.0, 8, [11]),
    "few steps": (np.sign, 2.0, 4, [14]),
}


@pytest.mark.parametrize("draws", ["some", pytest.param("all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ADDITIVE)
def test_bbe_is_never_twice_the_truth_without_a_warning_where_labels_are_additive_logistic(kind, draws):
    of_column, slope, d, some = ADDITIVE[kind]
    for seed in some if draws == "some" else range(16):
        rng = np.random.default_rng([seed, 5])
        X = rng.normal(size=(3000, d))
        z = of_column(X).sum(axis=1)
        z = slope * (z - z.mean()) / z.std()
        offset = brentq(lambda b, z=z: expit(z + b).mean() - 0.2, -30, 30)
        positive = rng.random(3000) < expit(z + offset)
        labelled = positive & (rng.random(3000) < 0.3)
        found = bbe(X, labelled, random_state=seed)
        assert found.only_upper_bound or found.value <= 2 * positive[~labelled].mean()


# Classes that overlap everywhere, so that nothing but its form tells a model where the best ratio ends: how columns are
# drawn, what their sum is made of, the slope, the number of columns and the seed of a draw whose estimate was once more
# than twice the truth without a warning.
OVERLAPPING = {
    "linear": (lambda rng, shape: rng.normal(size=shape), lambda x: x, 1.5, 6, 1),
    "steps": (lambda rng, shape: rng.normal(size=shape), np.sign, 1.5, 12, 1),
    "square": (lambda rng, shape: rng.uniform(-1.7, 1.7, shape), np.square, 1.5, 6, 0),
    "abs": (lambda rng, shape: rng.uniform(-1.7, 1.7, shape), np.abs, 1.5, 12, 0),
    "cube": (lambda rng, shape: rng.standard_t(3, shape), lambda x: x**3, 2.5, 3, 1),
}


@pytest.mark.parametrize("kind", OVERLAPPING)
def test_every_share_up_to_the_bound_is_allowed_where_classes_overlap_everywhere(kind):
    columns, of_column, slope, d, seed = OVERLAPPING[kind]
    rng = np.random.default_rng([seed, 7])
    X = columns(rng, (3000, d))
    z = of_column(X).sum(axis=1)
    z = slope * (z - z.mean()) / z.std()
    positive = rng.random(3000) < expit(z + brentq(lambda b: expit(z + b).mean() - 0.23, -60, 60))
    labelled = positive & (rng.random(3000) < 0.3)
    found = bbe(X, labelled, random_state=seed)
    assert found.only_upper_bound
    assert found.allowed[0] <= positive[~labelled].mean() <= found.allowed[1]


@pytest.mark.parametrize("prior", [0.05, pytest.param(0.2, marks=pytest.mark.slow), 0.5])
def test_classes_apart_get_no_warning(prior):
    for seed in range(6):
        X, y, truth = draw(seed, prior=prior, apart=5.0, n_unl=2000, d=5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = bbe(X, y, random_state=seed)
        assert found.value == pytest.approx(truth.mean(), abs=0.05)
        assert repr(found).startswith("PriorEstimate(value=0.")
        assert not found.only_upper_bound
        assert "bound" not in repr(found)


def test_pu_auc_tells_what_an_estimated_prior_leaves_open():
    rng = np.random.default_rng(0)
    pos, unl = rng.normal(1.5, 1, 200), rng.normal(0, 1, 2000) + 1.5 * (rng.random(2000) < 0.05)
    wide = PriorEstimate(0.15, None, np.zeros(0), (0.01, 0.25))
    with pytest.warns(fastpu.exceptions.EstimateWarning, match=r"pu_auc used the estimated prior 0\.15"):
        assert pu_auc(*rows_of(pos, unl), prior=wide) == pu_auc(*rows_of(pos, unl), prior=0.15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        narrow = PriorEstimate(0.05, None, np.zeros(0), (0.04, 0.06))
        assert pu_auc(*rows_of(pos, unl), prior=narrow) == pu_auc(*rows_of(pos, unl), prior=0.05)
        assert pu_auc(*rows_of(pos, unl), prior=narrow, scenario="single_set") == pu_auc(*rows_of(pos, unl), prior=0.05)
    with pytest.warns(fastpu.exceptions.EstimateWarning, match=r"the AUC lies between 0\.\d+ and 1$"):
        pu_auc(*rows_of(pos, unl), prior=PriorEstimate(0.15, None, np.zeros(0), (0.0, 1.0)))


def test_an_estimate_is_a_prior_of_the_unlabelled_rows_wherever_one_is_taken():
    X = np.arange(12.0)[:, None]
    y = np.arange(12) > 8
    estimate = PriorEstimate(0.3, None, np.zeros(0), (0.1, 0.4))
    pos, unl = np.array([3.0, 1.0, 0.5]), np.array([2.0, 1.0, 0.0, -1.0])
    model = fastpu.fit_upu(X, y, prior=0.3)
    metrics, classifiers = fastpu.metrics, fastpu.estimators
    for call in (
        lambda **how: fastpu.fit_upu(X, y, **how).decision_function(X),
        lambda **how: fastpu.fit_forest(X, y, loss="upu", n_trees=3, random_state=0, **how).decision_function(X),
        lambda **how: model.with_probabilities(X=X, y=y, **how).predict_proba(X),
        lambda **how: metrics.err_star(*rows_of(pos, unl), **how),
        lambda **how: metrics.precision_at_k(*rows_of(pos, unl), 2, **how),
        lambda **how: metrics.average_precision(*rows_of(pos, unl), **how),
        lambda **how: metrics.ranking_curve(*rows_of(pos, unl), **how).precision,
        lambda **how: classifiers.err_star_scorer(**how).prior,
        lambda **how: classifiers.UPUClassifier(**how).fit(X, y).decision_function(X),
        lambda **how: (
            fastpu.select(
                fastpu.fit_bsvm,
                X,
                y,
                {"C_pos": [1.0, 2.0], "C_unl": [1.0]},
                scoring="err_star",
                cv=2,
                random_state=0,
                **how,
            ).best_score
        ),
    ):
        np.testing.assert_array_equal(call(prior=estimate, scenario="single_set"), call(prior=0.3))
    by_number, by_estimate = (model.with_threshold(prior=prior, X_unl=X).threshold for prior in (0.3, estimate))
    assert by_number == by_estimate
