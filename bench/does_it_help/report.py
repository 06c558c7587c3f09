"""What came out: means by number of labels, wins and losses with a test over tables, ranks, rows, and kinds of data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from figures import TIE, Figures, Paired, holm, labels_text, p_value, paired, those
from learners import ASIDE, CATBOOST, LEARNERS, NOT_AT_RANDOM, ORACLE, TUNED
from shared import critical_difference, machine, table
from shared import ranks as ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from problems import Task
    from results import Outcomes, Place, Sizes

REFERENCE = "fit_forest"
TABLES = ("tables of numbers", "tables with categories")
_FEWEST_COMPARED = 5  # labels: with one, some learners cannot be fitted at all
_PLAIN = "logistic regression, as shipped"
_COUNTS = (5.0, 20.0, 100.0)  # labels
_PRECISIONS = (5.0, 20.0, 0.3)  # columns of average precision
_STRATA = {(0, 1000): "below 1,000", (1000, 5001): "1,000 to 5,000", (5001, 10**9): "above 5,000"}  # rows of a table
_RIVALS = (
    "extra trees, set for PU",
    "random forest, set for PU",
    "LightGBM, 20 PU bags",
    "LightGBM, set for PU",
    "fit_boosted_trees, 20 bags",
    "fit_bagging_svm, rbf",
    "logistic regression, set for PU, C = .1",
)


def report(tasks: Sequence[Task], outcomes: Outcomes, sizes: Mapping[Place, Sizes]) -> str:
    """Return everything that was measured as Markdown."""
    by_name = {task.name: task for task in tasks}
    kinds = list(dict.fromkeys(task.kind for task in tasks))
    parts = []
    if found := those(outcomes, lambda place: by_name[place.task].kind in TABLES):
        first = _split(found, 0)
        without = _without(first, TUNED)
        parts += [_over_tables(by_name, without, "Over tables"), _by_rows(by_name, without)]
        if len(first) < len(found):
            parts.append(_by_split(by_name, found))
        parts.append(_beside_plain(by_name, without))
        if rest := those(without, lambda place: not by_name[place.task].chose_a_default):
            parts.append(_over_tables(by_name, rest, "Without the tables by which defaults were once chosen"))
        if tuned := {name for each in first.values() for name in each if name in TUNED}:
            some = those(first, lambda place: tuned <= set(first[place]))
            parts.append(_over_tables(by_name, some, "With tuned learners"))
    for kind in kinds:
        if kind not in TABLES and (found := _of(outcomes, by_name, kind)):
            parts.append(_of_kind(kind, _complete(found)))
    parts.append(_catboost_on_real_rows(by_name, outcomes))
    parts += [_settings(outcomes), _refused(outcomes), _cost(outcomes), machine()]
    return "\n".join(f"{part}\n" for part in parts if part)


def _without(outcomes: Outcomes, names: Iterable[str]) -> Outcomes:
    """Return the outcomes of all other learners."""
    return {place: {name: each[name] for name in each if name not in names} for place, each in outcomes.items()}


def _complete(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes of the learners that were run on every problem."""
    names = set.intersection(*(set(each) for each in outcomes.values()))
    return {place: {name: each[name] for name in each if name in names} for place, each in outcomes.items()}


def _of(outcomes: Outcomes, tasks: Mapping[str, Task], kind: str) -> Outcomes:
    return those(outcomes, lambda place: tasks[place.task].kind == kind)


# ---- Over tables -----------------------------------------------------------------------------------------------------


