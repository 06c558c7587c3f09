"""Mapping convergence as scikit-learn classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.estimators._base import FastpuClassifier
from fastpu.mapping.mapping_convergence import fit_smc, fit_svmc

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from typing_extensions import Self

    from fastpu.mapping.mapping_convergence import MappingRound

__all__ = ["SMCClassifier", "SVMCClassifier"]


class SMCClassifier(FastpuClassifier):
    """SMC: mapping convergence with support vectors alone, from strong negatives towards the positives.

    Parameters
    ----------
    nu_map, C, nu, psi1, psi2, max_iter, max_pos_reject, hold_out, kernel, gamma, degree, coef0, cache_mb
        As in `fastpu.fit_smc`.
    tol, solver_max_iter, random_state, n_threads, callback, progress
        As in `fastpu.fit_smc`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import SMCClassifier
    >>> X = np.concatenate([np.linspace(-4, 2, 60), np.linspace(1, 2, 30)])[:, None]
    >>> SMCClassifier().fit(X, ["other"] * 60 + ["yes"] * 30).predict([[-3.2], [1.5]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_smc)

    def __init__(
        self,
        *,
        nu_map: float = 0.01,
        C: float = 1.0,
        nu: float | None = None,
        psi1: object = None,
        psi2: object = None,
        max_iter: int = 100,
        max_pos_reject: float | None = None,
        hold_out: float | None = None,
        kernel: str | Callable[..., object] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        solver_max_iter: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[MappingRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.nu_map = nu_map
        self.C = C
        self.nu = nu
        self.psi1 = psi1
        self.psi2 = psi2
        self.max_iter = max_iter
        self.max_pos_reject = max_pos_reject
        self.hold_out = hold_out
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.tol = tol
        self.solver_max_iter = solver_max_iter
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.

        Returns
        -------
        SMCClassifier
        """
        return self._fit(X, y)


class SVMCClassifier(FastpuClassifier):
    """SVMC: mapping convergence with an SVM in every step.

    Parameters
    ----------
    nu_map, C, nu, repair, psi1, psi2, max_iter, max_pos_reject, hold_out, kernel, gamma, degree, coef0
        As in `fastpu.fit_svmc`.
    cache_mb, tol, solver_max_iter, random_state, n_threads, callback, progress
        As in `fastpu.fit_svmc`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import SVMCClassifier
    >>> X = np.concatenate([np.linspace(-4, 2, 60), np.linspace(1, 2, 30)])[:, None]
    >>> SVMCClassifier().fit(X, ["other"] * 60 + ["yes"] * 30).predict([[-3.2], [1.5]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_svmc)

    def __init__(
        self,
        *,
        nu_map: float = 0.01,
        C: float = 1.0,
        nu: float | None = None,
        repair: bool = True,
        psi1: object = None,
        psi2: object = None,
        max_iter: int = 100,
        max_pos_reject: float | None = None,
        hold_out: float | None = None,
        kernel: str | Callable[..., object] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        solver_max_iter: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[MappingRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.nu_map = nu_map
        self.C = C
        self.nu = nu
        self.repair = repair
        self.psi1 = psi1
        self.psi2 = psi2
        self.max_iter = max_iter
        self.max_pos_reject = max_pos_reject
        self.hold_out = hold_out
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.tol = tol
        self.solver_max_iter = solver_max_iter
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.

        Returns
        -------
        SVMCClassifier
        """
        return self._fit(X, y)
