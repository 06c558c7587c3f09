"""`select` with the iterative methods, which share work over C and can collapse."""

from __future__ import annotations

import time

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import function_of
from selection_cases import pu_data, without_seconds

COSTS = (10.0 ** np.linspace(-3, 2, 6)).tolist()


@pytest.fixture(scope="module")
def data():
    X, y, truth = pu_data(200, 15, seed=3)
    return X, y, truth


def test_seconds_of_shared_fits_add_up_to_no_more_than_the_search_took(data):
    X, y, _ = data
    start = time.perf_counter()
    seconds = fastpu.select(fastpu.fit_isvm, X, y, {"C": COSTS}, random_state=0).table["seconds"]
    assert 0 < seconds.min() <= seconds.sum() <= time.perf_counter() - start


def test_a_collapsed_fit_is_inadmissible(data):
    """For small C the psi loss has its minimum at w = 0, which calls all rows the same."""
    X, y, _ = data
    found = fastpu.select(fastpu.fit_ipsi, X, y, {"C": COSTS}, init="psi", random_state=0)
    assert found.table["status"][0] == "degenerate"
    assert found.table["score"][0] == -np.inf
    assert np.any(found.model.coef != 0)


@pytest.mark.parametrize("name", ["fit_isvm", "fit_ipsi"])
def test_models_that_call_too_many_rows_positive_are_judged_as_others_are(name):
    """Their scores may rank well. Of all fits only that of all rows shows the warning."""
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.05
    X = rng.normal(size=(2000, 6)) + np.outer(truth, [1.5, 1.5, 0, 0, 0, 0])
    y = truth & (rng.random(2000) < 0.5)
    fit = function_of(name)

    def alone(X, y, *, C):
        return fit(X, y, C=C)

    tables = []
    for each in (fit, alone):
        with pytest.warns(fastpu.exceptions.EstimateWarning, match="of the unlabelled rows positive") as told:
            found = fastpu.select(each, X, y, {"C": [1.0, 10.0]}, scoring="auc", cv=3, random_state=0)
        assert len(told) == 1
        assert found.table["status"].tolist() == ["ok", "ok"]
        tables.append(without_seconds(found.table))
    assert tables[0] == tables[1]


def test_a_default_among_other_values_is_fitted_by_itself(data):
    X, y, _ = data
    found = fastpu.select(fastpu.fit_isvm, X, y, {"C": [None, 1.0]}, scoring="auc", random_state=0)
    apart = [fastpu.select(fastpu.fit_isvm, X, y, {"C": [C]}, scoring="auc", random_state=0) for C in (None, 1.0)]
    assert found.table["score"].tolist() == [chosen.best_score for chosen in apart]
