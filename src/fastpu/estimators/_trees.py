"""What the classifiers of boosted stumps, forests and boosted trees do beside calling their functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.estimators._base import FastpuClassifier
from fastpu.model._threshold import balanced_accuracy_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fastpu.boosting._stump_boost import BoostRound
    from fastpu.tree.tree_ensemble import TreeEnsemble


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
            low=0.0,
        )
        scores = model.decision_function(rows, n_threads=1)
        counted = np.full(codes.size, True) if weights is None else weights > 0
        upper = codes == (1 if (counted & (codes == 1)).any() else 0)
        lower = codes == (-1 if (counted & (codes == -1)).any() else 0)
        sides = (None, None) if weights is None else (weights[upper], weights[lower])
        threshold = balanced_accuracy_threshold(scores[upper], scores[lower], *sides)
        return self._named(replace(model, threshold=threshold, threshold_rule="best balanced accuracy"))


class Forest(FastpuClassifier):
    """A forest: it has importances and out-of-bag scores.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features_in_,)
        Those of `TreeEnsemble`.
    oob_decision_function_ : ndarray of shape (n,)
        Out-of-bag scores of the training rows minus the threshold, NaN where a row is in every bag.
    """

    _rounds = "n_trees"
    model_: TreeEnsemble

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each feature, as `TreeEnsemble.feature_importances`."""
        return self.model_.feature_importances

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Out-of-bag scores of the training rows, as `decision_function` gives scores of others."""
        scores = self.model_.oob_decision_function
        if scores is None:
            raise AttributeError("oob_decision_function_ needs n_bags > 1, as a single booster is grown on all rows")
        return scores - self.model_.threshold


class BoostedTrees(Forest):
    """Boosted trees have the attributes of a forest; out-of-bag scores are there for `n_bags` > 1."""

    _rounds = "n_rounds"
