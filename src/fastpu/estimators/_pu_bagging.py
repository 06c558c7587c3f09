"""PU bagging around any classifier: the mean of its fits to all positives against a few unlabelled rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from fastpu.common._bags import AutoBags, bag_sizes, check_bag_ratio
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_int, check_random_state
from fastpu.common._text import short
from fastpu.common._types import EstimatorLike
from fastpu.estimators._clone_rows import CloneRows
from fastpu.estimators._fastpu_classifier import seed_of
from fastpu.estimators._inner_estimator import scores_of
from fastpu.estimators._meta_classifier import MetaClassifier
from fastpu.model._cut import CutRows, unlabelled_rows

_MOST_DRAWS = 2**28  # most row numbers in all bags together: 2 GiB
_AUTO_BAGS = AutoBags(ratio=1.0, least_unl=(100,))


@answers_unknown_keywords
@dataclass(eq=False, repr=False)
class PUBaggingClassifier(MetaClassifier):
    """PU bagging: the mean of many fits of a classifier, each to all positives against a few unlabelled rows.

    It is for a ranking by a learner of your own, such as LightGBM or a pipeline, with few labels and no prior. For
    trees `fastpu.fit_forest` does the same faster, and for support vector machines `fastpu.fit_bagging_svm`.

    Each of T bags holds all n_pos positive rows, all rows labelled negative, and K unlabelled rows in the role of
    negatives, drawn with replacement; see `bag_ratio`. The score of a row is the mean over the bags,

        f(x) = (f_1(x) + ... + f_T(x)) / T,

    of the scores f_t of the fits. A single bag holds few hidden positives, and the mean evens out the harm that they
    do. `oob_decision_function_` scores each unlabelled row by the bags that it is not in.

    With the labels -1, 0 and 1, rows of -1 are negative in every bag. Of two labels the smaller one is unlabelled.

    Parameters
    ----------
    estimator : classifier
        A classifier in scikit-learn's form. Clones of it are fitted to the labels 1 and 0. Its random states are drawn
        anew for every bag.
    n_bags : int, default 50
        T, the number of bags, >= 1.
    bag_ratio : "auto" or float, default "auto"
        How many unlabelled rows a bag has.

        - "auto" draws as many as there are positive rows, but at most 63 % of all unlabelled rows. With fewer than 100
          positive rows it draws 100, or a tenth of all if that is fewer; each positive row is then several times in the
          bag, so that both groups weigh the same.
        - A number > 0 is the number of unlabelled rows for each positive row; at least one is drawn.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        The method of `estimator` that gives the scores. "auto" is `predict_proba` if there is one.
    n_jobs : int, optional
        The number of bags that joblib fits at a time. By default one. The result is the same for any number.
    random_state : int >= 0, numpy.random.Generator, RandomState or None, default None
        Seed or generator that draws the bags and the random states in the estimators. None takes a fresh seed.

    Attributes
    ----------
    estimators_ : list of T classifiers
    bags_ : ndarray of shape (T, K)
        Numbers of the unlabelled rows in each bag, repeats included.
    oob_decision_function_ : ndarray of shape (n,)
        Mean score over the bags that an unlabelled row is not in, minus `threshold_`. NaN for labelled rows, which are
        in every bag, and for unlabelled ones that are in every bag too. With `groups` a bag leaves whole groups out:
        a row is scored by the bags that have no row of its group, and so none of a labelled row's group is.
    response_method_ : str
        The method of `estimator` that gave the scores.
    threshold_ : float
        1/2 for probabilities and 0 for decision functions: the border of `estimator` between the classes of a bag. If
        a bag has as many positive as unlabelled rows, as with "auto", and no row is labelled negative, the densities of
        positive and unlabelled rows are equal there, and so are those of positive and negative rows.
    classes_ : ndarray of shape (2,)
        The two labels that `predict` returns; the second one is positive.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of columns, and their names if `X` was a frame with names that are strings.

    Notes
    -----
    T fits to n_pos + K rows, and the scores of the unlabelled rows by each fit. Rows are drawn regardless of sample
    weights. There is no `predict_proba`: the mean of the probabilities is for bags with as many positive as unlabelled
    rows, and not the probability of the class.

    References
    ----------
    Mordelet and Vert (2014), A bagging SVM to learn from positive and unlabeled examples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fastpu.estimators import PUBaggingClassifier
    >>> rng = np.random.default_rng(0)
    >>> hidden = np.repeat([True, False], 100)
    >>> X = rng.standard_normal((200, 2)) + 2.0 * hidden[:, None]
    >>> y = hidden & (np.arange(200) < 50)
    >>> bagging = PUBaggingClassifier(DecisionTreeClassifier(), random_state=0).fit(X, y)
    >>> scores = bagging.oob_decision_function_
    >>> bool(scores[50:100].mean() > 0 > scores[100:].mean())
    True
    """

    estimator: EstimatorLike
    _: KW_ONLY
    n_bags: int = 50
    bag_ratio: float | Literal["auto"] = "auto"
    response_method: Literal["auto", "predict_proba", "decision_function"] = "auto"
    n_jobs: int | None = None
    random_state: int | np.random.Generator | np.random.RandomState | None = None

    def _fit(self, training: CloneRows) -> None:
        n_bags = check_int("n_bags", self.n_bags, low=1)
        ratio = _check_bag_ratio(self.bag_ratio)
        rng = check_random_state(seed_of(self.random_state))
        training.require_groups(self)
        positive, unlabelled = training.rows(1), training.rows(0)
        wanted = 1.0 if ratio == "auto" else ratio
        if wanted * positive.size > _MOST_DRAWS / n_bags:
            raise ValueError(
                f"n_bags * bag_ratio * n_pos must be at most {_MOST_DRAWS} row numbers, got {short(n_bags)} * "
                f"{wanted:g} * {positive.size}"
            )
        size, repeats = _bag_size(ratio, positive.size, unlabelled.size)
        labelled = np.concatenate([np.tile(positive, repeats), training.rows(-1)])
        bags = _draw_bags(training, unlabelled, n_bags, size, rng)
        seeds = rng.integers(2**31 - 1, size=n_bags)
        sums, counts = np.zeros(training.codes.size), np.zeros(training.codes.size)
        machines = []
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator")  # one array of scores at a time
        jobs = (
            delayed(_fit_bag)(training, labelled, unlabelled, bag, int(seed))
            for bag, seed in zip(bags, seeds, strict=True)
        )
        for machine, outside, scores in parallel(jobs):
            machines.append(machine)
            sums[outside] += scores
            counts[outside] += 1
        means = np.full(sums.size, np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        self.estimators_, self.bags_ = machines, bags
        self._oob_scores, self._oob_codes, self._oob_weights = means, training.codes, training.weights

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Out-of-bag scores of the training rows, as `decision_function` gives scores of others."""
        return self._oob_scores - self.threshold_

    def _rows_to_cut(self, codes: NDArray[np.int8] | None) -> CutRows:
        fitted = self._oob_codes
        rows = fitted == 0 if codes is None else unlabelled_rows(codes, fitted.size, fitted)
        return CutRows.out_of_bag(self._oob_scores, rows, self._oob_weights)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        self._read_columns(X, reset=False)
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        jobs = (delayed(scores_of)(machine, X, self.response_method_) for machine in self.estimators_)
        total = 0.0
        for scores in parallel(jobs):
            total = total + scores
        return np.asarray(total) / len(self.estimators_)


