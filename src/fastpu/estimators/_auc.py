"""AUC by squared losses as scikit-learn classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.auc.ls_auc import fit_ls_auc, fit_pnu_auc, fit_samult
from fastpu.common._params import check_float
from fastpu.estimators._arguments import check_prior_name, with_prior, with_prior_attributes
from fastpu.estimators._base import FastpuClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self


__all__ = ["LSAUCClassifier", "PNUAUCClassifier", "SAMULTClassifier"]


class LSAUCClassifier(FastpuClassifier):
    """LSAUC: AUC of labelled rows by a squared loss, in closed form.

    The smaller of two labels is negative.

    Parameters
    ----------
    lam, basis, n_centers, centers, bandwidth, tol, max_iter, random_state, n_threads
        As in `fastpu.fit_ls_auc`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import LSAUCClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> LSAUCClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_ls_auc)

    def __init__(
        self,
        *,
        lam: float = 0.001,
        basis: str = "linear",
        n_centers: int = 200,
        centers: object = None,
        bandwidth: float | None = None,
        tol: float = 1e-10,
        max_iter: int = 1000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.lam = lam
        self.basis = basis
        self.n_centers = n_centers
        self.centers = centers
        self.bandwidth = bandwidth
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_threads = n_threads
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
        LSAUCClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)


class SAMULTClassifier(FastpuClassifier):
    """SAMULT: semi-supervised AUC by squared losses, without a class prior.

    It learns from labels -1, 0 and 1. The smaller of two labels is negative: without unlabelled rows only the risk of
    the labelled ones is left, and the fit is that of `fastpu.fit_ls_auc`.

    Parameters
    ----------
    gamma, lam, basis, n_centers, centers, bandwidth, tol, max_iter, random_state, n_threads
        As in `fastpu.fit_samult`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.

    Examples
    --------
    >>> from fastpu.estimators import SAMULTClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> SAMULTClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_samult)

    def __init__(
        self,
        *,
        gamma: float = 0.5,
        lam: float = 0.001,
        basis: str = "linear",
        n_centers: int = 200,
        centers: object = None,
        bandwidth: float | None = None,
        tol: float = 1e-10,
        max_iter: int = 1000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.gamma = gamma
        self.lam = lam
        self.basis = basis
        self.n_centers = n_centers
        self.centers = centers
        self.bandwidth = bandwidth
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_threads = n_threads
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
        SAMULTClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _other_label(self, classes: NDArray[Any]) -> int:  # noqa: ARG002 - negative whatever they are
        return -1

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        if (codes == 0).any():
            return super()._call(rows, codes, arguments)
        check_float("gamma", arguments.pop("gamma"), low=0, high=1)
        return {"model_": fit_ls_auc(rows, codes, **arguments)}


class PNUAUCClassifier(FastpuClassifier):
    """PNU-AUC: AUC by squared losses from positive, negative and unlabelled rows with a class prior.

    The smaller of two labels is unlabelled for eta = 1 and negative otherwise.

    Parameters
    ----------
    scenario, eta, lam, basis, n_centers, centers, bandwidth, tol, max_iter, random_state, n_threads
        As in `fastpu.fit_pnu_auc`.
    prior : float or {"bbe", "km2", "pen_l1", "tice"}, default "bbe"
        P(Y = 1) among the unlabelled rows, better known than estimated. A name has it estimated by that function of
        `fastpu.priors` in every fit, whatever `scenario` is; with sample weights from rows drawn in proportion to
        these. An `EstimateWarning` tells where it is an upper bound only. For eta = 0 it has no influence, and is not
        estimated.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.
    prior_ : float or None
        The prior that was used; of an estimate the share among the unlabelled rows. None for eta = 0.
    prior_estimate_ : PriorEstimate or None
        What the estimate says of itself (`allowed`, `only_upper_bound`); None where nothing was estimated.

    Examples
    --------
    >>> from fastpu.estimators import PNUAUCClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> PNUAUCClassifier().fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_pnu_auc)

    def __init__(
        self,
        *,
        prior: float | str = "bbe",
        scenario: str = "case_control",
        eta: float = 0.0,
        lam: float = 0.001,
        basis: str = "linear",
        n_centers: int = 200,
        centers: object = None,
        bandwidth: float | None = None,
        tol: float = 1e-10,
        max_iter: int = 1000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.prior = prior
        self.scenario = scenario
        self.eta = eta
        self.lam = lam
        self.basis = basis
        self.n_centers = n_centers
        self.centers = centers
        self.bandwidth = bandwidth
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_threads = n_threads
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
        PNUAUCClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _other_label(self, classes: NDArray[Any]) -> int:  # noqa: ARG002 - eta alone decides
        return 0 if self.eta == 1 else -1

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(rows, codes, data)
        if self.eta == 0 and isinstance(self.prior, str):
            check_prior_name(self.prior)
            return {**arguments, "prior": 0.5}  # any: it is not used
        return with_prior(arguments, rows, codes, data["sample_weight"])

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        call = super()._call
        fitted = with_prior_attributes(lambda given: call(rows, codes, given), arguments)
        return {**fitted, "prior_": None} if self.eta == 0 else fitted
