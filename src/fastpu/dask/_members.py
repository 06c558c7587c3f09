"""A fit by many members: each worker runs it on the rows that it holds, and all add up what they find.

The members are at the same place of the same program all the time, and make the same choices from the same sums. The
driver follows them: it runs the program without rows on the sums that they were told. It alone calls the callback and
judges an evaluation set, and where it stops, it ends the meetings of the members, and so their work.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import threading
import time
import urllib.parse
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from multiprocessing import AuthenticationError, connection
from operator import attrgetter
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from fastpu.dask._client import CHECK_SECONDS, Client, WorkerLostError, distributed, release, results_of, wait_for
from fastpu.data.binned_features import stacked_bins
from fastpu.model._threshold import ScoredRows

Address: TypeAlias = tuple[str, int]

_MOST_AHEAD = 30  # sums that the members are ahead of the driver
_SECONDS_TO_COME = 15.0  # who has not proved by then to be a member of a meeting is sent away


# ---- On a worker ----


class Meeting:
    """Where members of a fit bring what they have found, and each gets the whole of it: an actor of Dask.

    The members come by sockets, which take a tenth of the time of Dask's messages. The driver, who brings nothing, asks
    for what they were told by Dask, as it may not reach the workers otherwise. Members prove themselves by `key`.
    """

    def __init__(self, n_members: int, key: bytes) -> None:
        self._n_members, self._key = n_members, key
        host, self._is_kept = _place_in_dask()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=n_members + 1)
        self._listener.settimeout(CHECK_SECONDS)
        self._address = cast("Address", self._listener.getsockname()[:2])
        self._open: list[Any] = []  # connections
        self._told: deque[bytes] = deque()
        self._has_ended = False
        threading.Thread(target=self._serve, daemon=True).start()

    def address(self) -> Address:
        return self._address

    def _serve(self) -> None:
        with contextlib.suppress(OSError, EOFError, AuthenticationError):  # a member is gone, or all are
            members: list[Any] = [None] * self._n_members
            while None in members and self._is_wanted():
                with contextlib.suppress(TimeoutError):
                    self._let_in(connection.Connection(self._listener.accept()[0].detach()), members)
            while self._is_wanted():
                sent = [bytes(member.recv_bytes()) for member in members]
                whole = _merged(sent[0][:1], [part[1:] for part in sent])
                for member in members:
                    member.send_bytes(whole)
                self._told.append(whole)
                while len(self._told) > _MOST_AHEAD and self._is_wanted():  # wait for the driver
                    time.sleep(0.001)
        self._has_ended = True
        for each in (*self._open, self._listener):
            each.close()

    def _let_in(self, visitor: Any, members: list[Any]) -> None:
        """Give a member its place; send away who does not prove to be one, or not in time."""
        hurry = threading.Timer(_SECONDS_TO_COME, _shut, [visitor])
        hurry.start()
        try:
            connection.deliver_challenge(visitor, self._key)
            connection.answer_challenge(visitor, self._key)
            members[int.from_bytes(visitor.recv_bytes(), "big")] = visitor
            self._open.append(visitor)
        except (OSError, EOFError, AuthenticationError):
            visitor.close()
        finally:
            hurry.cancel()

    def _is_wanted(self) -> bool:
        """Return whether the fit goes on: where its driver is gone, Dask drops this actor."""
        return not self._has_ended and self._is_kept()

    async def told(self) -> list[bytes]:
        """Return what was told since the last call, as soon as there is something; nothing where the fit has ended."""
        while not self._told and not self._has_ended:
            await asyncio.sleep(0.0005)
        found = list(self._told)
        self._told.clear()
        return found

    def end(self) -> None:
        """End the work of all members, also of those that wait."""
        self._has_ended = True
        for each in self._open:
            _shut(each)


def _place_in_dask() -> tuple[str, Callable[[], bool]]:
    """Return the host of the worker, and what tells whether the actor that is made here is still one of its actors."""
    try:
        worker = distributed.get_worker()
    except ValueError:  # no worker
        return "127.0.0.1", lambda: True
    key = worker.get_current_task()
    return str(urllib.parse.urlparse(worker.address).hostname), lambda: key in worker.state.actors


def _shut(member: Any) -> None:
    """Wake whoever waits for a message of a member, or sends it one."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(member.fileno())) as own:
        own.shutdown(socket.SHUT_RDWR)


