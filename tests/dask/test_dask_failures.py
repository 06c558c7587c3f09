"""What goes wrong where the members of a fit meet ends the fit, with an error that says so; nothing waits for ever."""

from __future__ import annotations

import errno
import gc
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

import fastpu.dask  # noqa: E402 - Dask may be absent
from dask_cases import (  # noqa: E402 - Dask may be absent
    Kill,
    assert_nothing_is_left,
    assert_same_model,
    chunked,
    local_cluster,
    rows,
)
from fastpu.dask import _client, _meeting, _members  # noqa: E402 - Dask may be absent

HANG_SECONDS = 60.0
SLOW_SECONDS = 600.0  # within which a fit of a second ends beside busy processes
N_BUSY = 8
FITS = {
    "fit_boosted_trees": {"n_rounds": 50, "random_state": 3},
    "fit_pnu_auc_boost": {"n_rounds": 50},
}


def outcome(function, *args, within=HANG_SECONDS, **options):
    """Return what a call returns or raises; fail where it hangs."""
    found = []

    def call():
        try:
            found.append(function(*args, **options))
        except Exception as error:  # noqa: BLE001 - the test looks at it
            found.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(within)
    assert found, "the call hangs"
    return found[0]


@pytest.fixture(scope="module")
def near():
    """Two workers that are threads of this process, in which a test can let something fail."""
    with local_cluster(2, processes=False) as client:
        yield client


def serving():
    return [thread for thread in threading.enumerate() if "_serve" in thread.name]


def fit_on(client, name="fit_boosted_trees"):
    X, y = rows(500)
    lazy = chunked(X, (300, 200)), chunked(y, (300, 200))
    found = outcome(getattr(fastpu.dask, name), *lazy, client=client, **FITS[name])
    assert_nothing_is_left(client)
    until = time.monotonic() + HANG_SECONDS
    while serving():
        assert time.monotonic() < until, "the meeting goes on"
        time.sleep(0.05)
    return found


def failing(error, function, after):
    """`function`, which raises `error` after so many calls."""
    left = [after]

    def call(*args, **options):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return function(*args, **options)

    return call


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("after", [0, 7])
@pytest.mark.parametrize("error", [MemoryError("no room for a sum"), ZeroDivisionError("a bug")], ids=repr)
def test_what_the_meeting_raises_is_raised_by_the_fit(monkeypatch, near, name, after, error):
    monkeypatch.setattr(_meeting, "_put_together", failing(error, _meeting._put_together, after))
    found = fit_on(near, name)
    assert type(found) is type(error)
    assert str(found) == str(error)


def test_a_meeting_that_can_open_no_connection_ends_the_fit_with_the_reason(monkeypatch, near):
    class Full(socket.socket):
        def accept(self):
            raise OSError(errno.EMFILE, "too many open files")

    create_server = socket.create_server
    monkeypatch.setattr(
        _meeting.socket, "create_server", lambda *args, **more: Full(fileno=create_server(*args, **more).detach())
    )
    monkeypatch.setattr(_members, "_SECONDS_TO_LEARN", 1.0)
    found = fit_on(near)
    assert isinstance(found, fastpu.dask.WorkerLostError)
    assert "a connection between workers broke ([Errno 24] too many open files)" in str(found)


def test_a_visitor_that_takes_the_last_memory_ends_the_fit_and_is_closed(monkeypatch, near):
    prove = _meeting.prove

    def prove_fails(line, key, *, is_server):
        if is_server:
            raise MemoryError("no room for a proof")
        return prove(line, key, is_server=is_server)

    monkeypatch.setattr(_meeting, "prove", prove_fails)
    found = fit_on(near)
    assert str(found) == "no room for a proof"
    gc.collect()  # a socket that is left open is an error of this test


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), OSError(errno.EMFILE, "too many")], ids=repr)
def test_a_meeting_that_cannot_begin_ends_the_fit_with_the_reason(monkeypatch, near, error):
    made = failing(error, None, 0)
    if isinstance(error, OSError):
        monkeypatch.setattr(_meeting.socket, "create_server", made)
    else:
        monkeypatch.setattr(_meeting, "threading", SimpleNamespace(Thread=made))
    found = fit_on(near)
    assert type(found) is type(error)
    assert str(found) == str(error)


def test_answers_before_a_failure_are_not_lost():
    meeting = object.__new__(_meeting.Meeting)
    meeting._answers, meeting._has_ended, meeting._error = deque([b"one", b"two"]), True, MemoryError("no room")
    assert outcome(_run, meeting) == [b"one", b"two"]
    assert str(outcome(_run, meeting)) == "no room"


def _run(meeting):
    coroutine = meeting.answers()
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits")


def members(**given):
    """Members of a fit on one worker, without a cluster."""
    made = object.__new__(_members.Members)
    rows_ = SimpleNamespace(where="after round 3", partitions=[[4, 6]])
    usual = {"_rows": rows_, "_client": SimpleNamespace(nthreads=lambda: {"tcp://a": 1}), "_addresses": ["tcp://a"],
             "_tasks": [SimpleNamespace(status="pending")], "_actor": None, "_have_met": True, "_meeting": None,
             "_answers": deque()}  # fmt: skip
    vars(made).update(usual | given)
    return made


