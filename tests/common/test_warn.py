"""Warnings that are not for the caller, in several threads: what others hear does not change."""

from __future__ import annotations

import threading
import warnings
from functools import partial

import pytest

from fastpu.common import _warn
from fastpu.common._warn import recorded, silenced, warn
from fastpu.exceptions import ConvergenceWarning, EstimateWarning
from fastpu.path import _path_warnings
from fastpu.path._path_warnings import precision_forgiven
from interrupts import interrupts_before_each_line


def heard_by_the_process():
    return list(warnings.filters), warnings.showwarning, getattr(warnings, "_showwarnmsg_impl", None)


def crossing(first, second):
    """Two threads enter these, and the one that came first leaves first; what each of them heard of its own warning."""
    entered, left, heard = threading.Event(), threading.Event(), {}

    def stay():
        with second as caught:
            entered.set()
            assert left.wait(30)
            warn("of the second", EstimateWarning)
        heard["second"] = caught

    thread = threading.Thread(target=stay)
    with first as caught:
        warn("of the first", EstimateWarning)
        thread.start()
        assert entered.wait(30)
    left.set()
    thread.join()
    heard["first"] = caught
    return heard


def test_two_threads_that_record_get_their_own_and_leave_the_process_as_it_was():
    before = heard_by_the_process()
    heard = crossing(recorded(), recorded())
    assert heard_by_the_process() == before
    for name, caught in heard.items():
        assert [(str(each.message), each.category) for each in caught] == [(f"of the {name}", EstimateWarning)]
        assert caught[0].filename == __file__


def test_two_threads_that_silence_leave_the_process_as_it_was():
    before = heard_by_the_process()
    crossing(silenced(EstimateWarning), silenced(EstimateWarning))
    assert heard_by_the_process() == before
    with pytest.warns(EstimateWarning, match="afterwards"):
        warn("afterwards", EstimateWarning)


def test_other_categories_are_heard_and_the_last_wish_counts():
    with pytest.warns(ConvergenceWarning, match="loud"), silenced(EstimateWarning):
        warn("loud", ConvergenceWarning)
    with silenced(EstimateWarning), recorded() as caught:
        warn("recorded", EstimateWarning)
        warnings.warn("of another package", UserWarning, stacklevel=1)
        with silenced(EstimateWarning):
            warn("silent", EstimateWarning)
    assert [str(each.message) for each in caught] == ["recorded", "of another package"]


@pytest.mark.parametrize(
    "make_block", [recorded, partial(silenced, EstimateWarning), precision_forgiven], ids=["record", "silence", "path"]
)
def test_an_interrupt_before_any_line_of_entering_leaves_all_warnings_heard(make_block):
    before, n_lines = heard_by_the_process(), 0
    for _ in interrupts_before_each_line(make_block, _warn.__file__):
        n_lines += 1
        assert heard_by_the_process() == before
        assert not _warn._recorders
        assert not _warn._filters.get()
        assert not _path_warnings._forgives_precision.get()
    assert n_lines > 2
