"""What the functions that boost stumps share: checks of arguments, the call of the core, the model and its warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastpu import _core
from fastpu.boosting._folds import (
    Chosen,
    LabelledRows,
    best_so_far,
    check_eval_set,
    check_patience,
    rounds_by_folds,
    row_counts,
)
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._params import MANY, check_float, check_int, check_random_state
from fastpu.common._progress import make_report, on_round
from fastpu.common._threads import resolve_n_threads
from fastpu.common._warn import span_of, warn, warn_if_alike
from fastpu.data._categories import category_flags, columns_in_sets
from fastpu.data._category_order import in_order
from fastpu.data._clusters import cluster_numbers
from fastpu.data._matrix import Matrix, columns_of
from fastpu.data._row_labels import warn_of_other_order
from fastpu.data._training_rows import warn_of_balancing
from fastpu.data._validate import check_labels, check_sample_weight, label_counts
from fastpu.data.binned_features import BinnedFeatures
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.model._threshold import GROUP, ScoredRows
from fastpu.tree._fit import open_rows

STOP_TOL = 1e-9  # the default: met in practice only where nothing is left to gain


@dataclass(frozen=True)
class BoostRound:
    """One round of boosting, as a callback sees it.

    Attributes
    ----------
    round, n_rounds : int
        The number of this round, from 1, and how many rounds were asked for (or chosen by folds).
    feature : int
    threshold : float
    polarity : int
        The stump that was added (see `StumpEnsemble`); on a column of categories the threshold is the number of stumps
        before it that are on such columns.
    delta, alpha, z, objective : float
        Its Delta (or edge) and weight, the factor by which it changed the risk, log J after it.
    eval_auc : float, or None
        AUC of the evaluation set after it.
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
class Method:
    """A boosting function: its names, and the loss that it minimises.

    `options` are those of the loss, as the core takes them: "loss", "gamma" and, for "auc", "rho" and "step". Those in
    `arguments` are arguments of the function, and the others are fixed. Rows of the label `unused` count as absent.
    """

    function: str
    title: str
    options: dict[str, Any]
    arguments: tuple[str, ...]
    unused: int | None = None

    @property
    def ranks(self) -> bool:
        """Whether adding a constant to all scores changes nothing, so that 0 is no natural threshold."""
        return bool(self.options["loss"] == "auc")


def boost(fit: Method, given: Mapping[str, Any]) -> StumpEnsemble:
    rounds = check_int("n_rounds", given["n_rounds"], low=1)
    tolerance = check_float("stop_tol", given["stop_tol"], low=0)
    threads = resolve_n_threads(given["n_threads"])
    patience = check_patience(given["early_stopping_rounds"])
    most_folds = check_int("n_folds", given["n_folds"], low=2)
    rng = check_random_state(given["random_state"])
    data, cuts = open_rows(given["X"], given["max_bins"], words=("exact",))
    warn_of_other_order(given["X"], y=given["y"], sample_weight=given["sample_weight"], groups=given.get("groups"))
    labels = check_labels(given["y"], data.n_rows)
    weights = check_sample_weight(given["sample_weight"], data.n_rows)
    clusters = cluster_numbers(given.get("groups"), data.n_rows)
    check_group_counts(fit, label_counts(labels, weights), is_weighted=weights is not None)
    warn_of_balancing(fit.function, labels, weights)
    data = in_order(data, labels, weights, unused=fit.unused)
    if fit.unused is not None and (labels == fit.unused).any():  # with weight 0 their values give no thresholds either
        weights = np.where(labels == fit.unused, 0.0, 1.0 if weights is None else weights)
    held = check_eval_set(given["eval_set"], data)
    rows = LabelledRows(data, labels, weights, clusters)
    if fit.unused == 0 and isinstance(data, Matrix) and not labels.all():
        rows = rows.take(np.flatnonzero(labels))

    def run(
        part: LabelledRows, n: int, judged: LabelledRows | None, patience: int = 0, callback: Any = None
    ) -> _core.StumpBoostResult:
        options = _core.StumpBoostOptions(
            n_rounds=min(n, MANY), stop_tol=tolerance, early_stopping_rounds=min(patience, MANY), **fit.options
        )
        return _core.stump_boost(
            part.features,
            part.labels,
            part.weights,
            category_flags(data.categories, data.n_features),
            options,
            max_bins=cuts if isinstance(cuts, int) else 0,
            most_distinct=_MOST_DISTINCT if cuts is None else MANY,
            eval_set=None if judged is None else (judged.features, judged.labels, judged.weights),
            callback=callback,
            n_threads=threads,
            exchange=None,
        )

    chosen = None
    if patience and held is None:
        chosen = rounds_by_folds(run, rows, most_folds, rng, rounds, patience)
    to_run = rounds if chosen is None else chosen.n_rounds
    with make_report(given["callback"], given["progress"], total=to_run, description=fit.title) as report:

        def info(round_: int, *told: Any) -> BoostRound:
            record = BoostRound(round_, to_run, *told)
            return record if held is not None else replace(record, eval_auc=None)

        result = run(rows, to_run, held, 0 if chosen else patience, on_round(report, info))
    model = make_model(fit, result, data, cuts, rounds, patience, tolerance, chosen)
    if fit.ranks:
        scored = ScoredRows(rows.labels, rows.weights, lambda model: model._decision_function(rows.features, threads))
        return scored.with_threshold(model)
    if model.features.size and model.status != "callback":  # a chosen threshold always has rows on both sides
        span = span_of(model._decision_function(data, threads))
        warn_if_alike(fit.function, span, "choose another gamma or n_rounds")
    return model