def _over_tables(tasks: Mapping[str, Task], outcomes: Outcomes, title: str) -> str:
    """Return a line for each learner: means by number of labels, and comparisons with the reference over tables."""
    every = sorted({place.labels for place in outcomes}, key=lambda labels: labels if labels >= 1 else np.inf)
    parts = {labels: _labelled(outcomes, labels) for labels in every}
    aucs = {labels: Figures(part, "auc") for labels, part in parts.items()}
    precisions = {labels: Figures(parts[labels], "ap") for labels in _PRECISIONS if labels in parts}
    compared = those(outcomes, lambda place: not 1 <= place.labels < _FEWEST_COMPARED) or outcomes
    names = Figures(compared, "auc").names
    tables = Figures(compared, "auc").by_table(tasks)
    seconds = Figures(compared, "seconds")
    judged = [i for i, name in enumerate(names) if name not in ASIDE]
    ranks = dict(zip([names[i] for i in judged], ranks_of(tables[:, judged]).mean(axis=0), strict=True))
    against = _against_reference(names, tables, judged)
    rows = [
        [name, *(auc.mean(name) for auc in aucs.values()), *(ap.mean(name) for ap in precisions.values()),
         f"{ranks[name]:.1f}" if name in ranks else "", *against.get(name, ["", "", ""]), seconds.mean(name)]
        for name in sorted(names, key=lambda name: ranks.get(name, np.inf)) if name != NOT_AT_RANDOM
    ]  # fmt: skip
    head = ["learner", *(f"AUC, {labels_text(labels)}" for labels in aucs),
            *(f"average precision, {labels_text(labels)}" for labels in precisions), "mean rank",
            f"{REFERENCE} wins, ties, loses", "median difference", "p", "CPU-s"]  # fmt: skip
    problems = ", ".join(f"{labels_text(labels)}: {len(auc.problems)}" for labels, auc in aucs.items())
    n_tasks, n_splits = (len({getattr(place, name) for place in outcomes}) for name in ("task", "split"))
    title = f"{title}: {tables.shape[0]} tables, {n_tasks} tasks, {n_splits} split{'s' if n_splits > 1 else ''}"
    note = (
        f"Tasks by labels: {problems}. Wins, ties and losses of {REFERENCE}, ranks and tests are over tables, by the "
        f"mean AUC of a table's problems with {_FEWEST_COMPARED} labels or more; a difference below {TIE} is a tie. p "
        "is of Wilcoxon's signed rank test, by Holm for as many tests as there are lines. Mean ranks that differ by"
        f" less than {critical_difference(len(judged), tables.shape[0]):.1f} cannot be told apart (Nemenyi, 5 %). A"
        " star: the learner refused some of the rows, and the mean is of the others; in ranks it is"
        " the last one there."
    )
    return table(head, rows, title=title) + f"\n\n{note}"


def _labelled(outcomes: Outcomes, labels: float) -> Outcomes:
    return those(outcomes, lambda place: place.labels == labels)


def _against_reference(names: Sequence[str], tables: np.ndarray, judged: Sequence[int]) -> dict[str, list[str]]:
    """Return wins, ties and losses of the reference, the median difference, and p by Holm, for each learner."""
    if REFERENCE not in names:
        return {}
    reference = tables[:, names.index(REFERENCE)]
    found = {names[i]: paired(reference, tables[:, i]) for i in judged if names[i] != REFERENCE}
    found = {name: each for name, each in found.items() if not np.isnan(each.median)}
    adjusted = holm([each.p for each in found.values()])
    return {
        name: [f"{each.wins}, {each.ties}, {each.losses}", f"{each.median:+.3f}", p_value(p)]
        for (name, each), p in zip(found.items(), adjusted, strict=True)
    }


def _by_split(tasks: Mapping[str, Task], outcomes: Outcomes) -> str:
    """Return each split by itself and the mean of all, for the learners and the problems that every split has."""
    splits = sorted({place.split for place in outcomes})
    n_splits = Counter((place.task, place.labels) for place in outcomes)
    shared = _complete(those(outcomes, lambda place: n_splits[place.task, place.labels] == len(splits)))
    parts = {f"split {split + 1}": _split(shared, split) for split in splits} | {"mean": shared}
    counts = [labels for labels in _COUNTS if any(place.labels == labels for place in shared)]
    aucs = {
        f"AUC, {labels_text(labels)}, {words}": Figures(_labelled(part, labels), "auc")
        for labels in counts
        for words, part in parts.items()
    }
    names = Figures(shared, "auc").names
    judged = [i for i, name in enumerate(names) if name not in (ORACLE, NOT_AT_RANDOM)]
    against = {}
    for words, part in parts.items():
        compared = those(part, lambda place: not 1 <= place.labels < _FEWEST_COMPARED)
        against[words] = _against_reference(names, Figures(compared, "auc").by_table(tasks), judged)
    rows = [
        [name, *(auc.mean(name) for auc in aucs.values()),
         *(cell for each in against.values() for cell in each.get(name, ["", "", ""])[::2])]
        for name in names
    ]  # fmt: skip
    head = ["learner", *aucs,
            *(f"{what}, {words}" for words in against for what in (f"{REFERENCE} wins, ties, loses", "p"))]  # fmt: skip
    listed = ", ".join(f"{labels_text(labels)}: {len(_labelled(parts['split 1'], labels))}" for labels in counts)
    note = (
        f"Tasks by labels, of those that every split has: {listed}. Wins, ties and losses are over tables, by problems "
        f"with {_FEWEST_COMPARED} labels or more, as above; p is by Holm for as many tests as there are lines."
    )
    title = f"Split by split: {len(splits)} splits, {len(names)} learners"
    return table(head, rows, title=title) + f"\n\n{note}"


