"""Where the members of a fit meet: an actor on one of the workers, to which the others connect."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import time
import urllib.parse
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from multiprocessing import AuthenticationError
from typing import Any, TypeAlias, cast

import numpy as np

from fastpu.dask._client import CHECK_SECONDS, distributed
from fastpu.dask._lines import Line, prove

Address: TypeAlias = tuple[str, int]

_MOST_AHEAD = 30  # answers that the members may be ahead of the driver
_SECONDS_TO_CONNECT = 15.0  # who has not proved by then to be a member is sent away
_ENCRYPTED = ("tls", "wss")  # how the addresses of workers begin whose messages Dask encrypts


@dataclass(frozen=True)
class _WorkerOfTask:
    """The worker that runs this task: its host, its certificates, and whether Dask still wants the task's result."""

    host: str = "127.0.0.1"
    security: Any = None  # of Dask, where messages are encrypted
    is_wanted: Callable[[], bool] = lambda: True

    @classmethod
    def find(cls) -> _WorkerOfTask:
        try:
            worker = distributed.get_worker()
        except ValueError:  # no worker
            return cls()
        key, address = worker.get_current_task(), urllib.parse.urlparse(worker.address)

        def is_wanted() -> bool:
            task = worker.state.tasks.get(key)
            return task is not None and task.state not in ("cancelled", "released", "forgotten")

        return cls(str(address.hostname), worker.security if address.scheme in _ENCRYPTED else None, is_wanted)

    def context(self, *, is_server: bool) -> ssl.SSLContext | None:
        """Return how Dask itself encrypts between workers: both ends show a certificate of the cluster."""
        if self.security is None:
            return None
        arguments = (self.security.get_listen_args if is_server else self.security.get_connection_args)("worker")
        return cast("ssl.SSLContext", arguments["ssl_context"])


class Meeting:
    """An actor of Dask that puts together what the members of a fit send, and sends the answer to all of them.

    The members connect to it by sockets of their own, which take a tenth of the time of Dask's messages. The driver
    sends nothing. It asks for the answers by Dask, as it may not reach the workers otherwise. Members prove by `key`
    that they belong to the fit.
    """

    def __init__(self, n_members: int, key: bytes) -> None:
        self._n_members, self._key, self._worker = n_members, key, _WorkerOfTask.find()
        self._context = self._worker.context(is_server=True)
        self._open: list[Line] = []
        self._answers: deque[bytes] = deque()
        self._error: Exception | None = None
        self._has_ended = False
        host = self._worker.host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=n_members + 1)
        self._listener.settimeout(CHECK_SECONDS)
        self._address = cast("Address", self._listener.getsockname()[:2])
        try:
            threading.Thread(target=self._serve, daemon=True).start()
        except RuntimeError:  # no thread to be had
            self._listener.close()
            raise

    def address(self) -> Address:
        return self._address

    def _serve(self) -> None:
        try:
            self._answer(self._wait_for_members())
        except Exception as error:  # noqa: BLE001 - answers() raises it where the driver hears of it
            self._error = error
        finally:
            self._has_ended = True  # first: nobody waits on, whatever closing may raise
            for line in self._open:
                line.close()
            self._listener.close()

    def _wait_for_members(self) -> list[Line]:
        members: dict[int, Line] = {}
        while len(members) < self._n_members and self._is_wanted():
            with contextlib.suppress(TimeoutError, ConnectionError):  # nobody has come, or one that left at once
                self._let_in(self._listener.accept()[0], members)
        return [members[place] for place in sorted(members)]

    def _answer(self, members: Sequence[Line]) -> None:
        while self._is_wanted():
            sent = [member.receive() for member in members]
            answer = _put_together(sent[0][:1], [message[1:] for message in sent])
            for member in members:
                member.send(answer)
            self._answers.append(answer)
            while len(self._answers) > _MOST_AHEAD and self._is_wanted():  # wait for the driver
                time.sleep(0.001)

    def _let_in(self, visitor: socket.socket, members: dict[int, Line]) -> None:
        """Give a member its place; send away who does not prove to be one, or not in time."""
        until = time.monotonic() + _SECONDS_TO_CONNECT
        line = None
        try:
            line = Line(visitor, lambda: time.monotonic() < until and self._is_wanted(), self._context, is_server=True)
            prove(line, self._key, is_server=True)
            place = int.from_bytes(line.receive(8), "big")
        except Exception as error:
            if line is not None:
                line.close()
            if not isinstance(error, OSError | EOFError | AuthenticationError):
                raise
            return
        line.is_wanted = self._is_wanted
        self._open.append(line)
        members[place] = line

    def _is_wanted(self) -> bool:
        """Return whether the fit goes on: where its driver is gone, Dask drops this actor."""
        return not self._has_ended and self._worker.is_wanted()

    async def answers(self) -> list[bytes]:
        """Return the answers since the last call, as soon as there is one; none if the fit has ended.

        If something went wrong here, raise that after the last answer.
        """
        while not self._answers and not self._has_ended:
            await asyncio.sleep(0.0005)
        new = [self._answers.popleft() for _ in range(len(self._answers))]
        if not new and self._error is not None:
            raise self._error
        return new

    def end(self) -> None:
        """End the work of all members, also of those that wait."""
        self._has_ended = True
        for line in tuple(self._open):
            line.shut()


def _put_together(operation: bytes, parts: Sequence[bytes]) -> bytes:
    """Return the bytes joined (j), the sums of the integers (a), or the largest of the doubles (l)."""
    if operation == b"j":
        return b"".join(parts)
    if operation == b"a":
        return bytes(reduce(np.add, [np.frombuffer(part, np.int64) for part in parts]).tobytes())
    return bytes(reduce(np.maximum, [np.frombuffer(part, np.float64) for part in parts]).tobytes())


def connect(address: Address, place: int, key: bytes) -> Line:
    """Return the connection of a member to a meeting, in which it has this place among the members."""
    here = _WorkerOfTask.find()
    line = None
    try:
        own = socket.create_connection(address, timeout=_SECONDS_TO_CONNECT)
        line = Line(own, here.is_wanted, here.context(is_server=False))
        prove(line, key, is_server=False)
        line.send(place.to_bytes(8, "big"))
    except BaseException as error:
        if line is not None:
            line.close()
        if not isinstance(error, OSError | EOFError):
            raise
        raise ConnectionError(
            f"a Dask worker cannot reach port {address[1]} of the worker at {address[0]} ({error!r}): in a fit of "
            f"boosted trees or stumps, workers must reach every port of each other"
            + ("" if here.security is None else ", with certificates that the other one takes")
        ) from error
    return line
