"""If only one test file is run, this is the one.

`python tests/test_minimal.py` needs nothing but fastpu's run-time packages: it is what judges a wheel in an empty
environment, so it uses neither pytest nor anything else of the test tools.
"""

from __future__ import annotations

import pickle
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy import sparse

import fastpu
from fastpu import _core


def small_problem() -> tuple[np.ndarray, np.ndarray]:
    """Rows whose first column tells the classes apart but for some noise; two thirds have no label."""
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(300) < 0.5, 1, -1)
    X = rng.standard_normal((300, 4))
    X[:, 0] += 2 * truth
    y = np.where(rng.random(300) < 2 / 3, 0, truth)
    return X, y


def test_versions_agree() -> None:
    assert fastpu.__version__ == version("fastpu") == _core.__version__


def test_fits_and_ranks() -> None:
    X, y = small_problem()
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=20)
    score = model.decision_function(X)
    assert fastpu.metrics.auc(y[y != 0], score[y != 0]) > 0.95
    assert set(np.unique(model.predict(X))) == {-1, 1}


def test_same_model_for_any_number_of_threads() -> None:
    X, y = small_problem()
    one, three = (fastpu.fit_pnu_auc_boost(X, y, n_rounds=10, n_threads=n).decision_function(X) for n in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_sparse_input_is_like_dense() -> None:
    X, y = small_problem()
    dense = fastpu.fit_pnu_auc_boost(X, y, n_rounds=10).decision_function(X)
    from_sparse = fastpu.fit_pnu_auc_boost(sparse.csr_array(X), y, n_rounds=10).decision_function(X)
    # The sums of a round are added up in another order.
    np.testing.assert_allclose(dense, from_sparse, rtol=1e-9)


def test_model_survives_save_and_pickle() -> None:
    X, y = small_problem()
    model = fastpu.fit_pnu_auc_boost(X, y, n_rounds=10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        model.save(path)
        loaded = fastpu.load(path)
    for copy in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))


def test_python_without_a_global_lock_goes_on_without_one() -> None:
    """A module that does not declare itself safe would bring the lock back for the whole process."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not sys._is_gil_enabled()


def test_bad_input_is_refused() -> None:
    X, y = small_problem()
    for bad in (X[:10], X.astype(complex)):
        try:
            fastpu.fit_pnu_auc_boost(bad, y)
        except (TypeError, ValueError):
            continue
        raise AssertionError("bad input was taken")


def main() -> int:
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    sys.stdout.write(f"fastpu {fastpu.__version__} from {Path(fastpu.__file__).parent}: {len(tests)} checks passed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
