"""A plan as a table for a spreadsheet, and back, with what people have answered there."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastpu.audit._plan import Plan, check_plan
from fastpu.common._text import describe, short
from fastpu.model._file import file_name

_WORDS = {
    1.0: ("1", "1.0", "true", "yes", "y", "positive", "pos", "+1"),
    0.0: ("0", "0.0", "false", "no", "n", "negative", "neg", "-1", "-1.0"),
    np.nan: ("", "?", "nan", "na", "n/a", "unclear", "unknown", "could not tell"),
}
_ANSWERS = {word: answer for answer, words in _WORDS.items() for word in words}
_HEAD = ("order", "row", "name", "score", "why", "answer", "place", "stratum", "stratum_end", "stratum_lowest", "plan")
_FORMULA = tuple("=+-@\t\r")  # a cell that begins so may be run
_LONGEST = 32_000  # characters of a name: a cell of a spreadsheet holds 32,767, one that Python reads 131,072
_PLAN = ("n", "n_rows", "goal", "k", "n_before", "seed", "fingerprint")  # what each line says of the whole plan


def write_csv(plan: Plan, path: object, *, names: object = None) -> None:
    """Write a plan as a table for people who check rows in a spreadsheet; `read_csv` reads it, with their answers.

    It has a line for each row, in the order in which to check them: its number, its name, its score, why it was drawn,
    and an empty column `answer`. The columns after it are what `read_csv` makes the plan of, so that nothing else has
    to be kept.

    Parameters
    ----------
    plan : Plan
    path : str or path-like
        A file of that name is replaced. It is UTF-8 with the mark by which Excel knows it.
    names : array-like of shape (n_rows,), optional
        Of all rows that have a score, for the people who check. A name that a spreadsheet would take for a formula gets
        an apostrophe in front, and a longer one than a cell of a spreadsheet holds is cut off.

    Returns
    -------
    None

    Raises
    ------
    OSError
        If the file cannot be written.
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fastpu import audit
    >>> plan = audit.plan([0.2, 0.9, 0.4, 0.7], 2, strata=[2, 4], random_state=0)
    >>> path = Path(tempfile.mkdtemp()) / "check these.csv"
    >>> audit.write_csv(plan, path, names=["Ada", "Ben", "Cleo", "Dan"])
    >>> path.read_text(encoding="utf-8-sig").splitlines()[0]
    'order,row,name,score,why,answer,place,stratum,stratum_end,stratum_lowest,plan'
    >>> audit.read_csv(path)  # nothing has been answered
    (Plan(2 of 4 rows, goal='count', 2 strata), array([nan, nan]))
    """
    check_plan("plan", plan)
    target = Path(file_name(path))
    called = np.full(plan.n_rows, "") if names is None else np.asarray(names, dtype=object)
    if called.shape != (plan.n_rows,):
        raise ValueError(
            f"names must hold {plan.n_rows} names, one for each row that has a score, got {describe(names)}"
        )
    # The x keeps a spreadsheet from taking a fingerprint for a number.
    marks = plan.rows.size, plan.n_rows, plan.goal, plan.k, plan.n_before, plan.seed, f"x{plan.fingerprint}"
    about = " ".join(f"{name}:{value}" for name, value in zip(_PLAN, marks, strict=True))
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_HEAD)
    sizes, drawn = plan.sizes, plan.drawn
    for i, (row, of) in enumerate(zip(plan.rows, plan.stratum, strict=True)):
        end = plan.ends[of]
        part = f"places {end - sizes[of] + 1} to {end} of the ranking"
        why = f"all of the {part}" if sizes[of] == drawn[of] else f"one of {drawn[of]} drawn from the {part}"
        name = str(called[row])[:_LONGEST]
        if name.startswith(_FORMULA):
            name = f"'{name}"
        writer.writerow([i + 1, row, name, plan.score[i], why, "", plan.place[i], of, end, plan.lowest[of], about])
    target.write_text(text.getvalue(), encoding="utf-8-sig", newline="")


def read_csv(path: object) -> tuple[Plan, NDArray[np.float64]]:
    """Read the table of a plan, which people have answered in a spreadsheet.

    Parameters
    ----------
    path : str or path-like
        A table that `write_csv` has written. The order of lines and columns does not matter, and columns may have been
        added; commas, semicolons and tabs may divide them. In the column `answer` 1, yes, y, true and positive are
        positive; 0, -1, no, n, false and negative are negative; nothing, ? and unclear are "could not tell".

    Returns
    -------
    plan : Plan
    answers : ndarray of float64, shape (m,)
        In the order of its rows: 1, 0 or NaN.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no such table, lines are missing or there twice, or an answer is something else.

    Examples
    --------
    See `write_csv`.
    """
    name = file_name(path)
    # Some spreadsheets save in an encoding of their own: it is names alone that suffer, and nobody reads them here.
    text = Path(name).read_text(encoding="utf-8-sig", errors="replace")
    try:
        table = _lines_of(text)
        plan = _plan_of(table)
    except (csv.Error, KeyError, ValueError) as error:
        raise ValueError(f"{name!r} cannot be read as a plan: {error}") from error
    return plan, np.array([_answer(line["answer"], name, int(line["row"])) for line in table])


def _lines_of(text: str) -> list[dict[str, str]]:
    header = text.partition("\n")[0]
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count), restval="")
    lacking = [column for column in _HEAD if column not in (lines.fieldnames or ())]
    if lacking:
        raise ValueError(f"it lacks the column {lacking[0]!r}")
    table = [line for line in lines if any(value.strip() for value in line.values() if isinstance(value, str))]
    if not table:
        raise ValueError("it holds no row")
    return table


def _plan_of(table: list[dict[str, str]]) -> Plan:
    """Return the plan that the lines of a table, which are put in order, have been written for."""
    table.sort(key=lambda line: int(line["order"]))
    about = dict(part.split(":", 1) for part in table[0]["plan"].split(" "))
    if {line["plan"] for line in table} != {table[0]["plan"]}:
        raise ValueError("its lines are of different plans")
    if [int(line["order"]) for line in table] != list(range(1, int(about["n"]) + 1)):
        raise ValueError(f"it must have each of the {about['n']} rows of the plan once, got {len(table)} lines")
    rows, place, stratum, end = (
        np.array([int(line[column]) for line in table], dtype=np.int64)
        for column in ("row", "place", "stratum", "stratum_end")
    )
    score, least = (
        np.array([float(line[column].replace(",", ".")) for line in table]) for column in ("score", "stratum_lowest")
    )
    n_rows = int(about["n_rows"])
    ends, lowest = np.full(stratum.max() + 1, n_rows), np.full(stratum.max() + 1, -np.inf)
    ends[stratum], lowest[stratum] = end, least
    if ends[-1] < n_rows:  # below it nothing was drawn
        ends, lowest = np.append(ends, n_rows), np.append(lowest, -np.inf)
    sizes, drawn = np.diff(ends, prepend=0), np.bincount(stratum, minlength=ends.size)
    return Plan(
        rows=rows,
        probability=(drawn / sizes)[stratum],
        stratum=stratum,
        place=place,
        score=score,
        ends=ends,
        lowest=lowest,
        n_rows=n_rows,
        goal=about["goal"],
        k=None if about["k"] == "None" else int(about["k"]),
        n_before=int(about["n_before"]),
        seed=int(about["seed"]),
        fingerprint=about["fingerprint"].removeprefix("x"),
    )


def _answer(text: str | None, name: str, row: int) -> float:
    word = (text or "").strip().lower()
    if word not in _ANSWERS:
        raise ValueError(
            f"{name!r} must answer yes, no or nothing (also 1 and 0, true and false), got {short(text)} for row {row}"
        )
    return _ANSWERS[word]
