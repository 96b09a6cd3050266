from evaluation import EvaluationContract, evaluate
from evaluation.checks.kinds.wording import WordCount
from tests.evaluation.checks.cases import CASES, UNKNOWN

ADDRESS = "anna.smith@example.org"


THAI = "สวัสดีครับ ผมชื่อสมชาย"
"""Its words cannot be counted without a dictionary."""


def evaluate_text(text, *checks, **contract):
    return evaluate({"agent_run": {"final_output": text}, "checks": [*checks], **contract})


def list_reasons(report):
    return [alert["reason"] for alert in report["alerts"]]


def test_the_report_has_the_outcome_of_each_check():
    report = evaluate_text("one two three", {"check": "word_count", "max": 2, "quote": "two words"})
    said = {"seen": "the text has 3 words", "wanted": "use at most 2 words", "quote": "two words"}
    kept = {"kind": "length", "covers": "form", "severity": "critical", "source": "task"}
    sentence = "Use at most 2 words; the text has 3 words."

    assert report["checks"] == [
        {"check": "word_count", "passed": False, "sentence": sentence, **said, **kept}
    ]


def test_the_severity_of_a_failed_check_decides(subtests):
    for severity, status in [("critical", "failed"), ("warning", "warning"), ("info", "passed")]:
        with subtests.test(severity=severity):
            failed = {"check": "word_count", "max": 1, "severity": severity}
            report = evaluate_text("one two", failed, {"check": "excludes", "texts": ["bad"]})

            assert report.status == status
            assert list_reasons(report) == ["Use at most 1 word; the text has 2 words."]


def test_a_check_that_cannot_be_decided_needs_a_review(subtests):
    fine = {"check": "excludes", "texts": ["bad"]}
    for severity, others, status in [
        ("critical", [fine], "needs_review"),
        ("warning", [fine], "needs_review"),
        ("info", [fine], "passed"),
        ("info", [], "needs_review"),
    ]:
        with subtests.test(severity=severity, others=others):
            report = evaluate_text(THAI, {"check": "word_count", "exactly": 3, "severity": severity}, *others)
            assert (report.status, report["checks"][0]["passed"]) == (status, None)


def test_no_judge_decides_what_a_check_cannot():
    case = {
        "agent_run": {"final_output": THAI},
        "checks": [{"check": "word_count", "exactly": 3}],
        "subjective_criteria": ["clarity"],
    }
    approved = evaluate(case, judge=lambda _: {"score": 5, "rationale": "It is a fine line."})

    assert approved.status == "needs_review"


def test_a_run_without_an_output_cannot_be_decided_and_an_empty_output_fails():
    check = {"check": "word_count", "max": 2}
    silent = evaluate({"agent_run": {"tool_calls": ["search"]}, "checks": [check]})
    empty = evaluate_text("", check)

    assert (silent.status, silent["checks"][0]["seen"]) == ("needs_review", "the run has no final output")
    assert (empty.status, empty["checks"][0]["seen"]) == ("failed", "the text is empty")
    assert (empty["checks"][0]["quote"], empty["checks"][0]["source"]) == (None, "contract")


def test_a_check_of_tools_reads_the_recorded_calls(subtests):
    for calls, status in [
        ({"tool_calls": ["search", "book"]}, "passed"),
        ({"tool_calls": [{"name": "book", "kind": "reasoning"}]}, "failed"),
        ({"tool_calls": []}, "failed"),
        ({"tool_calls": ["book", "book"]}, "failed"),
        ({}, "needs_review"),
    ]:
        with subtests.test(calls=calls):
            run = {"final_output": "Booked.", **calls}
            checks = [{"check": "tool_calls", "tool": "book", "exactly": 1}]
            report = evaluate({"agent_run": run, "checks": checks})

            assert report.status == status
            assert report["metrics"]["response"]["passed"] is None
            assert report["metrics"]["trajectory"]["passed"] is {"passed": True, "failed": False}.get(status)


def test_the_verdict_follows_each_check_of_the_vocabulary(subtests):
    for check, passing, failing in CASES:
        with subtests.test(check=check, passing=passing, failing=failing):
            for text in (*passing, *failing):
                status = "passed" if text in passing else "failed"
                assert evaluate_text(text, check).status == status, text


def test_what_no_check_knows_needs_a_review(subtests):
    for check, text in UNKNOWN:
        with subtests.test(check=check, text=text):
            assert evaluate_text(text, check).status == "needs_review"


def test_a_contract_with_checks_survives_being_written_and_read(subtests):
    for how in [{"exclude_unset": True}, {"exclude_defaults": True}, {}]:
        with subtests.test(how=how):
            contract = EvaluationContract(checks=[WordCount(max=3), {"check": "json"}])

            assert EvaluationContract(**contract.model_dump(**how)) == contract


def test_the_report_of_a_check_quotes_no_personal_data():
    report = evaluate_text(f"{ADDRESS}\nb", {"check": "ends_with", "text": "end"}, {"check": "json"})
    quoting = evaluate_text(ADDRESS, {"check": "excludes", "texts": [ADDRESS]})

    assert ADDRESS not in report.model_dump_json() + quoting.model_dump_json()
    assert quoting.status == "failed"


def test_the_older_fields_of_a_contract_are_checks_of_the_report():
    report = evaluate(
        {
            "agent_run": {"final_output": "The lamp costs 12 euros.", "tool_calls": ["price_of"]},
            "checks": [{"check": "word_count", "max": 9}],
            "required_content": [{"text": "lamp"}, {"number": 13}, {"json_schema": True, "severity": "info"}],
            "forbidden_content": [{"pattern": "(?i)bulb", "severity": "warning"}],
            "keywords": ["lamp", "table"],
            "must_call": ["price_of", "book"],
        }
    )
    seen = [(each["check"], each["passed"], each["kind"], each["wanted"]) for each in report["checks"]]

    assert seen == [
        ("word_count", True, "length", "use at most 9 words"),
        ("required_content", True, "content", 'include "lamp"'),
        ("required_content", False, "content", "state the number 13"),
        ("required_content", False, "format", "write JSON that fulfils the JSON Schema"),
        ("forbidden_content", True, "content", 'write a text that does not match the pattern "(?i)bulb"'),
        ("keywords", False, "content", 'include "lamp" and "table"'),
        ("must_call", True, "tool", 'call the tool "price_of" at least 1 time'),
        ("must_call", False, "tool", 'call the tool "book" at least 1 time'),
    ]
    assert {each["source"] for each in report["checks"]} == {"contract"}
    assert [each["covers"] for each in report["checks"]][-3:] == ["content", "actions", "actions"]
    assert {each["sentence"] for each in report["checks"] if not each["passed"]} == {
        alert["reason"] for alert in report["alerts"]
    }
