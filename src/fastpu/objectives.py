"""Losses for positive and unlabelled rows as custom objectives of LightGBM, XGBoost and CatBoost.

Each function returns an `Objective`, which is passed where these libraries take a function of the user. F stands for
their raw scores. An objective gives them the derivatives of its loss times the number of rows, or the sum of the
weights if rows have weights. So parameters of the libraries, such as the least sum of Hessians of a leaf, mean what
they mean for other losses.
"""

from __future__ import annotations

import sys
import weakref
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastpu import _core
from fastpu.common._frozen import set_fields
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float
from fastpu.common._text import describe, short
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, Scenario, VectorLike
from fastpu.data._coding import apply_codes, read_labels
from fastpu.data._validate import check_sample_weight
from fastpu.metrics import auc
from fastpu.model._prior import PriorEstimate, prior_by_labels, take_prior_in

__all__ = ["Objective", "logistic", "pnu_auc", "upu"]


def __dir__() -> list[str]:
    return __all__


_INFO = {info.name: info for info in _core.tree_losses()}
_ROWS_OF_A_THREAD = 4_000_000


@dataclass(frozen=True)
class _PnuAuc:
    """The loss of `pnu_auc` and its parameter."""

    gamma: float
    name: ClassVar[str] = "pnu_auc"

    def __post_init__(self) -> None:
        set_fields(self, gamma=check_float("gamma", self.gamma, low=0, high=1))

    def for_core(
        self,
        codes: NDArray[np.int8],  # noqa: ARG002 - the parameters of this loss depend on no rows
        weights: NDArray[np.float64] | None,  # noqa: ARG002
    ) -> _core.TreeLossOptions:
        return _core.TreeLossOptions(loss=self.name, gamma=self.gamma)


@dataclass(frozen=True)
class _Logistic:
    """The loss of `logistic`, which has no parameter."""

    name: ClassVar[str] = "logistic"

    def for_core(
        self,
        codes: NDArray[np.int8],  # noqa: ARG002
        weights: NDArray[np.float64] | None,  # noqa: ARG002
    ) -> _core.TreeLossOptions:
        return _core.TreeLossOptions(loss=self.name)


@dataclass(frozen=True)
class _Upu:
    """The loss of `upu` and its parameters; `prior` is that of the scenario, and checked."""

    prior: float
    scenario: str
    name: ClassVar[str] = "upu"

    def for_core(self, codes: NDArray[np.int8], weights: NDArray[np.float64] | None) -> _core.TreeLossOptions:
        among_unlabeled = prior_by_labels(self.prior, self.scenario, codes, weights)
        return _core.TreeLossOptions(loss=self.name, prior=among_unlabeled)


_Loss: TypeAlias = _PnuAuc | _Logistic | _Upu


