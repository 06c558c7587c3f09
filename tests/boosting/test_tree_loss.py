"""The losses for trees: the core equals the oracle, however it is called; its levels are for the C++ tests."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from fastpu import _core
from fastpu.boosting._boosted_trees_options import LossName
from oracles import tree_loss as oracle

#: Sums of some thousands of numbers, of which each is exact to some 1e-16.
TOL = 1e-12
OPTIONS = {"gamma": 0.7, "prior": 0.3}

INFOS = {info.name: info for info in _core.tree_losses()}
LOSSES = tuple(INFOS)
each_loss = pytest.mark.parametrize("loss", LOSSES)


def test_the_losses_of_the_core_are_those_that_boosted_trees_offer():
    assert set(get_args(LossName)) == set(LOSSES)


def problem(loss: str, *, n: int = 2003, labels=None, shift: float = 0.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.choice(labels or ((1, 0, -1) if INFOS[loss].takes_negatives else (1, 0)), size=n).astype(np.int8)
    f = 2 * rng.normal(size=n) + shift * np.where(y == 1, 1, -1)
    return y, f, rng.integers(0, 4, size=n) * 0.7


def derive(loss: str, y, f, w, *, n_threads: int = 1):
    core = _core.TreeLoss(y, w, _core.TreeLossOptions(loss=loss, **OPTIONS), n_threads=n_threads)
    tops = core.tops(f, n_threads)
    sums = core.sums(f, tops, n_threads)
    return core.objective(tops, sums), *core.derive(f, tops, sums, n_threads)


@pytest.mark.parametrize(
    ("loss", "labels"),
    [*((loss, None) for loss in LOSSES), *(("pnu_auc", labels) for labels in ((1, 0), (1, -1), (0, -1)))],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_core_equals_oracle(loss, labels, weighted, shift):
    y, f, w = problem(loss, labels=labels, shift=shift)
    value, g, h = derive(loss, y, f, w if weighted else None)
    weights = w if weighted else np.ones(len(y))
    assert value == pytest.approx(oracle.objective(loss, y, f, weights, **OPTIONS), rel=TOL)
    expected_g, expected_h = oracle.derivatives(loss, y, f, weights, **OPTIONS)
    np.testing.assert_allclose(g, expected_g, rtol=TOL, atol=TOL)
    np.testing.assert_allclose(h, expected_h, rtol=TOL, atol=TOL)


@each_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_alone_have_the_bits_of_those_by_steps(loss, weighted):
    """Also where pnu_auc has two groups alone."""
    for labels in ((1, 0, -1), (1, 0), (1, -1), (0, -1)) if INFOS[loss].takes_negatives else ((1, 0),):
        y, f, w = problem(loss, n=20_003, labels=labels)
        weights = w if weighted else None
        core = _core.TreeLoss(y, weights, _core.TreeLossOptions(loss=loss, **OPTIONS), n_threads=1)
        for scores in (f, f + 3.0 * np.where(y == 1, 1, -1), f, 40 * f):
            expected = derive(loss, y, scores, weights)[1:]
            for n_threads in (1, 3):
                np.testing.assert_array_equal(core.derive_alone(scores, n_threads), expected)


@each_loss
def test_derivatives_that_are_held_are_not_written_over(loss):
    y, f, _ = problem(loss)
    core = _core.TreeLoss(y, None, _core.TreeLossOptions(loss=loss, **OPTIONS), n_threads=1)
    held = [core.derive_alone(scale * f, 1) for scale in (1.0, 0.5, 2.0, 0.25)]
    del held[1], core
    for scale, found in zip((1.0, 2.0, 0.25), held, strict=True):
        np.testing.assert_array_equal(found, derive(loss, y, scale * f, None)[1:])


@each_loss
def test_scores_in_float32_give_the_bits_of_the_same_numbers_in_float64(loss):
    y, f, w = problem(loss)
    single = f.astype(np.float32)
    value, *expected = derive(loss, y, single.astype(np.float64), w)
    found = derive(loss, y, single, w)
    assert found[0] == value
    np.testing.assert_array_equal(found[1:], expected)