def _check_bag_ratio(bag_ratio: object) -> float | Literal["auto"]:
    ratio = check_bag_ratio(bag_ratio)
    if ratio is None:
        raise TypeError("bag_ratio must be 'auto' or a number, got None")
    return ratio


def _bag_size(ratio: float | Literal["auto"], n_pos: int, n_unl: int) -> tuple[int, int]:
    """Return how many unlabelled rows a bag holds, and how often each positive one."""
    if ratio != "auto":
        return max(1, round(ratio * n_pos)), 1
    size = bag_sizes("auto", n_pos, n_unl, _AUTO_BAGS).draws_unl[0]
    return size, max(1, round(size / n_pos))


def _draw_bags(
    training: CloneRows, unlabelled: NDArray[np.intp], n_bags: int, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw the unlabelled rows of each bag; with groups from as many draws of a group as there are groups."""
    if training.clusters is None:
        return unlabelled[rng.integers(unlabelled.size, size=(n_bags, size))]
    clusters = training.clusters[unlabelled]
    names = np.unique(clusters)
    bags = np.empty((n_bags, size), dtype=np.intp)
    for bag in bags:
        drawn = names[rng.integers(names.size, size=names.size)]
        rows = unlabelled[np.isin(clusters, drawn)]
        bag[:] = rows[rng.integers(rows.size, size=size)]
    return bags


def _fit_bag(
    training: CloneRows, labelled: NDArray[np.intp], unlabelled: NDArray[np.intp], bag: NDArray[np.intp], seed: int
) -> tuple[Any, NDArray[np.intp], NDArray[np.float64]]:
    """Return the classifier of a bag, the unlabelled rows that are not in it, and their scores.

    With groups a row is in the bag if any row of its group is.
    """
    rows = np.concatenate([labelled, bag])
    machine = training.fit(rows, training.codes[rows] == 1, seed=seed)
    clusters = training.clusters
    if clusters is None:
        outside = np.setdiff1d(unlabelled, bag)
    else:
        outside = unlabelled[~np.isin(clusters[unlabelled], clusters[rows])]
    scores = training.scores(machine, outside) if outside.size else np.zeros(0)
    return machine, outside, scores
