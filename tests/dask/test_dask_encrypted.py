"""Clusters that encrypt their messages: the same models, and no line to a peer without a certificate of the cluster."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

import fastpu

distributed = pytest.importorskip("distributed")
pytest.importorskip("cryptography")

import fastpu.dask  # noqa: E402 - Dask may be absent
from certificates import security_of  # noqa: E402 - Dask may be absent
from dask_cases import (  # noqa: E402 - Dask may be absent
    SIZES,
    assert_nothing_is_left,
    assert_same_model,
    chunked,
    local_cluster,
    rows,
    scores_in_task,
)
from fastpu.dask import _meeting  # noqa: E402 - Dask may be absent

HANG_SECONDS = 60.0
KEY = bytes(range(32))
FITS = {
    "fit_boosted_trees": {"n_rounds": 6, "random_state": 3, "subsample_unl": 0.5},
    "fit_pnu_auc_boost": {"n_rounds": 12, "max_bins": 255},
    "fit_forest": {"n_trees": 6, "random_state": 3},
}


@pytest.fixture(scope="module")
def encrypted():
    with local_cluster(2, security=security_of("the cluster")) as client:
        yield client


@pytest.mark.parametrize("name", FITS)
def test_models_of_an_encrypted_cluster_are_those_of_one_machine(encrypted, name):
    assert all(address.startswith("tls://") for address in encrypted.nthreads())
    X, y = rows()
    lazy = chunked(X, SIZES[3]), chunked(y, SIZES[3])
    found = getattr(fastpu.dask, name)(*lazy, client=encrypted, **FITS[name])
    assert_same_model(found, getattr(fastpu, name)(X, y, **FITS[name]))
    assert_nothing_is_left(encrypted)


def test_a_fit_in_a_task_of_an_encrypted_cluster(encrypted):
    X, y = rows(400)
    given = X, y, chunked(X, (150, 250)), chunked(y, (150, 250))
    options = FITS["fit_boosted_trees"]
    task = encrypted.submit(scores_in_task, "fit_boosted_trees", *given, options, pure=False)
    found, _ = task.result(timeout=HANG_SECONDS)
    np.testing.assert_array_equal(found, fastpu.fit_boosted_trees(X, y, **options).decision_function(X))


def in_cluster(monkeypatch, security, scheme="tls"):
    """What is made in this thread takes itself for a task of a worker of a cluster."""
    task = SimpleNamespace(state="executing")
    worker = SimpleNamespace(
        address=f"{scheme}://127.0.0.1:1",
        security=security,
        state=SimpleNamespace(tasks={"task": task}),
        get_current_task=lambda: "task",
    )
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    return task


def exchange(address, place):
    with closing(_meeting.connect(address, place, KEY)) as line:
        line.send(b"a" + np.int64(place + 1).tobytes())
        return int(np.frombuffer(line.receive(), np.int64)[0])


def assert_goes_on(monkeypatch, meeting, n_members):
    """The meeting takes members with a certificate, whoever came before."""
    in_cluster(monkeypatch, security_of("the cluster"))
    with ThreadPoolExecutor(n_members) as pool:
        found = [pool.submit(exchange, meeting.address(), place) for place in range(n_members)]
        total = n_members * (n_members + 1) // 2
        assert [each.result(timeout=HANG_SECONDS) for each in found] == [total] * n_members


@pytest.mark.parametrize(
    ("security", "scheme"), [(None, "tcp"), ("another cluster", "tls")], ids=["no encryption", "another cluster"]
)
def test_a_peer_without_a_certificate_of_the_cluster_is_sent_away(monkeypatch, security, scheme):
    in_cluster(monkeypatch, security_of("the cluster"))
    meeting = _meeting.Meeting(2, KEY)
    in_cluster(monkeypatch, None if security is None else security_of(security), scheme)
    with pytest.raises(ConnectionError, match="a Dask worker cannot reach port"):  # although it has the key
        _meeting.connect(meeting.address(), 0, KEY)
    assert_goes_on(monkeypatch, meeting, 2)


def test_a_peer_that_encrypts_but_shows_no_certificate_is_sent_away(monkeypatch):
    in_cluster(monkeypatch, security_of("the cluster"))
    meeting = _meeting.Meeting(1, KEY)
    context = ssl.create_default_context(cadata=security_of("the cluster").tls_ca_file)
    context.check_hostname = False
    with (
        pytest.raises((OSError, EOFError)),
        socket.create_connection(meeting.address(), timeout=HANG_SECONDS) as own,
        context.wrap_socket(own) as line,
    ):
        if not line.recv(1):  # with TLS 1.3 a peer learns on its first reading that it was sent away
            raise EOFError
    assert_goes_on(monkeypatch, meeting, 1)


@pytest.mark.parametrize("security", [None, "another cluster"])
def test_a_member_speaks_to_nobody_without_a_certificate_of_the_cluster(monkeypatch, security):
    in_cluster(monkeypatch, security and security_of(security), "tls" if security else "tcp")
    meeting = _meeting.Meeting(1, KEY)
    in_cluster(monkeypatch, security_of("the cluster"))
    with pytest.raises(ConnectionError, match="with certificates that the other one takes"):
        _meeting.connect(meeting.address(), 0, KEY)
    meeting.end()


def test_what_members_send_cannot_be_read_on_the_way(monkeypatch):
    in_cluster(monkeypatch, security_of("the cluster"))
    meeting, seen = _meeting.Meeting(1, KEY), []
    with socket.create_server(("127.0.0.1", 0)) as between, ThreadPoolExecutor(2) as pool:

        def listen(source, target):
            with contextlib.suppress(OSError):  # one end may be closed before the other
                while part := source.recv(4096):
                    seen.append(part)
                    target.sendall(part)
                target.shutdown(socket.SHUT_WR)

        def pass_on():
            member, _ = between.accept()
            with member, socket.create_connection(meeting.address()) as far, ThreadPoolExecutor(1) as other:
                back = other.submit(listen, far, member)
                listen(member, far)
                back.result()

        passing = pool.submit(pass_on)
        text = b"the sums of some rows, in clear"
        with closing(_meeting.connect(between.getsockname(), 0, KEY)) as line:
            line.send(b"j" + text)
            assert line.receive() == text
        passing.result(timeout=HANG_SECONDS)
    assert text not in b"".join(seen)
    assert len(b"".join(seen)) > 2 * len(text)  # both ways


def test_a_meeting_that_nobody_wants_any_more_ends_beside_a_member_that_is_silent(monkeypatch):
    task = in_cluster(monkeypatch, security_of("the cluster"))
    meeting = _meeting.Meeting(1, KEY)
    with closing(_meeting.connect(meeting.address(), 0, KEY)) as line:
        task.state = "cancelled"
        deadline = time.monotonic() + HANG_SECONDS
        while not meeting._has_ended:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        with pytest.raises(EOFError, match="is not wanted any more"):
            line.receive()
