"""What the classifiers of boosted stumps, forests and boosted trees do beside calling their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastpu.estimators._base import FastpuClassifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fastpu.boosting.stump_ensemble import StumpEnsemble
    from fastpu.tree.tree_ensemble import TreeEnsemble


class Boosting(FastpuClassifier):
    """A classifier of stumps or trees, which has importances.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features_in_,)
        Those of `model_`.
    """

    _rounds = "n_rounds"
    model_: StumpEnsemble | TreeEnsemble

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each feature, as the model has them."""
        return self.model_.feature_importances


class Forest(Boosting):
    """A forest, which has out-of-bag scores too.

    Attributes
    ----------
    oob_decision_function_ : ndarray of shape (n,)
        Out-of-bag scores of the training rows minus the threshold, NaN where a row is in every bag.
    """

    _rounds = "n_trees"
    model_: TreeEnsemble

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
