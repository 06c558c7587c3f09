"""The fields that every fitted model has, read-only, and its file."""

from __future__ import annotations

import dataclasses
import os
from abc import ABC
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastpu.common._text import short
from fastpu.model._calibration import check_calibration
from fastpu.model._fields import encode_field, field_specs, freeze, name_in_file
from fastpu.model._file import file_name, write_model_file
from fastpu.model._profile import LateProfile, Profile, check_profile

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST_FEATURES = 2**63 - 1
#: The classes of models that `load` knows, by their names.
MODEL_CLASSES: dict[str, type[ModelRecord]] = {}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ModelRecord(ABC):
    """The fields of `fastpu.Model`, which explains them, read-only and checked."""

    n_features: int
    feature_names: tuple[Hashable, ...] | None
    threshold: float
    threshold_rule: str = "zero"
    n_iter: int
    converged: bool
    status: str
    objective: NDArray[np.float64]
    history: Mapping[str, NDArray[Any]]
    params: Mapping[str, object]
    calibration: str | None = None
    calibration_prior: float | None = None
    calibration_knots: NDArray[np.float64] | None = None
    calibration_values: NDArray[np.float64] | None = None
    _late_profile: LateProfile | None = None

    _ndim: ClassVar[Mapping[str, int]] = {}

    def __init_subclass__(cls, *, is_base: bool = False, **kwargs: Any) -> None:
        """Let `load` know the class, unless it is only a base of the classes that fits return."""
        super().__init_subclass__(**kwargs)
        if is_base:
            return
        known = MODEL_CLASSES.get(cls.__name__)
        if known is not None and known.__module__ != cls.__module__ and known.__module__.startswith("fastpu."):
            raise TypeError(f"there is a model class {cls.__name__} in {known.__module__} already")
        MODEL_CLASSES[cls.__name__] = cls

    def __post_init__(self) -> None:
        for name, spec in field_specs(type(self)).items():
            object.__setattr__(self, name, freeze(name, getattr(self, name), spec))
        if not 1 <= self.n_features <= _MOST_FEATURES:
            bound = ">= 1" if self.n_features < 1 else f"<= {_MOST_FEATURES}"
            raise ValueError(f"n_features must be {bound}, got {short(self.n_features)}")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(f"feature_names must have {self.n_features} names, got {len(self.feature_names)}")
        if self.n_iter < 0:
            raise ValueError(f"n_iter must be >= 0, got {self.n_iter}")
        if np.isnan(self.threshold):
            raise ValueError("threshold must be a number, got nan")
        check_calibration(self.calibration, self.calibration_prior, self.calibration_knots, self.calibration_values)
        # One that this process makes of its training rows fits; one that was in a file may not.
        if self._late_profile is not None and self._late_profile.is_made and self.profile is not None:
            check_profile(self.profile, self.n_features)
        self._check_fields()

    @property
    def profile(self) -> Profile | None:
        """What the model keeps of its training rows for `check`: scores, and quantiles or shares of each column.

        It is made when it is first read, from up to 2,000 rows that the fit has copied. It is None for models from
        files of older versions, and if the model cannot read these rows again.
        """
        return None if self._late_profile is None else self._late_profile.read()

    def _check_fields(self) -> None:  # noqa: B027 - a hook, and most models have nothing to add
        """Raise ValueError if the arrays do not fit each other: the kernel relies on it."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, which makes the arrays read-only again.
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return _restore, (type(self), fields)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_features={self.n_features}, n_iter={self.n_iter}, "
            f"converged={self.converged}, status={self.status!r}, threshold={self.threshold:.6g})"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `fastpu.load` reads.

        The file is an uncompressed .npz: arrays and a JSON header with a format version, no pickle. The name is taken
        exactly as given. A file of that name stays whole until the new one is complete, and stays if writing fails or
        the process is killed; the new one gets its permissions.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            If the file cannot be written.
        TypeError
            If `path` is not such a name, or the model holds a function of the user's.
        ValueError
            If `path` is a device or pipe, or holds a null character.
        """
        name = file_name(path)
        arrays: dict[str, NDArray[Any]] = {}
        fields = {
            name_in_file(field): encode_field(name_in_file(field), getattr(self, field), spec, arrays)
            for field, spec in field_specs(type(self)).items()
        }
        header = {"fastpu": version("fastpu"), "class": type(self).__name__, "fields": fields}
        write_model_file(name, header, arrays)


def _restore(cls: type[ModelRecord], fields: dict[str, Any]) -> ModelRecord:
    for value in fields.values():
        # An array out of a pickle or a deep copy is ours alone: no second copy is needed.
        for array in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    return cls(**fields)
