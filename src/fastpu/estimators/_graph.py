"""PUAL and its relatives as scikit-learn classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.estimators._base import FastpuClassifier
from fastpu.graph.bls_svm import fit_bls_svm
from fastpu.graph.gllc import fit_gllc
from fastpu.graph.pual import fit_pual

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from fastpu.graph._arguments import PualRound

__all__ = ["BLSSVMClassifier", "GLLCClassifier", "PUALClassifier"]


class PUALClassifier(FastpuClassifier):
    """PUAL: hinge loss on positives, squared loss on unlabelled rows, neighbours that agree.

    Parameters
    ----------
    C_pos, C_unl, lam, sigma, n_neighbors, kernel, gamma, degree, coef0, kernel_form, mu, solver, tol
        As in `fastpu.fit_pual`.
    max_iter, random_state, n_threads, callback, progress
        As in `fastpu.fit_pual`.
    n_components : int, optional
        Landmarks of Nystroem's method. The linear kernel needs no approximation, and is fitted without one.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import PUALClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> PUALClassifier(n_neighbors=2).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_pual)

    def __init__(
        self,
        *,
        C_pos: float = 1.0,
        C_unl: float = 0.1,
        lam: float = 1.0,
        sigma: float | str = "median",
        n_neighbors: int = 5,
        kernel: str | Callable[..., object] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernel_form: str = "exact",
        mu: float | None = None,
        solver: str = "auto",
        tol: float = 1e-09,
        max_iter: int | None = None,
        n_components: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[PualRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C_pos = C_pos
        self.C_unl = C_unl
        self.lam = lam
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_form = kernel_form
        self.mu = mu
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_components = n_components
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, graph: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        graph : (W, R), optional
            The neighbours of the rows of `X`, from `fastpu.knn_similarity`, in place of a search.

        Returns
        -------
        PUALClassifier
        """
        return self._fit(X, y, graph=graph)

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(rows, codes, data)
        return {**arguments, "n_components": None} if self.kernel == "linear" else arguments


class GLLCClassifier(FastpuClassifier):
    """GLLC: squared losses and neighbours that agree, in closed form.

    Parameters
    ----------
    C_pos, C_unl, lam, sigma, n_neighbors, kernel, gamma, degree, coef0, kernel_form, random_state, n_threads
        As in `fastpu.fit_gllc`.
    callback, progress
        As in `fastpu.fit_gllc`.
    n_components : int, optional
        Landmarks of Nystroem's method. The linear kernel needs no approximation, and is fitted without one.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import GLLCClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> GLLCClassifier(n_neighbors=2).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_gllc)

    def __init__(
        self,
        *,
        C_pos: float = 1.0,
        C_unl: float = 0.1,
        lam: float = 1.0,
        sigma: float | str = "median",
        n_neighbors: int = 5,
        kernel: str | Callable[..., object] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernel_form: str = "exact",
        n_components: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[PualRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C_pos = C_pos
        self.C_unl = C_unl
        self.lam = lam
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_form = kernel_form
        self.n_components = n_components
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, graph: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        graph : (W, R), optional
            The neighbours of the rows of `X`, from `fastpu.knn_similarity`, in place of a search.

        Returns
        -------
        GLLCClassifier
        """
        return self._fit(X, y, graph=graph)

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(rows, codes, data)
        return {**arguments, "n_components": None} if self.kernel == "linear" else arguments


class BLSSVMClassifier(FastpuClassifier):
    """Biased least-squares SVM, in closed form.

    Parameters
    ----------
    C_pos, C_unl, lam, kernel, gamma, degree, coef0, random_state, n_threads, callback, progress
        As in `fastpu.fit_bls_svm`.
    n_components : int, optional
        Landmarks of Nystroem's method. The linear kernel needs no approximation, and is fitted without one.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import BLSSVMClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> BLSSVMClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_bls_svm)

    def __init__(
        self,
        *,
        C_pos: float = 1.0,
        C_unl: float = 0.1,
        lam: float = 1.0,
        kernel: str | Callable[..., object] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_components: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[PualRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C_pos = C_pos
        self.C_unl = C_unl
        self.lam = lam
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state
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
        BLSSVMClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(rows, codes, data)
        return {**arguments, "n_components": None} if self.kernel == "linear" else arguments
