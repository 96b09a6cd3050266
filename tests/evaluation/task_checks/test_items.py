"""A number of things that are the output is checked; one in a topic, a part or a given text is not."""

import json
from pathlib import Path

import pytest

from evaluation.task_checks import derive_checks

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("items.jsonl").read_text(encoding="utf-8").splitlines()
]
BOUNDS = ("exactly", "min", "max")


def read_items(task):
    return [
        {name: value for name in BOUNDS if (value := getattr(check, name)) is not None}
        for check in derive_checks(task).checks
        if check.check == "item_count"
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["task"])
def test_the_items_of_a_demand_are_counted_and_those_of_a_mention_are_not(row):
    assert read_items(row["task"]) == ([row["item_count"]] if "item_count" in row else [])


def test_the_table_has_demands_and_mentions():
    demands = [row for row in ROWS if "item_count" in row]

    assert len(demands) >= 55
    assert len(ROWS) - len(demands) >= 80


@pytest.mark.parametrize(
    ("task", "unchecked"),
    [
        ("Give me 3 tips for each city.", "3 tips"),
        ("Give me 4 names, separated by commas.", "4 names"),
        ("Write a blog post and then list 3 lessons.", "3 lessons"),
        ("Give me five ideas and ten titles.", "five ideas"),
        ("Write two limericks.", "two limericks"),
    ],
)
def test_a_number_that_may_not_be_all_of_the_output_is_unchecked(task, unchecked):
    assert any(unchecked in words for words in derive_checks(task).unchecked)
