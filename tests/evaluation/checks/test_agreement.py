"""The checks agree with IFEval's own checkers on outputs around the limits of its arguments."""

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
