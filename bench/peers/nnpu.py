"""nnPU's reference network against PyTorch on the CPU and a loop in NumPy, quality beside speed.

PyTorch is measured if it is installed, and NumPy, which has one BLAS thread, with one thread.

Rows: float32, ten groups around means in [0, 1] with noise, five of them positive; a tenth of the rows is labelled, and
half of the others is positive. The network is that of the reference (100 rectified linear units), with its loss, Adam
and weight decay, from one start for all; an epoch is one batch of all rows, or several in a random order, which each
contender draws for itself. Everybody is judged by the risk of all training rows and the accuracy on other rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from running import Case, Row, alternate, is_there

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ()
SETTINGS = {"n": 10_000, "features": 784, "epochs": 100, "batch_size": 1000, "repeats": 3}
QUICK = {"n": 300, "features": 20, "epochs": 3, "batch_size": 100, "repeats": 1}
_PRIOR = 0.5
_HIDDEN = 100
_RATE, _DECAY = 1e-3, 0.005
_WARM_UP = 2  # epochs


def cases(run: SimpleNamespace) -> Iterator[Case]:
    peers = ["PyTorch"] if is_there("torch", "nnpu", "PyTorch") else []
    for batch_size in (None, run.batch_size):
        for n_threads in run.threads:
            names = ["fastpu", *peers, *(["NumPy"] if n_threads == 1 else [])]
            yield Case(fits, names=names, n=run.n, d=run.features, n_epochs=run.epochs, batch_size=batch_size,
                       n_threads=n_threads, repeats=run.repeats)  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """Training rows with PU labels, other rows with true ones, and how the network is trained."""

    X: NDArray[np.float32]
    y: NDArray[np.int8]
    test: NDArray[np.float32]
    truth: NDArray[np.int8]
    batch_size: int | None
    n_threads: int


def make_problem(n: int, d: int, batch_size: int | None, n_threads: int) -> Problem:
    """Return rows around ten means; a tenth of them is labelled, half of the others positive."""
    rng = np.random.default_rng(0)
    means = rng.random((10, d), dtype=np.float32) * (rng.random((10, d)) < 0.2)

    def rows(groups: NDArray[np.int64]) -> NDArray[np.float32]:
        noise = rng.standard_normal((groups.size, d), dtype=np.float32)
        found: NDArray[np.float32] = means[groups] + np.float32(1.5) * noise
        return found

    n_labelled = n // 10
    groups = np.concatenate([rng.integers(0, 5, n_labelled), rng.integers(0, 10, n - n_labelled)])
    new = rng.integers(0, 10, n)
    truth = np.where(new < 5, 1, -1).astype(np.int8)
    return Problem(rows(groups), (np.arange(n) < n_labelled).astype(np.int8), rows(new), truth, batch_size, n_threads)


class Start:
    """The parameters that `fastpu.fit_nnpu` starts from with random_state=0."""

    def __init__(self, d: int) -> None:
        rng = np.random.default_rng(0)
        self.hidden_coef = (rng.standard_normal((d, _HIDDEN)) / np.sqrt(d)).astype(np.float32)
        self.coef = (rng.standard_normal(_HIDDEN) / np.sqrt(_HIDDEN)).astype(np.float32)


def sigmoid(z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 1 / (1 + e^-z)."""
    return 1 / (1 + np.exp(-z))


# ---- The contenders: each returns a function that scores rows --------------------------------------------------------

Scorer = Any


def by_fastpu(problem: Problem, n_epochs: int) -> Scorer:
    """Train with fastpu."""
    model = fastpu.fit_nnpu(
        problem.X,
        problem.y,
        prior=_PRIOR,
        model="mlp",
        loss="sigmoid",
        n_hidden=_HIDDEN,
        learning_rate=_RATE,
        lam=_DECAY,
        batch_size=problem.batch_size,
        n_epochs=n_epochs,
        random_state=0,
        n_threads=problem.n_threads,
    )
    return model.decision_function


