"""The model of forests and of boosted trees: a sum of trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike
from fastpu.data._categories import ColumnCategories, check_kept, columns_in_sets
from fastpu.data._matrix import Matrix
from fastpu.data.binned_features import BinnedFeatures, bins_or_matrix
from fastpu.model._calibration import of_training_rows
from fastpu.model._cut import CutRows, unlabelled_rows
from fastpu.model._model import Model
from fastpu.tree._lightgbm import make_booster

if TYPE_CHECKING:
    import lightgbm

_SEEDS = 2**64
#: A node as the core reads it: 24 bytes, three words of the model. `left` is 0 in a leaf, whose value is `threshold`;
#: `split` is 4 * feature + 2 where categories decide (`threshold` is then the number of their set) + 1 where missing
#: entries go right.
_PACKED = np.dtype([("threshold", "f8"), ("split", "u4"), ("left", "i4"), ("cover", "u4"), ("gain", "f4")])
#: A node as users see it.
_NODE = np.dtype(
    [
        ("tree", "i4"),
        ("feature", "i4"),
        ("threshold", "f8"),
        ("category_set", "i4"),
        ("missing_left", "?"),
        ("left", "i4"),
        ("right", "i4"),
        ("gain", "f4"),
        ("cover", "u4"),
        ("value", "f8"),
    ]
)


def packed(nodes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return nodes of the core as the words that a model keeps."""
    return np.ascontiguousarray(nodes).view(np.uint64).reshape(-1, 3)


