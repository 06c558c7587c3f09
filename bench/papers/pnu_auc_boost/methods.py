"""The methods that Table 2 compares: each is one entry of METHODS."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["METHODS", "Labelled", "Method", "Params", "Split"]

GAMMAS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95)
RHOS = (0.0, 0.01, 0.03, 0.1)

Params = dict[str, float]


@dataclass(frozen=True)
class Labelled:
    """Rows and labels to judge by: +1 and -1."""

    X: NDArray[np.float64]
    y: NDArray[np.int8]


@dataclass(frozen=True)
class Split:
    """One random split of a data set.

    `train` holds the training rows with the labels that the methods may see (+1, 0, -1); `train_labelled` those of them
    whose label is not hidden. `prior` is the share of positives among the others, which the paper tells the methods
    that need it.
    """

    train: Labelled
    train_labelled: Labelled
    valid: Labelled
    test: Labelled
    prior: float
    n_rounds: int
    max_bins: int | None


@dataclass(frozen=True)
class Method:
    """A method of the table.

    Attributes
    ----------
    column : str
        Its column in the printed table.
    title : str
        Its name here.
    grid : tuple of dict
        The parameters to choose from.
    prepare : callable
        What all fits of one split share, made from the split.
    curve : callable
        Fits with one set of parameters and returns the AUC on the given rows after each number of rounds, up to the
        split's. A method without rounds returns one value.
    """

    column: str
    title: str
    grid: tuple[Params, ...]
    prepare: Callable[[Split], Any]
    curve: Callable[[Any, Split, Mapping[str, float], Labelled], NDArray[np.float64]]


def _grid(**values: tuple[float, ...]) -> tuple[Params, ...]:
    return tuple(dict(zip(values, choice, strict=True)) for choice in itertools.product(*values.values()))


def _bin(train: Labelled, max_bins: int | None) -> Any:
    """Return the rows as boosting takes them: binned once for all parameters, or as they are for an exact search."""
    return train.X if max_bins is None else fastpu.bin_features(train.X, max_bins=max_bins, n_threads=1)


def _boosting(
    column: str, title: str, fit: Callable[..., fastpu.StumpEnsemble], grid: tuple[Params, ...], *, labelled_only: bool
) -> Method:
    def rows(split: Split) -> Labelled:
        return split.train_labelled if labelled_only else split.train

    def prepare(split: Split) -> Any:
        return _bin(rows(split), split.max_bins)

    def curve(features: Any, split: Split, params: Mapping[str, float], judge: Labelled) -> NDArray[np.float64]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastpu.DegenerateModelWarning)  # its AUC says enough: 1/2
            model = fit(
                features,
                rows(split).y,
                n_rounds=split.n_rounds,
                eval_set=(judge.X, judge.y),
                n_threads=1,
                **params,
            )
        values = model.history["eval_auc"]
        last = values[-1] if values.size else 0.5
        return np.pad(values, (0, split.n_rounds - values.size), constant_values=last)

    return Method(column, title, grid, prepare, curve)


# PNU-AUC, SAMULT and LSAUC are entries like these; their curves have one value.
METHODS = (
    _boosting("Ours", "PNUAUCBoost", fastpu.fit_pnu_auc_boost, _grid(gamma=GAMMAS, rho=RHOS), labelled_only=False),
    _boosting("RBAUC", "RBAUC", fastpu.fit_rankboost_auc, _grid(rho=RHOS), labelled_only=True),
    _boosting("PNUAB", "PNUAB", fastpu.fit_pnu_adaboost, _grid(gamma=GAMMAS), labelled_only=False),
)
