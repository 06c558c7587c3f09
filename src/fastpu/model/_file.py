"""The file of a model: an .npz without pickle, a JSON header beside plain arrays.

A file comes from anywhere, so reading trusts nothing: members must be stored as they are (no
compression, so no bombs), their sizes must fit the file before memory is taken, array headers must
be of the one form that NumPy writes for plain numbers, and a checksum covers
the header and the arrays: all that is read, not what ZIP keeps beside (dates, attributes).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import secrets
import shutil
import stat
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from fastpu.common._text import describe, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

__all__ = ["FORMAT", "MAGIC", "file_name", "read_model_file", "write_model_file"]

MAGIC = "fastpu-model"
FORMAT = 1
_HEADER = "header.json"
_NPY_MAGIC = b"\x93NUMPY"
_NPY_HEADER = re.compile(
    rb"\{'descr': '(\|[biu]1|<[iuf][248])', 'fortran_order': False, "
    rb"'shape': \(((?:[0-9]{1,19}, ?)*(?:[0-9]{1,19})?)\), \} *\n"
)


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
    """Put the name that the user gave into an OSError, in place of those of files that we make or follow."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # one of ours
            raise
        raise OSError(error.errno, error.strerror, path, getattr(error, "winerror", None)) from error


def _refuse_devices(file: Path, path: str) -> None:
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise ValueError(f"path must name a regular file, got {path!r}, which is a device or pipe")


# -------------------------------------------------------------------------------------- writing


