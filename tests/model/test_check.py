"""`model.check` tells of a batch what is unlike the training rows, and of rows like these that they are."""

from __future__ import annotations

import dataclasses
import gc
import pickle
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import ks_2samp

import fastpu
from fastpu.exceptions import UnlikeRowsWarning
from fastpu.model._profile import LateProfile, arrays_of_profile, profile_of_arrays
from helpers import refused
from toy_model import toy

TREES = {
    "forest": lambda X, y: fastpu.fit_forest(X, y, n_trees=30, random_state=0),
    "boosted trees": lambda X, y: fastpu.fit_boosted_trees(X, y, n_rounds=20, random_state=0),
    "stumps": lambda X, y: fastpu.fit_pnu_auc_boost(X, y, n_rounds=20),
}


def drawn(n, seed):
    """A table of claims: numbers, a column with gaps, few and many categories; and who is positive."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    table = pd.DataFrame({
        "amount": rng.normal(size=n) + truth,
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 90, n)),
        "shop": rng.choice([f"shop {i}" for i in range(20)], n),
        "zip": rng.choice([f"zip {i}" for i in range(300)], n),
    })  # fmt: skip
    return table, truth


@pytest.fixture(scope="module")
def rows():
    table, truth = drawn(6000, 0)
    return table, (truth & (np.arange(6000) % 2 == 0)).astype(np.int8)


@pytest.fixture(scope="module", params=TREES)
def model(request, rows):
    return TREES[request.param](*rows)


def linear(X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a model that calls all rows the same
        return fastpu.fit_upu(X, y, prior=0.2)


def column(check, title):
    return next(column for column in check.columns if column.title == title)


def test_rows_of_the_same_kind_are_like_the_training_rows(model):
    for seed in range(1, 6):
        check = model.check(drawn(1000, seed)[0])
        assert check.unlike == ()
        assert check.scores.psi < 0.1
        assert abs(check.positive - check.positive_before) < 0.07
        assert "No column differs from these" in str(check)
        assert abs(column(check, "age").missing_before - 0.1) < 0.03


def test_chance_alone_explains_some_more_or_fewer_positive_rows():
    """By out-of-bag scores: those of other models are not such as new rows have."""
    table, truth = drawn(3000, 0)
    y = truth & (np.arange(3000) % 2 == 0)
    forest = TREES["forest"](table, y).with_threshold(prior=0.1)
    inside, n_batches = 0, 40
    for seed in range(1, n_batches + 1):
        check = forest.check(drawn(300, seed)[0])
        low, high = check.positive_range
        inside += low <= check.positive <= high
    assert inside >= 0.75 * n_batches
    assert f" of the training rows (by chance alone {low:.2%} to {high:.2%} in nine of ten batches)" in str(check)
    check = TREES["boosted trees"](table, y).check(table[:300])
    assert np.isnan(check.positive_range).all()
    assert "by chance" not in str(check)


def test_lost_shifted_and_new_entries_are_told_column_by_column(model):
    batch, _ = drawn(1000, 1)
    batch = batch.assign(amount=np.nan, age=batch["age"] + 40)
    batch.loc[:299, "shop"], batch.loc[:99, "zip"] = "another", "elsewhere"
    check = model.check(batch)
    assert check.unlike == ("amount", "age", "shop", "zip")
    assert (column(check, "amount").missing, column(check, "amount").missing_before) == (1.0, 0.0)
    assert (column(check, "shop").unseen, column(check, "zip").unseen) == (0.3, 0.1)
    assert column(check, "age").shift.p_value < 1e-6
    assert column(check, "age").shift.psi > 1
    assert "'amount' (100% missing, 0% in training)" in str(check)
    frame = check.to_frame()
    assert frame.index.tolist() == ["amount", "age", "shop", "zip", "score"]
    assert frame.loc["shop", "unseen"] == 0.3
    assert frame.loc["age", "unlike"].startswith("shifted")


def test_a_small_batch_may_miss_more_entries_by_chance():
    rng, gaps = np.random.default_rng(0), np.array([0.05, 0.3, 0.3, 0.5, 0.0])

    def with_gaps(n):
        return np.where(rng.random((n, 5)) < gaps, np.nan, rng.normal(size=(n, 5)))

    model = TREES["forest"](with_gaps(1000), np.arange(1000) < 100)
    for n in (1, 5, 20, 100, 300):
        assert all(model.check(with_gaps(n)).unlike == () for _ in range(20))
    lost = with_gaps(20)
    lost[:, 1] = np.nan
    assert model.check(lost).unlike == (1,)
    lost[0, 4] = np.nan  # of which training missed none
    assert model.check(lost[:1]).unlike == (4,)
    assert str(model.check(lost[:1])).startswith("1 row compared with")


def test_shares_of_categories_are_compared(model):
    batch, _ = drawn(1000, 1)
    shift = column(model.check(batch[batch["shop"] < "shop 13"]), "shop").shift
    assert shift.psi > 0.2
    assert shift.p_value < 1e-6
    assert np.isnan(shift.distance)


def test_distances_are_those_of_kolmogorov_and_smirnov():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=1500), rng.integers(0, 5, 1500)]), np.arange(1500) < 300
    model = linear(X, y)
    batch = np.column_stack([rng.normal(0.2, 1, 700), rng.integers(0, 4, 700)])
    check = model.check(batch)
    for shift, now, before, near in (
        (check.scores, model.decision_function(batch), model.decision_function(X[~y]), 1e-12),
        (check.columns[1].shift, batch[:, 1], X[~y, 1], 1e-12),
        (check.columns[0].shift, batch[:, 0], X[~y, 0], 0.03),  # by quantiles alone
    ):
        expected = ks_2samp(now, before, method="asymp")
        assert abs(shift.distance - expected.statistic) < near
    assert check.columns[1].shift.p_value < 1e-3


def test_the_index_is_that_of_tenths():
    X = np.arange(1000.0)[:, None]
    model = linear(X, np.arange(1000) % 50 == 0)
    low = model.check(X[:500]).columns[0].shift
    assert low.psi == pytest.approx(
        sum((a - b) * np.log(a / b) for a, b in [(100.5 / 505, 98.5 / 985)] * 5 + [(0.5 / 505, 98.5 / 985)] * 5),
        rel=0.02,
    )


def test_out_of_bag_scores_are_expected_where_there_are_some(rows):
    table, y = rows
    model = TREES["forest"](table, y)
    held = model.oob_decision_function[y == 0]
    check = model.check(table[:100])
    assert check.is_out_of_bag
    assert abs(check.positive_before - np.mean(held > model.threshold)) < 0.03
    assert model.with_threshold(prior=0.05, X_unl=table[y == 0]).check(table[:100]).positive_before < 0.1


def test_profiles_are_small_and_the_same_for_every_number_of_threads(rows):
    table, y = rows
    one, two = (
        arrays_of_profile(fastpu.fit_forest(table, y, n_trees=20, random_state=0, n_threads=n).profile) for n in (1, 2)
    )
    assert one.keys() == two.keys()
    for name, of in one.items():
        np.testing.assert_array_equal(of, two[name])
    assert sum(of.nbytes for of in one.values()) < 25_000


def test_bins_are_compared_like_the_rows_that_they_are_of(rows):
    table, y = rows
    table = table.drop(columns="zip")
    bins = fastpu.bin_features(table)
    model = TREES["boosted trees"](bins, y)
    assert model.check(drawn(1000, 1)[0].drop(columns="zip")).unlike == ()
    assert model.check(bins[:1000]).unlike == ()
    shifted = drawn(1000, 1)[0].drop(columns="zip").assign(amount=lambda t: t["amount"] + 1)
    assert model.check(shifted).unlike == ("amount",)


@pytest.mark.parametrize("kind", ["sparse", "wide"])
def test_of_sparse_and_of_very_wide_rows_scores_and_totals_are_compared(kind):
    rng = np.random.default_rng(0)
    X = rng.random((300, 30 if kind == "sparse" else 2001)) * (rng.random((300, 1)) < 0.5)
    y = np.arange(300) < 60
    take = sp.csr_array if kind == "sparse" else np.asarray
    model = linear(take(X), y)
    check = model.check(take(X[60:]))
    assert check.columns == ()
    assert check.nonzero == pytest.approx(check.nonzero_before)
    assert check.scores.psi < 0.05
    assert check.n_before == 240


def test_a_model_of_an_earlier_version_says_that_it_has_no_profile(tmp_path):
    model = toy()
    model.save(tmp_path / "toy.npz")
    check = fastpu.model._load.load(tmp_path / "toy.npz").check([[1.0, 2.0]])
    assert check.n_before == 0
    assert "no profile" in str(check)
    assert check.positive == 0.0


def test_files_and_pickles_keep_the_profile(tmp_path, model):
    batch, _ = drawn(200, 1)
    model.save(tmp_path / "model.npz")
    for again in (fastpu.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        assert again.check(batch).to_frame().equals(model.check(batch).to_frame())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"starts": np.array([0, 1])}, "profile must have arrays for 2 columns"),
        ({"starts": np.array([0, 19, 10])}, "profile must have arrays for 2 columns"),
        ({"up_to": np.zeros(1)}, "profile must have arrays for 2 columns"),
        ({"missing": np.zeros(1)}, "profile must have arrays for 2 columns"),
        ({"scores": np.zeros((2, 2))}, "profile must have arrays of numbers"),
        ({"rows": np.zeros(0, dtype=np.int64)}, "profile must have one number of rows"),
        ({"missing_total": np.zeros(2)}, "profile must have one number of rows, and one share"),
        ({"more": np.zeros(2)}, "profile must be whole, got is_out_of_bag"),
    ],
)
def test_profiles_that_do_not_fit_are_refused(change, expected):
    model = linear(np.arange(40.0).reshape(20, 2), np.arange(20) > 10)

    def with_changed_profile():
        profile = profile_of_arrays({**arrays_of_profile(model.profile), **change})
        dataclasses.replace(model, _late_profile=LateProfile.of(profile))

    refused(ValueError, expected, with_changed_profile)


@pytest.mark.parametrize("gone", ["rows", "scores", "nonzero_total", "values"])
def test_profiles_with_an_array_missing_are_refused(gone):
    arrays = arrays_of_profile(linear(np.arange(40.0).reshape(20, 2), np.arange(20) > 10).profile)
    del arrays[gone]
    refused(ValueError, "profile must be whole, got", profile_of_arrays, arrays)


def test_the_attributes_of_a_profile_describe_the_training_rows():
    X, y = np.array([[0.0, 5.0], [1.0, np.nan], [2.0, 5.0], [3.0, 7.0], [9.0, 9.0]]), np.array([0, 0, 0, 0, 1])
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=2)
    profile = model.profile
    assert (profile.n_rows, profile.is_out_of_bag) == (4, False)
    np.testing.assert_array_equal(profile.scores, np.sort(model.decision_function(X[:4])))
    assert (profile.entries.missing, profile.entries.nonzero) == (1 / 8, 7 / 8)
    columns = profile.columns
    np.testing.assert_array_equal(columns.missing, [0.0, 0.25])
    np.testing.assert_array_equal(columns.is_set, [False, False])
    np.testing.assert_array_equal(columns.starts, [0, 4, 6])
    np.testing.assert_array_equal(columns.values, [0.0, 1.0, 2.0, 3.0, 5.0, 7.0])
    np.testing.assert_allclose(columns.up_to, [0.25, 0.5, 0.75, 1.0, 2 / 3, 1.0])


FORMS = {
    "array": (np.asarray, lambda X: X.fill(np.nan)),
    "columns in a row": (np.asfortranarray, lambda X: X.fill(np.nan)),
    "sparse": (sp.csr_array, lambda X: X.data.fill(np.nan)),
    "frame": (pd.DataFrame, lambda X: X.iloc.__setitem__((slice(None), slice(None)), np.nan)),
    "lists": (lambda X: X.tolist(), lambda X: [row.clear() for row in X]),
}


def fitted_and_compared(form, y, *, overwrite):
    """A model, and its profile, which was made after the rows and labels were overwritten, or before."""
    make, spoil = FORMS[form]
    X, y = make(np.random.default_rng(0).random((60, 4))), y.copy()
    model = linear(X, y)
    if overwrite:
        spoil(X)
        y[:] = 1
    return {name: array.tolist() for name, array in arrays_of_profile(model.profile).items()}


@pytest.mark.parametrize("form", FORMS)
def test_rows_may_be_overwritten_after_a_fit(form):
    y = np.where(np.arange(60) < 30, 1, 0)
    found = fitted_and_compared(form, y, overwrite=True)
    assert found["rows"] == [30]
    assert found == fitted_and_compared(form, y, overwrite=False)


def counting(calls):
    def kernel(A, B):
        calls.append(len(A) * len(B))
        return A @ B.T

    return kernel


def test_rows_are_scored_for_the_profile_when_it_is_first_read():
    calls, rng = [], np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.arange(80) < 20
    model = fastpu.fit_bsvm(X, y, kernel=counting(calls), C_pos=1.0, C_unl=0.3)
    moved = model.with_threshold(value=0.5)
    assert not moved._late_profile.is_made
    n_calls = len(calls)
    model.decision_function(X)
    assert len(calls) == n_calls + 1  # for the scores alone
    assert model.check(X[y == 0]).n_before == 60
    assert len(calls) == n_calls + 3  # the scores of the batch, and those of the training rows
    assert moved.check(X[y == 0]).n_before == 60
    assert moved.profile is model.profile
    assert len(calls) == n_calls + 4  # the profile is there


def test_models_of_a_sequence_have_the_profiles_of_single_fits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)) + np.arange(80)[:, None] % 2, np.arange(80) % 2 * (np.arange(80) < 40)
    for model, C in zip(fastpu.fit_isvm(X, y, C=[0.5, 50.0]), (0.5, 50.0), strict=True):
        alone = fastpu.fit_isvm(X, y, C=C)
        arrays = arrays_of_profile(model.profile)
        for name, array in arrays_of_profile(alone.profile).items():
            np.testing.assert_array_equal(arrays[name], array)


def test_threads_that_read_a_profile_at_once_get_the_same(rows):
    alone = TREES["stumps"](*rows).profile.columns.values
    barrier = threading.Barrier(4)

    def read(model):
        barrier.wait()
        return model.profile.columns.values

    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for values in pool.map(read, [TREES["stumps"](*rows)] * 4):
                np.testing.assert_array_equal(values, alone)


def test_a_model_is_gone_with_its_last_reference(rows):
    for read in (False, True):
        model = TREES["stumps"](*rows)
        if read:
            assert model.profile.n_rows == 2000
        nodes = weakref.ref(model.objective)
        gc.disable()
        try:
            del model
            assert nodes() is None
        finally:
            gc.enable()


@pytest.mark.parametrize("n_columns", [4, 40])
def test_of_few_bytes_rows_are_kept_until_the_profile_is_made(monkeypatch, n_columns):
    monkeypatch.setattr("fastpu.model._with_profile.MOST_BYTES", 100 * 20 * 8)
    X, y = np.random.default_rng(0).random((120, n_columns)), np.arange(120) < 20
    model = linear(X, y)
    assert model._late_profile.is_made == (n_columns == 40)
    assert model.profile.columns.missing.size == n_columns
    again = pickle.loads(pickle.dumps(model))
    assert again._late_profile.is_made
    for each in (model, again):
        assert not any(array.flags.writeable for array in arrays_of_profile(each.profile).values() if array.size > 1)


def test_a_profile_that_cannot_be_made_is_none(tmp_path):
    """A kernel of the user's that fails later, for example."""
    y, works = np.arange(40) < 20, [True]
    X = np.random.default_rng(0).normal(size=(40, 2)) + 2.0 * y[:, None]

    def kernel(A, B):
        if not works[0]:
            raise ValueError("out of order")
        return A @ B.T

    model = fastpu.fit_bsvm(X, y, kernel=kernel, C_pos=1.0, C_unl=1.0)
    works[0] = False
    assert model.profile is None
    works[0] = True
    assert model.check(X).n_before == 0
    none = dataclasses.replace(linear(X, y), _late_profile=LateProfile.of(None))
    assert pickle.loads(pickle.dumps(none)).check(X).n_before == 0
    none.save(tmp_path / "model.npz")
    assert fastpu.load(tmp_path / "model.npz").profile is None


