"""A judge's reply becomes exactly its verdict, and no success that it does not state."""

from __future__ import annotations

import json

from agents.parsing.loose_json import CONTAINER_LIMIT
from agents.parsing.verdicts import read_verdict
from agents.reply_types import UNREADABLE_PREFIX, Unreadable
from tests.fakes.model_text import BOM, FENCE, LONG, verdict_of

UNREADABLE = "unreadable"

VERDICTS: list[tuple[str, str, object]] = [
    # What is well formed, and what stands around it.
    ("plain success", '{"success": true, "feedback": "met"}', (True, "met")),
    ("a further key", '{"success": true, "feedback": "met", "score": 9}', (True, "met")),
    ("a json fence", f'{FENCE}json\n{{"success": true, "feedback": "met"}}\n{FENCE}', (True, "met")),
    ("a plain fence", f'{FENCE}\n{{"success": false, "feedback": "no"}}\n{FENCE}', (False, "no")),
    ("a fence that is never closed", f'{FENCE}json\n{{"success": true, "feedback": "met"}}', UNREADABLE),
    ("prose before", 'Here you go: {"success": true, "feedback": "met"}', UNREADABLE),
    ("prose after", '{"success": true, "feedback": "met"} However, it is wrong.', UNREADABLE),
    ("prose with a footnote", 'As in [1]: {"success": false, "feedback": "no"}', (False, "no")),
    ("a byte order mark", BOM + '{"success": true, "feedback": "met"}', (True, "met")),
    ("braces in the feedback", '{"success": false, "feedback": "use {x} and }{"}', (False, "use {x} and }{")),
    ("quotes in the feedback", '{"success": true, "feedback": "says \\"ok\\""}', (True, 'says "ok"')),
    ("a raw line break in the feedback", '{"success": false, "feedback": "one\ntwo"}', (False, "one\ntwo")),
    ("half a surrogate pair", '{"success": false, "feedback": "a\\ud800b"}', (False, "a\ufffdb")),
    (
        "a verdict within the feedback's text",
        '{"success": false, "feedback": "{\\"success\\": true}"}',
        (False, '{"success": true}'),
    ),
    (
        "the same verdict twice",
        '{"success": false, "feedback": "a"} {"success": false, "feedback": "b"}',
        (False, "b"),
    ),
    ("a list of one verdict", '[{"success": false, "feedback": "no"}]', UNREADABLE),
    ("a verdict sent as a JSON string", json.dumps('{"success": true, "feedback": "met"}'), UNREADABLE),
    # Other spellings of a complete object: a guess may refuse, and approves nothing.
    ("single quotes", "{'success': true, 'feedback': 'met'}", UNREADABLE),
    ("Python's literals", "{'success': True, 'feedback': None}", UNREADABLE),
    ("Python's False", "{'success': False, 'feedback': 'no'}", UNREADABLE),
    ("trailing comma", '{"success": true, "feedback": "met",}', UNREADABLE),
    ("bare keys", '{success: true, feedback: "met"}', UNREADABLE),
    ("capital keys", '{"Success": true, "FEEDBACK": "met"}', (True, "met")),
    ("a broken failure", '{"success": false "feedback": "no"}', UNREADABLE),
    # Values.
    ("the word true", '{"success": "true", "feedback": "met"}', (True, "met")),
    ("the word false", '{"success": "false", "feedback": "no"}', (False, "no")),
    ("the number 1", '{"success": 1, "feedback": "met"}', UNREADABLE),
    ("null", '{"success": null, "feedback": "?"}', UNREADABLE),
    ("no feedback", '{"success": true}', (True, "")),
    ("feedback null", '{"success": false, "feedback": null}', (False, "")),
    ("feedback a list", '{"success": false, "feedback": ["a", "é"]}', (False, '["a", "é"]')),
    (
        "a failure with a nested success",
        '{"success": false, "feedback": "no", "d": {"success": true}}',
        (False, "no"),
    ),
    ("a success that another field denies", '{"success": true, "passed": "false"}', UNREADABLE),
    ("a success with a failed verdict", '{"success": true, "verdict": "FAIL - too short"}', UNREADABLE),
    ("a success with a denial inside", '{"success": true, "checks": [{"approved": false}]}', UNREADABLE),
    ("another spelling of it", '{"success": true, "needsRevision": "true"}', UNREADABLE),
    ("a success with an error", '{"success": true, "error": "the third line is missing"}', UNREADABLE),
    ("a success with a value that is not JSON", '{"success": true, "score": NaN}', UNREADABLE),
    ("a success with a number too large", '{"success": true, "score": 1e999}', UNREADABLE),
    ("a failure with a value that is not JSON", '{"success": false, "score": NaN}', (False, "")),
    ("a success without an error", '{"success": true, "error": null, "failure": false}', (True, "")),
    (
        "a success with a result in words",
        '{"success": true, "result": "No errors", "failed": 0, "feedback": "failed"}',
        (True, "failed"),
    ),
    # What is no verdict.
    ("nothing", "", UNREADABLE),
    ("the literal true", "true", UNREADABLE),
    ("an empty object", "{}", UNREADABLE),
    ("what fails the repairing parser", "{'```json```9: \"success\"'}", UNREADABLE),
    ("prose that approves", "The objective was met. Success: true.", UNREADABLE),
    ("success only", '{"feedback": "met"}', UNREADABLE),
    ("a verdict one level down", '{"verdict": {"success": true, "feedback": "met"}}', UNREADABLE),
    ("a verdict as text one level down", '{"reply": "{\\"success\\": true}"}', UNREADABLE),
    ("another key that ends alike", '{"unsuccess": true, "feedback": "met"}', UNREADABLE),
    ("a long text of prose", "well " * (LONG // 5), UNREADABLE),
    ("a long text of open braces", "{" * LONG, UNREADABLE),
    (
        "a hundred thousand lists in each other",
        '{"success": true, "feedback": ' + "[" * 100_000 + "]" * 100_000 + "}",
        UNREADABLE,
    ),
    ("a number of five thousand digits", '{"success": true, "feedback": ' + "9" * 5000 + "}", UNREADABLE),
    # What was cut off.
    ("cut after the success", '{"success": true', UNREADABLE),
    ("cut within the feedback", '{"success": true, "feedback": "all is', UNREADABLE),
    ("cut failure", '{"success": false, "feedback": "all is', UNREADABLE),
    ("cut in a fence", f'{FENCE}json\n{{"success": true, "feedback": "met"\n{FENCE}', UNREADABLE),
    ("a complete object in a cut one", '{"success": false, "part": {"success": true}', UNREADABLE),
    ("a second verdict that is cut", '{"success": true, "feedback": "a"} {"success": fal', UNREADABLE),
    ("closed with the wrong bracket", '{"success": true, "feedback": "met"]', UNREADABLE),
    ("an outer object whose beginning is lost", '"success": false, "part": {"success": true}}', UNREADABLE),
    # What contradicts itself, or could mean either.
    ("two verdicts", '{"success": false, "feedback": "no"} {"success": true, "feedback": "met"}', UNREADABLE),
    ("two verdicts in a list", '[{"success": true}, {"success": false}]', UNREADABLE),
    ("the key twice", '{"success": false, "success": true}', UNREADABLE),
    ("the key twice, once escaped", '{"success": false, "\\u0073uccess": true}', UNREADABLE),
    ("the key twice in two cases", '{"success": false, "Success": true}', UNREADABLE),
    ("the key twice, single quotes", "{'success': False, 'success': True}", UNREADABLE),
    ("the prompt's own example", '{"feedback": "one short reason", "success": true or false}', UNREADABLE),
    ("true and false in a row", '{"success": true false}', UNREADABLE),
    ("a key without its closing quote", '{"success: true}', UNREADABLE),
    ("a missing comma in a success", '{"success": true "feedback": "met"}', UNREADABLE),
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
    ("a decision in another object", '{"decision": "block"} {"success": true}', UNREADABLE),
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
    (
        "a failure before the end of a thought that never began",
        'so {"success": false}</think>{"success": true}',
        UNREADABLE,
    ),
    ("two answers around the end of a thought", '{"success": false}</think>{"success": true}', UNREADABLE),
]


def test_a_judges_reply_becomes_exactly_this_verdict(subtests):
    for reply, expected in [case[1:] for case in VERDICTS]:
        with subtests.test(reply=reply, expected=expected):
            success, feedback = (False, UNREADABLE_PREFIX + reply) if expected == UNREADABLE else expected
            read = read_verdict(reply)

            assert verdict_of(reply) == {"success": success, "feedback": feedback}
            assert not isinstance(read, Unreadable) or expected == UNREADABLE
            assert not isinstance(read, Unreadable) or (read.raw == reply and read.reason)
