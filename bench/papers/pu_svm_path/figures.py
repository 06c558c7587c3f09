"""Figure 2 of the PU-SvmPath paper: the lines that SvmPath and PU-SvmPath draw on the toy sets."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from sets import toy_tasks, train_and_test

import fastpu

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

__all__ = ["draw_lines"]

_CASES = (("PU_toy1", 0.2), ("PU_toy1", 0.6), ("PU_toy2", 0.4))
_MARKS = (("*", "labelled positive"), ("o", "unlabelled positive"), ("x", "negative"))


def draw_lines(path: Path, seed: int) -> None:
    """Draw the hyperplanes at the end of both paths on a draw of each case."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes: Any = figure.subplots(2, len(_CASES))
    for column, (name, labeled) in enumerate(_CASES):
        task = next(toy_tasks(name, 1, seed))
        X, y, _, _, truth = train_and_test(task, labeled, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)  # then there is no line
            plain = fastpu.fit_svm_path(X, np.where(y > 0, 1, -1), kernel="linear")
            hard = fastpu.fit_pu_svm_path(X, y)
        for row, (title, model) in enumerate((("SvmPath", plain), ("PU-SvmPath", hard))):
            ax: Axes = axes[row, column]
            groups = (y > 0, (y == 0) & (truth > 0), truth < 0)
            for (mark, text), group in zip(_MARKS, groups, strict=True):
                ax.plot(*X[group].T, mark, markersize=4, label=text)
            ax.set_title(f"{title}, {name}, {100 * labeled:.0f} %" + (" (trivial)" if not model.lams.size else ""))
            if model.lams.size and np.any(model.at(model.end).coef):
                w, b = model.at(model.end).coef, model.at(model.end).intercept
                along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
                foot = -b * w / (w @ w)
                ends = foot + np.array([[-20], [20]]) * along
                limits = ax.axis()
                ax.plot(*ends.T, "k-", linewidth=1)
                ax.axis(limits)
    axes[0, 0].legend(fontsize=7)
    figure.savefig(path, dpi=120)
