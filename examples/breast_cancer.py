"""PNUAUCBoost, RankBoost-AUC and logistic regression where 85 % of the training labels are hidden.

The data are the Wisconsin breast-cancer measurements that scikit-learn carries; malignant is positive. The protocol is
that of section 5.3 of the PNUAUCBoost paper: 15 stratified splits into 70 % training, 15 % validation and 15 % test
rows, with most of the training labels hidden; the setting of a method with the best mean validation AUC is judged by
its mean test AUC. PNUAUCBoost learns from all training rows, the two others from the labelled ones alone.

Prints a table and writes a picture of the AUC against the number of rounds, here into the current folder:

    python examples/breast_cancer.py --output .

Needs scikit-learn, matplotlib and tqdm beside fastpu.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import fastpu
from fastpu.datasets import split_pnu
from fastpu.metrics import auc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from sklearn.pipeline import Pipeline

Params = dict[str, Any]
Curves = dict[str, "NDArray[np.float64]"]  # AUC by kind of rows, each of shape (splits, rounds)

# The settings to choose from; of the boosting methods also every number of rounds up to --rounds.
GAMMAS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)  # 1 would be RankBoost-AUC
RHOS = (0.0, 0.01, 0.03, 0.1)
COSTS = tuple(10.0**k for k in np.arange(-3, 3.5, 0.5))


class Rows(NamedTuple):
    """Rows with their true labels, +1 and -1."""

    X: NDArray[np.float64]
    y: NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Task:
    """One split: training rows with labels +1, -1 and 0 (hidden), and the rows to choose and to judge by."""

    X: NDArray[np.float64]
    labels: NDArray[np.int8]
    valid: Rows
    test: Rows


@dataclass(frozen=True)
class Result:
    """A method with the setting chosen for it: test AUC and seconds to fit, for each split."""

    name: str
    params: Params
    test_auc: NDArray[np.float64]
    seconds: NDArray[np.float64]


def load_tasks(n_splits: int, hidden: float) -> list[Task]:
    X, target = load_breast_cancer(return_X_y=True)
    y = np.where(target == 0, 1, -1)  # scikit-learn codes malignant as 0
    tasks = []
    for seed in range(n_splits):
        split = split_pnu(y, hidden=hidden, random_state=seed)
        valid, test = (Rows(X[rows], y[rows]) for rows in (split.valid, split.test))
        tasks.append(Task(X[split.train], split.y_train, valid, test))
    return tasks


# ---- The methods: each fits one split with one setting ----


def fit_pnu_auc_boost(task: Task, params: Params) -> fastpu.StumpEnsemble:
    return fastpu.fit_pnu_auc_boost(task.X, task.labels, **params)


def fit_rankboost_auc(task: Task, params: Params) -> fastpu.StumpEnsemble:
    return fastpu.fit_rankboost_auc(task.X, task.labels, **params)


def fit_logistic_regression(task: Task, params: Params) -> Pipeline:
    labelled = task.labels != 0
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, **params))
    with threadpool_limits(1):  # on so few rows the threads of BLAS only wait for each other
        return model.fit(task.X[labelled], task.labels[labelled])


# ---- Model selection on the mean validation AUC ----


def for_every_round(values: list[float] | NDArray[np.float64], n_rounds: int) -> NDArray[np.float64]:
    """Continue the last value to `n_rounds`: a fit that ends early stays as it is."""
    return np.pad(values, (0, n_rounds - len(values)), mode="edge")


def select_boosting(
    fit: Callable[[Task, Params], fastpu.StumpEnsemble],
    grid: Sequence[Params],
    tasks: Sequence[Task],
    n_rounds: int,
    bar: tqdm[None],
) -> Params:
    """Choose a setting and a number of rounds: one fit judges every number of rounds up to `n_rounds`."""
    best_auc, best = -np.inf, Params()
    for params in grid:
        curves = []
        for task in tasks:
            model = fit(task, {**params, "n_rounds": n_rounds, "eval_set": task.valid})
            curves.append(for_every_round(model.history["eval_auc"], n_rounds))
            bar.update()
        mean = np.mean(curves, axis=0)
        if mean.max() > best_auc:
            best_auc, best = mean.max(), {**params, "n_rounds": int(mean.argmax()) + 1}
    return best


def select_logistic_regression(grid: Sequence[Params], tasks: Sequence[Task], bar: tqdm[None]) -> Params:
    def mean_auc(params: Params) -> float:
        values = []
        for task in tasks:
            model = fit_logistic_regression(task, params)
            values.append(auc(task.valid.y, model.decision_function(task.valid.X)))
            bar.update()
        return float(np.mean(values))

    return max(grid, key=mean_auc)


# ---- The chosen settings on the test rows ----


def judge(name: str, fit: Callable[[Task, Params], Any], params: Params, tasks: Sequence[Task]) -> Result:
    test_auc, seconds = [], []
    for task in tasks:
        start = time.perf_counter()
        model = fit(task, params)
        seconds.append(time.perf_counter() - start)
        test_auc.append(auc(task.test.y, model.decision_function(task.test.X)))
    return Result(name, params, np.array(test_auc), np.array(seconds))


def auc_per_round(
    fit: Callable[[Task, Params], fastpu.StumpEnsemble], params: Params, tasks: Sequence[Task], n_rounds: int
) -> Curves:
    curves: dict[str, list[NDArray[np.float64]]] = {"labelled training rows": [], "test rows": []}
    for task in tasks:
        model = fit(task, {**params, "n_rounds": n_rounds})
        labelled = task.labels != 0
        judged = {"labelled training rows": Rows(task.X[labelled], task.labels[labelled]), "test rows": task.test}
        for kind, rows in judged.items():
            staged = [auc(rows.y, score) for score in model.staged_decision_function(rows.X)]
            curves[kind].append(for_every_round(staged, n_rounds))
    return {kind: np.array(values) for kind, values in curves.items()}


def print_table(results: Sequence[Result]) -> None:
    header = f"{'method':<22}{'test AUC':>9}{'sd':>8}{'fit, ms':>9}   setting chosen"
    print(header, "-" * 79, sep="\n")
    for result in results:
        setting = ", ".join(f"{name}={value:.3g}" for name, value in result.params.items())
        mean, sd = result.test_auc.mean(), result.test_auc.std(ddof=1)
        print(f"{result.name:<22}{mean:>9.4f}{sd:>8.4f}{1000 * np.median(result.seconds):>9.1f}   {setting}")
    first = results[0]
    for other in results[1:]:
        gain = first.test_auc - other.test_auc
        print(
            f"{first.name} against {other.name}: better in {np.sum(gain > 0)} splits, "
            f"worse in {np.sum(gain < 0)}, equal in {np.sum(gain == 0)}"
        )


# ---- The picture ----

# Colours that the colour-blind tell apart, and lines that a black-and-white print does.
STYLES = {"PNUAUCBoost": ("#0072B2", "-"), "RankBoost-AUC": ("#D55E00", "--")}
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def draw(curves: dict[str, Curves], results: Sequence[Result], title: str) -> Figure:
    """Draw mean and standard deviation over the splits, a panel for labelled training rows and one for test rows."""
    figure = Figure(figsize=(9.6, 4.8), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for axis, rows in zip(axes, ("labelled training rows", "test rows"), strict=True):
        for result in results:
            if result.name in curves:
                draw_curve(axis, result, curves[result.name][rows])
            elif rows == "test rows":
                axis.axhline(result.test_auc.mean(), color="black", linestyle=":", linewidth=1.2, label=result.name)
        axis.set_title(f"AUC of the {rows}", fontsize=11)
        axis.set_xlabel("boosting rounds")
        axis.grid(color="0.9")
    n_rounds = max(values["test rows"].shape[1] for values in curves.values())
    axes[0].set(ylabel="AUC", xscale="log", xlim=(1, n_rounds))
    axes[0].set_xticks([tick for tick in TICKS if tick <= n_rounds])
    axes[0].xaxis.set_major_formatter("{x:g}")
    axes[0].minorticks_off()
    axes[1].plot([], [], "o", color="0.4", markersize=6, label="rounds chosen by validation")
    axes[1].legend(loc="lower right", framealpha=1, edgecolor="none")
    figure.suptitle(title, fontsize=12)
    return figure


def draw_curve(axis: Axes, result: Result, values: NDArray[np.float64]) -> None:
    colour, line = STYLES[result.name]
    mean, sd = values.mean(axis=0), values.std(axis=0, ddof=1)
    rounds, chosen = np.arange(1, mean.size + 1), result.params["n_rounds"]
    low, high = mean - sd, np.minimum(mean + sd, 1)  # no AUC exceeds 1
    axis.fill_between(rounds, low, high, color=colour, alpha=0.1, linewidth=0)
    for edge in (low, high):
        axis.plot(rounds, edge, line, color=colour, linewidth=0.6, alpha=0.6)
    axis.plot(rounds, mean, line, color=colour, linewidth=1.8, label=result.name)
    axis.plot(chosen, mean[chosen - 1], "o", color=colour, markersize=6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("build/demo"), help="folder of the picture (%(default)s)")
    parser.add_argument("--splits", type=int, default=15, help="number of random splits (%(default)s)")
    parser.add_argument("--rounds", type=int, default=200, help="most boosting rounds (%(default)s)")
    parser.add_argument("--hidden", type=float, default=0.85, help="share of hidden training labels (%(default)s)")
    options = parser.parse_args()
    if options.splits < 2 or options.rounds < 2:
        parser.error("--splits and --rounds must be at least 2")

    tasks = load_tasks(options.splits, options.hidden)
    pnu_grid = [{"gamma": gamma, "rho": rho} for gamma, rho in product(GAMMAS, RHOS)]
    rank_grid = [{"rho": rho} for rho in RHOS]
    cost_grid = [{"C": cost} for cost in COSTS]
    n_fits = len(tasks) * (len(pnu_grid) + len(rank_grid) + len(cost_grid))
    with tqdm(total=n_fits, desc="model selection", unit="fit", mininterval=0.5) as bar:
        pnu = select_boosting(fit_pnu_auc_boost, pnu_grid, tasks, options.rounds, bar)
        rank = select_boosting(fit_rankboost_auc, rank_grid, tasks, options.rounds, bar)
        cost = select_logistic_regression(cost_grid, tasks, bar)

    results = [
        judge("PNUAUCBoost", fit_pnu_auc_boost, pnu, tasks),
        judge("RankBoost-AUC", fit_rankboost_auc, rank, tasks),
        judge("logistic regression", fit_logistic_regression, cost, tasks),
    ]
    labels = tasks[0].labels
    counts = f"{np.sum(labels == 1)} positive, {np.sum(labels == -1)} negative, {np.sum(labels == 0)} unlabelled"
    print(f"\nWisconsin breast cancer, {len(tasks)} splits; training rows: {counts}\n")
    print_table(results)

    curves = {
        "PNUAUCBoost": auc_per_round(fit_pnu_auc_boost, pnu, tasks, options.rounds),
        "RankBoost-AUC": auc_per_round(fit_rankboost_auc, rank, tasks, options.rounds),
    }
    title = (
        f"Wisconsin breast cancer, {options.hidden:.0%} of the training labels hidden ({counts})\n"
        f"mean over {len(tasks)} splits, band: one standard deviation either side"
    )
    path = options.output / "breast_cancer.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(curves, results, title).savefig(path, dpi=150)
    print(f"\npicture: {path}")


if __name__ == "__main__":
    main()
