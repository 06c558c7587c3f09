"""Figures on the pages are those of the tables that they come from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench/does_it_help"

if not BENCH.is_dir():
    pytest.skip("needs the source tree", allow_module_level=True)

sys.path.append(str(BENCH))

from check_figures import Claim, agree, claims, flaws, flaws_of, unclaimed  # noqa: E402

TABLE = """### Over tables: 65 tables

| learner | AUC, 5 labels | wins |
| --- | --- | --- |
| fit_forest | **0.845** | 27, 28, 10 |
"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/t.md").write_text(TABLE)
    (tmp_path / "docs/other.md").write_text("It has .42 there.")
    (tmp_path / "README.md").write_text("Its AUC is\n.85 with 5 labels, it wins on 27.\n\n    .99 is code\n")
    return tmp_path


def sourced(words: str, *sources: str) -> Claim:
    return Claim("README.md", words, sources, 1)


def test_every_figure_on_the_pages_is_that_of_its_table():
    assert flaws() == []


def test_a_claim_holds_where_its_numbers_are_those_of_the_table(site):
    cell = "t.md > Over tables > fit_forest > AUC, 5 labels"
    words = "Its AUC is .85 with 5 labels, it wins on 27."
    assert flaws_of(sourced(words, cell, "-", "t.md > Over > fit_forest > wins [0]"), site) == []
    assert "27 is 28.0" in flaws_of(sourced(words, cell, "-", "t.md > Over > fit_forest > wins [1]"), site)[0]
    assert "3 numbers and 2 sources" in flaws_of(sourced(words, cell, "-"), site)[0]
    assert "does not say" in flaws_of(sourced("Its AUC is .86", cell), site)[0]
    assert "there is no t.md" in flaws_of(sourced("Its AUC is .85", "t.md > Over > fit_isvm > wins"), site)[0]
    assert ".85 is not in other.md" in flaws_of(sourced("Its AUC is .85", "in other.md"), site)[0]


def test_a_table_may_have_no_head_above_its_first_cells(site):
    (site / "docs/speed.md").write_text(
        "### Boosting\n\n| | threads | ours |\n|---|---|---|\n| a round | 1 | 0.51 ms |\n"
    )
    (site / "README.md").write_text("A round takes 0.51 ms.")
    assert flaws_of(sourced("A round takes 0.51 ms", "speed.md > Boosting > a round > ours"), site) == []
    assert "0.51 is 1.0" in flaws_of(sourced("takes 0.51 ms", "speed.md > Boosting > a round > threads"), site)[0]


def test_a_figure_without_a_claim_is_named(site):
    assert len(unclaimed(site, [], "README.md")) == 1
    assert unclaimed(site, [sourced("Its AUC is .85", "-")], "README.md") == []


@pytest.mark.parametrize(
    ("number", "known", "is_right"),
    [(".85", 0.845, True), (".84", 0.845, True), (".84", 0.8451, False), ("1,000", 1000.0, True),
     ("+.003", -0.003, False), (".003", -0.003, True), ("28", 27.0, False)],
)  # fmt: skip
def test_a_number_is_right_if_rounded_right(number, known, is_right):
    assert agree(number, known) == is_right


def test_claims_are_read_with_a_source_for_each_number():
    text = "# README\n\nREADME.md: is: .85\n    a > b > c > d\n    -\nindex.md: no\n"
    assert claims(text) == [Claim("README.md", "is: .85", ("a > b > c > d", "-"), 3), Claim("index.md", "no", (), 6)]
