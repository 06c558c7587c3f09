"""PUAL, GLLC and the biased LS-SVM: forms of rows, many points, threads of BLAS, callbacks, warnings."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

import fastpu
from fastpu.common._sharing import shared_parameters, shares_together
from interrupts import INTERRUPT_SECONDS, interrupted_after, posix
from machine_cases import FORMS, each_form
from pual_cases import (
    CLOSED_TOL,
    FIT_TOL,
    FITS,
    KERNELS,
    assert_same_but_for_rounding,
    bits,
    each_fit,
    each_kernel,
    pu_rows,
    quiet,
)

pytestmark = quiet

POINTS = {
    "C_pos": [1.0, 0.1, 1.0, 10.0, 1.0, 1.0, 0.1],
    "C_unl": [0.1, 0.1, 0.5, 0.1, 0.1, 0.1, 0.5],
    "lam": [1.0, 1.0, 1.0, 0.01, 10.0, 1.0, 1.0],
}


@pytest.fixture(scope="module")
def data():
    return pu_rows(80, 4, seed=3)


# -- rows --------------------------------------------------------------------------------------------------------------


@each_form
@each_kernel
@each_fit
def test_all_forms_of_rows_give_the_same_model(fit, kernel, form, data):
    X, y = data
    tol = CLOSED_TOL if fit.function is not fastpu.fit_pual else FIT_TOL
    expected, model = fit(X, y, **kernel), fit(form(X), y, **kernel)
    assert model.status == expected.status
    np.testing.assert_allclose(model.objective[-1], expected.objective[-1], rtol=1e-8)
    # float32 rows are scored with kernel values in float32
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=max(tol, 1e-5))
    np.testing.assert_allclose(model.decision_function(form(X)), expected.decision_function(X), atol=max(tol, 1e-5))


@each_fit
def test_a_kernel_matrix_and_a_function_give_what_the_kernel_does(fit, data):
    X, y = data
    K = np.exp(-0.4 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    options = {"graph": fastpu.knn_graph(X)} if fit.has_graph else {}
    expected = fit(X, y, kernel="rbf", gamma=0.4, **options).decision_function(X)

    def rbf(A, B):
        return np.exp(-0.4 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    for rows, kernel in ((K, "precomputed"), (K.astype(np.float32), "precomputed"), (X, rbf)):
        tol = 1e-3 if rows.dtype == np.float32 else FIT_TOL
        model = fit(rows, y, kernel=kernel, **options)
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=tol)
        if fit.options.get("solver") != "admm":
            near = fit(rows, y, kernel=kernel, n_components=60, random_state=0, **options)
            np.testing.assert_allclose(near.decision_function(rows), expected, atol=0.3)


# -- many points -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "form"), [("linear", "dense64"), ("linear", "csr32"), ("rbf", "dense32"), ("rbf", "csr64")]
)
@each_fit
def test_many_points_give_the_models_of_each(fit, kernel, form, data):
    X, y = data
    rows, kernel = FORMS[form](X), KERNELS[kernel]
    points = [dict(zip(POINTS, values, strict=True)) for values in zip(*POINTS.values(), strict=True)]
    alone = [fit(rows, y, **kernel, **point) for point in points]
    for n_threads in (1, 2, 7):
        models = fit(rows, y, n_threads=n_threads, **kernel, **POINTS)
        for model, expected in zip(models, alone, strict=True):
            assert_same_but_for_rounding(model, expected, rows)


@each_fit
def test_any_sequence_is_taken_and_a_number_goes_with_each(fit, data):
    X, y = data
    expected = [bits(model) for model in fit(X, y, lam=[1.0, 3.0], C_pos=2.0)]
    for lams in ((1.0, 3.0), np.array([1, 3]), np.array([1.0, 3.0], dtype=np.float32), range(1, 4, 2)):
        assert [bits(model) for model in fit(X, y, lam=lams, C_pos=[2.0, 2.0])] == expected
    assert isinstance(fit(X, y, lam=[3.0]), list)
    for one in (3, np.float32(3.0), np.int64(3)):
        assert isinstance(fit(X, y, lam=one), fastpu.PualMachine)


def test_sigma_is_one_of_the_parameters(data):
    X, y = data
    models = fastpu.fit_pual(X, y, sigma=[0.1, 1.0, 100.0])
    for sigma, model in zip((0.1, 1.0, 100.0), models, strict=True):
        assert_same_but_for_rounding(model, fastpu.fit_pual(X, y, sigma=sigma), X)
    assert len({bits(model) for model in models}) == 3


def test_select_fits_the_whole_grid_at_once(data):
    X, y = data
    for fit in FITS.values():
        assert shared_parameters(fit.function)[:3] == ("C_pos", "C_unl", "lam")
        assert shares_together(fit.function)
    calls = []

    def counted(X, y, **options):
        calls.append(options)
        return fastpu.fit_pual(X, y, kernel="rbf", **options)

    counted.shares, counted.shares_together = fastpu.fit_pual.shares, True
    grid = {"lam": [0.1, 1.0], "sigma": [1.0, 10.0], "C_unl": [0.1, 0.5]}
    chosen = fastpu.select(counted, X, y, grid, cv=2, random_state=0, admit=["degenerate"])
    assert [len(options["lam"]) for options in calls[:-1]] == [8, 8]
    alone = fastpu.select(lambda X, y, *, lam, sigma, C_unl: fastpu.fit_pual(
        X, y, kernel="rbf", lam=lam, sigma=sigma, C_unl=C_unl), X, y, grid, cv=2, random_state=0,
        admit=["degenerate"])  # fmt: skip
    np.testing.assert_allclose(alone.table["score"], chosen.table["score"], rtol=1e-9)
    assert_same_but_for_rounding(chosen.model, fastpu.fit_pual(X, y, kernel="rbf", **chosen.best_params), X)


def test_a_graph_that_was_searched_before_serves_any_sigma(data):
    X, y = data
    found = fastpu.knn_graph(X, n_neighbors=5)
    for sigma in (0.5, 5.0):
        expected = fastpu.fit_pual(X, y, sigma=sigma)
        assert bits(fastpu.fit_pual(X, y, graph=found, sigma=sigma)) == bits(expected)
        pair = fastpu.knn_similarity(X, sigma=sigma)
        assert bits(fastpu.fit_pual(X, y, graph=pair)) == bits(expected)
        assert bits(fastpu.fit_pual(X, y, graph=tuple(sp.coo_array(m) for m in pair))) == bits(expected)


# -- the model ---------------------------------------------------------------------------------------------------------


@each_kernel
@each_fit
def test_the_model_is_what_it_says(fit, kernel, data):
    X, y = data
    model = fit(X, y, **kernel)
    f = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), np.where(f > 0, 1, -1))
    assert (model.threshold, model.threshold_rule, model.converged) == (0.0, "zero", True)
    assert model.params["method"] == fit.function.__name__
    assert model.params["lam"] == 1.0
    assert len(model.objective) == len(model.history["gap"]) == len(model.history["n_iter"])
    assert (np.diff(model.history["n_iter"]) >= 0).all()
    if model.coef is not None:
        np.testing.assert_allclose(f, X @ model.coef + model.intercept, atol=1e-12)
    else:
        assert model.support_vectors.shape == X.shape
    for array in (model.dual_coef, model.support, model.objective, *model.history.values()):
        assert not array.flags.writeable
    matched = model.with_threshold(prior=0.3, X_unl=X[y == 0])
    assert abs(np.mean(matched.predict(X[y == 0]) == 1) - 0.3) < 0.02


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": np.array([-1.0])}, "alpha must be >= 0 and finite"),
        ({"dual_coef": np.full(80, np.nan)}, "dual_coef must be finite"),
        ({"dual_coef": np.ones(3)}, "as many entries in dual_coef"),
        ({"intercept": np.inf}, "intercept must be finite, got inf"),
        ({"kernel": "laplace"}, "kernel 'laplace' is unknown"),
    ],
)
def test_a_model_that_makes_no_sense_is_refused(change, words, data):
    model = fastpu.fit_pual(*data, kernel="rbf")
    with pytest.raises(ValueError, match=words):
        fastpu.PualMachine(**{**model.__reduce__()[1][1], **change})


# -- threads -----------------------------------------------------------------------------------------------------------


def test_many_positives_in_parallel():
    """Enough for blocks of the interior point; BLAS is left as it was found."""
    X, y = pu_rows(9000, 6, seed=5)
    before = [library["num_threads"] for library in threadpool_info()]
    one, *others = (fastpu.fit_pual(X, y, n_threads=n, n_neighbors=0) for n in (1, 2, 7))
    for model in others:
        assert_same_but_for_rounding(model, one, X)
    assert [library["num_threads"] for library in threadpool_info()] == before


def test_blas_has_one_thread_while_fits_run(data):
    seen = []

    def look(_):
        seen.append({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})

    fastpu.fit_pual(*data, callback=look, n_threads=2)
    assert seen
    assert set.union(*seen) == {1}


@posix
@pytest.mark.parametrize("kernel", [KERNELS["linear"], KERNELS["rbf"]], ids=["linear", "rbf"])
def test_ctrl_c_ends_a_fit(kernel):
    X, y = pu_rows(2500, 8, seed=6)
    lams = np.geomspace(1e-3, 1e3, 20_000)
    gc.collect()  # or the interrupt may come out of the end of something that other tests have left
    delay = interrupted_after(lambda: fastpu.fit_pual(X, y, n_threads=2, lam=lams, **kernel))
    assert delay < INTERRUPT_SECONDS, f"stopped {delay:.3f} s after Ctrl-C"
    assert fastpu.fit_pual(X[:50], y[:50]).converged


# -- callbacks ---------------------------------------------------------------------------------------------------------


@each_kernel
@each_fit
def test_the_callback_hears_of_every_step(fit, kernel, data):
    X, y = data
    heard = []
    models = fit(X, y, callback=heard.append, **kernel, **POINTS)
    assert all(isinstance(info, fastpu.PualRound) for info in heard)
    for model in models[1:5]:
        mine = [i for i in heard if (i.C_pos, i.C_unl, i.lam) == tuple(model.params[n] for n in POINTS)]
        if fit.function is fastpu.fit_pual:
            np.testing.assert_array_equal([i.gap for i in mine][-len(model.objective) + 1 :], model.history["gap"][:-1])
        else:
            assert mine[-1].objective == model.objective[-1]
    assert [bits(model) for model in models] == [bits(model) for model in fit(X, y, **kernel, **POINTS)]


@each_fit
def test_a_true_callback_ends_the_fit_without_a_warning(fit, data):
    X, y = data
    model = fit(X, y, C_pos=0.3, callback=lambda _: True)
    assert (model.status, model.converged) == ("callback", False)
    few = fit(X, y, lam=[1.0, 2.0, 3.0], callback=lambda info: info.lam == 2.0)
    assert [m.status == "callback" for m in few] == [False, True]
    assert bits(few[0]) == bits(fit(X, y, lam=1.0))


# -- warnings ----------------------------------------------------------------------------------------------------------


def test_a_fit_out_of_steps_is_told_with_its_gap(data):
    X, y = data
    with pytest.warns(fastpu.ConvergenceWarning) as caught:
        model = fastpu.fit_pual(X, y, sigma=1.0, max_iter=1)
    message = str(caught[0].message)
    assert message.startswith("fit_pual: for C_pos = 1, C_unl = 0.1, lam = 1, sigma = 1: the duality gap is ")
    assert message.endswith("above tol = 1e-09, after 1 steps; raise max_iter, or accept a larger tol")
    assert caught[0].filename == __file__
    assert (model.status, model.converged) == ("max_iter", False)
    assert 0 < model.gap < np.inf
    assert model.gap <= model.objective[-1]


def test_flaws_of_many_points_are_told_once(data):
    X, y = data
    with pytest.warns(fastpu.ConvergenceWarning) as caught:
        fastpu.fit_pual(X, y, lam=[0.1, 1.0, 2.0], max_iter=1)
    assert len(caught) == 1
    assert "for 3 of 3 models, the first with C_pos = 1, " in str(caught[0].message)


@pytest.mark.filterwarnings("default::fastpu.DegenerateModelWarning")
@each_fit
def test_a_model_of_one_sign_gives_a_warning(fit, data):
    X, y = data
    with pytest.warns(fastpu.DegenerateModelWarning, match="the model calls all 80 training rows negative: ") as caught:
        fit.function(X, y, **{**fit.options, "C_pos": 1e-6})
    assert caught[0].filename == __file__


def test_text_in_csr_is_never_made_dense():
    rng = np.random.default_rng(5)
    n, d, each = 200, 1_000_000, 30
    columns = np.sort(rng.choice(2000, size=(n, each)), axis=1) * 499
    y = (np.arange(n) < 40).astype(int)
    columns[:80, 0] = 7
    X = sp.csr_array((np.ones(n * each), (np.repeat(np.arange(n), each), columns.ravel())), shape=(n, d))
    for fit in FITS.values():
        model = fit(X, y, lam=0.1)
        assert np.isfinite(model.decision_function(X)).all()
        assert (model.predict(X[:40]) == 1).mean() > 0.5
