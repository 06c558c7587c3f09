"""nnPU's reference network against PyTorch on the CPU, which is measured if it is installed; quality beside speed.

Rows: float32, ten groups around means in [0, 1] with noise, five of them positive; a tenth of the rows is labelled, and
half of the others is positive. The network is that of the reference (100 rectified linear units), with its loss, Adam
and weight decay, from one start for all; an epoch is one batch of all rows. Everybody is judged by the risk of all
training rows and the accuracy on other rows.
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
SETTINGS = {"n": 10_000, "features": 784, "epochs": 100, "repeats": 3}
QUICK = {"n": 300, "features": 20, "epochs": 3, "repeats": 1}
_PRIOR = 0.5
_HIDDEN = 100
_RATE, _DECAY = 1e-3, 0.005
_WARM_UP = 2  # epochs


def cases(run: SimpleNamespace) -> Iterator[Case]:
    names = ["fastpu", "PyTorch"] if is_there("torch", "nnpu", "PyTorch") else ["fastpu"]
    for n_threads in run.threads:
        yield Case(fits, names=names, n=run.n, d=run.features, n_epochs=run.epochs, n_threads=n_threads,
                   repeats=run.repeats)  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """Training rows with PU labels, other rows with true ones, and how the network is trained."""

    X: NDArray[np.float32]
    y: NDArray[np.int8]
    test: NDArray[np.float32]
    truth: NDArray[np.int8]
    n_threads: int


def make_problem(n: int, d: int, n_threads: int) -> Problem:
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
    return Problem(rows(groups), (np.arange(n) < n_labelled).astype(np.int8), rows(new), truth, n_threads)


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
        batch_size=None,
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

    for _ in range(n_epochs):
        f = net(X)[:, 0]
        p, u = f[labelled], f[~labelled]
        positive = _PRIOR * torch.sigmoid(-p).mean()
        negative = torch.sigmoid(u).mean() - _PRIOR * torch.sigmoid(p).mean()
        adam.zero_grad()
        (positive + negative if negative.item() >= 0 else -negative).backward()
        adam.step()

    def score(rows: NDArray[np.float32]) -> NDArray[np.float32]:
        with torch.no_grad():
            scores: NDArray[np.float32] = net(torch.from_numpy(rows))[:, 0].numpy()
            return scores

    return score


_CONTENDERS: dict[str, Callable[[Problem, int], Scorer]] = {
    "fastpu": by_fastpu,
    "PyTorch": by_torch,
}


def _risk(problem: Problem, score: Scorer) -> float:
    f = np.asarray(score(problem.X), dtype=np.float64)
    p, u = f[problem.y == 1], f[problem.y == 0]
    negative = float(sigmoid(u).mean() - _PRIOR * sigmoid(p).mean())
    return float(_PRIOR * sigmoid(-p).mean() + max(negative, 0.0))


def fits(*, names: Sequence[str], n: int, d: int, n_epochs: int, n_threads: int, repeats: int) -> list[Row]:
    """A fit of the reference network, its risk on the training rows, and its accuracy on others."""
    problem = make_problem(n, d, n_threads)

    def judge(_: str, score: Scorer) -> Row:
        right = (score(problem.test) > 0) == (problem.truth > 0)
        return {"training risk": _risk(problem, score), "accuracy": float(np.mean(right))}

    return alternate(
        {name: partial(_CONTENDERS[name], problem, n_epochs) for name in names},
        repeats,
        warm_up={name: partial(_CONTENDERS[name], problem, _WARM_UP) for name in names},
        judge=judge,
    )
