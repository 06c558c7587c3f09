"""The rounds of boosted stumps: the calls of the core for all rows and for folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fastpu import _core
from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.boosting._rounds_by_folds import ChosenRounds, RoundSearch
from fastpu.boosting._stump_options import StumpOptions
from fastpu.boosting._stump_rows import bin_rows
from fastpu.common._progress import Report, make_report
from fastpu.common._types import RoundCallback
from fastpu.data._categories import category_flags


@dataclass(frozen=True)
class BoostRound:
    """One round of boosted stumps, as a callback is given it.

    Attributes
    ----------
    round, n_rounds : int
        The number of this round, from 1, and how many rounds were asked for (or chosen by folds).
    feature : int
        The feature of the stump that was added.
    threshold : float
        Its threshold (see `StumpEnsemble`). On a column of categories, the number of earlier stumps on such columns.
    polarity : int
        +1 if the stump fires above its threshold, -1 if it fires below.
    delta, alpha : float
        The Delta (or edge) of the stump, and its weight.
    z, objective : float
        The factor by which the stump changed the risk, and log J after it.
    eval_auc : float, or None
        The AUC of the evaluation set after the stump was added.
    """

    round: int
    n_rounds: int
    feature: int
    threshold: float
    polarity: int
    delta: float
    alpha: float
    z: float
    objective: float
    eval_auc: float | None


@dataclass(frozen=True)
class RoundReporter:
    """What the core calls after every round of a fit of `n_rounds`; it makes the record that `report` takes."""

    report: Report
    n_rounds: int
    has_eval_set: bool

    def __call__(
        self,
        round_: int,
        feature: int,
        threshold: float,
        polarity: int,
        delta: float,
        alpha: float,
        z: float,
        objective: float,
        eval_auc: float,
    ) -> bool:
        return self.report(
            BoostRound(
                round=round_,
                n_rounds=self.n_rounds,
                feature=feature,
                threshold=threshold,
                polarity=polarity,
                delta=delta,
                alpha=alpha,
                z=z,
                objective=objective,
                eval_auc=eval_auc if self.has_eval_set else None,
            )
        )


def boost(
    options: StumpOptions,
    rows: LabelledRows,
    eval_rows: LabelledRows | None,
    chosen: ChosenRounds | None,
    callback: RoundCallback[BoostRound] | None,
    progress: bool,
) -> _core.StumpBoostResult:
    """Boost stumps on all rows, for the rounds that folds have chosen or for those that were asked for."""
    n_rounds = options.n_rounds if chosen is None else chosen.n_rounds
    patience = options.early_stopping_rounds if chosen is None else None
    with make_report(callback, progress, total=n_rounds, description=options.title) as report:
        on_round = None if report is None else RoundReporter(report, n_rounds, eval_rows is not None)
        return boost_rows(options, rows, eval_rows, n_rounds, patience, on_round)


def choose_rounds(
    options: StumpOptions, rows: LabelledRows, eval_rows: LabelledRows | None, rng: np.random.Generator
) -> ChosenRounds | None:
    """Return the number of rounds that folds choose, or None if they have nothing to choose."""
    if options.early_stopping_rounds is None or eval_rows is not None:
        return None

    search = RoundSearch(rows, options.n_folds, rng, n_rounds=options.n_rounds, patience=options.early_stopping_rounds)
    while not search.is_over:
        search.add([boost_rows(options, train, held_out, search.n_rounds, None) for train, held_out in search.folds()])
    return search.chosen


def boost_rows(
    options: StumpOptions,
    rows: LabelledRows,
    eval_rows: LabelledRows | None,
    n_rounds: int,
    patience: int | None,
    on_round: RoundReporter | None = None,
) -> _core.StumpBoostResult:
    """Bin rows and boost stumps on them; `eval_rows` give an AUC after every round."""
    return _core.stump_boost(
        bin_rows(rows, options),
        rows.labels,
        rows.weights,
        category_flags(rows.features.categories, rows.features.n_features),
        options.for_core(n_rounds, patience),
        eval_set=None if eval_rows is None else (eval_rows.features, eval_rows.labels, eval_rows.weights),
        callback=on_round,
        n_threads=options.threads,
    )
