"""The figure of importances shows the largest shares, by name, the largest above."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fastpu
import fastpu.plot
from helpers import refused

Figure = pytest.importorskip("matplotlib.figure", reason="an optional extra").Figure


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    X = rng.standard_normal((300, 4)) + np.outer(truth, [0.0, 2.0, 1.0, 0.5])
    return pd.DataFrame(X, columns=list("abcd")), (truth & (rng.random(300) < 0.5)).astype(int)


@pytest.mark.parametrize("fit", [fastpu.fit_forest, fastpu.fit_pnu_auc_boost])
def test_bars_are_the_importances_in_their_order(rows, fit):
    model = fit(*rows, random_state=0)
    figure = fastpu.plot.importances(model)
    assert isinstance(figure, Figure)
    (ax,) = figure.axes
    order = np.argsort(-model.feature_importances)
    used = np.count_nonzero(model.feature_importances)
    np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], model.feature_importances[order][:used])
    assert [text.get_text() for text in ax.get_yticklabels()] == [model.feature_names[c] for c in order[:used]]
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == "share of the gain"


def test_only_so_many_features_are_drawn(rows):
    model = fastpu.fit_forest(rows[0].to_numpy(), rows[1], n_trees=20, random_state=0)
    (ax,) = fastpu.plot.importances(model, n_lines=2).axes
    assert len(ax.patches) == 2
    assert ax.get_xlabel() == "share of the gain (2 of 4 features)"
    assert ax.get_yticklabels()[0].get_text() == f"feature {np.argmax(model.feature_importances)}"


def test_what_cannot_be_drawn_is_refused(rows):
    X, y = rows
    refused(
        TypeError, "model must be a StumpEnsemble or a TreeEnsemble", fastpu.plot.importances, fastpu.fit_isvm(X, y)
    )
    with pytest.warns(fastpu.exceptions.DegenerateModelWarning):
        empty = fastpu.fit_forest(np.ones((300, 2)), y, n_trees=3, random_state=0)
    refused(ValueError, "model must use features", fastpu.plot.importances, empty)
    model = fastpu.fit_forest(X, y, n_trees=3, random_state=0)
    refused(ValueError, "n_lines must be an integer >= 1, got 0", fastpu.plot.importances, model, n_lines=0)
