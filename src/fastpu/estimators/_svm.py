"""Support vector machines as scikit-learn classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.data._validate import check_matrix
from fastpu.estimators._arguments import balanced_costs
from fastpu.estimators._base import FastpuClassifier, Labels
from fastpu.kernels._kernels import take_rows, user_rows
from fastpu.svm.bagging_svm import fit_bagging_svm
from fastpu.svm.bsvm import fit_bsvm
from fastpu.svm.svm import fit_nu_svm, fit_one_class_svm, fit_svm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from typing_extensions import Self

    from fastpu.svm.bagging_svm import BagRound
    from fastpu.svm.svm import SvmRound

__all__ = ["BSVMClassifier", "BaggingSVMClassifier", "NuSVMClassifier", "OneClassSVMClassifier", "SVMClassifier"]


class SVMClassifier(FastpuClassifier):
    """C-SVM, supervised, with a cost for each row.

    The smaller of two labels is negative.

    Parameters
    ----------
    C, kernel, gamma, degree, coef0, cache_mb, tol, max_iter, n_threads, callback, progress
        As in `fastpu.fit_svm`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import SVMClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> SVMClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_svm)

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Callable[..., object] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        max_iter: int | None = None,
        n_threads: int | None = None,
        callback: Callable[[SvmRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None, sample_cost: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; equal to repeating rows.
        sample_cost : array-like of shape (n,), optional
            Costs >= 0 that multiply `C`.

        Returns
        -------
        SVMClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight, sample_cost=sample_cost)


class NuSVMClassifier(FastpuClassifier):
    """nu-SVM, supervised.

    The smaller of two labels is negative.

    Parameters
    ----------
    nu, kernel, gamma, degree, coef0, cache_mb, tol, max_iter, n_threads, callback, progress
        As in `fastpu.fit_nu_svm`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import NuSVMClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> NuSVMClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_nu_svm)

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | Callable[..., object] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        max_iter: int | None = None,
        n_threads: int | None = None,
        callback: Callable[[SvmRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.tol = tol
        self.max_iter = max_iter
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
        NuSVMClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)


class OneClassSVMClassifier(FastpuClassifier):
    """One-class SVM: a region that holds most rows of one class, learnt from these alone.

    Of two labels the larger one is the class, of -1, 0 and 1 it is 1. Without labels `predict` returns 1 and -1.

    Parameters
    ----------
    nu, kernel, gamma, degree, coef0, cache_mb, tol, max_iter, n_threads, callback, progress
        As in `fastpu.fit_one_class_svm`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import OneClassSVMClassifier
    >>> X = [[-0.2], [-0.1], [0.0], [0.1], [0.2]]
    >>> OneClassSVMClassifier(gamma=1.0).fit(X).predict([[0.05], [5.0]])
    array([ 1, -1])
    """

    _function = staticmethod(fit_one_class_svm)

    def __init__(
        self,
        *,
        nu: float = 0.1,
        kernel: str | Callable[..., object] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        max_iter: int | None = None,
        n_threads: int | None = None,
        callback: Callable[[SvmRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,), optional
            None if all rows are of the class; else rows of other labels are left out.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; equal to repeating rows.

        Returns
        -------
        OneClassSVMClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _read_labels(self, y: Any, n_rows: int) -> tuple[Labels, NDArray[np.int8]]:
        if y is None:
            return Labels(np.array([-1, 1]), 0, coded=True), np.ones(n_rows, dtype=np.int8)
        return super()._read_labels(y, n_rows)

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        if (codes != 1).any():
            rows, arguments = self._positive(rows, codes, arguments)
        return {"model_": fit_one_class_svm(rows, **arguments)}

    def _positive(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the rows of the class, and the arguments that go with them."""
        if self.kernel == "precomputed":
            raise ValueError("y must be None for kernel='precomputed': pass the kernel matrix of the rows of the class")
        native = check_matrix(rows).native  # NaN in rows that are left out is refused as well
        kept = np.flatnonzero(codes == 1)
        weights = arguments["sample_weight"]
        arguments = {**arguments, "sample_weight": None if weights is None else weights[kept]}
        return user_rows(take_rows(native, kept)), arguments


class BSVMClassifier(FastpuClassifier):
    """Biased SVM: positives against unlabelled rows, with a cost for each of the two.

    Parameters
    ----------
    C, kernel, gamma, degree, coef0, cache_mb, tol, max_iter, n_threads, callback, progress
        As in `fastpu.fit_bsvm`.
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
    >>> from fastpu.estimators import BSVMClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> BSVMClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_bsvm)

    def __init__(
        self,
        *,
        C_pos: float | None = None,
        C_unl: float | None = None,
        C: float = 1.0,
        kernel: str | Callable[..., object] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        max_iter: int | None = None,
        n_threads: int | None = None,
        callback: Callable[[SvmRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C_pos = C_pos
        self.C_unl = C_unl
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.tol = tol
        self.max_iter = max_iter
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
        BSVMClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(rows, codes, data)
        return {**arguments, **balanced_costs(arguments, codes, data["sample_weight"])}


class BaggingSVMClassifier(FastpuClassifier):
    """Bagging SVM: the mean of biased SVMs on bags of unlabelled rows.

    Parameters
    ----------
    C, n_estimators, bag_size, kernel, gamma, degree, coef0, cache_mb, tol, max_iter, random_state, n_threads
        As in `fastpu.fit_bagging_svm`.
    callback, progress
        As in `fastpu.fit_bagging_svm`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import BaggingSVMClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> BaggingSVMClassifier(random_state=0).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_bagging_svm)

    def __init__(
        self,
        *,
        C: float = 1.0,
        n_estimators: int | None = None,
        bag_size: int | None = None,
        kernel: str | Callable[..., object] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        max_iter: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[BagRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C = C
        self.n_estimators = n_estimators
        self.bag_size = bag_size
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.tol = tol
        self.max_iter = max_iter
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
        BaggingSVMClassifier
        """
        return self._fit(X, y)
