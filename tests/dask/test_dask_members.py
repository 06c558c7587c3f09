"""Who comes to a meeting of workers without being a member, and what is left where the driver does not end it."""

from __future__ import annotations

import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

import fastpu.dask  # noqa: E402 - Dask may be absent
from dask_cases import assert_same_model, chunked, rows  # noqa: E402 - Dask may be absent
from fastpu.dask import _meeting, _members  # noqa: E402 - Dask may be absent

HANG_SECONDS = 30.0
KEY = bytes(range(32))
FIT = {"n_rounds": 6, "random_state": 3}


def exchange(address, place):
    """Bring a number to the meeting, and return the sum of what all have brought."""
    with closing(_meeting.connect(address, place, KEY)) as meeting:
        meeting.send(b"a" + np.int64(place + 1).tobytes())
        return int(np.frombuffer(meeting.receive(), np.int64)[0])


@pytest.mark.parametrize(
    "sent",
    [b"", b"\0\0", np.random.default_rng(0).bytes(64), struct.pack("!iQ", -1, 2**40), None],
    ids=["silence", "half a length", "anything", "a huge length", "gone at once"],
)
def test_a_stranger_neither_stops_nor_ends_a_meeting(monkeypatch, sent):
    monkeypatch.setattr(_meeting, "_SECONDS_TO_CONNECT", 2.0)
    meeting = _meeting.Meeting(2, KEY)
    with socket.create_connection(meeting.address()) as stranger, ThreadPoolExecutor(2) as pool:
        stranger.sendall(sent or b"")
        if sent is None:
            stranger.close()
        try:
            found = [pool.submit(exchange, meeting.address(), place) for place in range(2)]
            assert [each.result(timeout=HANG_SECONDS) for each in found] == [3, 3]
        finally:
            meeting.end()
            stranger.close()


def test_who_lacks_the_key_is_sent_away():
    meeting = _meeting.Meeting(1, KEY)
    with pytest.raises((ConnectionError, _meeting.AuthenticationError)):
        _meeting.connect(meeting.address(), 0, KEY[::-1])
    assert exchange(meeting.address(), 0) == 1
    meeting.end()


def test_a_port_that_cannot_be_reached_is_named():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    with pytest.raises(ConnectionError, match=f"cannot reach port {address[1]} of the worker at 127.0.0.1"):
        _meeting.connect(address, 0, KEY)


class Answer:
    """What an actor answers, with an error, or late: for some waits it is there, but not delivered."""

    def __init__(self, *, n_late=0, error=None):
        self.n_late, self.error = n_late, error

    def result(self, timeout):
        if self.error is not None:
            raise self.error
        if self.n_late:
            self.n_late -= 1
            time.sleep(timeout)
            raise distributed.TimeoutError
        return "answer"

    def done(self):
        return True


def test_an_answer_is_waited_for_on_a_busy_machine(monkeypatch):
    checks = []
    monkeypatch.setattr(_members, "CHECK_SECONDS", 0.2)
    monkeypatch.setattr(_members.Members, "_check_all_there", lambda _self: checks.append(1))
    monkeypatch.setattr(_members.Members, "_check_present", lambda _self, **_: None)
    members = object.__new__(_members.Members)
    members._actor = None
    assert members._wait_for(Answer(n_late=4)) == "answer"
    assert len(checks) == 4
    with pytest.raises(distributed.TimeoutError, match="of the actor itself"):
        members._wait_for(Answer(error=distributed.TimeoutError("of the actor itself")))


def serving():
    """How many meetings are in this process."""
    return sum("_serve" in thread.name for thread in threading.enumerate())


def test_cancelled_tasks_end_the_fit_and_leave_nothing_that_waits(client):
    X, y = rows(500)

    def cancel(info):
        if info.round == 3:
            client.cancel([distributed.Future(key, client) for key in list(client.futures)], force=True)

    with pytest.raises(fastpu.dask.WorkerLostError, match="its tasks were cancelled"):
        fastpu.dask.fit_boosted_trees(
            chunked(X, (300, 200)), chunked(y, (300, 200)), client=client, n_rounds=10_000, callback=cancel
        )
    deadline = time.monotonic() + HANG_SECONDS
    while any(client.run(serving).values()):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_workers_may_have_addresses_of_the_newer_protocol():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    X, y = rows(500)
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "tcp://[::1]", "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        found = fastpu.dask.fit_boosted_trees(chunked(X, (300, 200)), chunked(y, (300, 200)), client=client, **FIT)
    assert_same_model(found, fastpu.fit_boosted_trees(X, y, **FIT))
