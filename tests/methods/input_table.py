"""What every parameter of every public function takes: the one table that the tests of bad input are made from.

A parameter that stands in a signature and not in the table fails `test_input_parameters.py`, so that no new function
can escape. `PARAMETERS` is asked for "function.parameter" first and then for "parameter".
"""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import Any

import numpy as np

from fastpu import models
from fastpu.boosting import _boosted_trees_options
from fastpu.common._methods import function_of
from input_values import EITHER, Parameter, choice, integer, positive, real, share

_PAIR = ((3, TypeError), ("ab", TypeError), ([], TypeError), ((np.ones((2, 3)),), TypeError), (object(), TypeError))
_TOO_FAR = ((1e101, ValueError), (1e-101, ValueError))
_MOST_CUTS = 65535
# An integer is a number of rows, any other number a share of them.
_K = Parameter(
    "object",
    bad=(
        *((value, TypeError) for value in ("1", True, np.True_, 1j, {}, [1], np.array([1]), object(), None)),
        *((value, ValueError) for value in (0, -1, 10**30, 0.0, -0.5, 1.5, math.nan, math.inf, np.float32(2.0))),
    ),
)

_NO_SCALARS = ((3.0, EITHER), ("abc", EITHER), (object(), EITHER), ({}, EITHER), (None, EITHER))
_GROUPS = Parameter("object", none=True, bad=_NO_SCALARS[:-1], changes=("groups",))
_OBJECTS = ((3, TypeError), ("abc", TypeError), ([], TypeError))

_NO_GRIDS = (
    (3, TypeError),
    ("C", TypeError),
    (None, TypeError),
    ([], ValueError),
    ([3], TypeError),
    ({"C": 1.0}, TypeError),
    ({"C": []}, ValueError),
    ({3: [1.0]}, TypeError),
)

_NO_FEATURES = (
    *((value, TypeError) for value in (None, True, 1j, {}, [1], object())),
    *((value, ValueError) for value in ("", "log2", 0, -1, 0.0, 1.5, -0.5, math.nan, math.inf)),
)

_KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")

_SPEED = "it is about speed alone"
_WATCH = "it watches; the callback's own effect is tested with it"

