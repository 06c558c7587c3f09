"""Columns of a table as machines need them that measure distances or lengths: numbers alone, on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fastpu.data._matrix import DenseMatrix, Matrix

_MOST_CATEGORIES = 100  # of a column that get a column of their own, the most frequent ones
_FILLED = 0.25  # share of entries that are not 0 from which on CSR is a table; with fewer it is text, and left alone


def as_table(matrix: Matrix) -> DenseMatrix | None:
    """Return the rows of a table as an array, or None for CSR with few entries, such as text."""
    if matrix.is_sparse and np.count_nonzero(matrix.data) < _FILLED * matrix.n_rows * matrix.n_features:
        return None
    table: Any = matrix.convert(np.dtype(np.float64), sparse=False) if matrix.is_sparse else matrix
    return table  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Columns:
    """What is done to the columns of a table: medians fill gaps, categories become columns, all are standardised.

    Attributes
    ----------
    source : ndarray of int64, shape (n_made,)
        The column of the table that each column is made of.
    place : ndarray of int64, shape (n_made,)
        The place of the category that it stands for, or -1 for a column of numbers.
    fill : ndarray of float64, shape (n_made,)
        What stands for missing entries.
    scale, shift : ndarray of float64, shape (n_made,)
        The entries are divided by the first, then the second is taken off.
    """

    source: NDArray[np.int64]
    place: NDArray[np.int64]
    fill: NDArray[np.float64]
    scale: NDArray[np.float64]
    shift: NDArray[np.float64]

    @classmethod
    def of(cls, table: DenseMatrix) -> Columns:
        """Return what these rows ask for."""
        source: list[int] = []
        place: list[int] = []
        for column in range(table.n_features):
            places = [-1]
            if kept := table.categories.get(str(column)):  # else numbers, or a column of categories without an entry
                codes = table.values[:, column]
                counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(kept))
                places = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]).tolist()
            source += [column] * len(places)
            place += places
        made = len(source)
        plain = cls(np.array(source), np.array(place), np.zeros(made), np.ones(made), np.zeros(made))
        Z = plain.apply(table.values, fills=False)
        fill, scale, shift = np.zeros(made), np.ones(made), np.zeros(made)
        for column, values in enumerate(Z.T):
            known = values[~np.isnan(values)]
            if not known.size:
                continue
            fill[column] = np.sort(known)[(known.size - 1) // 2]  # one of them: a mean of two could overflow
            filled = np.where(np.isnan(values), fill[column], values)
            size = float(np.abs(filled).max())
            spread = float(np.std(filled / size)) * size if size else 0.0
            if spread >= np.finfo(np.float64).tiny and np.isfinite(size / spread):
                scale[column], shift[column] = spread, np.mean(filled / spread)
            else:  # constant: nothing to be on a scale with
                scale[column], shift[column] = (size, np.mean(filled / size)) if size else (1.0, 0.0)
        return cls(plain.source, plain.place, fill, scale, shift)

    @classmethod
    def of_fields(cls, fields: Mapping[str, NDArray[Any]]) -> Columns:
        """Return what `vars` of such an object, kept in a model, say."""
        return cls(**{name: fields[name] for name in ("source", "place", "fill", "scale", "shift")})

    def check(self, n_features: int) -> None:
        """Raise ValueError if they cannot be those of a table with so many columns, as in a damaged file."""
        arrays = list(vars(self).values())
        if len({array.shape for array in arrays}) > 1 or self.source.ndim != 1 or not self.source.size:
            raise ValueError("what is done to columns must have as many entries in each array")
        if any(array.dtype != np.int64 for array in arrays[:2]) or any(
            array.dtype != np.float64 for array in arrays[2:]
        ):
            raise ValueError("what is done to columns must be int64 and float64")
        if self.source.min() < 0 or self.source.max() >= n_features:
            raise ValueError(f"what is done to columns must be of columns 0 to {n_features - 1}")
        if not all(np.isfinite(array).all() for array in arrays) or (self.scale <= 0).any():
            raise ValueError("what is done to columns must be finite, and scales > 0")

    def apply(self, values: NDArray[Any], *, fills: bool = True) -> NDArray[np.float64]:
        """Return the columns that are made of those of a table."""
        Z: NDArray[np.float64] = np.take(values, self.source, axis=1).astype(np.float64)
        is_category = self.place >= 0
        Z[:, is_category] = Z[:, is_category] == self.place[is_category]
        if fills:
            np.copyto(Z, np.broadcast_to(self.fill, Z.shape), where=np.isnan(Z))
        with np.errstate(over="ignore"):
            Z /= self.scale
        Z -= self.shift
        return Z
