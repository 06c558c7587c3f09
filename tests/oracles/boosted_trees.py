"""Boosted trees grown slowly and obviously: the same draws and the same rounding as the fast ones, so the same trees.

Sections 1 and 3 of the mathematics in plain Python: every split of a node is tried by adding up the rows on either
side. Codes and draws are as in `oracles.forest`, the losses are `oracles.tree_loss`. Fit for some hundreds of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from oracles import tree_loss
from oracles.forest import (
    TIE,
    Bins,
    Stream,
    derived,
    draw_with_replacement,
    draw_without_replacement,
    excess_categories,
)

LEAST_GAIN = 1e-9  # of the score of the node: what rounding could make of a gain of nothing


@dataclass
class Options:
    loss: str = "pnu_auc"
    gamma: float = 0.5
    prior: float = 0.5
    learning_rate: float = 0.05
    max_leaves: int = 4
    max_depth: int | None = None
    min_leaf_rows: float = 20
    min_leaf_hessian: float = 1e-3
    lam: float = 10.0
    subsample_unl: float = 1.0
    max_features: float = 1.0


# -- rounding ----------------------------------------------------------------------------------------------------------


def common_divisor(weights: list[float]) -> float:
    """What all weights are whole multiples of, within rounding; tiny where they have nothing in common."""
    a = weights[0]
    for weight in weights[1:]:
        rounding = 2.0**-44 * max(a, weight)
        a, b = max(a, weight), min(a, weight)
        if b <= rounding:
            a = b
        while b > rounding:
            rest = math.fmod(a, b)
            a, b = b, rest if b - rest > rounding else 0.0
    return a


def whole(values: np.ndarray, weights: np.ndarray, most: float) -> tuple[np.ndarray, float]:
    """The values of all rows as whole numbers of a unit, and the unit: sums of sizes, at most `most`, stay below 2^31.

    Rows are rounded as if rows of one weight were repeated, if that makes few repetitions.
    """
    repeated = common_divisor(weights[weights > 0].tolist())
    n = np.count_nonzero(weights)
    times = np.rint(weights / repeated)
    are_whole = bool(times.sum() <= max(2**17, 8 * n))
    n_rounded, unit = times.sum() if are_whole else n, 1.0
    if most > 0:
        unit = 2.0 ** -(math.frexp((2**31 - 1 - n_rounded) / most)[1] - 1)
    if are_whole:
        each = np.where(weights > 0, times, 1.0)
        return (np.rint(values / each / unit) * each).astype(np.int64), unit
    return np.rint(values / unit).astype(np.int64), unit


# -- a tree ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Split:
    feature: int
    left: np.ndarray  # rows of the node
    gain: float
    cut: int | None = None
    categories: frozenset[int] | None = None
    missing_left: bool = True


@dataclass(eq=False)
class Node:
    rows: np.ndarray
    depth: int
    split: Split | None = None  # the best one
    children: tuple[Node, Node] | None = None
    value: float = 0.0


@dataclass(eq=False)
class Tree:
    root: Node
    bins: Bins
    nodes: list[Node] = field(default_factory=list)  # breadth first

    def table(self) -> list[dict[str, object]]:
        """What the model says of every node."""
        entries = []
        for node in self.nodes:
            if node.children is None:
                entries.append({"feature": -1, "cover": len(node.rows), "value": node.value})
                continue
            split = node.split
            entry = {"feature": split.feature, "cover": len(node.rows), "gain": split.gain}
            entry |= {"missing_left": self.is_missing_left(node), "left": self.nodes.index(node.children[0])}
            if split.categories is None:
                entry["threshold"] = self.bins.cuts[split.feature][split.cut]
            else:
                entry["categories"] = split.categories
            entries.append(entry)
        return entries

    def is_missing_left(self, node: Node) -> bool:
        """Where training rows miss nothing, later rows that do go with the larger part of these."""
        if self.bins.has_missing(node.split.feature):
            return node.split.missing_left
        left, right = node.children
        return len(left.rows) >= len(right.rows)


@dataclass
class Grower:
    bins: Bins
    options: Options
    weights: np.ndarray
    g: np.ndarray  # whole numbers
    h: np.ndarray
    g_unit: float
    h_unit: float
    features: list[int]
    chance_gain: float  # of a cut that tells nothing

    def score(self, rows: np.ndarray) -> float:
        g, h = self.g[rows].sum() * self.g_unit, self.h[rows].sum() * self.h_unit + self.options.lam
        return g * g / h if h > 0 else 0.0

    def score_of_sides(self, left: np.ndarray, right: np.ndarray) -> float:
        """Sum of the scores of both sides, or -inf where one of them is not allowed."""
        options = self.options
        counts = np.floor(self.weights * 2**20 + 0.5)  # in whole numbers, as 1.7 + 11 * 0.3 is 5
        if min(counts[left].sum(), counts[right].sum()) < options.min_leaf_rows * 2**20:
            return -math.inf
        gl, gr = (self.g[side].sum() * self.g_unit for side in (left, right))
        hl, hr = (self.h[side].sum() * self.h_unit for side in (left, right))
        a, b = hl + options.lam, hr + options.lam
        if min(hl, hr) < options.min_leaf_hessian or not a * b > 0:
            return -math.inf
        return (gl * gl * b + gr * gr * a) / (a * b)

    def splits(self, rows: np.ndarray, feature: int) -> Iterator[Split]:
        codes = self.bins.codes[rows, feature]
        has_missing = self.bins.has_missing(feature)
        missing = (codes == 0) & has_missing
        unmet = np.zeros(rows.size, dtype=bool)  # rows of categories that no gradient tells of
        score_before = self.score(rows)
        is_missing = bool(self.g[rows[missing]].sum() or self.h[rows[missing]].sum())
        if self.bins.categorical[feature]:
            groups = {int(code): codes == code for code in np.unique(codes[codes > 0])}
            sums = {code: (self.g[rows[of]].sum(), self.h[rows[of]].sum()) for code, of in groups.items()}
            present = sorted((code for code in groups if any(sums[code])), key=lambda code: self.value(*sums[code]))
            cuts = [(frozenset(present[:n]), n) for n in range(len(present))]
            if len(present) > 2:  # each against all others
                cuts[1:1] = [(frozenset({code}), 0) for code in present]
            unmet = ~np.isin(codes, [0, *present])
        else:
            first = 1 if has_missing else 0
            # A cut above a code that no row has divides the rows as the one below it does, which wins.
            cuts = [(frozenset(range(first, k + 1)), k) for k in np.unique(codes[codes < len(self.bins.cuts[feature])])]
        for codes_left, k in cuts:
            at_left = np.array([code in codes_left for code in codes.tolist()])
            if not codes_left:  # all but what is missing are right
                sides = [True] if is_missing else []
            elif is_missing:
                sides = [True, False]
            else:
                heavier_right = self.h[rows[~at_left & ~missing & ~unmet]].sum() > self.h[rows[at_left]].sum()
                sides = [not (has_missing and heavier_right)]
                # Rows without a gradient change no gain, but may be the rows that a side has too few of.
                sides += [not sides[0]] if missing.any() else []
            for missing_left in sides:
                left = at_left | (missing & missing_left)
                is_heavier_left = self.h[rows[left]].sum() >= self.h[rows[~left & ~unmet]].sum()
                left |= unmet & is_heavier_left
                score = self.score_of_sides(rows[left], rows[~left])
                gain = score - score_before
                if not self.bins.categorical[feature]:
                    yield Split(feature, left, gain, cut=k, missing_left=missing_left)
                    continue
                if k:
                    gain -= excess_categories(len(present)) * self.chance_gain
                others = {0} if missing_left else set()
                others |= set(range(1, 256)) - set(present) if is_heavier_left else set()
                chosen = frozenset((code - 1) % 256 for code in others | set(codes_left))
                yield Split(feature, left, gain, categories=chosen, missing_left=missing_left)

    def value(self, g: int, h: int) -> float:
        divisor = h * self.h_unit + self.options.lam
        return g * self.g_unit / divisor if divisor > 0 else math.copysign(math.inf, g)

    def best_split(self, node: Node) -> Split | None:
        if node.depth == self.options.max_depth or len(node.rows) < 2:
            return None
        found = [split for feature in self.features for split in self.splits(node.rows, feature)]
        most = max((split.gain for split in found), default=-math.inf)
        if not most > LEAST_GAIN * self.score(node.rows):
            return None
        return next(split for split in found if split.gain >= most - TIE * most)

    def grow(self, rows: np.ndarray) -> Tree:
        root = Node(rows, 0)
        root.split = self.best_split(root)
        made, n_leaves = [root], 1
        while n_leaves < self.options.max_leaves:
            waiting = [node for node in made if node.children is None and node.split is not None]
            if not waiting:
                break
            node = max(waiting, key=lambda node: (node.split.gain, -made.index(node)))
            sides = (node.rows[node.split.left], node.rows[~node.split.left])
            node.children = tuple(Node(side, node.depth + 1) for side in sides)
            n_leaves += 1
            for child in node.children:
                child.split = self.best_split(child)
                made.append(child)
        tree = Tree(root, self.bins, [root])
        for node in tree.nodes:
            tree.nodes += node.children or ()
        return tree


# -- rounds ------------------------------------------------------------------------------------------------------------


def at_leaves(tree: Tree, bins: Bins, rows: np.ndarray) -> np.ndarray:
    """The values that a tree gives to rows."""

    def value(row: int) -> float:
        node = tree.root
        while node.children is not None:
            split, code = node.split, int(bins.codes[row, node.split.feature])
            if split.categories is not None:
                goes_left = (code - 1) % 256 in split.categories
            elif code == 0 and bins.has_missing(split.feature):
                goes_left = split.missing_left
            else:
                goes_left = code <= split.cut
            node = node.children[0 if goes_left else 1]
        return node.value

    return np.array([value(row) for row in rows])


@dataclass
class Boosted:
    trees: list[Tree]
    risks: list[float]
    scores: np.ndarray


def share_of(share: float, n: int) -> int:
    return min(n, max(1, math.floor(share * n + 0.5)))


def boost(
    bins: Bins, labels: np.ndarray, options: Options, *, seed: int, n_rounds: int, weights: np.ndarray | None = None
) -> Boosted:
    """Boost all rows; `seed` is that of the booster, not of the model."""
    n, d = bins.codes.shape
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    f, trees, risks = np.zeros(n), [], []
    loss = {"gamma": options.gamma, "prior": options.prior}
    counted = np.flatnonzero(w > 0)
    for round_ in range(n_rounds):
        seed_of_round = derived(seed, round_)
        features = list(range(d))
        if options.max_features < 1:
            stream = Stream(derived(seed_of_round, 0))
            features = sorted(
                draw_without_replacement(features, [1.0], max(1, math.floor(options.max_features * d)), stream)
            )
        rows = counted
        if options.subsample_unl < 1:
            unlabeled = [int(row) for row in counted if labels[row] == 0]
            n_drawn = share_of(options.subsample_unl, len(unlabeled))
            drawn = draw_without_replacement(unlabeled, [1.0], n_drawn, Stream(derived(seed_of_round, 1)))
            rows = np.array([row for row in counted if labels[row] != 0 or int(row) in set(drawn)])
        g, h = np.zeros(n), np.zeros(n)
        g[rows], h[rows] = tree_loss.derivatives(options.loss, labels[rows], f[rows], w[rows], **loss)
        most_g, most_h = tree_loss.bounds(options.loss, labels[rows], f[rows], w[rows], **loss)
        (g_whole, g_unit), (h_whole, h_unit) = whole(g, w, most_g), whole(h, w, most_h)
        chance_gain = tree_loss.chance_gain(options.loss, labels[rows], f[rows], w[rows], **loss)
        grower = Grower(bins, options, w, g_whole, h_whole, g_unit, h_unit, features, chance_gain)
        tree = grower.grow(rows)
        for node in tree.nodes:
            if node.children is None:
                divisor = h[node.rows].sum() + options.lam
                node.value = -options.learning_rate * g[node.rows].sum() / divisor if divisor > 0 else 0.0
        if len(tree.nodes) == 1 and options.max_features == options.subsample_unl == 1:
            break
        f = f + at_leaves(tree, bins, np.arange(n))
        trees.append(tree)
        risks.append(tree_loss.objective(options.loss, labels[counted], f[counted], w[counted], **loss))
    return Boosted(trees, risks, f)


def bag_of(labels: np.ndarray, weights: np.ndarray | None, n_unl: int, seed: int) -> list[int]:
    """The rows of a bag, ascending."""
    w = np.ones(labels.size) if weights is None else np.asarray(weights)
    groups = {label: [int(row) for row in np.flatnonzero((labels == label) & (w > 0))] for label in (1, 0, -1)}
    stream = Stream(seed)
    drawn = groups[-1]
    drawn = drawn + draw_with_replacement(groups[1], [1.0], len(groups[1]), stream)
    return sorted(drawn + draw_without_replacement(groups[0], [1.0], min(n_unl, len(groups[0])), stream))
