"""A small model with a field of every kind, for the tests of what all models share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu.model._model import Model
from fastpu.model._profile import arrays_of_profile


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Toy(Model):
    """A linear model with a field of every kind."""

    coef: NDArray[np.float64]
    basis: NDArray[np.float32] | NDArray[np.float64] | None = None
    codes: NDArray[np.int8] | None = None
    note: str | None = None

    _ndim: ClassVar[Mapping[str, int]] = {"basis": 2}

    def _check_fields(self) -> None:
        if self.coef.size != self.n_features:
            raise ValueError(f"coef must have {self.n_features} entries, got {self.coef.size}")

    def _decision_function(self, matrix: Any, n_threads: int) -> NDArray[np.float64]:
        return matrix.table() @ self.coef


def toy(**changes) -> Toy:
    given = {
        "n_features": 2,
        "feature_names": ("a", "b"),
        "threshold": 0.25,
        "n_iter": 3,
        "converged": True,
        "status": "stop_tol reached",
        "objective": np.array([3.0, 2.0, 1.5]),
        "history": {"delta": np.array([0.5, 0.25, 0.125]), "feature": np.array([0, 1, 0], dtype=np.int32)},
        "params": {"n_rounds": 3, "gamma": 0.5, "max_bins": None, "step": "jensen", "flag": True, "grid": (1, 2.5)},
        "coef": np.array([1.0, -2.0]),
        "basis": np.arange(6, dtype=np.float32).reshape(2, 3),
        "codes": np.array([1, 0, -1], dtype=np.int8),
        "note": "Größe",
    }
    return Toy(**{**given, **changes})


def arrays_of(model):
    found = [getattr(model, f.name) for f in fields(model)]
    return [a for a in found if isinstance(a, np.ndarray)] + list(model.history.values())


def assert_same(left, right):
    assert type(left) is type(right)
    for field in fields(left):
        a, b = getattr(left, field.name), getattr(right, field.name)
        if field.name == "_late_profile" and a is not None:
            a, b = arrays_of_profile(left.profile), arrays_of_profile(right.profile)
        if isinstance(a, Mapping) and field.name != "params":
            assert list(a) == list(b)
            pairs = list(zip(a.values(), b.values(), strict=True))
        else:
            pairs = [(a, b)]
        for x, y in pairs:
            if isinstance(x, np.ndarray):
                assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
                assert not y.flags.writeable
                assert y.flags.aligned
                assert y.flags.c_contiguous
            elif field.name == "params":
                assert repr(x) == repr(y)  # NaN is not equal to itself
                assert [type(v) for v in x.values()] == [type(v) for v in y.values()]
            else:
                assert x == y or (x != x and y != y)
                assert type(x) is type(y)
