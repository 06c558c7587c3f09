"""A TypeError for an unknown keyword that names the right one, as other libraries call the same things otherwise.

And one for a missing argument, or one too many, that says more than Python does.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from fastpu.common._methods import BALANCE, DECLARED

_Function = TypeVar("_Function", bound="Callable[..., Any]")

_CLASS_WEIGHTS = "class_weight class_weights scale_pos_weight pos_weight is_unbalance"

#: Names that fastpu uses, and names that other libraries use for the same thing. The message for an unknown keyword is
#: made of the first line that lists it on the right and has a keyword of the function on the left.
_OTHER_NAMES = (
    ("n_threads", "n_jobs n_threads num_threads nthread nthreads thread_count n_cores threads workers"),
    ("progress", "verbose verbosity verbose_eval silent disp show_progress logging_level"),
    ("random_state", "random_seed seed rng generator"),
    (
        "n_rounds n_bags n_estimators n_trees n_epochs",
        "n_estimators n_rounds num_rounds num_round num_boost_round nrounds iterations num_iterations n_iter "
        "n_iterations epochs num_epochs max_epochs max_iter max_iterations n_trees num_trees ntree n_learners",
    ),
    (
        "max_iter max_events",
        "max_iter max_outer max_iterations maxiter iterations n_iter num_iterations n_iterations max_breakpoints",
    ),
    ("n_folds", "cv folds n_splits nfold"),
    ("learning_rate", "lr eta eta0 shrinkage step_size learning_rate_init"),
    ("C_pos C_unl", _CLASS_WEIGHTS),
    ("sample_cost", _CLASS_WEIGHTS),
    ("sample_weight", _CLASS_WEIGHTS),
    ("sample_weight", "sample_weights weights weight w"),
    ("C C_pos C_unl", "C c cost costs C_pos C_unl C_neg cost_pos cost_neg cost_unl alpha"),
    ("lam rho", "C c cost alpha lambda_ lambda_l2 reg_lambda reg l2 l2_leaf_reg l2_regularization ridge weight_decay"),
    ("C C_pos C_unl", "lam lambda_ lambda_l2 reg_lambda reg l2 l2_regularization ridge"),
    ("prior", "pi class_prior pos_prior positive_prior prior_pos"),
    ("gamma bandwidth", "gamma sigma bandwidth length_scale width kernel_width"),
    ("max_bins", "max_bin n_bins bins num_bins border_count"),
    ("max_depth max_leaves", "max_depth depth num_leaves max_leaves max_leaf_nodes"),
    ("early_stopping_rounds", "early_stopping early_stopping_round n_iter_no_change patience od_wait"),
    ("eval_set", "eval_sets evals valid_sets validation_data validation_set X_val validation_fraction"),
    ("n_neighbors", "n_neighbours k neighbors neighbours num_neighbors"),
    ("cache_mb", "cache_size cache"),
    ("tol stop_tol solver_tol", "eps epsilon tolerance stopping_criterion gtol ftol tol"),
    ("n_hidden", "hidden_layer_sizes hidden_size hidden hidden_units n_units"),
    ("n_centers", "n_centres n_basis n_components num_basis"),
    ("centers", "centres"),
    ("batch_size", "batch minibatch_size"),
    ("subsample_unl", "subsample bagging_fraction"),
    ("bag_ratio", "bag_size max_samples subsample bagging_fraction"),
    ("max_features", "colsample colsample_bytree colsample_bynode feature_fraction mtry rsm"),
    ("min_leaf_rows", "min_child_samples min_data_in_leaf min_samples_leaf min_data nodesize"),
    ("min_leaf_hessian", "min_child_weight min_sum_hessian_in_leaf min_sum_hessian"),
    ("callback", "callbacks"),
    ("scoring", "criterion metric"),
    ("loss", "criterion objective loss_function"),
    ("kernel", "kernel_type"),
    ("model", "basis"),
)
#: What the error of a call without these arguments adds to Python's own words.
_NEEDED = {
    "prior": "it is the share of positives among the unlabelled rows, which fastpu.priors.bbe estimates",
    "C_pos": "C_unl=1.0 and C_pos = n_unl / n_pos let both groups weigh the same; fastpu.select chooses by folds",
    "C_unl": "C_unl=1.0 and C_pos = n_unl / n_pos let both groups weigh the same; fastpu.select chooses by folds",
    "k": "it is how many rows are looked at: a whole number, or a share of the unlabelled rows",
}
_ALIKE = 0.75  # an unknown keyword with at least this difflib ratio to one of ours is taken for a misspelling


def answers_unknown_keywords(function: _Function) -> _Function:
    """Decorate a public function or class: for an unknown keyword its TypeError names the one that it has instead.

    A call with known keywords is the plain call of the function, whose signature and docstring stay.

    The error of a method names the class of the object, which may have the method from a base class. Python's own error
    for a missing argument, and for one too many, is followed by what to do.
    """
    if isinstance(function, type):
        # mypy fears the other __init__ of a subclass: this decorates the class itself.
        function.__init__ = answers_unknown_keywords(function.__init__)  # type: ignore[misc]
        return function
    signature = inspect.signature(function)
    known = frozenset(signature.parameters)
    by_place = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    by_name = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())
    needed = [
        name for name in _NEEDED if name in known and signature.parameters[name].default is inspect.Parameter.empty
    ]
    is_method = "self" in known and function.__name__ != "__init__"
    written = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not known.issuperset(kwargs):
            name = f"{type(args[0]).__name__}.{function.__name__}" if is_method and args else written
            raise TypeError(_answer(name, signature, next(keyword for keyword in kwargs if keyword not in known)))
        if len(args) > len(by_place) and by_name and not takes_any:
            of = "all" if by_place[-1] == "self" else f"what follows {by_place[-1]}"
            advice = f"pass {of} by name, such as {by_name[0]}=..."
        else:
            advice = next((_NEEDED[n] for n in needed if n not in kwargs and n not in by_place[: len(args)]), "")
        if advice:  # Python refuses the call before the function begins
            try:
                function(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{error}; {advice}") from None
        return function(*args, **kwargs)

    return cast("_Function", call)  # it takes and returns what the function does


def _answer(function: str, signature: inspect.Signature, keyword: str) -> str:
    """Return the message about a keyword that a function with this signature does not have."""
    own = [name for name in signature.parameters if name != "self"]
    if keyword in _CLASS_WEIGHTS.split() and (balance := _balance_of(function)):
        return f"{function}() got an unexpected keyword argument {keyword!r}; {balance}"
    ours = next(
        (
            matches
            for names, theirs in _OTHER_NAMES
            if keyword in theirs.split() and (matches := [name for name in names.split() if name in own])
        ),
        difflib.get_close_matches(keyword, own, cutoff=_ALIKE),
    )
    listed = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY] or own
    advice = f"use {' or '.join(ours)}" if ours else f"its keywords are {', '.join(listed)}"
    return f"{function}() got an unexpected keyword argument {keyword!r}; {advice}"


def _balance_of(function: str) -> str:
    """Return what there is to say of class weights to who calls a method or its classifier; "" for others."""
    for name, method in DECLARED.items():
        if function in (name, method.classifier) or function == f"{method.classifier}.fit":
            is_weighed_at_fit = function == method.classifier and method.weights
            return BALANCE.get(name) or ("pass sample_weight to fit" if is_weighed_at_fit else "")
    return ""
