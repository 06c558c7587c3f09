"""Few categories of a column, put in the order in which the rows show them first.

A split by a set of categories that ties with another is chosen by this order, so that neither the names of categories
nor their codes decide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.data._categories import columns_in_sets
from fastpu.data._matrix import DenseMatrix

_NEVER = np.iinfo(np.int64).max


def by_first_rows(matrix: DenseMatrix, weights: NDArray[np.float64] | None) -> DenseMatrix:
    """Return rows whose few categories stand in the order in which rows of positive weight show them first.

    Those that no such row has come last, sorted.
    """
    columns = columns_in_sets(matrix.categories)
    if not columns:
        return matrix
    entries, categories = matrix.values.copy(), dict(matrix.categories)
    for column in columns:
        values, places = categories[str(column)], entries[:, column]
        known = np.flatnonzero(~np.isnan(places))
        counted = known if weights is None else known[weights[known] > 0]
        order = order_of_first(values, places[counted].astype(np.int64))
        new_places = np.empty(len(values))
        new_places[order] = np.arange(len(values))
        places[known] = new_places[places[known].astype(np.int64)]
        categories[str(column)] = tuple(values[place] for place in order)
    return replace(matrix, values=entries, categories=categories)


def order_of_first(values: tuple[Any, ...], places: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the places of these values in the order in which rows, which have `places`, show them first."""
    first = first_rows(places, np.arange(places.size), len(values))
    order: NDArray[np.intp] = np.lexsort((places_in_sorted(values), first))
    return order


def first_rows(places: NDArray[np.int64], numbers: NDArray[np.int64], n_categories: int) -> NDArray[np.int64]:
    """Return for each category the number of the first of these rows that has it."""
    first = np.full(n_categories, _NEVER)
    first[places[::-1]] = numbers[::-1]  # of rows of one category the last one is kept, which is the first
    return first


def places_in_sorted(values: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return the place of each value among the sorted ones."""
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values))
    return ranks
