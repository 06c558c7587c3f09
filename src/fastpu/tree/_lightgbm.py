"""Trees as text in the format of LightGBM's model files.

LightGBM numbers the splits of a tree from 0 and its leaves from -1 downwards. Its splits by categories differ from ours
in two things: their sets are in words of 32 bits, and missing and unknown entries always go right. So a node that sends
these left is turned round: it gets the complement of its set, and its children are exchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastpu.data._categories import ColumnCategories, categorical_columns, columns_in_sets

if TYPE_CHECKING:
    import lightgbm

_IS_CATEGORICAL, _MISSING_LEFT, _NAN_IS_MISSING = 1, 2, 8  # the bits of decision_type
_WORDS = 8  # of 32 bits in a set of categories
#: Characters that LightGBM refuses in names of features, or puts into JSON without an escape, and halves of others.
_REFUSED = re.compile(r"[\s\",:\[\]{}\\\x00-\x1f\x7f\ud800-\udfff]")


class Trees(Protocol):
    """What is read of a `TreeEnsemble`, which stands on this file."""

    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> tuple[Hashable, ...] | None: ...
    @property
    def categories(self) -> ColumnCategories: ...
    @property
    def nodes(self) -> NDArray[Any]: ...
    @property
    def tree_starts(self) -> NDArray[np.int64]: ...
    @property
    def category_sets(self) -> NDArray[np.uint64]: ...
    @property
    def divisor(self) -> int: ...


def make_booster(model: Trees) -> lightgbm.Booster:
    """Return a LightGBM model with the scores of these trees."""
    try:
        library = import_module("lightgbm")
    except ImportError as error:
        raise ImportError("to_lightgbm needs LightGBM: pip install lightgbm") from error
    categories = model.categories
    names = _accepted_names(
        list(map(str, model.feature_names or ())) or [f"Column_{column}" for column in range(model.n_features)]
    )
    kinds = ["[-inf:inf]"] * len(names)  # LightGBM has the range of each column here, and the codes of its categories
    for column in columns_in_sets(categories):
        kinds[column] = ":".join(map(str, range(len(categories[str(column)])))) or "none"
    trees = _tree_texts(model)
    head = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={len(names) - 1}",
        "objective=regression",  # an objective that leaves scores as they are
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join(kinds)}",
        f"tree_sizes={' '.join(str(len(tree)) for tree in trees)}",
        "\n",
    ]
    # LightGBM codes the columns of a frame that have categories by these, in the order of the columns.
    kept_in_order = [list(categories[str(column)]) for column in categorical_columns(categories)]
    tail = ["end of trees", "", "feature_importances:", "", f"pandas_categorical:{json.dumps(kept_in_order)}", ""]
    booster: lightgbm.Booster = library.Booster(model_str="\n".join(head) + "".join(trees) + "\n".join(tail))
    return booster


def _accepted_names(names: Iterable[str]) -> list[str]:
    """Return names that LightGBM takes, all different: a name that an earlier column has gets a number."""
    accepted = [_REFUSED.sub("_", name) or "_" for name in names]
    taken = set(accepted)
    seen: set[str] = set()
    for place, name in enumerate(accepted):
        if name in seen:
            numbered = (f"{name}_{number}" for number in count(2))
            accepted[place] = next(other for other in numbered if other not in taken)
            taken.add(accepted[place])
        seen.add(name)
    return accepted


def _tree_texts(model: Trees) -> list[str]:
    nodes, tree_starts = model.nodes, model.tree_starts
    starts = tree_starts[:-1]
    is_split = nodes["feature"] >= 0
    splits, leaves = nodes[is_split], nodes[~is_split]
    by_set = splits["category_set"] >= 0

    # How many splits, and how many splits by categories, come before each node, and before each tree.
    n_before = np.concatenate([[0], np.cumsum(is_split)])
    in_tree = np.arange(nodes.size) - starts[nodes["tree"]]
    split_number = n_before[:-1] - n_before[starts][nodes["tree"]]
    number = np.where(is_split, split_number, split_number - in_tree - 1)
    first = starts[splits["tree"]]
    is_turned = by_set & splits["missing_left"]
    left, right = (number[first + splits[side]] for side in ("left", "right"))
    left, right = np.where(is_turned, right, left), np.where(is_turned, left, right)

    sets_before = np.concatenate([[0], np.cumsum(by_set)])
    set_number = sets_before[:-1] - sets_before[n_before[starts]][splits["tree"]]
    words = model.category_sets[splits["category_set"][by_set]]
    words = np.where(is_turned[by_set, None], ~words, words)
    words[:, -1] &= np.uint64(2**63 - 1)  # there is no category 255
    decision = np.where(splits["missing_left"], _NAN_IS_MISSING + _MISSING_LEFT, _NAN_IS_MISSING)

    of_splits = {
        "split_feature": splits["feature"],
        "split_gain": splits["gain"],
        "threshold": np.where(by_set, set_number, splits["threshold"]),
        "decision_type": np.where(by_set, _NAN_IS_MISSING + _IS_CATEGORICAL, decision),
        "left_child": left,
        "right_child": right,
        "internal_value": _means(nodes, tree_starts)[is_split] / model.divisor,
        "internal_count": splits["cover"],
    }
    of_leaves = {"leaf_value": leaves["value"] / model.divisor, "leaf_count": leaves["cover"]}
    split_texts = {key: _texts(values) for key, values in of_splits.items()}
    leaf_texts = {key: _texts(values) for key, values in of_leaves.items()}
    split_texts["internal_weight"], leaf_texts["leaf_weight"] = split_texts["internal_count"], leaf_texts["leaf_count"]
    word_texts = _texts(words.astype("<u8").view("<u4").ravel())

    texts = []
    split_ends = n_before[tree_starts]
    leaf_ends, set_ends = tree_starts - split_ends, sets_before[split_ends]
    for t in range(starts.size):
        of_tree = slice(split_ends[t], split_ends[t + 1])
        n_sets = int(set_ends[t + 1] - set_ends[t])
        lines = [f"Tree={t}", f"num_leaves={leaf_ends[t + 1] - leaf_ends[t]}", f"num_cat={n_sets}"]
        lines += [f"{key}={' '.join(entries[of_tree])}" for key, entries in split_texts.items()]
        of_tree = slice(leaf_ends[t], leaf_ends[t + 1])
        lines += [f"{key}={' '.join(entries[of_tree])}" for key, entries in leaf_texts.items()]
        if n_sets:
            of_tree = slice(_WORDS * set_ends[t], _WORDS * set_ends[t + 1])
            lines += [
                f"cat_boundaries={' '.join(map(str, range(0, _WORDS * n_sets + 1, _WORDS)))}",
                f"cat_threshold={' '.join(word_texts[of_tree])}",
            ]
        texts.append("\n".join([*lines, "is_linear=0", "shrinkage=1", "\n\n"]))
    return texts


def _means(nodes: NDArray[Any], tree_starts: NDArray[np.int64]) -> NDArray[np.float64]:
    levels = [tree_starts[:-1]]
    while levels[-1].size:
        parents = levels[-1][nodes["feature"][levels[-1]] >= 0]
        left = tree_starts[nodes["tree"][parents]] + nodes["left"][parents]
        levels[-1] = parents
        levels.append(np.concatenate([left, left + 1]))
    cover = np.maximum(nodes["cover"], 1.0)
    means: NDArray[np.float64] = nodes["value"].copy()
    for parents in reversed(levels):
        left = tree_starts[nodes["tree"][parents]] + nodes["left"][parents]
        share = cover[left] / (cover[left] + cover[left + 1])
        means[parents] = share * means[left] + (1.0 - share) * means[left + 1]
    return means


def _texts(values: NDArray[Any]) -> list[str]:
    """Return each number so that it can be read back without loss."""
    return list(map(repr, values.tolist()))
