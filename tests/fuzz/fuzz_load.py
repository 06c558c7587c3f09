"""fastpu.load on damaged and hostile files: a sound model or the documented ValueError, nothing else.

`python tests/fuzz/fuzz_load.py -runs=100000`; see CONTRIBUTING.
"""

from __future__ import annotations

import copy
import io
import json
import random
import tempfile
import zipfile
from pathlib import Path

import atheris
import numpy as np

import engine

with engine.instrumented():
    import fastpu

D = 2
X = np.array([[0.0, 1.0], [-1.0, 0.5], [2.0, -3.0]])
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
PATH = Path(tempfile.mkdtemp(prefix="fastpu-fuzz-", dir=MEMORY if MEMORY.is_dir() else None)) / "model.npz"
NUMBERS = [0, 1, -1, 2, 3, 255, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, 5e-324, True]
OTHERS = [None, "", "linear", "rbf", "nan", "x" * 100, [], {}, [1, 2], ["a", "b"], {"a": 1}, [[]]]


def seeds() -> list[bytes]:
    """Small files of every kind of model."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12, D))
    pu = np.array([1, 0] * 6)
    pn = np.array([1, -1] * 6)
    models = [
        fastpu.fit_pnu_auc_boost(rows, pu, n_rounds=2),
        fastpu.baselines.fit_svm(rows, pn, C=0.1),
        fastpu.fit_isvm(rows, pu, max_iter=2),
        fastpu.fit_forest(rows, pu, n_trees=2, min_leaf_rows=1, random_state=0),
        fastpu.fit_bagging_svm(rows, pu, n_bags=2, random_state=0),
        fastpu.fit_pual(rows, pu, kernel="rbf"),
        fastpu.fit_pual(rows, pu),
        fastpu.fit_upu(rows, pu, prior=0.5, loss="logistic", lam=0.1),
        fastpu.fit_nnpu(rows, pu, prior=0.5, model="mlp", n_hidden=2, n_epochs=1, random_state=0),
        fastpu.fit_nnpu(rows, pu, prior=0.5, model="gauss", n_centers=2, n_epochs=1, random_state=0),
        fastpu.baselines.fit_ls_auc(rows, pn),
        fastpu.fit_pu_svm_path(rows, pu, C_pos=1.0, max_events=4),
        fastpu.fit_svmc(rows, pu, max_iter=1),
    ]
    files = []
    for model in models:
        model.save(PATH)
        files.append(PATH.read_bytes())
    return files


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(content: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in content.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = method
            archive.writestr(member, data)
    return stream.getvalue()


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


def read_npy(data: bytes) -> np.ndarray:
    return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)


def change_node(rng: random.Random, node) -> None:
    """Change something in a tree of JSON."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.8:
            node = node[key]
            continue
        kind = rng.random()
        if kind < 0.15:
            del node[key]
        elif kind < 0.3 and isinstance(node, dict):
            node[rng.choice(["a", "", "coef", "__class__", "x" * 50])] = node.pop(key)
        elif kind < 0.6 and isinstance(node[key], int | float) and not isinstance(node[key], bool):
            node[key] = node[key] + rng.choice([-1, 1, 0.5, 1e300])
        else:
            node[key] = copy.deepcopy(rng.choice(NUMBERS if rng.random() < 0.6 else OTHERS))
        return


def change_array(rng: random.Random, data: bytes) -> bytes:
    array = read_npy(data)
    kind = rng.random()
    flat = array.reshape(-1)
    if kind < 0.5 and flat.size:
        at = rng.randrange(flat.size)
        with np.errstate(all="ignore"):
            value = rng.choice([0, 1, -1, 2, 127, -128, np.nan, np.inf, 1e300, 2**31 - 1, 2**62])
            flat[at] = np.array(value, dtype=float).astype(array.dtype)
    elif kind < 0.65:
        array = flat[: rng.randrange(flat.size + 1)]
    elif kind < 0.75:
        array = np.concatenate([flat, flat])[: flat.size + rng.randrange(1, 4)]
    elif kind < 0.85:
        array = array.astype(rng.choice(["<f4", "<f8", "<i8", "<i4", "|i1", "|u1", "|b1", "<u8"]), copy=False)
    elif kind < 0.95:
        array = array.reshape(rng.choice([(-1,), (-1, 1), (1, -1), (1, -1, 1)]))
    else:
        array = flat[::-1].reshape(array.shape).copy()
    return npy(array)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A file of the same structure with something else in it."""
    try:
        content = members(data)
        header = json.loads(read_npy(content["header.npy"]).tobytes())
    except Exception:  # noqa: BLE001 - whatever is wrong, another file is taken
        return rng.choice(SEEDS)
    for _ in range(rng.choice([1, 1, 2, 4])):
        name = rng.choice(list(content))
        kind = rng.random()
        if kind < 0.4 and isinstance(header, dict):
            change_node(rng, header)
            content["header.npy"] = npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
        elif kind < 0.8 and name.endswith(".npy"):
            with_array = content[name]
            try:
                content[name] = change_array(rng, with_array)
            except Exception:  # noqa: BLE001 - it is no array any more, and stays as it is
                content[name] = with_array
        elif kind < 0.85 and name != "header.npy":
            del content[name]
        elif kind < 0.9:
            content[rng.choice(["a.npy", "a", "coef.npy", "../a.npy"])] = content[name]
        else:
            content[name] = atheris.Mutate(content[name], len(content[name]) + 8)
    return packed(content, zipfile.ZIP_DEFLATED if rng.random() < 0.01 else zipfile.ZIP_STORED)


def custom_mutator(data: bytes, max_size: int, seed: int) -> bytes:
    rng = random.Random(seed)  # noqa: S311 - no secret
    return (atheris.Mutate(data, max_size) if rng.random() < 0.2 else mutated(data, rng))[:max_size]


def one_input(data: bytes) -> None:
    PATH.write_bytes(data)
    try:
        model = fastpu.load(PATH)
    except ValueError as error:
        if "cannot be loaded" not in str(error):
            raise
        return
    # What is loaded is a sound model: it can be judged by and saved.
    rows = X if model.n_features == D else np.ones((2, min(model.n_features, 50)))
    try:
        if isinstance(model, fastpu.models.SVMPath):
            model.scores(rows, model.lams[:1])
        else:
            model.decision_function(rows, n_threads=1)
            model.predict(rows, n_threads=1)
    except ValueError:  # rows of other features, or scores that overflow
        pass
    repr(model)


SEEDS = seeds()

if __name__ == "__main__":
    engine.start(one_input, custom_mutator)
