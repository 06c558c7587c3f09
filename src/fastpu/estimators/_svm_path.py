"""The classifiers of regularisation paths: the machine at one point of the path, given or selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_int
from fastpu.common._types import (
    GammaLike,
    GroupsLike,
    KernelLike,
    LabelsLike,
    MatrixLike,
    RoundCallback,
    Scenario,
    VectorLike,
)
from fastpu.common._warn import warn
from fastpu.estimators._documentation import explains_parameters_of
from fastpu.estimators._fastpu_classifier import FastpuClassifier, Seed
from fastpu.estimators._fit_arguments import TakesRows
from fastpu.estimators._fit_input import FitInput
from fastpu.exceptions import ConvergenceWarning
from fastpu.model._prior import PriorEstimate
from fastpu.path._path_warnings import precision_forgiven
from fastpu.path._points import PathRound
from fastpu.path._selection import PathScoring
from fastpu.path.path_model import SVMPath
from fastpu.path.svm_path import fit_pu_svm_path, fit_svm_path
from fastpu.svm.kernel_machine import KernelMachine

if TYPE_CHECKING:
    from typing_extensions import Self


class OnPath(FastpuClassifier):
    """A classifier that is the machine at one point of a path.

    Parameters
    ----------
    lam : float, optional
        The point of the path to take, > 0. By default `scoring` selects the best one.
    prior : float or PriorEstimate, optional
        The share of positives P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows of the fit. ``scoring="err_star"`` needs it.
    scenario : {"case_control", "single_set"}, default "case_control"
        How the rows were drawn. "case_control": the unlabelled rows are a sample of the population, drawn apart from
        the labelled ones. "single_set": all rows of the fit are one sample, and some of its positives were labelled.
    n_folds : int or None, default 5
        The number of folds to select by, >= 2; at most the number of rows of the smaller class is used. None selects by
        the training rows. A precomputed kernel allows neither: pass `lam` or ``scoring="end"``.
    random_state : int >= 0, numpy.random.Generator, RandomState or None, default None
        Seed or generator that draws the folds. None takes a fresh seed.

    Attributes
    ----------
    path_ : fastpu.models.SVMPath
        The whole path; `model_` is the machine at one point of it.
    """

    lam: float | None
    scoring: PathScoring
    n_folds: int | None
    prior: float | PriorEstimate | None
    scenario: Scenario
    path_: SVMPath
    model_: KernelMachine

    def _fit_path(self, data: FitInput) -> SVMPath:
        """Return the path of the function for these rows and the parameters of this classifier."""
        raise NotImplementedError

    def _fit_model(self, data: FitInput) -> KernelMachine:
        with precision_forgiven():  # the end of the path matters only if that point is chosen, as asked below
            path = self._named(self._fit_path(data))
        machine = self._machine(path)
        if path.status == "precision" and float(str(machine.params["lam"])) <= path.end:
            warn(
                f"{type(self).__name__} stops at the end of the path, lam = {path.end:.6g}, below which float64 does "
                f"not show the margin; raise lam_min, or scale X",
                ConvergenceWarning,
            )
        self.path_ = path
        return machine

    def _machine(self, path: SVMPath) -> KernelMachine:
        if self.lam is not None:
            return path.at(self.lam)
        folds = self.n_folds
        if folds is not None:
            fewest = min(int(np.count_nonzero(path.labels == sign)) for sign in (1, -1))
            folds = min(check_int("n_folds", folds, low=2), fewest)
        return path.select(
            self.scoring,
            prior=self.prior,
            scenario=self.scenario,
            n_folds=folds if folds is not None and folds > 1 else None,
            random_state=self._seed,
            n_threads=self.n_threads,
        )

    def _prior_of_fit(self) -> tuple[float | PriorEstimate | None, str]:
        return self.prior, self.scenario

    def _take_over(self, fitted: Self) -> None:
        super()._take_over(fitted)
        self.path_ = fitted.path_

    @property
    def n_iter_(self) -> int:
        """Number of breakpoints of the path, at least 1."""
        return max(1, self.path_.n_iter)


@answers_unknown_keywords
@explains_parameters_of(fit_svm_path)
class SVMPathClassifier(OnPath):
    """SvmPath as a scikit-learn classifier: the best of all SVMs over the regularisation, of P against N.

    It is for labelled positives and labelled negatives, up to a few thousand rows, if you want the best cost of all
    rather than the best of a grid. The smaller of two labels is negative.

    `fit` calls `fastpu.fit_svm_path` with these parameters, and `SVMPath.select` for a point of the path.

    Parameters
    ----------
    scoring : str or callable, default "f1"
        What selects the point: "f1" or "error" on held-out rows, "end" for the smallest lam, or a function ``scoring(y,
        predicted) -> float`` to maximise. See `SVMPath.select`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import SVMPathClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 60), rng.normal(3, 1, 60)])[:, np.newaxis]
    >>> y = ["no"] * 60 + ["yes"] * 60
    >>> SVMPathClassifier(random_state=0).fit(X, y).predict([[-3], [3]])
    array(['no', 'yes'], dtype='<U3')
    """

    _function = staticmethod(fit_svm_path)

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        gamma: GammaLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam_min: float = 0.0,
        max_events: int | None = None,
        cache_mb: float = 200,
        n_threads: int | None = None,
        callback: RoundCallback[PathRound] | None = None,
        progress: bool = False,
        lam: float | None = None,
        scoring: PathScoring = "f1",
        n_folds: int | None = 5,
        prior: float | PriorEstimate | None = None,
        scenario: Scenario = "case_control",
        random_state: Seed = None,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam_min = lam_min
        self.max_events = max_events
        self.cache_mb = cache_mb
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.lam = lam
        self.scoring = scoring
        self.n_folds = n_folds
        self.prior = prior
        self.scenario = scenario
        self.random_state = random_state
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def _fit_path(self, data: FitInput) -> SVMPath:
        return fit_svm_path(
            data.X,
            data.y,
            sample_cost=data.sample_cost,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            lam_min=self.lam_min,
            max_events=self.max_events,
            cache_mb=self.cache_mb,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )

    @answers_unknown_keywords
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_cost: VectorLike | None = None,
        groups: GroupsLike | None = None,
    ) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows of features.
        y : array-like of shape (n,)
            Labels: two values, the larger one positive and the other one negative.
        sample_cost : array-like of shape (n,), optional
            Costs >= 0 of the rows, by default 1. A row of infinite cost must be on its side of the margin.
        groups : array-like of shape (n,), optional
            A label of any kind for each row, which says which rows belong together, such as those of one customer. The
            folds of a calibration keep the rows of a group together. Without a calibration, groups change nothing.

        Returns
        -------
        Self
            This classifier.
        """
        return self._fit(X, y, sample_cost=sample_cost, groups=groups)


