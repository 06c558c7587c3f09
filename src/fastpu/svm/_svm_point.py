"""One kernel machine to be fitted: the arguments of a call, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastpu.common._params import check_one_length, entries_of, is_sequence
from fastpu.common._text import describe
from fastpu.svm._svm_options import SvmOptions
from fastpu.svm._svm_problem import SvmMethod


@dataclass(frozen=True)
class SvmPoint:
    """The arguments of one fit: those of its method, and those of the kernel and the solver."""

    method: SvmMethod
    options: SvmOptions

    def params(self) -> dict[str, object]:
        return {"method": self.method.function, **self.method.params(), **self.options.params()}


def entries_together(**values: Any) -> list[tuple[Any, ...]]:
    """Return the values of each model where some arguments are sequences of one length: a tuple for each entry.

    Arguments that are no sequences have the same value for all models. If none is a sequence there is one tuple.
    """
    sequences = {name: value for name, value in values.items() if is_sequence(value)}
    for name, sequence in sequences.items():
        if any(is_sequence(entry) for entry in entries_of(name, sequence).values()):
            raise TypeError(f"{name} must be one value or a sequence of single values, got {describe(sequence)}")
    check_one_length({name: len(sequence) for name, sequence in sequences.items()})
    n_models = next((len(sequence) for sequence in sequences.values()), 1)
    return [tuple(value[i] if name in sequences else value for name, value in values.items()) for i in range(n_models)]
