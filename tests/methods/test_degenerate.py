"""A model that calls all its training rows the same never comes without a warning, whichever function made it."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.common._methods import DECLARED
from helpers import outcome
from method_recipes import LABELS, plain

#: Options under which a model of rows that differ calls them all the same. The costs of the others do not weigh one
#: group more than another, or their threshold lies between the groups.
ONE_SIDED = {
    "fit_bls_svm": {"C_pos": 1e-4, "C_unl": 100.0},
    "fit_bpsi": {"C_pos": 1e-4, "C_unl": 100.0},
    "fit_bsvm": {"C_pos": 1e-4, "C_unl": 100.0},
    "fit_gllc": {"C_pos": 1e-4, "C_unl": 100.0},
    "fit_ipsi": {"C": 1e-4},
    "fit_nnpu": {"prior": 0.01, "lam": 10.0},
    "fit_pual": {"C_pos": 1e-4, "C_unl": 100.0},
    "fit_svm": {"sample_cost": np.repeat([1e-4, 1.0], 40)},
    "fit_upu": {"prior": 0.01, "loss": "logistic", "lam": 10.0},
}


def rows_for(name, n=40):
    """Two columns and labels of the groups that a function takes: positives lie 1.5 higher in both columns."""
    rng = np.random.default_rng(0)
    y = np.repeat([LABELS[group] for group in DECLARED[name].groups], n)
    truth = np.where(y == 0, rng.random(y.size) < 0.4, y == 1)
    return rng.normal(size=(y.size, 2)) + 1.5 * truth[:, None], y


def outcome_of(name, X, y, **options):
    recipe = plain(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = recipe.call(*((X, y) if recipe.takes("y") else (X,)), **options)
    signs = model.predict(X)
    found = [w for w in caught if issubclass(w.category, fastpu.exceptions.DegenerateModelWarning)]
    return model, np.unique(signs).size == 1, found


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("name", DECLARED)
def test_rows_that_are_all_the_same(name, value, sparse):
    X, y = rows_for(name, 20)
    X = np.full_like(X, value)
    model, is_one_sided, found = outcome_of(name, sp.csr_array(X) if sparse else X, y)
    assert is_one_sided
    if name == "fit_one_class_svm":  # all rows are on the boundary, which is inside: other rows are not
        assert (model.predict(X) == 1).all()
        return
    assert found
    assert all(warning.filename == __file__.replace("test_degenerate", "method_recipes") for warning in found)


@pytest.mark.parametrize("name", ONE_SIDED)
def test_costs_that_weigh_one_group_alone(name):
    X, y = rows_for(name)
    _, is_one_sided, found = outcome_of(name, X, y, **ONE_SIDED[name])
    assert is_one_sided
    assert len(found) == 1
    assert name in str(found[0].message)


def test_stumps_whose_sum_has_one_sign():
    X = [[0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    with pytest.warns(
        fastpu.exceptions.DegenerateModelWarning, match="calls all 4 training rows positive: their scores are"
    ):
        model = fastpu.baselines.fit_pnu_adaboost(X, [0, 0, 0, 1], n_rounds=3)
    assert model.n_iter == 3
    assert (model.predict(X) == 1).all()


@pytest.mark.parametrize("name", DECLARED)
def test_no_small_problem_gives_a_one_sided_model_in_silence(name):
    """Groups of any sizes, classes near and far, rounded features: the warning is there whenever it should be."""
    n_one_sided = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        groups = DECLARED[name].groups
        y = np.repeat([LABELS[group] for group in groups], [int(rng.choice([2, 5, 30])) for _ in groups])
        truth = np.where(y == 0, rng.random(y.size) < 0.4, y == 1)
        X = rng.normal(size=(y.size, 2)) + rng.choice([-2, -0.1, 0, 0.1, 2]) * truth[:, None]
        X = np.round(X) if rng.random() < 0.5 else X
        options = {"C": 1.0} if name == "fit_ipsi" else {}  # its default does not collapse
        result = outcome(partial(outcome_of, **options), name, X, y)
        if isinstance(result, ValueError):  # too few rows for a bag or for nu
            assert "must be" in str(result)
            continue
        model, is_one_sided, found = result
        if is_one_sided and not (name == "fit_one_class_svm" and (model.predict(X) == 1).all()):
            n_one_sided += 1
            assert found, (seed, model)
    assert n_one_sided or name not in ONE_SIDED or name == "fit_upu"  # whose default calls some of each here
