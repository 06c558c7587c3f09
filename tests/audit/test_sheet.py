"""A plan goes into a spreadsheet and comes back with answers."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from fastpu import audit


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
        ("a number is none", "cannot be read as a plan: invalid literal"),
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
