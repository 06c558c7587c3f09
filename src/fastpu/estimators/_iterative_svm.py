"""The classifiers of ISVM and IPSI: linear machines, and the labels that they give to unlabelled rows, by turns."""

from __future__ import annotations

from typing import Literal

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import RoundCallback
from fastpu.estimators._documentation import explains_parameters_of
from fastpu.estimators._fastpu_classifier import one_model
from fastpu.estimators._fit_arguments import TakesWeights
from fastpu.estimators._fit_input import FitInput
from fastpu.model._prior import PriorEstimate
from fastpu.svm.isvm import fit_ipsi, fit_isvm
from fastpu.svm.linear_machine import LinearMachine
from fastpu.svm.margin_round import MarginRound


@answers_unknown_keywords
@explains_parameters_of(fit_isvm)
class ISVMClassifier(TakesWeights):
    """ISVM as a scikit-learn classifier: fit a linear SVM, label the unlabelled rows by it, and repeat.

    It is for a linear boundary where classes overlap and no prior is known, for text (sparse rows), and for more
    columns than rows. The one parameter to choose is `C`. Standardise columns of numbers. Where positives are rare,
    `predict` calls too many rows positive: the scores still rank, and `with_threshold` matches a prior.

    `fit` calls `fastpu.fit_isvm` with these parameters.

    Parameters
    ----------
    C : float, optional
        The cost of errors, > 0. A larger value allows fewer errors on the training rows. By default it is 80 n_pos /
        (s^2 sqrt(max(n_pos, d))), with n_pos the number of labelled rows and s^2 the mean squared distance of rows from
        their mean; see `fastpu.fit_isvm`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import ISVMClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> ISVMClassifier().fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_isvm)
    model_: LinearMachine

    def __init__(
        self,
        *,
        C: float | None = None,
        tol: float = 0.001,
        max_iter: int = 100,
        solver_tol: float = 1e-09,
        solver_max_iter: int | None = None,
        check_increase: bool = True,
        solver: Literal["exact", "iadmm"] = "exact",
        n_threads: int | None = None,
        callback: RoundCallback[MarginRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
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

    def _fit_model(self, data: FitInput) -> LinearMachine:
        return one_model(
            fit_isvm(
                data.X,
                data.y,
                C=self.C,
                tol=self.tol,
                max_iter=self.max_iter,
                solver_tol=self.solver_tol,
                solver_max_iter=self.solver_max_iter,
                check_increase=self.check_increase,
                solver=self.solver,
                sample_weight=data.sample_weight,
                n_threads=self.n_threads,
                callback=self.callback,
                progress=self.progress,
            )
        )


@answers_unknown_keywords
@explains_parameters_of(fit_ipsi)
class IPSIClassifier(TakesWeights):
    """IPSI, iterative psi-learning, as a scikit-learn classifier: ISVM with a loss that bounds each outlier.

    It is for data that suit `ISVMClassifier`, but have rows far on the wrong side: wrong labels, or outliers among the
    unlabelled rows. With a small `C` it can collapse to a model that calls all rows the same.

    `fit` calls `fastpu.fit_ipsi` with these parameters.

    Parameters
    ----------
    C : float, optional
        The cost of errors, > 0. A larger value allows fewer errors on the training rows. By default it is 80 n_pos /
        (s^2 sqrt(max(n_pos, d))), with n_pos the number of labelled rows and s^2 the mean squared distance of rows from
        their mean; see `fastpu.fit_isvm`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import IPSIClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> IPSIClassifier().fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_ipsi)
    model_: LinearMachine

    def __init__(
        self,
        *,
        C: float | None = None,
        init: Literal["hinge", "psi", "isvm"] = "hinge",
        tol: float = 0.001,
        max_iter: int = 100,
        solver_tol: float = 1e-09,
        solver_max_iter: int | None = None,
        check_increase: bool = True,
        solver: Literal["exact", "iadmm"] = "exact",
        n_threads: int | None = None,
        callback: RoundCallback[MarginRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
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

    def _fit_model(self, data: FitInput) -> LinearMachine:
        return one_model(
            fit_ipsi(
                data.X,
                data.y,
                C=self.C,
                init=self.init,
                tol=self.tol,
                max_iter=self.max_iter,
                solver_tol=self.solver_tol,
                solver_max_iter=self.solver_max_iter,
                check_increase=self.check_increase,
                solver=self.solver,
                sample_weight=data.sample_weight,
                n_threads=self.n_threads,
                callback=self.callback,
                progress=self.progress,
            )
        )