@pytest.mark.parametrize("is_actor", [True, False])
def test_an_answer_that_is_a_timeout_is_no_reason_to_wait_on(monkeypatch, is_actor):
    monkeypatch.setattr(_members, "_SECONDS_TO_LEARN", 0.1)
    pending = SimpleNamespace(status="finished")
    made = members(_actor=object() if is_actor else None, _meeting=pending)
    answer = SimpleNamespace(result=failing(distributed.TimeoutError("of the answer"), None, 0), done=lambda: True)
    found = outcome(made._wait_for, answer)
    assert isinstance(found, distributed.TimeoutError | fastpu.dask.WorkerLostError)
    assert "of the answer" in str(found)


@pytest.mark.parametrize("status", ["cancelled", "lost", "error"])
@pytest.mark.parametrize("which", ["_tasks", "_meeting"])
def test_a_task_that_dask_has_given_up_ends_the_wait(monkeypatch, status, which):
    monkeypatch.setattr(_members, "_SECONDS_TO_LEARN", 0.1)
    task = SimpleNamespace(status=status, exception=lambda: ZeroDivisionError("in a member"))
    fine = SimpleNamespace(status="finished")
    made = members(_actor=object(), _meeting=fine) if which == "_tasks" else members(_actor=object(), _meeting=task)
    if which == "_tasks":
        made._tasks = [task]
    silent = SimpleNamespace(result=failing(distributed.TimeoutError(), None, 0), done=lambda: False)
    found = outcome(made._wait_for, silent)
    kind = ZeroDivisionError if (which, status) == ("_tasks", "error") else fastpu.dask.WorkerLostError
    assert isinstance(found, kind)


def test_a_worker_that_starts_again_at_the_same_address_is_lost_all_the_same():
    again = SimpleNamespace(status="error", exception=lambda: ConnectionError("cannot reach port 7"))
    found = outcome(members(_tasks=[again])._check_all_there)
    assert isinstance(found, fastpu.dask.WorkerLostError)
    assert "tcp://a is gone after round 3, with partitions [4, 6]" in str(found)
    first = outcome(members(_tasks=[again], _have_met=False)._check_all_there)
    assert type(first) is ConnectionError


def test_workers_that_are_all_gone_before_their_results_are_fetched_end_the_wait(monkeypatch):
    monkeypatch.setattr(_client, "CHECK_SECONDS", 0.1)
    monkeypatch.setattr(_client, "_MOST_SECONDS_ALONE", 0.5)
    with local_cluster(1, processes=False) as client:
        future = client.submit(np.ones, 3, pure=False)
        _client.wait_for(client, [future], "counting")
        client.cluster.scale(0)
        while client.nthreads():
            time.sleep(0.05)
        found = outcome(_client.gather, client, [future], "counting")
    assert isinstance(found, fastpu.dask.WorkerLostError)
    assert str(found) == "counting: all Dask workers are gone, and none came back"


@pytest.fixture
def busy_machine():
    """Eight processes that take all the time they get."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(N_BUSY)]
    yield
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("meeting", [True, False])
@pytest.mark.parametrize("is_encrypted", [False, True])
def test_a_worker_that_is_killed_beside_busy_processes_is_noticed(busy_machine, name, meeting, is_encrypted):
    more = {}
    if is_encrypted:
        pytest.importorskip("cryptography")
        from certificates import security_of

        more["security"] = security_of("the cluster")
    X, y = rows(1500)
    with local_cluster(2, **more) as client:
        kill = Kill(client, 4, meeting=meeting)
        lazy = chunked(X, (1000, 500)), chunked(y, (1000, 500))
        fit = getattr(fastpu.dask, name)
        # So many rounds that the fit cannot be over when the late news of the fourth one arrives.
        options = {**FITS[name], "n_rounds": 20_000}
        found = outcome(fit, *lazy, within=SLOW_SECONDS, client=client, callback=kill, **options)
        assert isinstance(found, fastpu.dask.WorkerLostError)
        assert "is gone after round" in str(found)
        assert time.monotonic() - kill.when < HANG_SECONDS


@pytest.mark.slow
def test_a_fit_with_a_checkpoint_goes_on_beside_busy_processes(busy_machine, tmp_path):
    X, y = rows(1500)
    with local_cluster(3) as client, pytest.warns(RuntimeWarning, match="the fit goes on from round"):
        found = fastpu.dask.fit_boosted_trees(
            chunked(X, (500,) * 3), chunked(y, (500,) * 3), client=client, checkpoint=tmp_path / "fit.npz",
            callback=Kill(client, 14), **FITS["fit_boosted_trees"],
        )  # fmt: skip
    assert_same_model(found, fastpu.fit_boosted_trees(X, y, **FITS["fit_boosted_trees"]))
