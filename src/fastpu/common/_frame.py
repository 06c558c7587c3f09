"""Tables of results as pandas frames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib import import_module
from typing import Any


def frame_of(
    columns: Mapping[str, Any],
    *,
    index: Sequence[Hashable] | None = None,
    index_name: str | None = None,
) -> Any:
    """Return columns of one length as a pandas frame, which owns its data; ImportError without pandas."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install pandas") from error
    rows = None if index is None else pandas.Index(index, name=index_name)
    return pandas.DataFrame(dict(columns), index=rows, copy=True)
