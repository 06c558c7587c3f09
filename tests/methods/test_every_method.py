"""Promises that every function that computes keeps: bits, threads, errors of callbacks."""

from __future__ import annotations

import concurrent.futures
import gc
import threading
import weakref

import numpy as np
import pytest
import threadpoolctl

from fastpu.common._methods import DECLARED
from input_recipes import FUNCTIONS, signature
from interrupts import n_tasks, settles_at
from method_recipes import RECIPES, bits, result

pytestmark = [
    # An estimate of few rows says so.
    pytest.mark.filterwarnings("ignore::fastpu.exceptions.EstimateWarning"),
    # A small part of the rows may be one that a method finds nothing in; that is for its own tests.
    pytest.mark.filterwarnings("ignore::fastpu.exceptions.DegenerateModelWarning"),
]

with_callback = [pytest.param(r, id=name) for name, r in RECIPES.items() if r.takes("callback")]


def test_every_method_has_a_recipe():
    # An objective computes when a library calls it: tests/boosting/test_objectives.py has its threads and bits.
    computing = {name for name in FUNCTIONS if "n_threads" in signature(name) and not name.startswith("objectives")}
    missing = {*DECLARED, *computing} - {recipe.name for recipe in RECIPES.values()}
    assert not missing, f"tests/methods/method_recipes.py has no call of {sorted(missing)}"


@pytest.mark.parametrize(
    ("recipe", "form"),
    [pytest.param(recipe, form, id=f"{name}-{form}") for name, recipe in RECIPES.items() for form in recipe.forms],
)
def test_results_do_not_depend_on_the_threads_or_the_run(recipe, form, unchanged):
    """Not by a bit; where BLAS sums, other numbers of threads may change scores by 1e-9 of the largest."""
    arguments = recipe.arguments(form=form)
    with unchanged(*arguments):
        first = result(recipe, *arguments, n_threads=1)
        expected = bits(first)
        # The jobs of select are processes, which take half a second each to start. Where BLAS does not sum, two threads
        # would also show that a run is not like the last one.
        for n_threads in (1, 2, 7) if recipe.sums_by_blas else (2,) if recipe.name == "select" else (2, 7):
            again = result(recipe, *arguments, n_threads=n_threads)
            if recipe.sums_by_blas and n_threads > 1:
                tol = 1e-9 * np.abs(first["scores"]).max()
                np.testing.assert_allclose(again["scores"], first["scores"], rtol=0, atol=tol)
                continue
            found = bits(again)
            differing = [key for key in expected | found if expected.get(key) != found.get(key)]
            assert not differing, f"n_threads = {n_threads}"


def test_sixteen_python_threads_at_once():
    """All methods mixed, each of them by several threads at the same time."""
    names = list(RECIPES)
    arguments = {name: RECIPES[name].arguments(200, seed=1) for name in names}

    def work(name: str) -> dict[str, object]:
        return bits(result(RECIPES[name], *arguments[name], n_threads=1 + names.index(name) % 3))

    expected = {name: work(name) for name in names}
    jobs = [names[(7 * i) % len(names)] for i in range(3 * len(names))]
    limits = threadpoolctl.threadpool_info()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(work, jobs))
    assert [name for name, value in zip(jobs, found, strict=True) if value != expected[name]] == []
    assert threadpoolctl.threadpool_info() == limits


class CallbackError(Exception):
    """Raised by a callback."""


@pytest.mark.parametrize("recipe", with_callback)
def test_a_callback_that_raises_leaves_nothing_behind(recipe):
    arguments = recipe.arguments(200)
    heard = []
    expected = bits(result(recipe, *arguments, callback=lambda info: heard.append(1), n_threads=3))
    limits = threadpoolctl.threadpool_info()
    python_threads, tasks = threading.enumerate(), n_tasks()
    assert heard
    for fail_at in sorted({1, len(heard) // 2 + 1, len(heard)}):
        calls = []

        def fail(info: object, calls: list[object] = calls, fail_at: int = fail_at) -> None:
            calls.append(info)
            if len(calls) == fail_at:
                raise CallbackError(f"call {fail_at}")

        with pytest.raises(CallbackError, match=f"call {fail_at}$"):
            recipe.call(*arguments, callback=fail, n_threads=3)
        assert len(calls) == fail_at
        assert settles_at(tasks, python_threads)
        assert threadpoolctl.threadpool_info() == limits
        assert bits(result(recipe, *arguments, n_threads=3)) == expected


@pytest.mark.parametrize("recipe", with_callback)
def test_a_fit_whose_callback_raised_keeps_no_data(recipe):
    X, *rest = recipe.arguments(200)
    alive = weakref.ref(X)

    def fail(info: object) -> None:
        raise CallbackError("at once")

    with pytest.raises(CallbackError) as raised:
        recipe.call(X, *rest, callback=fail)
    del X, raised
    if alive() is not None:
        gc.collect()
    assert alive() is None


@pytest.mark.parametrize("recipe", with_callback)
def test_a_stop_iteration_of_a_callback_comes_out_as_it_is(recipe):
    error = StopIteration("mine")  # of which a generator in between would make a RuntimeError

    def fail(info: object) -> None:
        raise error

    with pytest.raises(StopIteration) as raised:
        recipe.call(*recipe.arguments(100), callback=fail)
    assert raised.value is error
