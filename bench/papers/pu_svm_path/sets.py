"""The sets of the PU-SvmPath paper: drawn, or read from a folder; and their halves."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from shared import load
from stemming import stem

import fastpu

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

_TOYS = {"PU_toy1": fastpu.datasets.make_pu_toy1, "PU_toy2": fastpu.datasets.make_pu_toy2}
_TOKEN = re.compile(r"[a-z]{2,}")


@dataclass(frozen=True)
class Task:
    """Rows with true labels, +1 and -1."""

    name: str
    X: Any
    y: NDArray[np.int8]


def toy_tasks(name: str, draws: int, seed: int) -> Iterator[Task]:
    """Draw a toy set several times."""
    for draw in range(draws):
        X, y = _TOYS[name](random_state=seed + draw)
        yield Task(f"draw {draw}", X, y)


def lymphoma_tasks(folder: Path) -> list[Task]:
    """Return either class against the other of 62 samples with 4,026 genes: a stand-in for the paper's 47 of DLBCL."""
    X, truth = load(folder / "lymphoma_62x4026.csv.gz", "DLBCL")
    y = np.where(truth, np.int8(1), np.int8(-1))
    return [Task("DLBCL", X, y), Task("CLL and FL", X, -y)]


def news_tasks(folder: Path) -> list[Task]:
    """Return one group of the newsgroups against all others: TF-IDF of stemmed words without stop words, in CSR."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer  # noqa: PLC0415 (only here)

    with gzip.open(folder / "newsgroups8_mini.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]

    def words(text: str) -> list[str]:
        body = text.partition("\n\n")[2]  # a header names the group
        return [stem(word) for word in _TOKEN.findall(body.lower()) if word not in ENGLISH_STOP_WORDS]

    X = TfidfVectorizer(analyzer=words).fit_transform([document["text"] for document in documents]).tocsr()
    groups = np.array([document["label"] for document in documents])
    return [Task(name, X, np.where(groups == name, np.int8(1), np.int8(-1))) for name in sorted(set(groups))]


def train_and_test(task: Task, labeled: float, seed: int) -> tuple[Any, NDArray[np.int8], Any, NDArray[np.int8]]:
    """Split in halves, each with its half of either class, and label a share of the positives of the first one.

    Returns training rows, their labels (+1, 0), test rows and their true labels.
    """
    rng = np.random.default_rng([seed, round(100 * labeled)])
    train = np.sort(np.concatenate([rng.permutation(rows)[: (rows.size + 1) // 2]
                                    for rows in (np.flatnonzero(task.y == sign) for sign in (1, -1))]))  # fmt: skip
    test = np.setdiff1d(np.arange(task.y.size), train)
    positives = np.flatnonzero(task.y[train] > 0)
    y = np.zeros(train.size, dtype=np.int8)
    y[rng.permutation(positives)[: max(1, round(labeled * positives.size))]] = 1
    return task.X[train], y, task.X[test], task.y[test]
