"""A file that is not a whole and unchanged model is refused, and a failed save leaves the old file."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import zipfile

import numpy as np
import pytest

from fastpu.model._load import load
from toy_model import assert_same, toy


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.npz"
    toy().save(path)
    return path


def refused(path, text="cannot be loaded"):
    """Loading fails with one ValueError that names the file; return the message."""
    with pytest.raises(ValueError, match=re.escape(text)) as info:
        load(path)
    assert "model.npz" in str(info.value)
    assert "cannot be loaded" in str(info.value)


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, content, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def edit(path, change):
    """Change the header of a file."""
    with np.load(path, allow_pickle=False) as content:
        arrays = dict(content)
    header = json.loads(arrays["header"].tobytes())
    change(header)
    np.savez(path, **{**arrays, "header": as_header(json.dumps(header).encode())})


def as_header(text):
    return np.frombuffer(text, dtype=np.uint8)


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), **options)
    return stream.getvalue()


def test_foreign_files(path):
    np.savez(path, coef=np.ones(2))
    refused(path, "it is no fastpu model: it has no member header")
    np.savez(path, header=as_header(b'{"magic": "other"}'))
    refused(path, "it is no fastpu model: its header lacks the mark of one")
    known = b'{"magic": "fastpu-model", "format": '
    deep = known + b'1, "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    long = known + b"9" * 5000 + b"}"
    for header in (b"", b"[]", b"3", b"\xff\xfe", b"{", b'{"magic": NaN}', "{}".encode("utf-16"), long, deep):
        np.savez(path, header=as_header(header))
        refused(path)
    rewrite(path, {})
    refused(path, "it is no fastpu model")
    path.write_bytes(pickle.dumps(toy()))
    refused(path, "truncated or no .npz file")
    path.write_bytes(b"")
    refused(path, "truncated or no .npz file")


def test_the_order_of_names_in_the_header_means_nothing(path):
    expected = load(path)
    edit(path, lambda h: h.update({name: h.pop(name) for name in reversed(list(h))}))
    assert_same(load(path), expected)


@pytest.mark.parametrize("version", [2, 0, -1, "1", None, [1], True])
def test_formats_that_are_not_known(path, version):
    edit(path, lambda h: h.update(format=version, fastpu="9.9"))
    refused(path, f"it was written by fastpu '9.9' in format {version!r}, and this one reads formats 1 to 1: load")


def test_a_field_that_a_later_version_added_takes_its_default(path):
    """Files of the version before it lack the field, and no file may lose one that has no default."""
    edit(path, lambda h: h["fields"].pop("note"))
    assert_same(load(path), toy(note=None))


def test_compressed_members(path):
    rewrite(path, members(path), compression=zipfile.ZIP_DEFLATED)
    refused(path, "is compressed, which fastpu never does")


def header_of(descr, shape, order="False"):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    body = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (npy(np.array([{}, None], dtype=object), allow_pickle=True), "is no array of plain numbers"),
        (npy(np.array(["a"])), "is no array of plain numbers"),
        (npy(np.zeros(2), version=(2, 0)), "is no array of the version that fastpu writes"),
        (header_of("'<f8'", "(-2,)") + bytes(16), "which takes -16 bytes, but it holds 16"),
        (header_of("'<f8'", "(-1, -2)") + bytes(16), "cannot be loaded"),
        (header_of("'<f8'", "(0, 9223372036854775808)"), "cannot be loaded"),
        (header_of("'|O'", "(2,)") + bytes(16), "is no array of plain numbers"),
        (header_of("__import__('os')", "(2,)") + bytes(16), "cannot be loaded"),
        (header_of("-" * 9000 + "1", "(2,)") + bytes(16), "cannot be loaded"),
        (b"", "cannot be loaded"),
        (pickle.dumps(np.zeros(2)), "cannot be loaded"),
    ],
)
def test_arrays_of_other_forms(path, data, text):
    content = members(path)
    content["coef.npy"] = data
    rewrite(path, content)
    refused(path, text)


@pytest.mark.parametrize("array", [np.array([1.0, -3.0], dtype=">f8"), np.array([[1.0, -3.0]]).T[:, 0]])
def test_other_layouts_of_the_same_numbers_are_taken(path, array):
    content = members(path)
    content["coef.npy"] = npy(array)
    rewrite(path, content)
    np.testing.assert_array_equal(load(path).coef, [1.0, -3.0])
    assert load(path).coef.dtype == np.float64


def test_a_pickle_inside_is_not_run(path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path) + ".trapped",)

    for name in ("coef.npy", "header.npy", "extra.pkl"):
        toy().save(path)
        content = members(path)
        content[name] = pickle.dumps(Trap())
        rewrite(path, content)
        refused(path)
    content = members(path)
    content["coef.npy"] = npy(np.array([Trap()], dtype=object), allow_pickle=True)
    rewrite(path, content)
    refused(path)
    assert [p.name for p in path.parent.iterdir()] == ["model.npz"]


def test_missing_and_extra_members(path):
    whole = members(path)
    for name in whole:
        rewrite(path, {key: data for key, data in whole.items() if key != name})
        refused(path)
    rewrite(path, {**whole, "extra.npy": npy(np.zeros(2))})
    refused(path, "it has arrays that Toy does not know: ['extra']")
    rewrite(path, {**whole, "readme.txt": b""})
    refused(path)


def test_sizes_that_the_file_does_not_have(path):
    """Edit the central directory: a member claims more bytes than the file holds, or is encrypted."""
    content = bytearray(path.read_bytes())
    entry = content.find(b"PK\x01\x02")
    for size in (2**31, 2**32 - 2):
        content[entry + 20 : entry + 28] = size.to_bytes(4, "little") * 2
        path.write_bytes(content)
        refused(path, "bytes, but the file has")
    content = bytearray(path.read_bytes())
    content[entry + 20 : entry + 28] = (5).to_bytes(4, "little") * 2
    path.write_bytes(content)
    refused(path)
    toy().save(path)
    content = bytearray(path.read_bytes())
    content[entry + 8] |= 1
    path.write_bytes(content)
    refused(path, "encrypted")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda h: h.update({"class": "Unknown"}), "it holds a model of the unknown class 'Unknown'"),
        (lambda h: h.update({"class": "Model"}), "it holds a model of the unknown class 'Model'"),
        (lambda h: h.update({"class": ["Toy"]}), "unknown class"),
        (lambda h: h.pop("class"), "it lacks 'class'"),
        (lambda h: h.pop("fields"), "it lacks 'fields'"),
        (lambda h: h.update(fields=[]), "its fields are not those of Toy"),
        (lambda h: h["fields"].pop("status"), "its fields are not those of Toy"),
        (lambda h: h["fields"].update(more=1), "its fields are not those of Toy"),
        (lambda h: h["fields"].update(threshold=10**400), "cannot be loaded"),
        (lambda h: h["fields"].update(coef=None), "it has arrays that Toy does not know: ['coef']"),
        (lambda h: h["fields"].update(history=["delta"]), "it has arrays that Toy does not know: ['history/feature']"),
        (lambda h: h["fields"].update(history=["delta", "gone"]), "it lacks 'history/gone'"),
        (lambda h: h["fields"].update(history=["delta", "delta"]), "it lacks 'history/delta'"),
        (lambda h: h["fields"].update(history=[["delta"]]), "cannot be loaded"),
        (lambda h: h["fields"].update(history=["../coef"]), "cannot be loaded"),
        (lambda h: h["fields"].update(params={"a": {"b": 1}}), "params['a'] must be None, a number, a string or a tup"),
        (lambda h: h["fields"].update(feature_names=["a", {}]), "feature_names[1] must be None, a number"),
    ],
)
def test_headers_that_no_model_has(path, change, text):
    edit(path, change)
    refused(path, text)


# -------------------------------------------------------------------------------------- failed saves


def test_values_that_no_file_holds_are_refused_before_anything_is_written(path):
    old = path.read_bytes()
    with pytest.raises(ValueError, match="integer"):
        toy(params={"huge": 10**5000}).save(path)
    assert path.read_bytes() == old
