"""A plan as a table for a spreadsheet, and back from there with the answers of people."""

from __future__ import annotations

import codecs
import csv
import io
import re
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastpu.audit._draw import GOALS
from fastpu.audit._plan import Plan, check_plan
from fastpu.common._params import MANY, check_choice
from fastpu.common._text import describe, short
from fastpu.common._types import VectorLike
from fastpu.model._file import file_name

_WORDS = {
    1.0: ("1", "1.0", "true", "yes", "y", "positive", "pos", "+1"),
    0.0: ("0", "0.0", "false", "no", "n", "negative", "neg", "-1", "-1.0"),
    np.nan: ("", "?", "nan", "na", "n/a", "unclear", "unknown", "could not tell"),
}
_ANSWERS = {word: answer for answer, words in _WORDS.items() for word in words}
_HEAD = ("order", "row", "name", "score", "why", "answer", "place", "stratum", "stratum_end", "stratum_lowest", "plan")
# Where an apostrophe keeps a cell from being run as a formula. A spreadsheet that divides cells at semicolons or tabs
# begins one after each of these in a name, and after line breaks; it may leave out blanks and quotes there.
_FORMULA = re.compile(r"(^|[;\t\r\n])(?=[\s\"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r])")
_LONGEST = 32_000  # characters of a name: a cell of a spreadsheet holds 32,767, one that Python reads 131,072
_PLAN = ("n", "n_rows", "goal", "k", "n_before", "seed", "fingerprint")  # what each line says of the whole plan


