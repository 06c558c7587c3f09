"""Whatever goes wrong while a model is saved, the old file is whole, and nothing is left beside it."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from fastpu.model import _file as _model_file
from fastpu.model._load import load
from toy_model import toy

posix = pytest.mark.skipif(sys.platform == "win32", reason="files, links and permissions of POSIX")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.npz"
    toy().save(path)
    return path


def names_beside(path):
    return sorted(name.name for name in path.parent.iterdir())


@posix
def test_permissions_are_those_of_the_old_file_from_the_start(path, monkeypatch):
    savez, seen = np.savez, []

    def look(stream, **arrays):
        seen.append(stat.S_IMODE(os.fstat(stream.fileno()).st_mode))
        savez(stream, **arrays)

    monkeypatch.setattr(_model_file.np, "savez", look)
    for mode in (0o600, 0o640, 0o400, 0o666):
        path.chmod(mode)
        toy(n_iter=mode).save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert not seen[-1] & ~mode
    assert load(path).n_iter == 0o666
    toy().save(path.with_name("new"))
    path.with_name("plain").write_text("")
    assert path.with_name("new").stat().st_mode == path.with_name("plain").stat().st_mode


@pytest.mark.parametrize("place", ["open", "savez", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(path, place, error, monkeypatch):
    def fail(*args, **kwargs):
        raise error

    old = path.read_bytes()
    owner = {"savez": _model_file.np, "replace": Path}.get(place, _model_file.os)
    monkeypatch.setattr(owner, place, fail)
    with pytest.raises(type(error)):
        toy(n_iter=9).save(path)
    assert path.read_bytes() == old
    assert names_beside(path) == ["model.npz"]


# ---------------------------------------------------------------------------------------------------- places


@posix
def test_links_are_followed_and_kept(tmp_path):
    (tmp_path / "link").symlink_to("there")  # to nothing so far
    toy(n_iter=5).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "there").n_iter == load(tmp_path / "link").n_iter == 5
    (tmp_path / "nowhere").symlink_to("absent/model")
    with pytest.raises(FileNotFoundError):
        toy().save(tmp_path / "nowhere")


@posix
@pytest.mark.parametrize("place", ["absent/m.npz", "./absent//m.npz", "model.npz/m.npz", "x" * 300, "nowhere"])
def test_errors_name_the_path_that_was_given(path, place, monkeypatch):
    monkeypatch.chdir(path.parent)
    Path("nowhere").symlink_to("absent/model")
    with pytest.raises(OSError, match=".") as of_python:
        Path(place).write_bytes(b"")
    for function in (toy().save, load):
        with pytest.raises(type(of_python.value), match=place) as raised:
            function(place)
        assert raised.value.errno == of_python.value.errno
        assert raised.value.filename == place
        assert raised.value.filename2 is None
        assert "tmp" not in str(raised.value)


@posix
def test_devices_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    devices = [name for name in ("/dev/null", "/dev/full", "/dev/zero") if Path(name).exists()]
    for name in (str(tmp_path / "pipe"), *devices):
        with pytest.raises(ValueError, match="path must name a regular file, got .*, which is a device or pipe"):
            toy().save(name)
        with pytest.raises(ValueError, match="path must name a regular file, got .*, which is a device or pipe"):
            load(name)


@posix
def test_names_as_long_as_they_may_be(tmp_path):
    path = tmp_path / ("m" * 255)
    toy().save(path)
    toy(n_iter=8).save(path)
    assert load(path).n_iter == 8
    with pytest.raises(OSError, match="too long"):
        toy().save(tmp_path / ("m" * 256))


def test_threads_that_save_at_once_leave_one_whole_file(path):
    models = [toy(n_iter=i, objective=np.full(1000, float(i))) for i in range(1, 5)]

    def save(model):
        for _ in range(5):
            model.save(path)

    threads = [Thread(target=save, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = load(path)
    assert (found.objective == found.n_iter).all()
    assert names_beside(path) == ["model.npz"]