def by_torch(problem: Problem, n_epochs: int) -> Scorer:
    """Train with PyTorch, as its tutorials do."""
    import torch  # noqa: PLC0415 (only where it is installed)

    torch.set_num_threads(problem.n_threads)
    start = Start(problem.X.shape[1])
    net = torch.nn.Sequential(
        torch.nn.Linear(problem.X.shape[1], _HIDDEN), torch.nn.ReLU(), torch.nn.Linear(_HIDDEN, 1)
    )
    with torch.no_grad():
        net[0].weight.copy_(torch.from_numpy(start.hidden_coef.T.copy()))
        net[2].weight.copy_(torch.from_numpy(start.coef[None, :]))
        net[0].bias.zero_()
        net[2].bias.zero_()
    X, labelled = torch.from_numpy(problem.X), torch.from_numpy(problem.y == 1)
    adam = torch.optim.Adam(net.parameters(), lr=_RATE, weight_decay=_DECAY)
    generator = torch.Generator().manual_seed(0)

    def step(rows: Any, is_labelled: Any) -> None:
        f = net(rows)[:, 0]
        p, u = f[is_labelled], f[~is_labelled]
        positive = _PRIOR * torch.sigmoid(-p).mean()
        negative = torch.sigmoid(u).mean() - _PRIOR * torch.sigmoid(p).mean()
        adam.zero_grad()
        (positive + negative if negative.item() >= 0 else -negative).backward()
        adam.step()

    for _ in range(n_epochs):
        if problem.batch_size is None:
            step(X, labelled)
            continue
        for rows in torch.randperm(len(X), generator=generator).split(problem.batch_size):
            step(X[rows], labelled[rows])

    def score(rows: NDArray[np.float32]) -> NDArray[np.float32]:
        with torch.no_grad():
            scores: NDArray[np.float32] = net(torch.from_numpy(rows))[:, 0].numpy()
            return scores

    return score


def by_numpy(problem: Problem, n_epochs: int) -> Scorer:
    """Train with NumPy and its BLAS."""
    start = Start(problem.X.shape[1])
    net = [start.hidden_coef.copy(), np.zeros(_HIDDEN, np.float32), start.coef.copy(), np.zeros(1, np.float32)]
    means, squares = [np.zeros_like(part) for part in net], [np.zeros_like(part) for part in net]
    rng, n_steps = np.random.default_rng(1), 0

    def forward(rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        hidden = np.maximum(rows @ net[0] + net[1], 0)
        return hidden, hidden @ net[2] + net[3]

    for _ in range(n_epochs):
        order = np.arange(len(problem.y)) if problem.batch_size is None else rng.permutation(len(problem.y))
        size = problem.batch_size or len(order)
        for at in range(0, len(order), size):
            chosen = slice(None) if problem.batch_size is None else order[at : at + size]
            rows, labelled = problem.X[chosen], problem.y[chosen] == 1
            hidden, f = forward(rows)
            share = np.where(labelled, _PRIOR / max(1, labelled.sum()), 0).astype(np.float32)
            share_unl = np.where(labelled, 0, 1 / max(1, (~labelled).sum())).astype(np.float32)
            s = sigmoid(f)
            of_negative = (share_unl - share) * s * (1 - s)
            negative = (share_unl * s).sum() - (share * s).sum()
            g = -of_negative if negative < 0 else of_negative - share * s * (1 - s)
            G = g[:, None] * (hidden > 0) * net[2]
            n_steps += 1
            for k, own in enumerate((rows.T @ G, G.sum(axis=0), hidden.T @ g, g.sum(keepdims=True))):
                slope = own + np.float32(_DECAY) * net[k]
                means[k] += np.float32(0.1) * (slope - means[k])
                squares[k] += np.float32(0.001) * (slope * slope - squares[k])
                root = np.sqrt(squares[k] / np.float32(1 - 0.999**n_steps))
                net[k] -= np.float32(_RATE / (1 - 0.9**n_steps)) * means[k] / (root + np.float32(1e-8))
    return lambda rows: forward(rows)[1]


_CONTENDERS: dict[str, Callable[[Problem, int], Scorer]] = {
    "fastpu": by_fastpu,
    "PyTorch": by_torch,
    "NumPy": by_numpy,
}


def _risk(problem: Problem, score: Scorer) -> float:
    f = np.asarray(score(problem.X), dtype=np.float64)
    p, u = f[problem.y == 1], f[problem.y == 0]
    negative = float(sigmoid(u).mean() - _PRIOR * sigmoid(p).mean())
    return float(_PRIOR * sigmoid(-p).mean() + max(negative, 0.0))


def fits(
    *, names: Sequence[str], n: int, d: int, n_epochs: int, batch_size: int | None, n_threads: int, repeats: int
) -> list[Row]:
    """A fit of the reference network, its risk on the training rows, and its accuracy on others."""
    problem = make_problem(n, d, batch_size, n_threads)

    def judge(_: str, score: Scorer) -> Row:
        right = (score(problem.test) > 0) == (problem.truth > 0)
        return {"training risk": _risk(problem, score), "accuracy": float(np.mean(right))}

    return alternate(
        {name: partial(_CONTENDERS[name], problem, n_epochs) for name in names},
        repeats,
        warm_up={name: partial(_CONTENDERS[name], problem, _WARM_UP) for name in names},
        judge=judge,
    )
