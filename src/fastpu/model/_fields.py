"""Fields of a model: read-only values, their declared types, and their form in a file.

A field's type is its annotation in the dataclass. These are understood, each also with ``| None``:
``int``, ``float``, ``bool``, ``str``, ``tuple[Hashable, ...]`` (titles of columns), ``NDArray[...]``, ``Mapping[str,
NDArray[...]]``, ``Mapping[str, object]`` (of scalars, strings, None, and tuples of them; or of tuples alone),
``LateProfile``, and ``Callable[..., ...]``, a function of the user's, which no file can hold.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import re
import typing
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu.common._frozen import FrozenMapping
from fastpu.common._text import describe, short
from fastpu.model._profile import LateProfile, arrays_of_profile, profile_of_arrays

Kind: TypeAlias = Literal["int", "float", "bool", "str", "names", "array", "arrays", "scalars", "profile", "function"]
_KEY = re.compile(r"[A-Za-z0-9_]+")
_SCALARS: dict[object, Kind] = {int: "int", float: "float", bool: "bool", str: "str"}
#: Fields that have another name in files.
_NAMES_IN_FILES = {"_late_profile": "profile"}


@dataclass(frozen=True)
class FieldSpec:
    """What a field may hold: its kind, whether it may be None, and dtypes and dimensions of its arrays."""

    kind: Kind
    optional: bool
    dtypes: tuple[type[np.generic], ...]
    ndim: int | None


@cache
def field_specs(cls: Any) -> Mapping[str, FieldSpec]:
    # Names that a module may import for its type checker only.
    names = {"Any": Any, "Callable": Callable, "Hashable": Hashable, "Mapping": Mapping, "NDArray": NDArray, "np": np}
    hints = typing.get_type_hints(cls, localns=names)
    dimensions: Mapping[str, int] = getattr(cls, "_ndim", {})
    return {
        field.name: _spec(hints[field.name], dimensions.get(field.name, 1), field.name)
        for field in dataclasses.fields(cls)
    }


def _spec(hint: Any, ndim: int, name: str) -> FieldSpec:
    options = tuple(_plain(option) for option in _union(hint))
    optional = type(None) in options
    options = tuple(option for option in options if option is not type(None))
    origins = {typing.get_origin(option) for option in options}
    if len(options) == 1 and options[0] in _SCALARS:
        return FieldSpec(_SCALARS[options[0]], optional, (), None)
    if len(options) == 1 and options[0] == tuple[Hashable, ...]:
        return FieldSpec("names", optional, (), None)
    if options == (LateProfile,):
        return FieldSpec("profile", optional, (np.generic,), 1)
    if origins == {collections.abc.Callable} and len(options) == 1:
        return FieldSpec("function", optional, (), None)
    if origins == {np.ndarray}:
        dtypes = tuple(t for option in options for t in _scalar_types(option))
        return FieldSpec("array", optional, dtypes, ndim)
    if origins == {collections.abc.Mapping} and len(options) == 1:
        value = _plain(typing.get_args(options[0])[1])
        if typing.get_origin(value) is np.ndarray:
            return FieldSpec("arrays", optional, tuple(_scalar_types(value)), None)
        if value is object or typing.get_origin(value) is tuple:
            return FieldSpec("scalars", optional, (), None)
    raise TypeError(f"field {name!r} of a model has an annotation of unknown kind: {hint}")


def _union(hint: Any) -> tuple[Any, ...]:
    # Both spellings of a union (X | Y and Optional[X]) have a pair of arguments and such an origin.
    is_union = getattr(typing.get_origin(hint), "__name__", "") in ("UnionType", "Union")
    return typing.get_args(hint) if is_union else (hint,)


def _plain(hint: Any) -> Any:
    """Return what a lazy type alias, such as the NDArray of recent NumPy, stands for."""
    origin = typing.get_origin(hint)
    return origin.__value__[typing.get_args(hint)] if hasattr(origin, "__value__") else hint


def _scalar_types(array: Any) -> Iterator[type[np.generic]]:
    (scalar,) = typing.get_args(typing.get_args(array)[1])
    for option in _union(scalar):
        yield np.generic if option is Any else option


# ------------------------------------------------------------------------------------- freezing


def freeze(name: str, value: object, spec: FieldSpec) -> object:
    """Return `value` checked against its specification and made read-only."""
    if value is None and spec.optional:
        return None
    if spec.kind == "array":
        return _freeze_array(name, value, spec)
    if spec.kind == "arrays":
        items = _mapping(name, value)
        return FrozenMapping({k: _freeze_array(f"{name}[{k!r}]", v, spec) for k, v in items.items()})
    if spec.kind == "scalars":
        items = _mapping(name, value)
        return FrozenMapping({k: _freeze_scalar(f"{name}[{k!r}]", v) for k, v in items.items()})
    if spec.kind == "profile":
        if not isinstance(value, LateProfile):
            raise TypeError(f"{name} must be a LateProfile, got {describe(value)}")
        return value
    if spec.kind == "function":
        if not callable(value):
            raise TypeError(f"{name} must be a function, got {describe(value)}")
        return value
    if spec.kind == "names":
        if not isinstance(value, tuple):
            raise TypeError(f"{name} must be a tuple of titles, got {describe(value)}")
        return _freeze_scalar(name, value)
    scalar = _freeze_scalar(name, value)
    if spec.kind == "float" and isinstance(scalar, int) and not isinstance(scalar, bool):
        scalar = float(scalar)
    if type(scalar).__name__ != spec.kind:
        raise TypeError(f"{name} must be of type {spec.kind}, got {describe(value)}")
    return scalar


def _mapping(name: str, value: object) -> Mapping[str, object]:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping, got {describe(value)}")
    for key in value:
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise ValueError(f"{name} must have plain names as keys, got {short(key)}")
    return value


def _freeze_array(name: str, value: object, spec: FieldSpec) -> NDArray[Any]:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be an array, got {describe(value)}")
    fits = value.dtype.kind in "biuf" and value.dtype.itemsize <= 8
    if not fits or not issubclass(value.dtype.type, spec.dtypes):
        names = [scalar.__name__ for scalar in spec.dtypes if scalar is not np.generic]
        wanted = " or ".join(names) or "boolean, integer or float"
        raise TypeError(f"{name} must have dtype {wanted}, got {value.dtype}")
    if spec.ndim is not None and value.ndim != spec.ndim:
        raise ValueError(f"{name} must have {spec.ndim} dimension(s), got shape {value.shape}")
    flags = value.flags
    ready = flags.c_contiguous and flags.aligned and not flags.writeable and value.dtype.isnative
    if ready and type(value) is np.ndarray:
        return value
    # A copy, since the caller may write to the array later.
    array = np.array(value, dtype=value.dtype.newbyteorder("="), order="C", copy=True)
    array.flags.writeable = False
    return array


def _freeze_scalar(name: str, value: object) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tuple | list):
        return tuple(_freeze_scalar(f"{name}[{i}]", item) for i, item in enumerate(value))
    raise TypeError(f"{name} must be None, a number, a string or a tuple of them, got {describe(value)}")


# --------------------------------------------------------------------------------- form in a file


def name_in_file(field: str) -> str:
    return _NAMES_IN_FILES.get(field, field)


def encode_field(name: str, value: Any, spec: FieldSpec, arrays: dict[str, NDArray[Any]]) -> object:
    """Return the entry of a field in the header; its arrays are added to `arrays` by name."""
    if spec.kind == "profile":
        profile = None if value is None else value.read()
        value = None if profile is None else arrays_of_profile(profile)
    if value is None:
        return None
    if spec.kind == "function":
        raise TypeError(
            f"the model cannot be saved: its {name} is {describe(value)}, and a model file holds numbers and text "
            f"only; pickle the model, or fit it without a function of yours"
        )
    if spec.kind == "array":
        arrays[name] = value
        return "array"
    if spec.kind in ("arrays", "profile"):
        arrays.update({f"{name}/{key}": array for key, array in value.items()})
        return list(value)
    return dict(value) if spec.kind == "scalars" else value


def decode_field(name: str, node: Any, spec: FieldSpec, arrays: dict[str, NDArray[Any]]) -> object:
    """Return a field's value from the header, which `freeze` checks; the arrays it uses are taken out of `arrays`."""
    if node is None:
        return None
    if spec.kind == "array":
        return arrays.pop(name)
    if spec.kind == "arrays":
        return {key: arrays.pop(f"{name}/{key}") for key in node}
    if spec.kind == "profile":
        of_profile = {key: _freeze_array(f"{name}[{key!r}]", arrays.pop(f"{name}/{key}"), spec) for key in node}
        return LateProfile.of(profile_of_arrays(of_profile)) if node else None
    if spec.kind == "names":
        return tuple(node) if isinstance(node, list) else node
    return node
