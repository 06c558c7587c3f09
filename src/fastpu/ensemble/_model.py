"""The model of an ensemble: the weighted mean of standardised scores of several models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastpu.data._categories import check_kept
from fastpu.data._frames import frame_kind
from fastpu.data._matrix import DenseMatrix
from fastpu.data._validate import check_matrix
from fastpu.ensemble._columns import Columns
from fastpu.model._held_out import HeldOutModel
from fastpu.model._model import Model  # noqa: TC001 - the annotation of a field is read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fastpu.data._matrix import Matrix


@dataclass(frozen=True)
class Given:
    """Rows as the user gave them, and as they were read."""

    X: Any
    matrix: Matrix

    @property
    def n_rows(self) -> int:
        return self.matrix.n_rows


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Ensemble(HeldOutModel):
    """The weighted mean of the scores of several models, f(x) = sum_k w_k (f_k(x) - location_k) / scale_k.

    Attributes
    ----------
    candidates : tuple of str
        The names of the candidates that were tried.
    weights : ndarray of float64, shape (n_candidates,)
        Their weights w, with the sum 1.
    table : mapping of str to ndarray
        Columns with an entry for each candidate; see below.
    report : str
        What was tried, what was taken and how sure that is.
    members : tuple of Model
        The models of all rows of the candidates whose weight is not 0, in their order.
    oob_decision_function : ndarray of float64, shape (n,)
        Scores of the training rows by models of other folds: they rank the unlabelled rows, and thresholds and
        probabilities are made from them. NaN for rows of weight 0, and everywhere if there was one labelled row.
    flaws : tuple of str
        Why a candidate could not be fitted, or "".
    locations, scales : ndarray of float64, shape (n_members,)
        The mean and the standard deviation of scores of unlabelled rows by models of other folds.
    takes_numbers : ndarray of bool, shape (n_members,)
        Whether a member gets standardised numbers, and not the rows as they are.
    columns : mapping of str to ndarray, or None
        How these numbers are made of the columns of `X`; None for sparse rows, which are left as they are.
    categories : mapping of str to tuple
        The categories of each categorical column, by the number of the column as text.
    n_iter : int
        Number of candidates that were tried.
    status : str
        "fitted" or "callback".
    objective : ndarray of float64, shape (n_candidates,)
        Their AUCs.
    history : mapping
        "auc", "standard_error", "error_of_difference" and "seconds" of each candidate.

    Notes
    -----
    `table` has "candidate"; "auc" of positive against unlabelled (or labelled negative) rows, out of fold; its
    "standard_error"; "error_of_difference", that of the difference between this AUC and the best one; "weight"; and
    "seconds" of all its fits. ``pandas.DataFrame(dict(model.table))`` shows it.
    """

    candidates: tuple[str, ...]
    weights: NDArray[np.float64]
    members: tuple[Model, ...]
    locations: NDArray[np.float64]
    scales: NDArray[np.float64]
    takes_numbers: NDArray[np.bool_]
    columns: Mapping[str, NDArray[Any]] | None
    categories: Mapping[str, object]
    oob_decision_function: NDArray[np.float64]
    flaws: tuple[str, ...]

    _nan_input = "allow"
    _RECORDED: ClassVar[tuple[str, ...]] = ("auc", "standard_error", "error_of_difference", "seconds")

    def _check_fields(self) -> None:
        n = self.n_iter
        sizes = {len(self.candidates), len(self.flaws), self.weights.size, self.objective.size}
        sizes |= {self.history[name].size if name in self.history else -1 for name in self._RECORDED}
        if n < 1 or sizes != {n}:
            raise ValueError(f"an ensemble of {n} candidates must have as many names, flaws, weights, AUCs and seconds")
        if not np.isfinite(self.weights).all() or self.weights.min() < 0:
            raise ValueError("weights must be finite and >= 0")
        n_members = int(np.count_nonzero(self.weights))
        if not n_members == len(self.members) == self.locations.size == self.scales.size == self.takes_numbers.size > 0:
            raise ValueError(f"members, locations, scales and takes_numbers must have {n_members} entries, at least 1")
        if not (np.isfinite(self.locations).all() and np.isfinite(self.scales).all() and self.scales.min() > 0):
            raise ValueError("locations and scales must be finite, and scales > 0")
        check_kept(self._kept, self.n_features)
        made = self.n_features
        if self.columns is not None:
            columns = Columns.of_fields(self.columns)
            columns.check(self.n_features)
            made = columns.source.size
        for member, is_of_numbers in zip(self.members, self.takes_numbers, strict=True):
            if member.n_features != (made if is_of_numbers else self.n_features):
                raise ValueError(f"members must have the features that they are given, got {member.n_features}")

    @property
    def _kept(self) -> Any:
        return self.categories

    @property
    def table(self) -> Mapping[str, NDArray[Any]]:
        """What is known of each candidate, as new arrays."""
        known = {name: self.history[name].copy() for name in self._RECORDED}
        seconds = known.pop("seconds")
        return {"candidate": np.array(self.candidates), **known, "weight": self.weights.copy(), "seconds": seconds}

    @property
    def report(self) -> str:
        """What was tried, what was taken and how sure that is, in a few sentences."""
        auc, error = self.history["auc"], self.history["error_of_difference"]
        taken = [f"{self.candidates[k]} ({self.weights[k]:.2f})" for k in np.argsort(-self.weights) if self.weights[k]]
        said = [f"Of {_counted(len(self.candidates), 'candidate')}, the ensemble has {_listed(taken)}, by weight."]
        if np.isfinite(auc).any():
            best = int(np.nanargmax(auc))
            spread = f", with a standard error of {self.history['standard_error'][best]:.3f}"
            said.append(
                f"On held-out rows {self.candidates[best]} ranks best alone: its AUC against the rows that are not "
                f"labelled positive is {auc[best]:.3f}{spread if np.isfinite(error).any() else ''}."
            )
            others = [k for k in np.flatnonzero(np.isfinite(error)) if k != best]
            near = [self.candidates[k] for k in others if auc[best] - auc[k] <= 2 * error[k]]
            far = [self.candidates[k] for k in others if auc[best] - auc[k] > 2 * error[k]]
            if near:
                said.append(f"By so many labels {_listed(near)} cannot be told from it.")
            if far:
                said.append(f"It is better than {_listed(far)} by more than two standard errors.")
        else:
            said.append("There were too few labelled rows to hold some out: the weights are the usual ones.")
        failed = [f"{name} ({flaw})" for name, flaw in zip(self.candidates, self.flaws, strict=True) if flaw]
        if failed:
            said.append(f"Left out, as they could not be fitted: {'; '.join(failed)}.")
        return " ".join(said)

    def _held_out_scores(self) -> NDArray[np.float64] | None:
        return None if np.isnan(self.oob_decision_function).all() else self.oob_decision_function

    def _check_input(self, X: object, name: str) -> Given:
        names, kept = self.feature_names, self._kept
        matrix = check_matrix(
            X, name=name, nan="allow", categories=kept, n_features=self.n_features, feature_names=names
        )
        return Given(X if frame_kind(X) is not None else matrix.table(), matrix)

    def _decision_function(self, matrix: Given, n_threads: int) -> NDArray[np.float64]:
        total: NDArray[np.float64] = np.zeros(matrix.matrix.n_rows)
        weights = self.weights[self.weights > 0]
        for k, member in enumerate(self.members):
            if self.takes_numbers[k]:
                scores = self._scores_of_numbers(member, matrix.matrix, n_threads)
            else:
                scores = member._decision_function(member._check_input(matrix.X, "X"), n_threads)
            total += weights[k] * ((scores - self.locations[k]) / self.scales[k])
        return total

    def _scores_of_numbers(self, member: Model, matrix: Matrix, n_threads: int) -> NDArray[np.float64]:
        """Return the scores of a member that takes numbers, which are made of a block of rows at a time."""
        if self.columns is None:
            return member._decision_function(member._check_input(matrix.table(), "X"), n_threads)
        columns = Columns.of_fields(self.columns)
        scores: NDArray[np.float64] = np.empty(matrix.n_rows)
        for rows in matrix.blocks(columns.source.size):
            part: Any = matrix[rows]
            table = part.convert(np.dtype(np.float64), sparse=False) if matrix.is_sparse else part
            scores[rows] = member._decision_function(DenseMatrix(columns.apply(table.values)), n_threads)
        return scores


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
