"""Files of every format that was ever written are read, and their models score as they did."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import DECLARED
from fastpu.model._file import _FORMAT

GOLDEN = Path(__file__).resolve().parent / "golden"
FILES = sorted(GOLDEN.glob("format_*/*.npz"))

_spec = importlib.util.spec_from_file_location("golden_write", GOLDEN / "write.py")
write = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(write)


@pytest.mark.parametrize("version", range(1, _FORMAT + 1))
def test_every_method_has_a_file_of_every_format(version):
    names = {path.stem for path in FILES if path.parent.name == f"format_{version}"}
    assert names >= ({*DECLARED, *write.FORMS} if version == _FORMAT else {"fit_forest"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_old_file_is_read_and_scores_as_it_did(path):
    model = fastpu.load(path)
    method = path.stem.partition("-")[0]
    assert re.fullmatch(rf"(baselines\.)?{method}", str(model.params["method"]))
    X, _ = write.rows(DECLARED[method].groups)
    expected = np.load(path.with_suffix(".scores.npy"))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-12)
    assert np.ptp(expected) > 0
