"""What the scikit-learn classifiers share: labels, checks, the call of the fit function, scores."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from fastpu.common._methods import DECLARED
from fastpu.common._sharing import parameters_of_many
from fastpu.common._text import describe
from fastpu.common._types import GroupsLike, LabelsLike, MatrixLike, RandomState, VectorLike
from fastpu.common._warn import silenced
from fastpu.data._clusters import cluster_numbers
from fastpu.data._folds import Fold
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._tables import known_table, table_library
from fastpu.data._validate import check_sample_weight
from fastpu.estimators._calibration import CalibrationOptions, calibrated, folds_to_score, out_of_bag_scores
from fastpu.estimators._fit_input import FitInput, FoldedInput
from fastpu.estimators._pu_classifier import Labels, PUClassifier, require_classes, require_distinct_names
from fastpu.exceptions import DegenerateModelWarning, EstimateWarning
from fastpu.knn.knn_graph import KNNGraph
from fastpu.model._model import Model
from fastpu.model._prior import PriorEstimate
from fastpu.tree.tree_ensemble import TreeEnsemble

if TYPE_CHECKING:
    from typing_extensions import Self


#: A seed as scikit-learn takes it: besides what the functions take, a RandomState.
Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None

_Model = TypeVar("_Model", bound=Model)

_LARGEST_SEED = 2**31 - 1


def _has_probabilities(estimator: Any) -> bool:
    """Return True if the classifier has `predict_proba`, else raise an AttributeError that says how to get it."""
    if estimator.calibration is None:
        raise AttributeError("predict_proba needs calibration='beta', 'sigmoid' or 'isotonic' before the fit, got None")
    return True


class FastpuClassifier(PUClassifier):
    """A fit function as a classifier.

    A public class has an `__init__` with the parameters, a `fit` that hands its arguments to `_fit`, and `_fit_model`,
    which calls the function.

    Parameters
    ----------
    random_state : int >= 0, numpy.random.Generator, RandomState or None, default None
        Seed or generator that draws everything random in the fit. An int gives the same model in every fit. None takes
        a fresh seed.
    n_threads : int, optional
        The most threads that a call uses, >= 1, those of BLAS included. By default, one for each CPU that this process
        may use.
    progress : bool, default False
        Whether to show a progress bar. The bar is that of tqdm; without tqdm a line is printed to standard error every
        ten seconds.
    calibration : {"beta", "sigmoid", "isotonic"}, optional
        The shape of the curve from scores to probabilities. By default there is none, and no `predict_proba`. "beta"
        has three parameters, "sigmoid" two. "isotonic" assumes only that probabilities rise with the score, and needs
        hundreds of labelled rows.
    calibration_prior : float or PriorEstimate, optional
        The share of positives among the unlabelled rows, in (0, 1); probabilities are proportional to it. By default
        the `prior` of the method. If the method has none, it is estimated from the scores, as by `fastpu.priors.bbe`.
        Without a `calibration` it must be None.
    calibration_cv : int, default 5
        The number of folds, >= 2. The rows of each fold are scored by a fit to the others, and the curve is fitted to
        these scores. There are at most as many folds as the smallest class has rows. Classifiers with out-of-bag scores
        need no folds.

    Attributes
    ----------
    model_ : fastpu.Model
        The model that the function returned, with everything it says about the fit.
    classes_ : ndarray of shape (2,)
        The two labels that `predict` returns; the second one is positive.
    threshold_ : float
        The score above which a row is called positive. `decision_function` is the score minus it.
    n_iter_ : int
        The number of rounds or iterations of the fit; a closed form counts as one.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if `X` was a frame with names that are strings.
    coef_, intercept_ : ndarrays of shapes (1, n_features_in_) and (1,)
        For a model that is linear in the columns: `decision_function` is ``X @ coef_.T + intercept_``. Other models
        have neither.
    calibration_prior_estimate_ : PriorEstimate or None
        With a calibration: the estimate of `calibration_prior`, or None if none had to be made.
    """

    _function: ClassVar[Callable[..., Any]]  # the fit function, which names the declaration of the method

    random_state: Seed  # of the classes whose function draws something
    n_threads: int | None
    callback: Callable[[Any], bool | None] | None
    progress: bool
    calibration: str | None
    calibration_prior: float | PriorEstimate | None
    calibration_cv: int
    model_: Model
    calibration_prior_estimate_: PriorEstimate | None
    n_features_in_: int

    def _fit_model(self, data: FitInput) -> Model:
        """Return the model of the function for these rows and the settled parameters of this classifier."""
        raise NotImplementedError

    def _fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        *,
        sample_weight: VectorLike | None = None,
        sample_cost: VectorLike | None = None,
        groups: GroupsLike | None = None,
        eval_set: tuple[MatrixLike, LabelsLike] | None = None,
        graph: tuple[object, object] | KNNGraph | None = None,
        init_model: TreeEnsemble | None = None,
    ) -> Self:
        """Fit to `X` and `y`; all attributes change, or none, if there is an error."""
        rows = self._read_rows(X, reset=True)
        labels, codes = self._read_labels(y, rows.shape[0])
        warn_of_other_order(rows, y=y, sample_weight=sample_weight, groups=groups)
        clusters = cluster_numbers(groups, codes.size)
        weights = check_sample_weight(sample_weight, codes.size)
        require_classes(labels, codes, weights)
        data = FitInput(
            rows,
            codes,
            sample_weight=weights,
            sample_cost=sample_cost,
            groups=clusters,
            eval_set=None if eval_set is None else self._read_eval_set(eval_set, labels),
            graph=graph,
            init_model=init_model,
        )
        options = None
        if self.calibration is not None:
            options = CalibrationOptions(self.calibration, self.calibration_prior, self.calibration_cv)
        elif self.calibration_prior is not None:
            raise ValueError(
                f"calibration_prior must be None without a calibration, got {describe(self.calibration_prior)}: for "
                f"probabilities pass calibration='beta', 'sigmoid' or 'isotonic' too"
            )
        fitted = self._settled(data)
        fitted.model_ = fitted._named(fitted._fit_model(data))
        if options is not None:
            fitted._calibrate(options, data)
        fitted.classes_ = labels.classes
        self._take_over(fitted)
        return self

    def _calibrate(self, options: CalibrationOptions, data: FitInput) -> None:
        """Give `model_` probabilities, by scores of rows from fits that have not seen them."""
        options.check_input(data)
        scores = out_of_bag_scores(self.model_, data)
        if scores is None:
            scores = self._scores_of_folds(data, folds_to_score(options, data))
        prior, scenario = self._prior_of_fit()
        self.model_, self.calibration_prior_estimate_ = calibrated(options, self.model_, scores, data, prior, scenario)

    def _scores_of_folds(self, data: FitInput, folds: list[Fold]) -> NDArray[np.float64]:
        """Return the scores of each fold by a model of the others, NaN for rows without weight.

        The threshold of each model is subtracted from its scores, so that scores of different models can be compared.
        """
        quiet = copy.copy(self)
        quiet.callback, quiet.progress = None, False
        scores = np.full(data.y.size, np.nan)
        folded = FoldedInput(data, is_square=self._has_kernel_matrix)
        for fold in map(folded.fold, folds):
            # The thresholds of these models do not matter, and the user has been warned about the whole model.
            with silenced(DegenerateModelWarning, EstimateWarning):
                model = quiet._fit_model(fold.input)
            of_fold = model.decision_function(fold.X_held_out, n_threads=self.n_threads)
            scores[fold.held_out] = of_fold - model.threshold + self.model_.threshold
        return scores

    def _settled(self, data: FitInput) -> Self:  # noqa: ARG002 - for subclasses
        """Return a copy to be fitted, in which each parameter has the value that it has for these rows."""
        for name in parameters_of_many(type(self)._function):
            value = getattr(self, name)
            if np.ndim(value) > 0:
                raise TypeError(
                    f"{name} must be one number for {type(self).__name__}, got {describe(value)}; "
                    f"fastpu.{type(self)._function.__name__} takes a sequence and returns a list of models, and "
                    f"GridSearchCV tries one value after the other"
                )
        settled = copy.copy(self)
        if hasattr(self, "random_state"):
            settled.random_state = seed_of(self.random_state)
        return settled

    def _take_over(self, fitted: Self) -> None:
        """Take the attributes of a fit from the copy that was fitted."""
        self.model_, self.classes_ = fitted.model_, fitted.classes_
        if self.calibration is not None:
            self.calibration_prior_estimate_ = fitted.calibration_prior_estimate_

    def _prior_of_fit(self) -> tuple[float | PriorEstimate | None, str]:
        """Return the prior that the method itself goes by, None if there is none, and the scenario that it is for."""
        return None, "case_control"

    @property
    def _seed(self) -> RandomState:
        """The random state as the functions take it, of a settled classifier."""
        return seed_of(self.random_state)

    @property
    def _has_kernel_matrix(self) -> bool:
        """Whether `X` is the matrix of the kernel between all rows."""
        return getattr(self, "kernel", None) == "precomputed"

    def _other_label(self, classes: NDArray[Any]) -> int:
        groups = DECLARED[type(self)._function.__name__].groups
        are_codes = classes.dtype.kind in "if" and classes.tolist() == [-1, 1]
        return -1 if groups == "PN" or (groups == "PUN" and are_codes) else 0

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        """Return the rows in a form that fastpu takes; fastpu itself checks for NaN and infinity."""
        X = known_table(X)
        is_frame = table_library(X) is not None and not self._has_kernel_matrix
        if is_frame or sp.issparse(X):
            require_distinct_names(X)
            # fastpu names the columns of frames, reads every sparse format, and checks its indices before SciPy does.
            return validate_data(self, X, skip_check_array=True, reset=reset)
        return validate_data(
            self,
            X,
            accept_sparse="csr",  # frames of sparse columns
            dtype=(np.float64, np.float32),
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=1 if reset else 0,
            reset=reset,
        )

    def _read_eval_set(self, eval_set: Any, labels: Labels) -> Any:
        """Return a pair of rows and labels as fastpu takes it; anything else is left for the fit function to refuse."""
        if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
            return eval_set
        X, y = eval_set
        if isinstance(X, tuple) or isinstance(y, tuple):  # a list of pairs
            return eval_set
        return self._read_rows(X, reset=False), labels.read(y, "y of eval_set")

    def _named(self, model: _Model) -> _Model:
        """Return the model with the names of the features, if they have some."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or model.n_features != len(names):
            return model
        return dataclasses.replace(model, feature_names=tuple(map(str, names)))

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return self.model_.decision_function(self._read_rows(X, reset=False), n_threads=self.n_threads)

    def _move_threshold(self, prior: Any, k: Any, value: Any, X_unl: Any, codes: NDArray[np.int8] | None) -> None:
        rows = None if X_unl is None else self._read_rows(X_unl, reset=False)
        self.model_ = self.model_.with_threshold(
            prior=prior, k=k, value=value, X_unl=rows, y=codes, n_threads=self.n_threads
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `model_` to a file that `fastpu.load` reads, without pickle, as `Model.save` does.

        The file holds the model alone. To keep the parameters and `classes_` of the classifier too, pickle it.
        `predict` of the loaded model returns 1 and -1, and the threshold is not subtracted from its scores.

        Parameters
        ----------
        path : str or path-like
            The name of the file, used exactly as it is passed.
        """
        check_is_fitted(self)
        self.model_.save(path)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the probabilities of ``classes_[0]`` and ``classes_[1]`` for the rows of `X`.

        This method exists with ``calibration="beta"``, ``"sigmoid"`` or ``"isotonic"``. The probabilities rise with
        `decision_function`. They do not change `predict`, whose threshold need not be where a probability is 1/2.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features_in_)
            Rows, as `fit` takes them.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        check_is_fitted(self)
        return self.model_.predict_proba(self._read_rows(X, reset=False), n_threads=self.n_threads)

    @property
    def threshold_(self) -> float:  # type: ignore[override]  # read from the model
        """The score above which a row is called positive."""
        return self.model_.threshold

    @property
    def n_iter_(self) -> int:
        """Rounds or iterations of the fit; a closed form counts as one."""
        return max(1, self.model_.n_iter)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Coefficients of the features, shape (1, n_features_in_), of a linear model; others have none."""
        return self._linear()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercept of a linear model minus the threshold, shape (1,), as in `decision_function`."""
        return self._linear()[1]

    def _linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        model: Any = self.model_
        coef = getattr(model, "coef", None)
        if coef is None or getattr(model, "basis", "linear") != "linear":
            raise AttributeError(f"this {type(self).__name__} is not linear in the features")
        return np.array(coef, dtype=np.float64)[None, :], np.array([model.intercept - model.threshold])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        method = DECLARED[type(self)._function.__name__]
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = method.csr and not self._has_kernel_matrix
        tags.input_tags.allow_nan = method.nan
        tags.input_tags.pairwise = self._has_kernel_matrix
        return tags


def seed_of(random_state: Seed) -> RandomState:
    """Return a seed drawn by a RandomState, which the fit functions do not take; anything else as it is."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_LARGEST_SEED))
    return random_state


def one_model(fitted: _Model | list[_Model]) -> _Model:
    """Return the model of a function that returns a list of models only for sequences of values."""
    if isinstance(fitted, list):
        raise TypeError(f"a classifier has one value for each parameter, got {len(fitted)} models")
    return fitted
