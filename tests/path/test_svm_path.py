"""SVM paths: that every point is optimal by the oracle, and what must hold of every path."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fastpu
from helpers import refused
from path_cases import CLOSE, KERNELS, KKT_TOL, costs_of, kernel_of, normal_rows, worst_violation
from svm_cases import CASES, case

COSTS = ("equal", "random", "hard")
ENDS = ("zero", "precision", "trivial", "lam_min")


def fit(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)  # of trivial paths
        warnings.simplefilter("ignore", fastpu.exceptions.ConvergenceWarning)  # of those that stop before their end
        return fastpu.fit_svm_path(X, y, n_threads=1, **options)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::fastpu.exceptions.ScaleWarning")
def test_every_point_is_optimal(name, costs, kernel):
    rows = case(name)
    path = fit(rows.X, rows.y, sample_cost=costs_of(costs, rows.y), **KERNELS[kernel])
    assert path.status in ENDS or (name, path.status, path.converged) == ("badly_scaled", "stalled", False)
    if (
        name == "badly_scaled" and kernel == "linear"
    ):  # products of a with these rows have lost digits, the path has not
        assert path.violation < 1e-6
        return
    if path.status != "trivial":
        assert worst_violation(path, rows.X) < KKT_TOL


@given(st.data())
def test_any_rows_and_costs_give_an_optimal_path(data):
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 2))
    # Rows that differ by 1e-8 are the same to a kernel matrix in double.
    entries = st.integers(-64, 64).map(lambda k: k / 16)
    X = np.array(data.draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array([1, -1, *data.draw(st.lists(st.sampled_from([1, -1]), min_size=n - 2, max_size=n - 2))])
    c = np.array(data.draw(st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    if data.draw(st.booleans()):
        c[y > 0] = np.inf
    path = fit(X, y, sample_cost=c, **KERNELS[data.draw(st.sampled_from([*KERNELS]))])
    assert path.status in ENDS
    if path.status != "trivial":
        assert worst_violation(path, X) < KKT_TOL


def test_thousands_of_events_do_not_drift():
    X, y = normal_rows(0, 700, 2, share=0.5, apart=0.7)
    path = fit(X, y, kernel="rbf", gamma=2.0, lam_min=1e-3)
    assert path.n_events > 1500
    assert worst_violation(path, X, every=25) < CLOSE


@pytest.mark.parametrize("costs", ["equal", "random"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_machines_are_those_of_fit_svm(kernel, costs):
    X, y = normal_rows(3, 60)
    c = costs_of(costs, y)
    path = fit(X, y, sample_cost=c, **KERNELS[kernel])
    rng = np.random.default_rng(0)
    for lam in np.exp(rng.uniform(np.log(max(path.end, 0.03)), np.log(2 * path.lams[0]), 8)):
        machine = fastpu.baselines.fit_svm(X, y, C=1 / lam, sample_cost=c, tol=1e-10, n_threads=1, **KERNELS[kernel])
        exact = path.at(lam)
        w, v = machine.decision_function(X) - machine.intercept, exact.decision_function(X) - exact.intercept
        np.testing.assert_allclose(v, w, rtol=0, atol=1e-6)
        assert exact.objective[-1] == pytest.approx(machine.objective[-1], rel=1e-8)
        free = (machine.alpha > 1e-6 / lam) & (machine.alpha < (1 - 1e-6) * c[machine.support] / lam)
        if free.any():
            assert exact.intercept == pytest.approx(machine.intercept, abs=1e-6)


@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_history_has_the_norm_the_loss_and_the_objective_of_every_breakpoint(kernel, costs):
    X, y = normal_rows(1, 50, 3, apart=1.5)
    path = fit(X, y, sample_cost=costs_of(costs, y), lam_min=1e-3, **KERNELS[kernel])
    lam, history = path.lams, path.history
    assert (np.diff(lam) < 0).all()
    scale = history["objective"].max()
    K = kernel_of(path, X)
    for k in range(0, lam.size, 7):
        beta = path.alpha_at(k) * y / lam[k]
        assert history["norm"][k] == pytest.approx(beta @ K @ beta, rel=1e-8)
        finite = np.isfinite(path.costs)
        f = K @ beta + path.intercepts[k]
        loss = float(path.costs[finite] @ np.maximum(0, 1 - y * f)[finite])
        assert history["loss"][k] == pytest.approx(loss, abs=1e-8 * scale)
        assert history["objective"][k] == pytest.approx(loss + lam[k] / 2 * history["norm"][k], abs=1e-8 * scale)


def test_hard_rows_are_right_everywhere_and_large_costs_are_as_good():
    X, y = normal_rows(5, 60, 3, apart=2.0)
    pu = np.where(y > 0, 1, 0)
    path = fastpu.fit_pu_svm_path(X, pu, n_threads=1)
    lams = np.geomspace(path.end, 3 * path.lams[0], 50)
    assert (path.scores(X[y > 0], lams) >= 1 - CLOSE).all()
    largest = max(path.alpha_at(k)[y > 0].max() for k in range(path.knots.size))
    assert largest > 1
    noisy = fastpu.fit_pu_svm_path(X, pu, C_pos=1.01 * largest, n_threads=1)
    np.testing.assert_allclose(noisy.scores(X, lams), path.scores(X, lams), rtol=0, atol=CLOSE)


def test_a_start_that_rounding_moves_beyond_its_bounds_is_put_back():
    """Rows that an RBF kernel hardly tells apart: the start had an alpha of -6e-17, and the path was refused."""
    X = np.array(
        [[2.06769346916272e-05], [-3.0840289055616685e-05], [-0.00017152810381321847], [0.00019555209858389925]]
    )
    path = fit(X, np.array([1, 1, 1, -1]), kernel="rbf", gamma=0.1645812427925432)
    assert (path.start_alpha >= 0).all()
    assert (path.start_alpha <= path.costs).all()
    assert path.start_alpha[:3].sum() == pytest.approx(1)


def test_the_violation_is_that_of_the_scores_that_the_path_gives():
    """1e9 away from the origin a score has seven digits; the path had seen centred rows, and said 1e-15 for 4e-7."""
    X, y = normal_rows(5, 60)
    for offset in (0.0, 1e6, 1e9):
        path = fit(X + offset, y, kernel="linear")
        slack = y * path.decision_function(X + offset) - 1
        alpha = path.alpha_at(path.lams.size - 1)
        worst = max(-slack[alpha < 1].min(), slack[alpha > 0].max())
        assert worst <= path.violation <= max(1e-12, 1e-14 * offset)
        assert path.at(path.end).violation == path.violation


def test_trivial_paths_are_found():
    rng = np.random.default_rng(9)
    X = np.vstack([rng.normal(size=(10, 2)), 3 * rng.normal(size=(200, 2))])
    y = np.where(np.arange(210) < 10, 1, -1)
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="w = 0 is optimal for every lam"):
        path = fastpu.fit_svm_path(X, y, kernel="linear")
    assert (path.status, path.n_events, path.lams.size, path.converged) == ("trivial", 0, 0, True)
    assert (path.at(0.3).decision_function(X) == -1).all()
    assert (path.predict(X) == -1).all()
    assert (path.scores(X, [0.1, 10.0]) == -1).all()
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="calls all"):
        machine = fastpu.baselines.fit_svm(X, y, C=7.0, kernel="linear", tol=1e-9)
    np.testing.assert_allclose(machine.decision_function(X), -1, atol=1e-5)


@pytest.mark.parametrize(
    ("y", "words"),
    [([1, 1, -1], "the positive rows"), ([-1, -1, 1], "the negative or unlabelled rows"), ([1, -1], "the other rows")],
)
def test_a_trivial_path_says_among_which_rows_the_mean_of_the_lighter_class_lies(y, words):
    X = [[-1.0], [1.0], [0.0]] if len(y) == 3 else [[0.0], [0.0]]
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning, match=f"lies in the convex hull of {words}; "):
        fastpu.fit_svm_path(X, y, kernel="linear")


@pytest.mark.parametrize("costs", ["equal", "random"])
@pytest.mark.parametrize("kind", ["linear", "wide", "rbf"])
def test_far_below_the_last_breakpoint_machines_are_not_rounding_errors(kind, costs):
    """What was left of sums that go to 0 with lam was divided by lam: a hinge loss of 72,915 in place of 103."""
    X, y = normal_rows(2, 80)
    c = costs_of(costs, y)
    if kind == "wide":  # the path keeps no coefficients
        X = np.hstack([X, np.zeros((80, 200))])
    if kind == "rbf":  # every row under both labels: no alpha is 0 at the end
        X, y, c = np.vstack([X, X[:40]]), np.append(y, -y[:40]), np.append(c, c[:40])
    kernel = {"kernel": "rbf", "gamma": 5.0} if kind == "rbf" else {"kernel": "linear"}
    path = fit(X, y, sample_cost=c, **kernel)
    assert path.status == "zero"
    assert path.at(path.end).dual_coef.size > 10
    f = path.at(path.end).decision_function(X)
    loss = float(c @ np.maximum(0, 1 - y * f))
    assert loss == pytest.approx(path.history["loss"][-1], rel=1e-9)
    assert loss > 1
    for share in (1e-3, 1e-8, 1e-13, 1e-16, 1e-40):
        lam = share * path.end
        machine = path.at(lam)
        np.testing.assert_array_equal(machine.decision_function(X), f)
        np.testing.assert_allclose(path.scores(X, [lam])[:, 0], f, rtol=0, atol=CLOSE)
        # The dual variables are those of lam, and optimal for its f: C where y f < 1, 0 where y f > 1.
        alpha = np.zeros(len(y))
        alpha[machine.support] = machine.alpha
        slack = y * f - 1
        np.testing.assert_allclose(alpha[slack < -1e-6], c[slack < -1e-6] / lam, rtol=1e-12)
        np.testing.assert_array_equal(alpha[slack > 1e-6], 0)
        assert alpha.max() <= c.max() / lam
        assert abs(y @ alpha) <= 1e-12 * alpha.sum()
        norm = path.history["norm"][-1]
        assert -machine.objective[-1] == pytest.approx(loss / lam + norm / 2, rel=1e-9)
    for lam in (0.3 * path.end, 0.01 * path.end):  # where a solver still has the digits
        solved = fastpu.baselines.fit_svm(X, y, C=1 / lam, sample_cost=c, tol=1e-8, n_threads=1, **kernel)
        np.testing.assert_allclose(solved.decision_function(X), f, rtol=0, atol=1e-5)


def test_a_pu_path_of_rows_that_can_be_separated_keeps_its_machine_below_the_last_breakpoint():
    X, y = normal_rows(5, 60, 3, apart=4.0)
    for kernel in KERNELS.values():
        path = fastpu.fit_pu_svm_path(X, np.where(y > 0, 1, 0), n_threads=1, **kernel)
        assert path.status == "zero"
        end = path.at(path.end)
        for share in (1e-5, 1e-20):
            machine = path.at(share * path.end)
            np.testing.assert_array_equal(machine.decision_function(X), end.decision_function(X))
            if not np.isfinite(path.costs[path.alpha_at(path.knots.size - 1) > 0]).any():
                np.testing.assert_allclose(machine.alpha, end.alpha, rtol=1e-12)


def elbow_rows(path, lam) -> frozenset:
    """The rows that are on the margin at lam, between two breakpoints, with a between its bounds."""
    alpha, _, _ = path._solution(lam)
    return frozenset(np.flatnonzero((alpha > 1e-6) & (alpha < path.costs - 1e-6)).tolist())


@pytest.mark.parametrize("lam_min", [0.0, 1e-2, 1e-6, 1e-30])
@pytest.mark.parametrize("kernel", KERNELS)
def test_at_every_breakpoint_other_rows_are_on_the_margin_before_and_after(kernel, lam_min):
    """A linear path made a pause at a thousandth of its last breakpoint, and on the way to far ones; after 12 pauses
    on the way to a tiny lam_min it was "stalled"."""
    n_far = 0
    for seed in range(6):
        X, y = normal_rows(seed, 30, 3)
        if seed > 2 and kernel == "linear":
            X *= [1.0, 1.0, 1e-4]  # the next breakpoint may be 10,000 times nearer to 0
        told: list[float] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastpu.exceptions.ScaleWarning)
            path = fit(X, y, lam_min=lam_min, callback=lambda info, told=told: told.append(info.lam), **KERNELS[kernel])
        stops = path.status != "zero"  # the last entry is then where the path stopped
        if path.status != "precision":
            assert stops == (path.end == lam_min)
        assert path.n_iter == path.lams.size
        np.testing.assert_array_equal(told, path.lams[: path.lams.size - stops])
        assert set(path.event_knot.tolist()) == set(range(path.lams.size - stops))
        ratios = path.knots[1:] / path.knots[:-1]
        n_far += int(((ratios > 0) & (ratios < 1e-3)).sum())
        between = [elbow_rows(path, (a + b) / 2) for a, b in pairwise(path.knots.tolist())]
        for before, after in pairwise(between):
            assert before != after
    if kernel == "linear" and lam_min < 1e-5:
        assert n_far  # of the steps that are made in parts


def test_kernel_values_next_to_the_smallest_number_are_refused():
    """Changes of alpha were NaN there, and the message spoke of overflow (found by fuzzing)."""
    X, y = normal_rows(10, 30)
    X[:, 0] += 3 * y
    near = fit(1e-130 * X, y, kernel="linear")
    np.testing.assert_allclose(near.lams, 1e-260 * fit(X, y, kernel="linear").lams, rtol=1e-9)
    for scale in (1e-150, 1e-154, 1e-155, 1e-158):
        refused(
            ValueError,
            "sums of kernel values overflow or vanish; scale X",
            fastpu.fit_svm_path,
            scale * X,
            y,
            kernel="linear",
        )


def test_rows_whose_sum_overflows_are_refused():
    """The path of these was said to be trivial."""
    X = np.array([[1.0], [1.2], [1.1], [-1.0]]) * 1e308
    refused(
        ValueError,
        "sums of kernel values overflow or vanish; scale X",
        fastpu.fit_svm_path,
        X,
        [1, -1, 1, -1],
        kernel="linear",
    )


def test_scores_beyond_the_end_of_a_path_that_was_cut_short_are_refused():
    X, y = normal_rows(10, 30)
    path = fit(X, y, kernel="linear", lam_min=0.5)
    refused(ValueError, f"lams must be >= {path.end:.6g}, where the path ends, got 0.1", path.scores, X, [1.0, 0.1])


def test_events_tell_who_is_on_the_margin():
    X, y = normal_rows(11, 40)
    path = fit(X, y, **KERNELS["rbf"], lam_min=0.05)
    inside: set[int] = set()
    events = path.events
    assert events.dtype.names == ("lam", "kind", "row")
    assert path.n_events == len(events)
    for k in range(path.lams.size - 1):
        for event in events[path.event_knot == k]:
            assert event["lam"] == path.lams[k]
            if str(event["kind"]).startswith("to_"):
                inside.remove(int(event["row"]))
            else:
                inside.add(int(event["row"]))
        assert path.history["n_margin"][k] == len(inside)
        middle = (path.alpha_at(k) + path.alpha_at(k + 1)) / 2
        assert inside == set(path.rows[(middle > 0) & (middle < path.costs)].tolist())


def test_linear_paths_give_coefficients_at_every_breakpoint():
    X, y = normal_rows(12, 50, 3)
    path = fit(X, y, kernel="linear")
    assert path.coef.shape == (path.lams.size, 3)
    np.testing.assert_allclose(X @ path.coef.T + path.intercepts, path.scores(X, path.lams), rtol=0, atol=CLOSE)
    k = path.lams.size // 2
    np.testing.assert_allclose(path.at(path.lams[k]).coef, path.coef[k], rtol=0, atol=CLOSE)
    assert fit(X, y, **KERNELS["rbf"]).coef is None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_empty_columns_change_nothing_though_a_wide_path_keeps_no_coefficients(form):
    X, y = normal_rows(11, 50, 3)
    X += 2.0
    wide = form(np.hstack([X, np.zeros((50, 200))]))
    path, same = fit(X, y, kernel="linear"), fit(wide, y, kernel="linear")
    assert path.weights is not None
    assert same.weights is None
    lams = np.geomspace(path.end, 2 * path.lams[0], 20)
    np.testing.assert_allclose(same.scores(wide, lams), path.scores(X, lams), rtol=0, atol=CLOSE)
    np.testing.assert_allclose(same.lams, path.lams, rtol=CLOSE)
    np.testing.assert_allclose(same.coef[:, :3], path.coef, rtol=0, atol=CLOSE)
    assert not same.coef[:, 3:].any()
