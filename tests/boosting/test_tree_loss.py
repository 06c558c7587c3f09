"""The losses for trees: the core equals the oracle, and the oracle's derivatives are those of its objective."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import _core
from fastpu.boosting._boosted_trees import LOSSES
from oracles import tree_loss as oracle

#: Sums of some thousands of numbers, of which each is exact to some 1e-16.
TOL = 1e-12
OPTIONS = {"gamma": 0.7, "prior": 0.3}

each_loss = pytest.mark.parametrize("loss", LOSSES)
each_level = pytest.mark.usefixtures("level")


@pytest.fixture(params=_core.isa_levels())
def level(request, monkeypatch):
    """Forces each instruction-set level in turn."""
    monkeypatch.setenv("FASTPU_ISA", request.param)


def problem(loss: str, *, n: int = 2003, labels=None, shift: float = 0.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.choice(labels or ((1, 0, -1) if loss == "pnu_auc" else (1, 0)), size=n).astype(np.int8)
    f = 2 * rng.normal(size=n) + shift * np.where(y == 1, 1, -1)
    return y, f, rng.integers(0, 4, size=n) * 0.7


def derive(loss: str, y, f, w, *, n_threads: int = 1):
    core = _core.TreeLoss(y, w, loss=loss, **OPTIONS, n_threads=n_threads)
    tops = core.tops(f, n_threads)
    sums = core.sums(f, tops, n_threads)
    return core.objective(tops, sums), *core.derive(f, tops, sums, n_threads)


@each_loss
@each_level
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [0.0, 3.0])  # 3: nnpu steps by -r
def test_core_equals_oracle(loss, weighted, shift):
    y, f, w = problem(loss, shift=shift)
    value, g, h = derive(loss, y, f, w if weighted else None)
    weights = w if weighted else np.ones(len(y))
    assert value == pytest.approx(oracle.objective(loss, y, f, weights, **OPTIONS), rel=TOL)
    expected_g, expected_h = oracle.derivatives(loss, y, f, weights, **OPTIONS)
    np.testing.assert_allclose(g, expected_g, rtol=TOL, atol=TOL)
    np.testing.assert_allclose(h, expected_h, rtol=TOL, atol=TOL)
    assert (oracle.negative_risk(y, f, weights, 0.3) < 0) == (shift > 0)


@pytest.mark.parametrize("labels", [(1, 0), (1, -1), (0, -1)])
def test_pnu_auc_of_two_groups_equals_oracle(labels):
    y, f, w = problem("pnu_auc", labels=labels)
    value, g, h = derive("pnu_auc", y, f, w)
    assert value == pytest.approx(oracle.objective("pnu_auc", y, f, w, **OPTIONS), rel=TOL)
    np.testing.assert_allclose((g, h), oracle.derivatives("pnu_auc", y, f, w, **OPTIONS), rtol=TOL, atol=TOL)


@each_loss
def test_derivatives_of_the_oracle_are_those_of_differences(loss):
    y, f, w = problem(loss, n=40)
    g, h = oracle.derivatives(loss, y, f, w, **OPTIONS)
    step = 1e-4
    for i in range(len(y)):
        move = step * (np.arange(len(y)) == i)
        below, middle, above = (oracle.objective(loss, y, f + k * move, w, **OPTIONS) for k in (-1, 0, 1))
        assert g[i] == pytest.approx(w.sum() * (above - below) / (2 * step), abs=1e-5)
        if loss == "pnu_auc":  # h is the second derivative of R, over R
            below, middle, above = np.exp([below, middle, above]) / np.exp(middle)
        assert h[i] == pytest.approx(w.sum() * (above - 2 * middle + below) / step**2, abs=1e-4)


@each_loss
def test_g_of_all_rows_sums_to_what_a_common_shift_changes(loss):
    y, f, w = problem(loss)
    _, g, _ = derive(loss, y, f, w)
    step = 1e-4
    above, below = (oracle.objective(loss, y, f + k * step, w, **OPTIONS) for k in (1, -1))
    assert g.sum() == pytest.approx(w.sum() * (above - below) / (2 * step), abs=1e-3)


@each_loss
def test_the_bits_do_not_depend_on_threads_and_levels(loss, monkeypatch):
    y, f, w = problem(loss, n=50_001)
    value, g, h = derive(loss, y, f, w)
    for level in _core.isa_levels():
        monkeypatch.setenv("FASTPU_ISA", level)
        for n_threads in (1, 2, 7):
            again = derive(loss, y, f, w, n_threads=n_threads)
            assert again[0] == value
            np.testing.assert_array_equal(again[1], g)
            np.testing.assert_array_equal(again[2], h)


@each_loss
@each_level
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_alone_have_the_bits_of_those_by_steps(loss, weighted):
    """Also where nnpu's negative risk changes its sign from call to call, and where pnu_auc has two groups alone."""
    for labels in ((1, 0, -1), (1, 0), (1, -1), (0, -1)) if loss == "pnu_auc" else ((1, 0),):
        y, f, w = problem(loss, n=20_003, labels=labels)
        weights = w if weighted else None
        core = _core.TreeLoss(y, weights, loss=loss, **OPTIONS, n_threads=1)
        for scores in (f, f + 3.0 * np.where(y == 1, 1, -1), f, 40 * f):
            expected = derive(loss, y, scores, weights)[1:]
            for n_threads in (1, 3):
                np.testing.assert_array_equal(core.derive_alone(scores, n_threads), expected)


@each_loss
def test_derivatives_that_are_held_are_not_written_over(loss):
    y, f, _ = problem(loss)
    core = _core.TreeLoss(y, None, loss=loss, **OPTIONS, n_threads=1)
    held = [core.derive_alone(scale * f, 1) for scale in (1.0, 0.5, 2.0, 0.25)]
    del held[1], core
    for scale, found in zip((1.0, 2.0, 0.25), held, strict=True):
        np.testing.assert_array_equal(found, derive(loss, y, scale * f, None)[1:])


@each_loss
@each_level
def test_scores_in_float32_give_the_bits_of_the_same_numbers_in_float64(loss):
    y, f, w = problem(loss)
    single = f.astype(np.float32)
    value, *expected = derive(loss, y, single.astype(np.float64), w)
    found = derive(loss, y, single, w)
    assert found[0] == value
    np.testing.assert_array_equal(found[1:], expected)


@each_loss
def test_sums_of_parts_add_up_to_the_bits_of_the_whole(loss):
    y, f, w = problem(loss, n=5000)
    parts = [
        (_core.TreeLoss(y[rows].copy(), w[rows].copy(), loss=loss, **OPTIONS, n_threads=1), f[rows].copy())
        for rows in (slice(0, 13), slice(13, 4000), slice(4000, 5000))
    ]
    tops = np.max([core.tops(scores, 1) for core, scores in parts], axis=0)
    sums = np.sum([core.sums(scores, tops, 1) for core, scores in parts], axis=0)
    value, g, h = derive(loss, y, f, w)
    assert {core.objective(tops, sums) for core, _ in parts} == {value}
    found = [core.derive(scores, tops, sums, 1) for core, scores in parts]
    np.testing.assert_array_equal(np.concatenate([part[0] for part in found]), g)
    np.testing.assert_array_equal(np.concatenate([part[1] for part in found]), h)
