"""Probabilities from scores, with positive and unlabelled rows: the minimum is that of slow code, and the truth."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import fastpu
from fastpu.exceptions import EstimateWarning
from fastpu.model._calibration import METHODS, RIDGE, calibrate, probabilities
from fastpu.model._group_scores import GroupScores
from helpers import outcome, refused
from oracles import calibration as oracle

ROUNDING = 1e-10
LABELS = st.lists(st.integers(0, 1), min_size=2, max_size=12).filter(lambda labels: 0 < sum(labels) < len(labels))


def scored(scores, labels, weights=None):
    return GroupScores(np.asarray(scores, dtype=float), np.asarray(labels), weights)


def normals(rng, n_pos, n_unl, prior, distance=1.5):
    """Scores N(distance, 1) given Y = 1 and N(0, 1) given Y = -1, the truth about U, and labels."""
    truth = np.concatenate([np.ones(n_pos, bool), rng.random(n_unl) < prior])
    scores = rng.standard_normal(truth.size) + distance * truth
    return scores, np.repeat([1, 0], [n_pos, n_unl]), truth[n_pos:]


def posterior(scores, prior, distance=1.5):
    return 1 / (1 + (1 - prior) / prior * np.exp(distance**2 / 2 - distance * scores))


def at(method, found, scores):
    return probabilities(method, *found[:2], np.asarray(scores, dtype=float))


# -------------------------------------------------------------------------------------------- the minimum


@pytest.mark.parametrize("prior", [0.02, 0.4, 0.7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_sigmoid_is_where_the_slopes_of_the_risk_are_0(rng, prior, weighted, scale):
    scores, labels, _ = normals(rng, 300, 600, prior)
    scores = scale * (scores + 3)
    part = scored(scores, labels, rng.integers(0, 4, 900).astype(float) if weighted else None)
    found = calibrate("sigmoid", part, prior)
    (centre,), (a, b) = found[:2]
    spread = np.sqrt(0.5 * part.share_pos @ (part.pos - centre) ** 2 + 0.5 * part.share_unl @ (part.unl - centre) ** 2)
    unit = [(side - centre) / spread for side in (part.pos, part.unl)]
    assert 0.5 * part.share_pos @ unit[0] + 0.5 * part.share_unl @ unit[1] == pytest.approx(0, abs=ROUNDING)
    # Of mean_U log(1 + e^z) - prior mean_P z + ridge a^2 / 2 with z = a s + b, which is convex.
    slope = part.share_unl * expit(a * spread * unit[1] + b)
    assert slope.sum() == pytest.approx(prior, rel=0, abs=ROUNDING)
    by_a = slope @ unit[1] - prior * part.share_pos @ unit[0] + RIDGE * a * spread
    assert by_a == pytest.approx(0, abs=ROUNDING)


@given(LABELS, st.data())
def test_isotonic_is_the_minimum_of_the_min_max_formula(labels, data):
    scores = np.array(data.draw(st.lists(st.integers(0, 6), min_size=len(labels), max_size=len(labels))), dtype=float)
    weights = np.array(data.draw(st.lists(st.sampled_from([1, 2, 5]), min_size=len(labels), max_size=len(labels))))
    part = scored(scores, labels, weights.astype(float))
    levels, expected = oracle.isotonic(part.pos, part.unl, part.share_pos, part.share_unl, 0.4)
    found = calibrate("isotonic", part, 0.4)
    np.testing.assert_allclose(at("isotonic", found, levels), expected, atol=ROUNDING)


SCORES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e307, max_value=1e307),
    st.sampled_from([0.0, 1.0, 1 + 2**-52, -1e300, 5e-324]),
)


@given(LABELS, st.data(), st.sampled_from([1e-7, 0.1, 0.5, 0.9, 1 - 1e-7]), st.sampled_from(METHODS))
def test_probabilities_are_in_the_unit_interval_and_rise_with_any_scores(labels, data, prior, method):
    scores = np.array(data.draw(st.lists(SCORES, min_size=len(labels), max_size=len(labels))))
    part = scored(scores, labels)
    found = outcome(calibrate, method, part, prior)
    if isinstance(found, ValueError):
        assert "scores must differ by more" in str(found)
        assert np.ptp(scores) < 1e-290
        return
    ladder = np.sort(np.concatenate([scores, [-np.inf, np.inf, -1.7e308, 1.7e308], scores * 0.5]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = at(method, found, ladder)
    assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(values) >= 0).all()
    mean = part.share_unl @ at(method, found, part.unl)
    if method != "isotonic":
        assert mean == pytest.approx(prior, abs=ROUNDING)
    else:
        assert mean <= prior + ROUNDING


@pytest.mark.parametrize("method", METHODS)
def test_weights_equal_repetition(rng, method):
    scores, labels, _ = normals(rng, 40, 150, 0.4)
    weights = rng.integers(0, 4, scores.size)
    repeated = scored(np.repeat(scores, weights), np.repeat(labels, weights))
    repeated.n_labelled = scored(scores, labels, weights.astype(float)).n_labelled  # rows that repeat say less
    expected = calibrate(method, repeated, 0.4)
    for factor in (1.0, 1e-5, 1e5):
        found = calibrate(method, scored(scores, labels, factor * weights), 0.4)
        np.testing.assert_allclose(at(method, found, scores), at(method, expected, scores), atol=1e-9)


@pytest.mark.parametrize("prior", [0.02, 0.4, 0.7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_beta_is_the_minimum_of_slow_code(rng, prior, weighted, scale):
    scores, labels, _ = normals(rng, 60, 300, prior)
    part = scored(scale * (scores + 3), labels, rng.integers(0, 4, 360).astype(float) if weighted else None)
    found = calibrate("beta", part, prior)
    p = oracle.beta(part.pos, part.unl, part.share_pos, part.share_unl, prior, part.n_labelled)
    # There the place of a score is its own, and here it lies on lines between knots, 0.1 of log odds apart.
    np.testing.assert_allclose(at("beta", found, part.unl), p, atol=0.03)
    assert np.abs(at("beta", found, part.unl) - p).mean() < 0.005
    assert part.share_unl @ at("beta", found, part.unl) == pytest.approx(prior, rel=0, abs=ROUNDING)


# ------------------------------------------------------------------------------------------------ the truth


@pytest.mark.parametrize("method", ["beta", "isotonic"])
def test_the_probabilities_of_the_first_rows_are_the_truth_where_scores_are_no_log_odds(method):
    """As scores of most models of a rare class: they rise ever more slowly, and a sigmoid is half of the truth."""
    rng = np.random.default_rng(0)
    scores, labels, truth = normals(rng, 400, 20_000, 0.02, distance=2.5)
    scores = np.tanh(scores / 3)
    found = calibrate(method, scored(scores, labels), 0.02)
    of_unl = scores[labels == 0]
    first = np.argsort(-of_unl)[:100]
    assert at(method, found, of_unl)[first].mean() == pytest.approx(truth[first].mean(), rel=0.15)


def test_few_labelled_rows_give_gentle_slopes(rng):
    """Five labelled rows that score highest by chance make a step of a sigmoid."""
    scores, labels = rng.normal(size=1005), np.repeat([1, 0], [5, 1000])
    scores[:5] += 3
    in_doubt = {
        method: np.mean(np.abs(at(method, calibrate(method, scored(scores, labels), 0.2), scores[5:]) - 0.5) < 0.45)
        for method in ("sigmoid", "beta")
    }
    assert in_doubt["beta"] > 3 * in_doubt["sigmoid"]


# --------------------------------------------------------------------------------------------------- corners


def test_plain_cases():
    # One row of each: the steepest sigmoid there is has the prior at the unlabelled row.
    one = calibrate("sigmoid", scored([1.0, 0.0], [1, 0]), 0.3)
    assert at("sigmoid", one, [0.0])[0] == pytest.approx(0.3, abs=ROUNDING)
    assert at("sigmoid", one, [1.0])[0] > 1 - ROUNDING
    steps = calibrate("isotonic", scored([1.0, 0.0], [1, 0]), 0.3)
    np.testing.assert_array_equal(at("isotonic", steps, [-1, 0, 0.25, 1, 2]), [0, 0, 0.25, 1, 1])
    # Blocks {0, 1}, {2}, {3}: flat within, straight between, and the last one would be 0.5 * 2 / 1.
    labels = [0, 0, 0, 1, 0, 0, 1, 1]
    found = calibrate("isotonic", scored([0, 0, 1, 2, 2, 3, 3, 3], labels), 0.5)
    shares = 0.5 * np.array([0, 1 / 3, 2 / 3]) / np.array([3 / 5, 1 / 5, 1 / 5])
    heights = np.minimum(1, shares)
    np.testing.assert_allclose(at("isotonic", found, [0, 1, 1.5, 2, 2.5, 3]), [
        0, 0, heights[1] / 2, heights[1], heights[1:].mean(), heights[2]
    ])  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_equal_scores_have_the_prior(method):
    for value in (0.0, -3.0, 1e300, 5e-324):
        found = calibrate(method, scored(np.full(7, value), [1, 1, 0, 0, 0, 0, 0]), 0.3)
        assert found[2] == ""
        np.testing.assert_allclose(at(method, found, [value, -np.inf, np.inf]), 0.3)


# ------------------------------------------------------------------------------------------------ the method


def ranker():
    """A model whose score is its one feature."""
    return fastpu.baselines.fit_ls_auc([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])


def test_scores_the_wrong_way_round_get_the_prior_and_a_warning(rng):
    scores, labels, _ = normals(rng, 100, 300, 0.3)
    with pytest.warns(EstimateWarning, match="the labelled positive rows have lower scores than the unlabelled ones"):
        model = ranker().with_probabilities(prior=0.3, X=-scores[:, None], y=labels)
    np.testing.assert_allclose(model.predict_proba(scores[:, None]), [[0.7, 0.3]] * 400)


def test_labelled_rows_below_a_step_get_a_warning(rng):
    scores, labels, _ = normals(rng, 200, 500, 0.3, distance=0.5)
    scores[labels == 1] += 1.0  # as those of rows that the model was fitted to
    with pytest.warns(
        EstimateWarning, match=r"of the labelled positives has probabilities below 0\.01, which is too many"
    ):
        ranker().with_probabilities(prior=0.3, X=scores[:, None], y=labels)


def test_isotonic_that_misses_the_prior_gets_a_warning(rng):
    scores, labels, _ = normals(rng, 100, 300, 0.3, distance=9.0)
    with pytest.warns(
        EstimateWarning, match=r"over the unlabelled rows is 0\.\d+, not the prior 0\.7: too many labelled"
    ):
        ranker().with_probabilities(prior=0.7, X=scores[:, None], y=labels, method="isotonic")


def test_labelled_negatives_count_for_the_overall_rate_alone(rng):
    scores, labels, _ = normals(rng, 60, 340, 0.4)
    X, y = np.append(scores, np.zeros(100))[:, None], np.append(labels, np.full(100, -1))
    model = ranker()
    case_control = model.with_probabilities(prior=0.4, X=X, y=y)
    single = model.with_probabilities(prior=(60 + 0.4 * 340) / 500, X=X, y=y, scenario="single_set")
    alone = model.with_probabilities(prior=0.4, X=scores[:, None], y=labels)
    for other in (case_control, single):
        np.testing.assert_allclose(other.predict_proba(X), alone.predict_proba(X), rtol=1e-9)


def test_threshold_and_probabilities_leave_each_other_alone(rng):
    scores, labels, _ = normals(rng, 60, 340, 0.4)
    X = scores[:, None]
    model = ranker()
    first = model.with_probabilities(prior=0.4, X=X, y=labels).with_threshold(prior=0.4, X_unl=X[labels == 0])
    second = model.with_threshold(prior=0.4, X_unl=X[labels == 0]).with_probabilities(prior=0.4, X=X, y=labels)
    for found in (first, second):
        assert found.calibration == "beta"
        assert found.calibration_prior == 0.4
        assert found.coef is model.coef
        np.testing.assert_array_equal(found.predict_proba(X), first.predict_proba(X))
        np.testing.assert_array_equal(found.predict(X), first.predict(X))
    assert model.calibration is model.calibration_values is None


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        (
            {"y": [0, 0, 0, 0]},
            ValueError,
            "y must have at least one positive row (+1) for with_probabilities, got none",
        ),
        (
            {"y": [1, -1, -1, -1]},
            ValueError,
            "y must have at least one unlabelled row (0) for with_probabilities, got none",
        ),
        (
            {"sample_weight": [0, 1, 1, 1]},
            ValueError,
            "y must have at least one positive row (+1) of positive weight for with_probabilities, got none",
        ),
        (
            {"X": [[1.7e308], [0], [1], [2]]},
            ValueError,
            "scores must be finite for with_probabilities, got inf for row 0",
        ),
        (
            {"scenario": "single_set", "prior": 0.1},
            ValueError,
            "prior must be at least 0.25 with scenario='single_set'",
        ),
        (
            {"scenario": "single_set", "prior": 0.25},
            ValueError,
            "prior must leave positive and negative rows among the unlabelled ones, got 0.25 with scenario=",
        ),
    ],
)
def test_bad_arguments(changes, error, text):
    model = fastpu.baselines.fit_ls_auc([[0.0], [1e-3], [2e-3], [3e-3]], [-1, -1, 1, 1])
    given = {"prior": 0.5, "X": [[2.0], [0.0], [1.0], [2.0]], "y": [1, 0, 0, 0], **changes}
    refused(error, text, model.with_probabilities, **given)


def test_a_model_without_probabilities_says_how_to_get_them():
    text = "the model has scores but no probabilities: call with_probabilities(prior=..., X=..., y=...)"
    refused(ValueError, text, ranker().predict_proba, [[1.0]])
    forest = fastpu.fit_forest(np.arange(40.0)[:, None], np.arange(40) >= 30, n_trees=20, random_state=0)
    text = "call with_probabilities(prior=..., y=...) with the training labels, for its out-of-bag scores"
    refused(ValueError, text, forest.predict_proba, [[1.0]])


def test_scores_that_hardly_differ(rng):
    scores, labels, _ = normals(rng, 100, 300, 0.3)
    # A slope in units of such scores is beyond float64.
    text = "scores must differ by more for with_probabilities, got a standard deviation of"
    refused(ValueError, text, calibrate, "sigmoid", scored(1e-310 * scores, labels), 0.3)
    isotonic = calibrate("isotonic", scored(1e-310 * scores, labels), 0.3)
    expected = at("isotonic", calibrate("isotonic", scored(scores, labels), 0.3), scores)
    np.testing.assert_allclose(at("isotonic", isotonic, 1e-310 * scores), expected, atol=1e-9)
    # Neighbours in float64: there is nothing between them.
    near = calibrate("sigmoid", scored(np.where(labels, np.nextafter(1, 2), 1.0), labels), 0.3)
    assert at("sigmoid", near, [1.0])[0] == pytest.approx(0.3, abs=1e-9)
    assert at("sigmoid", near, [np.nextafter(1, 2)])[0] > 0.5


def test_scores_that_differ_by_rounding_have_the_same_probability():
    """As out-of-bag scores do: means of equal numbers over 1, 2, ... bags."""
    means = np.array([np.full(n, 0.1).cumsum()[-1] / n for n in range(1, 40)])
    order = np.argsort(means, kind="stable")
    labels = np.concatenate([(order.argsort() >= 30).astype(int), np.zeros(60, int)])  # the largest are positive
    part = scored(np.concatenate([means, np.zeros(60)]), labels)
    found = at("isotonic", calibrate("isotonic", part, 0.3), means)
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
