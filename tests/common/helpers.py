"""Small helpers that many tests share."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fastpu.data._matrix import Matrix


def dense(matrix: Matrix) -> np.ndarray:
    """A checked matrix as a plain array."""
    if not matrix.is_sparse:
        return matrix.values
    return matrix.table().toarray()


def refused(error: type[Exception], text: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """The call raises `error` with `text` in its message, which is returned."""
    with pytest.raises(error, match=re.escape(text)) as info:
        function(*args, **kwargs)
    return str(info.value)


def rows_of(pos: Any, unl: Any = (), neg: Any = ()) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores, as metrics take them, of groups of scores."""
    groups = [np.asarray(part) for part in (pos, unl, neg) if len(part)]
    sizes = [len(part) for part in (pos, unl, neg)]
    return np.repeat([1, 0, -1], sizes), np.concatenate(groups)


def through_odd_bytes(value: Any) -> Any:
    """The value from a pickle whose arrays begin at odd bytes, as they may in a message between Dask's workers."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[memoryview(b"." + bytes(buffer.raw()))[1:] for buffer in buffers])


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What the call returns, or the ValueError or TypeError that it raises."""
    try:
        return function(*args)
    except (TypeError, ValueError) as error:
        return error
