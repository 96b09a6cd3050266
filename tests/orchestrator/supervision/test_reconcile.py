"""What is not as it was committed to becomes a trigger, and any trigger escalates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.supervision.reconcile import TRIGGER_LIMIT, TRIGGER_TEXT_LIMIT, reconcile
from tests.fakes.supervised import a_commitment, an_assessment

texts = st.lists(st.text(max_size=400), max_size=40)


def test_a_clean_step_has_no_triggers_and_does_not_escalate():
    assert reconcile(a_commitment(), an_assessment()) == {"triggers": [], "escalate": False}


@pytest.mark.parametrize(
    ("commitment", "assessment", "findings", "trigger"),
    [
        ({}, {"met_commitment": False}, [], "commitment_not_met"),
        ({}, {"deviations": ["a title"]}, [], "deviation:a title"),
        ({}, {"concerns": ["the metre"]}, [], "concern:the metre"),
        ({}, {"unexpected": ["a frog"]}, [], "unexpected:a frog"),
        ({}, {}, ["71 words, expected 40 to 60"], "evaluation:71 words, expected 40 to 60"),
        ({"assumptions": ["a", "b", "c"]}, {}, [], "excess_assumptions:3"),
        ({"readable": False}, {}, [], "commitment_unreadable"),
        ({}, {"readable": False}, [], "commitment_not_met"),
    ],
)
def test_each_signal_alone_makes_its_trigger_and_escalates(commitment, assessment, findings, trigger):
    reconciled = reconcile(a_commitment(**commitment), an_assessment(**assessment), findings, 2)
    assert reconciled == {"triggers": [trigger], "escalate": True}


@pytest.mark.parametrize(
    ("count", "bound", "triggers"), [(2, 2, []), (90, None, []), (1, 0, ["excess_assumptions:1"])]
)
def test_more_assumptions_than_allowed_are_a_trigger(count, bound, triggers):
    reconciled = reconcile(a_commitment(assumptions=["a"] * count), an_assessment(), [], bound)

    assert reconciled["triggers"] == triggers


def test_what_is_certain_comes_before_what_the_executor_says():
    reconciled = reconcile(
        a_commitment(readable=False, assumptions=["x"]),
        an_assessment(met_commitment=False, deviations=["d1", "d2"], concerns=["c"], unexpected=["u"]),
        ["f"],
        0,
    )
    assert reconciled["triggers"] == [
        *("commitment_unreadable", "commitment_not_met", "excess_assumptions:1", "evaluation:f"),
        *("deviation:d1", "deviation:d2", "concern:c", "unexpected:u"),
    ]


def test_a_long_text_is_cut():
    reconciled = reconcile(a_commitment(), an_assessment(concerns=["x" * 1000]))
    assert reconciled["triggers"] == ["concern:" + "x" * (TRIGGER_TEXT_LIMIT - 1) + "…"]


@pytest.mark.parametrize(("count", "rest"), [(TRIGGER_LIMIT, []), (TRIGGER_LIMIT + 10, ["more:10"])])
def test_of_too_many_triggers_the_rest_is_counted(count, rest):
    triggers = reconcile(a_commitment(), an_assessment(concerns=["x"] * count))["triggers"]

    assert triggers == ["concern:x"] * TRIGGER_LIMIT + rest


said = st.fixed_dictionaries(
    {"met_commitment": st.booleans(), "deviations": texts, "concerns": texts, "unexpected": texts}
)


@given(st.booleans(), said, texts)
def test_it_escalates_exactly_where_something_is_not_as_committed_to(readable, assessed, findings):
    reconciled = reconcile(a_commitment(readable=readable), an_assessment(**assessed), findings)
    silent = not any(assessed[name] for name in ("deviations", "concerns", "unexpected"))
    clean = readable and assessed["met_commitment"] and silent and not findings
    assert reconciled["escalate"] is not clean
    assert bool(reconciled["triggers"]) is not clean