def make_model(
    fit: Method,
    result: _core.StumpBoostResult,
    data: Matrix | BinnedFeatures,
    max_bins: object,
    n_rounds: int,
    patience: int,
    tolerance: float,
    chosen: Chosen | None = None,
) -> StumpEnsemble:
    """Return the model of a fit with the threshold 0, and warn of what is wrong with it."""
    status = result.status
    if chosen is not None and chosen.is_final and status == "n_rounds":
        status = "early_stopping"
    params = {
        "method": fit.function,
        "n_rounds": n_rounds,
        **{name: fit.options[name] for name in fit.arguments},
        "max_bins": max_bins,
        "early_stopping_rounds": patience or None,
        "stop_tol": tolerance,
    }
    history = {"delta": result.deltas, "alpha": result.alphas, "z": result.z, "objective": result.objective}
    if result.eval_auc.size:
        history["eval_auc"] = result.eval_auc
    if chosen is not None:
        params["n_folds"], history["fold_auc"] = chosen.n_folds, chosen.auc
    kept = result.best_round
    by_categories = np.isin(result.features[:kept], columns_in_sets(data.categories))
    no_rule = not patience and tolerance <= STOP_TOL
    model = StumpEnsemble(
        **columns_of(data),
        threshold=0.0,
        n_iter=kept,
        converged=status in ("no_gain", "perfect", "early_stopping", *(["n_rounds"] if no_rule else [])),
        status=status,
        history=history,
        params=params,
        low=result.low,
        **{name: getattr(result, name)[:kept] for name in _BY_ROUND},
        category_sets=result.category_sets[: np.count_nonzero(by_categories)],
    )
    _warn(fit, result, model, chosen)
    return model


_BY_ROUND = (
    "features",
    "thresholds",
    "polarity",
    "missing_above",
    "alphas",
    "deltas",
    "z",
    "objective",
)  # kept up to the best round
_MOST_DISTINCT = 20_000  # max_bins=None searches all values of features with at most so many distinct ones


def check_group_counts(fit: Method, sizes: tuple[int, int, int], *, is_weighted: bool) -> None:
    """Raise ValueError unless there are the groups that the function needs, of positive weight."""
    n_pos, n_unl, n_neg = sizes
    counts = row_counts(sizes) + (" of positive weight" if is_weighted else "")
    if (n_pos > 0) + (n_unl > 0) + (n_neg > 0) < 2:
        raise ValueError(f"y must hold at least two of +1, 0 and -1 for {fit.function}, got {counts}")
    wanted = [] if fit.unused is None else [label for label in GROUP if label != fit.unused]
    if not all(size for label, size in zip((1, 0, -1), sizes, strict=True) if label in wanted):
        gamma = f" with gamma = {fit.options['gamma']:g}, which takes no others" if "gamma" in fit.arguments else ""
        groups = " and ".join(GROUP[label] for label in wanted)
        raise ValueError(f"y must hold {groups} rows for {fit.function}{gamma}, got {counts}")


def _warn(fit: Method, result: _core.StumpBoostResult, model: StumpEnsemble, chosen: Chosen | None) -> None:
    params: Mapping[str, Any] = model.params
    patience, tolerance = params["early_stopping_rounds"], params["stop_tol"]
    rho, gain = fit.options.get("rho", 0.0), "Delta" if fit.ranks else "edge"
    limit = "rho + stop_tol" if "rho" in fit.arguments else "stop_tol"
    reached, needed = f"{result.last_gain + rho:.3g}", f"{limit} = {rho + tolerance:.3g}"
    if not model.features.size:
        warn(
            f"{fit.function} found no stump to add: the largest {gain} is {reached} and must exceed {needed}; "
            f"the model is empty and scores every row 0",
            DegenerateModelWarning,
        )
        return
    if model.status != "n_rounds":
        return
    rules, states = [], []
    if patience:
        rules.append("early stopping")
        states.append(best_so_far(result, chosen, patience))
    if tolerance > STOP_TOL:
        rules.append(f"stop_tol = {tolerance:g}")
        states.append(f"the stump of the last round has {gain} {reached}, and none may be left above {needed}")
    if rules:
        warn(
            f"{fit.function} ran all {model.params['n_rounds']} rounds before {' or '.join(rules)} ended it: "
            f"{'; '.join(states)}; raise n_rounds",
            ConvergenceWarning,
        )
