"""Elkan and Noto's way from labels to classes, around any classifier with probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._warn import warn
from fastpu.estimators._clone_rows import CloneRows, folds_of
from fastpu.estimators._meta_classifier import WithProbabilities
from fastpu.exceptions import EstimateWarning


@answers_unknown_keywords
@dataclass(eq=False, repr=False)
class ElkanNotoClassifier(WithProbabilities):
    """Elkan and Noto's classifier: the probability of being labelled, divided by the label frequency.

    It is for a yes or no, or probabilities, by a classifier of your own, where all rows are one sample, each positive
    had the same chance of getting a label, and classes hardly overlap. If the prior is known take
    `WeightedUnlabeledClassifier`. A ranking needs neither: dividing by a number changes no order.

    Where all rows together are one sample of the population (the single-training-set scenario) and every positive is
    labelled with the same chance c, whatever its features, a row is labelled with the probability

        P(s = 1 | x) = c P(y = 1 | x),

    which `estimator` learns from labelled rows against all others. c, the label frequency P(s = 1 | y = 1), is the
    mean of that probability over the labelled rows, of which each is scored by a fit to other folds. If the labelled
    rows are a sample of their own (case-control), `predict_proba` is about a population that holds the classes as
    `X` does, the labelled rows included, and not about the unlabelled rows alone.

    With the labels -1, 0 and 1 rows of -1 count as rows that are not labelled positive, as those of 0 do: they have to
    be part of the one sample.

    Parameters
    ----------
    estimator : classifier with predict_proba
        Any of scikit-learn's kind; clones of it are fitted to the labels 1 and 0. Its probabilities are taken as they
        are: where they are not calibrated, wrap it in scikit-learn's CalibratedClassifierCV.
    cv : int, splitter or list of folds, default 5
        The folds by which c is estimated: a number >= 2, of which at most as many are made as there are
        labelled positives, or as in scikit-learn's cross_val_predict.

    Attributes
    ----------
    c_ : float
        The label frequency, in (0, 1].
    estimator_ : classifier
        The fit to all rows.
    threshold_ : float
        1/2. The score is P(s = 1 | x) / c, which may exceed 1 and is not cut, so that it orders all rows.
    classes_, n_features_in_, feature_names_in_
        As `fastpu.estimators` says.

    Notes
    -----
    `cv` + 1 fits; sample weights count in the mean c too. `predict_proba` cuts what is above 1, with an
    `EstimateWarning`. Where every positive has the same probability of being labelled, about half of the estimates of
    it are above their mean: that some values are cut to 1 is no fault. Values far above 1 are: then the probabilities
    of `estimator` are not calibrated, or some positives are labelled more often than others.

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

    estimator: Any
    _: KW_ONLY
    cv: Any = 5

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
                f"{n_cut} of {scores.size} probabilities were above 1, up to {scores.max():.3g}, and are cut to it: "
                f"estimates that exceed the label frequency c = {self.c_:.3g} somewhat are to be expected; where they "
                f"do by far, estimator is not calibrated or some positives are labelled more often than others",
                EstimateWarning,
            )
        return np.minimum(scores, 1.0)
