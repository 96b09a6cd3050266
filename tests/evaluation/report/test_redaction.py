import json
import logging
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.credentials.detector import Span
from evaluation.findings import STATUS, STRICTNESS, FindingKind, strictest_status
from evaluation.report.redaction import Redactor, build_excerpt
from evaluation.runner import evaluate
from evaluation.values import Severity
from tests.evaluation.cases import any_json
from tests.evaluation.sensitive.labelled.credentials import CREDENTIALS
from tests.evaluation.sensitive.labelled.personal import PERSONAL
from tests.sampling import sample_table

PLANTED = [*CREDENTIALS, *PERSONAL[::2]]


class Names:
    def find(self, text):
        return [Span(text.index("Ada"), text.index("Ada") + 3, "name", "personal")] if "Ada" in text else []


def case_full_of(text):
    call = {
        **dict.fromkeys(("name", "error", "agent", "target", "id"), text),
        "args": {text: text, "list": [text, {"deep": text}]},
        "result": {text: [text]},
    }
    return {
        "case_id": text,
        "input": text,
        "agent_run": {
            "input": text,
            "final_output": text,
            "tool_calls": [call, text, f"{text} c", {"name": "x", "args": text}, {**call, "kind": "handoff"}],
            "messages": [
                {"role": "user", "content": text, text: text},
                {"role": "assistant", "content": [{"type": "text", "text": text}]},
            ],
            "plan": [text],
            "resources": {text: 5.0},
            "estimated": [text],
            "model": text,
            "metadata": {
                **dict.fromkeys(("prompt_version", "agent_version", "environment", "timestamp"), text),
                text: text,
            },
        },
        "reference_output": f"not {text}",
        "keywords": [f"{text} too"],
        "required_content": [{"text": f"{text}!"}, {"pattern": "nowhere"}],
        "forbidden_content": [{"text": text}],
        "expected_trajectory": [
            text,
            {"name": "x", "args": {text: f"{text} other"}},
            {"any_of": [f"{text} a", "y"]},
            {"name": text, "args": {text: "other", "list": []}, "agent": f"{text} b", "target": text},
        ],
        "trajectory_match_mode": "exact",
        "trajectory": {"forbidden_tools": [f"{text} c"]},
        "thresholds": {text: {"max": 1.0}, "latency_ms": {"max": 1.0, "owner": text}},
        "subjective_criteria": [text],
        "rubric": {
            "name": text,
            "instructions": text,
            "criteria": [{"name": text, "description": text, "anchors": {text: text}}],
        },
        "baseline_metrics": {text: 1.0, "latency_ms": 2.0},
        "audit": {
            "rules": [
                {"id": text, "owner": text, "recommended_action": text, "forbidden": {"text": text}},
                {"id": f"{text} tools", "forbidden_tools": [text]},
                {"id": "required", "required": {"text": f"{text} #"}},
            ]
        },
        "drift": {"tolerances": {text: {"absolute": 0.0}}},
        "owner": text,
    }


def told(value):
    if isinstance(value, dict):
        for name, one in value.items():
            yield from [name, *told(one)]
    elif isinstance(value, list):
        for one in value:
            yield from told(one)
    else:
        yield str(value)


def quoted(value, report):
    return [text for text in told(report) if value.casefold() in text.casefold()]


@pytest.mark.parametrize("samples", sample_table(PLANTED, every=4))
def test_what_is_planted_in_every_field_stands_nowhere_in_report_or_log(subtests, samples, caplog):
    caplog.set_level(logging.DEBUG)
    for sample in samples:
        with subtests.test(kind=sample.kind, text=sample.text):
            report = evaluate(case_full_of(sample.text)).model_dump(mode="json")

            assert report["status"] == "failed"
            assert [quoted(value, report) for value in sample.values] == [[] for _ in sample.values]
            assert [value for value in sample.values if value in caplog.text] == []


def test_what_stood_in_its_context_is_removed_where_it_stands_alone(subtests):
    for sample in [*CREDENTIALS, *PERSONAL]:
        with subtests.test(sample=sample):
            redactor = Redactor.of([{"output": sample.text}])
            spellings = [
                one for value in sample.values for one in (value, value.casefold(), json.dumps(value))
            ]
            texts = [f"got {one}, expected x" for one in spellings]
            report = {"texts": texts, "names": dict.fromkeys(spellings, 1)}

            cleaned = redactor.clean(report)

            assert [quoted(value, cleaned) for value in sample.values] == [[]]
            assert len(cleaned["names"]) == len(report["names"])


def test_every_spelling_that_a_report_may_use_is_removed(subtests):
    for case, text, expected in [
        ("password=hunter2", "it was HUNTER2!", "it was [password]!"),
        ("password=hunter2", "xhunter2x", "x[password]x"),
        ("password=abcd", "abcd, but abcdef", "[password], but abcdef"),
        ("password=failed", "failed", "failed"),
        ("mail joe.smith@example.com", "joe.smith is here", "joe.smith is here"),
        ("call +49 170 1234567", "491701234567", "[phone]"),
        ("DE89 3704 0044 0532 0130 00", "to DE89370400440532013000.", "to [iban]."),
        ("password: 'two  words 2'", "two words 2", "[password]"),
        ("password: p\u00e4ssw\u00f6rt1", "p\\u00e4ssw\\u00f6rt1", "[password]"),
        ("tel 0170 1234567", "other mail a@example.com", "other mail [email]"),
        ("nothing", "other mail a@example.com", "other mail a@example.com"),
        ("ssn 123456789", "sum 1.1234567891", "sum 1.[national_id]1"),
        ('{"pin": 1234}', "of 12345 and 1234", "of 12345 and [password]"),
    ]:
        with subtests.test(case=case, text=text):
            redactor = Redactor.of([{"output": case}])

            assert redactor.clean({"reason": text}) == {"reason": expected}
            assert redactor.clean_text(text) == expected