def _split(outcomes: Outcomes, split: int) -> Outcomes:
    return those(outcomes, lambda place: place.split == split)


def _by_rows(tasks: Mapping[str, Task], outcomes: Outcomes) -> str:
    """Return how far the reference is ahead of its strongest rivals, by number of rows and of labels."""
    rows_of = {place.task: int(tasks[place.task].about.split(" rows")[0].replace(",", "")) for place in outcomes}
    rivals = [name for name in _RIVALS if any(name in each for each in outcomes.values())]
    if not rivals or REFERENCE not in next(iter(outcomes.values())):
        return ""
    lines: list[tuple[list[str], list[Paired]]] = []
    for (low, high), words in _STRATA.items():
        for labels in (5.0, 20.0, 100.0, 0.3):
            part = {
                place: found
                for place, found in _labelled(outcomes, labels).items()
                if low <= rows_of[place.task] < high
            }
            if len({tasks[place.task].table for place in part}) < 6:
                continue  # too few for a test
            auc = Figures(part, "auc")
            tables = auc.by_table(tasks)
            reference = tables[:, auc.names.index(REFERENCE)]
            head = [f"{words}; {labels_text(labels)}", f"{tables.shape[0]}", f"{reference.mean():.3f}"]
            lines.append((head, [paired(reference, tables[:, auc.names.index(rival)]) for rival in rivals]))
    rows = [
        [*head, *(_lead(each.median, p) for each, p in zip(found, holm([one.p for one in found]), strict=True))]
        for head, found in lines
    ]
    head = ["rows of the table; labelled", "tables", f"AUC of {REFERENCE}", *(f"ahead of {name}" for name in rivals)]
    note = (
        f"Medians over tables of the AUC of {REFERENCE} less that of the rival; bold where Wilcoxon's test tells the "
        f"two apart (p < .05, by Holm for the {len(rivals)} tests of a line). Level: it does not."
    )
    return table(head, rows, title="By number of rows and labels") + f"\n\n{note}"


def _lead(median: float, p: float) -> str:
    return f"{median:+.3f}, level" if p > 0.05 else f"**{median:+.3f}**"


def _beside_plain(tasks: Mapping[str, Task], outcomes: Outcomes) -> str:
    """Return how far the methods of this library are ahead of the regression that everybody tries first."""
    every = {labels_text(labels): _labelled(outcomes, labels) for labels in _COUNTS}
    every = {words: part for words, part in every.items() if any(_PLAIN in each for each in part.values())}
    if not every:
        return ""

    def gains(part: Outcomes, name: str) -> np.ndarray:
        auc = Figures(part, "auc")
        tables = auc.by_table(tasks)
        return tables[:, auc.names.index(name)] - tables[:, auc.names.index(_PLAIN)]

    compared = those(outcomes, lambda place: not 1 <= place.labels < _FEWEST_COMPARED)
    ours = [name for name in Figures(compared, "auc").names if LEARNERS[name].ours and name not in ASIDE]
    rows = [
        [name, *(f"{np.median(gains(part, name)):+.3f}" for part in every.values()),
         f"{gains(compared, name).min():+.2f}"]
        for name in sorted(ours, key=lambda name: -float(np.median(gains(compared, name))))
    ]  # fmt: skip
    note = (
        f"AUC less that of {_PLAIN}: medians over the tables, and the worst table, of which the mean over its problems "
        f"with {_FEWEST_COMPARED} labels or more counts."
    )
    return table(["learner", *every, "worst table"], rows, title="Beside a plain regression") + f"\n\n{note}"


# ---- Kinds of data, and the rest -------------------------------------------------------------------------------------


