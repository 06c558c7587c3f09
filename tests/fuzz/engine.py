"""What the fuzz targets of the Python layer share. Edges of the C++ core are for the targets of cpp/fuzz."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import atheris


def instrumented() -> object:
    """Return a context in which what is imported of fastpu reports its edges."""
    return atheris.instrument_imports(include=["fastpu"])


def start(one_input: Callable[[bytes], None], custom_mutator: Callable[[bytes, int, int], bytes] | None = None) -> None:
    """Hand over to libFuzzer, with its arguments from the command line."""
    loader = sys.modules["fastpu"].__spec__.loader
    if type(loader).__name__ != "AtherisSourceFileLoader":
        sys.exit(f"fastpu comes through {type(loader).__name__} and reports no edges: install it, and not editable")
    warnings.simplefilter("ignore")
    options = {} if custom_mutator is None else {"custom_mutator": custom_mutator}
    atheris.Setup(sys.argv, one_input, **options)
    atheris.Fuzz()