def splits_by_categories(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which nodes split by a set of categories; the threshold of such a node is the number of its set."""
    by_categories: NDArray[np.bool_] = (nodes["left"] > 0) & (nodes["split"] & 2 > 0)
    return by_categories


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TreeEnsemble(Model):
    """A sum of decision trees, f(x) = (sum_t value of the leaf of tree t that x reaches) / divisor.

    At each node a row goes left if its entry in the node's feature is at most the threshold, or if its category is in
    the node's set. Missing entries are NaN and -inf. If training rows of the node missed the entry, missing ones go to
    the side that the fit found better for them. Otherwise a missing entry follows the larger part of the node's
    training rows, and so does a category that none of these rows has.

    Attributes
    ----------
    nodes : structured ndarray, shape (n_nodes,)
        The nodes of all trees; see the notes. It is made anew at each access.
    n_trees : int
        Number of trees.
    oob_decision_function : ndarray of float64, shape (n,), or None
        Out-of-bag scores of the training rows: the mean over the trees, or bags of boosted trees, that were fitted
        without the row; NaN for a row that was in every bag. Thresholds and probabilities should be made from these
        scores. None if there are no bags.
    categories : mapping of str to tuple
        The categories of each categorical column, by the number of the column as text. Those of a column with more than
        255 are in the order of their shares of positive rows, and thresholds divide their places. The entry "levels"
        lists the columns whose categories are ordered, and split like numbers.
    divisor : int
        What the sum is divided by: the number of trees of a forest, or of bags of boosted trees. Bags follow one
        another, with equally many trees in each.
    seed : int
        The seed from which the seed of every tree is derived.
    packed_nodes : ndarray of uint64, shape (n_nodes, 3)
        The nodes as the core reads them.
    tree_starts : ndarray of int64, shape (n_trees + 1,)
        Where the nodes of each tree begin.
    category_sets : ndarray of uint64, shape (n_sets, 4)
        Sets of categories in 256 bits: bit v is set if the category at place v of `categories` goes left.
    oob_sum : ndarray of float64, shape (n,), or None
        For each training row the sum of its scores in the trees, or bags, that were fitted without it.
    oob_count : ndarray of int32, shape (n,), or None
        The number of these trees or bags.
    training_labels : ndarray of int8, shape (n,), or None
        Labels of the training rows, +1, 0 and -1, if there are out-of-bag scores. `with_threshold` divides the
        unlabelled ones. Files of early versions have none.
    training_weights : ndarray of float64, shape (n,), or None
        The weights of these rows, if they have some.
    oob_predict_proba : ndarray of float64, shape (n, 2)
        Probabilities of the training rows by their out-of-bag scores, after `with_probabilities`.
    fingerprint : ndarray of uint64, shape (3,) or (4,), or None
        Hashes of the binned training rows, of their labels, of their weights and, if there are some, of their groups.
        By these a fit with this `init_model` knows whether it has the same rows.
    n_iter : int
        Number of trees.
    status : str
        Why the fit ended: "n_trees" or "n_rounds" (all were grown), "no_gain" (no split is left that lowers the loss),
        "early_stopping" or "callback".
    objective : ndarray of float64, shape (n_trees,)
        For a forest: the loss of each tree, which is a sum over its leaves (see `fastpu.fit_forest`). For boosted
        trees: the loss after each tree.
    history : mapping
        "n_leaves", the number of leaves of each tree. `fastpu.fit_boosted_trees` says what else boosted trees have.

    Notes
    -----
    `nodes` has one entry for each node, tree after tree, and in each tree level after level from the root:

    - "tree": the number of the tree.
    - "feature": the feature that the node is split by; -1 in a leaf.
    - "threshold": NaN in a leaf, and in a node that is split by categories.
    - "category_set": the row of `category_sets` in a node that is split by categories; otherwise -1.
    - "missing_left": whether missing entries go left.
    - "left", "right": the numbers of the children within the tree; -1 in a leaf.
    - "gain": by how much the split lowered the loss.
    - "cover": the number of rows of the tree's bag in the node.
    - "value": the score of a leaf; NaN in other nodes.

    `decision_function`, `predict` and `with_threshold` also take BinnedFeatures in place of `X`, if the thresholds of
    the model are among their cuts. After a fit on ``B`` they take every ``B[rows]``. A frame must have categories
    in the columns where the training data had some, but may code them in any way.
    """

    packed_nodes: NDArray[np.uint64]
    tree_starts: NDArray[np.int64]
    category_sets: NDArray[np.uint64]
    categories: ColumnCategories
    divisor: int
    seed: int
    oob_sum: NDArray[np.float64] | None = None
    oob_count: NDArray[np.int32] | None = None
    training_labels: NDArray[np.int8] | None = None
    training_weights: NDArray[np.float64] | None = None
    fingerprint: NDArray[np.uint64] | None = None

    _ndim: ClassVar[Mapping[str, int]] = {"packed_nodes": 2, "category_sets": 2}

    def _check_fields(self) -> None:
        if self.packed_nodes.shape[1:] != (3,) or self.category_sets.shape[1:] != (4,):
            raise ValueError("packed_nodes must have 3 columns and category_sets 4")
        if not self.tree_starts.size == self.objective.size + 1 == self.n_iter + 1:
            raise ValueError(f"a model of {self.n_iter} trees must have as many entries in objective and tree_starts")
        if self.divisor < 1 or not 0 <= self.seed < _SEEDS:
            raise ValueError(f"divisor must be >= 1 and seed in [0, 2**64), got {self.divisor} and {self.seed}")
        check_kept(self.categories, self.n_features)
        _core.check_trees(self._nodes, self.tree_starts, self.category_sets, n_features=self.n_features)
        if len(self.category_sets):  # else no node can be split by one
            by_categories = self._split_features[splits_by_categories(self._nodes)]
            if not np.isin(by_categories, columns_in_sets(self.categories)).all():
                raise ValueError(
                    "nodes that split by categories must have a feature that is in categories, with at most 255 of them"
                )
        if self.fingerprint is not None and self.fingerprint.size not in (3, 4):
            raise ValueError(f"fingerprint must have 3 or 4 entries, got {self.fingerprint.size}")
        if (self.oob_sum is None) != (self.oob_count is None):
            raise ValueError("oob_sum and oob_count must be there together or be None")
        if self.oob_sum is not None and self.oob_count is not None:
            if self.oob_sum.size != self.oob_count.size:
                raise ValueError("oob_sum and oob_count must have as many entries")
            if not np.isfinite(self.oob_sum).all() or self.oob_count.min(initial=0) < 0:
                raise ValueError("oob_sum must be finite, and oob_count >= 0")
        self._check_training_rows()

    def _check_training_rows(self) -> None:
        labels, weights = self.training_labels, self.training_weights
        if labels is None:
            if weights is not None:
                raise ValueError("training_weights must be None without training_labels")
            return
        if self.oob_sum is None or labels.size != self.oob_sum.size or not np.isin(labels, (-1, 0, 1)).all():
            raise ValueError("training_labels must hold -1, 0 or 1 for each entry of oob_sum")
        if weights is not None and (
            weights.size != labels.size or not np.isfinite(weights).all() or weights.min(initial=0) < 0
        ):
            raise ValueError("training_weights must hold a finite number >= 0 for each of training_labels")

    # ---------------------------------------------------------------------------------------------------- the trees

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.n_iter

    @property
    def nodes(self) -> NDArray[Any]:
        """The nodes of all trees, as a new structured array; the notes of the class say what its fields are."""
        core, is_split = self._nodes, self._is_split
        by_categories = splits_by_categories(core)
        nodes = np.empty(core.size, dtype=_NODE)
        nodes["tree"] = np.repeat(np.arange(self.n_trees), np.diff(self.tree_starts))
        nodes["feature"] = np.where(is_split, self._split_features, -1)
        nodes["threshold"] = np.where(is_split & ~by_categories, core["threshold"], np.nan)
        nodes["category_set"] = np.where(by_categories, core["threshold"], -1)
        nodes["missing_left"] = core["split"] & 1 == 0
        nodes["left"] = np.where(is_split, core["left"], -1)
        nodes["right"] = np.where(is_split, core["left"] + 1, -1)
        nodes["gain"], nodes["cover"] = core["gain"], core["cover"]
        nodes["value"] = np.where(is_split, np.nan, core["threshold"])
        return nodes

    @property
    def feature_importances(self) -> NDArray[np.float64]:
        """Share of each feature in the sum of all gains, shape (n_features,); sums to 1, or is all zero."""
        gains = self._nodes["gain"].astype(np.float64)  # 0 in leaves
        shares = np.bincount(self._split_features, gains, minlength=self.n_features).astype(np.float64)
        total = float(shares.sum())
        return shares / total if total > 0 else np.zeros(self.n_features)

    @property
    def _nodes(self) -> NDArray[Any]:
        return self.packed_nodes.view(_PACKED)[:, 0]

    @property
    def _is_split(self) -> NDArray[np.bool_]:
        return self._nodes["left"] > 0

    @property
    def _split_features(self) -> NDArray[np.int64]:
        return (self._nodes["split"] >> 2).astype(np.int64)  # 0 in leaves

    def to_lightgbm(self) -> lightgbm.Booster:
        """Return a LightGBM model with the scores of this one, for tools that read such models.

        ``booster.predict(X)`` is ``decision_function(X)`` up to rounding, and ``booster.predict(X, pred_contrib=True)``
        gives SHAP values: for each row the share of each column in its score, and the mean score last, with the score
        as their sum. ``booster.save_model(path)`` writes what converters to ONNX and compilers of trees read.

        Returns
        -------
        lightgbm.Booster
            Its trees, gains and numbers of rows are those of `nodes`; leaf values are divided by `divisor`.

        Raises
        ------
        ImportError
            If LightGBM is not installed: ``pip install lightgbm``.

        Notes
        -----
        A model with categories takes pandas frames whose columns have the dtype "category" where the training data
        had categories or strings (``X.astype({"shop": "category"})``), or arrays with the places of the entries in
        `categories` (NaN for missing ones, and for one that is not among up to 254 categories their number). In a frame
        LightGBM counts a category that training did not have as missing. A polars frame goes through ``X.to_pandas()``.

        LightGBM reads some numbers in another way, and gives them other scores where a column holds them: -inf is
        missing here and below every threshold there (put NaN in its place), and numbers of at most 1e-35 in size are 0
        there. In names of columns white space, control characters, backslashes and ``" , : [ ] { }`` become "_",
        since it does not take them or does not write them well, and a name that an earlier column has then gets a
        number; columns without names are called "Column_0" and so on. The LightGBM model has neither the
        threshold of `predict` nor the probabilities of this one.

        O(number of nodes) time and memory, about a second for a million nodes.

        Examples
        --------
        >>> import numpy as np, fastpu
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 3))
        >>> y = (X[:, 0] > 0) & (rng.random(200) < 0.5)
        >>> model = fastpu.fit_forest(X, y, n_trees=50, random_state=0)
        >>> booster = model.to_lightgbm()
        >>> shares = booster.predict(X, pred_contrib=True)
        >>> shares.shape
        (200, 4)
        >>> bool(np.allclose(shares.sum(axis=1), model.decision_function(X)))
        True
        """
        return make_booster(self)

    # --------------------------------------------------------------------------------------------------- the scores

    @property
    def oob_decision_function(self) -> NDArray[np.float64] | None:
        """Out-of-bag scores of the training rows, as a new array."""
        if self.oob_sum is None or self.oob_count is None:
            return None
        with np.errstate(invalid="ignore"):
            scores: NDArray[np.float64] = self.oob_sum / self.oob_count
        return scores

    @property
    def oob_predict_proba(self) -> NDArray[np.float64]:
        """Probabilities of both classes for the training rows by their out-of-bag scores, NaN where a row has none.

        Like `predict_proba` it exists after `with_probabilities`. Before that, and without out-of-bag scores, it raises
        AttributeError.
        """
        return of_training_rows(
            self.calibration, self.calibration_knots, self.calibration_values, self.oob_decision_function
        )

    def staged_decision_function(self, X: MatrixLike, *, n_threads: int | None = None) -> Iterator[NDArray[np.float64]]:
        """Yield the scores of the rows of `X` after each round of boosting, as a new array of shape (n,) every time.

        `X` and `n_threads` are those of `decision_function`, and so are the errors. The last array equals its result up
        to rounding. A forest has one round.
        """
        matrix, threads = self._check_input(X, "X"), resolve_n_threads(n_threads)
        return self._staged(matrix, threads)

    def _staged(self, matrix: Matrix | BinnedFeatures, n_threads: int) -> Iterator[NDArray[np.float64]]:
        n_rounds = self.n_trees // self.divisor
        sums = np.zeros(matrix.n_rows)
        for done in range(n_rounds):
            for first in range(done, self.n_trees, n_rounds):
                sums = sums + self._sums(matrix, first, first + 1, n_threads)
            yield sums / self.divisor

    def _check_input(self, X: object, name: str) -> Matrix | BinnedFeatures:
        return bins_or_matrix(X, name, self)

    def _out_of_bag(self) -> NDArray[np.float64] | None:
        return self.oob_decision_function

    def _has_groups(self) -> bool:
        return self.fingerprint is not None and self.fingerprint.size == 4

    def _rows_to_cut(self, y: LabelsLike | None) -> CutRows:
        scores, labels = self.oob_decision_function, self.training_labels
        if scores is None:
            return super()._rows_to_cut(y)
        are_grouped = self._has_groups()
        if y is not None:
            rows = unlabelled_rows(y, scores.size, labels)
            return CutRows.out_of_bag(scores, rows, self.training_weights, are_grouped=are_grouped)
        if labels is None:
            raise ValueError(
                "X_unl must be given for with_threshold, got None: the model was saved by an earlier version of fastpu "
                "and does not know which training rows are unlabelled; pass y, which has their labels, or unlabelled "
                "rows that it was not fitted to"
            )
        return CutRows.out_of_bag(scores, labels == 0, self.training_weights, are_grouped=are_grouped)

    def _decision_function(self, matrix: Matrix | BinnedFeatures, n_threads: int) -> NDArray[np.float64]:
        return self._sums(matrix, 0, self.n_trees, n_threads) / self.divisor

    def _sums(self, matrix: Matrix | BinnedFeatures, first: int, end: int, n_threads: int) -> NDArray[np.float64]:
        """Return the sums of the values of trees [first, end)."""
        starts = self.tree_starts[first : end + 1]
        return _core.tree_scores(
            matrix._native if isinstance(matrix, BinnedFeatures) else matrix,
            self._nodes[starts[0] : starts[-1]],
            starts - starts[0],
            self.category_sets,
            n_features=self.n_features,
            n_threads=n_threads,
        )
