"""The classifier of PNUAUCBoost, which boosts decision stumps."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.boosting._stump_rounds import BoostRound
from fastpu.boosting.stump_boost import fit_pnu_auc_boost
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import RoundCallback
from fastpu.estimators._documentation import explains_parameters_of
from fastpu.estimators._fastpu_classifier import Seed
from fastpu.estimators._fit_arguments import TakesWeightsAndEvalSet
from fastpu.estimators._fit_input import FitInput
from fastpu.model._prior import PriorEstimate


@answers_unknown_keywords
@explains_parameters_of(fit_pnu_auc_boost)
class PNUAUCBoostClassifier(TakesWeightsAndEvalSet):
    """PNUAUCBoost as a scikit-learn classifier: boost stumps for the AUC from P, U and N rows.

    It is for ranking many rows when each column has an effect of its own. Columns may have any units, missing entries
    and categories. Labelled negatives are used if there are any. It is the fastest of the boosting methods. With few
    labels, pass `early_stopping_rounds`: 200 rounds, the default, then fit the unlabelled rows too closely.

    `fit` calls `fastpu.fit_pnu_auc_boost` with these parameters.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much each column lowers the loss, as shares that add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import PNUAUCBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> PNUAUCBoostClassifier().fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_pnu_auc_boost)
    model_: StumpEnsemble

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
        stop_tol: float = 1e-09,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[BoostRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
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

    def _fit_model(self, data: FitInput) -> StumpEnsemble:
        return fit_pnu_auc_boost(
            data.X,
            data.y,
            n_rounds=self.n_rounds,
            gamma=self.gamma,
            rho=self.rho,
            max_bins=self.max_bins,
            step=self.step,
            eval_set=data.eval_set,
            early_stopping_rounds=self.early_stopping_rounds,
            n_folds=self.n_folds,
            stop_tol=self.stop_tol,
            sample_weight=data.sample_weight,
            groups=data.groups,
            random_state=self._seed,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each column lowers the loss, as shares that add up to 1."""
        return self.model_.feature_importances
