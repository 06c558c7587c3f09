"""Every method with its defaults, and the forms and solvers that some have beside: time, memory, scores, quality.

A line of the tables below is a measure: the method, the rows and the options. A new method is measured at its defaults
without a line.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, NamedTuple

import fastpu
from fastpu.common._methods import DECLARED, function_of

from .common import KERNEL_SIZES, N_THREADS, SIZES, dense_rows, hide_labels, label_positives, sparse_rows

_WANTED = {"prior": 0.45, "C_pos": 1.0, "C_unl": 0.1, "random_state": 0}
_ROUNDS = {"n_rounds": 100}
_RBF = {"kernel": "rbf", "gamma": 0.02, "cache_mb": 500}  # 1 / gamma is the mean squared norm of a row
_NETWORK = {"model": "mlp", "loss": "sigmoid", "learning_rate": 1e-3, "n_epochs": 5}


class Line(NamedTuple):
    """A method with options, on float64, float32 or csr rows, of which csr have 90 % zeros."""

    method: str
    form: str = "float32"
    options: dict[str, Any] = {}  # noqa: RUF012 (never written to)


#: Time grows with the rows.
LONG = {
    "stumps, every threshold": Line("fit_pnu_auc_boost", options={**_ROUNDS, "max_bins": "exact"}),
    "stumps, binned": Line("fit_pnu_auc_boost", options={**_ROUNDS, "max_bins": 255}),
    "stumps, binned, csr": Line("fit_pnu_auc_boost", "csr", {**_ROUNDS, "max_bins": 255}),
    "boosted trees": Line("fit_boosted_trees"),
    "boosted trees, csr": Line("fit_boosted_trees", "csr"),
    "boosted trees, 20 bags": Line("fit_boosted_trees", options={"n_bags": 20}),
    "forest": Line("fit_forest", options={"n_trees": 100}),
    "forest, best splits": Line("fit_forest", options={"n_trees": 100, "splitter": "best"}),
    "forest, csr": Line("fit_forest", "csr", {"n_trees": 100}),
    "ISVM, exact": Line("fit_isvm", "float64", {"C": 1.0}),
    "ISVM, small cost": Line("fit_isvm", "float64", {"C": 0.01}),
    "ISVM, iadmm": Line("fit_isvm", "float64", {"solver": "iadmm", "solver_max_iter": 20}),
    "ISVM, csr": Line("fit_isvm", "csr", {"C": 1.0}),
    "network, one batch": Line("fit_nnpu", options={**_NETWORK, "batch_size": None}),
    "network, batches": Line("fit_nnpu", options={**_NETWORK, "batch_size": 1000}),
    "network, csr": Line("fit_nnpu", "csr", {**_NETWORK, "batch_size": 1000}),
    "uPU, logistic": Line("fit_upu", options={"loss": "logistic", "lam": 1e-3}),
    "uPU, squared": Line("fit_upu", options={"loss": "squared", "lam": 1e-3}),
}
#: Time grows with the square of the rows.
KERNEL = {
    "SVM, rbf": Line("fit_svm", "float64", _RBF),
    "SVM, rbf, float32": Line("fit_svm", options=_RBF),
    "SVM, rbf, csr": Line("fit_svm", "csr", {**_RBF, "gamma": 0.2}),
    "SVM, linear": Line("fit_svm", "float64", {"kernel": "linear", "C": 0.1}),
    # Solvers of one linear problem, each of which stays for what it is faster at: that of large margins (above), pairs
    # that keep w, and kernel rows, for a polynomial of degree 1. On spambase, surgical and webkb pairs took 1/1.5 to
    # 1/17 of the time of rows (nu-SVM, one-class SVM, bags). Wide rows and small costs are for that of large margins.
    "SVM, linear, pairs": Line("fit_svm", "float64", {"kernel": "linear", "C": 0.1, "max_iter": 10**6}),
    "SVM, linear, rows": Line(
        "fit_svm", "float64", {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 0.0, "C": 0.1}
    ),
    "nu-SVM, rbf": Line("fit_nu_svm", "float64", {**_RBF, "nu": 0.3}),
    "one-class SVM, rbf": Line("fit_one_class_svm", "float64", {**_RBF, "nu": 0.1}),
    "bagging SVM, rbf": Line("fit_bagging_svm", "float64", _RBF),
    "SVMC": Line("fit_svmc", "float64", {**_RBF, "C": 100.0}),
    "PUAL, linear": Line("fit_pual", "float64"),
    "PUAL, linear, csr": Line("fit_pual", "csr"),
    "SMC": Line("fit_smc", "float64", {**_RBF, "C": 100.0}),
}
#: Every method at its defaults, and what takes long with few rows.
SMALL = {
    **{name: Line(name) for name in DECLARED},
    "PUAL, rbf": Line("fit_pual", "float64", {"kernel": "rbf"}),
    "PUAL, Nystroem": Line("fit_pual", "float64", {"kernel": "rbf", "n_components": 200}),
    "SVM path, rbf": Line("fit_svm_path", "float64", {"kernel": "rbf", "gamma": 0.02, "lam_min": 1e-2}),
    "PU-SVM path, rbf": Line("fit_pu_svm_path", "float64", {"kernel": "rbf", "gamma": 0.02, "lam_min": 1e-2}),
}


class Long:
    """A fit to n rows, scores of 20,000 others, and what they are worth: that must not move when the times do."""

    lines = LONG
    param_names = ("line", "n", "n_threads")
    params: tuple[Any, ...] = (tuple(LONG), SIZES, N_THREADS)

    def setup(self, line: str, n: int, n_threads: int) -> None:
        warnings.simplefilter("ignore")  # not every method is made for such rows
        method, form, options = self.lines[line]
        self.function = function_of(method)
        X, truth = self.rows(form, n, 0)
        labels = {"PN": truth, "PUN": hide_labels(truth)}.get(
            DECLARED[method].groups, label_positives(truth, share=0.2)
        )
        known = inspect.signature(self.function).parameters
        needed = {name: value for name, value in _WANTED.items() if name in known
                  and (known[name].default is inspect.Parameter.empty or name == "random_state")}  # fmt: skip
        self.options = {**needed, **options, "n_threads": n_threads}
        self.arguments = (X, labels) if "y" in known else (X[labels == 1],)
        self.test, self.truth = self.rows(form, 20_000, 7)
        self.model = self.fit()
        self.scored = self.model.select("end") if hasattr(self.model, "breakpoints") else self.model

    def rows(self, form: str, n: int, seed: int) -> tuple[Any, Any]:
        X, truth = (sparse_rows if form == "csr" else dense_rows)(n, seed=seed)
        return (X.astype("float64") if form == "float64" else X), truth

    def fit(self) -> Any:
        return self.function(*self.arguments, **self.options)

    def time_fit(self, line: str, n: int, n_threads: int) -> None:
        self.fit()

    def peakmem_fit(self, line: str, n: int, n_threads: int) -> None:
        """Peak of the process, rows included."""
        self.fit()

    def time_scores(self, line: str, n: int, n_threads: int) -> None:
        self.scored.decision_function(self.test, n_threads=n_threads)

    def track_auc(self, line: str, n: int, n_threads: int) -> float:
        return float(fastpu.metrics.auc(self.truth, self.scored.decision_function(self.test)))

    def track_objective(self, line: str, n: int, n_threads: int) -> float:
        if not len(getattr(self.model, "objective", ())):
            raise NotImplementedError("this method has no objective")  # how asv is told to skip
        return float(self.model.objective[-1])

    def track_steps(self, line: str, n: int, n_threads: int) -> float:
        if not hasattr(self.model, "n_iter"):
            raise NotImplementedError("this method has no steps")
        return float(self.model.n_iter)


class Kernel(Long):
    """The same for methods of kernel rows and of neighbours."""

    lines = KERNEL
    params = (tuple(KERNEL), KERNEL_SIZES, N_THREADS)


class Small(Long):
    """The same with few rows."""

    lines = SMALL
    params = (tuple(SMALL), KERNEL_SIZES[:1], N_THREADS)
