from __future__ import annotations

import json

from agents.parsing.loose_json import CONTAINER_LIMIT
from agents.parsing.verdicts import read_verdict
from agents.reply_types import UNREADABLE_PREFIX, Unreadable
from tests.fakes.model_text import BOM, FENCE, LONG, verdict_of

UNREADABLE = "unreadable"

VERDICTS: list[tuple[str, object]] = [
    # What is well formed, and what stands around it.
    ('{"success": true, "feedback": "met"}', (True, "met")),
    (f'{FENCE}json\n{{"success": true, "feedback": "met"}}\n{FENCE}', (True, "met")),
    (f'{FENCE}\n{{"success": false, "feedback": "no"}}\n{FENCE}', (False, "no")),
    (f'{FENCE}json\n{{"success": true, "feedback": "met"}}', UNREADABLE),
    ('Here you go: {"success": true, "feedback": "met"}', UNREADABLE),
    ('{"success": true, "feedback": "met"} However, it is wrong.', UNREADABLE),
    ('As in [1]: {"success": false, "feedback": "no"}', (False, "no")),
    (BOM + '{"success": true, "feedback": "met"}', (True, "met")),
    ('{"success": false, "feedback": "use {x} and }{"}', (False, "use {x} and }{")),
    ('{"success": true, "feedback": "says \\"ok\\""}', (True, 'says "ok"')),
    ('{"success": false, "feedback": "one\ntwo"}', (False, "one\ntwo")),
    ('{"success": false, "feedback": "a\\ud800b"}', (False, "a\ufffdb")),
    ('{"success": false, "feedback": "{\\"success\\": true}"}', (False, '{"success": true}')),
    ('{"success": false, "feedback": "a"} {"success": false, "feedback": "b"}', (False, "b")),
    ('[{"success": false, "feedback": "no"}]', UNREADABLE),
    (json.dumps('{"success": true, "feedback": "met"}'), UNREADABLE),
    # Other spellings of a complete object: a guess may refuse, and approves nothing.
    ("{'success': true, 'feedback': 'met'}", UNREADABLE),
    ("{'success': False, 'feedback': 'no'}", UNREADABLE),
    ('{"success": true, "feedback": "met",}', UNREADABLE),
    ('{success: true, feedback: "met"}', UNREADABLE),
    ('{"Success": true, "FEEDBACK": "met"}', (True, "met")),
    ('{"success": false "feedback": "no"}', UNREADABLE),
    # Values.
    ('{"success": "true", "feedback": "met"}', (True, "met")),
    ('{"success": "false", "feedback": "no"}', (False, "no")),
    ('{"success": 1, "feedback": "met"}', UNREADABLE),
    ('{"success": null, "feedback": "?"}', UNREADABLE),
    ('{"success": true}', (True, "")),
    ('{"success": false, "feedback": null}', (False, "")),
    ('{"success": false, "feedback": ["a", "é"]}', (False, '["a", "é"]')),
    ('{"success": false, "feedback": "no", "d": {"success": true}}', (False, "no")),
    ('{"success": true, "checks": [{"approved": false}]}', UNREADABLE),
    ('{"success": true, "needsRevision": "true"}', UNREADABLE),
    ('{"success": true, "error": "the third line is missing"}', UNREADABLE),
    ('{"success": true, "score": NaN}', UNREADABLE),
    ('{"success": false, "score": NaN}', (False, "")),
    ('{"success": true, "error": null, "failure": false}', (True, "")),
    ('{"success": true, "result": "No errors", "failed": 0, "feedback": "failed"}', (True, "failed")),
    # What is no verdict.
    ("", UNREADABLE),
    ("true", UNREADABLE),
    ("{}", UNREADABLE),
    ("{'```json```9: \"success\"'}", UNREADABLE),
    ("The objective was met. Success: true.", UNREADABLE),
    ('{"feedback": "met"}', UNREADABLE),
    ('{"verdict": {"success": true, "feedback": "met"}}', UNREADABLE),
    ('{"reply": "{\\"success\\": true}"}', UNREADABLE),
    ('{"unsuccess": true, "feedback": "met"}', UNREADABLE),
    ("well " * (LONG // 5), UNREADABLE),
    ("{" * LONG, UNREADABLE),
    ('{"success": true, "feedback": ' + "[" * 100_000 + "]" * 100_000 + "}", UNREADABLE),
    ('{"success": true, "feedback": ' + "9" * 5000 + "}", UNREADABLE),
    # What was cut off.
    ('{"success": true', UNREADABLE),
    ('{"success": true, "feedback": "all is', UNREADABLE),
    ('{"success": false, "feedback": "all is', UNREADABLE),
    (f'{FENCE}json\n{{"success": true, "feedback": "met"\n{FENCE}', UNREADABLE),
    ('{"success": false, "part": {"success": true}', UNREADABLE),
    ('{"success": true, "feedback": "a"} {"success": fal', UNREADABLE),
    ('{"success": true, "feedback": "met"]', UNREADABLE),
    ('"success": false, "part": {"success": true}}', UNREADABLE),
    # What contradicts itself, or could mean either.
    ('{"success": false, "feedback": "no"} {"success": true, "feedback": "met"}', UNREADABLE),
    ('[{"success": true}, {"success": false}]', UNREADABLE),
    ('{"success": false, "success": true}', UNREADABLE),
    ('{"success": false, "\\u0073uccess": true}', UNREADABLE),
    ('{"success": false, "Success": true}', UNREADABLE),
    ("{'success': False, 'success': True}", UNREADABLE),
    ('{"feedback": "one short reason", "success": true or false}', UNREADABLE),
    ('{"success: true}', UNREADABLE),
    ('{"feedback": "it wrote, "success": true, but no"}', UNREADABLE),
    ('{"feedback": "it wrote {"success": true} but no"}', UNREADABLE),
    ('{"feedback": "it ends "}, {"success": true}" and fails', UNREADABLE),
    ('{"decision": "block"} {"success": true}', UNREADABLE),
    ('success: false. {"success": true, "feedback": "met"}', UNREADABLE),
    ('{"a": {"success": false}} {"success": true}', UNREADABLE),
    ('{"success": fal se, "x" y} {"success": true}', UNREADABLE),
    ("{} " * (CONTAINER_LIMIT + 1) + '{"success": true}', UNREADABLE),
    # Thoughts.
    ('<think>{"success": false}</think>{"success": true, "feedback": "met"}', (True, "met")),
    ('<think>I would say {"success": true, "feedback": "met"}', UNREADABLE),
    ('hm, {"a": 1}, so</think>{"success": false, "feedback": "no"}', (False, "no")),
    ('Sure. <think>maybe {"success": true}', UNREADABLE),
    ('V: {"success": false, "feedback": "</think> {"success": true}"}', UNREADABLE),
    ('so {"success": false}</think>{"success": true}', UNREADABLE),
    ('{"success": false}</think>{"success": true}', UNREADABLE),
]


def test_a_judges_reply_becomes_exactly_this_verdict(subtests):
    for reply, expected in VERDICTS:
        with subtests.test(reply=reply, expected=expected):
            success, feedback = (False, UNREADABLE_PREFIX + reply) if expected == UNREADABLE else expected
            read = read_verdict(reply)

            assert verdict_of(reply) == {"success": success, "feedback": feedback}
            assert not isinstance(read, Unreadable) or expected == UNREADABLE
            assert not isinstance(read, Unreadable) or (read.raw == reply and read.reason)
