"""SVM paths: forms of rows, costs, caches, saved paths, callbacks, how a path ends, what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import fastpu
from helpers import refused
from path_cases import kernel_of, normal_rows

OPTIONS = {"lam_min": 0.05, "n_threads": 1}


@pytest.fixture(scope="module")
def data():
    return normal_rows(0, 50, 3)


def bits(path: fastpu.models.SVMPath) -> bytes:
    arrays = (path.knots, path.offsets, path.start_alpha, path.change_row, path.change_alpha, path.event_row,
              path.event_kind, path.event_knot, path.objective, path.history["norm"])  # fmt: skip
    return b"".join(array.tobytes() for array in arrays) + path.status.encode()


def test_a_precomputed_kernel_is_as_good(data):
    X, y = data
    path = fastpu.fit_svm_path(X, y, kernel="rbf", gamma=0.5, **OPTIONS)
    K = kernel_of(path, X)
    given = fastpu.fit_svm_path(K, y, kernel="precomputed", **OPTIONS)
    lams = np.geomspace(path.end, 2 * path.lams[0], 20)
    np.testing.assert_allclose(given.scores(K, lams), path.scores(X, lams), rtol=0, atol=1e-9)
    np.testing.assert_allclose(given.at(lams[3]).decision_function(K), path.scores(X, lams[3])[:, 0], atol=1e-9)
    y_new = np.where(y > 0, 1, 0)
    assert given.select("puf", K, y_new).params["value"] == path.select("puf", X, y_new).params["value"]
    refused(ValueError, "X and y must be given for a precomputed kernel", given.select, "puf")
    refused(ValueError, "n_folds needs the kernel matrix", given.select, "puf", n_folds=3)
    refused(ValueError, "X must have a column for each of the 50 training rows", given.predict, K[:, :4])


def test_rows_of_cost_zero_are_left_out(data):
    X, y = data
    kept = np.arange(len(y)) % 4 != 1
    path = fastpu.fit_svm_path(X, y, sample_cost=kept.astype(float), gamma=0.5, **OPTIONS)
    part = fastpu.fit_svm_path(X[kept], y[kept], gamma=0.5, **OPTIONS)
    assert bits(path) == bits(part)
    np.testing.assert_array_equal(path.rows, np.flatnonzero(kept))
    assert set(path.events["row"]) <= set(np.flatnonzero(kept))
    assert set(path.at(0.3).support) <= set(np.flatnonzero(kept))


def test_callbacks_see_breakpoints_and_stop(data):
    X, y = data
    seen: list[fastpu.models.PathRound] = []

    def callback(info):
        seen.append(info)
        return len(seen) == 5

    path = fastpu.fit_svm_path(X, y, callback=callback, n_threads=1)
    assert (path.status, path.converged, path.n_iter) == ("callback", False, 5)
    np.testing.assert_array_equal([info.lam for info in seen], path.lams)
    assert [info.n_breakpoints for info in seen] == [1, 2, 3, 4, 5]
    assert [info.n_events for info in seen] == [np.count_nonzero(path.event_knot <= knot) for knot in range(5)]
    np.testing.assert_allclose([info.objective for info in seen], path.objective)
    path.at(path.end)
    refused(ValueError, "where the path ends with status 'callback'", path.at, path.end / 2)


@pytest.mark.parametrize("most", [1, 3, 20])
def test_max_events_ends_a_path_at_the_breakpoint_that_has_so_many_events(data, most):
    X, y = data
    with pytest.warns(
        fastpu.exceptions.ConvergenceWarning, match="the path had max_events events; raise max_events"
    ) as caught:
        path = fastpu.fit_svm_path(X, y, max_events=most)
    assert caught[0].filename == __file__
    assert (path.status, path.converged) == ("max_events", False)
    whole = fastpu.fit_svm_path(X, y)
    last = whole.events["lam"][most - 1]  # events at one breakpoint are not told apart
    np.testing.assert_array_equal(path.lams, whole.lams[whole.lams >= last])
    np.testing.assert_array_equal(path.events, whole.events[whole.events["lam"] >= last])


def test_indefinite_kernels_end_the_path(data):
    X, y = data
    with pytest.warns(fastpu.exceptions.ConvergenceWarning, match="not positive semidefinite"):
        path = fastpu.fit_svm_path(X, y, kernel="sigmoid", gamma=2.0, coef0=-1.0)
    assert path.status == "indefinite"
    assert not path.converged


def test_a_path_ends_at_lam_min(data):
    X, y = data
    path = fastpu.fit_svm_path(X, y, gamma=0.5, lam_min=0.3)
    assert (path.status, path.converged, path.end) == ("lam_min", True, 0.3)
    assert repr(path).startswith("SVMPath(lams ")
    whole = fastpu.fit_svm_path(X, y, gamma=0.5)
    np.testing.assert_array_equal(whole.lams[: path.lams.size - 1], path.lams[:-1])
    np.testing.assert_allclose(path.scores(X, 0.3), whole.scores(X, 0.3), rtol=0, atol=1e-10)
    refused(ValueError, "lam must be >= 0.3, where the path ends with status 'lam_min', got 0.2", path.at, 0.2)
    refused(ValueError, "X must have 3 features", path.scores, X[:, :2], 1.0)
    above = fastpu.fit_svm_path(X, y, gamma=0.5, lam_min=1e6)
    np.testing.assert_allclose(above.scores(X, 2e6), whole.scores(X, 2e6), rtol=0, atol=1e-10)


def test_bad_labels_and_costs_are_named(data):
    X, y = data
    costs = np.ones(len(y))
    costs[[0, 1]] = np.inf
    refused(ValueError, "sample_cost may be infinite in one class only", fastpu.fit_svm_path, X, y, sample_cost=costs)
    refused(
        ValueError, "y must have positive and negative rows with a cost", fastpu.fit_svm_path, X, y,
        sample_cost=np.where(y > 0, 1.0, 0.0),
    )  # fmt: skip
    refused(ValueError, "fit_pu_svm_path", fastpu.fit_svm_path, X, np.maximum(y, 0))
    refused(ValueError, "negative", fastpu.fit_pu_svm_path, X, y)


@pytest.mark.parametrize("changes", [{"degree": 2**63}, {"degree": -1}, {"coef0": np.inf}])
def test_a_kernel_that_the_core_cannot_take_is_refused_when_a_path_is_made_or_loaded(data, changes):
    path = fastpu.fit_svm_path(*data, kernel="linear")
    refused(ValueError, "degree must be >= 0 and coef0 finite", lambda: replace(path, **changes))


def test_fields_that_do_not_fit_each_other_are_refused_when_a_path_is_made_or_loaded(data):
    X, y = data
    path = fastpu.fit_svm_path(X, y, kernel="linear")
    given = fastpu.fit_svm_path(X @ X.T, y, kernel="precomputed")
    for text, one, changes in (
        ("function must be there for the kernel 'callable', and for no other", path, {"function": max}),
        ("weights must be those of a linear kernel, of shape", path, {"weights": path.weights[:, :1]}),
        ("knots must be there, down to 0, as status says", path, {"status": "trivial"}),
        ("rows must be < 49, the number of training rows", given, {"n_features": 49}),
    ):
        refused(ValueError, text, partial(replace, one, **changes))


@pytest.mark.parametrize("lam_min", [True, -1.0, np.nan, np.inf, 10**400, "1", None])
def test_a_lam_min_that_no_path_has_is_refused_when_a_path_is_made_or_loaded(data, lam_min):
    path = fastpu.fit_svm_path(*data, kernel="linear")
    refused(
        ValueError, "params must have a finite lam_min >= 0",
        lambda: replace(path, params={**path.params, "lam_min": lam_min}),
    )  # fmt: skip


def test_a_kernel_of_the_users_is_asked_in_float64_whatever_the_rows_are(data):
    X, y = data
    X = X.astype(np.float32)
    seen = set()

    def kernel(left, right):
        seen.update((left.dtype, right.dtype))
        return left @ right.T

    path = fastpu.fit_svm_path(X, y, kernel=kernel, **OPTIONS)
    assert bits(path) == bits(fastpu.fit_svm_path(X.astype(np.float64), y, kernel=kernel, **OPTIONS))
    assert seen == {np.dtype(np.float64)}
