"""The problems that large-margin engines are timed on, and how far a solution is from the optimum."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from shared import read_labelled, standardised

from fastpu import _core
from fastpu.data._validate import check_matrix

sys.path.append(str(Path(__file__).resolve().parent.parent / "papers" / "svmc"))

import sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

Labels = Any  # ndarray of int8, +1 and -1
_WORDS_PER_ROW = 100


def sparse_rows(n: int, n_words: int, *, seed: int = 0) -> tuple[sp.csr_array, Labels]:
    """Return rows of 100 words each, of length about 1, drawn in place, and the noisy signs of a linear function."""
    rng = np.random.default_rng(seed)
    step = n_words // _WORDS_PER_ROW
    indices = rng.integers(0, step, (n, _WORDS_PER_ROW), dtype=np.int32)
    indices += np.arange(0, step * _WORDS_PER_ROW, step, dtype=np.int32)
    data = rng.random(indices.size)
    data *= np.sqrt(3 / _WORDS_PER_ROW)
    starts = np.arange(0, data.size + 1, _WORDS_PER_ROW, dtype=np.int32)
    X = sp.csr_array((data, indices.ravel(), starts), shape=(n, n_words))
    scores = X @ rng.standard_normal(n_words)
    scores += 0.3 * rng.standard_normal(n)
    return X, np.where(scores > 0, np.int8(1), np.int8(-1))


def pages(data: str) -> tuple[sp.csr_array, Labels]:
    """Return pages of the web as TF-IDF, and which are those of students."""
    student = next(found for found in sets.DATA_SETS if found.name == "student")
    X, y = sets.load(Path(data), student)
    return X, np.asarray(y, dtype=np.int8)


def load_set(data: str, n_rows: int | None, *, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return standardised rows of SPAM, all or a random part, and the label 1 on a fourth of the spam, 0 elsewhere."""
    X, names = read_labelled(Path(data) / "spambase.csv.gz")
    rng = np.random.default_rng(seed)
    if n_rows is not None:
        rows = rng.permutation(len(X))[:n_rows]
        X, names = X[rows], names[rows]
    X = np.ascontiguousarray(standardised(X, X))
    spam = rng.permutation(np.flatnonzero(names == "spam"))
    y = np.zeros(len(X), dtype=np.int8)
    y[spam[: spam.size // 4]] = 1
    return X, y


# ---- Engine and optima -----------------------------------------------------------------------------------------------


def solve(X: Any, y: Labels, C: float, tol: float, n_threads: int) -> _core.MarginSolution:
    """Minimise |w|^2 / 2 + C sum of hinge losses, to a relative duality gap, the engine's construction included."""
    made = _core.LargeMarginEngine(check_matrix(X), n_threads=n_threads)
    costs = np.full(y.size, float(C))
    return made.solve(y, costs, None, None, _core.MarginOptions(tol=tol), None, n_threads=n_threads)


def liblinear_optimum(X: Any, y: Labels, C: float, tol: float) -> float:
    """Return the optimum of liblinear's own objective, which penalises the intercept, less the gap it is known to.

    With a feature 1 that is penalised, and each row a second time with its signs turned, at half the cost, the
    intercept that is not penalised is 0 by symmetry, and the objective is liblinear's.
    """
    ones = np.ones((y.size, 1))
    doubled: Any
    if sp.issparse(X):
        wide = sp.hstack([X, sp.csr_array(ones)], format="csr")
        doubled = sp.csr_array(sp.vstack([wide, -wide], format="csr"))
    else:
        wide = np.hstack([X, ones])
        doubled = np.vstack([wide, -wide])
    found = solve(doubled, np.concatenate([y, -y]), C / 2, tol, n_threads=1)
    return found.objective - found.gap


def primal(X: Any, y: Labels, C: float, w: NDArray[np.float64], b: float) -> float:
    """Return liblinear's objective."""
    losses = np.maximum(1 - y * (X @ w + b), 0)
    return 0.5 * float(w @ w + b * b) + C * float(losses.sum())