def test_scoring_warns_of_a_lost_column_and_of_one_with_new_categories(model):
    batch, _ = drawn(100, 1)
    with pytest.warns(UnlikeRowsWarning, match="column 0 .'amount'.*column 2 .'shop'") as caught:
        model.decision_function(batch.assign(amount=np.nan, shop="another"))
    assert len(caught) == 1


def test_scoring_does_not_warn_of_rows_as_they_may_be(model):
    batch, _ = drawn(100, 1)
    some = batch.assign(amount=batch["amount"].where(np.arange(100) > 90))
    some.loc[:30, "shop"] = "another"
    single = batch[:1].assign(amount=np.nan, shop="another")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (batch, some, single):
            model.decision_function(rows)


def test_a_column_that_training_missed_too_may_be_missing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    X[50:, 1] = np.nan
    model = fastpu.fit_pnu_auc_boost(X, np.arange(500) % 5 == 0, n_rounds=5)
    X[:, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.decision_function(X)


def test_no_rows_cannot_be_checked(model):
    refused(ValueError, "X must have at least 1 row, got none", model.check, drawn(5, 1)[0][:0])


@pytest.mark.parametrize("fit", [fastpu.fit_svm_path, fastpu.fit_pu_svm_path])
def test_machines_of_a_path_are_compared_with_its_training_rows(fit):
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2 == 0
    X = rng.standard_normal((200, 3)) + 2.0 * truth[:, None]
    y = np.where(truth, 1, -1) if fit is fastpu.fit_svm_path else (truth & (np.arange(200) < 60)).astype(np.int8)
    path = fit(X, y, kernel="rbf")
    n_compared = 200 if fit is fastpu.fit_svm_path else np.count_nonzero(y == 0)
    for model in (path, path.at(path.lams[3]), path.select("end")):
        check = model.check(X + np.array([0.0, 0.0, 5.0]))
        assert check.n_before == n_compared
        assert check.unlike == (2,)
        rows = X if fit is fastpu.fit_svm_path else X[y == 0]
        np.testing.assert_array_equal(model.profile.scores, np.sort(model.decision_function(rows)))
    gram = X @ X.T
    assert fit(gram, y, kernel="precomputed").at(1.0).check(gram[:5]).n_before == 0
