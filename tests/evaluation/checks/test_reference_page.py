"""The reference page of the checks is current, and accounts for every kind of the two benchmarks."""

import re

from tests.evaluation.checks.ifeval import TO_CHECKS, find_official, load_official
from tests.evaluation.checks.reference import PAGE, build_table, read_table


def test_the_table_of_checks_is_current():
    assert read_table() == build_table(), "python -m tests.evaluation.checks.reference writes it"


def test_each_kind_of_ifeval_but_two_can_be_said():
    assert set(load_official()) - set(TO_CHECKS) == {
        "detectable_format:multiple_sections",
        "length_constraints:nth_paragraph_first_word",
    }


def test_each_kind_of_ifbench_is_named_once():
    registry = (find_official() / "ifbench" / "instructions_registry.py").read_text(encoding="utf-8")
    kinds = set(re.findall(r'^    "([a-z]+:[a-z_-]+)":', registry, re.MULTILINE))
    _, _, section = PAGE.read_text(encoding="utf-8").partition("## IFBench")
    named = re.findall(r"\b[a-z]+:[a-z_-]+", re.sub(r"\(http\S*|`[^`]*`", "", section))

    assert len(kinds) == 58
    assert sorted(named) == sorted(kinds)
