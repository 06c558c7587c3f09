"""Training rows with the scores that a model gives them: where its threshold comes from, and if it tells any apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastpu.common._warn import span_of, warn_if_alike
from fastpu.model._model import Model
from fastpu.model._threshold import balanced_accuracy_threshold

_Model = TypeVar("_Model", bound=Model)

GROUP = {1: "labelled positive", 0: "unlabelled", -1: "labelled negative"}
_FEW = 100  # with more rows on each side of the threshold out of bag, rows in the bags need not be scored


@dataclass
class ScoredRows:
    """Labels and weights of training rows, wherever these are; `score` returns the scores that a model gives them."""

    labels: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    score: Callable[[Any], NDArray[np.float64]]
    _scores: NDArray[np.float64] | None = field(default=None, init=False)

    def counted(self, label: int) -> NDArray[np.bool_]:
        """Return which rows have this label and a positive weight."""
        is_there: NDArray[np.bool_] = self.labels == label
        return is_there if self.weights is None else is_there & (self.weights > 0)

    def scores(self, model: Any) -> NDArray[np.float64]:
        """Return the scores of all rows by the one model of a fit, whose threshold does not change them."""
        if self._scores is None:
            self._scores = self.score(model)
        return self._scores

    def with_threshold(self, model: _Model) -> _Model:
        """Return the model with the threshold of the best balanced accuracy between labels +1 and -1.

        A label that no row has is replaced by 0. Out-of-bag scores count where the model has some; where a group has
        none of them, all rows are scored.
        """
        upper, lower = (label if self.counted(label).any() else 0 for label in (1, -1))
        groups = [self.counted(label) for label in (upper, lower)]
        held = model._out_of_bag()
        if held is None:
            scores, rows = self.scores(model), "training rows"
        elif any(np.isnan(held[group]).all() for group in groups):
            scores, rows = self.scores(model), "rows by scores of rows in the bags (a group is in all bags)"
        else:
            scores, rows = held, "rows by out-of-bag scores"
        above, below = (group & ~np.isnan(scores) for group in groups)
        weights = (None, None) if self.weights is None else (self.weights[above], self.weights[below])
        threshold = balanced_accuracy_threshold(scores[above], scores[below], *weights)
        rule = f"best balanced accuracy between {GROUP[upper]} and {GROUP[lower]} {rows}"
        placed: _Model = object.__new__(
            type(model)
        )  # without the checks of all other fields, which take long for trees
        vars(placed).update(vars(model), threshold=threshold, threshold_rule=rule)
        return placed

    def warn_if_alike(self, function: str, model: Any, advice: str) -> None:
        """Warn of a model that calls all rows the same."""
        held, threshold = model._out_of_bag(), model.threshold
        if held is None or min(np.sum(held > threshold), np.sum(held <= threshold)) <= _FEW:
            # Else the trees whose bags they are in tell them apart even better.
            warn_if_alike(function, span_of(self.scores(model), threshold), advice)
