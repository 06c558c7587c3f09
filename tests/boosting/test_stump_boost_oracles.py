"""The two boosting oracles against each other: what the fast code is judged by must itself be right."""

from __future__ import annotations

import numpy as np
import pytest

from boosting_cases import GROUPS, SCORE_TOL, assert_same_run, draw_options, make_problem
from oracles import stump_boost as decoupled
from oracles import stump_boost_pairwise as pairwise

#: Sums over at most 1600 pairs against sums over 60 rows, 25 rounds.
ORACLE_TOL = 1e-13


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("seed", range(6))
def test_pairwise_and_decoupled_agree(groups, seed):
    rng = np.random.default_rng([101, seed, sorted(GROUPS).index(groups)])
    problem = make_problem(
        rng, n=int(rng.integers(5, 50)), d=5, groups=groups, weighted=(None, "whole", "real")[seed % 3]
    )
    options = {"n_rounds": 25, "max_bins": (None, 3)[seed % 2], **draw_options(rng), "sample_weight": problem.weights}
    slow = pairwise.fit_pairwise(problem.X, problem.y, **options)
    fast = decoupled.fit_decoupled(problem.X, problem.y, **options)
    assert_same_run(fast, slow)
    assert fast.status == slow.status
    np.testing.assert_allclose(fast.deltas, slow.deltas, rtol=0, atol=ORACLE_TOL)
    decoupled.verify_model(slow, problem.X, problem.y, **options)
    judged = {key: options[key] for key in ("gamma", "rho", "sample_weight")}
    recomputed = pairwise.log_objective_from_scores(slow.scores, problem.y, sum_alpha=sum(slow.alphas), **judged)
    np.testing.assert_allclose([*slow.objective[-1:], 0.0][0], recomputed, rtol=0, atol=SCORE_TOL)


def test_the_certificate_refuses_a_model_that_is_not_greedy():
    rng = np.random.default_rng(6)
    problem = make_problem(rng, n=60, d=4, kinds=("normal",))
    options = {"n_rounds": 10, "gamma": 0.4, "rho": 0.01}
    model = decoupled.fit_decoupled(problem.X, problem.y, **options)
    decoupled.verify_model(model, problem.X, problem.y, **options)
    for name, change in (
        ("polarity", lambda v: [-v[0], *v[1:]]),
        ("thresholds", lambda v: [v[0] + 0.5, *v[1:]]),
        ("alphas", lambda v: [v[0] * (1 + 1e-6), *v[1:]]),
        ("objective", lambda v: [*v[:-1], v[-1] + 1e-6]),
    ):
        broken = decoupled.Boosted(**{**vars(model), name: change(getattr(model, name))})
        with pytest.raises(AssertionError, match="round"):
            decoupled.verify_model(broken, problem.X, problem.y, **options)