def _come(address: Address, place: int, key: bytes) -> Any:
    """Return the connection of a member that has come to a meeting."""
    try:
        own = socket.create_connection(address, timeout=_SECONDS_TO_COME)
        own.settimeout(None)
        meeting = connection.Connection(own.detach())
        connection.answer_challenge(meeting, key)
        connection.deliver_challenge(meeting, key)
        meeting.send_bytes(place.to_bytes(8, "big"))
    except (OSError, EOFError) as error:
        raise ConnectionError(
            f"a Dask worker cannot reach port {address[1]} of the worker at {address[0]} ({error!r}): in a fit of "
            f"boosted trees or stumps, workers must reach every port of each other"
        ) from error
    return meeting


def _merged(how: bytes, parts: Sequence[bytes]) -> bytes:
    if how == b"j":
        return b"".join(parts)
    numbers = [np.frombuffer(part, np.int64 if how == b"a" else np.float64) for part in parts]
    return bytes(reduce(np.add if how == b"a" else np.maximum, numbers).tobytes())


@dataclass(frozen=True)
class Holding:
    """The binned rows of some partitions, one below the other; `features` is None if there are no rows.

    `partitions` are their numbers. `fingerprint` is to be added up over all holdings. The driver has only the form of
    the rows, without labels.
    """

    features: Any
    labels: Any = None
    weights: NDArray[np.float64] | None = None
    partitions: tuple[int, ...] = ()
    fingerprint: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(3, dtype=np.uint64))


