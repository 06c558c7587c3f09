"""The loop of mapping convergence by itself, with stages that are numbers on a line."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastpu.mapping._mapping_loop import converge
from fastpu.mapping._mapping_options import MappingOptions, PURows


class Line:
    """Stages over numbers on a line, positives on the right: boundaries between N and P.

    `n_support` of the largest of N carry the boundary.
    """

    def __init__(self, x, first, n_support=1, pull=0.5):
        self.x, self.first, self.n_support, self.pull = np.asarray(x, float), first, n_support, pull
        self.trained_on = []

    def map(self, positive):
        return self.boundary(self.first, positive[:0], positive)

    def separate(self, positive, negative):
        assert negative.size
        self.trained_on.append(negative.tolist())
        low, high = self.x[negative].max(), self.x[positive].min()
        support = negative[np.argsort(self.x[negative], kind="stable")[-self.n_support :]]
        return self.boundary(low + self.pull * (high - low), np.sort(support), positive)

    def boundary(self, place, support, positive):
        return SimpleNamespace(
            score=lambda rows: self.x[rows] - place,
            support=support,
            n_support_pos=1,
            positive_scores=self.x[positive] - place,
            end=SimpleNamespace(n_steps=0, objective=0.0, gap=0.0, violation=0.0),
            margin=1.0,
            nu=np.nan,
        )

    def run(self, *, reset=False, repair=False, max_iter=100):
        """Converge with the last number as P."""
        n_unl = self.x.size - 1
        pu_rows = PURows(np.array([n_unl]), np.array([], dtype=np.int64), np.arange(n_unl))
        options = MappingOptions.checked(
            keeps_all=not reset, nu_map=0.01, C=1.0, nu=None, max_iter=max_iter, max_pos_reject=None, hold_out=None,
            repair=repair,
        )  # fmt: skip
        return converge(pu_rows, self, options, None)


def test_a_score_of_zero_is_positive():
    stages = Line([0, 5, 10], first=0.0)
    found = stages.run()
    assert found.used_fallback  # h_0(0) = 0 rejects nothing
    assert found.rejected_by.tolist() == [0, -1]  # h_1(5) = 0
    assert found.status == "converged"


@given(
    x=st.lists(st.integers(0, 40), min_size=3, max_size=25),
    first=st.integers(-1, 45),
    n_support=st.integers(1, 4),
    reset=st.booleans(),
    repair=st.booleans(),
    max_iter=st.integers(1, 30),
)
def test_whatever_the_stages_say_every_row_has_one_fate(x, first, n_support, reset, repair, max_iter):
    stages = Line([*x, 41], first, n_support, pull=0.7)
    found = stages.run(reset=reset, repair=repair, max_iter=max_iter)
    n_unl = len(x)
    log = {name: column.tolist() for name, column in found.history().items()}
    assert {len(values) for values in log.values()} == {len(found.boundaries)}
    assert found.kept == len(stages.trained_on) == len(found.boundaries) - 1 <= max_iter
    assert (found.status == "converged") == (log["n_new"][-1] == log["n_back"][-1] == 0)
    assert np.array_equal(np.cumsum(log["n_new"]) + log["n_left"], np.full(len(log["kind"]), n_unl))
    assert np.array_equal(np.bincount(found.rejected_by[found.rejected_by >= 0]), np.trim_zeros(log["n_new"], "b"))
    assert found.rejected_by.min() >= -1
    assert log["n_neg"][1:] == [len(rows) for rows in stages.trained_on]
    assert all(len(set(rows)) == len(rows) for rows in stages.trained_on)
    if not repair:
        assert found.kept <= log["n_left"][0] + 1
    if not reset:
        assert all(set(a) <= set(b) for a, b in zip(stages.trained_on, stages.trained_on[1:], strict=False))
    if repair and found.status == "converged":
        outside = np.setdiff1d(np.flatnonzero(found.rejected_by >= 0), stages.trained_on[-1])
        if reset and 2 not in log["kind"]:
            outside = np.setdiff1d(np.flatnonzero(found.rejected_by >= 0), found.boundaries[-1].support)
        assert (found.boundaries[-1].score(outside) < 0).all()
