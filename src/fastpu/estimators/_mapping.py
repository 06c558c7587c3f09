"""The classifiers of mapping convergence, SMC and SVMC."""

from __future__ import annotations

from typing import Literal

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import GammaLike, KernelLike, RoundCallback
from fastpu.estimators._documentation import explains_parameters_of
from fastpu.estimators._fastpu_classifier import Seed
from fastpu.estimators._fit_arguments import TakesRows
from fastpu.estimators._fit_input import FitInput
from fastpu.mapping.mapping_convergence import fit_smc, fit_svmc
from fastpu.mapping.mapping_machine import MappingMachine
from fastpu.mapping.mapping_round import MappingRound
from fastpu.model._prior import PriorEstimate


@answers_unknown_keywords
@explains_parameters_of(fit_smc)
class SMCClassifier(TakesRows):
    """SMC, mapping convergence, as a scikit-learn classifier: an SVM of P against the rejected rows of U.

    It is for positives that are a class of their own among many, with a gap around it, such as one letter of 26. Where
    classes overlap it rejects nearly all rows in the end: take another method there. With many unlabelled rows
    `SVMCClassifier` is faster.

    `fit` calls `fastpu.fit_smc` with these parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import SMCClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> SMCClassifier().fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_smc)
    model_: MappingMachine

    def __init__(
        self,
        *,
        nu_map: float = 0.01,
        C: float = 1.0,
        nu: float | None = None,
        max_iter: int = 100,
        max_pos_reject: float | None = None,
        hold_out: float | None = None,
        kernel: KernelLike = "rbf",
        gamma: GammaLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        solver_max_iter: int | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[MappingRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.nu_map = nu_map
        self.C = C
        self.nu = nu
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

    def _fit_model(self, data: FitInput) -> MappingMachine:
        return fit_smc(
            data.X,
            data.y,
            nu_map=self.nu_map,
            C=self.C,
            nu=self.nu,
            max_iter=self.max_iter,
            max_pos_reject=self.max_pos_reject,
            hold_out=self.hold_out,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            cache_mb=self.cache_mb,
            tol=self.tol,
            solver_max_iter=self.solver_max_iter,
            random_state=self._seed,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )


@answers_unknown_keywords
@explains_parameters_of(fit_svmc)
class SVMCClassifier(TakesRows):
    """SVMC as a scikit-learn classifier: mapping convergence that keeps only support vectors of the last boundary.

    It is for data that suit `SMCClassifier` and have many unlabelled rows.

    `fit` calls `fastpu.fit_svmc` with these parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import SVMCClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> SVMCClassifier().fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_svmc)
    model_: MappingMachine

    def __init__(
        self,
        *,
        nu_map: float = 0.01,
        C: float = 1.0,
        nu: float | None = None,
        repair: bool = True,
        max_iter: int = 100,
        max_pos_reject: float | None = None,
        hold_out: float | None = None,
        kernel: KernelLike = "rbf",
        gamma: GammaLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        solver_max_iter: int | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[MappingRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.nu_map = nu_map
        self.C = C
        self.nu = nu
        self.repair = repair
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

    def _fit_model(self, data: FitInput) -> MappingMachine:
        return fit_svmc(
            data.X,
            data.y,
            nu_map=self.nu_map,
            C=self.C,
            nu=self.nu,
            repair=self.repair,
            max_iter=self.max_iter,
            max_pos_reject=self.max_pos_reject,
            hold_out=self.hold_out,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            cache_mb=self.cache_mb,
            tol=self.tol,
            solver_max_iter=self.solver_max_iter,
            random_state=self._seed,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )
