"""From the labels, scores, groups and prior that a metric is passed to its rows in order."""

from __future__ import annotations

from fastpu.common._types import GroupsLike, LabelsLike, VectorLike
from fastpu.data._validate import label_counts
from fastpu.metrics._labelled_scores import read_rows
from fastpu.metrics._ranked_rows import Ranked
from fastpu.metrics._row_draws import read_groups
from fastpu.model._prior import PriorEstimate, check_prior_in, check_scenario, proper_prior


def read_ranking(
    function: str, y: LabelsLike, scores: VectorLike, groups: GroupsLike | None
) -> tuple[Ranked, tuple[int, int, int]]:
    """Return the positive and the unlabelled rows with a score in order, and how many rows of each label there are."""
    rows = read_rows(function, y, scores)
    numbers = read_groups(y, groups, rows)
    return Ranked.of(rows.scores, rows.labels == 1, rows.labels == 0, numbers), label_counts(rows.every)


def read_ranking_and_prior(
    function: str,
    y: LabelsLike,
    scores: VectorLike,
    prior: float | PriorEstimate | None,
    scenario: str,
    groups: GroupsLike | None,
) -> tuple[Ranked, float]:
    """Return the rows in order, and the share of positives among the unlabelled ones; 0.5 without a prior."""
    number, drawn_as = (None, check_scenario(scenario)) if prior is None else check_prior_in(scenario, prior)
    ranked, (n_pos, n_unl, n_neg) = read_ranking(function, y, scores, groups)
    return ranked, proper_prior(number, drawn_as, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg)
