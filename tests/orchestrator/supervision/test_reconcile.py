"""What is not as it was committed to becomes a trigger, and any trigger escalates."""

from __future__ import annotations

from orchestrator.supervision.modes import TRIGGER_LIMIT, reconcile
from tests.fakes.supervised import a_commitment, an_assessment


def test_each_signal_alone_makes_its_trigger_and_escalates(subtests):
    for commitment, assessment, findings, trigger in [
        ({}, {"met_commitment": False}, [], "commitment_not_met"),
        ({}, {"deviations": ["a title"]}, [], "deviation:a title"),
        ({}, {"concerns": ["the metre"]}, [], "concern:the metre"),
        ({}, {"unexpected": ["a frog"]}, [], "unexpected:a frog"),
        ({}, {}, ["71 words, expected 40 to 60"], "evaluation:71 words, expected 40 to 60"),
        ({"assumptions": ["a", "b", "c"]}, {}, [], "excess_assumptions:3"),
        ({"readable": False}, {}, [], "commitment_unreadable"),
        ({}, {"readable": False}, [], "commitment_not_met"),
    ]:
        with subtests.test(commitment=commitment, assessment=assessment):
            reconciled = reconcile(a_commitment(**commitment), an_assessment(**assessment), findings, 2)
            assert reconciled == {"triggers": [trigger], "escalate": True}


def test_what_is_certain_comes_before_what_the_executor_says():
    reconciled = reconcile(
        a_commitment(readable=False, assumptions=["x"]),
        an_assessment(met_commitment=False, deviations=["d1", "d2"], concerns=["c"], unexpected=["u"]),
        ["f"],
        0,
    )
    assert reconciled["triggers"] == [
        *("commitment_unreadable", "evaluation:f", "commitment_not_met", "excess_assumptions:1"),
        *("deviation:d1", "deviation:d2", "concern:c", "unexpected:u"),
    ]


def test_of_too_many_triggers_the_rest_is_counted(subtests):
    for count, rest in [(TRIGGER_LIMIT, []), (TRIGGER_LIMIT + 10, ["more:10"])]:
        with subtests.test(count=count):
            triggers = reconcile(a_commitment(), an_assessment(concerns=["x"] * count))["triggers"]

            assert triggers == ["concern:x"] * TRIGGER_LIMIT + rest
