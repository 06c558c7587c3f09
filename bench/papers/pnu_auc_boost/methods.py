"""The methods that Table 2 compares: each is one entry of METHODS."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fastpu
from fastpu.metrics import auc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

GAMMAS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95)
RHOS = (0.0, 0.01, 0.03, 0.1)
ETAS = (-0.8, -0.4, -0.1, 0.1, 0.4, 0.8)
LAMS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
BASES = (0, 1)  # linear, Gaussian

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
    column: str,
    title: str,
    fit: Callable[..., fastpu.models.StumpEnsemble],
    grid: tuple[Params, ...],
    *,
    labelled_only: bool,
) -> Method:
    def rows(split: Split) -> Labelled:
        return split.train_labelled if labelled_only else split.train

    def prepare(split: Split) -> Any:
        return _bin(rows(split), split.max_bins)

    def curve(features: Any, split: Split, params: Mapping[str, float], judge: Labelled) -> NDArray[np.float64]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)  # its AUC says enough: 1/2
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


def _least_squares(
    column: str,
    title: str,
    fit: Callable[..., fastpu.models.RankMachine],
    grid: tuple[Params, ...],
    *,
    needs_prior: bool,
) -> Method:
    """Return a method in closed form, linear in standardised features or (gauss = 1) with 200 Gaussian basis functions.

    Features and grid are our choice, the paper states none. Its curve has one value.
    """

    def prepare(split: Split) -> Any:
        mean, spread = split.train.X.mean(axis=0), split.train.X.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        return mean, scale, (split.train.X - mean) / scale

    def curve(prepared: Any, split: Split, params: Mapping[str, float], judge: Labelled) -> NDArray[np.float64]:
        mean, scale, rows = prepared
        options: dict[str, Any] = {name: value for name, value in params.items() if name != "gauss"}
        options["model"] = "gauss" if params["gauss"] else "linear"
        if needs_prior:
            options["prior"] = split.prior
        with warnings.catch_warnings():
            # A system without a minimum is one of the candidates, and judged as the others are.
            warnings.simplefilter("ignore", fastpu.exceptions.ConvergenceWarning)
            warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)
            model = fit(rows, split.train.y, random_state=0, n_threads=1, **options)
        return np.array([auc(judge.y, model.decision_function((judge.X - mean) / scale, n_threads=1))])

    return Method(column, title, grid, prepare, curve)


METHODS = (
    _boosting("Ours", "PNUAUCBoost", fastpu.fit_pnu_auc_boost, _grid(gamma=GAMMAS, rho=RHOS), labelled_only=False),
    _boosting("RBAUC", "RBAUC", fastpu.baselines.fit_rankboost_auc, _grid(rho=RHOS), labelled_only=True),
    _least_squares(
        "PNUAUC", "PNU-AUC", fastpu.baselines.fit_pnu_auc, _grid(gauss=BASES, eta=ETAS, lam=LAMS), needs_prior=True
    ),
    _least_squares(
        "Samult", "SAMULT", fastpu.baselines.fit_samult, _grid(gauss=BASES, gamma=GAMMAS, lam=LAMS), needs_prior=False
    ),
    _boosting("PNUAB", "PNUAB", fastpu.baselines.fit_pnu_adaboost, _grid(gamma=GAMMAS), labelled_only=False),
    _least_squares("LSAUC", "LSAUC", fastpu.baselines.fit_ls_auc, _grid(gauss=BASES, lam=LAMS), needs_prior=False),
)
