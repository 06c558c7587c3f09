"""The classifiers of uPU and nnPU, which need a prior, and estimate it if none is given."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_choice, check_random_state
from fastpu.common._types import MatrixLike, RandomState, RoundCallback, Scenario
from fastpu.data._validate import check_matrix
from fastpu.estimators._calibration import in_proportion
from fastpu.estimators._documentation import explains_parameters_of
from fastpu.estimators._fastpu_classifier import FastpuClassifier, Seed
from fastpu.estimators._fit_arguments import TakesWeights, TakesWeightsAndEvalSet
from fastpu.estimators._fit_input import FitInput
from fastpu.model._prior import PriorEstimate, check_prior, take_prior_in
from fastpu.priors import bbe
from fastpu.risk.nnpu import fit_nnpu
from fastpu.risk.risk_machine import RiskMachine, RiskNetwork, RiskRound
from fastpu.risk.upu import fit_upu

if TYPE_CHECKING:
    from typing_extensions import Self


class EstimatesPrior(FastpuClassifier):
    """A classifier whose function needs a prior, which is estimated if none is given.

    Attributes
    ----------
    prior_ : float
        The prior that was used. If it was estimated, it is the share among the unlabelled rows.
    prior_estimate_ : PriorEstimate or None
        The estimate (with `allowed` and `only_upper_bound`), or None if the prior was passed as a number.
    """

    prior: float | PriorEstimate | str
    scenario: Scenario
    prior_: float
    prior_estimate_: PriorEstimate | None

    def _settled(self, data: FitInput) -> Self:
        """Return a copy whose prior is a number, or an estimate of the share among the unlabelled rows."""
        settled = super()._settled(data)
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, ("bbe",), " or a number in (0, 1)")
            settled.prior = _estimated_prior(data, settled._seed, self.n_threads)
        else:
            take_prior_in(self.scenario, self.prior)  # warns of an estimate that is no number to go by
        settled.prior_estimate_ = settled.prior if isinstance(settled.prior, PriorEstimate) else None
        settled.prior_ = check_prior(settled.prior)
        return settled

    def _prior_and_scenario(self) -> tuple[float, Scenario]:
        """Return the prior as a number, as the function takes it, and the scenario; of a settled classifier."""
        if self.prior_estimate_ is not None:  # whose doubts have been told
            return self.prior_estimate_.value, "case_control"
        return self.prior_, self.scenario

    def _prior_of_fit(self) -> tuple[float | PriorEstimate | None, str]:
        return self.prior_ if self.prior_estimate_ is None else self.prior_estimate_, self.scenario

    def _take_over(self, fitted: Self) -> None:
        super()._take_over(fitted)
        self.prior_, self.prior_estimate_ = fitted.prior_, fitted.prior_estimate_


def _estimated_prior(data: FitInput, seed: RandomState, n_threads: int | None) -> PriorEstimate:
    """Return the share of positives among the unlabelled rows by `fastpu.priors.bbe`.

    An estimate of 0 or 1 is moved inwards by the share of one more row.
    """
    chosen = []
    for code in (1, 0):
        group = np.flatnonzero(data.y == code)
        if data.sample_weight is not None and group.size:
            group = group[in_proportion(data.sample_weight[group], check_random_state(seed).random())]
        if group.size < 2:
            kind = "positive" if code else "unlabelled"
            raise ValueError(
                f"prior must be a number where a group has fewer than 2 rows, for 'bbe' cannot estimate it from "
                f"{group.size} {kind} row{'' if group.size == 1 else 's'}"
            )
        chosen.append(group)
    drawn = np.concatenate(chosen)
    X = check_matrix(data.X)[drawn].table()
    groups = None if data.groups is None else data.groups[drawn]
    estimate = bbe(X, data.y[drawn], groups=groups, random_state=seed, n_threads=n_threads)
    edge = 1 / (chosen[1].size + 1)
    return dataclasses.replace(estimate, value=float(min(1 - edge, max(edge, estimate.value))))


@answers_unknown_keywords
@explains_parameters_of(fit_upu)
class UPUClassifier(EstimatesPrior, TakesWeights):
    """uPU as a scikit-learn classifier: minimise an unbiased estimate of the risk, with a prior.

    It is for a classifier whose class prior is known. The classifier is linear, or linear in Gaussian basis functions;
    with the default loss its scores are log odds. Standardise the columns. For a network, and for the sigmoid loss,
    take `NNPUClassifier`.

    `fit` calls `fastpu.fit_upu` with these parameters.

    Parameters
    ----------
    prior : float, PriorEstimate or "bbe", default "bbe"
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows. Pass it if you know it. "bbe" estimates the share among the unlabelled rows by `fastpu.priors.bbe` in
        every fit, whatever `scenario` is. With sample weights it does so from rows that are drawn in proportion to
        their weights. An `EstimateWarning` says if the estimate is only an upper bound.

    Examples
    --------
    >>> import fastpu
    >>> from fastpu.estimators import UPUClassifier
    >>> X, truth = fastpu.datasets.make_two_normals(900, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=200, random_state=0)
    >>> model = UPUClassifier(prior=split.prior).fit(X[split.train], split.y_train)
    >>> bool((model.predict(X[split.test]) == (truth[split.test] == 1)).mean() > 0.8)
    True
    """

    _function = staticmethod(fit_upu)
    model_: RiskMachine

    def __init__(
        self,
        *,
        prior: float | PriorEstimate | str = "bbe",
        scenario: Scenario = "case_control",
        lam: float | None = None,
        loss: Literal["logistic", "squared"] = "logistic",
        model: Literal["linear", "gauss"] = "linear",
        n_centers: int = 200,
        centers: MatrixLike | None = None,
        bandwidth: float | None = None,
        tol: float = 1e-10,
        max_iter: int = 200,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[RiskRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
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
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def _fit_model(self, data: FitInput) -> RiskMachine:
        prior, scenario = self._prior_and_scenario()
        return fit_upu(
            data.X,
            data.y,
            prior=prior,
            scenario=scenario,
            lam=self.lam,
            loss=self.loss,
            model=self.model,
            n_centers=self.n_centers,
            centers=self.centers,
            bandwidth=self.bandwidth,
            tol=self.tol,
            max_iter=self.max_iter,
            sample_weight=data.sample_weight,
            random_state=self._seed,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )


@answers_unknown_keywords
@explains_parameters_of(fit_nnpu)
class NNPUClassifier(EstimatesPrior, TakesWeightsAndEvalSet):
    """nnPU as a scikit-learn classifier: train by a risk whose part for the negatives cannot fall below 0.

    It is for a classifier whose class prior is known, above all for a network (``model="mlp"``), which `UPUClassifier`
    would fit too closely to the labelled rows. Standardise the columns.

    `fit` calls `fastpu.fit_nnpu` with these parameters.

    Parameters
    ----------
    prior : float, PriorEstimate or "bbe", default "bbe"
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows. Pass it if you know it. "bbe" estimates the share among the unlabelled rows by `fastpu.priors.bbe` in
        every fit, whatever `scenario` is. With sample weights it does so from rows that are drawn in proportion to
        their weights. An `EstimateWarning` says if the estimate is only an upper bound.

    Examples
    --------
    >>> import fastpu
    >>> from fastpu.estimators import NNPUClassifier
    >>> X, truth = fastpu.datasets.make_two_normals(900, random_state=0)
    >>> split = fastpu.datasets.split_case_control(truth, labeled=200, random_state=0)
    >>> model = NNPUClassifier(prior=split.prior, random_state=0).fit(X[split.train], split.y_train)
    >>> bool((model.predict(X[split.test]) == (truth[split.test] == 1)).mean() > 0.8)
    True
    """

    _function = staticmethod(fit_nnpu)
    model_: RiskMachine | RiskNetwork

    def __init__(
        self,
        *,
        prior: float | PriorEstimate | str = "bbe",
        scenario: Scenario = "case_control",
        lam: float | None = None,
        loss: Literal["sigmoid", "logistic", "squared"] = "logistic",
        model: Literal["linear", "gauss", "mlp"] = "linear",
        beta: float = 0.0,
        gamma_nn: float = 1.0,
        n_centers: int = 200,
        centers: MatrixLike | None = None,
        bandwidth: float | None = None,
        n_hidden: int = 100,
        learning_rate: float | None = None,
        batch_size: int | Literal["auto"] | None = "auto",
        n_epochs: int | None = None,
        validation_fraction: float = 0.1,
        early_stopping_rounds: int | Literal["auto"] | None = "auto",
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[RiskRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
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

    def _fit_model(self, data: FitInput) -> RiskMachine | RiskNetwork:
        prior, scenario = self._prior_and_scenario()
        return fit_nnpu(
            data.X,
            data.y,
            prior=prior,
            scenario=scenario,
            lam=self.lam,
            loss=self.loss,
            model=self.model,
            beta=self.beta,
            gamma_nn=self.gamma_nn,
            n_centers=self.n_centers,
            centers=self.centers,
            bandwidth=self.bandwidth,
            n_hidden=self.n_hidden,
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            n_epochs=self.n_epochs,
            validation_fraction=self.validation_fraction,
            eval_set=data.eval_set,
            early_stopping_rounds=self.early_stopping_rounds,
            sample_weight=data.sample_weight,
            random_state=self._seed,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )
