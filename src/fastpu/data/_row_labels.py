"""Labels of the rows of pandas objects: rows are taken by their places, and a warning says where that misleads."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from fastpu.common._text import short
from fastpu.common._warn import warn
from fastpu.exceptions import LabelWarning


def index_of(value: Any) -> Any:
    """Return the index of a pandas frame or series, or None."""
    pandas = sys.modules.get("pandas")
    kinds = (getattr(pandas, "DataFrame", None), getattr(pandas, "Series", None))
    is_pandas = any(kind is not None and isinstance(value, kind) for kind in kinds)
    return value.index if is_pandas else None


def warn_of_other_order(X: object, /, *, other: str = "X", index: Any = None, **by_row: object) -> None:
    """Warn if something has an entry for each row, and the index of `X` in another order.

    `index` is that of X, if it is known already, and `other` is what the warning calls X.
    """
    index = index_of(X) if index is None else index
    if index is None:
        return
    for name, values in by_row.items():
        own = index_of(values)
        if own is None or own is index or len(own) != len(index) or own.equals(index):
            continue
        if index.is_unique and own.is_unique and bool(np.all(index.get_indexer(own) >= 0)):
            warn(
                f"{name} and {other} have the same row labels in different orders, and rows are matched by position: "
                f"row {short(own[0])} of {name} is taken for row {short(index[0])} of {other}; use "
                f"{name}.loc[{other}.index] to match them by label",
                LabelWarning,
            )
