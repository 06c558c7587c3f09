"""From the stumps of the core to a model, its threshold and its warnings."""

from __future__ import annotations

import numpy as np

from fastpu import _core
from fastpu.boosting._labelled_rows import LabelledRows
from fastpu.boosting._rounds_by_folds import ChosenRounds, best_so_far
from fastpu.boosting._stump_options import STOP_TOL, StumpOptions
from fastpu.boosting.stump_ensemble import StumpEnsemble
from fastpu.common._warn import span_of, warn, warn_if_alike
from fastpu.data._categories import columns_in_sets
from fastpu.data._matrix import Matrix
from fastpu.data.binned_features import BinnedFeatures
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning
from fastpu.model._threshold import ScoredRowsInMemory


def make_model(
    options: StumpOptions,
    features: Matrix | BinnedFeatures,
    result: _core.StumpBoostResult,
    chosen: ChosenRounds | None = None,
) -> StumpEnsemble:
    """Return the model of a fit with the threshold 0, and warn of what is wrong with it.

    `features` are the training rows, or others with the same columns and cuts.
    """
    status = result.status
    if chosen is not None and chosen.is_final and status == "n_rounds":
        status = "early_stopping"
    own: dict[str, object] = {"gamma": options.gamma, "rho": options.rho, "step": options.step}
    params: dict[str, object] = {
        "method": options.function,
        "n_rounds": options.n_rounds,
        **{name: own[name] for name in options.own_params},
        "max_bins": features.max_bins if isinstance(features, BinnedFeatures) else options.max_bins,
        "early_stopping_rounds": options.early_stopping_rounds,
        "stop_tol": options.stop_tol,
    }
    history = {"delta": result.deltas, "alpha": result.alphas, "z": result.z, "objective": result.objective}
    if result.eval_auc.size:
        history["eval_auc"] = result.eval_auc
    if chosen is not None:
        params["n_folds"], history["fold_auc"] = chosen.n_folds, chosen.auc
    ends = ["no_gain", "perfect", "early_stopping"]
    if options.early_stopping_rounds is None and options.stop_tol <= STOP_TOL:
        ends.append("n_rounds")  # all rounds are what was asked for
    kept = result.best_round
    in_sets = np.isin(result.features[:kept], columns_in_sets(features.categories))
    model = StumpEnsemble(
        n_features=features.n_features,
        feature_names=features.feature_names,
        categories=features.categories,
        threshold=0.0,
        n_iter=kept,
        converged=status in ends,
        status=status,
        history=history,
        params=params,
        low=result.low,
        features=result.features[:kept],
        thresholds=result.thresholds[:kept],
        polarity=result.polarity[:kept],
        missing_above=result.missing_above[:kept],
        alphas=result.alphas[:kept],
        deltas=result.deltas[:kept],
        z=result.z[:kept],
        objective=result.objective[:kept],
        category_sets=result.category_sets[: np.count_nonzero(in_sets)],
    )
    _warn(options, result, model, chosen)
    return model


def place_threshold(options: StumpOptions, rows: LabelledRows, model: StumpEnsemble) -> StumpEnsemble:
    """Return the model with the threshold of the best balanced accuracy on the training rows, if scores only rank."""
    scored = ScoredRowsInMemory(rows.labels, rows.weights, rows.features, options.threads)
    if options.ranks:
        return scored.with_threshold(model)
    if model.features.size and model.status != "callback":  # a chosen threshold always has rows on both sides
        warn_if_alike(options.function, span_of(scored.scores(model)), "choose another gamma or n_rounds")
    return model


def _warn(
    options: StumpOptions, result: _core.StumpBoostResult, model: StumpEnsemble, chosen: ChosenRounds | None
) -> None:
    """Warn of a model without stumps, or of rounds that were too few for the rules that should have ended the fit."""
    gain = "Delta" if options.ranks else "edge"
    limit = "rho + stop_tol" if "rho" in options.own_params else "stop_tol"
    reached = f"{result.last_gain + options.rho:.3g}"
    needed = f"{limit} = {options.rho + options.stop_tol:.3g}"
    if not model.features.size:
        warn(
            f"{options.function} found no stump to add: the largest {gain} is {reached} and must exceed {needed}; "
            f"the model is empty and scores every row 0",
            DegenerateModelWarning,
        )
        return
    if model.status != "n_rounds":
        return
    rules, states = [], []
    if options.early_stopping_rounds is not None:
        rules.append("early stopping")
        states.append(best_so_far(result, chosen, options.early_stopping_rounds))
    if options.stop_tol > STOP_TOL:
        rules.append(f"stop_tol = {options.stop_tol:g}")
        states.append(f"the last stump has {gain} {reached}, and the fit ends when no stump exceeds {needed}")
    if rules:
        warn(
            f"{options.function} ran all {options.n_rounds} rounds before {' or '.join(rules)} ended the fit: "
            f"{'; '.join(states)}; raise n_rounds",
            ConvergenceWarning,
        )
