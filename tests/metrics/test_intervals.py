"""Intervals hold with few labelled rows, and where the prior is known as a bound only."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import beta

from fastpu.audit import estimate, plan
from fastpu.exceptions import EstimateWarning
from fastpu.metrics import (
    average_precision,
    err_star,
    error_rate,
    lift_at_k,
    precision_at_k,
    pu_auc,
    ranking_curve,
    recall_at_k,
)
from fastpu.model._prior import PriorEstimate
from helpers import rows_of
from normal_scores import NEAR, held_by, truth_of
from oracles import ranking as oracle

# ---- Against exact limits ----


@pytest.mark.parametrize(("above", "n"), [(0, 2), (0, 5), (1, 5), (5, 5), (3, 20), (20, 20), (30, 200)])
def test_intervals_of_the_recall_are_those_of_clopper_and_pearson(above, n):
    """All unlabelled rows have one score, so the cut is the same however they are drawn."""
    rows = rows_of(np.repeat([1.0, -1.0], [above, n - above]), np.zeros(50))
    low = beta.ppf(0.05, above, n - above + 1) if above else 0.0
    high = beta.ppf(0.95, above + 1, n - above) if above < n else 1.0
    found = recall_at_k(*rows, 10, n_boot=10_000, random_state=0)
    assert found.value == above / n
    assert found.interval == pytest.approx((low, high), abs=NEAR)
    lift = lift_at_k(*rows, 10, n_boot=10_000, random_state=0)
    np.testing.assert_allclose(lift.interval, 5 * np.array(found.interval), rtol=1e-14)
    curve = ranking_curve(*rows, n_boot=10_000, random_state=0)
    assert curve.recall_interval[9] == pytest.approx((low, high), abs=NEAR)


def test_intervals_of_the_precision_have_the_limits_of_the_recall_where_there_are_very_many_unlabelled_rows():
    rows = rows_of(np.repeat([1.0, -1.0], [2, 8]), np.zeros(200_000))
    found = precision_at_k(*rows, 1.0, prior=0.3, n_boot=2000, random_state=0)
    ends = beta.ppf([0.05, 0.95], [2, 3], [9, 8])
    assert found.interval == pytest.approx(tuple(0.3 * ends), abs=NEAR)


def test_the_precision_of_few_rows_varies_by_chance_though_recall_and_prior_are_known():
    """Half of 10,000 positives are above the cut of ten rows, so ten times .2 / .4 of them are expected."""
    rows = rows_of(np.repeat([1.0, -1.0], [5000, 5000]), np.zeros(25))
    found = precision_at_k(*rows, 10, prior=0.2, n_boot=10_000, random_state=0)
    counts = np.random.default_rng(0).binomial(25, 0.1, 100_000)
    assert found.interval == pytest.approx(tuple(np.quantile(counts / 10, [0.05, 0.95])), abs=0.1)
    assert found.interval[1] - found.interval[0] > 0.3


@pytest.mark.parametrize("name", ["average_precision", "pu_auc"])
def test_samples_weigh_the_labelled_rows_and_one_more_row_at_either_end(name):
    """The same draws, and every row counted by itself."""
    rng = np.random.default_rng(2)
    pos, unl = np.sort(np.round(rng.normal(1, 1, 7), 1))[::-1], np.sort(np.round(rng.normal(size=30), 1))[::-1]
    metric = average_precision if name == "average_precision" else pu_auc
    found = metric(*rows_of(pos, unl), prior=0.1, n_boot=40, random_state=3)
    generator = np.random.default_rng(3)
    samples = []
    for _ in range(40):
        weights = generator.standard_exponential(8)
        drawn = unl[generator.integers(0, 30, 30)]
        if name == "average_precision":
            ends = [(np.append(pos, -99.0), weights), (np.append(pos, 99.0), weights), (pos, weights[:-1])]
            samples.append([oracle.weighted_average_precision(*end, drawn, 0.1) for end in ends])
        else:
            won = np.array([np.mean((p > drawn) + 0.5 * (p == drawn)) for p in pos])
            shares = [np.append(won, end) @ weights / weights.sum() for end in (0.0, 1.0)]
            samples.append([min(1, max(0, (share - 0.05) / 0.9)) for share in shares])
    low, high, *middle = np.array(samples).T
    ends = [np.quantile(low, 0.05, method="weibull"), np.quantile(high, 0.95, method="weibull")]
    for each in middle:
        centre, reach = 2 * found.value - each.mean(), 2 * each.std()
        ends = [min(ends[0], max(0, centre - reach)), max(ends[1], min(1, centre + reach))]
    assert found.interval == pytest.approx((min(ends[0], found.value), max(ends[1], found.value)), abs=1e-12)


# ---- Where the truth is known: N(0, 1) of negative rows, N(apart, 1) of positive ones ----


@pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning")
@pytest.mark.parametrize(
    ("n_pos", "prior", "apart"), [(2, 0.02, 1.0), (5, 0.1, 2.5), (10, 0.3, 4.0), (20, 0.02, 1.0), (20, 0.1, 2.5)]
)
def test_intervals_of_few_labelled_rows_hold_the_truth(n_pos, prior, apart):
    """A bootstrap of rows held it in 5 to 85 % of these draws, and was 0 to 0 in up to 70 %."""
    rng = np.random.default_rng(8)
    n_unl, k = 500, max(10, round(500 * prior))
    truth = truth_of(apart, prior, k / n_unl)
    found = {"recall": [], "mean": [], "auc": []}
    here = []
    for _ in range(100):
        is_positive = rng.random(n_unl) < prior
        unl = rng.normal(size=n_unl) + apart * is_positive
        rows = rows_of(rng.normal(apart, 1, n_pos), unl)
        how = {"n_boot": 60, "random_state": rng}
        found["recall"].append(recall_at_k(*rows, k, **how).interval)
        found["mean"].append(average_precision(*rows, prior, **how).interval)
        found["auc"].append(pu_auc(*rows, prior=prior, **how).interval)
        low, high = precision_at_k(*rows, k, prior, **how).interval
        here.append(low <= is_positive[np.argsort(-unl)[:k]].mean() <= high)
        assert high > 0
    shares = {name: held_by(intervals, truth[name]) for name, intervals in found.items()} | {"here": np.mean(here)}
    assert min(shares.values()) >= 0.85, shares


@pytest.mark.filterwarnings("ignore:average_precision:fastpu.exceptions.EstimateWarning")
@pytest.mark.parametrize(
    ("apart", "prior", "n_pos", "n_unl"),
    [(4, 0.2, 50, 500), (1, 0.05, 20, 300), (0, 0.1, 50, 500), (3, 0.3, 50, 500), (4, 0.05, 20, 300)],
)
def test_intervals_of_average_precision_hold_the_truth_where_few_rows_bias_it(apart, prior, n_pos, n_unl):
    """The middle 90 % of the estimates from rows drawn again held it in 68, 83, 76, 81 and 88 % of these cases."""
    rng = np.random.default_rng(8)
    truth = truth_of(apart, prior, prior)["mean"]
    found = []
    for _ in range(100):
        pos, unl = rng.normal(apart, 1, n_pos), rng.normal(size=n_unl) + apart * (rng.random(n_unl) < prior)
        found.append(average_precision(*rows_of(pos, unl), prior=prior, n_boot=60, random_state=rng).interval)
    assert held_by(found, truth) >= 0.87


def test_the_curve_has_the_intervals_of_single_numbers_of_rows():
    rng = np.random.default_rng(4)
    rows = rows_of(rng.normal(2, 1, 40), np.concatenate([rng.normal(2, 1, 60), rng.normal(size=540)]))
    curve = ranking_curve(*rows, prior=0.1, n_points=20, n_boot=4000, random_state=0)
    for point in (5, 12, 16):
        k = int(curve.n_flagged[point])
        single = precision_at_k(*rows, k, 0.1, n_boot=4000, random_state=1)
        assert curve.precision_interval[point] == pytest.approx(single.interval, abs=1.01 / k + 0.02)
        assert curve.recall_interval[point] == pytest.approx(
            recall_at_k(*rows, k, n_boot=4000, random_state=1).interval, abs=0.02
        )


def test_intervals_are_the_same_for_the_same_seed():
    rows = drawn_rows()
    for metric in (
        lambda **how: precision_at_k(*rows, 300, 0.1, **how),
        lambda **how: average_precision(*rows, 0.1, **how),
        lambda **how: pu_auc(*rows, prior=0.1, **how),
        lambda **how: lift_at_k(*rows, 300, **how),
    ):
        found = [metric(n_boot=9, random_state=0).interval for _ in range(2)]
        assert found[0] == found[1] != metric(n_boot=9, random_state=1).interval
        assert metric(n_boot=9, random_state=0).value == metric()


# ---- A prior that is an estimate ----


def drawn_rows():
    rng = np.random.default_rng(0)
    return rows_of(rng.normal(1.5, 1, 200), rng.normal(0, 1, 2000) + 1.5 * (rng.random(2000) < 0.1))


WITH_PRIOR = {
    "precision_at_k": lambda rows, prior, **how: precision_at_k(*rows, 100, prior, **how),
    "average_precision": lambda rows, prior, **how: average_precision(*rows, prior, **how),
    "pu_auc": lambda rows, prior, **how: pu_auc(*rows, prior=prior, **how),
    "err_star": lambda rows, prior: err_star(*rows, prior=prior, threshold=1.0),
    "error_rate": lambda rows, prior: error_rate(*rows, prior=prior, threshold=1.0),
    "ranking_curve": lambda rows, prior: ranking_curve(*rows, prior=prior).precision.tolist(),
}


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_a_bound_gives_its_value_and_a_warning_with_what_it_leaves_open(name):
    rows, call = drawn_rows(), WITH_PRIOR[name]
    wide = PriorEstimate(0.1, None, np.zeros(0), (0.01, 0.2))
    with pytest.warns(EstimateWarning, match=rf"{name} used the estimated prior 0\.1, but .* 0\.01 to 0\.2:"):
        assert call(rows, wide) == call(rows, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call(rows, PriorEstimate(0.1, None, np.zeros(0), (0.099, 0.101))) == call(rows, 0.1)
        assert call(rows, PriorEstimate(0.1, None, np.zeros(0))) == call(rows, 0.1)


@pytest.mark.parametrize("name", ["precision_at_k", "average_precision", "pu_auc"])
def test_intervals_cover_what_is_allowed_as_well_as_the_rows(name):
    rows, how = drawn_rows(), {"n_boot": 200, "random_state": 0}
    wide = PriorEstimate(0.1, None, np.zeros(0), (0.01, 0.2))
    with pytest.warns(EstimateWarning):
        low, high = WITH_PRIOR[name](rows, wide, **how).interval
    at = [WITH_PRIOR[name](rows, prior, **how).interval for prior in (0.01, 0.1, 0.2)]
    assert low == pytest.approx(at[0][0], abs=0.01)
    assert high == pytest.approx(at[2][1], abs=0.01)
    assert high - low > at[1][1] - at[1][0]


def test_the_curve_covers_what_is_allowed_in_its_precision_alone():
    rows, how = drawn_rows(), {"n_points": 20, "n_boot": 200, "random_state": 0}
    with pytest.warns(EstimateWarning, match=r"precision of \d+ rows lies between"):
        wide = ranking_curve(*rows, prior=PriorEstimate(0.1, None, np.zeros(0), (0.01, 0.2)), **how)
    narrow, least, most = (ranking_curve(*rows, prior=prior, **how) for prior in (0.1, 0.01, 0.2))
    np.testing.assert_array_equal(wide.recall_interval, narrow.recall_interval)
    np.testing.assert_allclose(wide.precision_interval[5:, 0], least.precision_interval[5:, 0], atol=0.03)
    np.testing.assert_allclose(wide.precision_interval[5:, 1], most.precision_interval[5:, 1], atol=0.06)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranking_curve(*rows, n_boot=2)


def test_a_bound_of_nearly_0_leaves_open_that_none_is_positive():
    rows = drawn_rows()
    bound = PriorEstimate(0.05, None, np.zeros(0), (0.0, 0.1))
    for name in ("precision_at_k", "average_precision"):
        with pytest.warns(EstimateWarning, match=r" lies between 0 and 0\.\d+$"):
            low, high = WITH_PRIOR[name](rows, bound, n_boot=50, random_state=0).interval
        assert low == 0 < high


def test_a_figure_that_no_allowed_prior_changes_is_said_once():
    y, scores = np.repeat([1, 0], [2, 20]), np.r_[-1.0, -2.0, np.arange(20.0)]
    bound = PriorEstimate(0.05, None, np.zeros(0), (0.0, 0.3))
    with pytest.warns(EstimateWarning, match=r"from 0 to 0\.3: by all of them the precision is 0$"):
        assert precision_at_k(y, scores, 5, bound) == 0
    with pytest.warns(EstimateWarning, match=r"the precision of 1 row lies between 0 and 1$"):
        ranking_curve([1, 0, 0, 0, 0], [4, 3, 2, 1, 0], prior=PriorEstimate(0.2, None, np.zeros(0), (0.0, 1.0)))


def test_an_audit_is_no_bound():
    """Its samples have all that it leaves open, so what they give is not widened by their ends."""
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.1
    scores = rng.normal(size=2000) + 1.5 * truth
    chosen = plan(scores, 100, random_state=0)
    found = estimate(chosen, truth[chosen.rows])
    assert found.open_range is None
    rows = rows_of(rng.normal(1.5, 1, 2000), scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = precision_at_k(*rows, 100, found, n_boot=1000, random_state=0).interval
    widened = PriorEstimate(found.value, None, found.samples, found.allowed)
    with pytest.warns(EstimateWarning):
        ends = precision_at_k(*rows, 100, widened, n_boot=1000, random_state=0).interval
    assert ends[0] < low < high <= ends[1]
