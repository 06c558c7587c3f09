"""What `fit` takes beside rows and labels, by what the methods can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, VectorLike
from fastpu.estimators._fastpu_classifier import FastpuClassifier

if TYPE_CHECKING:
    from typing_extensions import Self


class TakesRows(FastpuClassifier):
    """A classifier whose method honours no weights."""

    @answers_unknown_keywords
    def fit(self, X: MatrixLike, y: LabelsLike, groups: GroupsLike | None = None) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows of features.
        y : array-like of shape (n,)
            Labels: two values, the larger one positive and the other one unlabelled, or -1, 0 and 1 for negative,
            unlabelled and positive. `fastpu.estimators` says how labels are read.
        groups : array-like of shape (n,), optional
            A label of any kind for each row, which says which rows belong together, such as those of one customer. Bags
            and folds, those of a calibration included, keep the rows of a group together. Without bags and folds,
            groups change nothing.

        Returns
        -------
        Self
            This classifier.
        """
        return self._fit(X, y, groups=groups)


class TakesWeights(FastpuClassifier):
    """A classifier whose method honours weights."""

    @answers_unknown_keywords
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: VectorLike | None = None,
        groups: GroupsLike | None = None,
    ) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows of features.
        y : array-like of shape (n,)
            Labels: two values, the larger one positive and the other one unlabelled, or -1, 0 and 1 for negative,
            unlabelled and positive. `fastpu.estimators` says how labels are read.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0. A weight counts as that many repetitions of the row.
        groups : array-like of shape (n,), optional
            A label of any kind for each row, which says which rows belong together, such as those of one customer. The
            folds of a calibration keep the rows of a group together. Without a calibration, groups change nothing.

        Returns
        -------
        Self
            This classifier.
        """
        return self._fit(X, y, sample_weight=sample_weight, groups=groups)


class TakesWeightsAndEvalSet(FastpuClassifier):
    """A classifier whose method honours weights, and can judge its rounds by rows that it is not fitted to."""

    @answers_unknown_keywords
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: VectorLike | None = None,
        eval_set: tuple[MatrixLike, LabelsLike] | None = None,
        groups: GroupsLike | None = None,
    ) -> Self:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows of features.
        y : array-like of shape (n,)
            Labels: two values, the larger one positive and the other one unlabelled, or -1, 0 and 1 for negative,
            unlabelled and positive. `fastpu.estimators` says how labels are read.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0. A weight counts as that many repetitions of the row.
        eval_set : (X, y), optional
            Held-out rows and their labels, by which the rounds are judged. The labels are like those of `y`.
        groups : array-like of shape (n,), optional
            A label of any kind for each row, which says which rows belong together, such as those of one customer. The
            folds of early stopping and of a calibration keep the rows of a group together. Without folds, groups change
            nothing.

        Returns
        -------
        Self
            This classifier.
        """
        return self._fit(X, y, sample_weight=sample_weight, eval_set=eval_set, groups=groups)
