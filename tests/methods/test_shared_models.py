"""One object in the hands of several Python threads at once: nothing that they do together changes what each one gets.

A Python without a global lock interleaves them anywhere. `test_sixteen_python_threads_at_once` has fits of all methods.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import fastpu
from fastpu.common._methods import DECLARED
from method_recipes import RECIPES

N_THREADS = 8
METHODS = sorted({recipe.name for recipe in RECIPES.values()} & set(DECLARED))

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def at_once(work: Any, n_calls: int = 3) -> list[Any]:
    """What eight threads get that begin together and call work(their number) several times."""
    barrier = threading.Barrier(N_THREADS)

    def begin(number: int) -> list[Any]:
        barrier.wait(60)
        return [work(number) for _ in range(n_calls)]

    with ThreadPoolExecutor(N_THREADS) as pool:
        return [each for found in pool.map(begin, range(N_THREADS)) for each in found]


@pytest.mark.parametrize("name", METHODS)
def test_threads_that_score_with_one_model_get_what_one_alone_gets(name, tmp_path):
    recipe = RECIPES[name]
    arguments = recipe.arguments(200)
    fitted = recipe.call(*arguments, n_threads=2)
    model = fitted[0] if isinstance(fitted, list) else fitted
    X = arguments[0]
    expected = (model.decision_function(X), model.predict(X))
    model.save(tmp_path / "model.npz")

    # Nothing has been computed of what comes from a file: what is kept for later calls would be made by all at once.
    fresh = fastpu.load(tmp_path / "model.npz")

    def work(number: int) -> tuple[Any, Any]:
        n_threads = 1 + number % 3
        return fresh.decision_function(X, n_threads=n_threads), fresh.predict(X, n_threads=n_threads)

    for scores, labels in at_once(work):
        np.testing.assert_allclose(scores, expected[0], rtol=0, atol=1e-9 * np.abs(expected[0]).max())
        np.testing.assert_array_equal(labels, expected[1])


def test_threads_that_fit_to_the_same_bins_get_the_same_model():
    X, y = RECIPES["fit_forest"].arguments(400)
    bins = fastpu.bin_features(X)
    expected = fastpu.fit_forest(bins, y, n_trees=5, random_state=0).decision_function(bins)
    found = at_once(lambda number: fastpu.fit_forest(bins, y, n_trees=5, random_state=0, n_threads=1 + number % 3))
    for model in found:
        np.testing.assert_array_equal(model.decision_function(bins), expected)


@pytest.mark.parametrize("given", [True, False])
def test_threads_that_call_one_objective_for_several_data_sets_get_their_own_gradients(given):
    """It keeps the rows of the last call, which may be those of another thread."""
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 2, 500) for _ in range(N_THREADS)]
    scores = [rng.normal(size=500) for _ in range(N_THREADS)]
    if given:
        labels = [labels[0]] * N_THREADS

    def objective() -> Any:
        return fastpu.objectives.logistic(labels[0]) if given else fastpu.objectives.logistic()

    expected = [objective()(labels[k], scores[k]) for k in range(N_THREADS)]
    shared = objective()
    found = at_once(lambda number: (number, shared(labels[number], scores[number])), n_calls=20)
    for number, derivatives in found:
        np.testing.assert_array_equal(derivatives, expected[number])