class Objective:
    """A loss in the form that LightGBM, XGBoost and CatBoost take; made by the functions of this module.

    ===========================================  ==================================================================
    ``lightgbm.train``, ``lightgbm.cv``          ``params["objective"]``, and `metric` as ``feval``
    ``LGBMRegressor``, ``LGBMClassifier``        ``objective``, and `metric` as ``eval_metric`` of ``fit``
    ``xgboost.train``, ``xgboost.cv``            ``obj``, and `metric` as ``custom_metric``
    ``XGBRegressor``, ``XGBClassifier``          ``objective``, and `fastpu.metrics.auc` as ``eval_metric``
    ``CatBoost``, ``CatBoostRegressor``          ``loss_function``; `logistic` and `upu` alone
    ===========================================  ==================================================================

    Rows have the weights of the library's data set. An objective pickles. Its deep copy is the object itself.

    Attributes
    ----------
    name : str
        The name of the function that made the objective.
    y : ndarray of int8, or None
        The labels (+1, 0, -1) of the rows that the objective belongs to, or None if it belongs to no rows.
    params : dict
        The parameters of the loss: `gamma` of `pnu_auc`, `prior` and `scenario` of `upu`.
    """

    no_jit = True  # CatBoost looks for it, and would compile the methods of Python otherwise

    def __init__(self, loss: _Loss, y: LabelsLike | None, n_threads: int | None):
        self.name = loss.name
        self.params: dict[str, Any] = asdict(loss)
        self._loss = loss
        self.y = None if y is None else self._codes(y, "y")
        self._n_threads = None if n_threads is None else resolve_n_threads(n_threads)
        self._last: _BoundRows | None = None
        self._checked: weakref.ref[Any] | None = None

    def __repr__(self) -> str:
        parts = [] if self.y is None else [f"y of {self.y.size} rows"]
        parts += [f"{name}={short(value)}" for name, value in self.params.items() if value != "case_control"]
        return f"{self.name}({', '.join(parts)})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None, "_checked": None}

    def __deepcopy__(self, memo: object) -> Objective:
        return self

    def __call__(
        self, first: Any, second: Any, sample_weight: VectorLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gradient and the Hessian of every row, for (scores, data set) or (labels, scores, weights).

        Raises
        ------
        ValueError
            If the rows are not those of `y`, a score is not finite, or a group that the loss needs has no row.

        Notes
        -----
        O(n). In XGBoost's distributed training every worker has rows of its own, and sums go over the rows of all.
        """
        # The labels of a data set only show whether it has the rows of y: one check of a data set is enough.
        was_checked = self.y is not None and self._checked is not None and self._checked() is second
        labels, scores, weights = _read_call(first, second, sample_weight, wants_labels=not was_checked)
        collective = _collective_of(second)
        if collective is not None and isinstance(self._loss, _Upu) and self._loss.scenario == "single_set":
            raise ValueError(
                f"scenario must be 'case_control' for {self.name} in distributed training, where no worker knows how "
                f"many rows there are, got 'single_set'; pass the share of positives among the unlabelled rows as prior"
            )
        threads = self._threads_for(scores.size)
        core = self._rows(labels, scores.size, weights).core
        if hasattr(second, "get_label"):
            self._checked = weakref.ref(second)
        if collective is None:
            return core.derive_alone(scores, threads)
        tops = collective.allreduce(core.tops(scores, threads), collective.Op.MAX)
        sums = collective.allreduce(core.sums(scores, tops, threads), collective.Op.SUM)
        return core.derive(scores, tops, sums, threads)

    def metric(
        self, first: Any, second: Any, sample_weight: VectorLike | None = None
    ) -> tuple[str, float] | tuple[str, float, bool]:
        """Return the AUC of the positive rows of any data set against its labelled negatives, or its unlabelled rows.

        Unlabelled rows count if no row is labelled negative. The form is that of the library: ("auc", value) for
        XGBoost, ("auc", value, True) for LightGBM.
        """
        labels, scores, weights = _read_call(first, second, sample_weight)
        if labels is None:
            raise ValueError("the data set must have labels for a metric, got none")
        codes = apply_codes(read_labels(labels, "label"), "label")
        judged = codes != 0 if np.any(codes == -1) else np.ones(codes.size, dtype=bool)
        kept = None if weights is None else np.asarray(weights)[judged]
        value = auc(codes[judged] == 1, scores[judged], sample_weight=kept)
        return ("auc", value) if _is_of(second, "xgboost") else ("auc", value, True)

    def calc_ders_range(
        self, approxes: ArrayLike, targets: ArrayLike, weights: VectorLike | None
    ) -> NDArray[np.float64]:
        """Return the negative derivatives of some of the rows of `y`, for CatBoost.

        Raises
        ------
        ValueError
            For `pnu_auc`: its derivatives need the scores of all rows, and CatBoost calls this for some rows at a time.
            For the same reason the objective must have been given `y`, and rows must have no weights.
        """
        if not _INFO[self.name].is_by_row:
            by_row = [name for name in __all__ if name in _INFO and _INFO[name].is_by_row]
            raise ValueError(
                f"CatBoost calls an objective for some rows at a time, and {self.name} needs the scores of all rows; "
                f"use {' or '.join(by_row)}, or another library"
            )
        if self.y is None:
            raise ValueError(
                f"{self.name} must be given y for CatBoost, which calls an objective for some rows at a time"
            )
        if weights is not None:
            raise ValueError(
                f"{self.name} takes no weights in CatBoost, because it would need those of all rows at once"
            )
        tops, sums = self._rows(None, self.y.size, None).of_zeros
        options = self._loss.for_core(self.y, None)
        core = _core.TreeLoss((np.asarray(targets) > 0).astype(np.int8), None, options, n_threads=1)
        return -np.column_stack(core.derive(np.array(approxes, dtype=np.float64), tops, sums, 1))

    def _codes(self, labels: object, name: str) -> NDArray[np.int8]:
        codes = apply_codes(read_labels(labels, name), name)
        if not _INFO[self.name].takes_negatives and np.any(codes == -1):
            raise ValueError(
                f"{name} must hold +1 (positive) and 0 (unlabelled) for {self.name}, got -1; if that means unlabelled, "
                f"pass fastpu.as_labels(y, unlabeled=-1), and for labelled negatives use pnu_auc"
            )
        return codes

    def _rows(self, labels: Any, n_scores: int, weights: Any) -> _BoundRows:
        """Return the rows of a call; those of the last call are used again if labels and weights are the same.

        The last call may be another thread's: with `y` its rows have the same labels, and weights are compared.
        """
        rows = self._last
        if rows is not None and labels is None and self.y is not None:
            labels = rows.labels
        if rows is None or not rows.were_made_from(labels, weights):
            # Copies, as the caller may change them between calls.
            labels, weights = (None if values is None else np.array(values) for values in (labels, weights))
            codes = self.y
            if codes is None:
                if labels is None:
                    raise ValueError(f"the data set must have labels, or {self.name} must be given y")
                codes = self._codes(labels, "label")
            elif labels is not None and np.size(labels) == codes.size == n_scores:
                _check_same_order(codes, labels)
            checked = check_sample_weight(weights, codes.size) if n_scores == codes.size else None
            options = self._loss.for_core(codes, checked)
            core = _core.TreeLoss(codes, checked, options, n_threads=self._threads_for(codes.size))
            rows = _BoundRows(core, codes.size, labels, weights)
        if n_scores != rows.n:
            hint = "; leave y out to take the labels of every data set" if self.y is not None else ""
            raise ValueError(f"{self!r} must be called for {rows.n} rows, got {n_scores}{hint}")
        self._last = rows
        return rows

    def _threads_for(self, n_rows: int) -> int:
        """Return the number of threads: the libraries' own keep the CPUs for some milliseconds after a tree."""
        if self._n_threads is not None:
            return self._n_threads
        return min(resolve_n_threads(None), 1 + n_rows // _ROWS_OF_A_THREAD)


@dataclass
class _BoundRows:
    """The rows of a call in the core, and the labels and weights from which they were made."""

    core: _core.TreeLoss
    n: int
    labels: Any
    weights: Any

    def were_made_from(self, labels: Any, weights: Any) -> bool:
        pairs = ((self.labels, labels), (self.weights, weights))
        return all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in pairs)

    @cached_property
    def of_zeros(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The tops and sums for scores of 0, which are enough for losses that only need the groups' weights."""
        scores = np.zeros(self.n)
        tops = self.core.tops(scores, 1)
        return tops, self.core.sums(scores, tops, 1)


def _is_of(data: object, package: str) -> bool:
    return type(data).__module__.partition(".")[0] == package


def _read_call(
    first: Any, second: Any, sample_weight: object, *, wants_labels: bool = True
) -> tuple[Any, NDArray[np.floating], Any]:
    """Return labels, scores and weights from (scores, data set) or (labels, scores, weights)."""
    if hasattr(second, "get_label"):
        labels, scores, weights = second.get_label() if wants_labels else None, first, second.get_weight()
    else:
        labels, scores, weights = first, second, sample_weight
    if labels is not None and np.size(labels) == 0:  # XGBoost has an empty array where there are none
        labels = None
    if weights is not None and np.size(weights) == 0:
        weights = None
    if np.ndim(scores) != 1:
        raise ValueError(
            f"scores must be one-dimensional, got {describe(scores)}; for labels of three kinds use lightgbm.train, "
            f"xgboost.train, or a regressor"
        )
    kind = np.float32 if getattr(scores, "dtype", None) == np.float32 else np.float64  # XGBoost's are float32
    return labels, np.require(scores, dtype=kind, requirements=["C", "A"]), weights


def _collective_of(data: object) -> Any:
    """Return XGBoost's module for sums over workers in its distributed training, else None."""
    collective = sys.modules.get("xgboost.collective")
    if collective is None or _is_of(data, "lightgbm") or not collective.is_distributed():
        return None
    return collective


def _check_same_order(codes: NDArray[np.int8], labels: NDArray[Any]) -> None:
    """Refuse a data set whose labels are not those of y in their order; classifiers number them anew."""
    kinds, ranks = np.unique(np.nan_to_num(labels), return_inverse=True)  # NaN is unlabelled, as 0 is
    expected, ranks_in_y = np.unique(codes, return_inverse=True)
    listed = f"{short(kinds.tolist())} there and {short(expected.tolist())} in y"
    if kinds.size != expected.size:
        raise ValueError(
            f"the data set must have the labels of y, but the labels are {listed}; make both of the same labels, or "
            f"leave y out to take those of the data set"
        )
    differs = ranks != ranks_in_y
    if np.any(differs):
        row = int(np.argmax(differs))
        coded = "" if np.array_equal(kinds, expected) else f" (the labels are {listed}, in this order)"
        raise ValueError(
            f"the data set must have the rows of y in the same order, but row {row} has the label {short(labels[row])} "
            f"there and {codes[row]} in y{coded}"
        )


@answers_unknown_keywords
def pnu_auc(y: LabelsLike | None = None, *, gamma: float = 0.5, n_threads: int | None = None) -> Objective:
    r"""Return the AUC's exponential loss from positive, unlabelled and, if any, labelled negative rows.

    The loss is log R, R = gamma A_P B_N + (1 - gamma)/2 (A_P B_U + A_U B_N), where A_G and B_G are the means of e^-F
    and of e^F over group G. If one of the groups has no rows, R is the product of the means of the other two. No prior
    is needed.

    Parameters
    ----------
    y : array-like of shape (n,), optional
        Labels: +1 for labelled positive rows, 0 for unlabelled rows, -1 for labelled negative rows. Booleans and {1, 0}
        mean positive and unlabelled. The objective then belongs to these rows. By default the labels are those of the
        data set that the library trains on, which cross-validation needs.
    gamma : float, default 0.5
        The weight, in [0, 1], of pairs of a positive and a labelled negative row; pairs with an unlabelled row have the
        rest. It has no effect if one of the three groups has no rows.
    n_threads : int, optional
        The number of threads, >= 1. By default one, and one more for every four million rows, because the threads of
        LightGBM and XGBoost hold the CPUs for some milliseconds after each tree.

    Returns
    -------
    Objective
        The loss, to be passed where the library takes a custom objective; `Objective` has the table.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names it.

    Notes
    -----
    O(n) for each tree. Hessians are those of R, divided by R, which makes them positive.

    References
    ----------
    The loss is that of `fastpu.fit_pnu_auc_boost`.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> from fastpu import metrics, objectives
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, 0], [100, 900])
    >>> X = rng.normal(size=(1000, 5)) + 0.7 * y[:, None]
    >>> objective = objectives.pnu_auc(y)
    >>> params = {"objective": objective, "num_leaves": 8, "num_threads": 1, "verbosity": -1}
    >>> model = lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=30)
    >>> bool(metrics.auc(y, model.predict(X)) > 0.9)
    True
    """
    return Objective(_PnuAuc(gamma), y, n_threads)


@answers_unknown_keywords
def logistic(y: LabelsLike | None = None, *, n_threads: int | None = None) -> Objective:
    """Return the logistic loss of positive against unlabelled rows, each group of the same total weight.

    The loss is mean_P log(1 + e^-F) + mean_U log(1 + e^F). The function that minimises it is the logarithm of the ratio
    of the densities of P and U.

    Parameters
    ----------
    y : array-like of shape (n,), optional
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. The objective then belongs to these rows. By
        default the labels are those of the data set that the library trains on, which cross-validation needs.
    n_threads : int, optional
        The number of threads, >= 1. By default one, and one more for every four million rows, because the threads of
        LightGBM and XGBoost hold the CPUs for some milliseconds after each tree.

    Returns
    -------
    Objective
        The loss, to be passed where the library takes a custom objective; `Objective` has the table.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names the argument.

    Notes
    -----
    O(n) for each tree.

    Examples
    --------
    >>> from fastpu import objectives
    >>> gradient, hessian = objectives.logistic([1, 0, 0])([1, 0, 0], [0.0, 0.0, 0.0])
    >>> gradient, hessian
    (array([-1.5 ,  0.75,  0.75]), array([0.75 , 0.375, 0.375]))
    """
    return Objective(_Logistic(), y, n_threads)


@answers_unknown_keywords
def upu(
    y: LabelsLike | None = None,
    *,
    prior: float | PriorEstimate,
    scenario: Scenario = "case_control",
    n_threads: int | None = None,
) -> Objective:
    """Return the logistic loss of uPU, an unbiased estimate of the risk of a classifier.

    The loss is prior mean_P (-F) + mean_U log(1 + e^F).

    Parameters
    ----------
    y : array-like of shape (n,), optional
        Labels: +1 for labelled positive rows, 0 for unlabelled rows. The objective then belongs to these rows. By
        default the labels are those of the data set that the library trains on, which cross-validation needs.
    prior : float or PriorEstimate
        The share of positives, P(Y = 1), in (0, 1): among the unlabelled rows or, with ``scenario="single_set"``, among
        all rows.
    scenario : {"case_control", "single_set"}, default "case_control"
        Which rows `prior` is the share of positives of. "case_control": of the unlabelled rows, which are a sample of
        the population. "single_set": of all rows, because they are one sample and some of its positives were labelled.
        That share is converted by the rows of each call and their weights. XGBoost's distributed training refuses
        "single_set", because a worker does not know how many rows the others have.
    n_threads : int, optional
        The number of threads, >= 1. By default one, and one more for every four million rows, because the threads of
        LightGBM and XGBoost hold the CPUs for some milliseconds after each tree.

    Returns
    -------
    Objective
        The loss, to be passed where the library takes a custom objective; `Objective` has the table.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. The message names the argument.

    Notes
    -----
    O(n) for each tree.
    Positive rows have no Hessian, so only the ridge of the library limits the value of a leaf of positive rows alone.
    Keep the least sum of Hessians of a leaf above 0.

    References
    ----------
    du Plessis, Niu and Sugiyama (2015), "Convex formulation for learning from positive and unlabeled data", ICML.

    Examples
    --------
    >>> import catboost, numpy as np
    >>> from fastpu import metrics, objectives
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, 0], [100, 900])
    >>> X = rng.normal(size=(1000, 5)) + 0.7 * y[:, None]
    >>> params = {"iterations": 50, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    >>> params |= {"loss_function": objectives.upu(y, prior=0.2), "eval_metric": "AUC"}
    >>> model = catboost.CatBoostRegressor(**params).fit(X, y)
    >>> bool(metrics.auc(y, model.predict(X)) > 0.85)
    True
    """
    share, drawn_as = take_prior_in(scenario, prior)
    return Objective(_Upu(share, drawn_as), y, n_threads)
