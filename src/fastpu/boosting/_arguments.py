"""Arguments that all boosting functions have: an evaluation set, and the rounds without a better AUC that end a fit."""

from __future__ import annotations

from fastpu.boosting._folds import LabelledRows
from fastpu.common._params import check_int
from fastpu.common._text import describe
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_labels, label_counts
from fastpu.data.binned_features import BinnedFeatures, bins_or_matrix


def check_patience(early_stopping_rounds: object) -> int:
    """Return the rounds without a better AUC that end a fit, or 0 for None."""
    return 0 if early_stopping_rounds is None else check_int("early_stopping_rounds", early_stopping_rounds, low=1)


def row_counts(groups: tuple[int, int, int]) -> str:
    """Return the numbers of positive, unlabelled and negative rows in words."""
    n_pos, n_unl, n_neg = groups
    return f"{n_pos} positive (+1), {n_unl} unlabelled (0) and {n_neg} negative (-1) rows"


def check_eval_set(eval_set: object, data: Matrix | BinnedFeatures) -> LabelledRows | None:
    """Return the rows of an evaluation set, in a form that the core takes beside the training data `data`."""
    if eval_set is None:
        return None
    if isinstance(eval_set, tuple | list) and eval_set and all(map(_is_pair_of_data, eval_set)):
        pairs = f"{len(eval_set)} pair{'s' * (len(eval_set) > 1)}"
        raise TypeError(f"eval_set must be one pair (X, y), got a {type(eval_set).__name__} of {pairs}")
    if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
        raise TypeError(f"eval_set must be one pair (X, y), got {describe(eval_set)}")
    X, y = eval_set
    name = "X of eval_set"
    if isinstance(X, BinnedFeatures):
        if not isinstance(data, BinnedFeatures):
            raise ValueError("eval_set may hold BinnedFeatures only where X is BinnedFeatures too")
        if X.n_features != data.n_features or not X._native.same_cuts(data._native):
            raise ValueError("eval_set must have the cuts of X: bin all rows together and take subsets B[rows]")
    names, kept = data.feature_names, data.categories
    checked = bins_or_matrix(X, name, n_features=data.n_features, feature_names=names, categories=kept)
    labels = check_labels(y, checked.n_rows, name="y of eval_set")
    n_pos, n_unl, n_neg = label_counts(labels)
    if not n_pos or not (n_neg or n_unl):
        raise ValueError(
            f"y of eval_set must hold +1 and -1 (or +1 and 0) for an AUC, "
            f"got {n_pos} positive, {n_unl} unlabelled and {n_neg} negative rows"
        )
    return LabelledRows(checked, labels, None)


def _is_pair_of_data(value: object) -> bool:
    """Tell whether this is a pair (X, y), of which other libraries take a list, and not a matrix or labels."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        return False
    X = value[0]
    is_table = isinstance(X, list) and bool(X) and isinstance(X[0], list | tuple)
    return is_table or len(getattr(X, "shape", ())) == 2
