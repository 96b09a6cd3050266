"""Scores of the rules on the labelled sets: one floor of precision and recall for each half of a set."""

import pytest

from tests.evaluation.checks.ifeval import PROMPTS
from tests.evaluation.task_checks.corpus import measure, read_set

NEEDS_PROMPTS = pytest.mark.skipif(not PROMPTS.exists(), reason="no data")
FLOORS = [
    ("demands", "dev", 0.95, 0.58),
    ("demands", "held-out", 0.93, 0.56),
    ("wordings", "dev", 0.98, 0.62),
    ("wordings", "held-out", 0.97, 0.75),
    ("requests", "dev", 0.98, 0.55),
    ("requests", "held-out", 0.89, 0.52),
    ("users", "dev", 0.88, 0.36),
    ("users", "held-out", 0.82, 0.37),
    pytest.param("ifeval", "dev", 0.97, 0.85, marks=NEEDS_PROMPTS),
    pytest.param("ifeval", "held-out", 0.95, 0.71, marks=NEEDS_PROMPTS),
]


@pytest.mark.parametrize(("name", "half", "precision", "recall"), FLOORS)
def test_the_rules_keep_their_scores(name, half, precision, recall):
    score = measure(read_set(name, half)).score

    assert score.right / (score.right + score.wrong + score.beyond) >= precision, score
    assert score.right / (score.right + score.missed) >= recall, score


def test_few_mentions_of_a_form_give_a_check(subtests):
    for half, share in [("dev", 0.02), ("held-out", 0.04)]:
        with subtests.test(half=half):
            figures = measure(read_set("mentions", half))

            assert figures.refusing / figures.score.tasks <= share
