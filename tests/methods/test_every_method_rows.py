"""What every fit makes of its rows: one model from all forms of them, weights as repetitions, text left sparse."""

from __future__ import annotations

import collections
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.common._methods import DECLARED
from fastpu.common._sharing import shared_parameters
from method_recipes import FITS, FORMS, LABELS, Recipe, bits

WEIGHTED = {name: recipe for name, recipe in FITS.items() if DECLARED[recipe.name].weights}

#: Scores of one model from other forms of its rows, relative to the largest: kernel values of float32 rows are float32.
FORM_TOL = 1e-5
#: Of repeated rows, whose sums are made in another order.
WEIGHT_TOL = 1e-8

STATUS = Path("/proc/self/status")

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::fastpu.exceptions.{name}")
    for name in ("ConvergenceWarning", "DegenerateModelWarning", "EstimateWarning", "ScaleWarning")
]


def each(recipes: dict[str, Recipe]) -> Any:
    return pytest.mark.parametrize("recipe", recipes.values(), ids=recipes.keys())


def fit(recipe: Recipe, *arguments: Any, **options: Any) -> fastpu.Model:
    """The model of a fit whose solver goes on until rounding ends it."""
    if recipe.name in {"fit_svm", "fit_bsvm", "fit_nu_svm", "fit_one_class_svm", "fit_bagging_svm"}:
        options = {"tol": 1e-9, **options}
    return recipe.call(*arguments, **options)


def rows(recipe: Recipe) -> tuple[np.ndarray, list[np.ndarray]]:
    """Rows that float32 holds exactly, and their labels where the function takes some."""
    X, *labels = recipe.arguments(200)
    return np.round(64 * X) / 64, labels


def assert_same_scores(
    model: fastpu.Model, expected: fastpu.Model, X: np.ndarray, tol: float, rows: Any = None
) -> None:
    wanted = expected.decision_function(X)
    found = model.decision_function(X if rows is None else rows)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tol * np.abs(wanted).max())


@pytest.mark.parametrize("form", ["float32", "csr"])
@each(FITS)
def test_all_forms_of_rows_give_the_same_model(recipe, form):
    X, labels = rows(recipe)
    expected, model = fit(recipe, X, *labels), fit(recipe, FORMS[form](X), *labels)
    assert model.status == expected.status
    assert type(model) is type(expected)
    for other in (X, FORMS[form](X), sp.csr_array(X.astype(np.float32))):
        assert_same_scores(model, expected, X, FORM_TOL, other)


@each({name: recipe for name, recipe in WEIGHTED.items() if DECLARED[recipe.name].repeats})
def test_weights_are_repeated_rows(recipe):
    X, labels = rows(recipe)
    repeats = np.random.default_rng(2).integers(0, 4, size=len(X))
    repeats[:9] = 2
    model = fit(recipe, X, *labels, sample_weight=repeats)
    again = fit(recipe, np.repeat(X, repeats, axis=0), *(np.repeat(y, repeats) for y in labels))
    assert_same_scores(model, again, X, WEIGHT_TOL)


@each(WEIGHTED)
def test_rows_of_weight_zero_are_absent_whatever_they_hold(recipe):
    X, labels = rows(recipe)
    kept = np.random.default_rng(1).random(len(X)) < 0.6
    kept[:9] = True
    for form in FORMS.values():
        far = form(np.where(kept[:, None], X, 1e9))
        model = fit(recipe, far, *labels, sample_weight=kept.astype(float))
        assert_same_scores(model, fit(recipe, form(X[kept]), *(y[kept] for y in labels)), X, WEIGHT_TOL)


@each(WEIGHTED)
def test_weights_of_one_change_no_bit(recipe):
    X, labels = rows(recipe)
    model = fit(recipe, X, *labels, sample_weight=np.ones(len(X)))
    assert bits(model) == bits(fit(recipe, X, *labels))


def _peak() -> int:
    """Bytes of the most memory that was in use since the peak was reset."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())[1])


@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc")
# One word tells of the labels.
@pytest.mark.filterwarnings("ignore:.*tell labelled from unlabelled rows:fastpu.exceptions.LabelWarning")
@each({name: recipe for name, recipe in FITS.items() if DECLARED[recipe.name].csr and "mlp" not in name})
def test_text_in_csr_is_never_made_dense(recipe):
    """160 MB as an array; a network is left out, whose weights are as many as the words."""
    n, d, each = 200, 100_000, 30
    columns = np.sort(np.random.default_rng(5).choice(2000, size=(n, each)), axis=1) * 49
    y = np.array([LABELS[group] for group in recipe.groups])[np.arange(n) % len(recipe.groups)]
    columns[y == 1, 0] = 7
    X = sp.csr_array((np.ones(n * each), (np.repeat(np.arange(n), each), columns.ravel())), shape=(n, d))
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = _peak()
    judged = {"eval_set": (X, y)} if recipe.takes("eval_set") else {}
    model = recipe.call(X, *([] if recipe.groups == "P" else [y]), **judged)
    scores = model.decision_function(X)
    if hasattr(model, "staged_decision_function"):
        collections.deque(model.staged_decision_function(X), maxlen=0)
    assert _peak() - before < n * d * 8 / 2
    assert np.isfinite(scores).all()
    assert recipe.groups == "P" or scores[y == 1].mean() > scores[y != 1].mean()


@pytest.mark.parametrize("form", ["float64", "csr"])
@each({name: recipe for name, recipe in FITS.items() if shared_parameters(recipe.function) and "paper" not in name})
def test_many_values_give_the_models_of_each(recipe, form):
    X, y = recipe.arguments(120, form=form)
    values = [0.5, 2.0, 30.0]
    for name in shared_parameters(recipe.function):
        alone = [recipe.call(X, y, **{name: value}) for value in values]
        for given in (values, tuple(values), np.array(values, dtype=np.float32)):
            models = recipe.call(X, y, **{name: given}, n_threads=2)
            assert isinstance(models, list)
            for value, model, expected in zip(values, models, alone, strict=True):
                assert model.params[name] == value
                if not recipe.sums_by_blas:
                    assert bits(model) == bits(expected)
                assert_same_scores(model, expected, X, 1e-8)
        assert isinstance(recipe.call(X, y, **{name: np.int64(2)}), fastpu.Model)


@each(FITS)
def test_the_model_names_its_method_and_predicts_by_its_threshold(recipe):
    X, labels = rows(recipe)
    model = fit(recipe, X, *labels)
    assert model.params["method"] == recipe.name
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) > model.threshold, 1, -1))
