"""Every method with its defaults on the same rows: time, memory and AUC. Forms and solvers have files of their own."""

from __future__ import annotations

import inspect
import warnings

import fastpu

from .common import KERNEL_SIZES, N_THREADS, dense_rows, hide_labels, label_positives, require

METHODS = tuple(name for name in fastpu.__all__ if name.startswith("fit_"))
WANTED = {"prior": 0.45, "C_pos": 1.0, "C_unl": 0.1}


class Fit:
    """A fit to n rows, and the AUC of 4,000 others."""

    param_names = ("method", "n", "n_threads")
    params = (METHODS, KERNEL_SIZES[:1], N_THREADS)

    def setup(self, method: str, n: int, n_threads: int) -> None:
        warnings.simplefilter("ignore")  # not every method is made for such rows
        groups = require("common._methods.DECLARED")[method].groups
        X, truth = dense_rows(n)
        labels = {"PN": truth, "PUN": hide_labels(truth)}.get(groups, label_positives(truth, share=0.2))
        self.function, self.arguments = require(method), {"X": X, "y": labels}
        for name, parameter in inspect.signature(self.function).parameters.items():
            if name in WANTED and parameter.default is parameter.empty:
                self.arguments[name] = WANTED[name]
            elif name == "random_state":
                self.arguments[name] = 0
        if "y" not in inspect.signature(self.function).parameters:
            self.arguments = {"X": X[labels == 1]}

    def time_fit(self, method: str, n: int, n_threads: int) -> None:
        self.function(**self.arguments, n_threads=n_threads)

    def peakmem_fit(self, method: str, n: int, n_threads: int) -> None:
        """Peak of the process, rows included."""
        self.function(**self.arguments, n_threads=n_threads)

    def track_auc(self, method: str, n: int, n_threads: int) -> float:
        """Return the AUC of the other rows."""
        X, truth = dense_rows(4000, seed=7)
        model = self.function(**self.arguments, n_threads=n_threads)
        return float(require("metrics.auc")(truth, model.decision_function(X)))
