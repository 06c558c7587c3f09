"""The figure of an audit shows what the audit says."""

from __future__ import annotations

import numpy as np
import pytest

import fastpu
import fastpu.plot
from helpers import refused, rows_of

pytest.importorskip("matplotlib", reason="an optional extra")


@pytest.fixture(scope="module")
def known():
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.2
    scores = rng.normal(size=2000) + 1.5 * truth
    plan = fastpu.audit.plan(scores, 100, k=200, random_state=0)
    before = fastpu.metrics.ranking_curve(*rows_of(rng.normal(size=80) + 1.5, scores), prior=0.2)
    return fastpu.audit.estimate(plan, truth[plan.rows]), before


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def test_curves_bands_and_checked_rows_are_those_of_the_audit(known):
    found, before = known
    figure = fastpu.plot.audit(found, before=before)
    curve = found.curve
    for ax, name in zip(figure.axes, ("precision", "recall"), strict=True):
        for label, drawn in ((f"{name} by checked rows", curve), ("by labelled rows alone", before)):
            expected = np.stack([drawn.n_flagged, getattr(drawn, name)], axis=1)
            assert np.array_equal(lines(ax)[label], expected, equal_nan=True)
        band = ax.collections[0].get_paths()[0].vertices
        assert {*getattr(curve, f"{name}_interval").ravel().tolist()} <= {*band[:, 1].tolist()}
    positive = lines(figure.axes[0])[f"{found.n_found} checked rows are positive"]
    assert sorted(positive[:, 0] - 1) == sorted(found.plan.place[found.answers == 1])


def test_what_is_no_audit_is_refused(known):
    refused(TypeError, "found must be an Audit", fastpu.plot.audit, known[1])
    refused(TypeError, "before must be a RankingCurve", fastpu.plot.audit, known[0], before=known[0])
