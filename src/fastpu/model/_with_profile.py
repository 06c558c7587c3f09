"""The last step of a fit: its model keeps a profile of the training rows, for `Model.check`.

The profile is made of at most `MOST_ROWS` rows, drawn by their number alone, of those without a label if there are
some: later rows come from the population that these are a sample of. The model reads them as it reads later rows.

A fit only draws the rows and copies them. The model makes the profile when it is first read: by `check`, for a file or
a pickle. Then the copies are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu.common._frozen import FrozenMapping, LateMapping
from fastpu.common._warn import silenced
from fastpu.data._frames import take_rows
from fastpu.data._tables import known_table, table_library
from fastpu.data._validate import check_labels, check_sample_weight
from fastpu.data.binned_features import BinnedFeatures
from fastpu.exceptions import LabelWarning
from fastpu.model._profile import HasProfile, as_dense, of_columns, totals

MOST_ROWS = 2000
MOST_BYTES = 16_000_000  # a model keeps copies of rows up to this size; of more it makes the profile at once

_Model = TypeVar("_Model", bound=HasProfile)


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Copies of at most `MOST_ROWS` of the rows that a model was fitted to, and their numbers among these."""

    table: Any
    numbers: NDArray[np.int64]

    @property
    def n_bytes(self) -> int:
        """How much memory they take, nearly."""
        table = self.table
        if isinstance(table, np.ndarray | BinnedFeatures):
            return int(table.nbytes)
        if sp.issparse(table):
            return int(table.data.nbytes + table.indices.nbytes + table.indptr.nbytes)
        return 8 * int(table.shape[0]) * int(table.shape[1])


def with_profile(model: _Model, X: object, y: object, sample_weight: object = None) -> _Model:
    """Return the model with a profile of the rows that it was fitted to; `y` is None if they have no labels."""
    return with_profiles([model], X, y, sample_weight)[0]


def with_profiles(models: list[_Model], X: object, y: object, sample_weight: object = None) -> list[_Model]:
    """Return models with a profile of the rows that all of them were fitted to, which are drawn once."""
    drawn = _draw_rows(X, y, sample_weight)
    return models if drawn is None else [with_profile_of(model, drawn) for model in models]


def with_profile_of(model: _Model, drawn: DrawnRows) -> _Model:
    """Return the model with the profile of rows that were drawn from those that it was fitted to."""
    make = partial(_make_profile, model, drawn)
    # The new model shares all fields. It does not check them again, as dataclasses.replace would. The profile refers to
    # the old one, which has none: so no model refers to itself, and one that nobody needs is gone at once.
    profiled = object.__new__(type(model))
    vars(profiled).update(vars(model))
    object.__setattr__(profiled, "profile", make() if drawn.n_bytes > MOST_BYTES else LateMapping(make))
    return profiled


def _draw_rows(X: object, y: object, sample_weight: object) -> DrawnRows | None:
    """Return copies of rows of X, or None if X gives none by their numbers."""
    table: Any = X if isinstance(X, BinnedFeatures) else known_table(X)
    if sp.issparse(table):
        table = table.tocsr()
    elif not hasattr(table, "shape"):
        table = np.asarray(table)
    numbers = numbers_to_draw(table.shape[0], y, sample_weight)
    try:
        if isinstance(table, np.ndarray) and table.flags.c_contiguous:
            return DrawnRows(table.take(numbers, axis=0), numbers)  # less than half the time of table[numbers]
        return DrawnRows(take_rows(table, table_library(table), numbers), numbers)
    except (TypeError, ValueError):
        return None


def numbers_to_draw(n_rows: int, y: object, sample_weight: object) -> NDArray[np.int64]:
    """Return the numbers of the rows that a profile is made of, ascending."""
    with silenced(LabelWarning):  # the fit has said what there is to say of them
        weights = check_sample_weight(sample_weight, n_rows)
        labels = None if y is None else check_labels(y, n_rows)
    is_counted = None if weights is None else weights > 0
    is_drawn = is_counted
    if labels is not None:
        is_unlabelled = labels == 0
        is_unlabelled = is_unlabelled if is_counted is None else is_unlabelled & is_counted
        is_drawn = is_unlabelled if is_unlabelled.any() else is_counted
    numbers = np.arange(n_rows) if is_drawn is None else np.flatnonzero(is_drawn)
    if numbers.size > MOST_ROWS:
        numbers = numbers[_places_to_draw(numbers.size, MOST_ROWS)]
    return numbers.astype(np.int64, copy=False)


@lru_cache(maxsize=4)
def _places_to_draw(n: int, n_drawn: int) -> NDArray[np.int64]:
    """Return `n_drawn` of the numbers below `n`, ascending, the same at every call: those of fits of a grid are one."""
    places: NDArray[np.int64] = np.sort(np.random.default_rng(0).choice(n, n_drawn, replace=False))
    places.flags.writeable = False
    return places


def _make_profile(model: HasProfile, drawn: DrawnRows) -> FrozenMapping:
    """Return the profile of drawn rows, which has nothing in it if the model cannot read these."""
    try:
        matrix = model._check_input(drawn.table, "X")
        scores = model._out_of_bag()
        out_of_bag = None if scores is None else scores[drawn.numbers]
        has_none = out_of_bag is None or np.isnan(out_of_bag).all()
        scored = model._decision_function(matrix, 1) if out_of_bag is None or has_none else out_of_bag
    except (TypeError, ValueError):
        return FrozenMapping({})  # a few of the rows may not look like the table that they are from
    found = {
        "rows": np.array([drawn.numbers.size]),
        "scores": np.sort(scored[np.isfinite(scored)]),
        "is_out_of_bag": np.array([not has_none]),
    }
    found |= totals(matrix) | of_columns(as_dense(matrix))
    for array in found.values():
        array.flags.writeable = False
    return FrozenMapping(found)
