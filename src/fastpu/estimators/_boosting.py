"""Boosted stumps as scikit-learn classifiers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastpu.boosting._boosting import STOP_TOL
from fastpu.boosting.stump_boost import fit_pnu_adaboost, fit_pnu_auc_boost, fit_rankboost_auc
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.estimators._base import FastpuClassifier
from fastpu.model._threshold import balanced_accuracy_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from typing_extensions import Self

    from fastpu.boosting.stump_boost import BoostRound

__all__ = ["PNUAUCBoostClassifier", "PNUAdaBoostClassifier", "RankBoostAUCClassifier"]


class _Boosting(FastpuClassifier):
    """What the boosting classifiers share: importances, and callbacks that can see the model of every round."""

    model_: StumpEnsemble

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each feature, as `StumpEnsemble.feature_importances`."""
        return self.model_.feature_importances

    def _so_far(
        self, rows: Any, codes: NDArray[np.int8], classes: NDArray[Any], weights: Any
    ) -> Callable[[Any], Callable[[], Mapping[str, Any]] | None]:
        rounds: list[BoostRound] = []

        def of_round(info: BoostRound) -> Callable[[], Mapping[str, Any]]:
            rounds.append(info)
            return lambda: {"model_": self._ensemble(rounds, rows, codes, weights), "classes_": classes}

        return of_round

    def _ensemble(self, rounds: list[BoostRound], rows: Any, codes: NDArray[np.int8], weights: Any) -> StumpEnsemble:
        """Return the model of these rounds, as the fit makes it of all."""
        is_ranking = type(self)._function is not fit_pnu_adaboost
        objective = np.array([info.objective for info in rounds])
        model = StumpEnsemble(
            n_features=self.n_features_in_,
            feature_names=None,
            threshold=0.0,
            n_iter=len(rounds),
            converged=False,
            status="callback",
            objective=objective,
            history={"objective": objective},
            params={"method": type(self)._function.__name__},
            features=np.array([info.feature for info in rounds], dtype=np.int32),
            thresholds=np.array([info.threshold for info in rounds]),
            polarity=np.array([info.polarity for info in rounds], dtype=np.int8),
            alphas=np.array([info.alpha for info in rounds]),
            deltas=np.array([info.delta for info in rounds]),
            z=np.array([info.z for info in rounds]),
            low=0.0 if is_ranking else -1.0,
        )
        if not is_ranking:
            return self._named(model)
        scores = model.decision_function(rows, n_threads=1)
        counted = np.full(codes.size, True) if weights is None else weights > 0
        upper = codes == (1 if (counted & (codes == 1)).any() else 0)
        lower = codes == (-1 if (counted & (codes == -1)).any() else 0)
        sides = (None, None) if weights is None else (weights[upper], weights[lower])
        threshold = balanced_accuracy_threshold(scores[upper], scores[lower], *sides)
        return self._named(replace(model, threshold=threshold, threshold_rule="best balanced accuracy"))


class PNUAUCBoostClassifier(_Boosting):
    """PNUAUCBoost: boosted stumps for the AUC from positive, unlabelled and negative rows.

    Parameters
    ----------
    n_rounds, gamma, rho, max_bins, step, early_stopping_rounds, n_folds, stop_tol, random_state, n_threads, \
callback, progress
        As in `fastpu.fit_pnu_auc_boost`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_
        As `fastpu.estimators` says.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Those of `StumpEnsemble`.

    Examples
    --------
    >>> from fastpu.estimators import PNUAUCBoostClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> PNUAUCBoostClassifier(n_rounds=5).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_pnu_auc_boost)
    _rounds = "n_rounds"

    def __init__(
        self,
        *,
        n_rounds: int = 200,
        gamma: float = 0.5,
        rho: float = 0.01,
        max_bins: int | Literal["exact"] | None = None,
        step: Literal["jensen", "line_search"] = "jensen",
        early_stopping_rounds: int | None = None,
        n_folds: int = 5,
        stop_tol: float = STOP_TOL,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[BoostRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.n_rounds = n_rounds
        self.gamma = gamma
        self.rho = rho
        self.max_bins = max_bins
        self.step = step
        self.early_stopping_rounds = early_stopping_rounds
        self.n_folds = n_folds
        self.stop_tol = stop_tol
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
        PNUAUCBoostClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight, eval_set=eval_set)


class RankBoostAUCClassifier(_Boosting):
    """RankBoost for the AUC of labelled rows.

    The smaller of two labels is negative.

    Parameters
    ----------
    n_rounds, rho, max_bins, step, early_stopping_rounds, n_folds, stop_tol, random_state, n_threads, \
callback, progress
        As in `fastpu.fit_rankboost_auc`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_
        As `fastpu.estimators` says.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Those of `StumpEnsemble`.

    Examples
    --------
    >>> from fastpu.estimators import RankBoostAUCClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> RankBoostAUCClassifier(n_rounds=5).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_rankboost_auc)
    _rounds = "n_rounds"

    def __init__(
        self,
        *,
        n_rounds: int = 200,
        rho: float = 0.01,
        max_bins: int | Literal["exact"] | None = None,
        step: Literal["jensen", "line_search"] = "jensen",
        early_stopping_rounds: int | None = None,
        n_folds: int = 5,
        stop_tol: float = STOP_TOL,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[BoostRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.n_rounds = n_rounds
        self.rho = rho
        self.max_bins = max_bins
        self.step = step
        self.early_stopping_rounds = early_stopping_rounds
        self.n_folds = n_folds
        self.stop_tol = stop_tol
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
        RankBoostAUCClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight, eval_set=eval_set)


class PNUAdaBoostClassifier(_Boosting):
    """PNU-AdaBoost: boosted stumps that classify, from positive, unlabelled and negative rows.

    Parameters
    ----------
    n_rounds, gamma, max_bins, early_stopping_rounds, n_folds, stop_tol, random_state, n_threads, \
callback, progress
        As in `fastpu.fit_pnu_adaboost`.
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_
        As `fastpu.estimators` says.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Those of `StumpEnsemble`.

    Examples
    --------
    >>> from fastpu.estimators import PNUAdaBoostClassifier
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> PNUAdaBoostClassifier(gamma=0.0, n_rounds=5).fit(X, ["other"] * 3 + ["yes"] * 3).predict([[-1.2], [1.2]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_pnu_adaboost)
    _rounds = "n_rounds"

    def __init__(
        self,
        *,
        n_rounds: int = 200,
        gamma: float = 0.5,
        max_bins: int | Literal["exact"] | None = None,
        early_stopping_rounds: int | None = None,
        n_folds: int = 5,
        stop_tol: float = STOP_TOL,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_threads: int | None = None,
        callback: Callable[[BoostRound], bool | None] | None = None,
        progress: bool = False,
        calibration: str | None = None,
        calibration_prior: float | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.n_rounds = n_rounds
        self.gamma = gamma
        self.max_bins = max_bins
        self.early_stopping_rounds = early_stopping_rounds
        self.n_folds = n_folds
        self.stop_tol = stop_tol
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
        PNUAdaBoostClassifier
        """
        return self._fit(X, y, sample_weight=sample_weight, eval_set=eval_set)

    def _other_label(self, classes: NDArray[Any]) -> int:
        # gamma = 0 learns from positive and unlabelled rows alone.
        return 0 if self.gamma == 0 else super()._other_label(classes)
