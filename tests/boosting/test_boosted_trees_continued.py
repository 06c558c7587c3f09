"""Boosted trees that go on from a model: the trees of a single fit, of the same rows alone, and their history."""

from __future__ import annotations

import dataclasses
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu import _core
from fastpu.tree._fingerprint import fingerprint_of, fingerprint_of_parts
from helpers import refused
from tree_cases import fit, mixed_frame, pu_rows

# A few trees on a few rows may call all rows the same, of which a warning tells.
pytestmark = pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning")

#: Scores are summed in another order.
ROUNDING = 1e-12


@pytest.mark.parametrize("options", [{}, {"n_bags": 4}, {"n_bags": 2, "subsample_unl": 0.5}], ids=str)
def test_rounds_added_later_are_those_of_a_single_fit(options):
    X, y = mixed_frame(400)
    whole = fit(X, y, n_rounds=7, **options)
    first = fit(X, y, n_rounds=3, **options)
    more = fit(X, y, n_rounds=4, init_model=first, **{**options, "random_state": None})
    np.testing.assert_array_equal(more.nodes["value"], whole.nodes["value"])
    np.testing.assert_array_equal(more.decision_function(X), whole.decision_function(X))
    np.testing.assert_allclose(more.history["risk"], whole.history["risk"], rtol=ROUNDING)
    np.testing.assert_allclose(more.objective, whole.objective, rtol=ROUNDING)
    if "n_bags" in options:
        np.testing.assert_allclose(more.oob_decision_function, whole.oob_decision_function, rtol=1e-9)


@pytest.mark.parametrize("n_done", [1, 2, 3])
def test_bags_that_a_callback_stopped_cannot_go_on(n_done, tmp_path):
    X, y = pu_rows(200)
    stopped = fit(X, y, n_bags=4, callback=lambda info: info.bag == n_done)
    assert (stopped.divisor, stopped.n_trees) == (n_done, 4 * n_done)
    stopped.save(tmp_path / "stopped.npz")
    for before in (stopped, fastpu.load(tmp_path / "stopped.npz")):
        text = f"init_model must have all of its 4 bags, got a model that a callback stopped after {n_done} of them"
        refused(ValueError, text, fit, X, y, n_bags=4, init_model=before)


@pytest.mark.parametrize("n_done", [1, 3, 4])
def test_bags_get_more_rounds_all_together_or_not_at_all(n_done):
    X, y = pu_rows(200)
    before = fit(X, y, n_bags=4)
    after = fit(X, y, n_bags=4, n_rounds=3, init_model=before, callback=lambda info: info.bag == n_done)
    assert (after.status, after.converged, after.divisor) == ("callback", False, 4)
    expected = before if n_done < 4 else fit(X, y, n_bags=4, n_rounds=7)
    for name in ("packed_nodes", "tree_starts", "objective", "oob_sum", "oob_count", "threshold"):
        np.testing.assert_allclose(getattr(after, name), getattr(expected, name), rtol=ROUNDING)
    np.testing.assert_allclose(after.history["risk"], expected.history["risk"], rtol=ROUNDING)
    assert after.params["n_rounds"] == expected.params["n_rounds"]


@pytest.mark.parametrize("n_bags", [1, 3])
def test_history_describes_the_trees_that_are_kept(n_bags):
    """Of a fit that early stopping ended, and of fits that go on from it, once and twice."""
    X, y = pu_rows(600, seed=1)
    held = pu_rows(400, seed=2)
    model = fit(X, y, n_bags=n_bags, n_rounds=80, eval_set=held, early_stopping_rounds=5)
    assert model.history["eval_auc"].size == model.n_trees // n_bags + 5
    for n_more in (2, 60):
        judged = {"eval_set": held, "early_stopping_rounds": 5}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastpu.exceptions.ConvergenceWarning)
            model = fit(X, y, n_bags=n_bags, n_rounds=n_more, init_model=model, **judged)
        rounds = model.n_trees // n_bags
        whole = fit(X, y, n_bags=n_bags, n_rounds=rounds)
        np.testing.assert_array_equal(model.history["n_leaves"], whole.history["n_leaves"])
        for found, expected in ((model.history["risk"], whole.history["risk"]), (model.objective, whole.objective)):
            np.testing.assert_allclose(found, expected, rtol=ROUNDING)
        assert model.history["risk"].size == rounds


FITS = {
    "trees": lambda X, y, **options: fit(X, y, n_rounds=2, **options),
    "bags": lambda X, y, **options: fit(X, y, n_rounds=2, n_bags=3, **options),
    "forest": lambda X, y, **options: fastpu.fit_forest(X, y, n_trees=5, n_threads=1, **options),
}


