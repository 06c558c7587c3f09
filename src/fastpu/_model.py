"""What every fitted model has in common."""

from __future__ import annotations

import dataclasses
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from fastpu._model_fields import decode_field, encode_field, field_specs, freeze
from fastpu._model_file import file_name, read_model_file, write_model_file
from fastpu._text import short
from fastpu._threads import resolve_n_threads
from fastpu._threshold import prior_threshold
from fastpu._validate import check_float, check_matrix
from fastpu._warnings import DegenerateModelWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self  # in typing from Python 3.11

__all__ = ["Model", "load"]

_CLASSES: dict[str, type[Model]] = {}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Model(ABC):
    """A fitted model: immutable, with read-only arrays.

    Attributes
    ----------
    n_features : int
        Number of features of the training data.
    feature_names : tuple of str, or None
        Their names, if the training data had names.
    threshold : float
        `predict` calls a row positive if its score is larger.
    threshold_rule : str
        Where the threshold comes from.
    n_iter : int
        Number of rounds or iterations kept. Early stopping drops the last ones that were run; `history` has these too.
    converged : bool
        Whether a stopping rule was met before the rounds or iterations ran out.
    status : str
        Why the fit stopped.
    objective : ndarray of float64
        Value of the objective after each iteration that was kept.
    history : mapping of str to ndarray
        What the loop recorded, for every iteration that was run.
    params : mapping of str to object
        The function that made the model ("method") and its arguments that influence the result.

    Notes
    -----
    A subclass is a dataclass with the same four options. It implements `_decision_function`, says
    through `_ndim` which of its arrays do not have one dimension, and checks in `_check_fields`
    whatever its kernel relies on, for a loaded file may say anything.
    """

    n_features: int
    feature_names: tuple[str, ...] | None
    threshold: float
    threshold_rule: str = "zero"
    n_iter: int
    converged: bool
    status: str
    objective: NDArray[np.float64]
    history: Mapping[str, NDArray[Any]]
    params: Mapping[str, object]

    _ndim: ClassVar[Mapping[str, int]] = {}
    _nan_input: ClassVar[Literal["refuse", "allow"]] = "refuse"
    _inf_input: ClassVar[Literal["refuse", "allow"]] = "refuse"
    _sparse_input: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        known = _CLASSES.get(cls.__name__)
        if known is not None and known.__module__ != cls.__module__ and known.__module__.startswith("fastpu."):
            raise TypeError(f"there is a model class {cls.__name__} in {known.__module__} already")
        _CLASSES[cls.__name__] = cls

    def __post_init__(self) -> None:
        for name, spec in field_specs(type(self)).items():
            object.__setattr__(self, name, freeze(name, getattr(self, name), spec))
        if self.n_features < 1:
            raise ValueError(f"n_features must be >= 1, got {self.n_features}")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(f"feature_names must have {self.n_features} names, got {len(self.feature_names)}")
        if self.n_iter < 0:
            raise ValueError(f"n_iter must be >= 0, got {self.n_iter}")
        if np.isnan(self.threshold):
            raise ValueError("threshold must be a number, got nan")
        self._check_fields()

    def _check_fields(self) -> None:  # noqa: B027 - a hook, and most models have nothing to add
        """Raise ValueError if the arrays do not fit each other: the kernel relies on it."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, which makes the arrays read-only again.
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return _restore, (type(self), fields)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_features={self.n_features}, n_iter={self.n_iter}, "
            f"converged={self.converged}, status={self.status!r}, threshold={self.threshold:.6g})"
        )

    def decision_function(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the scores of the rows of `X`; larger is more positive.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
            float32 and float64, C-contiguous or CSR, are used without a copy.
        n_threads : int, optional
            Most threads to use; by default the CPUs this process may use.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `X` is not such a matrix, or has other features than the training data.
        """
        threads = resolve_n_threads(n_threads)
        return self._checked_scores(X, "X", threads)

    def predict(self, X: object, *, n_threads: int | None = None) -> NDArray[np.int64]:
        """Return +1 for the rows of `X` whose score exceeds `threshold`, and -1 for the others.

        Parameters and errors are those of `decision_function`.
        """
        scores = self.decision_function(X, n_threads=n_threads)
        signs: NDArray[np.int64] = np.where(scores > self.threshold, np.int64(1), np.int64(-1))
        return signs

    def with_threshold(self, *, prior: float, X_unl: object, n_threads: int | None = None) -> Self:
        """Return this model with the threshold that matches a class prior.

        The share of the rows of `X_unl` that the new model calls positive is as near to `prior`
        as their scores allow. The threshold is the midpoint between two neighbouring scores, or,
        where that is nearest, the highest score (nothing is called positive) or a number just
        below the lowest (everything is). Rows with equal scores cannot be told apart, so ties may
        keep the share away from the prior; of two cuts equally near, the lower one is taken.

        Parameters
        ----------
        prior : float
            P(Y = 1) among the unlabelled rows, in (0, 1).
        X_unl : array-like, sparse matrix or DataFrame of shape (n, n_features)
            Unlabelled rows, a sample of the population that `prior` speaks of.
        n_threads : int, optional
            As in `decision_function`.

        Returns
        -------
        Model
            A new model of the same class that shares the arrays of this one.

        Warns
        -----
        DegenerateModelWarning
            If the new model calls all rows of `X_unl` positive, or none.

        Raises
        ------
        TypeError, ValueError
            If `prior` is not in (0, 1), or `X_unl` is refused by `decision_function`.
        """
        prior = check_float("prior", prior, low=0, high=1, open_low=True, open_high=True)
        threads = resolve_n_threads(n_threads)
        scores = self._checked_scores(X_unl, "X_unl", threads)
        threshold = prior_threshold(scores, prior)
        positive = int(np.count_nonzero(scores > threshold))
        if positive in (0, scores.size):
            warnings.warn(
                f"the threshold for prior {prior:g} calls {positive} of {scores.size} rows of "
                f"X_unl positive: the scores have too few distinct values to come nearer",
                DegenerateModelWarning,
                stacklevel=2,
            )
        rule = f"prior {prior:g}: {positive} of {scores.size} unlabelled rows positive"
        return dataclasses.replace(self, threshold=threshold, threshold_rule=rule)

    def save(self, path: object) -> None:
        """Write the model to a file that `fastpu.load` reads.

        The file is an uncompressed .npz: arrays and a JSON header with a format version and a
        checksum, no pickle. The name is taken exactly as given. A file of that name stays whole
        until the new one is complete, and stays if writing fails.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        name = file_name(path)
        arrays: dict[str, NDArray[Any]] = {}
        fields = {
            field: encode_field(field, getattr(self, field), spec, arrays)
            for field, spec in field_specs(type(self)).items()
        }
        header = {"fastpu": version("fastpu"), "class": type(self).__name__, "fields": fields}
        write_model_file(name, header, arrays)

    def _checked_scores(self, X: object, name: str, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of unchecked rows; those whose sums overflow in both directions have none."""
        scores = self._decision_function(self._check_input(X, name), n_threads)
        if (without := np.isnan(scores)).any():
            raise ValueError(
                f"{name} must hold numbers so small that scores can be computed, got NaN for row "
                f"{int(np.argmax(without))}"
            )
        return scores

    def _check_input(self, X: object, name: str) -> Any:
        """Return `X` in the form that `_decision_function` takes."""
        return check_matrix(
            X,
            name=name,
            nan=self._nan_input,
            inf=self._inf_input,
            sparse=self._sparse_input,
            n_features=self.n_features,
            feature_names=self.feature_names,
        )

    @abstractmethod
    def _decision_function(self, matrix: Any, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of a checked matrix."""


def _restore(cls: type[Model], fields: dict[str, Any]) -> Model:
    for value in fields.values():
        # An array out of a pickle or a deep copy is ours alone: no second copy is needed.
        for array in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    return cls(**fields)


def load(path: object) -> Model:
    """Read a model that `Model.save` has written.

    No code in the file is run: it holds numbers and text only, and is checked before use.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Model
        Of the class that was saved.

    Raises
    ------
    OSError
        If the file cannot be opened (FileNotFoundError if there is none).
    ValueError
        If the file is no model file, is truncated or changed, or was written by a newer fastpu.

    Notes
    -----
    O(size of the file) time and memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fastpu
    >>> model = fastpu.fit_rankboost_auc([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     model.save(Path(directory) / "model.npz")
    ...     again = fastpu.load(Path(directory) / "model.npz")
    >>> again.predict([[0.5], [2.5]])
    array([-1,  1])
    """
    name = file_name(path)
    header, arrays = read_model_file(name)
    try:
        return _from_parts(header, arrays)
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{name!r} cannot be loaded: {reason}") from error


def _from_parts(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    cls = _CLASSES.get(str(header["class"]))
    if cls is None:
        raise ValueError(f"it holds a model of the unknown class {short(header['class'])}")
    specs, nodes = field_specs(cls), header["fields"]
    if not isinstance(nodes, dict) or set(nodes) != set(specs):
        raise ValueError(f"its fields are not those of {cls.__name__}")
    fields: dict[str, Any] = {name: decode_field(name, nodes[name], spec, arrays) for name, spec in specs.items()}
    if arrays:
        raise ValueError(f"it has arrays that {cls.__name__} does not know: {sorted(arrays)}")
    return cls(**fields)
