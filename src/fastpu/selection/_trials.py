"""Fits of many parameters to parts of the data, judged on held-out rows; work is shared where the fit offers it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from fastpu.common._params import check_scores_rows, value_key
from fastpu.common._warn import recorded
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.model._model import Model
from fastpu.selection._criteria import Criterion
from fastpu.selection._splits import Split

Candidate: TypeAlias = Mapping[str, Any]

#: The flaws that a model can have, the worst last.
FLAWS = ("not_converged", "degenerate", "failed")

# The status of a model that is constant although its scores on the training rows may not show it.
_COLLAPSED = ("no_negative", "collapse")


@dataclass(frozen=True)
class TrialSetup:
    """What all trials share: the fit and its other arguments, the criterion, the flaws to accept.

    `arguments` is a mapping, because the fit may be a function of the user's with arguments of any name. `n_threads` is
    for each fit and for its scores, None for their defaults.
    """

    fit: Callable[..., Any]
    arguments: Mapping[str, Any]
    n_threads: int | None
    criterion: Criterion
    admitted: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The result of one candidate on one part; `others` are warnings that are not fastpu's, which the caller gets."""

    score: float
    status: str
    message: str
    seconds: float
    others: tuple[tuple[type[Warning], str], ...] = ()


def make_lines(
    candidates: Sequence[Candidate], shares: Sequence[str], *, together: bool = False
) -> list[tuple[list[int], tuple[str, ...]]]:
    """Group candidates, by their positions, into as few lines as possible: one call fits the candidates of a line.

    The candidates of a line differ in one of the shared parameters alone, or, with `together`, in any of them. The
    names of these parameters are returned with each line; a line of one candidate shares nothing.
    """
    best: dict[Any, list[int]] = {i: [i] for i in range(len(candidates))}
    shared: tuple[str, ...] = ()
    for names in [tuple(shares)] if together else [(name,) for name in shares]:
        groups: dict[Any, list[int]] = {}
        for i, candidate in enumerate(candidates):
            rest = tuple((key, _token(value)) for key, value in sorted(candidate.items()) if key not in names)
            # A sequence of values has no place for None, which asks a single fit for its default.
            set_names = tuple(name for name in names if candidate.get(name) is not None)
            groups.setdefault((set_names, rest) if set_names else i, []).append(i)
        if len(groups) < len(best):
            best, shared = groups, names
    return [(positions, shared if len(positions) > 1 else ()) for positions in best.values()]


def _token(value: Any) -> Any:
    """Return a key that is the same for the same values of a parameter."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value_key(value)


def _run_line(setup: TrialSetup, split: Split, line: Sequence[Candidate], shared: tuple[str, ...]) -> list[Outcome]:
    if shared:
        try:
            return _run_shared(setup, split, line, shared)
        except (ArithmeticError, ValueError):
            pass  # one of the values caused the error: fitted one by one, only that one fails
    return [_run_single(setup, split, candidate) for candidate in line]


def _run_shared(setup: TrialSetup, split: Split, line: Sequence[Candidate], shared: tuple[str, ...]) -> list[Outcome]:
    first, n = line[0], len(line)
    names = [name for name in shared if name in first]
    values = {name: [candidate[name] for candidate in line] for name in names}
    start = time.perf_counter()
    with recorded() as caught:
        models = setup.fit(split.X, split.y, **setup.arguments, **split.by_row, **{**first, **values})
    if not isinstance(models, list | tuple) or len(models) != n:
        listed = " and ".join(map(repr, names))
        raise TypeError(
            f"fit has {listed} in its attribute shares, so it must return a list of {n} models for that many values, "
            f"got {type(models).__name__}"
        )
    seconds = (time.perf_counter() - start) / n
    outcomes, flaws_of_some = [], flaws_of(caught)
    for i, model in enumerate(models):
        # A warning does not say which of the models it is about, but the status of the models does.
        flaws = {flaw: text for flaw, text in flaws_of_some.items() if _may_have(flaw, model, split, setup.n_threads)}
        outcomes.append(judged(setup, split, model, flaws, seconds, caught if i == 0 else ()))
    return outcomes


def _may_have(flaw: str, model: Any, split: Split, n_threads: int | None) -> bool:
    """Return whether a warning of this flaw, given by a fit of several models, may be about this one."""
    if flaw == "not_converged":
        return not getattr(model, "converged", False)
    if str(getattr(model, "status", "")).startswith(_COLLAPSED):
        return True
    check_scores_rows(model)
    threads = {"n_threads": n_threads} if isinstance(model, Model) else {}
    positive = np.asarray(model.decision_function(split.X, **threads)) > getattr(model, "threshold", 0.0)
    return bool(positive.all() or not positive.any())


def _run_single(setup: TrialSetup, split: Split, candidate: Candidate) -> Outcome:
    start = time.perf_counter()
    with recorded() as caught:
        try:
            model = setup.fit(split.X, split.y, **setup.arguments, **split.by_row, **candidate)
        except (ArithmeticError, ValueError) as error:
            text = f"{type(error).__name__}: {error}"
            return Outcome(setup.criterion.worst, "failed", text, time.perf_counter() - start)
    return judged(setup, split, model, flaws_of(caught), time.perf_counter() - start, caught)


def judged(
    setup: TrialSetup,
    split: Split,
    model: Any,
    flaws: Mapping[str, str],
    seconds: float,
    caught: Sequence[warnings.WarningMessage],
) -> Outcome:
    """Return the outcome of a fit that gave a model with these flaws, and these warnings."""
    foreign = [warning for warning in caught if not warning.category.__module__.startswith("fastpu.")]
    others = tuple((warning.category, str(warning.message)) for warning in foreign)
    status = max(flaws, key=FLAWS.index, default="ok")
    message = flaws.get(status, "")
    if not set(flaws) <= set(setup.admitted):
        return Outcome(setup.criterion.worst, status, message, seconds, others)
    try:
        score = setup.criterion.value(model, split, setup.n_threads)
    except (ArithmeticError, ValueError) as error:
        return Outcome(setup.criterion.worst, "failed", f"{type(error).__name__}: {error}", seconds, others)
    if math.isnan(score):
        return Outcome(setup.criterion.worst, "failed", "the score is NaN", seconds, others)
    return Outcome(score, status, message, seconds, others)


def flaws_of(caught: Sequence[warnings.WarningMessage]) -> dict[str, str]:
    """Return the flaws of a model that warnings are about, each with the first text about it."""
    flaws: dict[str, str] = {}
    for warning in caught:
        for flaw, category in (("degenerate", DegenerateModelWarning), ("not_converged", ConvergenceWarning)):
            if issubclass(warning.category, category):
                flaws.setdefault(flaw, str(warning.message))
    return flaws


def run_all(tasks: Iterable[tuple[Any, ...]], jobs: int) -> list[list[Outcome]]:
    """Run the tasks in `jobs` processes and return their results, in the order of the tasks."""
    if jobs == 1:
        # A generator would turn a StopIteration of a fit into another error.
        return [_run_line(*task) for task in tasks]
    joblib = import_module("joblib")
    # Processes, not threads: which warnings are recorded is a matter of the whole process.
    outcomes: list[list[Outcome]] = joblib.Parallel(n_jobs=jobs, backend="loky")(
        joblib.delayed(_run_line)(*task) for task in tasks
    )
    return outcomes
