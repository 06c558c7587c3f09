"""What the scikit-learn classifiers share: labels, checks, the call of the fit function, scores."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from fastpu.common._methods import DECLARED
from fastpu.common._sharing import parameters_of_many
from fastpu.common._text import describe
from fastpu.data._clusters import cluster_numbers
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._tables import frame_kind, known_table
from fastpu.data._validate import check_sample_weight
from fastpu.estimators._calibration import calibrated
from fastpu.estimators._pu_classifier import Labels, PUClassifier, require_classes, require_distinct_names
from fastpu.model._model import Model

if TYPE_CHECKING:
    from typing_extensions import Self


_Model = TypeVar("_Model", bound=Model)

_LARGEST_SEED = 2**31 - 1


def _has_probabilities(estimator: Any) -> bool:
    """Return True if the classifier has `predict_proba`, else raise an AttributeError that says how to get it."""
    if estimator.calibration is None:
        raise AttributeError("predict_proba needs calibration='beta', 'sigmoid' or 'isotonic' before the fit, got None")
    return True


class FastpuClassifier(PUClassifier):
    """A fit function as a classifier; `fastpu.estimators._classes` makes the public classes from it.

    Annotations here and in subclasses are those of the parameters, in place of what the function says. An attribute
    with a value is a parameter with this default: that of the function, or one more.

    Parameters
    ----------
    calibration, calibration_prior, calibration_cv
        Of `predict_proba`, as `fastpu.estimators` says.

    Attributes
    ----------
    model_, classes_, n_features_in_, feature_names_in_, n_iter_, threshold_, coef_, intercept_
        As `fastpu.estimators` says.
    """

    _function: ClassVar[Callable[..., Any]]

    random_state: int | np.random.Generator | np.random.RandomState | None
    n_threads: int | None
    calibration: str | None = None
    calibration_prior: float | None = None
    calibration_cv: int = 5
    model_: Model
    n_features_in_: int

    def _fit(self, X: Any, y: Any, **data: Any) -> Self:
        """Fit to `X` and `y`; `data` are the further arguments of the function that speak of the rows."""
        rows = self._read_rows(X, reset=True)
        labels, codes = self._read_labels(y, rows.shape[0])
        warn_of_other_order(rows, y=y, sample_weight=data.get("sample_weight"), groups=data.get("groups"))
        clusters = cluster_numbers(data.pop("groups", None), codes.size)
        if "groups" in inspect.signature(type(self)._function).parameters:
            data["groups"] = clusters
        if "sample_weight" in data:
            data["sample_weight"] = check_sample_weight(data["sample_weight"], codes.size)
            require_classes(labels, codes, data["sample_weight"])
        if data.get("eval_set") is not None:
            data["eval_set"] = self._read_eval_set(data["eval_set"], labels)
        arguments = self._arguments(rows, codes, data) | data
        fitted = self._call(rows, codes, dict(arguments))
        fitted["model_"] = self._named(fitted["model_"])
        if self.calibration is not None:
            model, estimate = calibrated(self, fitted["model_"], rows, codes, arguments, clusters)
            fitted |= {"model_": model, "calibration_prior_estimate_": estimate}
        fitted["classes_"] = labels.classes
        for name, value in fitted.items():
            setattr(self, name, value)
        return self

    def _call(self, rows: Any, codes: NDArray[np.int8], arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the attributes that a fit sets: `model_`, and others that the class has."""
        return {"model_": type(self)._function(rows, codes, **arguments)}

    def _arguments(self, rows: Any, codes: NDArray[np.int8], data: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - for subclasses
        own = self.get_params(deep=False)
        arguments = {name: own[name] for name in inspect.signature(type(self)._function).parameters if name in own}
        for name in parameters_of_many(type(self)._function):
            if np.ndim(arguments[name]) > 0:
                raise TypeError(
                    f"{name} must be one number for {type(self).__name__}, got {describe(arguments[name])}; "
                    f"fastpu.{type(self)._function.__name__} takes a sequence and returns a list of models, and "
                    f"GridSearchCV tries one value after the other"
                )
        if "random_state" in arguments:
            arguments["random_state"] = seed_of(arguments["random_state"])
        return arguments

    def _other_label(self, classes: NDArray[Any]) -> int:
        groups = DECLARED[type(self)._function.__name__].groups
        are_codes = classes.dtype.kind in "if" and classes.tolist() == [-1, 1]
        return -1 if groups == "PN" or (groups == "PUN" and are_codes) else 0

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        """Return the rows in a form that fastpu takes; fastpu itself checks for NaN and infinity."""
        X = known_table(X)
        is_frame = frame_kind(X) is not None and getattr(self, "kernel", None) != "precomputed"
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

    def _move_threshold(self, prior: Any, k: Any, value: Any, X_unl: Any) -> None:
        rows = None if X_unl is None else self._read_rows(X_unl, reset=False)
        self.model_ = self.model_.with_threshold(prior=prior, k=k, value=value, X_unl=rows, n_threads=self.n_threads)

    def save(self, path: Any) -> None:
        """Write `model_` to a file that `fastpu.load` reads, as `Model.save` does: without pickle, with its errors.

        The file holds the model alone, not the parameters and `classes_` of the classifier; a pickle has these too. The
        `predict` of a loaded model returns 1 and -1, and the threshold is not subtracted from its scores.

        Parameters
        ----------
        path : str or path-like
        """
        check_is_fitted(self)
        self.model_.save(path)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of ``classes_[0]`` and ``classes_[1]`` for the rows of `X`.

        They are there with ``calibration="beta"``, ``"sigmoid"`` or ``"isotonic"``, rise with `decision_function`,
        which takes the same `X`, and do not change `predict`, whose threshold need not be where they are 1/2.

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
        pairwise = getattr(self, "kernel", None) == "precomputed"
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = method.csr and not pairwise
        tags.input_tags.allow_nan = method.nan
        tags.input_tags.pairwise = pairwise
        return tags


def seed_of(random_state: Any) -> Any:
    """Return a seed drawn by a RandomState, which the fit functions do not take; anything else as it is."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_LARGEST_SEED))
    return random_state
