"""Risks estimated without negatives as scikit-learn classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpu.estimators._arguments import with_prior, with_prior_attributes
from fastpu.estimators._base import FastpuClassifier
from fastpu.risk.nnpu import fit_nnpu
from fastpu.risk.upu import fit_upu

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from fastpu.priors import PriorEstimate
    from fastpu.risk._arguments import RiskRound

__all__ = ["NNPUClassifier", "UPUClassifier"]


class _Risk(FastpuClassifier):
    """What both classifiers share: a prior that is estimated if none is given."""

    prior_: float
    prior_estimate_: PriorEstimate | None

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:
        return with_prior(super()._arguments(rows, codes, data), rows, codes, data["sample_weight"])

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        call = super()._call
        return with_prior_attributes(lambda given: call(rows, codes, given), arguments)


class UPUClassifier(_Risk):
    """uPU: an unbiased estimate of the risk from positive and unlabelled rows.

    Parameters
    ----------
    scenario, lam, loss, model, n_centers, centers, bandwidth, n_hidden, tol, max_iter, learning_rate
        As in `fastpu.fit_upu`.
    weight_decay, batch_size, n_epochs, validation_fraction, early_stopping_rounds, random_state, n_threads, callback
        As in `fastpu.fit_upu`.
    progress
        As in `fastpu.fit_upu`.
    prior : float or {"bbe", "km2", "pen_l1", "tice"}, default "bbe"
        P(Y = 1) among the unlabelled rows, better known than estimated. A name has it estimated by that function of
        `fastpu.priors` in every fit, whatever `scenario` is; with sample weights from rows drawn in proportion to
        these. An `EstimateWarning` tells where it is an upper bound only.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.
    prior_ : float
        The prior that was used; of an estimate the share among the unlabelled rows.
    prior_estimate_ : PriorEstimate or None
        What the estimate says of itself (`allowed`, `only_upper_bound`); None for a prior that was given.

    Examples
    --------
    >>> from fastpu.estimators import UPUClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> UPUClassifier(prior=0.3).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_upu)

    def __init__(
        self,
        *,
        prior: float | str = "bbe",
        scenario: str = "case_control",
        lam: float | None = None,
        loss: str = "logistic",
        model: str = "linear",
        n_centers: int = 200,
        centers: object = None,
        bandwidth: float | None = None,
        n_hidden: int = 100,
        tol: float = 1e-10,
        max_iter: int = 200,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        batch_size: int | str | None = "auto",
        n_epochs: int | None = None,
        validation_fraction: float = 0.1,
        early_stopping_rounds: int | str | None = "auto",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[RiskRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.prior = prior
        self.scenario = scenario
        self.lam = lam
        self.loss = loss
        self.model = model
        self.n_centers = n_centers
        self.centers = centers
        self.bandwidth = bandwidth
        self.n_hidden = n_hidden
        self.tol = tol
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.validation_fraction = validation_fraction
        self.early_stopping_rounds = early_stopping_rounds
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; equal to repeating rows.
        eval_set : (X, y), optional
            Rows to judge the rounds by, with labels like those of `y`.

        Returns
        -------
        UPUClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight, eval_set=eval_set)


class NNPUClassifier(_Risk):
    """nnPU: the same risk, kept from falling below 0.

    Parameters
    ----------
    scenario, lam, loss, model, beta, gamma_nn, n_centers, centers, bandwidth, n_hidden, learning_rate
        As in `fastpu.fit_nnpu`.
    weight_decay, batch_size, n_epochs, validation_fraction, early_stopping_rounds, random_state, n_threads, callback
        As in `fastpu.fit_nnpu`.
    progress
        As in `fastpu.fit_nnpu`.
    prior : float or {"bbe", "km2", "pen_l1", "tice"}, default "bbe"
        P(Y = 1) among the unlabelled rows, better known than estimated. A name has it estimated by that function of
        `fastpu.priors` in every fit, whatever `scenario` is; with sample weights from rows drawn in proportion to
        these. An `EstimateWarning` tells where it is an upper bound only.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.
    prior_ : float
        The prior that was used; of an estimate the share among the unlabelled rows.
    prior_estimate_ : PriorEstimate or None
        What the estimate says of itself (`allowed`, `only_upper_bound`); None for a prior that was given.

    Examples
    --------
    >>> from fastpu.estimators import NNPUClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> NNPUClassifier(prior=0.3, learning_rate=0.1).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_nnpu)
    _rounds = "n_epochs"

    def __init__(
        self,
        *,
        prior: float | str = "bbe",
        scenario: str = "case_control",
        lam: float | None = None,
        loss: str = "logistic",
        model: str = "linear",
        beta: float = 0.0,
        gamma_nn: float = 1.0,
        n_centers: int = 200,
        centers: object = None,
        bandwidth: float | None = None,
        n_hidden: int = 100,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        batch_size: int | str | None = "auto",
        n_epochs: int | None = None,
        validation_fraction: float = 0.1,
        early_stopping_rounds: int | str | None = "auto",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[RiskRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.prior = prior
        self.scenario = scenario
        self.lam = lam
        self.loss = loss
        self.model = model
        self.beta = beta
        self.gamma_nn = gamma_nn
        self.n_centers = n_centers
        self.centers = centers
        self.bandwidth = bandwidth
        self.n_hidden = n_hidden
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.validation_fraction = validation_fraction
        self.early_stopping_rounds = early_stopping_rounds
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; equal to repeating rows.
        eval_set : (X, y), optional
            Rows to judge the rounds by, with labels like those of `y`.

        Returns
        -------
        NNPUClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight, eval_set=eval_set)
