"""Simulated rows of kinds that no package of the index has: fingerprints, embeddings, and rows that drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def as_frame(X: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[Any, NDArray[np.bool_]]:
    """Return the rows as a frame."""
    from pandas import DataFrame  # noqa: PLC0415 (only where it is wanted)

    return DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]), truth


def bits(_: Path) -> tuple[Any, NDArray[np.bool_]]:
    """Return fingerprints of 200 families of compounds; active are those with one of two pairs of fragments."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 (only where it is wanted)

    rng = np.random.default_rng(22)
    n, d = 20_000, 2048
    shares = rng.beta(0.05, 1.2, size=(200, d))
    bits = rng.random((n, d)) < shares[rng.integers(0, 200, size=n)]
    often = np.argsort(-bits.mean(axis=0))[:40]
    a, b, c, e = bits[:, often[rng.choice(40, 4, replace=False)]].T
    active = rng.random(n) < np.where((a & b) | (c & e), 0.9, 0.004)
    return csr_matrix(bits, dtype=np.float64), active


def embedding(topics: int, _: Path) -> tuple[Any, NDArray[np.bool_]]:
    """Return rows of 768 columns, of low rank with noise: classes one direction apart, or some of 20 topics."""
    rng = np.random.default_rng(23)
    n, d, rank = 20_000, 768, 64
    spectrum = 1 / np.sqrt(1 + np.arange(rank))
    factors = rng.standard_normal((n, rank)) * spectrum
    if topics == 1:
        truth = rng.random(n) < 0.3
        factors[:, 20] += 0.5 * truth
    else:
        topic = rng.integers(0, topics, size=n)
        factors += (rng.standard_normal((topics, rank)) * spectrum)[topic] * 1.2
        truth = topic < 6
    basis = np.linalg.qr(rng.standard_normal((d, rank)))[0]
    return as_frame(factors @ basis.T + 0.02 * rng.standard_normal((n, d)), truth)


def drifting(_: Path) -> tuple[Any, NDArray[np.bool_]]:
    """Return mixed columns, few of which matter, some only together with others, with categories and missing entries.

    In the second half of the rows the columns that matter have other means, and twice as many rows are positive.
    """
    from pandas import DataFrame, Series  # noqa: PLC0415 (only where it is wanted)

    rng = np.random.default_rng(20)
    n, share = 20_000, 0.05
    late = np.arange(n) >= n // 2
    normal = rng.standard_normal((n, 15)) + 0.5 * late[:, None] * (np.arange(15) < 5)
    skewed = rng.exponential(size=(n, 8)) ** 2
    codes = rng.integers(0, 6, size=(n, 6))
    signal = (
        0.9 * normal[:, 0] - 0.7 * normal[:, 1] + 1.2 * np.sign(normal[:, 2] * normal[:, 3])
        + 1.5 * (skewed[:, 0] > 2) * (normal[:, 4] > 0) + np.isin(codes[:, 0], (1, 4)) + 0.6 * np.log1p(skewed[:, 1])
    )  # fmt: skip
    noisy = 2 * signal + rng.logistic(size=n)
    truth = np.zeros(n, dtype=np.bool_)
    for part, wanted in ((~late, share), (late, 2 * share)):
        truth[part] = noisy[part] > np.quantile(noisy[part], 1 - wanted)
    normal[rng.random(normal.shape) < 0.1] = np.nan
    columns = {f"x{i}": column for i, column in enumerate(np.hstack([normal, skewed]).T)}
    columns |= {
        f"c{i}": Series([f"kind {code}" for code in column], dtype="category") for i, column in enumerate(codes.T)
    }
    return DataFrame(columns), truth
