"""atheris set up so that edges of the C++ core count too, where _core was built to report them."""

from __future__ import annotations

import os
import sys
import warnings

import atheris

__all__ = ["instrumented", "start"]


def instrumented():
    """A context in which what is imported reports its edges: Python by atheris, C++ by its build."""
    # _core looks for libFuzzer's functions among the symbols that are there for all.
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | os.RTLD_GLOBAL)
    import atheris.core_with_libfuzzer  # noqa: F401 - loaded for its symbols

    sys.setdlopenflags(flags)
    return atheris.instrument_imports(include=["fastpu"])


def start(one_input, custom_mutator=None) -> None:
    """Hand over to libFuzzer, with its arguments from the command line."""
    warnings.simplefilter("ignore")
    options = {} if custom_mutator is None else {"custom_mutator": custom_mutator}
    atheris.Setup(sys.argv, one_input, **options)
    atheris.Fuzz()
