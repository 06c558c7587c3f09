"""Scores N(0, 1) of negative rows and N(apart, 1) of positive ones: what is true of the whole population."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np

NEAR = 0.012  # three standard errors of a quantile of 10,000 samples, at its steepest


def beyond(cut):
    return 0.5 - 0.5 * erf(cut / sqrt(2))


def truth_of(apart, prior, share):
    """Recall at this share, average precision and AUC of the whole population."""
    cuts = np.linspace(-8, 8 + apart, 20_001)
    recall = np.array([beyond(cut - apart) for cut in cuts])
    flagged = prior * recall + (1 - prior) * np.array([beyond(cut) for cut in cuts])
    precision = prior * recall / flagged
    mean = float(np.sum((precision[1:] + precision[:-1]) / 2 * -np.diff(recall)))
    return {"recall": float(np.interp(-share, -flagged, recall)), "mean": mean, "auc": beyond(-apart / sqrt(2))}


def held_by(intervals, truth):
    return np.mean([low <= truth <= high for low, high in intervals])
