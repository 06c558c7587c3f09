"""The model of mapping convergence: the last boundary, the fate of every unlabelled row, and a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_int
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import MatrixLike
from fastpu.data._kept_rows import RowArrays, check_kept_rows, kept_rows, row_arrays
from fastpu.data._matrix import Floats, stacked
from fastpu.data._validate import is_rising
from fastpu.kernels._shifted_rows import linear_coef
from fastpu.model._scoring import refuse_nan_scores
from fastpu.svm.kernel_machine import KernelMachine

_SOLVER = ("objective", "gap", "violation", "margin")  # what the history says of the SVM of a boundary


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MappingMachine(KernelMachine):
    """The last SVM of mapping convergence, what became of every unlabelled row, and a record of each iteration.

    The attributes of `KernelMachine` (support, dual_coef, intercept, kernel, gap, violation, ...) are those of the
    SVM that was kept. The following ones are new, or mean something else here.

    Attributes
    ----------
    unlabeled_rows : ndarray of int64, shape (n_unl,)
        Numbers of the unlabelled rows of the training `X`, ascending.
    rejected_by : ndarray of int64, shape (n_unl,)
        The iteration whose boundary first rejected each of them, 0 for the mapping; -1 for rows never rejected.
    used_fallback : bool
        Whether the mapping rejected nothing, or everything, and the 5 % of U with its lowest scores were taken.
    n_iter : int
        Number of iterations up to the boundary that was kept, each one SVM; 0 if only the mapping is left.
    status : str
        "converged" (a boundary rejected nothing new), "max_pos_reject" (it rejected too many positives, and the one
        before it was kept), "max_iter" or "callback".
    converged : bool
        Whether status is "converged" or "max_pos_reject", and every SVM met its `tol`.
    objective : ndarray of float64, shape (n_iter,)
        Dual objective of the SVM of each iteration.
    history : mapping
        The log, with an entry for the mapping and one for each iteration that was run:
        "kind" (0 mapping, 1 convergence, 2 repair), "n_neg" (rows in N), "n_new" (rows rejected for the first time),
        "n_left" (rows never rejected so far), "n_back" (forgotten negatives that then went back into N),
        "n_support_pos" and "n_support_neg", "pos_reject" (share of the labelled positives that are rejected, of the
        held-out ones if there are any), "puf" (recall^2 / share of U that is left, with the recall 1 - pos_reject),
        "fit_time" and "score_time" in seconds; "n_steps", "objective", "gap", "violation" and "margin" of the SVM; "nu"
        (after clipping) if the SVMs are nu-SVMs.
    boundary_starts : ndarray of int64, shape (n_boundaries + 1,)
        Boundary i, of the mapping (0) and of each iteration, has the entries from boundary_starts[i] to before
        boundary_starts[i + 1] of the next two arrays.
    boundary_support : ndarray of int64
        Numbers of its support vectors among the rows of the training `X`.
    boundary_coefs : ndarray of float64
        Their coefficients.
    boundary_intercepts : ndarray of float64, shape (n_boundaries,)
    other_rows : ndarray of int64
        Support vectors of earlier boundaries that are not in `support_vectors`, each once. For the linear kernel: the
        support vectors of all boundaries. For a precomputed kernel: none.
    other_dense, other_data, other_indices, other_indptr : ndarray or None
        Their rows: the first array if dense, the others for CSR.
    """

    unlabeled_rows: NDArray[np.int64]
    rejected_by: NDArray[np.int64]
    used_fallback: bool
    boundary_starts: NDArray[np.int64]
    boundary_support: NDArray[np.int64]
    boundary_coefs: NDArray[np.float64]
    boundary_intercepts: NDArray[np.float64]
    other_rows: NDArray[np.int64]
    other_dense: NDArray[np.float32] | NDArray[np.float64] | None = None
    other_data: NDArray[np.float32] | NDArray[np.float64] | None = None
    other_indices: NDArray[np.int32] | None = None
    other_indptr: NDArray[np.int64] | None = None

    _ndim: ClassVar[Mapping[str, int]] = {**KernelMachine._ndim, "other_dense": 2}

    # ------------------------------------------------------------------------------------------- the fields

    def _check_fields(self) -> None:
        super()._check_fields()
        if self.rejected_by.size != self.unlabeled_rows.size:
            raise ValueError("rejected_by must have an entry for each of unlabeled_rows")
        if self.n_iter >= len(self.history.get("kind", ())):
            raise ValueError(f"history must have an entry for the mapping and for each of {self.n_iter} iterations")
        n_boundaries = self.boundary_intercepts.size
        starts = self.boundary_starts
        shapes = [getattr(self.history.get(name), "shape", None) for name in ("kind", "n_steps", *_SOLVER)]
        if set(shapes) != {(n_boundaries,)} or starts.size != n_boundaries + 1:
            raise ValueError(f"history and boundary_starts must fit {n_boundaries} boundaries")
        if not isinstance(self.params.get("tol"), float | int):
            raise ValueError("params must have the number tol")
        if starts[0] != 0 or not is_rising(starts) or starts[-1] != self.boundary_support.size:
            raise ValueError("boundary_starts must rise from 0 to the size of boundary_support")
        if self.boundary_coefs.size != self.boundary_support.size or not np.isfinite(self.boundary_coefs).all():
            raise ValueError("boundary_coefs must have a finite entry for each of boundary_support")
        if not np.isfinite(self.boundary_intercepts).all():
            raise ValueError("boundary_intercepts must be finite")
        is_kept = self.kernel != "precomputed"
        otherwise = "rows of other support vectors must be there in one form, but for a precomputed kernel"
        shape = self.other_rows.size, self.n_features
        check_kept_rows(self, "other", shape, wanted=is_kept, otherwise=otherwise)
        if is_kept and self.kernel != "linear" and (self.other_dense is None) != (self.support_dense is None):
            raise ValueError("support vectors and the other ones must have the same form")
        if is_kept and not np.isin(self.boundary_support, self._pool_rows()).all():
            raise ValueError("boundary_support must hold support vectors that are kept")

    # ------------------------------------------------------------------------------------------- boundaries

    @property
    def unlabeled_set(self) -> NDArray[np.int64]:
        """+1 for each of `unlabeled_rows` that was never rejected, -1 for the others.

        These labels can differ from the signs of `decision_function`, for the last boundary may call a row positive
        that an earlier one rejected. With SVMC and ``repair=False`` that is frequent.
        """
        signs: NDArray[np.int64] = np.where(self.rejected_by < 0, np.int64(1), np.int64(-1))
        return signs

    def at(self, iteration: int) -> KernelMachine:
        """Return the boundary of an iteration (0 for the mapping) as a model of its own.

        Parameters
        ----------
        iteration : int
            Position in `history`, where ``model.at(model.n_iter)`` is the boundary that `model` itself has.

        Returns
        -------
        KernelMachine
            Its status is "tol", or "unfinished" if its SVM did not meet that.

        Raises
        ------
        TypeError, ValueError
            If there is no such iteration.
        """
        i = check_int("iteration", iteration, low=0, high=self.boundary_intercepts.size - 1)
        entries = slice(int(self.boundary_starts[i]), int(self.boundary_starts[i + 1]))
        support, coefs = self.boundary_support[entries], self.boundary_coefs[entries]
        tol: Any = self.params["tol"]
        violation = float(self.history["violation"][i])
        is_met = violation <= tol
        coef, vectors = self._kept_of(support, coefs)
        return KernelMachine(
            n_features=self.n_features,
            feature_names=self.feature_names,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            function=self.function,
            threshold=0.0,
            n_iter=int(self.history["n_steps"][i]),
            converged=is_met,
            status="tol" if is_met else "unfinished",
            objective=np.array([float(self.history["objective"][i])]),
            history={},
            params={**self.params, "iteration": i},
            support=support,
            alpha=np.abs(coefs),
            dual_coef=coefs,
            intercept=float(self.boundary_intercepts[i]),
            gap=float(self.history["gap"][i]),
            violation=violation,
            margin=float(self.history["margin"][i]),
            coef=coef,
            support_dense=vectors.dense,
            support_data=vectors.data,
            support_indices=vectors.indices,
            support_indptr=vectors.indptr,
        )

    def staged_decision_function(self, X: MatrixLike, *, n_threads: int | None = None) -> Iterator[NDArray[np.float64]]:
        """Yield the scores of the rows of `X` by the boundary of the mapping, then by that of each iteration.

        The order is that of `history`. Parameters and errors are those of `decision_function`, and each array costs as
        much as one call of it.
        """
        threads = resolve_n_threads(n_threads)
        matrix = self._check_input(X, "X")
        boundaries = map(self.at, range(self.boundary_intercepts.size))
        return (refuse_nan_scores(boundary._decision_function(matrix, threads), "X") for boundary in boundaries)

    def _kept_of(
        self, support: NDArray[np.int64], coefs: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64] | None, RowArrays[Floats]]:
        """Return the coefficients of a machine with these support vectors, if it is linear, else their rows."""
        if self.kernel == "precomputed":
            return None, RowArrays()
        pool_rows = self._pool_rows()
        order = np.argsort(pool_rows)
        places = order[np.searchsorted(pool_rows, support, sorter=order)]
        if self.kernel == "linear":
            return linear_coef(kept_rows(self, "other"), places, coefs), RowArrays()
        return None, row_arrays(stacked([kept_rows(self, "support"), kept_rows(self, "other")])[places])

    def _pool_rows(self) -> NDArray[np.int64]:
        """Return the numbers of all rows that are kept, those of `support_vectors` first."""
        return self.other_rows if self.kernel == "linear" else np.concatenate([self.support, self.other_rows])
