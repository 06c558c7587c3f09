"""`SVMPath.select` keeps to the threads that it is given and to the cache of its path."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import fastpu
from fastpu.path import _selection
from fastpu.svm.kernel_machine import KernelMachine


def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, 1, -1)


def test_select_scores_with_as_many_threads_as_it_is_given(monkeypatch):
    X, y = rows()
    path, asked = fastpu.fit_svm_path(X, y, n_threads=1), []
    score = KernelMachine._decision_function
    monkeypatch.setattr(
        KernelMachine,
        "_decision_function",
        lambda self, matrix, n_threads: (asked.append(n_threads), score(self, matrix, n_threads))[1],
    )
    path.select("error", X, y, n_threads=3)
    path.select("error", n_threads=3)
    assert set(asked) == {3}


def test_the_paths_of_folds_take_the_cache_of_their_path(monkeypatch, tmp_path):
    X, y = rows()
    path, caches = fastpu.fit_svm_path(X, y, cache_mb=7), []
    path.save(tmp_path / "path.npz")
    follow = _selection.follow_path
    monkeypatch.setattr(
        _selection, "follow_path", lambda *args: (caches.append(args[-1].cache_bytes), follow(*args))[1]
    )
    for each in (path, fastpu.load(tmp_path / "path.npz")):
        each.select("error", n_folds=2, random_state=0)
    assert set(caches) == {7 * 2**20}


def test_a_table_without_rows_has_no_scores():
    X, y = rows()
    path = fastpu.fit_svm_path(X, y)
    for empty in (X[:0], sp.csr_array((0, 2))):
        assert path.scores(empty, [1.0, 2.0]).shape == (0, 2)
