"""Linear PU machines on many columns: a bagging SVM and ISVM, beside the same loops over scikit-learn's LinearSVC.

Rows: 20,000 x 768 normal float32 columns as embeddings have, and 100,000 x 2,048 bits in CSR, some 60 of them set, as
fingerprints of molecules are; 200 positives are labelled, and positives differ in a few dozen columns. LinearSVC has
hinge loss, as fastpu's machines have, and its own tol.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from running import Case, Row, alternate

import fastpu
from isvm import iterate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ("sklearn", "pulearn")
SETTINGS = {
    "embeddings": [20_000, 768],
    "fingerprints": [100_000, 2048],
    "labelled": 200,
    "bags": 35,
    "costs": [1.0, 100.0],
    "repeats": 3,
}
QUICK = {"embeddings": [300, 30], "fingerprints": [300, 100], "labelled": 30, "bags": 3, "costs": [1.0], "repeats": 1}
_SET = 0.03  # share of the bits of a fingerprint


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for rows, shape in (("embeddings", run.embeddings), ("fingerprints", run.fingerprints)):
        for n_threads in run.threads:
            shared = {"rows": rows, "shape": shape, "labelled": run.labelled, "n_threads": n_threads}
            yield Case(bagging, **shared, bags=run.bags, repeats=run.repeats)
            for cost in run.costs:
                yield Case(isvm, **shared, C=cost, repeats=run.repeats)


def _draw(rows: str, shape: list[int], labelled: int) -> tuple[Any, NDArray[np.int8], NDArray[np.int8]]:
    """Return rows, labels 1 of so many positives and 0 of all others, and all labels."""
    rng = np.random.default_rng(0)
    n, d = shape
    truth = np.where(rng.random(n) < 0.2, np.int8(1), np.int8(-1))
    few = rng.permutation(d)[: d // 20]
    X: Any
    if rows == "embeddings":
        X = rng.standard_normal((n, d), dtype=np.float32)
        X[np.ix_(truth > 0, few)] += 0.5
    else:
        chance = np.full((2, d), _SET)
        chance[1, few] *= 3
        X = sp.vstack([sp.csr_array(rng.random((len(part), d)) < chance[(part > 0).astype(int)], dtype=np.float32)
                       for part in np.array_split(truth, -(-n // 1000))], format="csr")  # fmt: skip
    y = np.zeros(n, dtype=np.int8)
    y[np.flatnonzero(truth > 0)[:labelled]] = 1
    return X, y, truth


def _linear_svc(C: float = 1.0) -> Any:
    from sklearn.svm import LinearSVC  # noqa: PLC0415 (only where it is measured)

    return LinearSVC(loss="hinge", C=C, random_state=0)


def _contest(works: dict[str, Callable[[], Any]], X: Any, y: Any, truth: Any, repeats: int) -> list[Row]:
    """Time both, and judge by the AUC of all unlabelled rows where a model is returned."""

    def judge(_: str, model: Any) -> Row:
        if not hasattr(model, "decision_function"):
            return {"ended": model}
        return {"AUC": fastpu.metrics.auc(truth[y == 0], model.decision_function(X)[y == 0])}

    return alternate(works, repeats, warm_up={}, judge=judge)


def bagging(
    *, rows: str, shape: list[int], labelled: int, n_threads: int, bags: int, repeats: int
) -> list[Row]:  # fmt: skip
    """A bagging SVM with the linear kernel and bags as large as the labelled rows, out-of-bag scores included."""
    from pulearn import BaggingPuClassifier  # noqa: PLC0415 (only where it is measured)

    X, y, truth = _draw(rows, shape, labelled)
    ensemble = BaggingPuClassifier(_linear_svc(), n_estimators=bags, max_samples=labelled, n_jobs=n_threads,
                                   random_state=0)  # fmt: skip
    ours = partial(fastpu.fit_bagging_svm, X, y, n_bags=bags, n_threads=n_threads, random_state=0)
    return _contest({"fastpu": ours, "pulearn over LinearSVC": partial(ensemble.fit, X, y)}, X, y, truth, repeats)


def isvm(*, rows: str, shape: list[int], labelled: int, n_threads: int, C: float, repeats: int) -> list[Row]:
    """Algorithm 1 (ISVM) at one C, which scikit-learn runs in one thread."""
    X, y, truth = _draw(rows, shape, labelled)

    def ours() -> str:
        return fastpu.fit_isvm(X, y, C=C, n_threads=n_threads).status

    theirs = partial(iterate, X, y, C, _linear_svc())
    return _contest({"fastpu": ours, "loop over LinearSVC": theirs}, X, y, truth, repeats)
