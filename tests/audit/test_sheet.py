"""A plan goes into a spreadsheet and comes back with answers."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from fastpu import audit

FORMULAS = ("=", "+", "-", "@")


@pytest.fixture
def plan():
    return audit.plan(np.random.default_rng(0).normal(size=300), 20, goal="recall", k=50, random_state=0)


def lines_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write_lines(path, lines, delimiter=",", head=None):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, head or list(lines[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(lines)


@pytest.mark.parametrize("goal", ["count", "precision", "find"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_that_was_sorted_and_answered_gives_the_same_estimate(tmp_path, goal, delimiter):
    scores = np.random.default_rng(0).normal(size=300)
    plan = audit.plan(scores, 20, goal=goal, k=50, random_state=0)
    truth = scores > 0.5
    audit.write_csv(plan, tmp_path / "plan.csv")
    lines = lines_of(tmp_path / "plan.csv")
    for line in lines:
        line["answer"] = "Yes" if truth[int(line["row"])] else " no "
        line["my column"] = "x"
    lines[3]["answer"] = "?"
    lines.sort(key=lambda line: line["score"])
    write_lines(tmp_path / "back.csv", lines, delimiter, ["my column", *list(lines[0])[:-1]])
    back, answers = audit.read_csv(tmp_path / "back.csv")
    assert np.array_equal(back.rows, plan.rows)
    assert np.isnan(answers[3])
    assert np.array_equal(np.delete(answers, 3), np.delete(truth[plan.rows], 3))
    for name in ("count", "precision", "recall"):
        one, other = (getattr(audit.estimate(p, answers), name) for p in (plan, back))
        assert repr(one) == repr(other)
    more = audit.plan(scores, 10, goal=goal if goal != "precision" else "count", after=back, random_state=3)
    assert np.array_equal(more.rows[:20], plan.rows)


def test_names_are_safe_for_a_spreadsheet(tmp_path, plan):
    names = np.array([f"=1+{i}" if i % 2 else f"Zoë, {i}" for i in range(300)])
    audit.write_csv(plan, tmp_path / "plan.csv", names=names)
    for line in lines_of(tmp_path / "plan.csv"):
        assert line["name"] in (f"'=1+{line['row']}", f"Zoë, {line['row']}")
        assert not any(cell.startswith(("=", "@", "+")) for cell in line.values())
    with pytest.raises(ValueError, match="names must hold 300 names"):
        audit.write_csv(plan, tmp_path / "plan.csv", names=["a"])


@pytest.mark.parametrize("divider", [";", "\t", "\n", "\r"])
@pytest.mark.parametrize("before", ["", " ", '"', ' "'])
def test_no_part_of_a_name_begins_a_cell_as_a_formula(tmp_path, plan, divider, before):
    """Wherever a spreadsheet divides cells, and whether it keeps blanks and quotes there or not."""
    name = divider.join(["Ada", *(f"{before}{sign}1+1" for sign in FORMULAS), "a = b - c"])
    audit.write_csv(plan, tmp_path / "plan.csv", names=[name] * 300)
    (line,) = {line["name"] for line in lines_of(tmp_path / "plan.csv")}
    assert line.replace("'", "") == name
    raw = (tmp_path / "plan.csv").read_bytes().decode("utf-8-sig")
    for cell in re.split(f"[{divider}\\r\\n]", raw):
        assert not cell.lstrip(' "').startswith(FORMULAS)
    assert line.endswith("a = b - c")
    assert np.array_equal(audit.read_csv(tmp_path / "plan.csv")[0].rows, plan.rows)


def test_a_name_longer_than_a_cell_is_cut_off(tmp_path, plan):
    audit.write_csv(plan, tmp_path / "plan.csv", names=["long " * 40_000] * 300)
    assert max(len(line["name"]) for line in lines_of(tmp_path / "plan.csv")) < 32_767
    assert np.array_equal(audit.read_csv(tmp_path / "plan.csv")[0].rows, plan.rows)


def test_answers_that_a_table_of_numbers_has_are_read(tmp_path, plan):
    audit.write_csv(plan, tmp_path / "plan.csv")
    lines = lines_of(tmp_path / "plan.csv")
    for line, answer in zip(lines, ["1.0", "-1.0", "0.0", ""] * 5, strict=True):
        line["answer"] = answer
    write_lines(tmp_path / "back.csv", lines)
    assert np.array_equal(audit.read_csv(tmp_path / "back.csv")[1], [1, 0, 0, np.nan] * 5, equal_nan=True)


def test_a_table_in_another_encoding_is_read(tmp_path, plan):
    audit.write_csv(plan, tmp_path / "plan.csv", names=["Zoë"] * 300)
    text = (tmp_path / "plan.csv").read_text(encoding="utf-8-sig")
    (tmp_path / "back.csv").write_text(text, encoding="latin-1")
    assert np.array_equal(audit.read_csv(tmp_path / "back.csv")[0].rows, plan.rows)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-8"])
@pytest.mark.parametrize(("divider", "first"), [("\t", ""), (";", "sep=;\n"), (",", '"sep=,"\r\n'), ("|", "sep=|\n")])
def test_tables_that_say_what_divides_them_and_unicode_text_of_excel_are_read(tmp_path, plan, encoding, divider, first):
    audit.write_csv(plan, tmp_path / "plan.csv", names=["Zoë; a, b"] * 300)
    lines = lines_of(tmp_path / "plan.csv")
    for line in lines:
        line["answer"] = "no"
    write_lines(tmp_path / "plain.csv", lines, divider)
    (tmp_path / "back.csv").write_bytes((first + (tmp_path / "plain.csv").read_text(encoding="utf-8")).encode(encoding))
    back, answers = audit.read_csv(tmp_path / "back.csv")
    assert np.array_equal(back.rows, plan.rows)
    assert np.array_equal(answers, np.zeros(20))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("row", "-5", r"row must be a whole number from 0 to 299, got '-5' for row -5 \(order 3\)"),
        ("row", "300", "row must be a whole number from 0 to 299, got '300' for row 300"),
        ("row", "7.5", "row must be a whole number from 0 to 299, got '7.5' for row 7.5"),
        ("row", None, "each row must be there once, got row .* for the orders 2, 3"),
        ("place", "123456789", "place must be a whole number from 0 to 299, got '123456789' for row 30"),
        ("place", None, "each place must be there once, got place .* for the orders 2, 3"),
        ("place", "0", "place must be within stratum 3, from .* to 299, got 0 for row 30"),
        ("score", "nan", "score must be a number, got 'nan' for row 30"),
        ("score", "high", "score must be a number, got 'high' for row 30"),
        ("stratum", "1000000000000", "stratum must be a whole number from 0 to 19, got '1000000000000' for row 30"),
        ("stratum", "9", "strata must be numbered 0, 1, 2, ..., each with a row, got none for stratum 4"),
        (
            "stratum_end",
            "299",
            "stratum_end must be the same for all rows of stratum 3, got '299' for row 30 .* and '300'",
        ),
        ("stratum_end", "9" * 40, "stratum_end must be a whole number from 1 to 300, got '9"),
        ("stratum_lowest", "nan", "stratum_lowest must be a number, got 'nan' for row 30"),
        (
            "stratum_lowest",
            "-99",
            "stratum_lowest must be the same for all rows of stratum 3, got '-99' for row 30 .* and '-",
        ),
        ("score", "99", "score must not rise from one place to the next, got .* and '99' for row 30"),
    ],
)
def test_what_cannot_be_of_the_plan_is_refused_by_row_and_value(tmp_path, plan, column, value, message):
    audit.write_csv(plan, tmp_path / "plan.csv")
    lines = lines_of(tmp_path / "plan.csv")
    lines[2][column] = lines[1][column] if value is None else value
    write_lines(tmp_path / "back.csv", lines[::-1])
    with pytest.raises(ValueError, match=f"cannot be read as a plan: {message}"):
        audit.read_csv(tmp_path / "back.csv")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n_rows:300", "n_rows:7", "its plan must have n_rows from 20 to .*, got 7"),
        ("n_rows:300", f"n_rows:{10**30}", "its plan must have n_rows from 20"),
        ("k:50", "k:301", "its plan must have k from 1 to 300, got 301"),
        ("goal:recall", "goal:win", "the goal of the plan must be one of 'count', .*, got 'win'"),
        ("n_before:0", "n_before:-1", "its plan must have n_before from 0 to 20, got -1"),
        (" seed:", " seed:-", "its plan must have seed from 0"),
    ],
)
def test_what_no_plan_has_is_refused(tmp_path, plan, old, new, message):
    audit.write_csv(plan, tmp_path / "plan.csv")
    text = (tmp_path / "plan.csv").read_text(encoding="utf-8-sig")
    assert old in text
    (tmp_path / "back.csv").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=f"cannot be read as a plan: {message}"):
        audit.read_csv(tmp_path / "back.csv")


def test_cells_that_are_exchanged_are_refused_or_give_a_plan_that_can_be_estimated_from(tmp_path, plan):
    rng = np.random.default_rng(0)
    audit.write_csv(plan, tmp_path / "plan.csv")
    n_read = 0
    for _ in range(150):
        lines = lines_of(tmp_path / "plan.csv")
        (one, other), (from_, to) = rng.choice(20, 2, replace=False), rng.choice(list(lines[0]), 2)
        lines[one][from_], lines[other][to] = lines[other][to], lines[one][from_]
        write_lines(tmp_path / "back.csv", lines)
        try:
            back, _ = audit.read_csv(tmp_path / "back.csv")
        except ValueError:
            continue
        n_read += 1
        low, high = audit.estimate(back, np.arange(20) % 2).count.interval
        assert 10 <= low <= high <= 290
    assert 0 < n_read < 150


def changed(lines, how):
    if how == "a line is gone":
        return lines[1:]
    if how == "a line is twice":
        return [*lines, lines[0]]
    if how == "another plan":
        lines[0]["plan"] += "0"
    if how == "a number is none":
        lines[2]["place"] = "many"
    if how == "a line ends early":
        lines[0] = dict.fromkeys(lines[0], "") | {"order": "1", "row": "3"}
    if how == "a cell is too long":
        lines[0]["name"] = "x" * 200_000
    if how == "no line":
        return [dict.fromkeys(lines[0], "")]
    if how == "an answer is none":
        lines[2]["answer"] = "perhaps"
    if how == "a column is gone":
        for line in lines:
            del line["stratum"]
    return lines


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("a line is gone", "each of the 20 rows of the plan once, got 19 lines"),
        ("a line is twice", "each of the 20 rows of the plan once, got 21 lines"),
        ("another plan", "lines are of different plans"),
        ("a number is none", "place must be a whole number from 0 to 299, got 'many' for row 30 .order 3."),
        ("a line ends early", "cannot be read as a plan"),
        ("a cell is too long", "cannot be read as a plan: field larger"),
        ("no line", "cannot be read as a plan: it holds no row"),
        ("an answer is none", "must answer yes, no or nothing .*got 'perhaps' for row"),
        ("a column is gone", "lacks the column 'stratum'"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path, plan, how, message):
    audit.write_csv(plan, tmp_path / "plan.csv")
    write_lines(tmp_path / "back.csv", changed(lines_of(tmp_path / "plan.csv"), how))
    with pytest.raises(ValueError, match=message):
        audit.read_csv(tmp_path / "back.csv")


def test_an_empty_table_is_refused(tmp_path):
    (tmp_path / "none.csv").write_text("order,row\n")
    with pytest.raises(ValueError, match="lacks the column"):
        audit.read_csv(tmp_path / "none.csv")
    (tmp_path / "none.csv").write_text("x" * 200_000)
    with pytest.raises(ValueError, match="cannot be read as a plan"):
        audit.read_csv(tmp_path / "none.csv")
    with pytest.raises(OSError, match=r"no\.csv"):
        audit.read_csv(tmp_path / "no.csv")
