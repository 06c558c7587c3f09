"""Figures of fitted models, with matplotlib (``pip install matplotlib``).

Every function returns a `matplotlib.figure.Figure` that pyplot does not manage. Save it with
``figure.savefig("name.png")``, or show it in a notebook by writing its name in the last line of a cell, after a cell
with ``%matplotlib inline``. It need not be closed, and no display is needed. Pass `ax` to draw into Axes of your own,
such as pyplot's. The legend of a new figure is above the Axes; for a title use ``figure.suptitle``. In Axes of your own
the legend is inside, so that they can have a title. Without matplotlib the functions raise ImportError. For arguments
that are not as described, and for models that return NaN or use no feature, they raise TypeError or ValueError.
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
