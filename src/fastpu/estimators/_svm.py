"""The classifiers of support vector machines with kernels: one machine with two costs, and bags of machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import GammaLike, KernelLike, RoundCallback
from fastpu.estimators._documentation import explains_parameters_of
from fastpu.estimators._fastpu_classifier import Seed, one_model
from fastpu.estimators._fit_arguments import TakesRows, TakesWeights
from fastpu.estimators._fit_input import FitInput
from fastpu.model._prior import PriorEstimate
from fastpu.svm.bagging_machine import BaggingSVM, BagRound
from fastpu.svm.bagging_svm import fit_bagging_svm
from fastpu.svm.bsvm import fit_bsvm
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.svm_round import SvmRound

if TYPE_CHECKING:
    from typing_extensions import Self


@answers_unknown_keywords
@explains_parameters_of(fit_bsvm)
class BSVMClassifier(TakesWeights):
    """Biased SVM as a scikit-learn classifier: positive against unlabelled rows, with a cost for each of the two.

    It is for a smooth boundary in standardised columns, or for text (linear kernel, sparse rows), with some ten
    labelled rows or more, and two costs that a search chooses. With fewer labelled rows `BaggingSVMClassifier` ranks
    better.

    `fit` calls `fastpu.fit_bsvm` with these parameters.

    Parameters
    ----------
    C_pos, C_unl : float, optional
        The cost of an error on a labelled positive and on an unlabelled row, > 0; both are multiplied by `C`. By
        default n / (2 n_pos) and n / (2 n_unl), so that both groups have the same total cost. With sample weights these
        are sums of weights.
    C : float, default 1.0
        A factor of both costs, > 0. A larger value allows fewer errors on the training rows.
    gamma : float, "scale" or "auto", default "scale"
        The width of the kernels "rbf", "poly" and "sigmoid", > 0. The larger it is for "rbf", the closer two rows must
        be to count as similar. "scale" is 1 / (d var(X)), with the variance of all entries of `X`, in which a row
        counts by its weight. "auto" is 1 / d.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import BSVMClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> BSVMClassifier().fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_bsvm)
    model_: KernelMachine
    _cost_of_positive: float
    _cost_of_unlabelled: float

    def __init__(
        self,
        *,
        C_pos: float | None = None,
        C_unl: float | None = None,
        C: float = 1.0,
        kernel: KernelLike = "linear",
        gamma: GammaLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        max_iter: int | None = None,
        n_threads: int | None = None,
        callback: RoundCallback[SvmRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
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

    def _fit_model(self, data: FitInput) -> KernelMachine:
        return one_model(
            fit_bsvm(
                data.X,
                data.y,
                C_pos=self._cost_of_positive,
                C_unl=self._cost_of_unlabelled,
                C=self.C,
                kernel=self.kernel,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                cache_mb=self.cache_mb,
                tol=self.tol,
                max_iter=self.max_iter,
                sample_weight=data.sample_weight,
                n_threads=self.n_threads,
                callback=self.callback,
                progress=self.progress,
            )
        )

    def _settled(self, data: FitInput) -> Self:
        settled = super()._settled(data)
        mass = np.ones(data.y.size) if data.sample_weight is None else data.sample_weight
        settled._cost_of_positive = _balancing_cost(mass, data.y == 1) if self.C_pos is None else self.C_pos
        settled._cost_of_unlabelled = _balancing_cost(mass, data.y == 0) if self.C_unl is None else self.C_unl
        return settled


def _balancing_cost(mass: NDArray[np.float64], is_in_group: NDArray[np.bool_]) -> float:
    """Return the cost of a row by which a group weighs half of all rows."""
    of_group = float(mass[is_in_group].sum())
    # Without any row of the group the fit function says what is missing.
    return float(mass.sum()) / (2 * of_group) if of_group else 1.0


@answers_unknown_keywords
@explains_parameters_of(fit_bagging_svm)
class BaggingSVMClassifier(TakesRows):
    """Bagging SVM as a scikit-learn classifier: the mean of SVMs of all positives against some unlabelled rows.

    It is for few positives, many unlabelled rows, and a smooth boundary in standardised columns. For columns of several
    kinds take `ForestClassifier`. `model_.oob_decision_function` ranks the unlabelled rows without a second fit.

    `fit` calls `fastpu.fit_bagging_svm` with these parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import BaggingSVMClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> BaggingSVMClassifier(random_state=0).fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_bagging_svm)
    model_: BaggingSVM

    def __init__(
        self,
        *,
        C: float = 1.0,
        n_bags: int | None = None,
        bag_ratio: float | None = 1.0,
        kernel: KernelLike = "linear",
        gamma: GammaLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_mb: float = 200,
        tol: float = 0.001,
        max_iter: int | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[BagRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C = C
        self.n_bags = n_bags
        self.bag_ratio = bag_ratio
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

    def _fit_model(self, data: FitInput) -> BaggingSVM:
        return fit_bagging_svm(
            data.X,
            data.y,
            C=self.C,
            n_bags=self.n_bags,
            bag_ratio=self.bag_ratio,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            cache_mb=self.cache_mb,
            tol=self.tol,
            max_iter=self.max_iter,
            groups=data.groups,
            random_state=self._seed,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )
