"""What is kept of the fit for one value of C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastpu.svm._margin_fit import MarginFit
from fastpu.svm._margin_rows import MarginOptions
from fastpu.svm._margin_warnings import FitFlaws, find_flaws
from fastpu.svm.linear_machine import LinearMachine


@dataclass(frozen=True)
class FittedCost:
    """The model for one value of C, and what is wrong with it."""

    model: LinearMachine
    flaws: FitFlaws

    @staticmethod
    def of(fit: MarginFit, options: MarginOptions, params: Mapping[str, object]) -> FittedCost:
        rows = fit.solver.rows
        return FittedCost(fit.model(rows, params), find_flaws(fit, rows, options))
