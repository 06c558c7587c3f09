"""Candidates of an ensemble: functions of this library with keywords, functions of the user's, and estimators."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.boosting.boosted_trees import fit_boosted_trees
from fastpu.common._methods import DECLARED, function_of
from fastpu.common._sharing import unwrapped
from fastpu.common._text import describe
from fastpu.data._validate import check_vector
from fastpu.forest.forest import fit_forest
from fastpu.model._model import Model
from fastpu.model._prior import needs_prior
from fastpu.selection._grid import Arguments
from fastpu.svm.bagging_svm import fit_bagging_svm
from fastpu.svm.isvm import fit_isvm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Candidate:
    """What is fitted, and the weight that it has before anything is seen."""

    name: str
    fit: Any
    start: float = 1.0

    @property
    def method(self) -> str | None:
        """The declared method that it calls, or None."""
        function = unwrapped(self.fit)
        name = getattr(function, "__name__", None)
        return name if name in DECLARED and function_of(name) is function else None

    @property
    def takes_numbers(self) -> bool:
        """Whether it gets standardised numbers in place of the rows as they are."""
        return self.method is not None and not DECLARED[self.method].nan

    @property
    def takes_weights(self) -> bool:
        """Whether it has an argument for weights of rows that is not refused."""
        if self.method is not None:
            return DECLARED[self.method].weights
        return self._takes("sample_weight")

    def _takes(self, parameter: str) -> bool:
        function = self.fit.fit if _is_estimator(self.fit) else self.fit
        return parameter in Arguments.of(function).annotations

    def fitted(self, X: Any, labels: NDArray[np.int8], weights: NDArray[np.float64] | None, **usual: Any) -> Model:
        """Return a model of these rows; `usual` are arguments that it is given where it has them and they are free."""
        given: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
        if _is_estimator(self.fit):
            estimator = copy.deepcopy(self.fit)
            estimator.fit(X, (labels == 1).astype(np.int64), **given)
            return _user_model(self.name, estimator, X)
        bound = self.fit.keywords if isinstance(self.fit, functools.partial) else {}
        for name, value in usual.items():
            wanted = name != "prior" or (value is not None and self._takes(name) and needs_prior(self.fit, bound))
            if name not in bound and self._takes(name) and wanted:
                given[name] = value
        groups = "PUN" if self.method is None else DECLARED[self.method].groups
        y = labels
        if "N" not in groups:
            y = (labels == 1).astype(np.int8)
        elif "U" not in groups:
            y = np.where(labels == 1, np.int8(1), np.int8(-1))
        model = self.fit(X, y, **given)
        return model if isinstance(model, Model) else _user_model(self.name, model, X)


def default_candidates(*, is_text: bool) -> list[Candidate]:
    """Return what is tried if nothing is said: methods that err in different ways, for text lines more readily."""
    return [
        Candidate("forest", fit_forest, 1.0 if is_text else 2.0),
        Candidate("forest_best_splits", functools.partial(fit_forest, splitter="best"), 0.5 if is_text else 1.0),
        Candidate("boosted_trees", functools.partial(fit_boosted_trees, n_bags=20), 1.0),
        Candidate("bagging_svm_rbf", functools.partial(fit_bagging_svm, kernel="rbf"), 3.0 if is_text else 2.0),
        Candidate("bagging_svm_linear", functools.partial(fit_bagging_svm, kernel="linear"), 1.0 if is_text else 0.2),
        Candidate("isvm", fit_isvm, 3.0 if is_text else 0.2),
    ]


def check_candidates(candidates: object) -> list[Candidate]:
    """Return the candidates that the user names."""
    if not isinstance(candidates, Mapping):
        raise TypeError(f"candidates must be a dict of names and what is fitted, got {describe(candidates)}")
    if not candidates:
        raise ValueError("candidates must hold at least one, got none")
    found = []
    for name, fit in candidates.items():
        if not isinstance(name, str):
            raise TypeError(f"candidates must be named by strings, got {describe(name)}")
        if isinstance(fit, type) or not (callable(fit) or _is_estimator(fit)):
            raise TypeError(
                f"candidates[{name!r}] must be a function fit(X, y), a functools.partial of one, or an estimator with "
                f"fit and decision_function or predict_proba, got {describe(fit)}"
            )
        found.append(Candidate(name, fit))
    return found


def with_weights(candidates: Iterable[Candidate], *, are_default: bool) -> list[Candidate]:
    """Return the candidates that take weights of rows; of those that the user names all must."""
    found = list(candidates)
    taken = [candidate for candidate in found if candidate.takes_weights]
    if not are_default and len(taken) < len(found):
        (without, *_) = (candidate.name for candidate in found if not candidate.takes_weights)
        raise TypeError(f"sample_weight must be None with candidates[{without!r}], which takes no weights of rows")
    return taken


def _is_estimator(fit: Any) -> bool:
    return callable(getattr(fit, "fit", None)) and any(
        callable(getattr(fit, name, None)) for name in ("decision_function", "predict_proba")
    )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class UserModel(Model, is_base=True):
    """What a function or an estimator of the user's has made; it can be pickled if that can, but not saved.

    Attributes
    ----------
    function : callable
        Returns the scores of rows.
    """

    function: Callable[..., Any]

    def _check_input(self, X: object, name: str) -> Any:  # noqa: ARG002 - the user's model reads what it is given
        return X

    def _decision_function(self, matrix: Any, n_threads: int) -> NDArray[np.float64]:  # noqa: ARG002
        source = f"scores of candidates[{self.params['method']!r}]"
        return check_vector(source, self.function(matrix), n=matrix.shape[0], inf="allow")


@dataclass(frozen=True)
class _Scores:
    """The scores of an object: its decision_function, or the probabilities of its last class."""

    scorer: Any

    def __call__(self, X: Any) -> Any:
        if callable(getattr(self.scorer, "decision_function", None)):
            return self.scorer.decision_function(X)
        return np.asarray(self.scorer.predict_proba(X))[:, -1]


def _user_model(name: str, scorer: Any, X: Any) -> UserModel:
    if not _scores(scorer):
        raise TypeError(f"candidates[{name!r}] must return a model with decision_function, got {describe(scorer)}")
    return UserModel(
        n_features=int(X.shape[1]),
        feature_names=None,
        threshold=0.0,
        n_iter=1,
        converged=True,
        status="fitted",
        objective=np.zeros(1),
        history={},
        params={"method": name},
        function=_Scores(scorer),
    )


def _scores(scorer: Any) -> bool:
    return any(callable(getattr(scorer, name, None)) for name in ("decision_function", "predict_proba"))
