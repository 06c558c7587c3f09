"""Warnings of mapping convergence: loops and SVMs that did not end, and boundaries that are of no use."""

from __future__ import annotations

from fastpu.common._warn import one_verdict, warn
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.mapping._mapping_loop import MappingOutcome
from fastpu.mapping._mapping_options import MappingOptions
from fastpu.svm._kernel_solver import KernelSolver
from fastpu.svm._svm_warnings import warn_of_worst

# Share of the positives that a boundary may reject without a warning. In 80 runs on Letter, digits and breast cancer
# every run that ended above this share had lost at least 4 points of F1 by going on for too long, and no run below it
# had lost any.
_MUCH = 0.2


def warn_of_outcome(name: str, outcome: MappingOutcome, options: MappingOptions, training: KernelSolver) -> None:
    """Warn the caller of the fit function `name`."""
    n_unl = outcome.rejected_by.size
    if outcome.used_fallback:
        _degenerate(
            f"the mapping of {name} told no strong negatives from the rest of U: it called all {n_unl} unlabelled rows "
            f"the same, and the {outcome.log[0].n_new} with its lowest scores were taken; change nu_map or the kernel"
        )
    ends = {i: boundary.end for i, boundary in enumerate(outcome.boundaries)}
    warn_of_worst(f"SVMs of {name}", "of iteration", ends, len(ends), training)
    last = outcome.log[-1]
    if outcome.status == "max_iter":
        warn(
            f"{name} ran all max_iter = {outcome.kept} iterations: the last one rejected {last.n_new} more "
            f"unlabelled rows and put back {last.n_back}, with {last.n_left} of {n_unl} never "
            f"rejected; raise max_iter",
            ConvergenceWarning,
        )
    pos_reject = outcome.log[outcome.kept].pos_reject
    if outcome.status == "max_pos_reject" and outcome.kept == 0:
        _degenerate(
            f"{name} kept only the boundary of the mapping: the first SVM rejects {outcome.log[1].pos_reject:.3g} of "
            f"the positives, more than max_pos_reject = {options.max_pos_reject}; change C or the kernel"
        )
    elif pos_reject > _MUCH:
        _degenerate(
            f"the last boundary of {name} rejects {pos_reject:.3g} of the labelled positives, and so perhaps as many "
            f"of the hidden ones, whose rejection moves it further into P: raise C, change the kernel, or set "
            f"max_pos_reject"
        )
    elif not last.n_left:
        _degenerate(f"{name} rejected all {n_unl} unlabelled rows; raise C or change the kernel")
    span = outcome.boundaries[outcome.kept].span
    if outcome.kept and span[2] > 0:
        _degenerate(f"the last boundary of {name} {one_verdict(*span)}; raise C or change the kernel")


def _degenerate(text: str) -> None:
    warn(text, DegenerateModelWarning)
