# ruff: noqa: E501
"""The checks agree with IFEval's own checkers around the limits of its arguments, or differ on purpose."""

import random
from collections import defaultdict

import pytest

from evaluation.checks import CheckContext, read_checks
from tests.evaluation.checks.ifeval import (
    PROMPTS,
    TO_CHECKS,
    check_officially,
    load_official,
    read_instructions,
    to_checks,
)
from tests.evaluation.checks.mutations import make_outputs

LEAST = {
    "length_constraints:number_sentences": 0.95,
    "language:response_language": 0.93,
    # These two ask for English, too.
    "change_case:english_capital": 0.95,
    "change_case:english_lowercase": 0.95,
}


def compare(seed=14):
    """Return per instruction the agreements, and the outputs on which the verdicts differ."""
    registry, rng = load_official(), random.Random(seed)
    agreed, differing = defaultdict(list), defaultdict(list)
    for name, arguments, prompt in read_instructions():
        if name not in TO_CHECKS:
            continue
        checks = read_checks(to_checks(name, arguments))
        for output in make_outputs(name, arguments, rng):
            official = check_officially(registry, name, arguments, output)
            context = CheckContext(output, prompt)
            verdicts = [check.evaluate(context).passed for check in checks]
            ours = False if False in verdicts else None if None in verdicts else True
            agreed[name].append((official, ours))
            if ours is not official:
                differing[name].append((arguments, official, ours, output))
    return agreed, differing


@pytest.mark.skipif(not PROMPTS.is_file(), reason="needs IFEval's prompts in $EVALUATION_DATA/ifeval")
def test_the_checks_agree_with_the_official_checkers():
    agreed, differing = compare()

    for name, pairs in agreed.items():
        share = sum(official is ours for official, ours in pairs) / len(pairs)
        assert share >= LEAST.get(name, 0.99), (name, share, differing[name][:3])
        assert {official for official, _ in pairs} == {True, False}, name


BOLD_ITEMS = "* **First** point\n* **Second** point"
DIFFERENCES = [
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "Text\n\n---\n\nText", True, False),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*Italic* text", True, False),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "• An item", False, True),
    ("detectable_format:constrained_response", {}, "My answer is yes. My answer is no.", True, False),
    # Chinese is written without spaces; the official pattern takes the whole for one word.
    ("length_constraints:number_words", {"relation": "at least", "num_words": 5}, "今天天气很好", False, True),
    ("language:response_language", {"language": "en"}, "1234 !!", True, None),
]  # fmt: skip


def test_a_known_difference(subtests):
    for difference in DIFFERENCES:
        with subtests.test(difference=difference):
            registry = load_official()
            name, arguments, output, official, ours = difference
            (check,) = read_checks(to_checks(name, arguments))

            assert check_officially(registry, name, arguments, output) is official
            assert check.evaluate(CheckContext(output)).passed is ours
