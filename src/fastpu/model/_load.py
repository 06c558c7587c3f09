"""Models from files."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, cast

from numpy.typing import NDArray

from fastpu.common._text import short
from fastpu.model._fields import decode_field, field_specs, name_in_file
from fastpu.model._file import file_name, open_model_file, read_model_file, refusing_damage
from fastpu.model._model import Model
from fastpu.model._record import MODEL_CLASSES


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `Model.save` has written.

    No code in the file is run. It holds only numbers and text, which are checked before use.

    Parameters
    ----------
    path : str or path-like
        The file that `Model.save` has written.

    Returns
    -------
    Model
        Of the class that was saved.

    Raises
    ------
    OSError
        If the file cannot be opened (FileNotFoundError if there is none).
    ValueError
        If the file is no model file, is truncated or damaged, or holds values that no model of its class can have. Also
        if a later version of fastpu wrote it, in a format that this one does not know (all earlier formats are read),
        or if `path` is a device or a pipe, or holds a null character.

    Notes
    -----
    O(size of the file) time and memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fastpu
    >>> model = fastpu.baselines.fit_rankboost_auc([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     model.save(Path(directory) / "model.npz")
    ...     again = fastpu.load(Path(directory) / "model.npz")
    >>> again.predict([[0.5], [2.5]])
    array([-1,  1])
    """
    name = file_name(path)
    with open_model_file(name) as stream, refusing_damage(name):
        return _from_parts(*read_model_file(stream))


def _from_parts(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    cls = MODEL_CLASSES.get(str(header["class"]))
    if cls is None:
        raise ValueError(f"it holds a model of the unknown class {short(header['class'])}")
    specs, nodes = field_specs(cls), header["fields"]
    fields_by_name = {name_in_file(field): field for field in specs}
    # A field that the class got after the file was written has a default, and takes it.
    needed = {field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING}
    if not isinstance(nodes, dict) or not needed <= set(nodes) <= set(fields_by_name):
        raise ValueError(f"its fields are not those of {cls.__name__}")
    fields: dict[str, Any] = {
        fields_by_name[name]: decode_field(name, node, specs[fields_by_name[name]], arrays)
        for name, node in nodes.items()
    }
    if arrays:
        raise ValueError(f"it has arrays that {cls.__name__} does not know: {sorted(arrays)}")
    return cast("Model", cls(**fields))
