"""The evaluation set by whose AUC the rounds of boosting are judged."""

from __future__ import annotations

from fastpu.boosting._labelled_rows import LabelledRows, row_counts
from fastpu.common._params import check_int
from fastpu.data._matrix import Matrix
from fastpu.data._training_rows import check_eval_pair
from fastpu.data._validate import check_labels, label_counts
from fastpu.data.binned_features import BinnedFeatures, bins_or_matrix


def check_patience(early_stopping_rounds: object) -> int:
    """Return the rounds without a better AUC that end a fit, or 0 for None."""
    return 0 if early_stopping_rounds is None else check_int("early_stopping_rounds", early_stopping_rounds, low=1)


def check_eval_set(eval_set: object, data: Matrix | BinnedFeatures) -> LabelledRows | None:
    """Return the rows of an evaluation set, in a form that the core takes beside the training data `data`."""
    if eval_set is None:
        return None
    X, y = check_eval_pair(eval_set)
    name = "X of eval_set"
    if isinstance(X, BinnedFeatures):
        if not isinstance(data, BinnedFeatures):
            raise ValueError("eval_set may hold BinnedFeatures only where X is BinnedFeatures too")
        if X.n_features != data.n_features or not X._native.same_cuts(data._native):
            raise ValueError("eval_set must have the cuts of X: bin all rows together and take subsets B[rows]")
    checked = bins_or_matrix(X, name, data)
    labels = check_labels(y, checked.n_rows, name="y of eval_set")
    groups = label_counts(labels)
    if groups[0] in (0, labels.size):
        raise ValueError(f"y of eval_set must hold +1 and -1 (or +1 and 0) for an AUC, got {row_counts(groups)}")
    return LabelledRows(checked, labels, None)
