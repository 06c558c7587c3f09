"""Figures of fitted models, with matplotlib (``pip install matplotlib``).

Every function returns a `matplotlib.figure.Figure` that pyplot does not know of: keep it with
``figure.savefig("name.png")``, or show it in a notebook by naming it in the last line of a cell, after one with
``%matplotlib inline``. Nothing has to be closed, and no display is needed. `ax` takes Axes of yours instead, pyplot's
as well. The legend stands above the Axes, but inside Axes of yours, so that these can have a title; for a title of a
new figure use ``figure.suptitle``. Without matplotlib they raise ImportError; for arguments that are not as described,
and models that give NaN or use no feature, TypeError or ValueError.
"""

from __future__ import annotations

from fastpu.plot._calibration import calibration
from fastpu.plot._paths import path, selection
from fastpu.plot._ranking import audit, ranking
from fastpu.plot._rounds import boosting_curves, importances, label_changes
from fastpu.plot._rows import decision_regions, score_histogram

__all__ = [
    "audit",
    "boosting_curves",
    "calibration",
    "decision_regions",
    "importances",
    "label_changes",
    "path",
    "ranking",
    "score_histogram",
    "selection",
]


def __dir__() -> list[str]:
    return __all__
