"""Write a model of every method, and its scores, in the format of files that `Model.save` has now.

`python tests/model/golden/write.py` adds files to the folder of the current format, and never changes one that is
there: the files stand for what users have on their disks. It is run when a method or a format is new.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from pathlib import Path

import numpy as np

from fastpu.common._methods import DECLARED, function_of
from fastpu.model._file import _FORMAT

HERE = Path(__file__).resolve().parent
LABELS = {"P": 1, "U": 0, "N": -1}
#: What keeps a file small, or the same from run to run, where a function takes it.
OPTIONS = {
    "random_state": 0,
    "n_rounds": 4,
    "n_trees": 3,
    "n_epochs": 3,
    "n_hidden": 3,
    "n_bags": 2,
    "max_events": 20,
}
#: What has no default for it.
NEEDED = {"prior": 0.4, "C": 1.0, "C_pos": 1.0, "C_unl": 0.5}
#: Forms of models that a method's defaults do not make, by the names of their files.
FORMS = {
    "fit_boosted_trees-one": {"n_bags": 1, "min_leaf_rows": 2},
    "fit_pnu_auc": {"prior": 0.4},
    "fit_bsvm-rbf": {"kernel": "rbf"},
    "fit_pual-rbf": {"kernel": "rbf"},
    "fit_upu-gauss": {"model": "gauss", "n_centers": 4},
    "fit_nnpu-gauss": {"model": "gauss", "n_centers": 4},
    "fit_nnpu-mlp": {"model": "mlp"},
    "fit_ls_auc-gauss": {"model": "gauss", "n_centers": 4},
}


def rows(groups: str) -> tuple[np.ndarray, np.ndarray]:
    """Thirty rows of overlapping classes, and labels of these groups."""
    rng = np.random.default_rng(7)
    y = np.array([LABELS[group] for group in groups])[np.arange(30) % len(groups)]
    truth = np.where(y != 0, y, rng.choice([1, -1], 30))
    return np.round(rng.normal(size=(30, 3)) + truth[:, None], 3), y


def main() -> None:
    """Write the files that are missing."""
    folder = HERE / f"format_{_FORMAT}"
    folder.mkdir(exist_ok=True)
    for name in {**DECLARED, **FORMS}:
        path = folder / f"{name}.npz"
        if path.exists():
            continue
        method = name.partition("-")[0]
        function = function_of(method)
        taken = inspect.signature(function).parameters
        options = {key: value for key, value in OPTIONS.items() if key in taken}
        options |= {
            key: value
            for key, value in NEEDED.items()
            if key in taken and taken[key].default is inspect.Parameter.empty
        }
        X, y = rows(DECLARED[method].groups)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = (X, y) if "y" in taken else (X,)
            model = function(*given, **{**options, **FORMS.get(name, {})})
        model.save(path)
        np.save(path.with_suffix(".scores.npy"), model.decision_function(X))
        sys.stdout.write(f"{path.relative_to(HERE)}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
