"""One small call for every public function that computes, whatever it is: what tests over all methods are made from.

A method has one by its declaration; any other function with `n_threads` that has no recipe here fails
`test_every_method_has_a_recipe`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import fastpu
from fastpu.common._methods import DECLARED, function_of
from fastpu.model._profile import LateProfile

#: What a recipe's rows are called by, and how a group of rows is labelled.
LABELS = {"P": 1, "U": 0, "N": -1}


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How to call one function.

    `rows` is the size at which a call takes a few hundredths of a second and its loops are cut into several blocks;
    `forms` says in which forms the rows are taken as they are.
    """

    name: str
    groups: str = "PU"
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    rows: int = 800
    forms: tuple[str, ...] = ("float64", "float32", "csr")

    @property
    def function(self) -> Any:
        if self.name in DECLARED:
            return function_of(self.name)
        owner = fastpu
        for part in self.name.split("."):
            owner = getattr(owner, part)
        return owner

    def arguments(self, n: int | None = None, *, form: str = "float64", seed: int = 0) -> tuple[Any, ...]:
        """The rows (and their labels, where the function takes some), `n` of them or the recipe's own number."""
        X, y = problem(n or self.rows, self.groups, seed=seed)
        if not self.takes("y"):
            return (FORMS[form](X),)
        if self.name == "select":
            return fastpu.fit_isvm, FORMS[form](X), y, {"C": [0.1, 1.0]}
        return FORMS[form](X), y

    def call(self, *arguments: Any, **more: Any) -> Any:
        """Call the function with these arguments and the recipe's options."""
        return self.function(*arguments, **{**self.options, **more})

    @property
    def sums_by_blas(self) -> bool:
        """Whether BLAS sums for it, whose rounding may depend on the number of threads."""
        return self.name in DECLARED and DECLARED[self.name].blas

    def takes(self, parameter: str) -> bool:
        return parameter in inspect.signature(self.function).parameters


FORMS = {
    "float64": np.ascontiguousarray,
    "float32": lambda X: np.ascontiguousarray(X, np.float32),
    "csr": sp.csr_array,
}


