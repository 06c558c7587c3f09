"""Squared-loss AUC in closed form: time of a fit, of a path of lam, and the AUC on other rows."""

from __future__ import annotations

from typing import Any

from .common import N_THREADS, SIZES, dense_rows, hide_labels, require, sparse_rows

_LAMS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def _fit(model: str) -> tuple[Any, dict[str, Any]]:
    return require("fit_samult"), {"model": model, "random_state": 0}


class Fit:
    """`fit_samult` of n rows of 50 features, of which 15 % are labelled."""

    param_names = ("n", "model", "form", "n_threads")
    params = (SIZES, ("linear", "gauss"), ("dense", "csr"), N_THREADS)

    def setup(self, n: int, model: str, form: str, n_threads: int) -> None:
        if model == "gauss" and form == "csr":
            raise NotImplementedError("dense rows show what basis functions cost")  # how asv is told to skip
        self.fit, self.options = _fit(model)
        make = dense_rows if form == "dense" else sparse_rows
        self.X, truth = make(n)
        self.y = hide_labels(truth)
        self.other, self.truth = make(20_000, seed=1)

    def time_fit(self, n: int, model: str, form: str, n_threads: int) -> None:
        self.fit(self.X, self.y, n_threads=n_threads, **self.options)

    def peakmem_fit(self, n: int, model: str, form: str, n_threads: int) -> None:
        self.fit(self.X, self.y, n_threads=n_threads, **self.options)

    def track_auc(self, n: int, model: str, form: str, n_threads: int) -> float:
        model = self.fit(self.X, self.y, n_threads=n_threads, **self.options)
        return float(require("metrics.auc")(self.truth, model.decision_function(self.other)))


class Lams:
    """Five values of lam in one call, which shares the covariances."""

    param_names = ("n",)
    params = (SIZES,)

    def setup(self, n: int) -> None:
        self.fit, self.options = _fit("gauss")
        self.X, truth = dense_rows(n)
        self.y = hide_labels(truth)

    def time_lams(self, n: int) -> None:
        self.fit(self.X, self.y, lam=_LAMS, **self.options)