def _hold(parts: list[Holding]) -> Holding:
    weights = [part.weights for part in parts if part.weights is not None]
    return Holding(
        stacked_bins([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate(weights) if weights else None,
        tuple(number for part in parts for number in part.partitions),
        np.sum([part.fingerprint for part in parts], axis=0, dtype=np.uint64),
    )


def _scores(holding: Holding, model: Any, n_threads: int) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = model._decision_function(holding.features, n_threads)
    return scores


def take_part(holding: Holding, address: Address, place: int, key: bytes, fit: Callable[..., Any], *more: Any) -> None:
    """Run ``fit(holding, bring, *more)`` on the own rows, until it or the meeting has ended."""
    if holding.weights is not None:
        # Dask leaves arrays in the message that they came in, at any byte; kernels need them aligned.
        holding = replace(holding, weights=np.require(holding.weights, requirements="A"))
    with _come(address, place, key) as meeting, contextlib.suppress(EOFError, ConnectionError):

        def bring(how: str, part: bytes) -> bytes:
            meeting.send_bytes(how[:1].encode() + part)
            return bytes(meeting.recv_bytes())

        fit(holding, bring, *more)


def _take_part_in_task(*arguments: Any) -> None:
    distributed.secede()  # the members wait for each other: none may keep another one from beginning
    take_part(*arguments)


# ---- The driver ----


class SpreadRows:
    """The rows of all binned partitions, those that a worker has together, until this is closed.

    Empty partitions are left out. Each worker uses `n_threads` at most, by default those that Dask gave it.
    """

    def __init__(self, client: Client, parts: Sequence[Any], sizes: Sequence[int], n_threads: int | None) -> None:
        self.client, self.where, self._sizes = client, "before the first round", np.asarray(sizes)
        present, holders = client.nthreads(), client.who_has(list(parts))
        of_worker: dict[str, list[int]] = {}
        for number, part in enumerate(parts):
            if sizes[number]:
                addresses = set(present).intersection(holders.get(part.key, ())) or present  # lost ones are made again
                least = min(addresses, key=lambda address: (len(of_worker.get(address, ())), address))
                of_worker.setdefault(least, []).append(number)
        found = sorted(of_worker.items(), key=lambda item: item[1])
        self.partitions = [numbers for _, numbers in found]
        self.n_threads = [n_threads or present[address] for address, _ in found]
        self.holdings = [
            client.submit(
                _hold,
                [parts[number] for number in numbers],
                workers=[address],
                allow_other_workers=True,
                pure=False,
            )
            for address, numbers in found
        ]

    def ask(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], what: str) -> list[Any]:
        """Return ``question(holding, *own)`` of all holdings."""
        tasks = [
            self.client.submit(question, holding, *own, pure=False)
            for holding, own in zip(self.holdings, arguments, strict=True)
        ]
        return results_of(self.client, tasks, what)

    def scored(self) -> ScoredRows:
        """Return labels, weights and scores of all rows, which come to the driver in the order of the rows."""
        known = attrgetter("labels", "weights")
        labels, weights = zip(*self.ask(known, [()] * len(self.holdings), "reading y"), strict=True)

        def score(model: Any) -> NDArray[np.float64]:
            return self._in_order(self.ask(_scores, [(model, n) for n in self.n_threads], "scoring"))

        return ScoredRows(self._in_order(labels), None if weights[0] is None else self._in_order(weights), score)

    def _in_order(self, of_holdings: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Join what holdings have for their rows, partition by partition."""
        parts: dict[int, NDArray[Any]] = {}
        for numbers, entries in zip(self.partitions, of_holdings, strict=True):
            parts |= zip(numbers, np.split(entries, np.cumsum(self._sizes[numbers])[:-1]), strict=True)
        return np.concatenate([parts[number] for number in sorted(parts)])

    def close(self) -> None:
        release(self.holdings)


def refuse_encrypted(addresses: Sequence[str]) -> None:
    """Raise ValueError for workers whose messages Dask encrypts: the sockets of a meeting would not."""
    for address in addresses:
        if address.startswith("tls://"):
            raise ValueError(
                f"client must be of a cluster without encryption to fit boosted trees or stumps, got one with a worker "
                f"at {address}: what workers send each other in such a fit is not encrypted"
            )


class Members:
    """A fit on all holdings, ``fit(holding, bring, n_threads)`` on each of them, until this is closed.

    The driver runs the same fit without rows, with the `bring` of this.
    """

    def __init__(self, rows: SpreadRows, fit: Callable[..., Any]) -> None:
        self._rows, self._client, self._key = rows, rows.client, secrets.token_bytes(32)
        self._meeting: Any = None  # the future of the actor
        self._actor: Any = None
        self._tasks: list[Any] = []
        self._told: deque[bytes] = deque()
        wait_for(self._client, rows.holdings, "putting rows together")
        held = self._client.who_has(rows.holdings)
        self._addresses = [min(held[holding.key], default="") for holding in rows.holdings]
        refuse_encrypted(self._addresses)
        self._check_all_there()
        try:
            submit, at, n_members = self._client.submit, self._addresses, len(self._addresses)
            self._meeting = submit(Meeting, n_members, self._key, actor=True, workers=[at[0]], pure=False)
            self._actor = self._wait_for(self._meeting)
            address = tuple(self._wait_for(self._actor.address()))
            for place, holding in enumerate(rows.holdings):
                arguments = holding, address, place, self._key, fit, rows.n_threads[place]
                self._tasks.append(submit(_take_part_in_task, *arguments, workers=[at[place]], pure=False))
        except BaseException:
            self.close()
            raise

    def bring(self, how: str, part: bytes) -> bytes:  # noqa: ARG002 - the driver has nothing to bring
        """Return what the members were told, one after the other."""
        if not self._told:
            try:
                asked = self._actor.told()
            except (RuntimeError, ValueError) as error:  # the scheduler has told the client already
                raise self._lost() from error
            self._told.extend(self._wait_for(asked))
        if not self._told:  # the members have ended before the driver
            time.sleep(CHECK_SECONDS)  # the scheduler may not have noticed yet which worker is gone
            self._check_all_there()
            raise self._lost()
        return self._told.popleft()

    def _wait_for(self, answer: Any) -> Any:
        """Return the result of a future, or raise its error; WorkerLostError where a worker is gone."""
        try:
            while True:
                with contextlib.suppress(distributed.TimeoutError):
                    return answer.result(timeout=CHECK_SECONDS)
                self._check_all_there()
        except OSError as error:
            time.sleep(CHECK_SECONDS)  # the scheduler may not have noticed yet which worker is gone
            self._check_all_there()
            raise self._lost() from error
        except Exception:
            self._check_all_there()
            raise

    def _missing(self) -> list[int]:
        present = self._client.nthreads()
        return [k for k, address in enumerate(self._addresses) if address not in present]

    def _lost(self) -> WorkerLostError:
        if missing := self._missing():
            names = ", ".join(self._addresses[k] for k in missing)
            numbers = sorted(number for k in missing for number in self._rows.partitions[k])
            return WorkerLostError(
                f"the Dask worker {names} is gone {self._rows.where}, with partitions {numbers}: its process ended, or "
                f"its memory ran out (its log says which)"
            )
        return WorkerLostError(
            f"the Dask workers {', '.join(self._addresses)} have left the fit {self._rows.where}: its tasks were "
            f"cancelled, or a connection between workers broke"
        )

    def _check_all_there(self) -> None:
        """Raise the error of a member that has failed, or WorkerLostError where one is gone."""
        if self._missing():
            raise self._lost()
        for task in self._tasks:
            if task.status == "error":
                raise task.exception()

    def close(self) -> None:
        if self._client.status != "running":
            return
        if self._actor is not None:
            with contextlib.suppress(Exception):  # its worker may be gone
                self._actor.end().result(timeout=CHECK_SECONDS)
        release(self._tasks)
        if self._meeting is not None:
            self._client.cancel([self._meeting], force=True)  # handles of an actor refer to it until they are collected
