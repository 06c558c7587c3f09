"""What every classifier here has in common: how labels are read, predicted and judged."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from fastpu.common._text import short
from fastpu.common._types import LabelsLike, MatrixLike, VectorLike
from fastpu.common._warn import warn
from fastpu.data._coding import is_missing
from fastpu.data._tables import table_library
from fastpu.exceptions import LabelWarning
from fastpu.model._cut import check_one_rule

if TYPE_CHECKING:
    from typing_extensions import Self


_CODES = (-1, 0, 1)
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_MOST_LABELLED = 0.7  # if a larger share of the rows has the positive one of two labels, the other is probably meant
_SAYS_UNLABELED = re.compile(r"(unl|unk|u$)", re.IGNORECASE)  # words that hardly mean positive rows


@dataclasses.dataclass(frozen=True)
class Labels:
    """How the labels of one data set are read.

    `classes` are the two labels that `predict` returns, and `other` is what the smaller of them means, 0 or -1. Where
    `coded`, the labels are -1, 0 and 1 themselves.
    """

    classes: NDArray[Any]
    other: int
    coded: bool

    def read(self, y: object, name: str) -> NDArray[np.int8]:
        """Return +1, 0 and -1 for labels of this kind."""
        values = label_vector(y)
        codes: NDArray[np.int8]
        if self.coded:
            known = np.isin(values, _CODES)
            codes = np.where(known, values, 0).astype(np.int8)
        else:
            positive = values == self.classes[1]
            known = positive | (values == self.classes[0])
            codes = np.where(positive, 1, self.other).astype(np.int8)
        if not known.all():
            wanted = list(_CODES) if self.coded else self.classes.tolist()
            raise ValueError(f"{name} must hold labels out of {wanted}, got {short(values[~known][0])}")
        return codes


class PUClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of two classes, whose labels may also say that a row is unlabelled.

    A subclass has `_scores`, which looks at the columns of rows and returns their scores, and `_move_threshold`, which
    sets the threshold of a copy of a fitted classifier by a prior, a number of rows or a value.
    """

    classes_: NDArray[Any]
    threshold_: float
    _scores: Callable[[Any], NDArray[np.float64]]

    def __sklearn_is_fitted__(self) -> bool:
        # A fit that ended in an error has set n_features_in_ already.
        return hasattr(self, "classes_")

    def _other_label(self, classes: NDArray[Any]) -> int:  # noqa: ARG002 - for subclasses
        """Return what the smaller of two labels means: 0 unlabelled, -1 negative."""
        return 0

    def _read_labels(self, y: Any, n_rows: int) -> tuple[Labels, NDArray[np.int8]]:
        """Return how `y` is read, and +1, 0 and -1 for its entries, one for each row."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        values = label_vector(y, warn=True)
        assert_all_finite(values, input_name="y")
        check_classification_targets(values)
        classes = np.unique(values)
        coded = classes.size == len(_CODES) and classes.dtype.kind in "iuf" and bool(np.all(classes == _CODES))
        if coded:
            labels = Labels(classes[[0, 2]], 0, coded=True)
        elif classes.size == 2:
            if classes.dtype.kind in "if" and classes.tolist() == [-1, 0]:
                raise ValueError(
                    "y holds the classes -1 and 0, which is ambiguous: -1, 0 and 1 together mean negative, unlabelled "
                    "and positive, and there is no positive row; pass booleans if 0 means positive"
                )
            labels = Labels(classes, self._other_label(classes), coded=False)
        elif classes.size == 1:
            raise ValueError(f"y must hold two classes (or -1, 0 and 1), got 1 class: {short(classes.tolist()[0])}")
        else:
            listed = ", ".join(map(short, classes[:10].tolist()))
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y must hold two "
                f"labels, or -1 (negative), 0 (unlabelled) and 1 (positive), got {classes.size}: {listed}"
            )
        codes = labels.read(values, "y")
        if codes.size != n_rows:
            raise ValueError(f"y must have one entry per row of X ({n_rows}), got {codes.size}")
        self._warn_if_upside_down(labels, codes)
        return labels, codes

    def _warn_if_upside_down(self, labels: Labels, codes: NDArray[np.int8]) -> None:
        """Warn if the larger of two words or numbers, which counts as positive, probably means unlabelled."""
        share = float(np.mean(codes == 1))
        if labels.coded or labels.other != 0 or labels.classes.dtype.kind == "b":
            return
        says_unlabeled = isinstance(labels.classes[1], str) and _SAYS_UNLABELED.match(labels.classes[1])
        if share < _MOST_LABELLED and not says_unlabeled:
            return
        other, positive = (short(label) for label in labels.classes)
        warn(
            f"of the two labels of y the larger one counts as positive, as in all of scikit-learn: {positive}, which "
            f"{100 * share:.0f} % of the rows have, and {other} as unlabelled; if {other} marks the positive rows, "
            f"pass fastpu.as_labels(y, positive={other}, unlabeled={positive}) as y",
            LabelWarning,
        )

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the scores of the rows of `X` minus `threshold_`: larger is more positive, 0 is the border.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features_in_)
            Rows as `fit` takes them.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self._scores(X) - self.threshold_

    def with_threshold(
        self,
        *,
        prior: float | None = None,
        k: float | None = None,
        value: float | None = None,
        X_unl: MatrixLike | None = None,
        y: LabelsLike | None = None,
    ) -> Self:
        """Return this fitted classifier with another threshold: by a class prior, by a number of rows, or a given one.

        Pass exactly one of `prior`, `k` and `value`. With `prior` or `k` the new classifier calls as many unlabelled
        rows positive as you ask for, or as near to it as equal scores allow: rows with equal scores stay together. For
        a Pipeline take its last step, and rows as the steps before make them: ``pipeline[-1].with_threshold(prior=0.2,
        X_unl=pipeline[:-1].transform(X_unl))``.

        Parameters
        ----------
        prior : float or PriorEstimate, optional
            The share of positives P(Y = 1) among the unlabelled rows, in (0, 1): this share of them is called positive.
        k : int or float, optional
            How many rows to call positive: an int >= 1, or a float in (0, 1], which is a share of the rows.
        value : float, optional
            The new `threshold_`, any number but NaN. It is subtracted from the scores.
        X_unl : array-like, sparse matrix or DataFrame of shape (n, n_features_in_), optional
            Unlabelled rows that the classifier was not fitted to. By default the unlabelled training rows with their
            out-of-bag scores (`oob_decision_function_`), if the classifier has some.
        y : array-like of shape (n,), optional
            Labels of the training rows, in their order, like those of the fit: the unlabelled rows are divided. By
            default the labels of the fit. Where these are numbers or booleans, -1 marks rows that are left out, such as
            rows that were checked and found negative and that the fit got as unlabelled rows, of a larger weight.

        Returns
        -------
        PUClassifier
            A fitted copy of the same class. This classifier stays as it is.

        Warns
        -----
        DegenerateModelWarning
            If the new classifier calls all rows positive, or none, unless `k` asks for it. Also if it misses what was
            asked by more than a tenth, and by more than a row, as it does where many rows have one score.
        EstimateWarning
            If `prior` is an estimate whose `allowed` shares are far from it, or if unlabelled training rows have no
            out-of-bag score (NaN), and are left out.

        Raises
        ------
        TypeError, ValueError
            If not exactly one of `prior`, `k` and `value` is passed, if one is out of its range, or if `X_unl` is left
            out and there are no out-of-bag scores of unlabelled rows. Also if `y` is passed with `X_unl` or `value`, or
            does not fit the labels of the fit.
        """
        check_is_fitted(self)
        check_one_rule(prior, k, value, X_unl, y)
        moved = copy.copy(self)
        moved._move_threshold(prior, k, value, X_unl, None if y is None else self._codes_of(y))
        return moved

    def _codes_of(self, y: LabelsLike) -> NDArray[np.int8]:
        """Return +1, 0 and -1 for labels like those of the fit, or with -1 for rows that are left out."""
        values = label_vector(y)
        are_numbers = self.classes_.dtype.kind in "biuf" and values.dtype.kind in "biuf"
        if are_numbers and -1 not in self.classes_.tolist() and (values == -1).any():
            codes = np.full(values.size, -1, dtype=np.int8)
            kept = values != -1
            codes[kept] = Labels(self.classes_, 0, coded=False).read(values[kept], "y")
            return codes
        coded = self.classes_.tolist() == [-1, 1] and are_numbers and bool((values == 0).any())
        return Labels(self.classes_, self._other_label(self.classes_), coded).read(values, "y")

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return ``classes_[1]`` for the rows of `X` whose `decision_function` is above 0, else ``classes_[0]``.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features_in_)
            Rows, as `fit` takes them.

        Returns
        -------
        ndarray of shape (n,)
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def score(self, X: MatrixLike, y: LabelsLike, sample_weight: VectorLike | None = None) -> float:
        """Return the accuracy of `predict` on the labelled rows.

        With the labels -1, 0 and 1, rows of 0 are left out, because nobody knows their class. With two labels
        unlabelled rows count as negative, as in all of scikit-learn's scorers.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features_in_)
            Rows, as `fit` takes them.
        y : array-like of shape (n,)
            Labels like those of the fit.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0 of the rows.

        Returns
        -------
        float
            A share in [0, 1].

        Raises
        ------
        ValueError
            If no row is labelled.
        """
        check_is_fitted(self)
        values, predicted = label_vector(y), self.predict(X)
        kept = labelled_rows(values, self.classes_)
        if kept is None or values.size != predicted.size:
            return float(accuracy_score(values, predicted, sample_weight=sample_weight))
        weights = None if sample_weight is None else column_or_1d(sample_weight)[kept]
        return float(accuracy_score(values[kept], predicted[kept], sample_weight=weights))


def label_vector(y: Any, *, warn: bool = False) -> NDArray[Any]:
    """Return labels as a vector of booleans, numbers or words, of the kind that they have in lists and columns.

    scikit-learn's `column_or_1d` makes floats of the nullable integers and booleans of pandas, leaves booleans in a
    column of objects as objects, which are then refused, and knows few of the ways to say that a label is missing.
    """
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if plain is not None and plain.kind in "biu" and not y.isna().any():
        y = y.to_numpy(dtype=plain)
    values: NDArray[Any] = column_or_1d(y, warn=warn)
    labels = values.tolist() if values.dtype.kind == "O" else []
    n_missing = sum(map(is_missing, labels)) + (np.count_nonzero(np.isnan(values)) if values.dtype.kind == "f" else 0)
    if n_missing:
        raise ValueError(
            f"Input y contains NaN or other missing labels, {n_missing} of {values.size}: where they mean unlabelled, "
            f"pass fastpu.as_labels(y, positive=...) as y"
        )
    if labels and all(isinstance(label, _NUMBERS) for label in labels):
        return np.array(labels)
    return values


def require_distinct_names(X: Any) -> None:
    if table_library(X) == "pandas" and not X.columns.is_unique:
        name = X.columns[X.columns.duplicated()][0]
        first, second = np.flatnonzero(X.columns == name)[:2]
        raise ValueError(
            f"X must have a name of its own for each column, got {short(name)} for columns {first} and {second}"
        )


def require_classes(labels: Labels, codes: NDArray[np.int8], weights: NDArray[np.float64] | None) -> None:
    """Raise ValueError if only one of two classes has rows of positive weight."""
    if weights is None:
        return
    left = np.unique(codes[weights > 0])
    if left.size == 1 < np.unique(codes).size:
        label = labels.classes[1 if left[0] == 1 else 0]
        raise ValueError(f"y must hold two classes among the rows of positive weight, got 1 class: {short(label)}")


def has_unlabeled(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Tell whether labels of a classifier with these classes are -1, 0 and 1, with 0 for unlabelled rows."""
    if np.asarray(classes).tolist() != [-1, 1] or y.dtype.kind not in "if":
        return False
    return bool((y == 0).any() and np.isin(y, (-1, 0, 1)).all())


def labelled_rows(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return the numbers of the labelled rows where 0 marks others, or None where there are no others."""
    if not has_unlabeled(y, classes):
        return None
    kept = np.flatnonzero(y)
    if not kept.size:
        raise ValueError(
            f"y must hold labelled rows (-1 or 1) to judge by, got {y.size} unlabelled ones (0) alone; puf_scorer, "
            f"err_star_scorer and pu_auc_scorer judge by positive and unlabelled rows"
        )
    return kept
