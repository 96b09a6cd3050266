"""A reply becomes exactly its commitment; one that cannot be read is not readable."""

from __future__ import annotations

import json

from tests.fakes.supervised import TIME, a_commitment, convert_commitment, read_commitment
from tests.orchestrator.supervision.malformed import FENCE, broken

SAID = {
    "interpretation": "three lines about the sea",
    "scope_in": ["the poem"],
    "scope_out": ["a title"],
    "approach": "count syllables",
    "predicted_output": "three lines",
    "confidence": "high",
    "assumptions": ["English"],
}
WHOLE = json.dumps(SAID)
PLAIN = a_commitment(assumptions=["English"])


def said(**changes: object) -> str:
    """The whole reply with other values."""
    return json.dumps({**SAID, **changes})


READABLE = {
    "as asked for": (WHOLE, PLAIN),
    "in a fence": (f"{FENCE}json\n{WHOLE}\n{FENCE}", PLAIN),
    "with a further key": (said(mood="good"), PLAIN),
    "with keys in capitals": (json.dumps({key.upper(): value for key, value in SAID.items()}), PLAIN),
    "with an unknown confidence": (said(confidence="total"), {**PLAIN, "confidence": "low"}),
    "with medium confidence": (said(confidence="medium"), {**PLAIN, "confidence": "medium"}),
    "with a text in place of a list": (said(assumptions="English"), PLAIN),
    "with empty entries": (said(assumptions=["", None, "none", "English", [], {}, False]), PLAIN),
    "with an entry that is no text": (said(scope_in=[{"a": "ü"}]), {**PLAIN, "scope_in": ['{"a": "ü"}']}),
    "with an approach in a list": (said(approach=["a", "b"]), {**PLAIN, "approach": '["a", "b"]'}),
    "only interpreted": (
        '{"interpretation": "a poem"}',
        a_commitment(
            interpretation="a poem",
            scope_in=[],
            scope_out=[],
            approach="",
            predicted_output="",
            confidence="low",
        ),
    ),
}


def test_a_readable_reply_is_its_commitment(subtests):
    for reply, expected in READABLE.values():
        with subtests.test(reply=reply, expected=expected):
            assert read_commitment(reply) == expected


UNREADABLE = {
    **broken(SAID),
    "Python's spelling": repr(SAID),
    "a JSON string": json.dumps(WHOLE),
    "no interpretation": said(interpretation=""),
    "an interpretation that is none": said(interpretation="N/A"),
    "two that differ": f"{WHOLE} {said(approach='rhyme')}",
    "assumptions twice": '{"interpretation": "x", "assumptions": ["a", "b"], "assumptions": []}',
}


def test_an_unreadable_reply_is_no_readable_commitment(subtests):
    for reply in [*UNREADABLE.values()]:
        with subtests.test(reply=reply):
            read = read_commitment(reply)
            assert read["readable"] is False
            assert read["confidence"] == "low"
            assert (read["step_index"], read["instruction"], read["time"]) == (2, "Write a haiku", TIME)


def test_a_foreign_value_that_is_no_commitment_is_not_readable(subtests):
    for value in [None, WHOLE, [SAID], {}, {"approach": "x"}, object(), 7]:
        with subtests.test(value=value):
            read = convert_commitment(value)
            assert read["readable"] is False
            assert json.dumps(read).encode()
