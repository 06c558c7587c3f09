"""Large-margin iterations as scikit-learn classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.estimators._arguments import balanced_costs
from fastpu.estimators._base import FastpuClassifier
from fastpu.margin.bpsi import fit_bpsi
from fastpu.margin.isvm import fit_ipsi, fit_isvm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from fastpu.margin._arguments import MarginRound

__all__ = ["BPSIClassifier", "IPSIClassifier", "ISVMClassifier"]


class ISVMClassifier(FastpuClassifier):
    """ISVM: iterative large margin learning with the hinge loss.

    Parameters
    ----------
    C, tol, max_iter, solver_tol, solver_max_iter, check_increase, solver, n_threads, callback, progress
        As in `fastpu.fit_isvm`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import ISVMClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> ISVMClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_isvm)

    def __init__(
        self,
        *,
        C: float | None = None,
        tol: float = 0.001,
        max_iter: int = 100,
        solver_tol: float = 1e-09,
        solver_max_iter: int | None = None,
        check_increase: bool = True,
        solver: str = "auto",
        n_threads: int | None = None,
        callback: Callable[[MarginRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.solver_tol = solver_tol
        self.solver_max_iter = solver_max_iter
        self.check_increase = check_increase
        self.solver = solver
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; equal to repeating rows.

        Returns
        -------
        ISVMClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)


class IPSIClassifier(FastpuClassifier):
    """IPSI: iterative large margin learning with the psi loss.

    Parameters
    ----------
    C, init, tol, max_iter, solver_tol, solver_max_iter, check_increase, solver, n_threads, callback, progress
        As in `fastpu.fit_ipsi`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import IPSIClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> IPSIClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_ipsi)

    def __init__(
        self,
        *,
        C: float | None = None,
        init: str = "hinge",
        tol: float = 0.001,
        max_iter: int = 100,
        solver_tol: float = 1e-09,
        solver_max_iter: int | None = None,
        check_increase: bool = True,
        solver: str = "auto",
        n_threads: int | None = None,
        callback: Callable[[MarginRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C = C
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.solver_tol = solver_tol
        self.solver_max_iter = solver_max_iter
        self.check_increase = check_increase
        self.solver = solver
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; equal to repeating rows.

        Returns
        -------
        IPSIClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)


class BPSIClassifier(FastpuClassifier):
    """Biased psi-learning: positives against unlabelled rows with the psi loss.

    Parameters
    ----------
    C, max_iter, solver_tol, solver_max_iter, solver, n_threads, callback, progress
        As in `fastpu.fit_bpsi`.
    C_pos, C_unl : float, optional
        Costs of a labelled positive and of an unlabelled row. By default n / (2 n_pos) and n / (2 n_unl), of weights
        where there are some, so that both groups weigh the same.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import BPSIClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> BPSIClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_bpsi)

    def __init__(
        self,
        *,
        C_pos: float | None = None,
        C_unl: float | None = None,
        C: float = 1.0,
        max_iter: int = 100,
        solver_tol: float = 1e-09,
        solver_max_iter: int | None = None,
        solver: str = "auto",
        n_threads: int | None = None,
        callback: Callable[[MarginRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C_pos = C_pos
        self.C_unl = C_unl
        self.C = C
        self.max_iter = max_iter
        self.solver_tol = solver_tol
        self.solver_max_iter = solver_max_iter
        self.solver = solver
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; equal to repeating rows.

        Returns
        -------
        BPSIClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(rows, codes, data)
        return {**arguments, **balanced_costs(arguments, codes, data["sample_weight"])}