PARAMETERS: dict[str, Parameter] = {
    # -- data: what they may hold is tested in test_input_arrays.py, test_input_labels.py and test_input_extremes.py
    "X": Parameter("matrix", bad=_NO_SCALARS),
    "X_unl": Parameter("matrix", bad=_NO_SCALARS),
    "P": Parameter("matrix", bad=_NO_SCALARS[:-1]),
    "U": Parameter("matrix", bad=_NO_SCALARS[:-1]),
    "N": Parameter("matrix", bad=_NO_SCALARS[:-1]),
    "y": Parameter("labels", bad=_NO_SCALARS),
    "y_pred": Parameter("labels", bad=_NO_SCALARS),
    "scores": Parameter("vector", bad=_NO_SCALARS),
    "sample_weight": Parameter("weights", none=True, bad=_NO_SCALARS[:-1], changes=("weights",)),
    "fit_bagging_svm.sample_weight": Parameter(
        "weights", none=True, bad=(*_NO_SCALARS[:-1], (np.ones(24), TypeError)), silent="any array is refused"
    ),
    "groups": _GROUPS,
    "fit_boosted_trees.groups": replace(_GROUPS, where={"n_bags": 2}),
    "fit_pnu_auc_boost.groups": replace(_GROUPS, where={"early_stopping_rounds": 3}),
    "sample_cost": Parameter("weights", none=True, bad=_NO_SCALARS[:-1], changes=("weights",)),
    "centers": Parameter("matrix", none=True, bad=_NO_SCALARS[:-1], under={"gauss": True}, changes=("centers",)),
    "eval_set": Parameter("object", none=True, bad=_PAIR, silent="it judges the rounds; early stopping reads it"),
    "graph": Parameter("object", none=True, bad=_PAIR, changes=("graph",)),
    "validation": Parameter("object", none=True, bad=_PAIR),
    "priors": Parameter("vector", bad=(*_NO_SCALARS, ([0.5, 1.0], ValueError), ([0.0], ValueError))),
    "lams": Parameter(
        "vector", bad=(*_NO_SCALARS[1:], (0.0, ValueError), ([1.0, -1.0], ValueError), (math.nan, ValueError))
    ),
    "path": Parameter("path", bad=((3, TypeError), (None, TypeError), (object(), TypeError), ("", OSError))),
    # -- what every function shares
    "random_state": Parameter("seed", none=True, changes=(1,)),
    "n_threads": integer(1, none=True, silent="the bits are the same for any number of threads"),
    "callback": Parameter("callback", none=True, silent=_WATCH),
    "progress": Parameter("switch", silent="it shows a bar"),
    "cache_mb": positive(silent=_SPEED),
    # -- classes, priors and thresholds
    "prior": share(changes=(0.6,)),
    "scenario": choice("case_control", "single_set", changes=("single_set",)),
    "threshold": real(inf=True),
    # -- kernels
    "kernel": choice(*_KERNELS, function=True, changes=("poly", "sigmoid", "other")),
    "gamma": positive(words=("scale", "auto"), changes=("auto", 0.125), where={"kernel": "rbf"}),
    "degree": integer(0, 1000, changes=(2, 1, 0), where={"kernel": "poly", "coef0": 1.0}),
    "coef0": real(changes=(0.5,), where={"kernel": "poly"}),
    "n_components": integer(1, none=True, under={"kernel": "rbf"}, changes=(4,), where={"kernel": "rbf"}),
    # -- support vector machines
    "C": positive(changes=(0.01,)),
    "nu": real(0, 1, open_low=True, changes=(0.3,)),
    "tol": positive(changes=(0.3,), where={"kernel": "rbf"}),
    "max_iter": integer(1, none=True, changes=(1,)),
    "C_pos": positive(changes=(0.02,)),
    "C_unl": positive(changes=(0.02,)),
    # -- large margins
    "solver": choice("exact", "iadmm", silent="the minimum is the same: test_isvm_options.py"),
    "solver_tol": share(changes=(0.5,), where={"solver": "iadmm"}),
    "check_increase": Parameter("switch", changes=(False,), where={"C": 0.1, "seed": 2}),
    "fit_ipsi.check_increase": Parameter("switch", changes=(False,), where={"C": 1.0}),
    "init": choice("hinge", "psi", changes=("psi",)),
    # -- neighbourhood graphs
    "n_neighbors": integer(0, changes=(2, 0)),
    "sigma": positive(changes=(0.25,)),
    "mode": choice("mutual", "union"),
    # -- boosting
    "n_rounds": integer(1, changes=(2,)),
    "rho": real(0, 1, open_high=True, changes=(0.3,)),
    "max_bins": integer(1, _MOST_CUTS, none=True, words=("exact",), changes=(2,)),
    "step": choice("jensen", "line_search", changes=("line_search",)),
    "early_stopping_rounds": integer(1, none=True, under={"eval": True}, changes=(1,), where={"eval": True}),
    "n_folds": integer(2, changes=(2,), where={"early_stopping_rounds": 1}),
    "stop_tol": real(0, changes=(1e3,)),
    # -- forests
    "n_trees": integer(1, changes=(2,)),
    "splitter": choice("random", "best", changes=("best",)),
    "bag_ratio": positive(none=True, words=("auto",), changes=(1.0, None)),
    "max_features": Parameter("object", bad=_NO_FEATURES, changes=("all", 2, 1.0)),
    "fit_boosted_trees.max_features": Parameter("object", bad=_NO_FEATURES, changes=("sqrt", 2, 0.5)),
    "min_leaf_rows": integer(1, changes=(5,), where={"seed": 2}),
    "fit_boosted_trees.min_leaf_rows": integer(1, none=True, changes=(5,), where={"seed": 2}),
    "max_depth": integer(1, none=True, changes=(1,), where={"seed": 2}),
    "max_leaves": integer(2, none=True, changes=(2,), where={"seed": 2}),
    "init_model": Parameter("object", none=True, bad=_OBJECTS, changes=("init_model",)),
    # -- squared-loss AUC and risks
    "fit_pnu_auc.prior": share(changes=(0.6,), where={"eta": 0.5}),
    "fit_pnu_auc.scenario": choice("case_control", "single_set", changes=("single_set",), where={"eta": 0.5}),
    "eta": real(-1, 1, changes=(0.5, -0.5)),
    "lam": real(0, changes=(0.5,)),
    "n_centers": integer(1, changes=(3,), where={"gauss": True}),
    "bandwidth": positive(none=True, under={"gauss": True}, changes=(0.5,), where={"gauss": True}),
    "loss": choice("sigmoid", "logistic", "squared", changes=("sigmoid", "squared")),
    "model": choice("linear", "gauss", "mlp", changes=("gauss", "mlp")),
    "beta": real(0, changes=(0.3,), where={"learning_rate": 1.0, "n_epochs": 20, "lam": 0.0, "loss": "sigmoid"}),
    "gamma_nn": real(0, 1, changes=(0.0,), where={"learning_rate": 1.0, "n_epochs": 20, "lam": 0.0, "loss": "sigmoid"}),
    "n_hidden": integer(1, 10**6, changes=(3,), where={"model": "mlp"}),
    "learning_rate": positive(none=True, changes=(0.1,), where={"model": "mlp"}),
    "batch_size": integer(1, none=True, words=("auto",), changes=(6,), where={"model": "mlp"}),
    "n_epochs": integer(1, none=True, changes=(2,), where={"model": "mlp"}),
    "validation_fraction": share(silent="nothing is held out of so few rows; tests/risk/test_risk_options.py has more"),
    # -- mapping convergence
    "nu_map": real(0, 1, open_low=True, changes=(0.9,)),
    "repair": Parameter("switch", silent="where negatives are forgotten: test_mapping_convergence.py"),
    "max_pos_reject": real(0, 1, open_high=True, none=True, changes=(0.0,)),
    "hold_out": share(none=True, changes=(0.5,)),
    "solver_max_iter": integer(1, none=True, changes=(1,)),
    # -- paths
    "lam_min": real(0, changes=(3.0,)),
    "max_events": integer(1, none=True, changes=(1,)),
    "iteration": integer(0),
    "feature": integer(0, 2),
    # -- choosing parameters
    "fit": Parameter("fit"),
    "grid": Parameter("object", bad=_NO_GRIDS),
    "scoring": choice("puf", "err_star", "error", "auc", function=True),
    "cv": integer(2, bad=(([], ValueError), ([3], TypeError), ([([0, 1], [99])], ValueError))),
    "refine": choice("greedy", none=True),
    "admit": Parameter(
        "object", bad=((3, TypeError), ("degenerate", TypeError), (["all"], ValueError), ([3], TypeError))
    ),
    "fit_params": Parameter("object"),
    # -- priors
    "n_boot": integer(0, 10**9, patient="so many estimates are made, until Ctrl-C"),
    "max_rows": integer(2),
    "n_points": integer(2, 10**6),
    "k": _K,
    "function": Parameter("fit", bad=((None, TypeError),)),
    # -- data sets
    "n": integer(1, 2**40, patient="there may be room for them"),
    "variance": positive(),
    "mean": real(),
    "fraction": real(0, 1),
    "stratify": Parameter("switch"),
    "labeled": real(),
    "unlabeled": real(),
    "train": real(),
    "valid": share(),
    "test": share(),
    "hidden": real(0, 1),
    # -- label codings
    "positive": Parameter("object", none=True, bad=((object(), TypeError), ([], ValueError), ([[1]], TypeError))),
    "negative": Parameter("object", none=True, bad=((object(), TypeError), ([], ValueError), ([[1]], TypeError))),
    "as_labels.unlabeled": Parameter("object", none=True, bad=((object(), TypeError), ([], ValueError))),
    # -- probabilities
    "method": choice("sigmoid", "isotonic"),
    # -- figures
    "what": choice("auto", "coef", "alpha"),
    "n_lines": integer(1),
    "ax": Parameter("object", none=True, bad=_OBJECTS),
}


