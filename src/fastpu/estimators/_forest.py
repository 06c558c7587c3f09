"""What the classifier of PU forests does beside calling its function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpu.estimators._base import FastpuClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpu.tree.tree_ensemble import TreeEnsemble

__all__ = ["Forest"]


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
        return np.asarray(self.model_.oob_decision_function) - self.model_.threshold
