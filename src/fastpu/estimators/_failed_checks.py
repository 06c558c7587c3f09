"""The checks of scikit-learn that a classifier does not pass with its defaults, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
_ONE_ROW = (
    "the default prior is estimated, and a group has one row, repeated or of a larger weight; passes with prior=0.1"
)
_CHANCES = "a weight is the chance of a row to be drawn, but a repeated row makes the bags larger as well"
_SOME_ROWS = (
    "a bag holds a part of the unlabelled rows, and repeated ones are drawn more often; passes with bag_ratio=1.0"
)
_WITHIN_TOL = "a linear machine on CSR rows ends where tol is met, and solutions agree within it; passes with tol=1e-10"

EXPECTED_FAILED_CHECKS: Mapping[str, Mapping[str, str]] = {
    "BSVMClassifier": {"check_sample_weight_equivalence_on_sparse_data": _WITHIN_TOL},
    "ForestClassifier": dict.fromkeys(_WEIGHTS, _CHANCES),
    "NNPUClassifier": dict.fromkeys(_WEIGHTS, _ONE_ROW),
    "PUBaggingClassifier": dict.fromkeys(_WEIGHTS, _SOME_ROWS),
    "UPUClassifier": dict.fromkeys(_WEIGHTS, _ONE_ROW),
}
