"""Elkan and Noto's way from labels to classes, around any classifier with probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import EstimatorLike, FoldsLike
from fastpu.common._warn import warn
from fastpu.estimators._clone_rows import CloneRows, folds_of
from fastpu.estimators._meta_classifier import WithProbabilities
from fastpu.exceptions import EstimateWarning


@answers_unknown_keywords
@dataclass(eq=False, repr=False)
class ElkanNotoClassifier(WithProbabilities):
    """Elkan and Noto's classifier: the probability of being labelled, divided by the label frequency.

    It is for predictions or probabilities by a classifier of your own, if all rows are one sample, each positive had
    the same chance to be labelled, and the classes hardly overlap. If you know the prior, take
    `WeightedUnlabeledClassifier`. For a ranking you need neither, because dividing by a number changes no order.

    Where all rows together are one sample of the population (the single-training-set scenario) and every positive is
    labelled with the same chance c, whatever its features, a row is labelled with the probability

        P(s = 1 | x) = c P(y = 1 | x),

    which `estimator` learns from labelled rows against all others. The label frequency c = P(s = 1 | y = 1) is the mean
    of that probability over the labelled rows, each scored by a fit to the other folds. If the labelled rows are a
    sample of their own (case-control), the probabilities are those of a population in which the classes have the same
    shares as in `X`, labelled rows included.

    With the labels -1, 0 and 1, rows of -1 count as not labelled positive, like rows of 0. They must be part of the one
    sample.

    Parameters
    ----------
    estimator : classifier with predict_proba
        A classifier in scikit-learn's form. Clones of it are fitted to the labels 1 and 0. Its probabilities are used
        as they are: if they are not calibrated, wrap it in scikit-learn's CalibratedClassifierCV.
    cv : int, splitter or list of folds, default 5
        The folds by which c is estimated: a number >= 2, or a splitter or list of folds as scikit-learn's
        cross_val_predict takes it. For a number there are at most as many folds as labelled positives.

    Attributes
    ----------
    c_ : float
        The label frequency, in (0, 1].
    estimator_ : classifier
        The fit to all rows.
    threshold_ : float
        1/2. The score is P(s = 1 | x) / c. It may exceed 1, and is not cut off there, so that it orders all rows.
    classes_ : ndarray of shape (2,)
        The two labels that `predict` returns; the second one is positive.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of columns, and their names if `X` was a frame with names that are strings.

    Notes
    -----
    `cv` + 1 fits. Sample weights count in the mean c too. `predict_proba` cuts values above 1 off, with an
    `EstimateWarning`. Even if every positive has the same chance to be labelled, about half of the estimates of that
    chance are above their mean, so values somewhat above 1 are normal. Values far above 1 say that the probabilities of
    `estimator` are not calibrated, or that some positives are labelled more often than others.

    References
    ----------
    Elkan and Noto (2008), Learning classifiers from only positive and unlabeled data, section 2 (the estimate e1).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from fastpu.estimators import ElkanNotoClassifier
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([True, False], 1000)
    >>> X = rng.standard_normal((2000, 1)) + 6.0 * truth[:, None]
    >>> labelled = truth & (rng.random(2000) < 0.4)
    >>> model = ElkanNotoClassifier(LogisticRegression()).fit(X, labelled)
    >>> round(model.c_, 1)
    0.4
    >>> model.predict([[0.0], [6.0]])
    array([False,  True])
    """

    estimator: EstimatorLike
    _: KW_ONLY
    cv: FoldsLike = 5

    def _fit(self, training: CloneRows) -> None:
        rows = np.flatnonzero(training.mass > 0)
        is_positive = training.codes == 1
        total = 0.0
        for kept, held_out in folds_of(training, rows, self.cv):
            labelled = held_out[is_positive[held_out]]
            if labelled.size:
                machine = training.fit(kept, is_positive[kept])
                total += float(training.mass[labelled] @ training.scores(machine, labelled))
        frequency = total / float(training.mass[is_positive].sum())
        if frequency <= 0:
            raise ValueError(
                f"estimator must give labelled rows a positive probability of being labelled, got {frequency:g} as "
                f"their mean in folds that it was not fitted to"
            )
        self.estimator_ = training.fit(rows, is_positive[rows])
        self.c_ = frequency

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return super()._scores(X) / self.c_

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        n_cut = int(np.count_nonzero(scores > 1))
        if n_cut:
            warn(
                f"{n_cut} of {scores.size} probabilities were above 1, up to {scores.max():.3g}, and are set to 1: "
                f"values somewhat above 1 are to be expected (label frequency c = {self.c_:.3g}); values far above 1 "
                f"mean that estimator is not calibrated, or that some positives are labelled more often than others",
                EstimateWarning,
            )
        return np.minimum(scores, 1.0)
