"""The nearest point of a convex hull: against non-negative least squares, and what the mathematics asks for."""

from __future__ import annotations

import numpy as np
import pytest

from fastpu import _core
from fastpu.judge import _prior_kernel
from fastpu.judge._prior_kernel import kernel_factor, mixture_share
from helpers import refused
from oracles import hull_distance as oracle

#: The heavy equation of the oracle is held to a millionth of the size of the rows.
ORACLE_TOL = 3e-6
#: What the kernel leaves of slack, and rounding, for rows of size 1.
SLACK_TOL = 1e-9
STEPS = 10**6


def shares(n, n_mixture):
    """The first rows are the mixture, the others the component, each with equal shares."""
    is_mixture = np.arange(n) < n_mixture
    return is_mixture / n_mixture, ~is_mixture / (n - n_mixture)


def hull_of(Z, *, n_threads=1):
    return _core.HullDistance(np.ascontiguousarray(Z, dtype=float), n_threads=n_threads)


def nearest(Z, p):
    return hull_of(Z).nearest(np.asarray(p, dtype=float), max_steps=STEPS)


def kernel_rows(n, width=2.0, d=2, seed=0):
    """The rows of a Gaussian kernel's factor: nearly dependent, all of them corners of their hull."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    square = ((X[:, None] - X) ** 2).sum(axis=2)
    return kernel_factor(np.exp(-square / (2 * width**2)))


def line(Z, factors=(0.05, 0.3, 0.96, 3.0, 49.0)):
    """Points from the middle of the rows on, as km2 takes them."""
    half = len(Z) // 2
    first, second = Z[: half or 1].mean(axis=0), Z[half:].mean(axis=0)
    return [first + factor * (first - second) for factor in factors]


def grid(*, n):
    return np.stack(np.meshgrid(*[np.arange(n)] * 3), axis=-1).reshape(-1, 3).astype(float)


rng = np.random.default_rng(5)
ROWS = {
    "normal": rng.normal(size=(200, 6)),
    "wide": rng.normal(size=(30, 80)),
    "kernel": kernel_rows(150),
    "narrow kernel": kernel_rows(80, 0.3),
    "repeated": np.repeat(rng.normal(size=(15, 4)), 3, axis=0),
    "on a line": np.outer(rng.normal(size=40), rng.normal(size=5)) + 3,
    "on a plane": rng.normal(size=(60, 2)) @ rng.normal(size=(2, 7)),
    "grid": grid(n=4),
    "far from 0": rng.normal(size=(50, 3)) + 100,
    "equal": np.full((9, 3), 0.1),
    "one": rng.normal(size=(1, 4)),
    "two": rng.normal(size=(2, 1)),
}
each_kind = pytest.mark.parametrize("kind", ROWS)


def check(Z, p, found):
    """Weights of the promised kind, and no row with slack."""
    size = 1 + np.abs(Z).max()
    assert found["status"] == "slack"
    assert (found["weights"] > 0).all()
    assert found["weights"].sum() == pytest.approx(1, abs=1e-12)
    assert len(set(found["rows"])) == len(found["rows"]) <= Z.shape[1] + 1
    x = found["weights"] @ Z[found["rows"]]
    np.testing.assert_allclose(p - x, found["apart"], rtol=0, atol=1e-13 * (size + np.abs(p).max()))
    apart = np.linalg.norm(found["apart"])
    if apart > 1e-9 * size:  # else rounding is all there is of its direction
        left = oracle.slack(Z, x, found["apart"])
        assert left <= SLACK_TOL * size + 1e-13 * size**2 / apart
        assert found["slack"] == pytest.approx(left, abs=1e-12 * size + 1e-13 * size**2 / apart)


@each_kind
def test_the_nearest_point_equals_that_of_non_negative_least_squares(kind):
    Z = ROWS[kind]
    hull = hull_of(Z)
    points = [*line(Z), Z.mean(axis=0), Z[0], 2 * Z[-1] - Z[0], *np.random.default_rng(1).normal(size=(5, Z.shape[1]))]
    for p in points:
        found = hull.nearest(p, max_steps=STEPS)
        check(Z, p, found)
        slow = np.linalg.norm(p - oracle.nearest(Z, p))
        size = np.abs(Z).max() + np.linalg.norm(p)
        assert np.linalg.norm(found["apart"]) == pytest.approx(slow, abs=ORACLE_TOL * size)


@each_kind
def test_what_is_left_from_other_points_does_not_matter(kind):
    Z = ROWS[kind]
    hull = hull_of(Z)
    for p in [*line(Z), Z.mean(axis=0), *reversed(line(Z))]:
        warm, cold = hull.nearest(p, max_steps=STEPS), nearest(Z, p)
        np.testing.assert_allclose(warm["apart"], cold["apart"], rtol=0, atol=1e-6 * (1 + np.abs(p).max()))
        lengths = [np.linalg.norm(found["apart"]) for found in (warm, cold)]
        assert lengths[0] == pytest.approx(lengths[1], abs=2 * SLACK_TOL * (1 + np.abs(Z).max()))


@pytest.mark.parametrize("seed", range(3))
def test_the_share_of_km2_is_that_by_non_negative_least_squares(seed, monkeypatch):
    class Slow:
        def __init__(self, rows, **_):
            self.rows = rows

        def nearest(self, point, **_):
            return {"apart": point - oracle.nearest(self.rows, point), "status": "slack"}

    X = np.random.default_rng(seed).normal(size=(240, 4))
    X[80:, 0] += 3  # 40 of the 120 first rows are as the others
    Z = kernel_factor(np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 8))
    found = mixture_share(Z, *shares(240, 120))
    monkeypatch.setattr(_core, "HullDistance", Slow)
    assert found == pytest.approx(mixture_share(Z, *shares(240, 120)), abs=1e-3)
    assert 0.1 < found < 0.6


def test_a_line_of_points_takes_fewer_steps_than_each_on_its_own():
    Z = ROWS["kernel"]
    hull = hull_of(Z)
    points = line(Z, np.linspace(0.5, 1, 20))
    warm = sum(hull.nearest(p, max_steps=STEPS)["n_steps"] for p in points)
    assert 3 * warm < sum(nearest(Z, p)["n_steps"] for p in points)


@each_kind
def test_moving_and_scaling_rows_and_point_does_the_same_to_what_is_between(kind):
    Z = ROWS[kind]
    for p in line(Z):
        apart = nearest(Z, p)["apart"]
        np.testing.assert_array_equal(nearest(1024 * Z, 1024 * p)["apart"], 1024 * apart)
        shift = np.random.default_rng(2).normal(size=Z.shape[1])
        moved = nearest(Z + shift, p + shift)["apart"]
        np.testing.assert_allclose(moved, apart, rtol=0, atol=1e-6 * (1 + np.abs(p).max()))
        turned = nearest(Z[::-1], p)["apart"]
        np.testing.assert_allclose(turned, apart, rtol=0, atol=1e-6 * (1 + np.abs(p).max()))


def test_the_hull_of_one_row_is_that_row():
    found = nearest([[1.0, 2.0]], [4.0, 6.0])
    assert found["apart"].tolist() == [3.0, 4.0]
    assert (found["rows"].tolist(), found["weights"].tolist(), found["slack"]) == ([0], [1.0], 0.0)
    assert nearest(np.empty((3, 0)), [])["apart"].size == 0


def test_a_point_inside_has_no_distance():
    Z = ROWS["normal"]
    for weights in np.random.default_rng(3).dirichlet(np.full(len(Z), 0.1), size=10):
        assert np.linalg.norm(nearest(Z, weights @ Z)["apart"]) < 1e-12


def test_a_cluster_far_from_its_outliers():
    """Rows of a cluster depend on each other as far as rounding can tell, and change places."""
    cluster = -8.9e-7 + 1e-9 * np.random.default_rng(4).integers(0, 5, size=(20, 3))
    Z = np.vstack([cluster, [[-9.0, -9.0, 2.0], [-9.0, 8.0, -3.0]]])
    for p in ([3.0, 0.0, 5.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1e-6]):
        check(Z, np.array(p), nearest(Z, p))


def test_what_squares_do_not_show_is_said():
    """The first row is 1e7 times as far from the others as they are from each other."""
    Z = np.random.default_rng(6).integers(-64, 64, size=(6, 6)) / 8
    Z[0, 3:5] = 67108864.0, 121896960.0
    statuses = set()
    for seed in range(20):
        p = 30 * np.random.default_rng(seed).normal(size=6)
        found = nearest(Z, p)
        statuses.add(found["status"])
        reached = np.linalg.norm(found["apart"])
        left = oracle.slack(Z, found["weights"] @ Z[found["rows"]], found["apart"])
        assert found["slack"] == pytest.approx(min(left, reached), abs=1e-6)
        assert found["slack"] <= 1e-6 * np.abs(Z).max()
    assert "precision" in statuses


def test_steps_that_run_out_are_told(monkeypatch):
    Z = ROWS["kernel"]
    found = hull_of(Z).nearest(line(Z)[1], max_steps=2)
    assert found["status"] == "max_steps"
    assert found["n_steps"] >= 2
    best = np.linalg.norm(nearest(Z, line(Z)[1])["apart"])
    reached = np.linalg.norm(found["apart"])
    assert reached - found["slack"] <= best <= reached
    assert mixture_share(np.eye(8), *shares(8, 7)) > 0.9
    monkeypatch.setattr(_prior_kernel, "_MOST_STEPS", 1)  # for each row, where 7 rows come in
    text = "km2: the nearest point of the hull of 8 rows has not been found in"
    refused(RuntimeError, text, mixture_share, np.eye(8), *shares(8, 7))
