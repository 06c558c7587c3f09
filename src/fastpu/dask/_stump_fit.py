"""A fit of boosted stumps on Dask."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastpu import _core
from fastpu.boosting._stump_boost import BoostRound, make_model, threshold_rule
from fastpu.common._params import MANY
from fastpu.common._threads import resolve_n_threads
from fastpu.dask._members import Members
from fastpu.dask._scores import SharedScores
from fastpu.data._categories import category_flags

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastpu.boosting._folds import LabelledRows
    from fastpu.boosting._stump_boost import Method
    from fastpu.boosting.stump_ensemble import StumpEnsemble
    from fastpu.dask._binning import FitData
    from fastpu.dask._members import Holding
    from fastpu.data.binned_features import BinnedFeatures


@dataclass(frozen=True)
class _Rounds:
    """The rounds that every member makes."""

    form: BinnedFeatures
    options: dict[str, Any]

    def of_member(self, holding: Holding, bring: Callable[[str, bytes], bytes], n_threads: int) -> None:
        """Make the rounds on the rows of a holding."""
        rows = _core.StumpRows(
            holding.features._native,
            holding.labels,
            holding.weights,
            first=holding.first,
            number=holding.number,
            bring=bring,
            n_threads=n_threads,
        )
        self.make(rows, n_threads)

    def of_driver(
        self, bring: Callable[[str, bytes], bytes], judged: LabelledRows | None, callback: Any
    ) -> _core.StumpBoostResult:
        n_threads = resolve_n_threads(None)
        rows = _core.StumpRows(self.form._native, None, None, first=None, number=None, bring=bring, n_threads=n_threads)
        return self.make(rows, n_threads, judged, callback)

    def make(
        self, rows: _core.StumpRows, n_threads: int, judged: LabelledRows | None = None, callback: Any = None
    ) -> _core.StumpBoostResult:
        patience = self.options["early_stopping_rounds"] if judged is not None else 0
        return _core.stump_boost(
            self.form,
            None,
            None,
            category_flags(self.form.categories, self.form.n_features),
            _core.StumpBoostOptions(**{**self.options, "early_stopping_rounds": patience}),
            max_bins=0,
            most_distinct=0,
            eval_set=None if judged is None else (judged.features, judged.labels, None),
            callback=callback,
            n_threads=n_threads,
            rows=rows,
        )


def fit_stumps(
    data: FitData, method: Method, n_rounds: int, tolerance: float, hook: Callable[[Any], bool] | None
) -> StumpEnsemble:
    """Make all rounds and the model."""
    limits = {"n_rounds": min(n_rounds, MANY), "early_stopping_rounds": min(data.patience, MANY)}
    rounds = _Rounds(data.form, {**method.options, **limits, "stop_tol": tolerance})
    n_pos, _, n_neg = data.census.all_groups
    sides = (1 if n_pos else 0, -1 if n_neg else 0)
    with closing(data.hold()) as rows:

        def on_round(round_: int, feature: int, threshold: float, polarity: int,
                     delta: float, alpha: float, z: float, objective: float, auc: float) -> bool:  # fmt: skip
            rows.where = f"after round {round_}"
            judged = None if data.held is None else auc
            info = BoostRound(round_, n_rounds, feature, threshold, polarity, delta, alpha, z, objective, judged)
            return hook is not None and hook(info)

        with closing(Members(rows, rounds.of_member)) as members:
            result = rounds.of_driver(members.bring, data.held, on_round)
        model = make_model(
            method,
            result,
            data.form,
            data.form.max_bins,
            n_rounds,
            data.patience,
            tolerance,
            is_judged=data.held is not None,
        )
        threshold = SharedScores(rows).threshold(model, *sides)
    return replace(model, threshold=threshold, threshold_rule=threshold_rule(*sides))
