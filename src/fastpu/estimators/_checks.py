"""The checks of scikit-learn that a classifier does not pass with its defaults, each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
_ONE_ROW = (
    "the default prior is estimated, and a group has one row, repeated or of a larger weight; passes with prior=0.1"
)
_CHANCES = "a weight is the chance of a row to be drawn, but a repeated row makes the bags larger as well"

EXPECTED_FAILED_CHECKS: Mapping[str, Mapping[str, str]] = {
    "ForestClassifier": dict.fromkeys(_WEIGHTS, _CHANCES),
    "NNPUClassifier": dict.fromkeys(_WEIGHTS, _ONE_ROW),
    "UPUClassifier": dict.fromkeys(_WEIGHTS, _ONE_ROW),
}
