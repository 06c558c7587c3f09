"""What the boosting functions promise about their input: codings, layouts, frames, bad values, nothing changed."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from boosting_cases import assert_same_stumps, make_problem, to_csr

FITS = {
    "pnu_auc_boost": fastpu.fit_pnu_auc_boost,
    "rankboost_auc": fastpu.fit_rankboost_auc,
    "pnu_adaboost": fastpu.fit_pnu_adaboost,
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)

ARRAYS = ("features", "thresholds", "polarity", "alphas", "deltas", "z", "objective")


@pytest.fixture(scope="module")
def data():
    problem = make_problem(np.random.default_rng(1), n=120, d=4, kinds=("normal", "rounded", "zeros"))
    return problem.X, problem.y


def assert_identical(model, other) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)
    assert model.threshold == other.threshold


# -- labels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        lambda y: y.tolist(),
        lambda y: y.astype(np.float64),
        lambda y: y.astype(np.int64)[::-1][::-1],
        lambda y: y.astype(np.float32),
        lambda y: fastpu.as_labels(np.array(["?", "yes", "no"])[y], positive="yes", unlabeled="?", negative="no"),
    ],
    ids=["list", "float64", "int64", "float32", "strings"],
)
@each_fit
def test_codings_of_three_groups(fit, code, data):
    X, y = data
    assert_identical(fit(X, code(y), n_rounds=5), fit(X, y, n_rounds=5))


@pytest.mark.parametrize(
    "code",
    [
        lambda y: y == 1,
        lambda y: (y == 1).tolist(),
        lambda y: np.where(y == 1, 1.0, np.nan),
        lambda y: [1 if label == 1 else None for label in y],
    ],
    ids=["bool", "bool list", "nan", "none"],
)
def test_codings_of_positive_and_unlabelled(code, data):
    X, y = data
    y = np.abs(y)
    for fit in (fastpu.fit_pnu_auc_boost, fastpu.fit_pnu_adaboost):
        assert_identical(fit(X, code(y), n_rounds=5), fit(X, y, n_rounds=5))


def test_two_values_one_and_minus_one_are_labelled_positive_and_negative(data):
    X, y = data
    labelled = y != 0
    model = fastpu.fit_pnu_auc_boost(X[labelled], y[labelled], n_rounds=5)
    assert_identical(model, fastpu.fit_rankboost_auc(X[labelled], y[labelled], n_rounds=5))
    unlabelled = fastpu.as_labels(y[labelled], unlabeled=-1)
    with pytest.raises(ValueError, match="fit_rankboost_auc"):
        fastpu.fit_rankboost_auc(X[labelled], unlabelled)


def test_stacked_groups_are_the_labelled_rows(data):
    X, y = data
    stacked, labels = fastpu.stack(P=X[y == 1], U=X[y == 0], N=X[y == -1])
    order = np.concatenate([np.flatnonzero(y == label) for label in (1, 0, -1)])
    assert_identical(
        fastpu.fit_pnu_auc_boost(stacked, labels, n_rounds=5), fastpu.fit_pnu_auc_boost(X[order], y[order], n_rounds=5)
    )


# -- layouts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.tolist(),
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.ascontiguousarray(X[::-1])[::-1],
        lambda X: X.astype(">f8"),
        lambda X: np.array(X, dtype=object).astype(np.longdouble),
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_matrix,
    ],
    ids=["list", "fortran", "strided", "negative stride", "big-endian", "longdouble", "csr_array", "csc", "coo"],
)
@each_fit
def test_every_layout_gives_the_same_stumps(fit, change, data):
    X, y = data
    assert_same_stumps(fit(change(X), y, n_rounds=8), fit(X, y, n_rounds=8))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_, np.float16, np.float32])
def test_every_real_dtype_is_taken(dtype):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, size=(60, 3)), rng.choice([1, 0, -1], size=60)
    assert_same_stumps(
        fastpu.fit_pnu_auc_boost(X.astype(dtype), y, n_rounds=8),
        fastpu.fit_pnu_auc_boost(X.astype(float), y, n_rounds=8),
    )


def test_sparse_structure_may_be_unsorted_duplicated_and_wide(data):
    X, y = data
    csr = to_csr(X)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    halves = sp.coo_matrix(csr)
    doubled = sp.csr_matrix(csr.shape)
    doubled.data = np.repeat(csr.data / 2, 2)
    doubled.indices = np.repeat(csr.indices, 2)
    doubled.indptr = csr.indptr * 2
    unsorted = csr.copy()
    for r in range(csr.shape[0]):
        row = slice(csr.indptr[r], csr.indptr[r + 1])
        unsorted.indices[row], unsorted.data[row] = csr.indices[row][::-1].copy(), csr.data[row][::-1].copy()
    unsorted.has_sorted_indices = False
    expected = fastpu.fit_pnu_auc_boost(csr, y, n_rounds=8)
    for matrix in (wide, halves, doubled, unsorted):
        assert_identical(fastpu.fit_pnu_auc_boost(matrix, y, n_rounds=8), expected)


@pytest.mark.parametrize("sparse", [False, True])
@each_fit
def test_input_is_read_only_and_stays_as_it_was(fit, sparse, data):
    X, y = data
    X, y, weights = X.copy(), y.copy(), np.linspace(0.5, 2, len(y))
    matrix = to_csr(X) if sparse else X
    buffers = [matrix.data, matrix.indices, matrix.indptr] if sparse else [matrix]
    buffers += [y, weights]
    before = [b.copy() for b in buffers]
    for b in buffers:
        b.flags.writeable = False
    model = fit(matrix, y, n_rounds=8, sample_weight=weights, eval_set=(matrix[y != 0], y[y != 0]))
    model.decision_function(matrix)
    model.predict(matrix)
    list(model.staged_decision_function(matrix))
    fastpu.bin_features(matrix, sample_weight=weights)
    for now, then in zip(buffers, before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_input_flags_of_a_sparse_matrix_stay_as_they_were(data):
    X, y = data
    matrix = to_csr(X)
    matrix.has_sorted_indices = False
    fastpu.fit_pnu_auc_boost(matrix, y, n_rounds=3)
    assert not matrix._has_sorted_indices if hasattr(matrix, "_has_sorted_indices") else True


# -- frames ------------------------------------------------------------------------------------------------------------


def frame(library: str, X: np.ndarray, names: list[str]):
    module = pytest.importorskip(library, reason=f"{library} is an optional input format")
    return module.DataFrame({name: X[:, e] for e, name in enumerate(names)})


@pytest.mark.parametrize("library", ["pandas", "polars"])
@each_fit
def test_frames_keep_their_names(fit, library, data):
    X, y = data
    names = ["age", "dose", "mass", "size"]
    table = frame(library, X, names)
    model = fit(table, y, n_rounds=8)
    assert_identical(model, fit(X, y, n_rounds=8))
    assert model.feature_names == tuple(names)
    np.testing.assert_array_equal(model.decision_function(table), model.decision_function(X))
    swapped = frame(library, X, ["age", "mass", "dose", "size"])
    for call in (model.decision_function, model.predict, lambda t: list(model.staged_decision_function(t))):
        with pytest.raises(ValueError, match="dose"):
            call(swapped)
    bins = fastpu.bin_features(table, max_bins=7)
    assert fit(bins, y, n_rounds=3).feature_names == tuple(names)
    with pytest.raises(ValueError, match="dose"):
        fit(table, y, n_rounds=3, eval_set=(swapped, y))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_series_are_taken_as_labels_and_weights(library, data):
    module = pytest.importorskip(library, reason=f"{library} is an optional input format")
    X, y = data
    weights = np.linspace(0.5, 2, len(y))
    model = fastpu.fit_pnu_auc_boost(X, module.Series(y), n_rounds=5, sample_weight=module.Series(weights))
    assert_identical(model, fastpu.fit_pnu_auc_boost(X, y, n_rounds=5, sample_weight=weights))


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [None, 6])
@each_fit
def test_whole_weights_are_repeated_rows(fit, max_bins):
    problem = make_problem(np.random.default_rng(6), n=150, d=5, weighted="whole")
    times = problem.weights.astype(int)
    weighted = fit(problem.X, problem.y, n_rounds=25, max_bins=max_bins, sample_weight=problem.weights)
    X, y = np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)
    repeated = fit(X, y, n_rounds=25, max_bins=max_bins)
    assert_same_stumps(weighted, repeated)
    np.testing.assert_allclose(weighted.alphas, repeated.alphas, rtol=1e-10)
    np.testing.assert_allclose(weighted.threshold, repeated.threshold, rtol=1e-10, atol=1e-10)


@each_fit
def test_rows_of_weight_zero_are_absent(fit):
    """Not even their values make a threshold; a whole group of them makes the group absent."""
    problem = make_problem(np.random.default_rng(7), n=200, d=5)
    weights = (np.random.default_rng(0).random(200) < 0.5).astype(np.float64)
    kept = weights > 0
    X = problem.X.copy()
    X[~kept] = 1e9
    model = fit(X, problem.y, n_rounds=20, sample_weight=weights)
    alone = fit(problem.X[kept], problem.y[kept], n_rounds=20)
    assert_same_stumps(model, alone)
    np.testing.assert_allclose(model.threshold, alone.threshold, rtol=1e-10, atol=1e-10)


def test_a_group_of_weight_zero_is_no_group(data):
    X, y = data
    weights = np.where(y == -1, 0.0, 1.0)
    assert_same_stumps(
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights),
        fastpu.fit_pnu_auc_boost(X[y != -1], y[y != -1], n_rounds=8),
    )
    with pytest.raises(ValueError, match=r"y must hold.*positive weight"):
        fastpu.fit_pnu_auc_boost(X, y, sample_weight=np.where(y == 1, 1.0, 0.0))


@pytest.mark.parametrize("factor", [1e-300, 1e-20, 1e20, 1e290])
def test_the_scale_of_the_weights_does_not_matter(factor, data):
    X, y = data
    weights = np.linspace(0.5, 2, len(y))
    assert_same_stumps(
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights * factor),
        fastpu.fit_pnu_auc_boost(X, y, n_rounds=8, sample_weight=weights),
    )


# -- bad input ---------------------------------------------------------------------------------------------------------

BAD_OPTIONS = [
    ({"n_rounds": 0}, ValueError, "n_rounds must be an integer .*1.*, got 0"),
    ({"n_rounds": -3}, ValueError, "n_rounds.*-3"),
    ({"n_rounds": 2.5}, TypeError, "n_rounds.*2.5"),
    ({"n_rounds": "9"}, TypeError, "n_rounds.*'9'"),
    ({"n_rounds": True}, TypeError, "n_rounds.*True"),
    ({"n_rounds": None}, TypeError, "n_rounds.*None"),
    ({"max_bins": 0}, ValueError, "max_bins.*0"),
    ({"max_bins": -1}, ValueError, "max_bins.*-1"),
    ({"max_bins": 8.0}, TypeError, "max_bins.*8.0"),
    ({"max_bins": 10**12}, ValueError, "max_bins.*1000000000000"),
    ({"stop_tol": -1e-9}, ValueError, "stop_tol.*-1e-09"),
    ({"stop_tol": np.nan}, ValueError, "stop_tol.*nan"),
    ({"stop_tol": "small"}, TypeError, "stop_tol.*'small'"),
    ({"early_stopping_rounds": 3}, ValueError, "eval_set"),
    ({"n_threads": 0}, ValueError, "n_threads.*0"),
    ({"n_threads": 1.5}, TypeError, "n_threads.*1.5"),
    ({"callback": 5}, TypeError, "callback.*5"),
    ({"progress": "yes"}, TypeError, "progress.*'yes'"),
    ({"sample_weight": 2.0}, TypeError, "sample_weight.*2.0"),
    ({"sample_weight": np.ones(7)}, ValueError, "sample_weight.*120.*7"),
    ({"sample_weight": np.zeros(120)}, ValueError, "sample_weight.*zero"),
    ({"sample_weight": -np.ones(120)}, ValueError, "sample_weight.*-1"),
    ({"sample_weight": np.full(120, np.nan)}, ValueError, "sample_weight.*nan"),
    ({"sample_weight": np.full(120, np.inf)}, ValueError, "sample_weight.*inf"),
    ({"sample_weight": np.ones((120, 2))}, ValueError, "sample_weight.*one-dimensional"),
    ({"sample_weight": np.ones(120) * 1j}, TypeError, "sample_weight.*complex"),
    ({"eval_set": 5}, TypeError, "eval_set.*5"),
    ({"eval_set": (np.zeros((3, 4)),)}, (TypeError, ValueError), "eval_set"),
    ({"eval_set": (np.zeros((3, 5)), [1, -1, 1])}, ValueError, "eval_set.*4.*5"),
    ({"eval_set": (np.zeros((3, 4)), [1, -1])}, ValueError, "eval_set.*3.*2"),
    ({"eval_set": (np.zeros((3, 4)), [1, 1, 1])}, ValueError, "eval_set"),
    ({"eval_set": (np.zeros((3, 4)) * 1j, [1, -1, 1])}, TypeError, "eval_set.*complex"),
    ({"n_estimators": 5}, TypeError, "n_estimators"),
]

BAD_GAMMA = [
    ({"gamma": -0.01}, ValueError, "gamma.*-0.01"),
    ({"gamma": 1.01}, ValueError, "gamma.*1.01"),
    ({"gamma": np.nan}, ValueError, "gamma.*nan"),
    ({"gamma": np.inf}, ValueError, "gamma.*inf"),
    ({"gamma": "half"}, TypeError, "gamma.*'half'"),
    ({"gamma": 1 + 0j}, TypeError, "gamma"),
]

BAD_RHO = [
    ({"rho": -0.01}, ValueError, "rho.*-0.01"),
    ({"rho": 1.0}, ValueError, "rho.*1"),
    ({"rho": np.nan}, ValueError, "rho.*nan"),
    ({"rho": None}, TypeError, "rho.*None"),
    ({"step": "newton"}, ValueError, "step.*'jensen'.*'newton'"),
    ({"step": 1}, TypeError, "step.*1"),
]


def bad_cases():
    for name, fit in FITS.items():
        cases = list(BAD_OPTIONS)
        cases += BAD_GAMMA if name != "rankboost_auc" else []
        cases += BAD_RHO if name != "pnu_adaboost" else []
        for number, (options, error, words) in enumerate(cases):
            yield pytest.param(fit, options, error, words, id=f"{name}-{number}-{next(iter(options))}")


@pytest.mark.parametrize(("fit", "options", "error", "words"), list(bad_cases()))
def test_bad_options_are_named(fit, options, error, words, data):
    X, y = data
    with pytest.raises(error, match=words):
        fit(X, y, **options)


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.zeros(6), ValueError, "X must be two-dimensional"),
        (np.zeros((6, 1, 1)), ValueError, "X must be two-dimensional"),
        (np.zeros((0, 2)), ValueError, "X must have at least 1 row"),
        (np.zeros((6, 0)), ValueError, "X must have at least 1 feature"),
        (np.zeros((6, 2)) * 1j, TypeError, "X.*complex"),
        (np.full((6, 2), "a"), TypeError, "X.*<U1"),
        (np.full((6, 2), None), TypeError, "X.*object"),
        (np.zeros((6, 2), dtype="datetime64[s]"), TypeError, "X.*datetime64"),
        ([[1.0, 2.0], [1.0]], ValueError, "X"),
        (None, (TypeError, ValueError), "X"),
        (np.ma.masked_array(np.zeros((6, 2))), TypeError, "X must not be a masked array"),
        (sp.csr_matrix(np.ones((6, 2)) * 1j), TypeError, "X.*complex"),
        (sp.csr_matrix((6, 0)), ValueError, "X must have at least 1 feature"),
    ],
)
@each_fit
def test_bad_matrices_are_named(fit, X, error, words):
    with pytest.raises(error, match=words):
        fit(X, [1, 1, 0, 0, -1, -1])


@each_fit
def test_a_broken_sparse_structure_is_refused_before_it_is_read(fit):
    def broken(**changes):
        matrix = sp.csr_matrix(np.eye(6))
        for name, (position, value) in changes.items():
            getattr(matrix, name)[position] = value
        return matrix

    for matrix in (
        broken(indices=(3, 17)),
        broken(indices=(3, -1)),
        broken(indptr=(2, 5000)),
        broken(indptr=(6, 1 << 30)),
        broken(indptr=(0, 1)),
    ):
        with pytest.raises(ValueError, match="X"):
            fit(matrix, [1, 1, 0, 0, -1, -1])


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        ([1, 0, -1], ValueError, "y must have one entry per row of the data .6., got 3"),
        ([1, 0, -1, 2, 0, 1], ValueError, "y.*2"),
        ([[1], [0], [1], [0], [1], [0]], ValueError, "y"),
        (["p", "u", "p", "u", "p", "u"], (ValueError, TypeError), "y.*'p'"),
        (np.array([1, 0, 1, 0, 1, 0]) * 1j, TypeError, "y"),
        (None, (ValueError, TypeError), "y"),
        ([1] * 6, ValueError, "y"),
        ([0] * 6, ValueError, "y"),
        ([-1] * 6, ValueError, "y"),
        ([1, 0, 1, 0, np.inf, 0], ValueError, "y.*inf"),
    ],
)
@each_fit
def test_bad_labels_are_named(fit, y, error, words):
    with pytest.raises(error, match=words):
        fit(np.arange(12.0).reshape(6, 2), y)


def test_rankboost_wants_both_labelled_groups():
    X = np.arange(8.0).reshape(4, 2)
    for y, missing in (([1, 1, 0, 0], "negative"), ([0, 0, -1, -1], "positive")):
        with pytest.raises(ValueError, match=missing):
            fastpu.fit_rankboost_auc(X, y)


@each_fit
def test_bad_rows_are_refused_at_predict(fit, data):
    X, y = data
    model = fit(X, y, n_rounds=3)
    for call in (model.decision_function, model.predict, lambda t: list(model.staged_decision_function(t))):
        with pytest.raises(ValueError, match="X must have 4 features.*, got 3"):
            call(X[:, :3])
        with pytest.raises(TypeError, match="X.*complex"):
            call(X * 1j)
        with pytest.raises(ValueError, match="X must be two-dimensional"):
            call(X[0])


@each_fit
def test_missing_and_infinite_values_are_no_error(fit):
    """NaN goes with -inf, at fit and at predict."""
    X = np.array([[np.nan, 1], [-np.inf, 2], [0, np.inf], [1, np.nan], [2, 5], [np.inf, 6]] * 4)
    model = fit(X, [1, 0, -1, 1, 0, -1] * 4, n_rounds=10)
    lowest = np.where(np.isnan(X), -np.inf, X)
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(lowest))
    assert_same_stumps(model, fit(lowest, [1, 0, -1, 1, 0, -1] * 4, n_rounds=10))


# -- the model ---------------------------------------------------------------------------------------------------------


@each_fit
def test_saved_pickled_and_copied_models_score_bit_for_bit(fit, data, tmp_path):
    X, y = data
    model = fit(X, y, n_rounds=20, eval_set=(X[y != 0], y[y != 0]))
    path = tmp_path / "model.npz"
    model.save(path)
    for other in (fastpu.load(path), pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert type(other) is type(model)
        assert_identical(other, model)
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert (other.n_iter, other.status, other.converged) == (model.n_iter, model.status, model.converged)
        assert dict(other.params) == dict(model.params)
        for name, values in model.history.items():
            np.testing.assert_array_equal(other.history[name], values)
        with pytest.raises(ValueError, match="read-only"):
            other.alphas[0] = 1.0


@each_fit
def test_models_are_frozen(fit, data):
    X, y = data
    model = fit(X, y, n_rounds=5)
    with pytest.raises((AttributeError, TypeError)):
        model.threshold = 3.0
    with pytest.raises((AttributeError, TypeError)):
        del model.alphas
    with pytest.raises((AttributeError, TypeError)):
        model.no_such_field = 1
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 1
    with pytest.raises(TypeError):
        model.history["deltas"] = 1
    with pytest.raises(TypeError):
        model.params["n_rounds"] = 1


@each_fit
def test_params_record_the_call(fit, data):
    X, y = data
    model = fit(X, y, n_rounds=5, max_bins=9, stop_tol=1e-10)
    assert (model.params["n_rounds"], model.params["max_bins"], model.params["stop_tol"]) == (5, 9, 1e-10)
    assert model.params["method"] == fit.__name__
    assert type(model).__name__ in repr(model)
    assert str(model.n_iter) in repr(model)


@each_fit
def test_a_normal_fit_is_silent(fit, data, capfd):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X, y, n_rounds=30)
    assert capfd.readouterr() == ("", "")


@each_fit
def test_a_rule_that_did_not_end_the_fit_is_reported(fit, data):
    """Making all the rounds asked for is the job done, unless a stopping rule was asked for and not met."""
    X, y = data
    valid = (X[y != 0], y[y != 0])
    with pytest.warns(fastpu.ConvergenceWarning, match="all 4 rounds.*stop_tol = 0.001"):
        model = fit(X, y, n_rounds=4, stop_tol=1e-3)
    assert (model.status, model.converged) == ("n_rounds", False)
    with pytest.warns(fastpu.ConvergenceWarning, match="all 4 rounds.*early stopping"):
        fit(X, y, n_rounds=4, eval_set=valid, early_stopping_rounds=50)


@each_fit
def test_an_empty_model_is_reported(fit):
    with pytest.warns(fastpu.DegenerateModelWarning, match=f"{fit.__name__}.*empty"):
        model = fit(np.zeros((4, 2)), [1, 1, -1, -1])
    np.testing.assert_array_equal(model.decision_function(np.ones((3, 2))), np.zeros(3))
    np.testing.assert_array_equal(model.predict(np.ones((3, 2))), [-1, -1, -1])


def test_one_row_a_group_and_one_column():
    for y in ([1, 0], [0, -1], [1, -1]):
        model = fastpu.fit_pnu_auc_boost([[1.0], [0.0]], y)
        assert (model.n_iter, model.status) == (1, "perfect")
        np.testing.assert_array_equal(model.predict([[1.0], [0.0]]), [1, -1])
