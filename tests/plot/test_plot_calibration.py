"""The figure of probabilities counts labelled and unlabelled rows by bins, and refuses what are none."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu.plot
from fastpu.exceptions import EstimateWarning
from fastpu.priors import PriorEstimate
from helpers import refused

pytest.importorskip("matplotlib", reason="an optional extra")


def points(figure):
    (container,) = figure.axes[0].containers
    return container[0].get_xdata(), container[0].get_ydata()


def test_points_are_means_and_counted_shares_of_the_bins():
    y = np.repeat([1, 0], [4, 8])
    proba = np.array([0.1, 0.9, 0.9, 0.9, *[0.1] * 6, 0.9, 0.9])
    figure = fastpu.plot.calibration(y, proba, prior=0.25, n_bins=2)
    said, counted = points(figure)
    np.testing.assert_allclose(said, [0.1, 0.9])
    np.testing.assert_allclose(counted, [0.25 * (1 / 4) / (6 / 8), 0.25 * (3 / 4) / (2 / 8)])
    # The prior is by default the mean over the unlabelled rows, and both columns say the same.
    both = np.column_stack([1 - proba, proba])
    np.testing.assert_allclose(points(fastpu.plot.calibration(y, both, n_bins=2))[1], counted * 0.3 / 0.25)


def test_right_probabilities_lie_on_the_diagonal_and_halved_ones_below():
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.ones(3000, bool), rng.random(30_000) < 0.1])
    scores = rng.normal(size=truth.size) + 2 * truth
    y = np.arange(truth.size) < 3000
    right = 1 / (1 + 9 * np.exp(2 - 2 * scores))
    said, counted = points(fastpu.plot.calibration(y, right))
    np.testing.assert_allclose(said, counted, atol=0.1)
    said, counted = points(fastpu.plot.calibration(y, right / 2, prior=0.1))
    assert (counted[1:] > 1.5 * said[1:]).all()  # few labelled rows are in the first bin


def test_rows_without_a_probability_are_left_out_and_bins_without_unlabelled_rows_joined():
    y = np.repeat([1, 0], [5, 6])
    proba = np.array([np.nan, 0.5, 0.99, 0.99, 0.99, *np.linspace(0.1, 0.6, 5), np.nan])
    said, counted = points(fastpu.plot.calibration(y, proba, prior=0.3, n_bins=4))
    assert np.isfinite(said).all()
    assert np.isfinite(counted).all()
    # All four labelled rows count somewhere: the shares times the numbers of unlabelled rows add up.
    n_unl = np.bincount(np.searchsorted([*(0.5 * (said[1:] + said[:-1]))], np.linspace(0.1, 0.6, 5)))
    assert counted @ n_unl == pytest.approx(0.3 * 5)


def test_what_is_no_probability_is_refused():
    y = [1, 0, 0]
    refused(ValueError, "proba must be in [0, 1], got 1.5 for row 1", fastpu.plot.calibration, y, [0.5, 1.5, 0.1])
    refused(
        ValueError, "proba must have the shape (n,) or (n, 2), got (3, 3)", fastpu.plot.calibration, y, np.ones((3, 3))
    )
    refused(ValueError, "proba must be a number for at least one positive row (+1), got NaN for all",
            fastpu.plot.calibration, y, [np.nan, 0.5, 0.1])  # fmt: skip
    refused(ValueError, "n_bins must be an integer >= 1, got 0", fastpu.plot.calibration, y, [0.9, 0.5, 0.1], n_bins=0)


def test_an_estimate_that_leaves_the_share_open_is_told():
    bound = PriorEstimate(0.1, None, np.zeros(0), (0.0, 0.4))
    with pytest.warns(EstimateWarning, match=r"prior is used as if it were known to be 0\.1, .* from 0 to 0\.4"):
        fastpu.plot.calibration([1, 0, 0], [0.4, 0.3, 0.1], prior=bound)


def test_bars_count_groups():
    """Copies of rows in groups have the bars of the single rows, and by rows shorter ones."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [30, 300])
    proba = np.clip(0.3 + 0.3 * (y == 1) + 0.2 * rng.normal(size=330), 0, 1)
    proba[0] = np.nan

    def bars(y, proba, groups=None):
        (container,) = fastpu.plot.calibration(y, proba, groups=groups, n_bins=4).axes[0].containers
        return np.ptp(np.array(container[2][0].get_segments())[:, :, 1], axis=1)

    twice = np.repeat(y, 2), np.repeat(proba, 2)
    single = bars(y, proba)
    np.testing.assert_allclose(bars(*twice, [f"row {i // 2}" for i in range(660)]), single)
    np.testing.assert_array_equal(bars(y, proba, np.arange(330)), single)
    assert (bars(*twice) < 0.85 * single).all()
    refused(ValueError, "groups must have one entry per row", fastpu.plot.calibration, y, proba, groups=[1])
