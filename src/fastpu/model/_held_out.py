"""Models that know what they would say of their training rows if they had not been fitted to them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastpu.common._params import check_choice
from fastpu.common._threads import resolve_n_threads
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.model._calibration import METHODS, by_group
from fastpu.model._model import Model
from fastpu.model._prior import PriorEstimate, check_prior_in

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class HeldOutModel(Model, is_base=True):
    """A model whose `oob_decision_function` has scores of training rows by parts that were not fitted to them."""

    @abstractmethod
    def _held_out_scores(self) -> NDArray[np.float64] | None:
        """Return `oob_decision_function`: an entry for each training row, NaN where there is no such score."""

    def with_probabilities(
        self,
        *,
        prior: float | PriorEstimate,
        y: object,
        X: object = None,
        scenario: str = "case_control",
        method: str = "sigmoid",
        sample_weight: object = None,
        n_threads: int | None = None,
    ) -> Self:
        """Return this model with a map from its scores to probabilities, for `predict_proba`.

        As `Model.with_probabilities` says, but `X` may be left out: the training rows then serve by the scores in
        `oob_decision_function`, which come from parts of the model that were not fitted to them.

        Parameters
        ----------
        prior, scenario, method, n_threads
            As in `Model.with_probabilities`.
        y : array-like of shape (n,)
            +1 positive, 0 unlabelled: of the rows of `X`, or of the training rows in their order.
        X : array-like, sparse matrix, DataFrame or BinnedFeatures of shape (n, n_features), optional
            Rows that the model has **not** been fitted to; by default the training rows by these scores.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0; a weight counts as that many repetitions of the row.

        Returns
        -------
        Model
            Of the same class.

        Raises
        ------
        TypeError, ValueError
            As in `Model.with_probabilities`; also if `X` is left out and the model has no out-of-bag scores.

        Warns
        -----
        EstimateWarning
            As in `Model.with_probabilities`.

        Examples
        --------
        >>> import numpy as np
        >>> import fastpu
        >>> rng = np.random.default_rng(0)
        >>> truth = np.repeat([True, True, False], [200, 300, 700])
        >>> X = (rng.normal(size=1200) + 2 * truth)[:, None]
        >>> y = np.arange(1200) < 200  # 200 labelled positives, and 300 among 1000 unlabelled rows
        >>> model = fastpu.fit_forest(X, y, random_state=0).with_probabilities(prior=0.3, y=y)
        >>> model.predict_proba([[-1.0], [1.0], [3.0]]).round(1)
        array([[1. , 0. ],
               [0.7, 0.3],
               [0.2, 0.8]])
        """
        if X is not None:
            return super().with_probabilities(
                prior=prior,
                X=X,
                y=y,
                scenario=scenario,
                method=method,
                sample_weight=sample_weight,
                n_threads=n_threads,
            )
        wanted = (*check_prior_in(scenario, prior), check_choice("method", method, METHODS))
        resolve_n_threads(n_threads)
        scores = self._held_out_scores()
        if scores is None:
            raise ValueError("X must be given for a model without out-of-bag scores: rows that it was not fitted to")
        labels = check_labels(y, scores.size)
        weights = check_sample_weight(sample_weight, scores.size)
        return self._calibrated(*wanted, by_group(scores, labels, weights, ~np.isnan(scores)))