def _set(functions: str, **parameters: Parameter) -> None:
    """Say of some functions what a parameter of theirs takes that differs from the others' of that name."""
    for function in functions.split():
        PARAMETERS.update({f"{function}.{name}": parameter for name, parameter in parameters.items()})


_AUC = "fit_ls_auc fit_samult fit_pnu_auc"
_STUMPS = ("fit_pnu_auc_boost", "fit_rankboost_auc", "fit_pnu_adaboost")
_BOOST = " ".join(_STUMPS)
_PUAL = "fit_pual fit_gllc fit_bls_svm"
_MARGIN = "fit_isvm fit_ipsi fit_bpsi"
_MAPPING = "fit_smc fit_svmc"

_with_gamma = [name for name in _STUMPS if "gamma" in inspect.signature(function_of(name)).parameters]
_set(" ".join([*_with_gamma, "fit_samult"]), gamma=real(0, 1, changes=(0.0, 1.0)))
_set("bin_features", max_bins=integer(1, _MOST_CUTS))
_with_prior = {"loss": "nnpu", "prior": 0.4}
_set(
    "fit_forest",
    max_bins=integer(1, _MOST_CUTS, none=True, changes=(2,)),
    loss=choice("gini", "nnpu", "upu", under={"prior": 0.4}, changes=("upu",), where={**_with_prior, "seed": 2}),
    prior=share(none=True, under={"loss": "nnpu"}, changes=(0.6,), where=_with_prior),
    scenario=choice("case_control", "single_set", under=_with_prior, changes=("single_set",), where=_with_prior),
)
_with_prior = {"loss": "upu", "prior": 0.4, "pu": True}
_set(
    "fit_boosted_trees",
    loss=choice(
        *_boosted_trees_options.LOSSES,
        under={"pu": True},
        changes=("logistic",),
        where={"pu": True, "learning_rate": 1.0, "n_rounds": 20},
    ),
    prior=share(none=True, under={"loss": "upu", "pu": True}, changes=(0.6,), where=_with_prior),
    scenario=choice("case_control", "single_set", under=_with_prior, changes=("single_set",), where=_with_prior),
    gamma=real(0, 1, changes=(0.0, 1.0)),
    learning_rate=real(0, 1e6, open_low=True, changes=(0.5,)),
    max_leaves=integer(2, changes=(2,)),
    min_leaf_hessian=real(0, changes=(3.0,)),
    lam=real(0, changes=(5.0,)),
    n_bags=integer(1, changes=(2,), patient="so many are made, until Ctrl-C"),
    bag_ratio=positive(none=True, words=("auto",), under={"n_bags": 2}, changes=(0.5, None), where={"n_bags": 2}),
    subsample_unl=real(0, 1, open_low=True, changes=(0.5,)),
    max_bins=integer(1, _MOST_CUTS, none=True, changes=(2,)),
)
_many: dict[str, Any] = {"many": True, "bad": (([], ValueError), ([1.0, 0.0], ValueError))}
_set("fit_svm fit_bsvm", C=positive(changes=(0.01,), **_many))
_set("fit_bsvm", C_pos=positive(changes=(0.02,), **_many), C_unl=positive(changes=(0.02,), **_many))
_set("fit_nu_svm fit_one_class_svm", nu=real(0, 1, open_low=True, changes=(0.3,), **_many))
_set(
    "fit_svm fit_bsvm fit_nu_svm fit_one_class_svm",
    gamma=positive(words=("scale", "auto"), changes=("auto", 0.125), where={"kernel": "rbf"}, **_many),
)
_costs = {"many": True, "changes": (0.01,), "bad": (([], ValueError), ([1.0, 0.0], ValueError))}
_set("fit_bpsi", C=positive(**_costs))
_set("fit_isvm fit_ipsi", C=positive(none=True, **_costs))
_set("fit_isvm fit_ipsi", tol=real(0, changes=(10.0,), where={"C": 3.0}))
_set(_MARGIN, solver_max_iter=integer(1, none=True, changes=(1,), where={"solver": "iadmm", "C": 30.0}))
_set("fit_isvm fit_ipsi", max_iter=integer(1, changes=(1,), where={"C": 3.0}))
_set("fit_bpsi", max_iter=integer(1, changes=(1,), where={"C": 0.3, "C_pos": 5.0, "seed": 0}))
_local = {"many": True, "bad": (*_TOO_FAR, ([], ValueError), ([1.0, 0.0], ValueError))}
_set(_PUAL, kernel=choice(*_KERNELS, function=True, changes=("poly", "rbf", "other")))
_set(_PUAL, C_pos=positive(changes=(0.02,), **_local), C_unl=positive(changes=(0.02,), **_local))
_set(_PUAL, lam=positive(changes=(30.0,), **_local))
_set("fit_pual fit_gllc", sigma=positive(words=("median",), changes=(0.1,), **_local))
_two_rounds = {"C_unl": 0.01, "C_pos": 10.0, "seed": 0}
_set("fit_pual", tol=share(changes=(0.9,), where=_two_rounds), max_iter=integer(1, changes=(1,), where=_two_rounds))
_set(_PUAL, random_state=Parameter("seed", none=True, changes=(1,), where={"kernel": "rbf", "n_components": 4}))
_set(_AUC, lam=real(0, many=True, changes=(0.5,), bad=(([], ValueError), ([1.0, -1.0], ValueError))))
_set(_AUC, tol=positive(changes=(0.9,), where={"wide": True}))
_set(_AUC, max_iter=integer(1, changes=(1,), where={"wide": True}))
_set(_AUC, random_state=Parameter("seed", none=True, changes=(1,), where={"gauss": True}))
_set(_AUC, model=choice("linear", "gauss", changes=("gauss",)))
_set("fit_nnpu", random_state=Parameter("seed", none=True, changes=(1,), where={"model": "mlp"}))
_set("fit_upu", random_state=Parameter("seed", none=True, changes=(1,), where={"gauss": True}))
_set("fit_upu", loss=choice("logistic", "squared", changes=("squared",)))
_set("fit_upu", model=choice("linear", "gauss", changes=("gauss",)))
_judged = {"eval": True, "model": "mlp", "learning_rate": 1.0, "n_epochs": 20}
_patience = integer(1, none=True, words=("auto",), changes=(1,), where=_judged)
_set("fit_upu fit_nnpu", lam=real(0, none=True, changes=(0.5,)))
_set("fit_nnpu", early_stopping_rounds=_patience)
_drawn = {"early_stopping_rounds": 1, "n_folds": 2}
_set(_BOOST, random_state=Parameter("seed", none=True, changes=(1,), where=_drawn))
_newton = {"loss": "logistic"}
_set(
    "fit_upu", tol=positive(changes=(0.5,), where={"loss": "squared"}), max_iter=integer(1, changes=(1,), where=_newton)
)
_set(_MAPPING, random_state=Parameter("seed", none=True, changes=(1,), where={"hold_out": 0.5}))
_set(_MAPPING, nu=real(0, 1, open_low=True, none=True, changes=(0.3,)), max_iter=integer(1, changes=(1,)))
_set("knn_similarity KNNGraph.similarity", sigma=positive(words=("median",)))
_set("SVMPath.at", lam=positive())
_set("fit_pu_svm_path", C_pos=positive(inf=True, changes=(1.0,)), C_unl=positive(changes=(0.25,)))
_set("fit_bagging_svm", n_bags=integer(1, none=True, changes=(2,)), bag_ratio=positive(none=True, changes=(3.0, None)))
_train = {"X": None, "y": None}
_set("SVMPath.select", scoring=choice("puf", "err_star", "end", function=True))
_set(
    "SVMPath.select", n_folds=integer(2, none=True, under=_train), prior=share(none=True, under={"scoring": "err_star"})
)
_thresholds = " ".join(
    f"{name}.with_threshold"
    for name in models.__all__
    if name != "Model" and hasattr(getattr(models, name), "with_threshold")
)
_other_rule = {"prior": None, "X_unl": None}
_set(_thresholds, value=real(none=True, inf=True, under=_other_rule), prior=share(none=True))
_set(_thresholds, k=replace(_K, bad=tuple(pair for pair in _K.bad if pair[0] is not None), under={"prior": None}))
_out_of_bag = "TreeEnsemble.with_threshold BaggingSVM.with_threshold"
_set(_thresholds, y=Parameter("object", none=True))  # labels of training rows, with out-of-bag scores alone
_set(_out_of_bag, X_unl=Parameter("matrix", none=True, bad=_NO_SCALARS[:-1]))
_set(_out_of_bag, y=Parameter("object", none=True, bad=_NO_SCALARS[:-1], under={"X_unl": None}))
_optional = "plot.path SVMPath.select TreeEnsemble.with_probabilities"
_set(_optional, X=Parameter("matrix", none=True, bad=_NO_SCALARS[:-1]))
_set("plot.path SVMPath.select", y=Parameter("labels", none=True, bad=_NO_SCALARS[:-1]))
_set("plot.path", model=Parameter("object", bad=(*_OBJECTS, (None, TypeError))), scoring=choice("puf", "err_star"))
_set("plot.path", prior=share(none=True, under={"scoring": "err_star"}))
_set("select", prior=share(none=True, under={"scoring": "err_star"}), k=replace(_K, under={"scoring": "lift"}))
# Some folds of so few rows make models that call all of them the same.
_set("select", random_state=Parameter("seed", none=True, changes=(1,), under={"admit": ["degenerate"]}))
_set("select", n_threads=integer(1, none=True, patient="that many processes are started, up to 16"))
_set("metrics.ranking_curve", prior=share(none=True))
_set("priors.bbe priors.km2", scores=Parameter("object", none=True, bad=_NO_SCALARS[:-1], under={"X": None}))
_set("priors.bbe priors.scar_test", fit=Parameter("fit", none=True))
_set("priors.scar_test", n_top=integer(10, 20, under={"prior": None}))
_set("priors.scar_test", n_permutations=integer(1, 10**6, patient="so many permutations are made, until Ctrl-C"))
_set("priors.scar_test", n_divisions=integer(1, 1000, patient="so many times five models are fitted"))
_set(
    "priors.scar_test",
    columns=Parameter("object", none=True, bad=((1.5, TypeError), ("age", ValueError), (3, ValueError))),
)
_objectives = " ".join(f"objectives.{name}" for name in ("logistic", "pnu_auc", "upu"))
_set(_objectives, y=Parameter("labels", none=True, bad=_NO_SCALARS[:-1]))
_set("objectives.pnu_auc", gamma=real(0, 1))
_set("datasets.make_trifurcate", n=integer(4, 2**40, patient="there may be room for them"))
_set("datasets.make_pu_toy1 datasets.make_pu_toy2", n=integer(2, 2**40, patient="there may be room for them"))
_set("datasets.split_pnu", train=share())


def parameter_of(function: str, name: str) -> Parameter:
    """The entry for a parameter of a function."""
    entry = PARAMETERS.get(f"{function}.{name}") or PARAMETERS.get(name)
    if entry is None:
        raise KeyError(f"say in tests/methods/input_table.py what {name} of {function} takes")
    return entry
