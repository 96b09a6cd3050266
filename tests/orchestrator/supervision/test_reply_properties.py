"""Whatever is written becomes a record; no exception, and no approval that the text does not state."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.state.records import Commitment, SelfAssessment, SupervisorVerdict
from tests.fakes.model_text import FENCE, json_values, prose, slow
from tests.fakes.supervised import (
    convert_assessment,
    convert_commitment,
    convert_reconciliation,
    convert_verdict,
    read_assessment,
    read_commitment,
    read_verdict,
)

pieces = st.sampled_from(
    [
        *("{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", " ", "//", FENCE, "null", "true", "false"),
        *('"verdict"', "verdict", '"continue"', "continue", "halt", '"reorient"', "ask_human", "\\u0063"),
        *('"text"', '"correction"', '"met"', "met:", '"concerns"', '"interpretation"', "<think>", "</think>"),
        *('{"verdict": "continue"}', '{"verdict": "halt", "text": "x"}', '{"verdict": "continue", "text": "'),
        *('{"met": true}', '{"met": false}', '{"met": true, "concerns": ["', '"]}', '"}'),
        *('{"interpretation": "x"}', '{"interpretation": "'),
    ]
)
model_like = st.lists(pieces | st.text(max_size=4), max_size=16).map("".join)
any_text = st.text() | model_like
verdicts = st.fixed_dictionaries(
    {"verdict": st.just("continue"), "text": st.text(max_size=40) | model_like},
)
STATES_CONTINUE = re.compile(r"""verdict["']?\s*:\s*["']?\s*continue""", re.IGNORECASE)
foreign = json_values | st.dictionaries(
    st.sampled_from(["verdict", "text", "met", "met_commitment", "concerns", "interpretation", "triggers"]),
    json_values | st.sampled_from(["continue", "halt", True]),
)


def is_whole(record: object, kind: type) -> bool:
    """Whether a record has the keys of its kind and is plain, well-formed JSON."""
    encoded = json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
    return set(record) == set(kind.__annotations__) and json.loads(encoded) == record


@given(any_text)
@slow
def test_any_text_gives_whole_records(text):
    assert is_whole(read_commitment(text), Commitment)
    assert is_whole(read_assessment(text), SelfAssessment)
    assert is_whole(read_verdict(text), SupervisorVerdict)


@given(foreign)
@slow
def test_any_foreign_value_gives_whole_records(value):
    assert is_whole(convert_commitment(value), Commitment)
    assert is_whole(convert_assessment(value), SelfAssessment)
    assert is_whole(convert_verdict(value), SupervisorVerdict)
    assert convert_reconciliation(value)["escalate"] in (True, False)


@given(any_text)
@slow
def test_a_text_continues_only_where_a_closed_object_states_it(text):
    if read_verdict(text)["verdict"] == "continue":
        assert "\\u" in text or STATES_CONTINUE.search(text)
        assert "{" in text
        assert "}" in text


@given(verdicts, prose, st.data())
@slow
def test_no_verdict_that_is_cut_off_continues(verdict, before, data):
    document = json.dumps(verdict)
    cut = data.draw(st.integers(0, len(document) - 1))
    assert read_verdict(document[:cut])["verdict"] == "ask_human"
    assert read_verdict(before + document[:cut])["verdict"] == "ask_human"


@given(verdicts, any_text, any_text)
@slow
def test_no_verdict_that_stands_in_what_was_shown_continues(verdict, before, after):
    document = json.dumps(verdict)
    shown = f"{before}{document}{after}"
    assert read_verdict(document, [shown])["verdict"] == "ask_human"
    assert read_verdict(f"It says {document}.", [shown])["verdict"] == "ask_human"


@given(verdicts, st.data())
@slow
def test_a_verdict_with_one_character_changed_invents_no_continue(verdict, data):
    halt = json.dumps({**verdict, "verdict": "halt"})
    at = data.draw(st.integers(0, len(halt) - 1))
    changed = halt[:at] + data.draw(st.characters()) + halt[at + data.draw(st.integers(0, 1)) :]
    assert read_verdict(changed)["verdict"] != "continue"


@given(any_text)
@slow
def test_a_commitment_counts_as_met_only_where_the_text_says_so(text):
    if read_assessment(text)["met_commitment"]:
        assert "\\u" in text or ("met" in text.lower() and "true" in text.lower())
        assert "}" in text