def write_model_file(path: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write header and arrays; an old file of that name stays whole until the new one is.

    The new file is written beside the old one and takes its name at the end. On any failure it is removed, and where
    the system has files without a name, it has none before it is complete, so that a process that is killed leaves
    nothing behind. A symbolic link is followed. The same model gives the same bytes.
    """
    with _naming(path):
        _write(path, header, arrays)


def _write(path: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # as links in a circle leave it, for which Path.resolve raises a RuntimeError
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    if target.is_dir():
        raise IsADirectoryError(f"path must name a file, got the directory {path!r}")
    _refuse_devices(target, path)
    plain = {name: _little_endian(array) for name, array in arrays.items()}
    complete = {"magic": MAGIC, "format": FORMAT, **header}
    complete["checksum"] = _checksum(complete, plain)
    text = json.dumps(complete, indent=1, allow_nan=False).encode()
    temporary = target.with_name(f".fastpu-{secrets.token_hex(8)}.tmp")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        with _open_beside(temporary, 0o666 if mode is None else mode | stat.S_IWUSR) as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
                _write_member(archive, _HEADER, text)
                for name, array in plain.items():
                    _write_member(archive, f"{name}.npy", _npy_header(array), _raw(array))
            stream.flush()
            os.fsync(stream.fileno())
            if mode is not None and hasattr(os, "fchmod"):  # without it (Windows) an old file is always writable
                os.fchmod(stream.fileno(), mode)
            if not temporary.exists():
                _name(stream, temporary)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


_O_BINARY: int = getattr(os, "O_BINARY", 0)  # Windows
_O_TMPFILE: int = getattr(os, "O_TMPFILE", 0)  # Linux: a file without a name


def _open_beside(temporary: Path, mode: int) -> BinaryIO:
    """Open a new file in the folder of `temporary`: without a name where that is possible, else of that name.

    It gets the permissions of any new file of this user, or no more than the old file has.
    """
    if _O_TMPFILE:
        with contextlib.suppress(OSError):  # a file system without them, or no such folder: the name tells
            return os.fdopen(os.open(temporary.parent, os.O_RDWR | _O_TMPFILE, mode), "w+b")
    return _open_named(temporary, mode)


def _open_named(temporary: Path, mode: int) -> BinaryIO:
    return os.fdopen(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _O_BINARY, mode), "w+b")


def _name(stream: BinaryIO, temporary: Path) -> None:
    """Give a complete file without a name one."""
    try:
        # With a folder, though the name is absolute: without one Python asks for a link to the link in /proc.
        os.link(f"/proc/self/fd/{stream.fileno()}", temporary, src_dir_fd=stream.fileno())
    except OSError:  # no /proc, or not allowed
        stream.seek(0)
        with _open_named(temporary, stat.S_IMODE(os.fstat(stream.fileno()).st_mode)) as copy:
            shutil.copyfileobj(stream, copy)
            copy.flush()
            os.fsync(copy.fileno())


def _write_member(archive: zipfile.ZipFile, name: str, *parts: bytes | memoryview) -> None:
    member = zipfile.ZipInfo(name)  # dated 1980: no clock in the file
    member.file_size = sum(len(part) for part in parts)
    with archive.open(member, "w") as stream:
        for part in parts:
            stream.write(part)


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    # The arrays of a model are contiguous; ascontiguousarray would give a single number a dimension.
    return array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)


def _raw(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def _npy_header(array: NDArray[Any]) -> bytes:
    form = f"'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, "
    text = f"{{{form}}}"
    padding = -(len(_NPY_MAGIC) + 4 + len(text) + 1) % 64
    body = text.encode() + b" " * padding + b"\n"
    return _NPY_MAGIC + b"\x01\x00" + len(body).to_bytes(2, "little") + body


def _checksum(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of the header without its checksum, and of every array with its form."""
    rest = {key: value for key, value in header.items() if key != "checksum"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(_raw(array))
    return digest.hexdigest()


# -------------------------------------------------------------------------------------- reading


def read_model_file(path: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays (read-only) of a file that passes every check.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is a device or pipe, or not a whole model file of a version known here, with the contents that were saved.
    """
    with _naming(path):
        _refuse_devices(Path(path), path)  # nobody may ever write to the other end of a pipe
        stream = Path(path).open("rb")  # noqa: SIM115 - what goes wrong in the file itself is said in another way
    with stream, _as_value_error(path):
        size = os.fstat(stream.fileno()).st_size
        try:
            archive = zipfile.ZipFile(stream)
        except zipfile.BadZipFile as error:
            raise ValueError(f"it is truncated or no .npz file ({error})") from error
        with archive:
            members = _members(archive, size)
            if _HEADER not in members:
                raise ValueError(f"it is no fastpu model: it has no member {_HEADER}")
            header = _read_header(archive.read(members.pop(_HEADER)))
            arrays = {}
            for name, member in members.items():
                if not name.endswith(".npy"):
                    raise ValueError(f"it has a member {short(name)} that is no array")
                arrays[name.removesuffix(".npy")] = _read_array(name, archive.read(member))
        if header.pop("checksum", None) != _checksum(header, arrays):
            raise ValueError("its checksum does not match: it was changed after it was saved")
        return header, {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()}


@contextlib.contextmanager
def _as_value_error(path: str) -> Iterator[None]:
    """Turn whatever a damaged or hostile file provokes into one ValueError that names the file.

    The parsers underneath (zipfile, json, struct) raise a dozen kinds of errors on such files.
    """
    try:
        yield
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        EOFError,
        LookupError,
        OSError,
        RuntimeError,  # of which RecursionError and NotImplementedError are kinds
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        struct.error,
    ) as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"{path!r} cannot be loaded: {reason}") from error


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, after checking how they are stored and that they fit the file."""
    members: dict[str, zipfile.ZipInfo] = {}
    starts: set[int] = set()
    total = 0
    for member in archive.infolist():
        name = member.filename
        if name in members:
            raise ValueError(f"it has the member {short(name)} twice")
        if member.flag_bits & 0x1:
            raise ValueError(f"its member {short(name)} is encrypted")
        if member.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"its member {short(name)} is compressed, which fastpu never does")
        if member.compress_size != member.file_size:
            raise ValueError(f"its member {short(name)} has two sizes")
        if member.header_offset in starts:  # of which zipfile warns, in its newer releases
            raise ValueError(f"its member {short(name)} starts where another does")
        total += member.file_size
        starts.add(member.header_offset)
        members[name] = member
    if total > size:
        raise ValueError(f"its members claim {total} bytes, but the file has {size}")
    return members


def _read_header(text: bytes) -> dict[str, Any]:
    header = json.loads(text.decode(), parse_constant=_refuse_constant, object_pairs_hook=_refuse_twice)
    if not isinstance(header, dict) or header.get("magic") != MAGIC:
        raise ValueError("it is no fastpu model: its header lacks the mark of one")
    version = header.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"its format version must be an integer >= 1, got {short(version)}")
    if version > FORMAT:
        raise ValueError(
            f"it was written by a newer fastpu ({short(header.get('fastpu'))}, format {version}; "
            f"this one reads formats up to {FORMAT}): upgrade fastpu to load it"
        )
    return header


def _refuse_constant(text: str) -> float:
    raise ValueError(f"its header holds {text}, which is no JSON")


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError(f"its header has a name twice among {short([name for name, _ in pairs])}")
    return entries


def _read_array(name: str, data: bytes) -> NDArray[Any]:
    """Return the array of an .npy member: plain numbers only, whose size is that of the member."""
    if data[:8] != _NPY_MAGIC + b"\x01\x00":
        raise ValueError(f"its member {short(name)} is no array of the version that fastpu writes")
    start = 10 + int.from_bytes(data[8:10], "little")
    form = _NPY_HEADER.fullmatch(data[10:start])
    if form is None:
        raise ValueError(f"its member {short(name)} is no array of plain numbers")
    dtype = np.dtype(form[1].decode())
    shape = tuple(int(n) for n in form[2].decode().split(",") if n.strip())
    needed = math.prod(shape) * dtype.itemsize
    if needed != len(data) - start:
        raise ValueError(
            f"its member {short(name)} declares shape {shape} and dtype {dtype}, which takes "
            f"{needed} bytes, but it holds {len(data) - start}"
        )
    array = np.frombuffer(data, dtype=dtype, offset=start) if needed else np.empty(0, dtype=dtype)
    array = array.reshape(shape)
    array.flags.writeable = False
    return array