def problem(n: int, groups: str = "PU", *, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes, some zeros, as many rows of every group; the last column repeats a few values."""
    rng = np.random.default_rng([seed, n])
    truth = rng.choice([1, -1], n)
    X = rng.normal(size=(n, d)) + 0.7 * truth[:, None]
    X[rng.random((n, d)) < 0.3] = 0.0
    X[:, -1] = np.round(X[:, -1])
    y = np.array([LABELS[group] for group in groups])[np.arange(n) % len(groups)]
    if "U" in groups or "N" not in groups:
        wrong = (y != 0) & (y != truth)
        X[wrong] *= -1.0
    return X, y


_ROUNDS = {"n_rounds": 12}
_TREES = {"n_trees": 12}
_COSTS = {"C_pos": 1.0, "C_unl": 0.5}
_GAUSS = {"model": "gauss", "n_centers": 30}
_MAP = {"nu_map": 0.2, "max_iter": 20}
_EPOCHS = {"n_epochs": 6, "learning_rate": 0.05}
_MLP = {**_EPOCHS, "model": "mlp", "n_hidden": 20, "learning_rate": 0.01}
_SAMPLES = {"random_state": 0, "n_boot": 1}
#: What functions want that have no default for it, and a seed.
_WANTED = {"prior": 0.5, "random_state": 0, **_COSTS}


def _of_method(id_: str, rows: int, options: Mapping[str, Any]) -> Recipe:
    """The recipe of a method, which takes what its declaration says."""
    name = id_.partition("-")[0]
    parameters, method = inspect.signature(function_of(name)).parameters, DECLARED[name]
    wanted = {
        key: value
        for key, value in _WANTED.items()
        if key in parameters and (key == "random_state" or parameters[key].default is inspect.Parameter.empty)
    }
    taken = {"float64": True, "float32": method.float32, "csr": method.csr}
    return Recipe(name, method.groups, {**wanted, **options}, rows, tuple(form for form in taken if taken[form]))


#: Numbers of rows and options of calls of methods, by ids that begin with the method's name. A method whose kernels,
#: bases or models run through code of their own has a call for each; one that is not listed, 800 rows and no options.
_CALLS: dict[str, tuple[int, dict[str, Any]]] = {
    "fit_pnu_auc_boost": (15_000, _ROUNDS),
    "fit_pnu_auc_boost-binned": (40_000, {**_ROUNDS, "max_bins": 32}),
    "fit_rankboost_auc": (15_000, _ROUNDS),
    "fit_pnu_adaboost": (15_000, _ROUNDS),
    "fit_forest": (5000, _TREES),
    "fit_forest-best": (2000, {**_TREES, "splitter": "best", "loss": "nnpu", "prior": 0.4}),
    "fit_forest-leaves": (2000, {**_TREES, "max_leaves": 20, "loss": "upu", "prior": 0.4}),
    "fit_boosted_trees": (5000, _ROUNDS),
    "fit_boosted_trees-sampled": (5000, {**_ROUNDS, "max_features": 0.5, "max_depth": 3, "min_leaf_rows": 3}),
    "fit_ls_auc": (15_000, {}),
    "fit_ls_auc-gauss": (6000, _GAUSS),
    "fit_samult": (15_000, {}),
    "fit_pnu_auc": (15_000, {"prior": 0.4}),
    "fit_pnu_auc-gauss": (6000, {"prior": 0.4, "eta": 0.3, **_GAUSS}),
    "fit_bsvm": (2000, {}),
    "fit_bsvm-rbf": (800, {"kernel": "rbf"}),
    "fit_bagging_svm": (800, {"n_bags": 5}),
    "fit_bagging_svm-rbf": (800, {"n_bags": 5, "kernel": "rbf"}),
    "fit_smc": (2000, _MAP),
    "fit_svmc": (2000, _MAP),
    "fit_svmc-nu": (2000, {**_MAP, "nu": 0.1, "kernel": "linear"}),
    "fit_isvm": (6000, {}),
    "fit_ipsi": (3000, {}),
    "fit_bpsi": (3000, {}),
    "fit_pual": (2000, _COSTS),
    "fit_pual-rbf": (400, {**_COSTS, "kernel": "rbf"}),
    "fit_pual-low-rank": (800, {**_COSTS, "kernel": "rbf", "n_components": 40}),
    "fit_gllc": (2000, _COSTS),
    "fit_gllc-rbf": (400, {**_COSTS, "kernel": "rbf"}),
    "fit_bls_svm": (15_000, _COSTS),
    "fit_bls_svm-rbf": (400, {**_COSTS, "kernel": "rbf"}),
    "fit_upu": (5000, {"lam": 0.01}),
    "fit_upu-squared": (15_000, {"loss": "squared"}),
    "fit_upu-gauss": (3000, {"model": "gauss", "n_centers": 30, "lam": 1e-3}),
    "fit_nnpu": (3000, _EPOCHS),
    "fit_nnpu-gauss": (2000, {**_EPOCHS, "model": "gauss", "n_centers": 30}),
    "fit_nnpu-mlp": (2000, _MLP),
    "fit_pu_svm_path": (300, {"C_pos": 1.0, "lam_min": 1.0}),
    "fit_svm_path": (300, {"lam_min": 1.0}),
    "fit_svm-linear": (2000, {"kernel": "linear"}),
    "fit_one_class_svm": (2000, {}),
}

#: id -> recipe.
RECIPES = {
    **{id_: _of_method(id_, *call) for id_, call in {**dict.fromkeys(DECLARED, (800, {})), **_CALLS}.items()},
    "knn_graph": Recipe("knn_graph", "P", {}, 5000),
    "knn_similarity": Recipe("knn_similarity", "P", {}, 5000),
    "bin_features": Recipe("bin_features", "P", {"max_bins": 64}, 40_000),
    "priors.km2": Recipe("priors.km2", "PU", {"random_state": 0}, 300),
    "priors.bbe": Recipe("priors.bbe", "PU", _SAMPLES, 300),
    "priors.scar_test": Recipe(
        "priors.scar_test", "PU", {"prior": 0.4, "n_permutations": 19, "n_divisions": 2, "random_state": 0}, 300
    ),
    "select": Recipe("select", "PU", {"cv": 3, "random_state": 0}, 300),
}


#: The recipes of methods.
FITS = {name: recipe for name, recipe in RECIPES.items() if recipe.name in DECLARED}


def plain(name: str) -> Recipe:
    """The recipe of a method with its defaults."""
    return _of_method(name, 800, {})


@cache
def fitted(name: str, form: str = "float64") -> fastpu.Model:
    """The model of a recipe of a method, of few rows; it is a model even where the fit ends early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FITS[name].call(*FITS[name].arguments(80, form=form))


@cache
def models_of_all_kinds() -> dict[str, fastpu.Model]:
    """A model of every class, and of every set of fields that its models fill."""
    found: dict[Any, str] = {}
    for name, recipe in FITS.items():
        for form in (form for form in recipe.forms if form != "float32"):
            model = fitted(name, form)
            filled = frozenset(key for key, value in vars(model).items() if value is not None and np.size(value))
            found.setdefault((type(model), filled), f"{name}, {form}")
    return {name: fitted(*name.split(", ")) for name in found.values()}


def contents(value: Any) -> dict[str, np.ndarray]:
    """Everything that a result says, as arrays by their place in it; without times, which differ from run to run."""
    found: dict[str, np.ndarray] = {}
    _collect("", value, found)
    return found


def _collect(place: str, value: Any, found: dict[str, np.ndarray]) -> None:
    if sp.issparse(value):
        parts: Mapping[str, Any] = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
    elif isinstance(value, Mapping):
        parts = {str(key): value[key] for key in sorted(value, key=str)}
    elif isinstance(value, fastpu.models.BinnedFeatures):
        parts = {"cuts": value.cuts, "codes": [value.column(j) for j in range(value.n_features)]}
    elif isinstance(value, LateProfile):
        parts = {"made": value.read()}
    elif dataclasses.is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif isinstance(value, Sequence) and not isinstance(value, str):
        parts = {str(i): part for i, part in enumerate(value)}
    else:
        if isinstance(value, np.ndarray | np.generic | float | int):
            array = np.asarray(value)
            found[place] = array.astype(str) if array.dtype.hasobject else array
        elif isinstance(value, str) or value is None:
            found[place] = np.asarray(str(value))
        return
    for name, part in parts.items():
        if not name.endswith(("time", "seconds")):
            _collect(f"{place}.{name}", part, found)


def bits(value: Any) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """The same for two results only if every bit of every array is."""
    return {place: (a.dtype.str, a.shape, a.tobytes()) for place, a in contents(value).items()}


def model_bits(model: Any, X: Any = None, n_threads: int | None = None, but: Sequence[str] = ()) -> tuple[Any, ...]:
    """The same for all that two models have learned and recorded, and for their scores of X.

    What was asked for is left out, and so are the profile of the rows, which tells sparse from dense ones, and `but`.
    """
    names = {field.name for field in dataclasses.fields(model)} - {"params", "_late_profile", *but}
    scores = None if X is None else model.decision_function(X, n_threads=n_threads)
    said = {"learned": {name: getattr(model, name) for name in names}, "scores": scores}
    if X is not None and isinstance(model, fastpu.models.MappingMachine):
        said["staged"] = list(model.staged_decision_function(X, n_threads=n_threads))
    return tuple(sorted(bits(said).items()))


def result(recipe: Recipe, *arguments: Any, n_threads: int | None = None, **more: Any) -> dict[str, Any]:
    """What a call returns and how its model scores the rows it was fitted to."""
    if n_threads is not None:
        more["n_threads"] = n_threads
    value = recipe.call(*arguments, **more)
    model = getattr(value, "model", value)
    scores = None
    if hasattr(model, "decision_function"):
        X = arguments[1] if recipe.name == "select" else arguments[0]
        scores = model.decision_function(X, n_threads=n_threads)
    return {"value": value, "scores": scores}


def digest(name: str, n_threads: int = 2) -> str:
    """The bits of a small call in one word, which crosses from process to process."""
    recipe = RECIPES[name]
    n_threads = 1 if recipe.name == "select" else n_threads
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bits(result(recipe, *recipe.arguments(200), n_threads=n_threads))
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def digests(n_threads: int) -> dict[str, str]:
    return {name: digest(name, n_threads) for name in RECIPES}