def _of_kind(kind: str, outcomes: Outcomes) -> str:
    """Return means by number of labels; the best of each column, but for the oracle, is bold."""
    labels = sorted({place.labels for place in outcomes}, key=lambda labels: labels if labels >= 1 else np.inf)
    columns = {
        f"{title}, {labels_text(each)}": Figures(_labelled(outcomes, each), measure)
        for measure, title in (("auc", "AUC"), ("ap", "average precision"))
        for each in labels
    }
    names = [name for name in LEARNERS if any(name in column.names for column in columns.values())]
    rows = []
    for name in names:
        cells = []
        for column in columns.values():
            text = column.mean(name)
            best = max(column.mean(other) for other in names if other != ORACLE and column.mean(other)[-1] not in "*-")
            cells.append(f"**{text}**" if text == best and name != ORACLE else text)
        rows.append([name, *cells, Figures(outcomes, "seconds").mean(name)])
    listed = "; ".join(dict.fromkeys(place.task for place in outcomes))
    n_tasks, n_splits = (len({getattr(place, name) for place in outcomes}) for name in ("task", "split"))
    title = (
        f"{kind[0].upper()}{kind[1:]}: means over {n_tasks} task{'s' if n_tasks > 1 else ''}, "
        f"{n_splits} split{'s' if n_splits > 1 else ''}"
    )
    return table(["learner", *columns, "CPU-s"], rows, title=title) + f"\n\nTasks: {listed}."


def _catboost_on_real_rows(tasks: Mapping[str, Task], outcomes: Outcomes) -> str:
    """Return the first split of real rows, where CatBoost ran too."""
    kinds: dict[tuple[str, float], list[Outcomes]] = {}
    for place, each in sorted(outcomes.items()):
        if tasks[place.task].kind.startswith("real") and {CATBOOST, REFERENCE} <= set(each) and place.split == 0:
            kinds.setdefault((tasks[place.task].kind, place.labels), []).append({place: each})
    rows = []
    for kind, labels in sorted(kinds, key=lambda key: (key[0], key[1] < 1, key[1])):
        parts = kinds[kind, labels]
        part = {place: each for one in parts for place, each in one.items()}
        cells = [Figures(part, measure).mean(name) for measure in ("auc", "ap") for name in (REFERENCE, CATBOOST)]
        rows.append([f"{kind.split(': ')[1]}, {labels_text(labels)}", f"{len(part)}", *cells,
                     *(Figures(part, "seconds").mean(name) for name in (REFERENCE, CATBOOST))])  # fmt: skip
    if not rows:
        return ""
    head = ["rows", "tasks", *(f"{title}, {name}" for title in ("AUC", "average precision", "CPU-s")
                               for name in (REFERENCE, CATBOOST))]  # fmt: skip
    return table(head, rows, title="CatBoost on real rows, on the first split of each")


def _settings(outcomes: Outcomes) -> str:
    run = {name for each in outcomes.values() for name in each}
    rows = [[name, each.about] for name, each in LEARNERS.items() if name in run]
    return table(["learner", "what was set"], rows, title="What was set")


def _refused(outcomes: Outcomes) -> str:
    flaws: dict[str, set[str]] = {}
    for place, each in outcomes.items():
        for name, outcome in each.items():
            if outcome.flaw:
                flaws.setdefault(f"{name}: {outcome.flaw}", set()).add(f"{place.task}, {labels_text(place.labels)}")
    if not flaws:
        return ""
    listed = "\n".join(f"- {flaw} ({len(problems)} problems)" for flaw, problems in sorted(flaws.items()))
    return f"### What learners refused\n\n{listed}"


def _cost(outcomes: Outcomes) -> str:
    seconds = dict.fromkeys(LEARNERS, 0.0)
    counted: set[tuple[str, int]] = set()
    for place, each in outcomes.items():
        for name, outcome in each.items():
            once = (place.task, place.split)
            # That learner is fitted once for all numbers of labels.
            if not outcome.flaw and not (name == ORACLE and once in counted):
                seconds[name] += outcome.seconds
        counted.add(once)
    slowest = sorted(seconds, key=lambda name: -seconds[name])[:4]
    listed = ", ".join(f"{name} {seconds[name] / 60:.0f}" for name in slowest)
    return (
        f"All fits and scores together took {sum(seconds.values()) / 3600:.1f} hours of one processor; most minutes "
        f"are those of {listed}."
    )
