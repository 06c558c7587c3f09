"""The classifiers of forests and of boosted trees, which have importances and may have out-of-bag scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fastpu.boosting._boosted_trees_options import LossName
from fastpu.boosting._boosted_trees_rounds import BoostedTreesRound
from fastpu.boosting.boosted_trees import fit_boosted_trees
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, RoundCallback, Scenario, VectorLike
from fastpu.estimators._documentation import explains_parameters_of
from fastpu.estimators._fastpu_classifier import FastpuClassifier, Seed
from fastpu.estimators._fit_input import FitInput
from fastpu.forest._forest_growth import ForestRound
from fastpu.forest.forest import fit_forest
from fastpu.model._prior import PriorEstimate
from fastpu.tree.tree_ensemble import TreeEnsemble

if TYPE_CHECKING:
    from typing_extensions import Self


class HasTrees(FastpuClassifier):
    """A classifier whose model is a sum or a mean of trees.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much each column lowers the loss, as shares that add up to 1.
    oob_decision_function_ : ndarray of shape (n,)
        Scores of the training rows, each by the trees whose bags it is not in, minus `threshold_`. NaN where a row is
        in every bag. A single booster has none.
    """

    prior: float | PriorEstimate | None
    scenario: Literal["case_control", "single_set"]
    model_: TreeEnsemble

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each column lowers the loss, as shares that add up to 1."""
        return self.model_.feature_importances

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Out-of-bag scores of the training rows, as `decision_function` gives scores of others."""
        scores = self.model_.oob_decision_function
        if scores is None:
            raise AttributeError("oob_decision_function_ needs n_bags > 1, as a single booster is grown on all rows")
        return scores - self.model_.threshold

    def _prior_of_fit(self) -> tuple[float | PriorEstimate | None, str]:
        return self.prior, self.scenario


@answers_unknown_keywords
@explains_parameters_of(fit_forest)
class ForestClassifier(HasTrees):
    """PU forest as a scikit-learn classifier: the mean of trees, each of all positives against some unlabelled rows.

    Try it first on a table. It takes columns of any kind and in any units, missing entries and categories as they are.
    It needs no prior, and its defaults work well. `oob_decision_function_` ranks the unlabelled rows without a second
    fit.

    `fit` calls `fastpu.fit_forest` with these parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import ForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> ForestClassifier(random_state=0).fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_forest)

    def __init__(
        self,
        *,
        n_trees: int = 500,
        loss: Literal["gini", "nnpu", "upu"] = "gini",
        prior: float | PriorEstimate | None = None,
        scenario: Scenario = "case_control",
        splitter: Literal["random", "best"] = "random",
        bag_ratio: float | Literal["auto"] | None = "auto",
        max_features: Literal["auto", "sqrt", "all"] | int | float = "auto",
        min_leaf_rows: int = 3,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        max_bins: int | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[ForestRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.n_trees = n_trees
        self.loss = loss
        self.prior = prior
        self.scenario = scenario
        self.splitter = splitter
        self.bag_ratio = bag_ratio
        self.max_features = max_features
        self.min_leaf_rows = min_leaf_rows
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.max_bins = max_bins
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def _fit_model(self, data: FitInput) -> TreeEnsemble:
        return fit_forest(
            data.X,
            data.y,
            n_trees=self.n_trees,
            loss=self.loss,
            prior=self.prior,
            scenario=self.scenario,
            splitter=self.splitter,
            bag_ratio=self.bag_ratio,
            max_features=self.max_features,
            min_leaf_rows=self.min_leaf_rows,
            max_depth=self.max_depth,
            max_leaves=self.max_leaves,
            max_bins=self.max_bins,
            init_model=data.init_model,
            sample_weight=data.sample_weight,
            groups=data.groups,
            random_state=self._seed,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )

    @answers_unknown_keywords
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: VectorLike | None = None,
        groups: GroupsLike | None = None,
        init_model: TreeEnsemble | None = None,
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
            Weights >= 0. The weight of a row is its chance to be drawn, relative to the other rows with its label.
        groups : array-like of shape (n,), optional
            A label of any kind for each row, which says which rows belong together, such as those of one customer. Bags
            leave out whole groups, and the folds of a calibration keep the rows of a group together.
        init_model : TreeEnsemble, optional
            A forest of the same rows and arguments, the `model_` of another fit, to which trees are added.

        Returns
        -------
        Self
            This classifier.
        """
        return self._fit(X, y, sample_weight=sample_weight, groups=groups, init_model=init_model)


@answers_unknown_keywords
@explains_parameters_of(fit_boosted_trees)
class BoostedTreesClassifier(HasTrees):
    """Boosted trees, and bags of boosted trees, as a scikit-learn classifier.

    It is for tables in which columns interact and classes overlap, and for labelled negatives beside positive and
    unlabelled rows. Pass ``n_bags=20`` for the best ranking: each bag holds few of the hidden positives. On most tables
    `ForestClassifier` is the better first choice.

    `fit` calls `fastpu.fit_boosted_trees` with these parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from fastpu.estimators import BoostedTreesClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, 300), rng.normal(3, 1, 300)])[:, np.newaxis]
    >>> y = ["other"] * 400 + ["yes"] * 200  # 100 positives are not labelled
    >>> BoostedTreesClassifier(random_state=0).fit(X, y).predict([[-3], [3]])
    array(['other', 'yes'], dtype='<U5')
    """

    _function = staticmethod(fit_boosted_trees)

    def __init__(
        self,
        *,
        loss: LossName = "pnu_auc",
        prior: float | PriorEstimate | None = None,
        scenario: Scenario = "case_control",
        gamma: float = 0.5,
        n_rounds: int = 100,
        learning_rate: float = 0.05,
        max_leaves: int = 4,
        max_depth: int | None = None,
        min_leaf_rows: int | None = None,
        min_leaf_hessian: float = 0.001,
        lam: float = 10.0,
        n_bags: int = 1,
        bag_ratio: float | Literal["auto"] | None = "auto",
        subsample_unl: float = 1.0,
        max_features: Literal["sqrt", "all"] | int | float = "all",
        max_bins: int | None = None,
        early_stopping_rounds: int | None = None,
        n_folds: int = 5,
        random_state: Seed = None,
        n_threads: int | None = None,
        callback: RoundCallback[BoostedTreesRound] | None = None,
        progress: bool = False,
        calibration: Literal["beta", "sigmoid", "isotonic"] | None = None,
        calibration_prior: float | PriorEstimate | None = None,
        calibration_cv: int = 5,
    ) -> None:
        self.loss = loss
        self.prior = prior
        self.scenario = scenario
        self.gamma = gamma
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_leaf_rows = min_leaf_rows
        self.min_leaf_hessian = min_leaf_hessian
        self.lam = lam
        self.n_bags = n_bags
        self.bag_ratio = bag_ratio
        self.subsample_unl = subsample_unl
        self.max_features = max_features
        self.max_bins = max_bins
        self.early_stopping_rounds = early_stopping_rounds
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback
        self.progress = progress
        self.calibration = calibration
        self.calibration_prior = calibration_prior
        self.calibration_cv = calibration_cv

    def _fit_model(self, data: FitInput) -> TreeEnsemble:
        return fit_boosted_trees(
            data.X,
            data.y,
            loss=self.loss,
            prior=self.prior,
            scenario=self.scenario,
            gamma=self.gamma,
            n_rounds=self.n_rounds,
            learning_rate=self.learning_rate,
            max_leaves=self.max_leaves,
            max_depth=self.max_depth,
            min_leaf_rows=self.min_leaf_rows,
            min_leaf_hessian=self.min_leaf_hessian,
            lam=self.lam,
            n_bags=self.n_bags,
            bag_ratio=self.bag_ratio,
            subsample_unl=self.subsample_unl,
            max_features=self.max_features,
            max_bins=self.max_bins,
            eval_set=data.eval_set,
            early_stopping_rounds=self.early_stopping_rounds,
            n_folds=self.n_folds,
            init_model=data.init_model,
            sample_weight=data.sample_weight,
            groups=data.groups,
            random_state=self._seed,
            n_threads=self.n_threads,
            callback=self.callback,
            progress=self.progress,
        )

    @answers_unknown_keywords
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: VectorLike | None = None,
        eval_set: tuple[MatrixLike, LabelsLike] | None = None,
        groups: GroupsLike | None = None,
        init_model: TreeEnsemble | None = None,
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
            A label of any kind for each row, which says which rows belong together, such as those of one customer. Bags
            leave out whole groups, and the folds of early stopping and of a calibration keep the rows of a group
            together.
        init_model : TreeEnsemble, optional
            A model of the same rows and arguments, the `model_` of another fit, to which trees are added.

        Returns
        -------
        Self
            This classifier.
        """
        return self._fit(X, y, sample_weight=sample_weight, eval_set=eval_set, groups=groups, init_model=init_model)
