"""Run by a test: many short fits, each interrupted at a random moment; prints what they leave behind."""

from __future__ import annotations

import signal
import threading
import time
import warnings

import numpy as np

import fastpu
from fastpu.common import _blas_threads, _warn
from fastpu.common._methods import DECLARED, function_of
from interrupts import n_tasks, settles_at
from method_recipes import RECIPES, bits

N_INTERRUPTS = 40
MANY = {"C": np.geomspace(1e-2, 1e2, 400)}  # fitted in threads


def is_interrupted(call, delay: float) -> bool:
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False


def storm(call, rng: np.random.Generator) -> int:
    """Interrupt a call at moments that are spread over it; return how often that came out of it."""
    call()
    seconds = 0.05
    for _ in range(3):
        started = time.perf_counter()
        call()
        seconds = min(seconds, time.perf_counter() - started)
    return sum(is_interrupted(call, 1e-5 + seconds * rng.random()) for _ in range(N_INTERRUPTS))


def main() -> None:
    # The alarm of a timer stands for Ctrl-C: it comes at once, from no other thread.
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = (rng.random(500) < 0.3).astype(int)
    fastpu.fit_isvm(X, y, n_threads=3, **MANY)
    n_before = n_tasks()  # with those that the core and BLAS keep
    for name in DECLARED:
        function, recipe = function_of(name), RECIPES[name]
        small, arguments = recipe.arguments(60), recipe.arguments(200)
        expected = bits(recipe.call(*small))

        def fit(function=function, arguments=arguments, options=recipe.options) -> None:
            function(*arguments, n_threads=2, **options)

        def fit_many(function=function, options=recipe.options) -> None:
            function(X, y, n_threads=3, **{**options, **MANY})

        n_came = storm(fit, rng)
        if name in {"fit_isvm", "fit_ipsi", "fit_bpsi"}:
            n_came += storm(fit_many, rng)
        assert n_came, f"no interrupt came out of {name}"
        assert bits(recipe.call(*small)) == expected, name
        left = (_warn._filters.get(), _warn._recorders, _blas_threads._holders, threading.active_count())
        assert left == ((), {}, {}, 1), (name, left)
    assert settles_at(n_before, threading.enumerate())
    print("nothing is left behind")


if __name__ == "__main__":
    main()
