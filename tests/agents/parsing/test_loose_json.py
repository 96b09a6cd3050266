"""Objects and lists are found in any text, and guessing at broken ones has its end."""

from __future__ import annotations

import json_repair
import pytest

from agents.parsing.loose_json import find_containers, repair_json


def test_the_outermost_containers_are_found(subtests):
    for text, spans in [
        ("", []),
        ("no brackets", []),
        ("{}", [(0, 2)]),
        ("a {b} c {d}", [(2, 5), (8, 11)]),
        ('{"a": "}"}', [(0, 10)]),
        ("{'a': '}'}", [(0, 10)]),
        ('{"a": [{}]} {', [(0, 11), None]),
        ("[{}]", [(0, 4)]),
        ("[a note] {}", [(9, 11)]),
        ('["x"]', [(0, 5)]),
        ("{]", [None]),
        ("{{}", [None]),
        ('{"', [None]),
    ]:
        with subtests.test(text=text):
            assert list(find_containers(text)) == spans


def test_guessing_is_given_up_for_long_documents(subtests):
    for pattern in ["{", '["', '{"', '["a"', '"']:
        with subtests.test(pattern=pattern):
            assert repair_json(pattern * 20_000) is None


def test_a_document_on_which_the_guesser_itself_fails_is_not_read():
    failing = "{'```json```9"
    with pytest.raises(AssertionError):
        json_repair.loads(failing)

    assert repair_json(failing) is None
