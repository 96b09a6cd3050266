"""Whatever a model writes becomes a plan or a verdict; no exception, no success that it does not state."""

from __future__ import annotations

import json
import logging
import string
import sys

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agents import MonitoringAgent, PlanningAgent
from agents.contracts import UNREADABLE_PREFIX, Unreadable
from agents.loose_json import CONTAINER_LIMIT, containers, load_repaired
from agents.parsing import read_plan, read_verdict, without_thoughts
from agents.testing import ScriptedChatModel

UNREADABLE = "unreadable"
WHOLE = "the whole reply as one step"
FENCE = "```"
MEGABYTE = 1_000_000
BOM = "\ufeff"

VERDICTS: list[tuple[str, str, object]] = [
    # What is well formed, and what stands around it.
    ("plain success", '{"success": true, "feedback": "met"}', (True, "met")),
    ("plain failure", '{"success": false, "feedback": "too short"}', (False, "too short")),
    ("keys in the other order", '{"feedback": "met", "success": true}', (True, "met")),
    ("a further key", '{"success": true, "feedback": "met", "score": 9}', (True, "met")),
    ("space around", '\n\t {"success": true, "feedback": "met"} \n', (True, "met")),
    ("a json fence", f'{FENCE}json\n{{"success": true, "feedback": "met"}}\n{FENCE}', (True, "met")),
    ("a plain fence", f'{FENCE}\n{{"success": false, "feedback": "no"}}\n{FENCE}', (False, "no")),
    ("a fence that is never closed", f'{FENCE}json\n{{"success": true, "feedback": "met"}}', (True, "met")),
    ("prose before", 'Here you go: {"success": true, "feedback": "met"}', (True, "met")),
    ("prose after", '{"success": true, "feedback": "met"} Hope that helps!', (True, "met")),
    (
        "prose with an apostrophe around",
        'It\'s fine. {"success": true, "feedback": "met"} That\'s all.',
        (True, "met"),
    ),
    (
        "prose with other braces before",
        'In {curly} words: {"success": true, "feedback": "met"}',
        (True, "met"),
    ),
    ("prose with a footnote", 'As in [1]: {"success": true, "feedback": "met"}', (True, "met")),
    ("a byte order mark", BOM + '{"success": true, "feedback": "met"}', (True, "met")),
    ("braces in the feedback", '{"success": false, "feedback": "use {x} and }{"}', (False, "use {x} and }{")),
    ("quotes in the feedback", '{"success": true, "feedback": "says \\"ok\\""}', (True, 'says "ok"')),
    ("a raw line break in the feedback", '{"success": false, "feedback": "one\ntwo"}', (False, "one\ntwo")),
    (
        "control characters in the feedback",
        '{"success": false, "feedback": "a\x00\x1bb"}',
        (False, "a\x00\x1bb"),
    ),
    (
        "right-to-left text",
        '{"success": true, "feedback": "\u202eهدف \u05d8\u05d5\u05d1"}',
        (True, "\u202eهدف \u05d8\u05d5\u05d1"),
    ),
    ("half a surrogate pair", '{"success": false, "feedback": "a\\ud800b"}', (False, "a\ufffdb")),
    ("a whole surrogate pair", '{"success": false, "feedback": "\\ud83d\\ude00"}', (False, "\U0001f600")),
    (
        "a verdict within the feedback's text",
        '{"success": false, "feedback": "{\\"success\\": true}"}',
        (False, '{"success": true}'),
    ),
    ("one extra closing brace", '{"success": true, "feedback": "met"}}', (True, "met")),
    (
        "the same verdict twice",
        '{"success": true, "feedback": "a"} {"success": true, "feedback": "b"}',
        (True, "b"),
    ),
    ("an object about something else", '{"words": 17} {"success": true, "feedback": "met"}', (True, "met")),
    ("a list of one verdict", '[{"success": false, "feedback": "no"}]', (False, "no")),
    ("a verdict sent as a JSON string", json.dumps('{"success": true, "feedback": "met"}'), (True, "met")),
    # Other spellings of a complete object.
    ("single quotes", "{'success': true, 'feedback': 'met'}", (True, "met")),
    ("Python's literals", "{'success': True, 'feedback': None}", (True, "")),
    ("Python's False", "{'success': False, 'feedback': 'no'}", (False, "no")),
    (
        "an apostrophe escaped in single quotes",
        "{'success': true, 'feedback': 'it\\'s \"ok\"'}",
        (True, 'it\'s "ok"'),
    ),
    ("trailing comma", '{"success": true, "feedback": "met",}', (True, "met")),
    ("bare keys", '{success: true, feedback: "met"}', (True, "met")),
    ("line comments", '{"success": true, // as asked\n"feedback": "met" # done\n}', (True, "met")),
    ("capital keys", '{"Success": true, "FEEDBACK": "met"}', (True, "met")),
    ("capital literal", '{"success": TRUE, "feedback": "met"}', (True, "met")),
    ("a broken failure", '{"success": false "feedback": "no"}', (False, "no")),
    # Values.
    ("the word true", '{"success": "true", "feedback": "met"}', (True, "met")),
    ("the word false", '{"success": "false", "feedback": "no"}', (False, "no")),
    ("the word False with space", '{"success": " False ", "feedback": "no"}', (False, "no")),
    ("the word yes", '{"success": "yes", "feedback": "met"}', UNREADABLE),
    ("the number 1", '{"success": 1, "feedback": "met"}', UNREADABLE),
    ("the number 0", '{"success": 0, "feedback": "no"}', UNREADABLE),
    ("null", '{"success": null, "feedback": "?"}', UNREADABLE),
    ("NaN", '{"success": NaN, "feedback": "?"}', UNREADABLE),
    ("a list", '{"success": [true], "feedback": "met"}', UNREADABLE),
    ("an object", '{"success": {"value": true}, "feedback": "met"}', UNREADABLE),
    ("an empty text", '{"success": "", "feedback": "met"}', UNREADABLE),
    ("no feedback", '{"success": true}', (True, "")),
    ("feedback null", '{"success": false, "feedback": null}', (False, "")),
    ("feedback a list", '{"success": false, "feedback": ["a", "é"]}', (False, '["a", "é"]')),
    ("feedback a number", '{"success": false, "feedback": 7}', (False, "7")),
    ("feedback an object", '{"success": false, "feedback": {"why": "short"}}', (False, '{"why": "short"}')),
    ("feedback NaN", '{"success": false, "feedback": NaN}', (False, "NaN")),
    (
        "a failure with a nested success",
        '{"success": false, "feedback": "no", "d": {"success": true}}',
        (False, "no"),
    ),
    # What is no verdict.
    ("nothing", "", UNREADABLE),
    ("white space", " \n\t ", UNREADABLE),
    ("the literal null", "null", UNREADABLE),
    ("the literal true", "true", UNREADABLE),
    ("a number alone", "42", UNREADABLE),
    ("a JSON string", '"success"', UNREADABLE),
    ("an empty object", "{}", UNREADABLE),
    ("an empty list", "[]", UNREADABLE),
    ("a list of words", '["success", true]', UNREADABLE),
    ("prose that approves", "The objective was met. Success: true.", UNREADABLE),
    ("success only", '{"feedback": "met"}', UNREADABLE),
    ("a verdict one level down", '{"verdict": {"success": true, "feedback": "met"}}', UNREADABLE),
    ("a verdict as text one level down", '{"reply": "{\\"success\\": true}"}', UNREADABLE),
    ("another key that ends alike", '{"unsuccess": true, "feedback": "met"}', UNREADABLE),
    ("YAML", "success: true\nfeedback: met", UNREADABLE),
    ("XML", "<success>true</success>", UNREADABLE),
    ("a megabyte of prose", "well " * (MEGABYTE // 5), UNREADABLE),
    ("a megabyte of open braces", "{" * MEGABYTE, UNREADABLE),
    (
        "a hundred thousand lists in each other",
        '{"success": true, "feedback": ' + "[" * 100_000 + "]" * 100_000 + "}",
        UNREADABLE,
    ),
    ("a number of five thousand digits", '{"success": true, "feedback": ' + "9" * 5000 + "}", UNREADABLE),
    ("escaped quotes outside of a string", '{\\"success\\": true, \\"feedback\\": \\"met\\"}', UNREADABLE),
    ("typographic quotes", "{“success”: true, “feedback”: “met”}", UNREADABLE),
    # What was cut off.
    ("cut after the success", '{"success": true', UNREADABLE),
    ("cut within the feedback", '{"success": true, "feedback": "all is', UNREADABLE),
    ("cut before the brace", '{"success": true, "feedback": "met"', UNREADABLE),
    ("cut failure", '{"success": false, "feedback": "all is', UNREADABLE),
    ("cut in a fence", f'{FENCE}json\n{{"success": true, "feedback": "met"\n{FENCE}', UNREADABLE),
    ("a complete object in a cut one", '{"success": false, "part": {"success": true}', UNREADABLE),
    ("a complete object in a cut list", '[{"success": true, "feedback": "a"}, ', UNREADABLE),
    ("a second verdict that is cut", '{"success": true, "feedback": "a"} {"success": fal', UNREADABLE),
    ("closed with the wrong bracket", '{"success": true, "feedback": "met"]', UNREADABLE),
    ("cut within an escape", '{"success": true, "feedback": "a\\', UNREADABLE),
    ("an outer object whose beginning is lost", '"success": false, "part": {"success": true}}', UNREADABLE),
    # What contradicts itself, or could mean either.
    ("two verdicts", '{"success": false, "feedback": "no"} {"success": true, "feedback": "met"}', UNREADABLE),
    ("two verdicts in a list", '[{"success": true}, {"success": false}]', UNREADABLE),
    ("the key twice", '{"success": false, "success": true}', UNREADABLE),
    ("the key twice, once escaped", '{"success": false, "\\u0073uccess": true}', UNREADABLE),
    ("the key twice in two cases", '{"success": false, "Success": true}', UNREADABLE),
    ("the key twice, single quotes", "{'success': False, 'success': True}", UNREADABLE),
    ("the prompt's own example", '{"feedback": "one short reason", "success": true or false}', UNREADABLE),
    ("true or false with a slash", '{"success": true/false, "feedback": "met"}', UNREADABLE),
    ("true and false in a row", '{"success": true false}', UNREADABLE),
    ("not true", '{"success": not true, "feedback": "met"}', UNREADABLE),
    ("a comma for a colon", '{"success", true}', UNREADABLE),
    ("a key without its closing quote", '{"success: true}', UNREADABLE),
    ("a missing comma in a success", '{"success": true "feedback": "met"}', UNREADABLE),
    ("a missing value", '{"success": , "feedback": true}', UNREADABLE),
    (
        "a quoted claim that ends the text early",
        '{"feedback": "it wrote, "success": true, but no"}',
        UNREADABLE,
    ),
    ("a quoted verdict in unescaped quotes", '{"feedback": "it wrote {"success": true} but no"}', UNREADABLE),
    (
        "a quoted verdict after a broken off object",
        '{"feedback": "it ends "}, {"success": true}" and fails',
        UNREADABLE,
    ),
    ("prose that says false", 'success: false. {"success": true, "feedback": "met"}', UNREADABLE),
    ("a failure one level down beside a success", '{"a": {"success": false}} {"success": true}', UNREADABLE),
    ("a broken object about success beside one", '{"success": fal se, "x" y} {"success": true}', UNREADABLE),
    ("more objects than are read", "{} " * (CONTAINER_LIMIT + 1) + '{"success": true}', UNREADABLE),
    # Thoughts.
    (
        "a closed thought",
        '<think>{"success": false}</think>{"success": true, "feedback": "met"}',
        (True, "met"),
    ),
    (
        "a closed thought in capitals",
        '<THINK>hm</THINK>\n{"success": true, "feedback": "met"}',
        (True, "met"),
    ),
    (
        "another tag for thoughts",
        '<thinking>hm</thinking>{"success": true, "feedback": "met"}',
        (True, "met"),
    ),
    ("a thought that never ends", '<think>I would say {"success": true, "feedback": "met"}', UNREADABLE),
    (
        "a thought that only ends",
        'hm, {"a": 1}, so</think>{"success": false, "feedback": "no"}',
        (False, "no"),
    ),
    ("a thought that never ends after prose", 'Sure. <think>maybe {"success": true}', UNREADABLE),
    (
        "the end of a thought within an object",
        'V: {"success": false, "feedback": "</think> {"success": true}"}',
        UNREADABLE,
    ),
    ("two answers around the end of a thought", '{"success": false}</think>{"success": true}', UNREADABLE),
]


def verdict_of(reply: str) -> dict[str, object]:
    return dict(MonitoringAgent(ScriptedChatModel([reply])).evaluate("objective", "output"))


@pytest.mark.parametrize(
    ("reply", "expected"), [case[1:] for case in VERDICTS], ids=[case[0] for case in VERDICTS]
)
def test_a_judges_reply_becomes_exactly_this_verdict(reply, expected):
    success, feedback = (False, UNREADABLE_PREFIX + reply) if expected == UNREADABLE else expected
    assert verdict_of(reply) == {"success": success, "feedback": feedback}


def test_the_table_of_verdicts_is_large_and_has_no_case_twice():
    assert len({reply for _, reply, _ in VERDICTS}) == len(VERDICTS) >= 60


PLANS: list[tuple[str, str, object]] = [
    # Objects.
    ("plan", '{"plan": ["a b", "c d"]}', ["a b", "c d"]),
    ("steps", '{"steps": ["a b", "c d"]}', ["a b", "c d"]),
    ("a further key", '{"task": "t", "plan": ["a"]}', ["a"]),
    ("space around the steps", '{"plan": ["  a ", "\\tb\\n"]}', ["a", "b"]),
    ("empty steps", '{"plan": ["a", "", "  ", "b"]}', ["a", "b"]),
    ("steps with a description", '{"plan": [{"description": "a"}, {"description": "b"}]}', ["a", "b"]),
    ("steps with a number and a description", '{"plan": [{"step": 1, "description": "a"}]}', ["a"]),
    ("steps with a step", '{"steps": [{"step": "a", "note": "n"}]}', ["a"]),
    ("steps with a task", '{"plan": [{"id": 1, "task": "a"}]}', ["a"]),
    ("steps with a name only", '{"plan": [{"name": "a"}]}', ["a"]),
    ("strings and objects", '{"plan": ["a", {"action": "b"}]}', ["a", "b"]),
    ("a plan in a plan", '{"plan": {"steps": ["a", "b"]}}', ["a", "b"]),
    ("numbered entries", '{"plan": {"1": "a", "2": "b"}}', ["a", "b"]),
    ("the plan as one text", '{"plan": "write it"}', ["write it"]),
    ("the plan as a numbered text", '{"plan": "1. a\\n2. b"}', ["a", "b"]),
    ("the plan as a list in a text", '{"plan": "[\\"a\\", \\"b\\"]"}', ["a", "b"]),
    ("an empty plan", '{"plan": []}', []),
    ("an empty plan object", '{"plan": {}}', []),
    ("an empty plan text", '{"plan": ""}', []),
    ("a plan of empty texts", '{"plan": ["", " "]}', []),
    ("braces in a step", '{"plan": ["fill {name} in"]}', ["fill {name} in"]),
    ("JSON in a step", '{"plan": ["send {\\"plan\\": []}"]}', ['send {"plan": []}']),
    ("a raw line break in a step", '{"plan": ["a\nb"]}', ["a\nb"]),
    ("control characters", '{"plan": ["a\x00\x1bb"]}', ["a\x00\x1bb"]),
    ("right-to-left text", '{"plan": ["\u202eاكتب قصيدة"]}', ["\u202eاكتب قصيدة"]),
    ("half a surrogate pair", '{"plan": ["a\\udc00"]}', ["a\ufffd"]),
    ("a key twice: the last one counts", '{"plan": ["a"], "plan": ["b"]}', ["b"]),
    ("a key escaped", '{"\\u0070lan": ["a"]}', ["a"]),
    # Around the object.
    ("a json fence", f'{FENCE}json\n{{"plan": ["a"]}}\n{FENCE}', ["a"]),
    ("a plain fence", f'{FENCE}\n["a", "b"]\n{FENCE}', ["a", "b"]),
    ("a fence in prose", f'Sure:\n{FENCE}json\n{{"plan": ["a"]}}\n{FENCE}\nEnjoy!', ["a"]),
    ("a fenced list in prose", f'Sure:\n{FENCE}json\n["a", "b"]\n{FENCE}\nEnjoy!', ["a", "b"]),
    ("a fence that is never closed", f'{FENCE}json\n{{"plan": ["a"]}}', ["a"]),
    ("prose before", 'The plan is {"plan": ["a"]}', ["a"]),
    ("prose after", '{"plan": ["a"]} Good luck!', ["a"]),
    ("another object before", '{"task": "t"} {"plan": ["a"]}', ["a"]),
    ("a list before the plan", 'Inputs: ["x"]. {"plan": ["a"]}', ["a"]),
    ("a byte order mark", BOM + '{"plan": ["a"]}', ["a"]),
    ("sent as a JSON string", json.dumps('{"plan": ["a"]}'), ["a"]),
    ("a closed thought", '<think>["x"]</think>{"plan": ["a"]}', ["a"]),
    ("another tag for thoughts", '<thinking>["x"]</thinking>{"plan": ["a"]}', ["a"]),
    ("a thought that only ends", 'so 1. x\n</think>\n{"plan": ["a"]}', ["a"]),
    ("a thought that never ends", '<think>{"plan": ["a"]}', []),
    # Lists.
    ("a bare list", '["a", "b"]', ["a", "b"]),
    ("a bare list of objects", '[{"title": "a"}, {"objective": "b"}]', ["a", "b"]),
    ("an empty list", "[]", []),
    # Other spellings, and what is broken.
    ("single quotes", "{'plan': ['a', 'it\\'s b']}", ["a", "it's b"]),
    ("trailing commas", '{"plan": ["a", "b",],}', ["a", "b"]),
    ("bare key", '{plan: ["a"]}', ["a"]),
    ("comments", '{"plan": ["a", // first\n"b"] # done\n}', ["a", "b"]),
    ("Python's literals", "{'plan': ['a'], 'done': False, 'x': None}", ["a"]),
    ("a missing comma", '{"plan": ["a" "b"]}', ["a", "b"]),
    ("cut after a step", '{"plan": ["a", "b"', ["a", "b"]),
    ("cut within a step", '{"plan": ["a", "writ', ["a", "writ"]),
    ("cut list", '["a", "b"', ["a", "b"]),
    ("cut in a fence", f'{FENCE}json\n{{"plan": ["a"', ["a"]),
    # Lists in plain text.
    ("numbered", "1. a\n2. b\n3. c", ["a", "b", "c"]),
    ("numbered with parentheses", "1) a\n2) b", ["a", "b"]),
    ("numbered with words", "Step 1: a\nStep 2: b", ["a", "b"]),
    ("numbered after prose", "Here it is:\n\n1. a\n2. b\n\nGood luck!", ["a", "b"]),
    ("numbered over two lines", "1. a\n   and more\n2. b", ["a and more", "b"]),
    ("numbered with bullets below", "1. a\n   - x\n2. b", ["a - x", "b"]),
    ("bulleted with hyphens", "- a\n- b", ["a", "b"]),
    ("bulleted with stars", "* a\n* b", ["a", "b"]),
    ("bulleted with dots", "• a\n• b", ["a", "b"]),
    # No plan: the reply is the one step.
    ("prose", "Just write the haiku.", WHOLE),
    ("a number", "42", WHOLE),
    ("the literal null", "null", WHOLE),
    ("the literal true", "true", WHOLE),
    ("an empty object", "{}", WHOLE),
    ("plan null", '{"plan": null}', WHOLE),
    ("plan a number", '{"plan": 3}', WHOLE),
    ("plan of numbers", '{"plan": [1, 2]}', WHOLE),
    ("plan with a number among texts", '{"plan": ["a", 2]}', WHOLE),
    ("plan of lists", '{"plan": [["a"]]}', WHOLE),
    ("plan of objects that say nothing", '{"plan": [{"id": 1}]}', WHOLE),
    ("plan of nulls", '{"plan": [null]}', WHOLE),
    ("plan NaN", '{"plan": NaN}', WHOLE),
    ("another object", '{"answer": "a"}', WHOLE),
    ("a list of numbers", "[1, 2, 3]", WHOLE),
    ("a decimal number at the start", "1.5 litres of water", WHOLE),
    ("a closing bracket", "]", WHOLE),
    ("an opening brace", "{", WHOLE),
    ("a megabyte of prose", "well" * (MEGABYTE // 4), WHOLE),
    ("a megabyte of open brackets", "[" * MEGABYTE, WHOLE),
    ("a megabyte of open quotes", '["' * (MEGABYTE // 2), WHOLE),
    ("a hundred thousand lists in each other", '{"plan": ' + "[" * 100_000 + "]" * 100_000 + "}", WHOLE),
    ("nothing", "", []),
    ("white space", " \n\t ", []),
]


@pytest.mark.parametrize(("reply", "expected"), [case[1:] for case in PLANS], ids=[case[0] for case in PLANS])
def test_a_planners_reply_becomes_exactly_these_steps(reply, expected):
    steps = PlanningAgent(ScriptedChatModel([reply])).generate_plan("task")
    assert steps == ([reply] if expected == WHOLE else expected)


def test_the_table_of_plans_is_large_and_has_no_case_twice():
    assert len({reply for _, reply, _ in PLANS}) == len(PLANS) >= 60


@pytest.mark.parametrize("reply", [reply for _, reply, expected in VERDICTS if expected == UNREADABLE])
def test_an_unreadable_verdict_is_a_value_with_a_reason(reply):
    verdict = read_verdict(reply)
    assert isinstance(verdict, Unreadable)
    assert verdict.raw == reply
    assert verdict.reason


# ---------------------------------------------------------------------------------------------- any text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
pieces = st.sampled_from(
    [
        *("{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", " ", "//", "#", "`", FENCE, "null", "1", "or"),
        *('"success"', "'success'", "success", "true", "false", "True", "False", '"feedback"', "\\u0073"),
        *(
            '{"success": true}',
            '{"success": false}',
            '{"success": true, "feedback": "',
            '"}',
            "<think>",
            "</think>",
        ),
        *('"plan"', '{"plan": ["', '["a"', '"steps"', "1. ", "- "),
    ]
)
model_like_text = st.lists(pieces | st.text(max_size=5), max_size=20).map("".join)
any_text = st.text() | model_like_text
verdict_objects = st.fixed_dictionaries(
    {"success": st.just(True), "feedback": st.text(max_size=60) | model_like_text},
    optional={"score": json_values, "details": json_values},
)
prose = st.text(st.characters(blacklist_characters="{}[]<"), max_size=80)
slow = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


def is_well_formed(verdict: dict[str, object]) -> bool:
    return (
        set(verdict) == {"success", "feedback"}
        and type(verdict["success"]) is bool
        and type(verdict["feedback"]) is str
    )


@given(any_text)
@example('{"success": true')
@slow
def test_any_text_gives_a_well_formed_verdict(text):
    assert is_well_formed(verdict_of(text))


@given(any_text)
@slow
def test_any_text_gives_a_plan_of_texts_that_are_not_empty(text):
    steps = PlanningAgent(ScriptedChatModel([text])).generate_plan("task")
    assert all(type(step) is str and step.strip() for step in steps)


@given(any_text)
@slow
def test_a_success_needs_the_word_success_and_the_word_true_in_a_closed_object(text):
    if verdict_of(text)["success"]:
        said = text.lower().replace("\\u0073", "s")
        assert "success" in said or "\\u" in said
        assert "true" in said or "\\u" in said
        assert "}" in text
        assert "{" in text


@given(st.text().filter(lambda text: "success" not in text.lower() and "\\u" not in text))
@slow
def test_a_text_without_the_word_success_is_never_a_success(text):
    assert verdict_of(text)["success"] is False


@given(verdict_objects, st.sampled_from([None, 0, 2]), st.booleans(), st.data())
@slow
def test_no_strict_prefix_of_a_verdict_is_a_success(verdict, indent, ascii_only, data):
    reply = json.dumps(verdict, indent=indent, ensure_ascii=ascii_only)
    assert verdict_of(reply)["success"] is True
    cut = data.draw(st.integers(0, len(reply) - 1))
    assert verdict_of(reply[:cut])["success"] is False


@given(verdict_objects, st.data())
@slow
def test_no_strict_prefix_of_a_verdict_in_pythons_spelling_is_a_success(verdict, data):
    reply = repr(verdict)
    cut = data.draw(st.integers(0, len(reply) - 1))
    assert verdict_of(reply[:cut])["success"] is False


@given(prose, verdict_objects, st.data())
@slow
def test_no_reply_that_is_cut_within_its_object_is_a_success(before, verdict, data):
    document = json.dumps(verdict)
    cut = data.draw(st.integers(0, len(document) - 1))
    assert verdict_of(before + document[:cut])["success"] is False
    assert verdict_of(f"{before}{FENCE}json\n{document[:cut]}\n{FENCE}")["success"] is False


@given(st.lists(verdict_objects, min_size=1, max_size=3), st.data())
@slow
def test_no_strict_prefix_of_a_list_of_verdicts_is_a_success(verdicts, data):
    reply = json.dumps(verdicts)
    cut = data.draw(st.integers(0, len(reply) - 1))
    assert verdict_of(reply[:cut])["success"] is False


@given(prose, st.text(max_size=60) | model_like_text, prose)
@slow
def test_prose_around_a_failure_never_makes_it_a_success(before, feedback, after):
    document = json.dumps({"success": False, "feedback": feedback})
    assert verdict_of(before + document + after)["success"] is False


@given(any_text, st.text(max_size=60), any_text)
@slow
def test_a_failure_that_is_stated_first_is_never_outvoted(before, feedback, after):
    document = json.dumps({"success": False, "feedback": feedback})
    assert verdict_of(document + after)["success"] is False
    if "{" not in before and "[" not in before and "<" not in before:
        assert verdict_of(before + document + after)["success"] is False


@given(prose, st.text(max_size=60), prose)
@slow
def test_plain_prose_around_a_verdict_does_not_hide_it(before, feedback, after):
    document = json.dumps({"success": False, "feedback": feedback})
    around = verdict_of(f"So: {before.lstrip(string.whitespace)}{document}{after}")
    expected = read_verdict(document)
    assert around == expected


@given(verdict_objects, st.data())
@slow
def test_a_verdict_with_one_character_changed_is_well_formed_and_invents_no_success(verdict, data):
    failure = json.dumps({**verdict, "success": False})
    at = data.draw(st.integers(0, len(failure) - 1))
    changed = failure[:at] + data.draw(st.characters()) + failure[at + data.draw(st.integers(0, 1)) :]
    read = verdict_of(changed)
    assert is_well_formed(read)
    assert read["success"] is False


@given(verdict_objects, st.data())
@slow
def test_a_verdict_that_lost_characters_is_a_success_only_if_it_still_says_so(verdict, data):
    reply = json.dumps(verdict)
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(reply)), st.integers(0, len(reply)))))
    left = reply[:start] + reply[end:]
    if verdict_of(left)["success"]:
        assert "{" in left
        assert left.rstrip().endswith("}")
        assert "true" in left


@given(json_values)
@slow
def test_any_json_value_is_read_without_an_exception(value):
    text = json.dumps(value)
    assert is_well_formed(verdict_of(text))
    assert all(type(step) is str for step in PlanningAgent(ScriptedChatModel([text])).generate_plan("task"))


@given(st.text(max_size=60) | model_like_text)
@slow
def test_the_feedback_of_a_valid_verdict_arrives_as_it_was_written(feedback):
    assert verdict_of(json.dumps({"success": False, "feedback": feedback})) == {
        "success": False,
        "feedback": feedback,
    }


@given(st.lists(st.text(min_size=1, max_size=40).map(str.strip).filter(bool), min_size=1, max_size=6))
@slow
def test_the_steps_of_a_valid_plan_arrive_as_they_were_written(steps):
    assert PlanningAgent(ScriptedChatModel([json.dumps({"plan": steps})])).generate_plan("task") == steps


@given(any_text)
@slow
def test_whatever_is_read_can_be_encoded(text):
    escaped = f'{{"success": false, "feedback": "\\ud800{text}"}}'
    verdict = read_verdict(escaped)
    if not isinstance(verdict, Unreadable):
        verdict["feedback"].encode()


def test_feedback_of_any_depth_is_read_or_refused():
    for depth in range(sys.getrecursionlimit() - 200, sys.getrecursionlimit() + 50):
        verdict = read_verdict('{"success": false, "feedback": ' + "[" * depth + "]" * depth + "}")
        assert isinstance(verdict, Unreadable) or verdict["success"] is False


# ------------------------------------------------------------------------------------------------ speed

PATTERNS = [
    *("{", "[", '"', "'", "\\", '\\"', '["', '{"', '["a"', '["a', "['a", '{"a":', "{a", "{ ", "[ ", ",", ":"),
    *("{}", "[]", "{a}", '["a"]', '["a",1]', '{"plan":}', '{"plan":["a"]}', '{"success":', '{"success":x}'),
    *(
        '{"success":true}',
        '{"success":true',
        "{success:true}",
        "{'success':true}",
        '{"success":true,}',
        "{\\u}",
    ),
    *(
        "<think>",
        "</think>",
        "<think></think>",
        FENCE,
        FENCE + "json",
        '"action_input": "',
        '"action_input":',
    ),
    *(
        "1. ",
        "1. a\n",
        "- ",
        "- a\n",
        "step 1",
        " ",
        "\n",
        "\t",
        "//",
        "/*",
        "#",
        "\x00",
        "\u202e",
        "é",
        '{"plan":"',
    ),
]


@pytest.mark.parametrize(
    ("opening", "pattern"),
    [
        *(("", pattern) for pattern in PATTERNS),
        *(('{"plan": [', pattern) for pattern in ('"a', "'", '["', "{}", ",", '"action_input":')),
        *(('{"success": true, "feedback": ', pattern) for pattern in ('"a', "'", "{", "\\", "//")),
    ],
)
def test_a_megabyte_of_one_pattern_is_read_in_time_that_does_not_explode(pattern, opening):
    """A quadratic reader needs many minutes for one of these; the suite's own patience is the bound."""
    text = (opening + pattern * (MEGABYTE // len(pattern)))[:MEGABYTE]
    read_plan(text)
    read_verdict(text)


@pytest.mark.parametrize("pattern", ["{", '["', '{"', '["a"', '"'])
def test_guessing_is_given_up_for_long_documents(pattern):
    assert load_repaired(pattern * 20_000) is None


# ------------------------------------------------------------------------------------------- the pieces


@pytest.mark.parametrize(
    ("text", "spans"),
    [
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
    ],
)
def test_the_outermost_containers_are_found(text, spans):
    assert list(containers(text)) == spans


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("answer", "answer"),
        ("  answer \n", "answer"),
        ("<think>a</think>answer", "answer"),
        ("\n<think>\na\n</think>\n\nanswer\n", "answer"),
        ("<THINK>a</Think> answer", "answer"),
        ("<thinking>a</thinking> answer", "answer"),
        ("<think>a", ""),
        ("a</think>answer", "answer"),
        ("a</think>b</think>answer", "answer"),
        ("<think>a</think>the tag </think> ends a thought", "the tag </think> ends a thought"),
        (
            "The tags <think> and </think> enclose thoughts.",
            "The tags <think> and </think> enclose thoughts.",
        ),
        ('{"a": "</think>"}', '{"a": "</think>"}'),
        ("", ""),
    ],
)
def test_thoughts_are_dropped(text, answer):
    assert without_thoughts(text) == answer


def test_the_log_of_an_unreadable_reply_stays_on_one_line(caplog):
    with caplog.at_level(logging.WARNING, "agents"):
        verdict_of("first\nsecond \x1b[31m")
    [record] = caplog.records
    assert "\n" not in record.getMessage()
    assert "\x1b" not in record.getMessage()
