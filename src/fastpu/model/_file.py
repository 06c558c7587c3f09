"""The file of a model: an uncompressed .npz of plain arrays, one of which holds a JSON header as bytes.

NumPy writes and reads it, without pickle. A file may come from anywhere: before an array is read, its header must say
what the member of the archive holds, and the members must fit the file, so that reading takes no more memory than that.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import stat
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fastpu.common._text import describe, short

_MAGIC = "fastpu-model"
_FORMAT = 1  # of the files that are written; those of every format since 1 are read
_HEADER = "header"
_LONGEST_HEADER = 1000  # characters of an array's header; NumPy writes some 120 for plain numbers


def file_name(path: object) -> str:
    """Return `path` (str or PathLike) as a str, exactly as given."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"path must be a string or a path, got {describe(path)}")
    name = os.fsdecode(path)
    if "\0" in name:
        raise ValueError(f"path must not hold a null character, got {short(name)}")
    return name


@contextlib.contextmanager
def _naming(path: str) -> Iterator[None]:
    """Put the name that the user gave into an OSError, in place of that of a temporary file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, path, getattr(error, "winerror", None)) from error


def _refuse_devices(path: str) -> None:
    file = Path(path)
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise ValueError(f"path must name a regular file, got {path!r}, which is a device or pipe")


def write_model_file(path: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write header and arrays, as `Model.save` says: to a file beside the old one, which takes its name at the end.

    On any failure it is removed. A symbolic link is followed. The same model gives the same bytes.
    """
    _refuse_devices(path)
    text = json.dumps({"magic": _MAGIC, "format": _FORMAT, **header}, indent=1).encode()
    members: dict[str, Any] = {_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".fastpu-{secrets.token_hex(8)}.tmp")
    with _naming(path):
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        try:
            with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode or 0o666)) as stream:
                np.savez(stream, **members)
                stream.flush()
                os.fsync(stream.fileno())
            if mode is not None:  # permissions of a new file, after the user's umask
                temporary.chmod(mode)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def open_model_file(path: str) -> BinaryIO:
    _refuse_devices(path)  # opening a pipe could wait for ever
    with _naming(path):
        return Path(path).open("rb")


@contextlib.contextmanager
def refusing_damage(path: str) -> Iterator[None]:
    """Turn whatever a damaged or hostile file provokes into one ValueError that names the file.

    The parsers underneath (zipfile, NumPy, json) raise a dozen kinds of errors on such files.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ValueError(f"{path!r} cannot be loaded: {reason}") from error


def read_model_file(stream: BinaryIO) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays (read-only) of a file of this format; what else raises is for the caller."""
    try:
        archive = zipfile.ZipFile(stream)
    except zipfile.BadZipFile as error:
        raise ValueError(f"it is truncated or no .npz file ({error})") from error
    with archive:
        members = archive.infolist()
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"its member {short(member.filename)} is compressed, which fastpu never does")
        size = os.fstat(stream.fileno()).st_size
        if (total := sum(member.file_size for member in members)) > size:
            raise ValueError(f"its members claim {total} bytes, but the file has {size}")
        arrays = {member.filename.removesuffix(".npy"): _read_array(archive, member) for member in members}
    if _HEADER not in arrays:
        raise ValueError(f"it is no fastpu model: it has no member {_HEADER}")
    return _checked_header(json.loads(arrays.pop(_HEADER).tobytes())), arrays


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Return an array of plain numbers, after checking that the member holds as many bytes as its header says."""
    name = short(member.filename)
    with archive.open(member) as stream:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError(f"its member {name} is no array of the version that fastpu writes")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=_LONGEST_HEADER)
        if dtype.kind not in "biuf":
            raise ValueError(f"its member {name} is no array of plain numbers")
        stored, needed = member.file_size - stream.tell(), math.prod(shape) * dtype.itemsize
        if needed != stored:
            raise ValueError(
                f"its member {name} declares shape {shape} and dtype {dtype}, which takes {needed} bytes, but it holds "
                f"{stored}"
            )
        stream.seek(0)
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False, max_header_size=_LONGEST_HEADER)
    array.flags.writeable = False
    return array


def _checked_header(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("magic") != _MAGIC:
        raise ValueError("it is no fastpu model: its header lacks the mark of one")
    written_in = header.get("format")
    if type(written_in) is not int or not 1 <= written_in <= _FORMAT:
        raise ValueError(
            f"it was written by fastpu {short(header.get('fastpu'))} in format {short(written_in)}, and this one reads "
            f"formats 1 to {_FORMAT}: load it with that fastpu, or fit again"
        )
    return header