@answers_unknown_keywords
@explains_parameters_of(fit_pu_svm_path)
class PUSVMPathClassifier(OnPath, TakesRows):
    """PU-SvmPath as a scikit-learn classifier: the best of all SVMs over the regularisation, of P against U.

    It is for positives whose labels are certain, classes that overlap little, and up to a few thousand rows.

    `fit` calls `fastpu.fit_pu_svm_path` with these parameters, and `SVMPath.select` for a point of the path.

    Parameters
    ----------
    C_pos : float, optional
        The cost of an error on a labelled positive row: infinite, or in [1e-100, 1e100]. By default `C_unl` n_unl /
        n_pos, so that both groups have the same total cost. An infinite cost, the default of the function, has every
        labelled row called positive at any price; where the classes overlap all rows are then called positive.
    scoring : str or callable, default "puf"
        What selects the point: "puf" or "err_star", which need no labelled negatives, "end" for the smallest lam, or a
        function ``scoring(y, predicted) -> float`` to maximise. See `SVMPath.select`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import PUSVMPathClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 60), rng.normal(3, 1, 60)])[:, np.newaxis]
    >>> y = ["other"] * 80 + ["yes"] * 40  # 20 positives are not labelled
    >>> PUSVMPathClassifier(random_state=0).fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_pu_svm_path)

    def __init__(
        self,
        *,
        C_pos: float | None = None,
        C_unl: float = 1.0,
        kernel: KernelLike = "linear",
        gamma: GammaLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam_min: float = 0.0,
        max_events: int | None = None,
        cache_mb: float = 200,
        n_threads: int | None = None,
        callback: RoundCallback[PathRound] | None = None,
        progress: bool = False,
        scoring: PathScoring = "puf",
        lam: float | None = None,
        n_folds: int | None = 5,
        prior: float | PriorEstimate | None = None,
        scenario: Scenario = "case_control",
        random_state: Seed = None,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.C_pos = C_pos
        self.C_unl = C_unl
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam_min = lam_min
        self.max_events = max_events
        self.cache_mb = cache_mb
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.scoring = scoring
        self.lam = lam
        self.n_folds = n_folds
        self.prior = prior
        self.scenario = scenario
        self.random_state = random_state
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def _fit_path(self, data: FitInput) -> SVMPath:
        return fit_pu_svm_path(
            data.X,
            data.y,
            C_pos=self._cost_of_positives(data),
            C_unl=self.C_unl,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            lam_min=self.lam_min,
            max_events=self.max_events,
            cache_mb=self.cache_mb,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )

    def _cost_of_positives(self, data: FitInput) -> float:
        """Return `C_pos`, by default that by which both groups weigh the same."""
        if self.C_pos is not None:
            return self.C_pos
        n_pos, n_unl = (int(np.count_nonzero(data.y == code)) for code in (1, 0))
        return check_float("C_unl", self.C_unl, low=0, open_low=True) * max(1, n_unl) / max(1, n_pos)