@pytest.mark.parametrize("of", FITS.values(), ids=FITS)
def test_a_fit_goes_on_with_the_same_rows_alone(of, tmp_path):
    X, y = pu_rows(300)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    model = of(X, y, sample_weight=weights)
    model.save(tmp_path / "first.npz")
    unl = np.flatnonzero(y == 0)
    order = np.arange(300)
    order[unl] = unl[::-1]  # the labels stay
    low, high = X[:, 0].argmin(), X[:, 0].argmax()
    one_value = X.copy()
    one_value[low, 0], one_value[high, 0] = X[high, 0], X[low, 0]  # the cuts stay
    other_y, other_weights = y.copy(), weights.copy()
    other_y[unl[0]], other_weights[7] = 1, 0.123
    for before in (model, fastpu.load(tmp_path / "first.npz")):
        of(X, y, sample_weight=weights, init_model=before, random_state=None)
        for changed, words in (
            ({"X": X[order]}, "X must be that of init_model, in the same order of rows, got other rows, or other cuts"),
            ({"X": 2 * X}, "X must be that of init_model"),
            ({"X": one_value}, "X must be that of init_model"),
            ({"y": other_y}, "y must be that of init_model, in the same order of rows, got other labels"),
            ({"sample_weight": other_weights}, "sample_weight must be that of init_model, in the same order of rows"),
            ({"sample_weight": None}, "sample_weight must be that of init_model"),
            ({"X": X[order], "y": y[order], "sample_weight": weights[order]}, "must be that of init_model"),
        ):
            given = {"X": X, "y": y, "sample_weight": weights, **changed}
            refused(ValueError, words, of, **given, init_model=before, random_state=None)


def test_a_checkpoint_is_no_model_to_go_on_from():
    X, y = pu_rows(300)
    model = fit(X, y, n_rounds=2)
    saved = dataclasses.replace(model, params={"method": "fit_boosted_trees", "checkpoint": "a digest"})
    refused(ValueError, "loss must be that of init_model, None, got", fit, X, y, init_model=saved, random_state=None)


def test_a_model_without_a_fingerprint_is_taken_at_its_word():
    X, y = pu_rows(200)
    before = dataclasses.replace(fit(X, y), fingerprint=None)
    assert fit(X, 1 - y, init_model=before, random_state=None).n_trees == 8


@pytest.mark.parametrize("of", FITS.values(), ids=FITS)
def test_the_same_rows_in_another_form_go_on(of):
    X = np.round(pu_rows(300)[0], 1).astype(np.float32)
    y = pu_rows(300)[1]
    forms = {
        "float32": X,
        "float64": X.astype(np.float64),
        "CSR": sp.csr_array(X),
        "bins": fastpu.bin_features(X),
        "binned CSR": fastpu.bin_features(sp.csr_array(X)),
        "columns": np.asfortranarray(X),
    }
    models = {name: of(rows, y, random_state=7) for name, rows in forms.items()}
    models |= {"ones": of(X, y == 1, sample_weight=np.ones(300), random_state=7)}
    for name, model in models.items():
        np.testing.assert_array_equal(model.fingerprint, models["float32"].fingerprint, err_msg=name)
    more = of(forms["CSR"], y, init_model=models["float64"], random_state=None)
    np.testing.assert_array_equal(
        more.packed_nodes, of(X, y, init_model=models["float32"], random_state=None).packed_nodes
    )


def test_fingerprints_see_every_code_label_and_weight():
    """For one byte and two bytes a code, and for sparse rows."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, (400, 9)) * (rng.random((400, 9)) < 0.5)
    codes[:300, :] = np.arange(300)[:, None]  # so that all of them stay where a row changes
    y, weights = np.arange(400) % 2, np.ones(400)
    seen = set()
    for max_bins in (255, 1000):
        for make in (np.asarray, sp.csr_array):
            known_by = {fingerprint(codes, y, weights, max_bins, make)}
            for row, column in itertools.product(range(300, 400, 7), range(9)):
                other = codes.copy()
                other[row, column] = 299 - other[row, column]
                known_by.add(fingerprint(other, y, weights, max_bins, make))
            assert len(known_by) == 1 + 15 * 9
            seen |= known_by
    assert len(seen) == 2 * (1 + 15 * 9)  # dense or sparse is the same
    for row in range(400):
        known_by = {
            fingerprint(codes, np.where(np.arange(400) == row, 1 - y, y), weights, 255, np.asarray),
            fingerprint(codes, y, np.where(np.arange(400) == row, 2.0, weights), 255, np.asarray),
        }
        assert len(known_by - seen) == 2


def fingerprint(X, y, weights, max_bins, make):
    features = fastpu.bin_features(make(X.astype(np.float64)), max_bins=max_bins)
    labels = y.astype(np.int8)
    by_threads = [fingerprint_of(features, labels, weights, n_threads) for n_threads in (1, 2)]
    np.testing.assert_array_equal(*by_threads)
    half = features.n_rows // 2
    parts = [
        _core.fingerprint(features[part]._native, labels[part], weights[part], first_row=part.start, n_threads=1)
        for part in (slice(0, half), slice(half, features.n_rows))
    ]
    np.testing.assert_array_equal(by_threads[0], fingerprint_of_parts(parts, features._native))
    return tuple(by_threads[0].tolist())
