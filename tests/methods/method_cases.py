"""A small fit of every method, and a model of every class and form."""

from __future__ import annotations

import functools
import inspect
import warnings
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import fastpu
from fastpu.common._methods import DECLARED, function_of

#: What a function wants beside rows and labels, and what makes a fit the same every time.
_WANTED = {"prior": 0.4, "random_state": 0}
_REQUIRED = {"C_pos": 1.0, "C_unl": 0.5}
#: Candidates of an ensemble that are quick: one takes rows as they are and negative ones, one takes numbers.
_CANDIDATES = {"stumps": functools.partial(fastpu.fit_pnu_auc_boost, n_rounds=20), "line": fastpu.fit_isvm}

#: Forms of a model beside the one of the defaults: options of the fit, and whether rows are CSR.
_GAUSS = {"model": "gauss", "n_centers": 5}
FORMS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "rbf, CSR": ("fit_bsvm", {"kernel": "rbf"}, True),
    "poly": ("fit_svm", {"kernel": "poly", "coef0": 1.0}, False),
    "linear": ("fit_one_class_svm", {"kernel": "linear"}, False),
    "bags, CSR": ("fit_bagging_svm", {"kernel": "rbf", "n_bags": 3}, True),
    "mapping, CSR": ("fit_svmc", {"kernel": "rbf"}, True),
    "mapping, linear": ("fit_smc", {"kernel": "linear"}, False),
    "path, CSR": ("fit_svm_path", {"kernel": "rbf"}, True),
    "path, rbf": ("fit_pu_svm_path", {"kernel": "rbf", "C_pos": 2.0}, False),
    "pual, rbf": ("fit_pual", {"kernel": "rbf"}, False),
    "pual, landmarks": ("fit_gllc", {"kernel": "rbf", "n_components": 5}, True),
    "ranks, gauss": ("fit_ls_auc", _GAUSS, False),
    "ranks, gauss, CSR": ("fit_samult", _GAUSS, True),
    "trees, CSR": ("fit_forest", {"n_trees": 5}, True),
    "trees, nnpu": ("fit_forest", {"n_trees": 5, "loss": "nnpu", "splitter": "best"}, False),
    "boosted bags, CSR": ("fit_boosted_trees", {"n_rounds": 5, "n_bags": 3}, True),
    "boosted trees": ("fit_boosted_trees", {"n_rounds": 5, "min_leaf_rows": 3}, False),
    "risk, gauss": ("fit_upu", {"model": "gauss", "n_centers": 5}, True),
    "network": ("fit_nnpu", {"model": "mlp", "n_hidden": 4, "n_epochs": 3}, False),
    "risk, linear": ("fit_nnpu", {"model": "linear", "n_epochs": 3}, False),
}


def rows_for(name: str, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two columns and labels of the groups that a function takes: positives lie 1.5 higher in both columns."""
    rng = np.random.default_rng(seed)
    codes = {"P": 1, "U": 0, "N": -1}
    y = np.repeat([codes[group] for group in DECLARED[name].groups], n)
    return rng.normal(size=(y.size, 2)) + 1.5 * _truth(y, rng)[:, None], y


def pu_rows(n_pos: int = 60, n_unl: int = 120, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Fresh rows of the same kind, positive and unlabelled ones, of which four in ten are positive."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_unl])
    return rng.normal(size=(y.size, 2)) + 1.5 * _truth(y, rng)[:, None], y


def _truth(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(y == 0, rng.random(y.size) < 0.4, y == 1)


def fit(name: str, X: Any, y: Any, **options: Any) -> Any:
    """Call a fit function with what it wants."""
    function = function_of(name)
    parameters = inspect.signature(function).parameters
    given = {key: value for key, value in _WANTED.items() if key in parameters}
    if name in {"fit_forest", "fit_boosted_trees"} and not {"loss"} & set(options):
        del given["prior"]  # the defaults have none
    if name == "fit_ensemble":
        given = {"random_state": 0, "candidates": _CANDIDATES}
    given |= {key: value for key, value in _REQUIRED.items() if key in parameters and _is_required(parameters[key])}
    return function(X, y, **{**given, **options}) if DECLARED[name].groups != "P" else function(X, **options)


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


@cache
def fitted(name: str) -> fastpu.Model:
    """The model of a function on its rows, with the defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ends early, or calls all rows the same: it is a model all the same
        return fit(name, *rows_for(name))


@cache
def formed(form: str) -> fastpu.Model:
    """The model of one of FORMS."""
    name, options, is_sparse = FORMS[form]
    X, y = rows_for(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(name, sp.csr_array(X) if is_sparse else X, y, **options)
