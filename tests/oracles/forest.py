"""A PU forest grown slowly and obviously: the same draws as the fast one, and so the same trees node for node.

Sections 1, 2 and 5 of the mathematics in plain Python: every candidate split of a node is tried by counting the rows on
either side. Numbers are drawn by SplitMix64, whose k-th number for a seed is `derived(seed, k)`. Fit for some hundreds
of rows.

Codes: `code(x)` is the number of cuts of the feature below x. A feature with a missing entry (NaN or -inf) has -inf as
its first cut, so that code 0 means missing. Category v has the code 1 + v.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

_WORD = (1 << 64) - 1
_GOLD = 0x9E3779B97F4A7C15
TIE = 1e-12
CATEGORIES_LIKE_NUMBERS = 5


# -- draws -------------------------------------------------------------------------------------------------------------


def mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


def derived(seed: int, k: int) -> int:
    return mix((seed + (k + 1) * _GOLD) & _WORD)


class Stream:
    """The numbers derived(seed, 0), derived(seed, 1), ..."""

    def __init__(self, seed: int):
        self.seed, self.drawn = seed, 0

    def next(self) -> int:
        self.drawn += 1
        return derived(self.seed, self.drawn - 1)

    def below(self, n: int) -> int:
        return (self.next() * n) >> 64

    def next_below(self, n: int) -> int:
        """Without those draws that would favour small numbers."""
        while (drawn := self.next()) < (1 << 64) % n:
            pass
        return drawn % n

    def unit(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def shuffled(values: list[int], stream: Stream) -> list[int]:
    values = list(values)
    for i in range(len(values), 1, -1):
        j = stream.next_below(i)
        values[i - 1], values[j] = values[j], values[i - 1]
    return values


def draw_with_replacement(rows: list[int], weights: list[float], n: int, stream: Stream) -> list[int]:
    if len(set(weights)) == 1:
        return [rows[stream.below(len(rows))] for _ in range(n)]
    sums = np.cumsum(weights)
    last = len(rows) - 1
    return [rows[min(int(np.searchsorted(sums, stream.unit() * sums[-1], "right")), last)] for _ in range(n)]


def draw_without_replacement(rows: list[int], weights: list[float], n: int, stream: Stream) -> list[int]:
    if len(set(weights)) == 1:
        places = list(range(len(rows)))
        for i in range(n):
            j = i + stream.below(len(rows) - i)
            places[i], places[j] = places[j], places[i]
        return [rows[place] for place in places[:n]]
    keys = [(-math.log(1.0 - stream.unit()) / weight, i) for i, weight in enumerate(weights)]
    return [rows[i] for _, i in sorted(keys)[:n]]


# -- bins --------------------------------------------------------------------------------------------------------------


@dataclass
class Bins:
    """Codes of the rows, and for each feature its cuts and the value that stands for each bin."""

    codes: np.ndarray
    cuts: list[np.ndarray]
    values: list[np.ndarray]
    categorical: list[bool]

    def has_missing(self, feature: int) -> bool:
        cuts = self.cuts[feature]
        return self.categorical[feature] or (len(cuts) > 0 and cuts[0] == -np.inf)


def excess_categories(n: int) -> int:
    """By how many a split by n categories is marked down: as much as n would gain by chance more than numbers do."""
    return max(0, n - CATEGORIES_LIKE_NUMBERS)


def excess_of_one(n: int) -> int:
    """The same for one of n categories against the rest, where a number has one random cut."""
    return n.bit_length() - 1


# -- criteria ----------------------------------------------------------------------------------------------------------


@dataclass
class Criterion:
    """What a node of P and U rows costs, and the score of its rows: of a bag of n_pos and n_unl draws."""

    name: str
    n_pos: int
    n_unl: int
    prior: float = 0.5

    def shares(self, n_pos: int, n_unl: int) -> tuple[float, float]:
        return n_pos * (1.0 / self.n_pos), n_unl * (1.0 / self.n_unl)

    def weights(self, n_pos: int, n_unl: int) -> tuple[float, float]:
        p, u = self.shares(n_pos, n_unl)
        return self.prior * p, u - self.prior * p

    def cost(self, n_pos: int, n_unl: int) -> float:
        p, u = self.shares(n_pos, n_unl)
        if self.name == "gini":
            return 2.0 * p * u / (p + u) if p > 0 and u > 0 else 0.0
        wp, wn = self.weights(n_pos, n_unl)
        if wn > 0:
            return 4.0 * wp * wn / u
        return 4.0 * wn if self.name == "upu" else 0.0

    def value(self, n_pos: int, n_unl: int) -> float:
        p, u = self.shares(n_pos, n_unl)
        if self.name == "gini":
            return p / (p + u)
        wp, wn = self.weights(n_pos, n_unl)
        return (wp - wn) / u if wn >= 0 and u > 0 else 1.0

    def chance_gain(self, n_pos: int, n_unl: int) -> float:
        """The mean gain of a cut that tells nothing, of rows of P drawn with replacement and of U without."""
        p, u = self.shares(n_pos, n_unl)
        if u == 0:
            return 0.0
        variance = p * u * (2.0 * u / self.n_pos + p / self.n_unl)
        if self.name == "gini":
            return 2.0 * variance / (p + u) ** 3
        return 4.0 * self.prior**2 * variance / u**3

    def is_done(self, n_pos: int, n_unl: int) -> bool:
        if self.name == "gini":
            return n_pos == 0 or n_unl == 0
        return n_pos == 0 or (self.name == "nnpu" and self.weights(n_pos, n_unl)[1] <= 0)

    def least_gain(self, n_pos: int, n_unl: int) -> float:
        if self.name == "gini":
            return -math.inf
        wp, wn = self.weights(n_pos, n_unl)
        return TIE * (wp + abs(wn))


# -- a tree ------------------------------------------------------------------------------------------------------------


@dataclass
class Options:
    loss: str = "gini"
    prior: float = 0.5
    splitter: str = "random"
    max_features: int = 1
    min_leaf_rows: int = 3
    max_depth: int | None = None
    max_leaves: int | None = None


@dataclass(eq=False)
class Node:
    """A node with the rows of the bag that reach it, P apart from U."""

    pos: np.ndarray
    unl: np.ndarray
    key: int
    depth: int
    value: float
    split: Split | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def cover(self) -> int:
        return len(self.pos) + len(self.unl)


@dataclass
class Split:
    """What goes left: rows whose code of the feature is among `left`."""

    feature: int
    cut: int | None
    left: frozenset[int]
    missing_right: bool
    gain: float = 0.0
    excess: int = 0  # how many times the gain of a cut by chance is taken off


class Tree:
    def __init__(self, bins: Bins, pos: list[int], unl: list[int], key: int, options: Options):
        self.bins, self.options = bins, options
        self.criterion = Criterion(options.loss, len(pos), len(unl), options.prior)
        self.root = self.node(np.array(pos), np.array(unl), key, 0)
        self.grow()

    def node(self, pos: np.ndarray, unl: np.ndarray, key: int, depth: int) -> Node:
        made = Node(pos, unl, key, depth, self.criterion.value(len(pos), len(unl)))
        made.split = self.best_split(made)
        return made

    def grow(self) -> None:
        """Split the leaf of the largest gain, the oldest of equal ones, until none is left or there are enough."""
        leaves = [self.root]
        while self.options.max_leaves is None or len(leaves) < self.options.max_leaves:
            ready = [leaf for leaf in leaves if leaf.split is not None]
            if not ready:
                break
            leaf = max(ready, key=lambda each: each.split.gain)  # the first of equal ones
            leaves.remove(leaf)
            self.divide(leaf)
            leaves += leaf.children
        for leaf in leaves:
            leaf.split = None

    def divide(self, node: Node) -> None:
        codes = self.bins.codes[:, node.split.feature]
        pos_left = np.isin(codes[node.pos], list(node.split.left))
        unl_left = np.isin(codes[node.unl], list(node.split.left))
        for side, (pos, unl) in enumerate(((pos_left, unl_left), (~pos_left, ~unl_left))):
            key = derived(node.key, side)
            node.children.append(self.node(node.pos[pos], node.unl[unl], key, node.depth + 1))

    def best_split(self, node: Node) -> Split | None:
        options, criterion = self.options, self.criterion
        n_pos, n_unl = len(node.pos), len(node.unl)
        if node.depth == options.max_depth or node.cover < 2 * options.min_leaf_rows:
            return None
        if criterion.is_done(n_pos, n_unl):
            return None
        best = None
        cost, least = criterion.cost(n_pos, n_unl), criterion.least_gain(n_pos, n_unl)
        for feature, unit in self.drawn_features(node):
            codes = self.bins.codes[:, feature]
            for split in self.candidates(node, feature, unit):
                p = int(np.isin(codes[node.pos], list(split.left)).sum())
                u = int(np.isin(codes[node.unl], list(split.left)).sum())
                if min(p + u, node.cover - p - u) < options.min_leaf_rows:
                    continue
                split.gain = cost - criterion.cost(p, u) - criterion.cost(n_pos - p, n_unl - u)
                split.gain -= split.excess * criterion.chance_gain(n_pos, n_unl)
                if split.gain > least and (best is None or split.gain > best.gain + TIE * abs(best.gain)):
                    best = split
        return best

    def drawn_features(self, node: Node) -> list[tuple[int, float]]:
        """The features that are looked at, as they are drawn, each with the number that chooses its cut."""
        rows = np.concatenate([node.pos, node.unl]).astype(int)
        features = [f for f in range(self.bins.codes.shape[1]) if len(np.unique(self.bins.codes[rows, f])) > 1]
        stream, drawn = Stream(derived(node.key, 2)), []
        for i in range(min(self.options.max_features, len(features))):
            j = i + stream.below(len(features) - i)
            features[i], features[j] = features[j], features[i]
            drawn.append((features[i], stream.unit() if self.options.splitter == "random" else 0.0))
        return drawn

    def candidates(self, node: Node, feature: int, unit: float) -> list[Split]:  # noqa: PLR0912
        rows = np.concatenate([node.pos, node.unl]).astype(int)
        codes = self.bins.codes[rows, feature]
        has_missing = self.bins.has_missing(feature) and bool(np.any(codes == 0))
        present = sorted(set(codes.tolist()) - ({0} if self.bins.has_missing(feature) else set()))
        if self.bins.categorical[feature]:
            order = self.by_statistic(node, feature, present)
            n = len(order)
            ones = order if n > 2 else []  # each against all others
            firsts = range(1, n) if self.options.splitter == "best" else [1 + int(unit * (n - 1))] if n > 1 else []
            order = self.kept_or_drawn(order, node, feature, unit, firsts)
            found = [(None, frozenset(order[:j])) for j in firsts]
            alone = has_missing and (n == 1 or self.options.splitter == "best")
        else:
            ones, everything = [], range(len(self.bins.cuts[feature]) + 1)
            low, high, values = present[0], present[-1], self.bins.values[feature]
            if low == high:
                cuts = []
            elif self.options.splitter == "best":
                cuts = present[:-1]
            else:
                at = (1.0 - unit) * values[low] + unit * values[high]
                cuts = [low + sum(bool(values[c] <= at) for c in range(low + 1, high))]
            found = [(k, frozenset(c for c in everything if c <= k)) for k in cuts]
            alone = has_missing and (low == high or self.options.splitter == "best")
        splits = []
        if alone:  # missing entries against all others
            splits.append(Split(feature, None if self.bins.categorical[feature] else 0, frozenset({0}), False))
        n_first = len(splits)
        found = [(None, frozenset({code})) for code in ones] + found
        for cut, left in found:
            if has_missing:
                splits.append(Split(feature, cut, left | {0}, False))
                splits.append(Split(feature, cut, left - {0}, True))
            elif self.bins.has_missing(feature):
                is_left = np.isin(codes, list(left))
                right = int((~is_left).sum()) > int(is_left.sum())
                splits.append(Split(feature, cut, left - {0} if right else left | {0}, right))
            else:
                splits.append(Split(feature, cut, left, False))
        if self.bins.categorical[feature]:
            for split in splits[n_first:]:
                split.excess = excess_categories(len(present))
            for split in splits[n_first : n_first + len(ones) * (2 if has_missing else 1)]:
                split.excess = excess_of_one(len(present)) if self.options.splitter == "random" else 0
        return splits

    def kept_or_drawn(
        self, order: list[int], node: Node, feature: int, unit: float, firsts: Sequence[int]
    ) -> list[int]:
        """The order of the categories, or a random one if its random cut gains no more than many do by chance."""
        if self.options.splitter == "best" or not firsts:
            return order
        codes, criterion = self.bins.codes[:, feature], self.criterion
        first = order[: firsts[0]]
        (p, n_pos), (u, n_unl) = ((int(np.isin(codes[g], first).sum()), len(g)) for g in (node.pos, node.unl))
        gain = criterion.cost(n_pos, n_unl) - criterion.cost(p, u) - criterion.cost(n_pos - p, n_unl - u)
        excess = excess_categories(len(order))
        is_by_chance = excess > 0 and gain <= excess * criterion.chance_gain(n_pos, n_unl)
        return shuffled(order, Stream(int(unit * 2.0**53))) if is_by_chance else order

    def by_statistic(self, node: Node, feature: int, present: list[int]) -> list[int]:
        """The codes of categories by the ratio of their P rows to their U rows, compared without rounding."""
        codes = self.bins.codes[:, feature]
        counts = {c: (int((codes[node.pos] == c).sum()), int((codes[node.unl] == c).sum())) for c in present}
        order: list[int] = []
        for code in present:  # insertion: before the first that is larger
            p, u = counts[code]
            place = next((i for i, c in enumerate(order) if p * counts[c][1] < counts[c][0] * u), len(order))
            order.insert(place, code)
        return order

    def breadth_first(self) -> list[Node]:
        nodes = [self.root]
        for node in nodes:  # which grows meanwhile
            nodes += node.children
        return nodes

    def table(self) -> list[dict[str, object]]:
        """What is known of each node, breadth first, as `TreeEnsemble.nodes` says it."""
        nodes = self.breadth_first()
        places = {id(node): place for place, node in enumerate(nodes)}
        return [self.entry(node, places) for node in nodes]

    def entry(self, node: Node, places: dict[int, int]) -> dict[str, object]:
        if node.split is None:
            return {"feature": -1, "value": node.value, "cover": node.cover}
        split = node.split
        found: dict[str, object] = {
            "feature": split.feature,
            "left": places[id(node.children[0])],
            "right": places[id(node.children[1])],
            "missing_left": self.is_missing_left(node),
            "cover": node.cover,
            "gain": float(np.float32(max(split.gain, 0.0))),
        }
        if self.bins.categorical[split.feature]:
            found["categories"] = self.category_bits(node)
        else:
            found["threshold"] = float(self.bins.cuts[split.feature][split.cut])
        return found

    def is_missing_left(self, node: Node) -> bool:
        """Where training rows miss nothing, later rows that do go with the larger part of these."""
        if self.bins.has_missing(node.split.feature):
            return not node.split.missing_right
        left, right = node.children
        return left.cover >= right.cover

    def category_bits(self, node: Node) -> frozenset[int]:
        """Of 0 to 255 the categories that go left: those without rows in the node go with the larger part of these.

        255, which is no category, stands for missing entries.
        """
        codes = self.bins.codes[np.concatenate([node.pos, node.unl]).astype(int), node.split.feature]
        present = set(codes.tolist())
        absent = frozenset(v for v in range(255) if v + 1 not in present)
        left = frozenset(code - 1 for code in node.split.left if code in present and code > 0)
        larger, smaller = (child.cover for child in node.children)
        missing = frozenset() if node.split.missing_right else frozenset([255])
        return left | missing | (absent if larger >= smaller else frozenset())

    def scores(self) -> np.ndarray:
        """The value of the leaf that each row reaches."""
        found = np.empty(len(self.bins.codes))
        for row, codes in enumerate(self.bins.codes):
            node = self.root
            while node.split is not None:
                is_left = codes[node.split.feature] in node.split.left
                if self.bins.categorical[node.split.feature]:
                    code = int(codes[node.split.feature])
                    is_left = code - 1 in self.category_bits(node) if code > 0 else not node.split.missing_right
                node = node.children[0 if is_left else 1]
            found[row] = node.value
        return found


# -- a forest ----------------------------------------------------------------------------------------------------------


@dataclass
class Forest:
    trees: list[Tree]
    oob_sum: np.ndarray
    oob_count: np.ndarray


def grow_forest(
    bins: Bins,
    labels: np.ndarray,
    options: Options,
    *,
    seed: int,
    n_trees: int,
    sizes: Sequence[int],
    repeats_pos: int = 1,
    replace: bool = False,
    weights: np.ndarray | None = None,
    first_tree: int = 0,
) -> Forest:
    """Grow trees `first_tree`, ... of a forest, each on P drawn anew and sizes[t % len(sizes)] rows of U."""
    w = np.ones(len(labels)) if weights is None else np.asarray(weights, dtype=np.float64)
    pos, unl = ([i for i in range(len(labels)) if labels[i] == label and w[i] > 0] for label in (1, 0))
    made = Forest([], np.zeros(len(labels)), np.zeros(len(labels), dtype=np.int64))
    for t in range(first_tree, first_tree + n_trees):
        key = derived(seed, t)
        stream = Stream(derived(key, 0))
        drawn_pos = draw_with_replacement(pos, w[pos].tolist(), len(pos), stream) * repeats_pos
        draw = draw_with_replacement if replace else draw_without_replacement
        drawn_unl = draw(unl, w[unl].tolist(), sizes[t % len(sizes)], stream)
        tree = Tree(bins, drawn_pos, drawn_unl, derived(key, 1), options)
        made.trees.append(tree)
        out = np.setdiff1d(np.arange(len(labels)), [*drawn_pos, *drawn_unl])
        made.oob_sum[out] += tree.scores()[out]
        made.oob_count[out] += 1
    return made
