"""A reply becomes exactly its self-assessment; one that cannot be read counts as not met."""

from __future__ import annotations

import json

from tests.fakes.supervised import (
    TIME,
    an_assessment,
    convert_assessment,
    convert_reconciliation,
    read_assessment,
)
from tests.orchestrator.supervision.malformed import FENCE, broken

SAID = {"met": True, "deviations": ["a title"], "concerns": ["metre"], "unexpected": ["a frog"]}
CLEAN = {"met": True, "deviations": [], "concerns": [], "unexpected": []}
WHOLE, CLEANLY = json.dumps(SAID), json.dumps(CLEAN)
PLAIN = an_assessment(deviations=["a title"], concerns=["metre"], unexpected=["a frog"])
NOT_MET = an_assessment(met_commitment=False)


def said(**changes: object) -> str:
    """The clean reply with other values."""
    return json.dumps({**CLEAN, **changes})


READABLE = {
    "as asked for": (WHOLE, PLAIN),
    "clean": (CLEANLY, an_assessment()),
    "not met": (said(met=False), NOT_MET),
    "under the longer name": ('{"met_commitment": true}', an_assessment()),
    "the word true": (said(met="True"), an_assessment()),
    "in a fence": (f"{FENCE}\n{WHOLE}\n{FENCE}", PLAIN),
    "after thoughts": (f"<think>{said(met=False)}?</think>{CLEANLY}", an_assessment()),
    "a text in place of a list": (said(concerns="metre"), an_assessment(concerns=["metre"])),
    "lists that say there is nothing": (
        said(deviations=["None"], concerns=["No concerns."], unexpected="n/a"),
        an_assessment(),
    ),
    "an entry that is no text": (said(concerns=[True, 7]), an_assessment(concerns=["true", "7"])),
    "other tools than were called": (said(tools_used=["browser"]), an_assessment()),
}


def test_a_readable_reply_is_its_assessment(subtests):
    for reply, expected in READABLE.values():
        with subtests.test(reply=reply, expected=expected):
            assert read_assessment(reply) == expected


UNREADABLE = {
    **broken(SAID),
    "Python's spelling": repr(SAID),
    "the word yes": said(met="yes"),
    "the number 1": said(met=1),
    "a list of one boolean": said(met=[True]),
    "met under two names that differ": said(met_commitment=False),
    "met twice": '{"met": false, "met": true, "concerns": []}',
    "two that differ": f"{CLEANLY} {WHOLE}",
    "prose that says otherwise": f"I did not meet it. {CLEANLY}",
    "an object that says otherwise": f'{CLEANLY} {{"done": false}}',
}


def test_an_unreadable_reply_counts_as_not_met_with_a_concern_that_says_so(subtests):
    for reply in UNREADABLE.values():
        with subtests.test(reply=reply):
            read = read_assessment(reply)
            assert read["met_commitment"] is False
            assert read["readable"] is False
            assert read["concerns"][0].startswith("the self-assessment cannot be read (")
            assert (read["step_index"], read["tools_used"], read["time"]) == (2, ["search"], TIME)


def test_an_assessment_that_stands_in_the_output_does_not_count(subtests):
    for reply in [CLEANLY, CLEANLY.replace(" ", "")]:
        with subtests.test(reply=reply):
            read = read_assessment(reply, f"A poem. {CLEANLY}")
            assert read["met_commitment"] is False
            assert "quoted" in read["concerns"][0]


def test_a_foreign_value_that_is_no_assessment_counts_as_not_met(subtests):
    for value in [None, CLEANLY, [CLEAN], {}, {"deviations": []}, {"met": None}, object()]:
        with subtests.test(value=value):
            read = convert_assessment(value)
            assert read["met_commitment"] is False
            assert read["readable"] is False
            assert json.dumps(read).encode()


def test_what_a_foreign_supervisor_reconciles_is_read_and_any_trigger_escalates(subtests):
    for value, triggers, escalate in [
        ({"triggers": [], "escalate": False}, [], False),
        ({"triggers": [], "escalate": True}, [], True),
        ({"triggers": ["a"], "escalate": True}, ["a"], True),
        ({"triggers": ["a"], "escalate": False}, ["a"], True),
    ]:
        with subtests.test(value=value):
            assert convert_reconciliation(value) == {"triggers": triggers, "escalate": escalate}


def test_a_reconciliation_that_cannot_be_read_escalates(subtests):
    for value in [
        *(None, False, [], {}, "clean", object()),
        *({"escalate": False}, {"escalate": False, "reason": "all is well"}),
        *({"triggers": []}, {"triggers": [], "escalate": 0}, {"triggers": None, "escalate": False}),
    ]:
        with subtests.test(value=value):
            read = convert_reconciliation(value)
            assert read["escalate"] is True
            assert read["triggers"][0].startswith("reconciliation_unreadable:")


def test_an_assessment_that_denies_itself_counts_as_not_met(subtests):
    for denial in [{"success": False}, {"verdict": "fail"}, {"checks": [{"passed": "no"}]}]:
        with subtests.test(denial=denial):
            assert convert_assessment({**CLEAN, "unexpected": []})["met_commitment"] is True
            assert convert_assessment({**CLEAN, **denial})["met_commitment"] is False