def write_csv(plan: Plan, path: str | PathLike[str], *, names: VectorLike | None = None) -> None:
    """Write a plan as a table for people who check rows in a spreadsheet; `read_csv` reads it, with their answers.

    The table has a line for each row of the plan, in the order in which to check them. It has the row's number, name
    and score, why it was drawn, and an empty column `answer`. The columns after `answer` hold the plan itself, so
    nothing else has to be kept.

    Parameters
    ----------
    plan : Plan
        The plan to write.
    path : str or path-like
        The file to write; an existing file is replaced. It is UTF-8 with a byte order mark, which Excel needs.
    names : array-like of shape (n_rows,), optional
        A name for every row that has a score, for the people who check. A name that a spreadsheet would take for a
        formula gets an apostrophe in front. So does a part of a name after a semicolon, a tab or a line break, where
        some spreadsheets begin a new cell. Names that are too long for a cell are cut off.

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
            f"names must hold {plan.n_rows} names, one for every row that has a score, got {describe(names)}"
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
        name = _FORMULA.sub(r"\1'", str(called[row])[:_LONGEST])
        writer.writerow([i + 1, row, name, plan.score[i], why, "", plan.place[i], of, end, plan.lowest[of], about])
    target.write_text(text.getvalue(), encoding="utf-8-sig", newline="")


def read_csv(path: str | PathLike[str]) -> tuple[Plan, NDArray[np.float64]]:
    """Read the table of a plan after people have answered it in a spreadsheet.

    Parameters
    ----------
    path : str or path-like
        A table that `write_csv` has written. Lines and columns may be in any order, and columns may have been added.
        Columns are separated by commas, semicolons or tabs, or by the character of a first line such as ``sep=;``. The
        file is UTF-8, or UTF-16 with a byte order mark (Excel's "Unicode text"). In the column `answer`, 1, yes, y,
        true and positive mean positive; 0, -1, no, n, false and negative mean negative; an empty cell, ? and unclear
        mean that nobody could tell.

    Returns
    -------
    plan : Plan
        The plan that was written.
    answers : ndarray of float64, shape (m,)
        1, 0 or NaN for each row of the plan, in its order.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not such a table, if lines are missing or repeated, if a row, a place, a stratum or a score does
        not fit the plan, or if an answer is something else. The message names the row and what it holds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fastpu import audit
    >>> path = Path(tempfile.mkdtemp()) / "check these.csv"
    >>> audit.write_csv(audit.plan([0.2, 0.9, 0.4, 0.7], 2, strata=[2, 4], random_state=0), path)
    >>> audit.read_csv(path)  # nobody has answered yet
    (Plan(2 of 4 rows, goal='count', 2 strata), array([nan, nan]))
    """
    name = file_name(path)
    try:
        table = _lines_of(_decoded(Path(name).read_bytes()))
        plan = _plan_of(table)
    except (csv.Error, KeyError, ValueError) as error:
        raise ValueError(f"{name!r} cannot be read as a plan: {error}") from error
    return plan, np.array([_answer(line["answer"], name, int(line["row"])) for line in table])


def _decoded(raw: bytes) -> str:
    """Return the text of a table: UTF-16 where its mark says so, as in Excel's "Unicode text", and else UTF-8.

    Some spreadsheets save in an encoding of their own: it is names alone that suffer, and nobody reads them here.
    """
    is_wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if is_wide else "utf-8-sig", errors="replace")


def _lines_of(text: str) -> list[dict[str, str]]:
    # A first line such as sep=; is not data: it tells Excel what separates the cells.
    first = re.match(r"\"?sep=(.)\"?[^\r\n]*(\r\n|\r|\n)", text, re.IGNORECASE)
    text = text[first.end() :] if first else text
    header = re.split(r"[\r\n]", text, maxsplit=1)[0]
    separator = first[1] if first else max(",;\t", key=header.count)
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restval="")
    lacking = [column for column in _HEAD if column not in (lines.fieldnames or ())]
    if lacking:
        raise ValueError(f"it lacks the column {lacking[0]!r}")
    table = [line for line in lines if any(value.strip() for value in line.values() if isinstance(value, str))]
    if not table:
        raise ValueError("it holds no row")
    return table


def _plan_of(table: list[dict[str, str]]) -> Plan:
    """Return the plan that the lines of a table, which are put in order, have been written for."""
    n = len(table)
    order = _whole_numbers(table, "order", low=1, high=MANY)
    table[:] = [table[i] for i in np.argsort(order, kind="stable")]
    about = dict(part.split(":", 1) for part in table[0]["plan"].split(" "))
    if {line["plan"] for line in table} != {table[0]["plan"]}:
        raise ValueError("its lines are of different plans")
    n_planned = _of_plan(about, "n", low=1)
    if n_planned != n or not np.array_equal(np.sort(order), np.arange(1, n + 1)):
        raise ValueError(f"it must have each of the {n_planned} rows of the plan once, got {n} lines")
    n_rows = _of_plan(about, "n_rows", low=n)
    rows = _whole_numbers(table, "row", low=0, high=n_rows - 1)
    place = _whole_numbers(table, "place", low=0, high=n_rows - 1)
    stratum = _whole_numbers(table, "stratum", low=0, high=n - 1)  # each has a line at least
    end = _whole_numbers(table, "stratum_end", low=1, high=n_rows)
    score, least = _scores(table, "score"), _scores(table, "stratum_lowest")
    _refuse_repeated(table, "row", rows)
    _refuse_repeated(table, "place", place)
    ends, lowest = _strata(table, place, stratum, end, least)
    _refuse_rising(table, place, score)
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
        goal=check_choice("the goal of the plan", about["goal"], GOALS),
        k=None if about["k"] == "None" else _of_plan(about, "k", low=1, high=n_rows),
        n_before=_of_plan(about, "n_before", low=0, high=n),
        seed=_of_plan(about, "seed", low=0),
        fingerprint=about["fingerprint"].removeprefix("x"),
    )


def _of_plan(about: dict[str, str], name: str, *, low: int, high: int = MANY) -> int:
    """Return a whole number that each line says of the plan."""
    number = int(about[name])
    if not low <= number <= high:
        raise ValueError(f"its plan must have {name} from {low} to {high}, got {short(number)}")
    return number


def _whole_numbers(table: list[dict[str, str]], column: str, *, low: int, high: int) -> NDArray[np.int64]:
    """Return the whole numbers of a column after checking that each is within [low, high]."""
    numbers = []
    for line in table:
        text = line[column] or ""
        number = int(text) if re.fullmatch(r"\s*[+-]?\d{1,30}\s*", text) else None
        if number is None or not low <= number <= high:
            most = f"from {low} to {high}" if high < MANY else f">= {low}"
            raise ValueError(f"{column} must be a whole number {most}, got {short(text)} for {_which(line)}")
        numbers.append(number)
    return np.array(numbers, dtype=np.int64)


def _scores(table: list[dict[str, str]], column: str) -> NDArray[np.float64]:
    """Return the scores of a column; some spreadsheets write them with a decimal comma."""
    scores = []
    for line in table:
        text = line[column] or ""
        try:
            score = float(text.replace(",", "."))
        except ValueError:
            score = np.nan
        if np.isnan(score):
            raise ValueError(f"{column} must be a number, got {short(text)} for {_which(line)}")
        scores.append(score)
    return np.array(scores)


def _which(line: dict[str, str]) -> str:
    """Name a line of the table by its row and by its number in the order in which to check them."""
    row, order = (short((line[column] or "").strip()).strip("'\"") for column in ("row", "order"))
    return f"row {row} (order {order})"


def _refuse_repeated(table: list[dict[str, str]], column: str, numbers: NDArray[np.int64]) -> None:
    """Raise ValueError if two lines have the same number in a column that has each number once."""
    _, first, times = np.unique(numbers, return_index=True, return_counts=True)
    if (times > 1).any():
        again = first[times > 1][0]
        orders = ", ".join(table[i]["order"].strip() for i in np.flatnonzero(numbers == numbers[again]))
        raise ValueError(f"each {column} must be there once, got {column} {numbers[again]} for the orders {orders}")


def _refuse_rising(table: list[dict[str, str]], place: NDArray[np.int64], score: NDArray[np.float64]) -> None:
    """Raise ValueError if a row has a larger score than one above it, as where one column alone was sorted."""
    order = np.argsort(place)
    rises = np.flatnonzero(np.diff(score[order]) > 0)
    if rises.size:
        above, below = (table[order[rises[0] + i]] for i in (0, 1))
        raise ValueError(
            f"score must not rise from one place to the next, got {short(above['score'])} for {_which(above)} "
            f"at place {above['place']} and {short(below['score'])} for {_which(below)} at place {below['place']}"
        )


def _strata(
    table: list[dict[str, str]],
    place: NDArray[np.int64],
    stratum: NDArray[np.int64],
    end: NDArray[np.int64],
    least: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the end and the least score of each stratum, after checking that all lines say the same of it."""
    _, first = np.unique(stratum, return_index=True)
    if (missing := np.flatnonzero(stratum[first] != np.arange(first.size))).size:
        raise ValueError(f"strata must be numbered 0, 1, 2, ..., each with a row, got none for stratum {missing[0]}")
    ends, lowest = end[first], least[first]
    for column, found, of_stratum in (("stratum_end", end, ends), ("stratum_lowest", least, lowest)):
        if (other := np.flatnonzero(found != of_stratum[stratum])).size:
            line, first_line = table[other[0]], table[first[stratum[other[0]]]]
            raise ValueError(
                f"{column} must be the same for all rows of stratum {stratum[other[0]]}, got "
                f"{short(first_line[column])} for {_which(first_line)} and {short(line[column])} for {_which(line)}"
            )
    starts = np.append(0, ends[:-1])
    outside = np.flatnonzero((place < starts[stratum]) | (place >= ends[stratum]))
    if outside.size:
        at = outside[0]
        raise ValueError(
            f"place must be within stratum {stratum[at]}, from {starts[stratum[at]]} to {ends[stratum[at]] - 1}, "
            f"got {place[at]} for {_which(table[at])}"
        )
    return ends, lowest


def _answer(text: str | None, name: str, row: int) -> float:
    word = (text or "").strip().lower()
    if word not in _ANSWERS:
        raise ValueError(
            f"{name!r} must answer yes, no or nothing (also 1 and 0, true and false), got {short(text)} for row {row}"
        )
    return _ANSWERS[word]
