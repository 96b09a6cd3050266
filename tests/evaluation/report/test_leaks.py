import copy
import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluation import ContractError, EvaluationCase, evaluate
from evaluation.patterns import check_schema, matches_pattern
from evaluation.report.redaction import Redactor
from tests.evaluation.report.test_redaction import case_full_of
from tests.evaluation.sensitive.labelled.sample import ALNUM, UPPER, URLSAFE, body

PIECE = 8
"""Characters of a secret that must not be shown."""
FORMS = {
    "github": lambda seed: "gh" + "p_" + body(36, ALNUM, seed),
    "aws": lambda seed: "AK" + "IA" + body(16, UPPER, seed),
    "openai": lambda seed: "sk-" + "proj-" + body(60, URLSAFE, seed),
    "slack": lambda seed: "xo" + "xb-" + "123456789012-" + body(24, ALNUM, seed),
}
"""Secrets that are known by their form."""
SIGNS = ALNUM + "#$%&(){}[]*+?/\\|^~éß"
SCHEMA = {"properties": {"a": {"type": "string"}}, "required": ["b"]}
TEMPLATE = {
    **case_full_of("plain"),
    "required_content": [{"text": "absent"}, {"pattern": "nowhere"}, {"json_schema": SCHEMA}],
    "trajectory": {"forbidden_tools": ["rm"], "arguments": {"match": "exact"}},
}


def list_places(value, path=()):
    """Yield the path of each scalar, and of each name of a field as ("key", name)."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield (*path, ("key", name))
            yield from list_places(part, (*path, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from list_places(part, (*path, index))
    else:
        yield path


PLACES = [*list_places(TEMPLATE)]


def plant(text, path):
    case = copy.deepcopy(TEMPLATE)
    parent = case
    for part in path[:-1]:
        parent = parent[part]
    last = path[-1]
    if isinstance(last, tuple):
        parent[text] = parent.pop(last[1])
    else:
        parent[last] = text
    return case


def shown_pieces(secret, shown):
    """List the pieces of ``secret`` that a text shows, also escaped as in a string of JSON."""
    pieces = {secret[start : start + PIECE] for start in range(len(secret) - PIECE + 1)}
    spellings = {json.dumps(piece, ensure_ascii=False)[1:-1]: piece for piece in pieces}
    return sorted(piece for spelling, piece in spellings.items() if spelling.lower() in shown.lower())


leads = st.builds(
    lambda unit, length, end: (unit * 400)[:length] + end,
    st.sampled_from(["a word ", "x", "é "]),
    st.integers(0, 320),
    st.sampled_from([" ", "/", ".", "\n"]),
)
tails = st.sampled_from(["", " and more", " x" * 200, "/more"])


@given(st.sampled_from(PLACES), st.sampled_from(sorted(FORMS)), st.integers(0, 10**6), leads, tails)
def test_a_secret_known_by_its_form_is_shown_nowhere(place, form, seed, lead, tail):
    secret = FORMS[form](seed)

    report = evaluate(plant(lead + secret + tail, place)).model_dump(mode="json")

    assert shown_pieces(secret, json.dumps(report, ensure_ascii=False)) == []


@given(st.sampled_from(PLACES), st.integers(0, 10**6), leads, tails)
def test_a_secret_known_by_another_part_of_the_case_is_shown_nowhere(place, seed, lead, tail):
    secret = body(24, SIGNS, seed)
    case = plant(lead + secret + tail, place)
    case["audit"] = {**(case["audit"] if isinstance(case.get("audit"), dict) else {}), "password": secret}

    report = evaluate(case).model_dump(mode="json")

    assert shown_pieces(secret, json.dumps(report, ensure_ascii=False)) == []


SECRET = FORMS["github"](1)


def test_a_text_in_a_field_of_another_type_is_not_quoted(subtests):
    for field in ["agent_run.latency_ms", "thresholds.latency_ms", "audit.credentials", "keywords"]:
        for secret in ["hunter2secret", "Tr0ub4dor&3"]:
            with subtests.test(field=field, secret=secret):
                case = {"agent_run": {"final_output": "x"}}
                outer, _, name = field.partition(".")
                case = {**case, outer: {**case.get(outer, {}), name: secret} if name else secret}

                report = evaluate(case).model_dump(mode="json")

                assert report["status"] == "invalid"
                assert shown_pieces(secret, json.dumps(report)) == []


PASSWORD = "hunter2secret"
CASE = {"agent_run": {"final_output": "x", "latency_ms": PASSWORD}}


def test_a_refused_pattern_schema_or_case_shows_no_part_of_a_secret(subtests):
    for read, value in [
        *(
            (partial(matches_pattern, text=""), pattern)
            for pattern in (f"{'x' * 40} {SECRET}(", f"password=ab[{SECRET}", f"[{SECRET}", f"(?={SECRET})")
        ),
        *((check_schema, {name: PASSWORD}) for name in ("type", "required", "minimum")),
        (check_schema, {"pattern": f"({PASSWORD}"}),
        (check_schema, {"enum": {PASSWORD: 1}}),
        (check_schema, {"$ref": f"#/$defs/{SECRET}"}),
        (check_schema, {"$ref": f"http://{SECRET}.example.com/"}),
        (check_schema, {"$schema": f"http://example.com/{SECRET}"}),
        (check_schema, {"properties": {"x" * 150 + " " + SECRET: {"type": 5}}}),
        (lambda case: EvaluationCase(**case), CASE),
        (EvaluationCase.model_validate, CASE),
    ]:
        with subtests.test(read=read, value=value):
            with pytest.raises((ContractError, ValidationError)) as refused:
                read(value)

            assert shown_pieces(PASSWORD, str(refused.value)) + shown_pieces(SECRET, str(refused.value)) == []


def test_a_known_value_is_recognised_in_the_spelling_of_a_json_pointer():
    redactor = Redactor.of([{"password": "ab/cd~ef/gh"}])

    assert redactor.clean_text("lacks /args/ab~1cd~0ef~1gh") == "lacks /args/[password]"