def test_whole_numbers_by_which_somebody_is_known_are_removed_and_measured_ones_stay():
    redactor = Redactor.of([{"ssn": 123456789, "pin": 1234}])

    measured = {"tokens": 1234, "score": 1234.5, "passed": True, "none": None}

    assert redactor.clean({"seen": 123456789, **measured}) == {"seen": "[national_id]", **measured}


def test_names_that_become_the_same_are_told_apart():
    redactor = Redactor.of(["a@example.com b@example.com"])

    assert redactor.clean({"a@example.com": 1, "b@example.com": 2}) == {"[email]": 1, "[email] 2": 2}


def test_a_run_whose_password_is_a_word_of_the_report_leaves_it_readable(subtests):
    for word in ["passed", "critical", "alerts", "in_order", "run_rubric_judge"]:
        with subtests.test(word=word):
            calls = [{"name": "t", "args": {"password": word}, "result": "ok"}]
            report = evaluate({"agent_run": {"final_output": "x", "tool_calls": calls}})

            assert report.status == "failed"
            assert report.audit_findings[0]["id"] == "credentials.password"


@given(any_json, any_json)
def test_cleaning_keeps_the_shape_and_never_raises(case, report):
    cleaned = Redactor.of([case]).clean([report])

    assert isinstance(cleaned, list)
    assert len(cleaned) == 1
    assert type(cleaned[0]) is type(report) or isinstance(report, int)


def test_what_a_recogniser_finds_is_removed_too():
    redactor = Redactor.of([{"output": "Ada Lovelace"}], [Names()])

    assert redactor.clean(["said Ada", "mail a@example.com"]) == ["said [name]", "mail [email]"]


def test_an_excerpt_is_bounded_and_redacted(subtests):
    for value, kind, length, shown in [
        ("abc", "string", 3, "abc"),
        ("é", "string", 2, "é"),
        ({"password": "hunter2"}, "object", 22, '{"password":"[password]"}'),
        ([1, 2], "array", 5, "[1,2]"),
        (12, "number", 2, "12"),
        (None, "null", 4, "null"),
        (False, "boolean", 5, "false"),
        ("x" * 81, "string", 81, "x" * 79 + "…"),
        ("x" * 10_000_000, "string", 10_000_000, "x" * 79 + "…"),
        ("x" * 70 + " joe.smith@example.com", "string", 92, "x" * 70 + " [email]"),
    ]:
        with subtests.test(value=value):
            quoted = build_excerpt(value)

            assert (quoted["type"], quoted["length"], quoted["excerpt"]) == (kind, length, shown)


def test_a_recogniser_that_marks_every_text_leaves_a_readable_report():
    class MarksAll:
        def find(self, text):
            return [Span(0, len(text), "client", "credential")]

    case = {"agent_run": {"final_output": "Ada agreed"}, "keywords": ["Ada"]}
    report = evaluate(case, recognizers=[MarksAll()])

    assert report.status == "failed"
    assert "Ada" not in report.model_dump_json()


KINDS = get_args(FindingKind)
SEVERITIES = get_args(Severity)
findings = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(SEVERITIES)))
MEASURED = ("policy", "response", "trajectory", "operational", "collaboration", "judge", "regression")
UNKNOWN = ("judge_error", "metric_error", "check_error", "inconclusive", "lost_fact")
ROWS = [
    *((kind, "info", "passed") for kind in (*MEASURED, "drift", "anomaly", "defect", "suspicion")),
    *((kind, "warning", "warning") for kind in (*MEASURED, "drift", "anomaly", "defect")),
    ("suspicion", "warning", "needs_review"),
    *((kind, "critical", "failed") for kind in ("defect", "suspicion")),
    *((kind, "critical", "failed") for kind in (*MEASURED, *UNKNOWN, "missing_data")),
    *((kind, severity, "needs_review") for kind, severity in product(UNKNOWN, ("info", "warning"))),
    *((kind, "info", "passed") for kind in ("record", "undecided")),
    *((kind, "warning", "needs_review") for kind in ("record", "undecided")),
    *((kind, "critical", "failed") for kind in ("record", "undecided")),
    ("missing_data", "info", "warning"),
    ("missing_data", "warning", "needs_review"),
    ("drift", "critical", "needs_review"),
    ("anomaly", "critical", "needs_review"),
    *(("execution", severity, "failed") for severity in SEVERITIES),
    *(("improvement", severity, "passed") for severity in ("info", "warning", "critical")),
    *(("invalid_input", severity, "invalid") for severity in SEVERITIES),
]


def test_each_finding_has_its_status(subtests):
    for kind, severity, status in ROWS:
        with subtests.test(kind=kind, severity=severity, status=status):
            assert strictest_status([(kind, severity)]) == status


def test_the_rows_are_the_whole_table():
    assert {(kind, severity) for kind, severity, _ in ROWS} == set(product(KINDS, SEVERITIES))
    assert set(STATUS) == set(KINDS)


@given(findings, findings)
def test_more_findings_never_make_the_status_milder(some, more):
    assert STRICTNESS.index(strictest_status([*some, *more])) >= STRICTNESS.index(strictest_status(some))
