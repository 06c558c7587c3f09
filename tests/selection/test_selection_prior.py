"""The prior of `select`: that of the criterion, and of the fits that need one."""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import DECLARED, function_of
from fastpu.forest._forest_options import LOSSES
from helpers import refused
from method_recipes import problem
from selection_cases import Recorder, Shifted, pu_data, without_seconds

pytestmark = pytest.mark.filterwarnings(
    "ignore::fastpu.exceptions.EstimateWarning", "ignore::fastpu.exceptions.DegenerateModelWarning"
)

SMALL = {"n_trees": 3, "n_rounds": 3, "C_pos": 1.0, "C_unl": 0.5}
CHOICES = {"fit_forest": ("loss", LOSSES), "fit_boosted_trees": ("loss", ("pnu_auc", "logistic", "upu"))}


@pytest.fixture(scope="module")
def data():
    return pu_data(60, 20)[:2]


def small(fit):
    """Options of a quick fit."""
    return {name: value for name, value in SMALL.items() if name in inspect.signature(fit).parameters}


@pytest.mark.parametrize("scoring", ["err_star", "average_precision"])
@pytest.mark.parametrize("name", [name for name, method in DECLARED.items() if {"P", "U"} <= set(method.groups)])
def test_every_method_is_chosen_by_every_criterion_with_a_prior(name, scoring):
    fit = function_of(name)
    X, y = problem(120, DECLARED[name].groups)
    options = {"scoring": scoring, "prior": 0.4, "cv": 2, "random_state": 0, "admit": ["degenerate", "not_converged"]}
    forms = [{}] if name not in CHOICES else [{CHOICES[name][0]: value} for value in CHOICES[name][1]]
    for form in forms:
        if name == "fit_boosted_trees" and form["loss"] != "pnu_auc":
            X, y = X[y != -1], y[y != -1]
        chosen = fastpu.select(fit, X, y, [{}], **form, **options, **small(fit))
        assert chosen.table["status"][0] != "failed"
        needs_it = name in ("fit_upu", "fit_nnpu", "fit_pnu_auc") or not {"upu", "nnpu"}.isdisjoint(form.values())
        assert chosen.model.params.get("prior") == (0.4 if needs_it else None)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_points_that_need_a_prior_are_given_it_and_the_others_are_not(data, n_threads):
    grid = {"loss": ["gini", "nnpu", "upu"], "max_leaves": [2, 3]}
    options = {"scoring": "err_star", "prior": 0.4, "cv": 2, "random_state": 0, "n_trees": 20}
    found = fastpu.select(fastpu.fit_forest, *data, grid, n_threads=n_threads, **options)
    assert "failed" not in found.table["status"].tolist()
    for i, (loss, leaves) in enumerate(itertools.product(*grid.values())):
        prior = {} if loss == "gini" else {"prior": [0.4]}
        alone = fastpu.select(fastpu.fit_forest, *data, {"loss": [loss], "max_leaves": [leaves], **prior}, **options)
        assert without_seconds(alone.table)["score"] == [found.table["score"][i]]


def test_an_estimate_is_of_the_unlabelled_rows_for_the_fits_alone_where_puf_judges_a_single_set(data):
    seen = []

    def fit(X, y, *, prior, scenario="case_control", shift=0.0):
        seen.append((prior, scenario))
        return Shifted(shift)

    options = {"scoring": "puf", "scenario": "single_set", "cv": 2, "random_state": 0}
    estimate = fastpu.priors.PriorEstimate(0.4, None, np.zeros(0))
    found = fastpu.select(fit, *data, {"shift": [0.5, 1.0]}, prior=estimate, **options)
    assert set(seen) == {(0.4, "case_control")}
    plain = fastpu.select(Recorder(), *data, {"shift": [0.5, 1.0]}, **options)
    assert found.table["score"].tolist() == plain.table["score"].tolist()


def test_a_prior_of_the_users_is_not_replaced(data):
    X, y = data
    seen = []

    def fit(X, y, *, prior, scenario="case_control", shift=0.0):
        seen.append((prior, scenario))
        return Shifted(shift)

    single = {"scenario": "single_set", "scoring": "err_star", "prior": 0.5, "cv": 2}
    for function, grid, expected in (
        (fit, {"shift": [1.0]}, (0.5, "single_set")),
        (fit, {"prior": [0.1]}, (0.1, "case_control")),
        (functools.partial(functools.partial(fit, prior=0.2), shift=1.0), [{}], (0.2, "case_control")),
        (fit, [{"prior": [0.1]}, {"scenario": ["case_control"]}], (0.5, "case_control")),
    ):
        seen.clear()
        fastpu.select(function, X, y, grid, **single)
        assert expected in seen
        assert len(set(seen)) == len(grid if isinstance(grid, list) else [grid])


def test_a_fit_says_where_it_needs_a_prior(data):
    def fit(X, y, *, kind="plain", prior=None):
        assert (prior is None) == (kind == "plain")
        return Shifted(0.0)

    fit.prior_where = ("kind", ("shifted", "moved"))
    for function, grid in ((fit, {"kind": ["plain", "moved"]}), (functools.partial(fit, kind="shifted"), [{}])):
        found = fastpu.select(function, *data, grid, prior=0.4, cv=2)
        assert set(found.table["status"].tolist()) == {"ok"}
    for function in (fit, functools.partial(fit, kind="plain"), fastpu.fit_forest):
        refused(ValueError, "prior must be None where neither scoring nor fit needs it, got 0.4 for scoring='puf'",
                fastpu.select, function, *data, [{}], prior=0.4)  # fmt: skip


def test_failed_points_are_told_with_the_values_that_failed(data):
    def told(fit, grid, **options):
        with pytest.warns(fastpu.exceptions.FailedFitWarning) as caught:
            fastpu.select(fit, *data, grid, cv=2, **options)
        (warning,) = caught
        assert warning.filename == __file__
        return str(warning.message)

    fit = Recorder(raises={1.0: ValueError("no"), 2.0: ValueError("never")})
    text = told(fit, [{"shift": [0.0, 1.0], "other": [np.arange(2), "b"]}, {"shift": [2.0]}])
    assert text == (
        "3 of 5 points of grid failed and cannot be chosen (all with shift=1.0, shift=2.0); the first, shift=1.0, "
        "other=array([0, 1]), says: ValueError: no"
    )
    text = told(
        fastpu.fit_forest,
        {"loss": ["gini", "nnpu"], "prior": [0.3]},
        scoring="err_star",
        prior=0.3,
        n_trees=20,
        random_state=0,
    )
    assert text.startswith("1 of 2 points of grid failed and cannot be chosen (all with loss='gini'); the first")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fastpu.select(Recorder(), *data, {"shift": [0.0, 1.0]}, cv=2)
