"""Callbacks stop a fit when they say so, and bars are closed whatever happens."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pytest

from fastpu.common import _progress
from fastpu.common._progress import make_report


@pytest.fixture
def without_tqdm(monkeypatch):
    def import_module(name):
        raise ImportError(name)

    monkeypatch.setattr(_progress, "import_module", import_module)


def run(rounds, callback=None, progress=False, total=10):
    """The loop of a fit: call until told to stop; return the rounds run."""
    with make_report(callback, progress, total=total, description="fit") as call:
        for done in range(1, rounds + 1):
            if call is not None and call({"round": done}):
                return done
    return rounds


def test_nothing_to_call():
    with make_report(None, False, total=3, description="fit") as call:
        assert call is None


def test_a_callback_sees_every_round_and_stops_the_fit():
    seen = []
    assert run(5, lambda info: seen.append(info["round"])) == 5
    assert seen == [1, 2, 3, 4, 5]
    assert run(5, lambda info: info["round"] == 3) == 3
    assert run(5, lambda info: np.bool_(info["round"] == 2)) == 2
    assert run(5, lambda info: False) == 5


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("result", [1, 0.5, "stop", np.array([True])])
def test_a_callback_returns_a_bool_or_nothing(result, progress):
    with pytest.raises(TypeError, match="callback must return True to stop, False or None, got"):
        run(3, lambda info: result, progress)


def test_tqdm_shows_the_rounds(capsys):
    assert run(4, lambda info: info["round"] == 4, True) == 4
    shown = capsys.readouterr()
    assert "fit" in shown.err
    assert "4/10" in shown.err
    assert not shown.out


def test_the_plain_bar_writes_a_line_every_ten_seconds_and_one_at_the_end(without_tqdm, monkeypatch, capsys):
    clock = iter(np.arange(0.0, 100.0, 4.0))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: float(next(clock)))
    assert run(7, progress=True) == 7
    shown = capsys.readouterr()
    assert re.fullmatch(r"fit: 3/10 \[\d+\.\d s\]\nfit: 6/10 \[.*\]\nfit: 7/10 \[.*\]\n", shown.err), shown.err
    assert not shown.out


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_the_bar_is_closed_after_an_error(without_tqdm, capsys, error):
    def callback(info):
        if info["round"] == 3:
            raise error

    with pytest.raises(error):
        run(5, callback, True)
    assert "fit: 3/10" in capsys.readouterr().err


def test_a_stream_that_is_gone_ends_no_fit(without_tqdm, monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        assert run(2, progress=True) == 2
