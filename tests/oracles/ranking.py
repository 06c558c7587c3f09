"""Recall at k and average precision of labelled positive and unlabelled rows, row by row from their definitions."""

from __future__ import annotations

from fractions import Fraction


def recall_at_k(pos, unl, k):
    """The mean over the labelled positives of the part of each that is flagged with k unlabelled rows."""
    total = Fraction(0)
    for score in pos:
        above = int(sum(s > score for s in unl))
        equal = int(sum(s == score for s in unl))
        if equal == 0:  # it is flagged if the last unlabelled row that is flagged has a smaller score
            total += above < k
        else:
            total += min(Fraction(1), max(Fraction(0), Fraction(k - above, equal)))
    return float(total / len(pos))


def average_precision(pos, unl, prior):
    """The mean over the labelled positives of the precision if all rows with at least its score are flagged."""
    total = Fraction(0)
    for score in pos:
        recall = Fraction(int(sum(s >= score for s in pos)), len(pos))
        share = Fraction(int(sum(s >= score for s in unl)), len(unl))
        hits = Fraction(prior) * recall
        total += 1 if hits >= share else hits / share
    return float(total / len(pos))


def weighted_average_precision(pos, weights, unl, prior):
    """The same, the labelled positives weighted."""
    total = 0.0
    for score, weight in zip(pos, weights, strict=True):
        hits = prior * sum(w for s, w in zip(pos, weights, strict=True) if s >= score) / sum(weights)
        share = sum(s >= score for s in unl) / len(unl)
        total += weight * (1 if hits >= share else hits / share)
    return total / sum(weights)
