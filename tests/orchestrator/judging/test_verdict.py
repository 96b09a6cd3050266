"""What the monitor answers is read as a verdict, or as none."""

from __future__ import annotations

from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.judging.judging_calls import read_verdict

GOOD = {"success": True, "feedback": "good"}
BAD = {"success": False, "feedback": "bad"}


def test_a_monitors_answer_is_read_as(subtests):
    for answer, verdict in [
        (GOOD, GOOD),
        (BAD, BAD),
        ({**GOOD, "score": 1}, GOOD),
        (MappingProxyType(GOOD), GOOD),
        ({"success": False, "feedback": ""}, {"success": False, "feedback": ""}),
        ({"success": False, "feedback": "It Failed to parse monitoring response: x"},) * 2,
        (
            {"success": True, "feedback": "Failed to parse monitoring response: x"},
            {"success": True, "feedback": "Failed to parse monitoring response: x"},
        ),
        ({"success": False, "feedback": "Failed to parse monitoring response: x"}, None),
        ({"success": "true", "feedback": "good"}, None),
        ({"success": 1, "feedback": "good"}, None),
        ({"success": True, "feedback": None}, None),
        ({**GOOD, "verdict": "fail"}, None),
        ({}, None),
        ([GOOD], None),
        ("success", None),
        (True, None),
        (None, None),
    ]:
        with subtests.test(answer=answer, verdict=verdict):
            assert read_verdict(answer) == verdict


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["success", "feedback", "x"]), inner),
    )
)
def test_no_answer_is_a_success_unless_it_says_so(answer):
    verdict = read_verdict(answer)

    if verdict is not None and verdict["success"]:
        assert answer["success"] is True
