"""What the classifiers of boosted stumps do beside calling their functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.boosting._losses import LOSSES
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.estimators._base import FastpuClassifier
from fastpu.model._threshold import balanced_accuracy_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fastpu.boosting._stump_boost import BoostRound


class Boosting(FastpuClassifier):
    """A boosting classifier: it has importances, and callbacks can see the model of every round.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features_in_,)
        Those of `StumpEnsemble`.
    """

    _rounds = "n_rounds"
    model_: StumpEnsemble

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each feature, as `StumpEnsemble.feature_importances`."""
        return self.model_.feature_importances

    def _attributes_after_round(
        self, rows: Any, codes: NDArray[np.int8], classes: NDArray[Any], weights: Any
    ) -> Callable[[Any], Callable[[], Mapping[str, Any]] | None]:
        rounds: list[BoostRound] = []

        def of_round(info: BoostRound) -> Callable[[], Mapping[str, Any]]:
            rounds.append(info)
            return lambda: {"model_": self._ensemble(rounds, rows, codes, weights), "classes_": classes}

        return of_round

    def _ensemble(self, rounds: list[BoostRound], rows: Any, codes: NDArray[np.int8], weights: Any) -> StumpEnsemble:
        """Return the model of these rounds, as the fit makes it of all rounds."""
        is_ranking = LOSSES[type(self)._function.__name__].ranks
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


class PNUAdaBoost(Boosting):
    """The classifier of `fit_pnu_adaboost`, which learns from positive and unlabelled rows alone for gamma = 0."""

    gamma: float

    def _other_label(self, classes: NDArray[Any]) -> int:
        return 0 if self.gamma == 0 else super()._other_label(classes)
