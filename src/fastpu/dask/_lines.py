"""Lines between workers: messages of bytes over sockets, encrypted where those of Dask are.

No wait on a line lasts for ever. A peer that has ended is noticed at once, a machine that is gone within half a minute,
and whoever waits asks every few seconds whether that is still wanted.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import ssl
from collections.abc import Callable
from multiprocessing import AuthenticationError
from typing import Any, TypeVar

from fastpu.dask._client import CHECK_SECONDS

_Result = TypeVar("_Result")

_LENGTH_BYTES = 8  # before each message
_PROOF_BYTES = 32
# Seconds without a message before the system asks whether the peer is still there, seconds between such questions, and
# how many stay without an answer. Not every system has all of them, or by this name.
_KEEPALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPALIVE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}


class Line:
    """One end of a connection between two workers.

    Whatever goes wrong on the way is a ConnectionError. EOFError says that the peer has closed its end, or that
    `is_wanted` has answered no; it is asked before every step, and every few seconds in between. With the `context` of
    a cluster's certificates both peers prove theirs, and all bytes are encrypted.
    """

    def __init__(
        self,
        own: socket.socket,
        is_wanted: Callable[[], bool],
        context: ssl.SSLContext | None = None,
        *,
        is_server: bool = False,
    ) -> None:
        self.is_wanted, self._socket = is_wanted, own
        try:
            own.settimeout(CHECK_SECONDS)
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in _KEEPALIVE.items():
                if hasattr(socket, name):
                    own.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
            if context is not None:
                encrypted = context.wrap_socket(own, server_side=is_server, do_handshake_on_connect=False)
                self._socket = encrypted
                self._step(encrypted.do_handshake)
        except BaseException:
            self.close()
            raise

    def send(self, message: bytes) -> None:
        left = memoryview(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
        while left:
            left = left[self._step(self._socket.send, left) :]

    def receive(self, most: int | None = None) -> bytes:
        """Return the next message; one of more than `most` bytes is a ConnectionError."""
        size = int.from_bytes(self._receive(_LENGTH_BYTES), "big")
        if most is not None and size > most:
            raise ConnectionError(f"a message must have at most {most} bytes here, got {size}")
        return self._receive(size)

    def _receive(self, size: int) -> bytes:
        found = bytearray(size)
        left = memoryview(found)
        while left:
            n = self._step(self._socket.recv_into, left)
            if n == 0:
                raise EOFError("the other end of the connection is closed")
            left = left[n:]
        return bytes(found)

    def _step(self, step: Callable[..., _Result], *arguments: Any) -> _Result:
        while self.is_wanted():
            try:
                return step(*arguments)
            except OSError as error:  # noqa: PERF203 - a step is a system call
                # Our own limit of a wait has no number, unlike the system's word that the peer does not answer.
                if not (isinstance(error, TimeoutError) and error.errno is None):
                    raise ConnectionError(f"the connection broke ({error!r})") from error
        raise EOFError("the connection is not wanted any more")

    def shut(self) -> None:
        """Wake whoever waits on either end."""
        with contextlib.suppress(OSError):  # it may be closed
            # SSLSocket's own shutdown would let a thread that is sending go on without encryption.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # as some systems say of a connection that the peer has reset
            self._socket.close()


def prove(line: Line, key: bytes, *, is_server: bool) -> None:
    """Show the peer that this end knows `key`; raise AuthenticationError where the peer does not."""
    own, other = (b"server", b"client") if is_server else (b"client", b"server")
    asked = secrets.token_bytes(_PROOF_BYTES)
    line.send(asked)
    line.send(hmac.digest(key, own + line.receive(_PROOF_BYTES), "sha256"))
    if not hmac.compare_digest(line.receive(_PROOF_BYTES), hmac.digest(key, other + asked, "sha256")):
        raise AuthenticationError("the other end of the connection does not know the key of the fit")
