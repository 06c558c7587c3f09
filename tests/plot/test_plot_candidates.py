"""The figure of candidates has the best above, intervals of differences, and weights beside the names."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
import fastpu.plot
from helpers import refused

pytest.importorskip("matplotlib.figure", reason="an optional extra")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    X = rng.standard_normal((300, 4)) + np.outer(truth, [0.0, 2.0, 1.0, 0.5])
    return X, (truth & (rng.random(300) < 0.5)).astype(int)


def test_points_are_the_aucs_from_the_best_one_down(rows):
    candidates = {"forest": fastpu.fit_forest, "line": fastpu.fit_isvm, "bags": fastpu.fit_bagging_svm}
    model = fastpu.fit_ensemble(*rows, candidates=candidates, random_state=0)
    (ax,) = fastpu.plot.candidates(model).axes
    order = np.argsort(-model.history["auc"], kind="stable")
    drawn = np.sort(np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() == "o"]))[::-1]
    np.testing.assert_allclose(drawn, model.history["auc"][order])
    names = [f"{model.candidates[k]} ({model.weights[k]:.2f})" for k in order]
    assert [text.get_text() for text in ax.get_yticklabels()] == names
    assert ax.yaxis_inverted()
    (bars,) = ax.collections
    spans = [np.ptp(segment[:, 0]) for segment in bars.get_segments()]
    np.testing.assert_allclose(spans, 4 * model.history["error_of_difference"][order], atol=1e-12)


def test_what_cannot_be_drawn_is_refused(rows):
    X, y = rows
    refused(TypeError, "model must be an Ensemble", fastpu.plot.candidates, fastpu.fit_isvm(X, y))
    y = np.zeros_like(y)
    y[0] = 1
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):  # one positive row makes no tree
        alone = fastpu.fit_ensemble(X, y, candidates={"forest": fastpu.fit_forest}, random_state=0)
    refused(ValueError, "judged on held-out rows", fastpu.plot.candidates, alone)
