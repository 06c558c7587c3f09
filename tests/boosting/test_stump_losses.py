"""Every loss in the core's list of losses of stumps, against its terms."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import _core, bin_features
from oracles.stump_loss import TERMS, risk_and_gains

LOSSES = {info.name: info for info in _core.stump_losses()}
#: Sums of 200 rows in fixed point and in another order.
ROUNDING = 1e-9


def _boosted(loss, y, weights, X, *, gamma=0.3, rho=0.02, n_rounds=12):
    options = _core.StumpBoostOptions(loss=loss, gamma=gamma, rho=rho, n_rounds=n_rounds)
    return _core.stump_boost(
        bin_features(X, max_bins=20)._native, y, weights, None, options, eval_set=None, callback=None, n_threads=2
    )


def test_every_loss_has_its_terms_in_the_oracle():
    assert LOSSES.keys() == TERMS.keys(), "write the terms of a new loss in tests/oracles/stump_loss.py"


@pytest.mark.parametrize("groups", [(1, 0, -1), (1, 0), (0, -1), (1, -1)], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_each_stump_has_the_largest_gain_and_lowers_the_risk_as_its_terms_say(loss, groups):
    rng = np.random.default_rng(len(groups))
    n, info = 200, LOSSES[loss]
    y = np.array(groups, dtype=np.int8)[rng.integers(0, len(groups), n)]
    X, weights = rng.normal(size=(n, 3)) + 0.8 * y[:, None], rng.uniform(0.5, 2.0, n)
    result = _boosted(loss, y, weights, X)
    assert result.low == info.low
    assert len(result.alphas) > 3
    cuts = bin_features(X, max_bins=20).cuts
    f, total_step = np.zeros(n), 0.0
    for round_, feature in enumerate(result.features):
        _, g = risk_and_gains(loss, 0.3, y, weights, f)
        gains = [abs((1 - info.low) * g[X[:, j] > cut].sum() + info.low * g.sum()) for j in range(3) for cut in cuts[j]]
        assert result.deltas[round_] == pytest.approx(max(gains), abs=ROUNDING)
        fires = (X[:, feature] > result.thresholds[round_]) == (result.polarity[round_] > 0)
        f += result.alphas[round_] * np.where(fires, 1.0, info.low)
        total_step += result.alphas[round_]
        log_risk, _ = risk_and_gains(loss, 0.3, y, weights, f)
        penalty = 0.02 * total_step if info.only_ranks else 0.0
        assert result.objective[round_] == pytest.approx(log_risk + penalty, abs=ROUNDING)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_constant_changes_the_risk_unless_the_loss_only_ranks(loss):
    y, weights, f = np.array([1, 1, 0, 0, -1]), np.ones(5), np.linspace(-1, 1, 5)
    moved = risk_and_gains(loss, 0.3, y, weights, f + 0.7)[0] - risk_and_gains(loss, 0.3, y, weights, f)[0]
    assert (abs(moved) < ROUNDING) == LOSSES[loss].only_ranks


def test_an_unknown_loss_is_refused():
    with pytest.raises(ValueError, match="there is no loss 'hinge'"):
        _boosted("hinge", np.array([1, 0] * 10, dtype=np.int8), None, np.arange(20.0)[:, None])
