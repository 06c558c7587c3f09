"""The model of a bagging SVM, and what callbacks are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu.common._types import LabelsLike
from fastpu.model._calibration import of_training_rows
from fastpu.model._cut import CutRows, unlabelled_rows
from fastpu.svm.kernel_machine import KernelMachine


@dataclass(frozen=True)
class BagRound:
    """One bag of a bagging SVM that is fitted, as a callback sees it.

    Attributes
    ----------
    bag, n_bags : int
        The number of this bag, from 1, and of the bags asked for.
    n_steps : int
        Steps that the solver of its SVM took.
    objective, gap, violation : float
        Dual objective, duality gap and largest KKT violation of its SVM at the end.
    """

    bag: int
    n_bags: int
    n_steps: int
    objective: float
    gap: float
    violation: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BaggingSVM(KernelMachine):
    """The mean of the SVMs of all bags, which is a kernel machine with the support vectors of any of them.

    Attributes
    ----------
    bags : ndarray of int64, shape (n_bags, K)
        Numbers of the unlabelled rows in each bag, repeats included.
    oob_decision_function : ndarray of float64, shape (n,)
        Out-of-bag scores of the training rows: for an unlabelled row the mean over the bags that it is not in. NaN for
        labelled rows, which are in every bag, and where an unlabelled row is in every bag too.
    oob_predict_proba : ndarray of float64, shape (n, 2)
        Probabilities by these scores, after `with_probabilities`.
    bag_intercepts : ndarray of float64, shape (n_bags,)
    support : ndarray of int64, shape (n_support,)
        Numbers of the rows of the training `X`, ascending, that are support vectors of any bag.
    dual_coef : ndarray of float64, shape (n_support,)
        The mean over the bags of alpha times the label.
    alpha : ndarray of float64, shape (n_support,)
        The absolute values of `dual_coef`.
    intercept : float
        The mean over the bags.
    coef : ndarray of float64, shape (n_features,), or None
        For the linear kernel: the mean of the coefficients of all bags.
    gap, violation : float
        The largest of any bag.
    n_iter : int
        Number of bags.
    status : str
        "tol" if the SVM of every bag met `tol`. "gap" if those that did not are within a duality gap of 1e-9 of the
        objective (linear kernel). Otherwise the status of the first SVM that is neither, "max_iter" or "precision", or
        "callback" if the callback ended the fit.
    objective : ndarray of float64, shape (n_bags,)
    history : mapping
        "n_steps", "objective", "gap" and "violation" of each bag.
    """

    bags: NDArray[np.int64]
    oob_decision_function: NDArray[np.float64]
    bag_intercepts: NDArray[np.float64]

    _ndim: ClassVar[Mapping[str, int]] = {**KernelMachine._ndim, "bags": 2}

    def _check_fields(self) -> None:
        super()._check_fields()
        if not len(self.bags) == self.bag_intercepts.size == self.n_iter:
            raise ValueError(f"a model of {self.n_iter} bags must have as many entries in bags and bag_intercepts")
        n_rows = self.oob_decision_function.size
        if self.bags.size and (self.bags.min() < 0 or self.bags.max() >= n_rows):
            raise ValueError(f"bags must hold row numbers in [0, {n_rows})")

    @property
    def oob_predict_proba(self) -> NDArray[np.float64]:
        """Probabilities of both classes for the training rows by their out-of-bag scores, NaN where a row has none.

        Like `predict_proba` it exists after `with_probabilities`; before that it raises AttributeError. Here
        `with_probabilities` needs rows that the model was not fitted to, because every bag has all labelled rows.
        """
        return of_training_rows(
            self.calibration, self.calibration_knots, self.calibration_values, self.oob_decision_function
        )

    def _out_of_bag(self) -> NDArray[np.float64]:
        return self.oob_decision_function

    def _rows_to_cut(self, y: LabelsLike | None) -> CutRows:
        scores = self.oob_decision_function
        if y is None:
            rows = ~np.isnan(scores)
            rows[self.bags.ravel()] = True  # an unlabelled row without a score is in every bag
        else:
            rows = unlabelled_rows(y, scores.size, None)
        return CutRows.out_of_bag(scores, rows)
