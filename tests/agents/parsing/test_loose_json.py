from __future__ import annotations

import pytest

from agents.parsing.loose_json import find_containers, read_any_spelling, read_beginning


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


def test_json_is_read_in_the_spellings_of_other_languages(subtests):
    for text, value in [
        ('{"a": 1,}', {"a": 1}),
        ("[1, 2, // done\n]", [1, 2]),
        ("{'a': 'it\\'s \"b\"'}", {"a": 'it\'s "b"'}),
        ("{a-b: True, c: [None, False]}", {"a-b": True, "c": [None, False]}),
        ('{"a": "True: None, // }"}', {"a": "True: None, // }"}),
        ("{'True': 'x:'} # done", {"True": "x:"}),
        ('{"a": "b\nc"}', {"a": "b\nc"}),
        (r'{"a": "C:\Users\new"}', {"a": r"C:\Users\new"}),
    ]:
        with subtests.test(text=text):
            assert read_any_spelling(text) == value


def test_what_only_a_guess_could_read_is_refused(subtests):
    for text, reason in [
        ('{"a": 1 "b": 2}', "cannot be read: Expecting ',' delimiter"),
        ("{a: b}", "cannot be read"),
        ('{"a": 1, ...}', "cannot be read"),
        ('["a", # ...\n]', "cannot be read"),
        ("{'a': 1, // …\n}", "cannot be read"),
        ('["a", /* b */]', "cannot be read"),
        ("['a", "cannot be read"),
        ('{"a": {"b": 1, "b": 2}}', "has the key 'b' twice"),
        ("{'a': 1, a: 2}", "has the key 'a' twice"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ]:
        with subtests.test(text=text), pytest.raises(ValueError, match=reason):
            read_any_spelling(text)


def test_the_beginning_of_json_is_read(subtests):
    for text, value in [
        ('{"a": [1, {"b": "c', {"a": [1, {"b": "c"}]}),
        ("{'a': 'b', 'c': True, 'd", {"a": "b", "c": True}),
        ("{'```json```9", {}),
        ("a", None),
        ('{"a": "b\ud800c', {"a": "b\ufffdc"}),
        ("[" * 100_000, None),
    ]:
        with subtests.test(text=text):
            assert read_beginning(text) == value
