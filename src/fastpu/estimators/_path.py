"""SVM paths as scikit-learn classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.common._params import check_float, check_int
from fastpu.common._warnings import ConvergenceWarning, warn
from fastpu.estimators._base import FastpuClassifier, seed_of
from fastpu.path._fit import precision_forgiven
from fastpu.path.svm_path import fit_pu_svm_path, fit_svm_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from typing_extensions import Self

    from fastpu.path.svm_path import PathRound
    from fastpu.path.svm_path_model import SVMPath
    from fastpu.svm.kernel_machine import KernelMachine

__all__ = ["PUSVMPathClassifier", "SVMPathClassifier"]


class _Path(FastpuClassifier):
    """What both classifiers share: the point of the path that the model is taken from, given or selected."""

    path_: SVMPath
    lam: float | None
    criterion: str | Callable[..., float]
    cv: int | None
    prior: float | None
    scenario: str
    random_state: Any

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        with precision_forgiven():  # where the path ends matters if that is the point that is chosen
            path = self._named(type(self)._function(rows, codes, **arguments))
        machine = self._machine(path)
        if path.status == "precision" and float(str(machine.params["lam"])) <= path.end:
            warn(
                f"{type(self).__name__} stops at the end of the path, lam = {path.end:.6g}, below which float64 does "
                f"not show the margin; raise lam_min, or scale X",
                ConvergenceWarning,
            )
        return {"path_": path, "model_": machine}

    def _machine(self, path: SVMPath) -> KernelMachine:
        if self.lam is not None:
            return path.at(self.lam)
        folds = self.cv
        if folds is not None:
            fewest = min(int(np.count_nonzero(path.labels == sign)) for sign in (1, -1))
            folds = min(check_int("cv", folds, low=2), fewest)
        return path.select(
            self.criterion,
            prior=self.prior,
            scenario=self.scenario,
            cv=folds if folds is not None and folds > 1 else None,
            random_state=seed_of(self.random_state),
            n_threads=self.n_threads,
        )

    @property
    def n_iter_(self) -> int:
        """Number of breakpoints of the path, at least 1."""
        return max(1, self.path_.n_iter)


class SVMPathClassifier(_Path):
    """The best point of the regularisation path of an SVM, supervised.

    The smaller of two labels is negative. By default the point has the best cross-validated F1 of the positive class.

    Parameters
    ----------
    kernel, gamma, degree, coef0, lam_min, max_events, cache_mb, n_threads, callback, progress
        As in `fastpu.fit_svm_path`.
    lam : float, optional
        The point of the path to stop at. By default the best one is selected.
    criterion, prior, scenario, random_state : str or callable, float, str, int
        As in `fastpu.SVMPath.select`, whose criteria are "f1" (the default here), "error", "end", and "puf" and
        "err_star" for rows that only count as negative.
    cv : int or None, default 5
        Number of folds to select by, at most the number of rows of the smaller class; None selects by the training
        rows. A precomputed kernel allows neither: pass `lam` or ``criterion="end"``.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.
    path_ : fastpu.SVMPath
        The whole path; `model_` is the machine at one point of it.

    Examples
    --------
    >>> from fastpu.estimators import SVMPathClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> SVMPathClassifier(lam=1.0).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_svm_path)

    def __init__(
        self,
        *,
        kernel: str | Callable[..., object] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam_min: float = 0.0,
        max_events: int | None = None,
        cache_mb: float = 200,
        n_threads: int | None = None,
        callback: Callable[[PathRound], bool | None] | None = None,
        progress: bool = False,
        lam: float | None = None,
        criterion: str | Callable[..., float] = "f1",
        cv: int | None = 5,
        prior: float | None = None,
        scenario: str = "case_control",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        calibration: str | None = None,
        calibration_prior: float | None = None,
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
        self.criterion = criterion
        self.cv = cv
        self.prior = prior
        self.scenario = scenario
        self.random_state = random_state
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def fit(self, X: Any, y: Any, sample_cost: Any = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Two labels, or -1, 0 and 1, as `fastpu.estimators` says.
        sample_cost : array-like of shape (n,), optional
            Costs >= 0 of the rows.

        Returns
        -------
        SVMPathClassifier
        """
        return self._fit(X, y, sample_cost=sample_cost)


class PUSVMPathClassifier(_Path):
    """The best point of the regularisation path of a biased SVM.

    Parameters
    ----------
    cost_pos : float, optional
        As in `fastpu.fit_pu_svm_path`, whose default is inf: every labelled row right at any price, by which all rows
        are called positive where the classes overlap. By default cost_unl times the number of unlabelled rows for each
        labelled one: both groups weigh the same.
    cost_unl, kernel, gamma, degree, coef0, lam_min, max_events, cache_mb, n_threads, callback
        As in `fastpu.fit_pu_svm_path`.
    progress
        As in `fastpu.fit_pu_svm_path`.
    lam : float, optional
        The point of the path to stop at. By default the best one is selected.
    criterion, prior, scenario, random_state : str or callable, float, str, int
        As in `fastpu.SVMPath.select`, whose criteria are "puf", "err_star" and "end", and "f1" and "error" for
        labels that say it all.
    cv : int or None, default 5
        Number of folds to select by, at most the number of rows of the smaller class; None selects by the training
        rows. A precomputed kernel allows neither: pass `lam` or ``criterion="end"``.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.
    path_ : fastpu.SVMPath
        The whole path; `model_` is the machine at one point of it.

    Examples
    --------
    >>> from fastpu.estimators import PUSVMPathClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> PUSVMPathClassifier(lam=1.0).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_pu_svm_path)

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments["cost_pos"] is None:
            n_pos, n_unl = (int(np.count_nonzero(codes == code)) for code in (1, 0))
            weight = check_float("cost_unl", arguments["cost_unl"], low=0, open_low=True)
            arguments = {**arguments, "cost_pos": weight * max(1, n_unl) / max(1, n_pos)}
        return super()._call(rows, codes, arguments)

    def __init__(
        self,
        *,
        cost_pos: float | None = None,
        cost_unl: float = 1.0,
        kernel: str | Callable[..., object] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam_min: float = 0.0,
        max_events: int | None = None,
        cache_mb: float = 200,
        n_threads: int | None = None,
        callback: Callable[[PathRound], bool | None] | None = None,
        progress: bool = False,
        lam: float | None = None,
        criterion: str | Callable[..., float] = "puf",
        cv: int | None = 5,
        prior: float | None = None,
        scenario: str = "case_control",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.cost_pos = cost_pos
        self.cost_unl = cost_unl
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
        self.criterion = criterion
        self.cv = cv
        self.prior = prior
        self.scenario = scenario
        self.random_state = random_state
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
        PUSVMPathClassifier
        """
        return self._fit(X, y)
