"""An SVM path: its fields, which are checked, since a file may hold anything, and the machine and scores at any lam."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._params import check_float
from fastpu.common._text import short
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import MatrixLike, VectorLike
from fastpu.data._kept_rows import RowArrays, check_kept_rows, kept_rows, row_arrays
from fastpu.data._matrix import Floats, Matrix
from fastpu.data._validate import check_vector, is_rising
from fastpu.kernels._expansion import KernelModel
from fastpu.kernels._kernel_values import kernel_values
from fastpu.kernels._shifted_rows import centred, linear_coef
from fastpu.model._scoring import refuse_nan_scores
from fastpu.model._with_profile import with_profile
from fastpu.svm.kernel_machine import KernelMachine

_EVENT_KINDS = ("start", "from_right", "from_left", "to_right", "to_left")
# Rows are cut into blocks as if each gave at least so many results: a block's results then stay in the CPU's cache.
_LEAST_WIDTH = 1 << 14


@dataclass(frozen=True)
class PathRound:
    """One breakpoint of a path, as a callback sees it.

    Attributes
    ----------
    n_breakpoints : int
        Breakpoints so far, this one included.
    n_events, max_events : int
        Events so far, those of this breakpoint included, and how many end the path.
    lam : float
        The lam of this breakpoint.
    n_margin : int
        The number of rows on the margin whose dual variables change below `lam`.
    objective : float
        What is minimised, at `lam`.
    """

    n_breakpoints: int
    n_events: int
    max_events: int
    lam: float
    n_margin: int
    objective: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PathPoints(KernelModel, is_base=True):
    """An SVM path, its knots as differences: the machine and the scores at any lam. `SVMPath` says what fields mean."""

    rows: NDArray[np.int64]
    labels: NDArray[np.int8]
    costs: NDArray[np.float64]
    heavier: int
    start_alpha: NDArray[np.float64]
    knots: NDArray[np.float64]
    offsets: NDArray[np.float64]
    change_start: NDArray[np.int64]
    change_row: NDArray[np.int32]
    change_alpha: NDArray[np.float64]
    event_knot: NDArray[np.int64]
    event_kind: NDArray[np.uint8]
    event_row: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    train_dense: NDArray[np.float64] | None = None
    train_data: NDArray[np.float64] | None = None
    train_indices: NDArray[np.int32] | None = None
    train_indptr: NDArray[np.int64] | None = None
    violation: float

    _ndim: ClassVar[Mapping[str, int]] = {"weights": 2, "train_dense": 2}

    def _check_fields(self) -> None:
        n, n_knots = self.rows.size, self.knots.size
        if n < 2 or not is_rising(self.rows, strictly=True) or self.rows[0] < 0:
            raise ValueError("rows must hold ascending row numbers")
        if any(array.size != n for array in (self.labels, self.costs, self.start_alpha)):
            raise ValueError(f"a path of {n} rows must have as many labels, costs and start_alpha")
        if not np.isin(self.labels, (-1, 1)).all() or self.heavier not in (-1, 0, 1):
            raise ValueError("labels must be 1 or -1, and heavier 1, 0 or -1")
        if not (self.costs > 0).all() or not ((self.start_alpha >= 0) & (self.start_alpha <= self.costs)).all():
            raise ValueError("costs must be > 0 and start_alpha between 0 and them")
        if self.offsets.size != n_knots or self.change_start.size != n_knots + (n_knots > 0):
            raise ValueError("offsets and change_start must have an entry for each knot")
        arrays = (self.knots, self.offsets, self.change_alpha, *(() if self.weights is None else (self.weights,)))
        if not all(np.isfinite(array).all() for array in arrays):
            raise ValueError("knots, offsets, weights and change_alpha must be finite")
        if self.weights is not None and (self.kernel != "linear" or self.weights.shape != (n_knots, self.n_features)):
            raise ValueError(f"weights must be those of a linear kernel, of shape {(n_knots, self.n_features)}")
        if n_knots and (not is_rising(-self.knots, strictly=True) or self.knots[-1] < 0 or self.knots[0] <= 0):
            raise ValueError("knots must fall, and none be below 0")
        if (n_knots == 0) != (self.status == "trivial") or (n_knots and self.status == "zero") != (
            n_knots > 0 and self.knots[-1] == 0
        ):
            raise ValueError("knots must be there, down to 0, as status says")
        norm = self.history.get("norm")
        if norm is None or norm.shape != self.lams.shape:
            raise ValueError(f"history must have an entry of 'norm' for each of {self.lams.size} breakpoints")
        lam_min = self.params.get("lam_min")
        if isinstance(lam_min, bool) or not isinstance(lam_min, float | int) or not 0 <= lam_min <= sys.float_info.max:
            raise ValueError(f"params must have a finite lam_min >= 0, got {short(lam_min)}")
        _check_positions(self)
        super()._check_fields()
        is_kept = self.kernel != "precomputed"
        otherwise = "training rows must be there in one form, but for the precomputed kernel"
        check_kept_rows(self, "train", (n, self.n_features), wanted=is_kept, otherwise=otherwise)
        if not is_kept and self.rows[-1] >= self.n_features:
            raise ValueError(f"rows must be < {self.n_features}, the number of training rows")

    # ------------------------------------------------------------------------------------------------ views

    @property
    def lams(self) -> NDArray[np.float64]:
        """The breakpoints, falling."""
        return self.knots[:-1] if self.knots.size and self.knots[-1] == 0 else self.knots

    @property
    def n_events(self) -> int:
        """The number of rows that arrived at the margin or left it, over all breakpoints."""
        return int(self.event_knot.size)

    @property
    def events(self) -> NDArray[Any]:
        """Record array of the events: lam, kind, row."""
        kinds = np.array(_EVENT_KINDS)
        fields = [("lam", np.float64), ("kind", kinds.dtype), ("row", np.int64)]
        records = np.empty(self.n_events, dtype=fields)
        records["lam"] = self.knots[self.event_knot]
        records["kind"] = kinds[self.event_kind]
        records["row"] = self.rows[self.event_row]
        return records

    @property
    def intercepts(self) -> NDArray[np.float64]:
        """The intercept at each breakpoint."""
        return self.offsets[: self.lams.size] / self.lams

    @property
    def coef(self) -> NDArray[np.float64] | None:
        """For the linear kernel the coefficients at each breakpoint, of shape (len(lams), n_features)."""
        if self.kernel != "linear":
            return None
        if self.weights is not None:
            return self.weights[: self.lams.size] / self.lams[:, None]
        train = centred(self.train())
        beta: Any = self.changes()[: self.lams.size] @ train.table()
        beta = np.asarray(beta.toarray() if sp.issparse(beta) else beta)
        first = linear_coef(train, np.arange(self.rows.size), self.start_alpha * self.labels)
        total: NDArray[np.float64] = (first + np.cumsum(beta, axis=0)) / self.lams[:, None]
        return total

    def train(self) -> Matrix:
        """Return the training rows, which a path with a precomputed kernel does not keep."""
        return kept_rows(self, "train")

    def changes(self) -> Any:
        """Return `knot_changes` of this path."""
        return knot_changes(self.start_alpha, self.labels, self.change_start, self.change_row, self.change_alpha)

    # ---------------------------------------------------------------------------------------- one solution

    def at(self, lam: float) -> KernelMachine:
        """Return the machine at `lam`, exact for every value.

        Parameters
        ----------
        lam : float
            > 0, and not below the last of `lams` unless `status` is "zero" or "trivial". The machine is the C-SVM with
            the costs C_i = c_i / lam, as `fit_svm` finds it. Below the last breakpoint only its `alpha` change, and
            `dual_coef` are those of that breakpoint: they give the same f with more digits.

        Returns
        -------
        KernelMachine
            Its `gap` is 0 and its `violation` that of the path, the largest.

        Raises
        ------
        TypeError, ValueError
            If `lam` is no such number.

        Notes
        -----
        O(changes up to lam), and a copy of the support vectors.
        """
        machine = self._machine_at(lam)
        return machine if self.kernel == "precomputed" else with_profile(machine, *self.rows_and_labels())

    def rows_and_labels(self) -> tuple[Any, NDArray[np.int8]]:
        """Return the training rows, which a path with a precomputed kernel does not keep, and their labels."""
        others = 0 if self.params["method"] == "fit_pu_svm_path" else -1
        return self.train().table(), np.where(self.labels > 0, np.int8(1), np.int8(others))

    def _machine_at(self, lam: float) -> KernelMachine:
        """Return the machine at `lam`, without a profile of the training rows."""
        lam = check_float("lam", lam, low=0, open_low=True)
        alpha, offset, value = self._solution(lam)
        seen, shown = self._seen(lam), alpha
        if seen > lam:
            shown, offset, _ = self._solution(seen)
        if not (math.isfinite(offset / seen) and math.isfinite(float(alpha.max(initial=0)) / lam)):
            raise ValueError(f"lam must be larger: the coefficients of the machine at this lam overflow, got {lam!r}")
        support = np.flatnonzero(alpha)
        dual_coef = shown[support] * self.labels[support] / seen
        coef, vectors = None, RowArrays[Floats]()
        if self.weights is not None:
            coef = self._along(self.weights, seen) / seen
        elif self.kernel == "linear":
            coef = linear_coef(centred(self.train()), support, dual_coef)
        elif self.kernel != "precomputed":
            vectors = row_arrays(self.train()[support])
        objective = np.array([value])
        history = {"objective": objective, "violation": np.array([self.violation])}
        return KernelMachine(
            n_features=self.n_features,
            feature_names=self.feature_names,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            function=self.function,
            coef=coef,
            support_dense=vectors.dense,
            support_data=vectors.data,
            support_indices=vectors.indices,
            support_indptr=vectors.indptr,
            support=self.rows[support],
            # Below the last breakpoint no alpha is smaller than there, but for rounding.
            alpha=np.maximum(alpha[support] / lam, np.abs(dual_coef)),
            dual_coef=dual_coef,
            intercept=offset / seen,
            threshold=self.threshold,
            threshold_rule=self.threshold_rule,
            n_iter=0,
            converged=True,
            status=self.status,
            objective=objective,
            history=history,
            params={**self.params, "lam": lam},
            gap=0.0,
            violation=self.violation,
            margin=1.0,
        )

    def _seen(self, lam: float) -> float:
        """Return the lam whose f is that at `lam`: the last breakpoint for what is below, if nothing changes there.

        Dividing sums that go to 0 with lam by lam itself would leave their rounding errors alone.
        """
        return max(lam, self.end) if self.knots.size and self.knots[-1] == 0 else lam

    def _solution(self, lam: float) -> tuple[NDArray[np.float64], float, float]:
        """Return a, a0 and the objective of the dual of the C-SVM at `lam`."""
        if not self.knots.size:
            return np.zeros(self.rows.size), self.heavier * lam, -float(self.start_alpha.sum()) / lam
        if lam >= self.knots[0]:
            alpha = self.start_alpha.copy()
            ratio = float(self.knots[0]) / lam
            offset = float(self.offsets[0]) + self.heavier * (lam - float(self.knots[0]))
            return alpha, offset, float(self.history["norm"][0]) * ratio * ratio / 2 - float(alpha.sum()) / lam
        if lam < self.knots[-1]:
            raise ValueError(
                f"lam must be >= {self.knots[-1]:.6g}, where the path ends with status {self.status!r}, got {lam!r}"
            )
        after, of_left, of_right = self._place(lam)
        upper, lower = self.alpha_at(after - 1), self.alpha_at(after)
        left, right = float(self.knots[after - 1]), float(self.knots[after])
        alpha = np.where(upper == lower, upper, np.minimum(of_left * upper + of_right * lower, self.costs))
        offset = of_left * float(self.offsets[after - 1]) + of_right * float(self.offsets[after])
        norms = self.history["norm"][after - 1 : after + 1].tolist()
        if after == self.lams.size:  # lam w goes to 0 on a straight line: w stays
            return alpha, offset, norms[0] / 2 - float(alpha.sum()) / lam
        # |w|^2 lam^2 is quadratic in lam, and its curvature is -(slope of sum a). Every term is divided by lam^2 in two
        # steps, since lam^2 itself may overflow or vanish.
        norms = [norm * (knot / lam) * (knot / lam) for norm, knot in zip(norms, (left, right), strict=True)]
        curvature = -(float(lower.sum()) - float(upper.sum())) / lam * ((left - right) / lam)
        norm = of_left * norms[0] + of_right * norms[1] - of_left * of_right * curvature
        if math.isnan(norm):  # |w|^2 overflows at one of the two knots
            norm = math.inf
        return alpha, offset, norm / 2 - float(alpha.sum()) / lam

    def _place(self, lam: float) -> tuple[int, float, float]:
        """Return the number of the next knot at or below `lam`, and the shares of the knot above and of this one.

        The shares sum to 1, and each has all its digits, however small it is.
        """
        after = int(np.searchsorted(-self.knots, -lam))
        left, right = float(self.knots[after - 1]), float(self.knots[after])
        return after, (lam - right) / (left - right), (left - lam) / (left - right)

    def _along(self, values: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        """Return the value at `lam` of a function with these values at the knots: linear between, constant above."""
        if lam >= self.knots[0]:
            first: NDArray[np.float64] = values[0]
            return first
        after, of_left, of_right = self._place(lam)
        between: NDArray[np.float64] = of_left * values[after - 1] + of_right * values[after]
        return between

    def alpha_at(self, knot: int) -> NDArray[np.float64]:
        """Return the dual variable a of each training row at a knot, by the number of the knot."""
        alpha: NDArray[np.float64] = self.start_alpha.copy()
        stop = int(self.change_start[knot + 1])
        alpha[self.change_row[:stop]] = self.change_alpha[:stop]  # if a row is repeated, its last value counts
        return alpha

    @property
    def end(self) -> float:
        """The last breakpoint, below which f is constant or unknown; 1 for a trivial path."""
        return float(self.lams[-1]) if self.lams.size else 1.0

    # ------------------------------------------------------------------------------------------- scores

    def _decision_function(self, matrix: Matrix, n_threads: int) -> NDArray[np.float64]:
        # The machine is one of our own classes, so that its method for checked matrices can be called.
        return self._machine_at(self.end)._decision_function(matrix, n_threads)

    def scores(self, X: MatrixLike, lams: VectorLike, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return f(x) of the rows of `X` at several lam.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
        lams : array-like of shape (n_lams,)
            Numbers > 0 in any order, none of them below the last of `lams` unless `status` is "zero" or "trivial".
        n_threads : int, optional
            The most threads to use; by default the CPUs that this process may use.

        Returns
        -------
        ndarray of shape (n, n_lams)

        Notes
        -----
        O(n (n_train d + changes)) in all, however many lams there are; `decision_function` of ``at(lam)`` is cheaper
        for one.
        """
        values = check_vector("lams", [lams] if _is_number(lams) else lams)
        wanted = [check_float("lams", lam, low=0, open_low=True) for lam in values.tolist()]
        matrix, threads = self._check_input(X, "X"), resolve_n_threads(n_threads)
        result: NDArray[np.float64] = np.empty((matrix.n_rows, len(wanted)))
        if not self.knots.size:
            result[:] = self.heavier
            return result
        for rows, values in self.knot_values(matrix, threads):
            for column, lam in enumerate(map(self._seen, wanted)):
                if lam < self.knots[-1]:
                    raise ValueError(f"lams must be >= {self.knots[-1]:.6g}, where the path ends, got {lam!r}")
                above = self.heavier * max(0.0, lam - float(self.knots[0]))
                result[rows, column] = (self._along(values, lam) + above) / lam
        return refuse_nan_scores(result, "X")

    def knot_values(self, matrix: Matrix, n_threads: int) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield lam f(x) at every knot, of shape (number of knots, rows in the block), for blocks of checked rows."""
        if self.weights is not None:
            for block in matrix.blocks(max(1, self.knots.size)):
                rows = matrix[block].table()
                if matrix.is_sparse:
                    products = np.asarray((rows @ self.weights.T).T)
                else:
                    products = np.einsum("kj,ij->ki", self.weights, rows)
                yield block, products + self.offsets[:, None]
            return
        changes, first = self.changes(), self.start_alpha * self.labels
        train = None if self.kernel == "precomputed" else self.train()
        if train is not None and self.kernel == "linear":
            train = centred(train)
        for block in matrix.blocks(max(_LEAST_WIDTH, self.rows.size, self.knots.size)):
            rows = matrix[block]
            if train is None:
                K = np.ascontiguousarray(rows.table()[:, self.rows].T, dtype=np.float64)
            else:
                K = kernel_values(self._kernel, train, rows.convert(train.dtype, sparse=train.is_sparse), n_threads)
            values = np.cumsum(changes @ K, axis=0)
            yield block, values + np.einsum("i,ij->j", first, K) + self.offsets[:, None]


# ---------------------------------------------------------------------------------------------- the fields


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and value.ndim == 0)


def _check_positions(path: PathPoints) -> None:
    starts, n, n_knots = path.change_start, path.rows.size, path.knots.size
    if n_knots and (starts[0] != 0 or not is_rising(starts) or starts[-1] != path.change_row.size):
        raise ValueError("change_start must rise from 0 to the number of changes")
    if path.change_alpha.size != path.change_row.size:
        raise ValueError("change_row and change_alpha must have as many entries")
    sizes = {path.event_knot.size, path.event_kind.size, path.event_row.size}
    if len(sizes) != 1:
        raise ValueError("event_knot, event_kind and event_row must have as many entries")
    bounds = (
        ("change_row", path.change_row, n),
        ("event_row", path.event_row, n),
        ("event_knot", path.event_knot, n_knots),
        ("event_kind", path.event_kind, len(_EVENT_KINDS)),
    )
    for name, values, bound in bounds:
        if values.size and not (int(values.min()) >= 0 and int(values.max()) < bound):
            raise ValueError(f"{name} must be in [0, {bound})")


def knot_changes(
    start_alpha: NDArray[np.float64],
    labels: NDArray[np.int8],
    change_start: NDArray[np.int64],
    change_row: NDArray[np.int32],
    change_alpha: NDArray[np.float64],
) -> Any:
    """Return the change of y a up to each knot from the one before, as a CSR array (number of knots, n)."""
    order = np.argsort(change_row, kind="stable")
    sorted_rows, values = change_row[order], change_alpha[order]
    before = np.empty_like(values)
    before[1:] = values[:-1]
    first = np.ones(values.size, dtype=np.bool_)
    first[1:] = sorted_rows[1:] != sorted_rows[:-1]
    before[first] = start_alpha[sorted_rows[first]]
    change: NDArray[np.float64] = np.empty_like(values)
    change[order] = (values - before) * labels[sorted_rows]
    shape = (change_start.size - 1, start_alpha.size)
    return sp.csr_array((change, change_row.astype(np.int64), change_start), shape=shape)
