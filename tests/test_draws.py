"""What is given no random_state draws the same numbers in every run of the tests (conftest.py of the project)."""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest
from sklearn.utils import check_random_state

import fastpu

pytestmark = pytest.mark.skipif("HYPOTHESIS_PROFILE" in os.environ, reason="a run of its own kind may draw anew")


def stream_of(name: str) -> np.random.SeedSequence:
    return np.random.SeedSequence(zlib.crc32(name.encode()))


@pytest.fixture(scope="module")
def of_the_module() -> float:
    return float(np.random.default_rng().random())


def test_each_draw_of_a_test_is_the_next_one_of_its_name(request):
    expected = [np.random.default_rng(seed).random() for seed in stream_of(request.node.nodeid).spawn(2)]
    assert [np.random.default_rng().random() for _ in range(2)] == expected
    assert expected[0] != expected[1]


def test_a_fixture_has_numbers_of_its_own_whichever_test_asks_first(request, of_the_module):
    expected = np.random.default_rng(stream_of(f"{request.node.parent.nodeid} of_the_module 0").spawn(1)[0])
    assert of_the_module == expected.random()


def test_what_scikit_learn_draws_depends_on_the_test_alone(request):
    expected = np.random.RandomState(zlib.crc32(request.node.nodeid.encode())).random_sample()
    assert check_random_state(None).random_sample() == expected


def test_fits_without_a_random_state_differ_within_a_test():
    X, _ = fastpu.datasets.make_two_normals(100, random_state=0)
    y = X[:, 0] > 1
    one, two = (fastpu.fit_forest(X, y, n_trees=5) for _ in range(2))
    assert one.seed != two.seed
