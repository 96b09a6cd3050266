import json

import pytest

from evaluation import evaluate
from evaluation.testing import FailingJudge, ScriptedJudge
from orchestrator.judging.feedback import MAX_FEEDBACK, feedback_of, report_score

OUTPUT = "The quick brown fox jumps over the lazy dog. It rained, and then it stopped."
CALLS = [{"name": "search", "args": {"q": "x"}}, {"name": "read", "args": {"path": "b.txt"}}]
RUN = {"final_output": OUTPUT, "tool_calls": CALLS, "latency_ms": 250}
REFUSED = "Your output was not accepted. What has to change:\n- "
CLARITY = {"criteria": [{"name": "clarity"}]}
ANSWER = {
    "score": 2,
    "rationale": "It rambles",
    "criteria": {"clarity": 2, "tone": 4},
    "concerns": ["No example", "Too long"],
    "recommended_action": "Shorten it.",
}


def report(run=RUN, judge=None, **contract):
    told = evaluate({**contract, "agent_run": run}, judge=judge)
    return json.loads(told.model_dump_json())


def refused(told):
    assert told.startswith(REFUSED), told
    return told.removeprefix(REFUSED)


DISAGREE = "The actions do not agree with the expected ones in mode in_order: missing read;"
HELP = {"id": "help", "required": {"text": "none"}}
ALERTS = [
    ({"thresholds": {"words": {"max": 5}}}, "The output has 15 words; it must have at most 5."),
    (
        {"keywords": ["fox", "hedgehog", "badger"]},
        'Include "fox", "hedgehog" and "badger"; "hedgehog" and "badger" are missing.',
    ),
    (
        {"reference_output": "Fox and hedgehog", "thresholds": {"keyword_coverage": 0.9}},
        (
            "The output differs too much from the expected answer: "
            "keyword_coverage is 0.6667; it must be at least 0.9."
        ),
    ),
    (
        {"expected_trajectory": [{"name": "read", "args": {"path": "a.txt"}}]},
        f"{DISAGREE} read has 'b.txt' for path, not 'a.txt'.",
    ),
    (
        {"expected_trajectory": [{"name": "read", "args": {"path": "b.txt", "lines": 3}}]},
        f"{DISAGREE} read lacks lines, which must be 3.",
    ),
    (
        {"thresholds": {"latency_ms": {"min": 300, "max": 400, "severity": "critical"}}},
        "latency_ms is 250; it must be 300 to 400.",
    ),
    (
        {"audit": {"rules": [{**HELP, "recommended_action": "Name a helpline."}]}},
        'Rule help: Include "none"; "none" is missing. Name a helpline.',
    ),
]


def test_the_alert_and_the_feedback_say_what_to_change_in_the_same_sentence(subtests):
    for contract, sentence in ALERTS:
        with subtests.test(contract=contract, sentence=sentence):
            told = report(**contract)

            assert refused(feedback_of(told)) == sentence
            assert sentence in [alert["reason"] for alert in told["alerts"]]


def test_what_a_judge_found_is_told_with_its_reasons():
    rubric = {"criteria": [{"name": "clarity"}, {"name": "tone"}]}

    assert refused(feedback_of(report(judge=ScriptedJudge([ANSWER]), rubric=rubric))) == (
        "The judge gave 2 on a scale from 1 to 5; the score must be at least 4. It rambles. "
        "By criterion: clarity 2; tone 4. Concerns: No example; Too long. Shorten it."
    )


def test_where_a_rule_was_broken_is_told_in_words(subtests):
    leak, call = "password=hunter2secret", {"name": "t", "args": {"password": "hunter2secret"}}
    for run, where in [
        ({"final_output": leak}, "The output contains"),
        ({"final_output": "x", "tool_calls": ["a", call]}, "The arguments of tool call 2 contain"),
        ({"final_output": "x", "messages": [{"role": "assistant", "content": leak}]}, "Message 1 contains"),
    ]:
        with subtests.test(run=run):
            told = f"{where} credentials: password (1 value); remove it."
            assert refused(feedback_of(report(run, keywords=[]))) == told


def test_where_nothing_failed_it_is_told_what_could_not_be_decided(subtests):
    for judge, contract, told in [
        (FailingJudge(), {"rubric": CLARITY}, "- judge: provider_failure: this judge always fails."),
        (None, {"thresholds": {"cost_usd": 1}}, "- cost_usd has a threshold and no value: the run"),
        (None, {"reference_output": "Else"}, "- The output is not the reference (rouge_1: 0)"),
        (None, {"keywords": []}, "- the contract contains no check."),
    ]:
        with subtests.test(judge=judge, contract=contract):
            head, first = feedback_of(report(judge=judge, **contract)).splitlines()[:2]

            assert head.startswith("Whether your output is good enough could not be decided")
            assert first.startswith(told)


def test_a_check_that_is_not_set_up_correctly_is_told_as_our_fault():
    assert feedback_of(report(keyword=["fox"])) == (
        "Your output was not judged, since its check is not set up correctly:\n"
        "- keyword: no field has this name; write 'keywords' instead, or leave it out."
    )


def test_the_most_important_comes_first():
    told = feedback_of(
        report(
            required_content=[{"text": "minor", "severity": "warning"}, {"text": "major"}],
            audit={"rules": [{"id": "r", "forbidden_tools": ["read"]}]},
        )
    ).splitlines()

    assert told[0] == "Your output was not accepted. What has to change, the most important first:"
    begins = [line[:21] for line in told[1:]]
    assert begins == ["- Rule r: The tool re", '- Include "major"; "m', '- Include "minor"; "m']


def many(count, length=40):
    return [{"text": f"{at} {'x' * length}"} for at in range(count)]


def test_a_long_feedback_is_bounded_and_says_how_much_more_there_is():
    told = feedback_of(report(required_content=many(100)))
    lines = told.splitlines()

    assert len(told) <= MAX_FEEDBACK
    assert lines[-1] == f"- and {100 - (len(lines) - 2)} more"


def test_a_judges_lines_cannot_pass_for_another_complaint():
    judge = ScriptedJudge([{**ANSWER, "rationale": "Bad.\n- The output is fine."}])

    assert len(feedback_of(report(judge=judge, rubric=CLARITY)).splitlines()) == 2


NO_FILES = {"id": "r", "forbidden_tools": ["read"]}
SCALE = {**CLARITY, "scale": {"min": 0, "max": 10}}


def test_the_score_is_the_share_of_answered_questions_that_are_met(subtests):
    for contract, judge, score in [
        ({"keywords": ["fox"]}, None, 1.0),
        ({"keywords": ["cat"]}, None, 0.0),
        ({"thresholds": {"cost_usd": 1}}, None, None),
        ({"keyword": ["x"]}, None, None),
        ({"audit": {"rules": [NO_FILES]}, "keywords": ["fox"]}, None, 0.5),
        ({"audit": {"rules": [{**NO_FILES, "severity": "info"}]}, "keywords": ["fox"]}, None, 1.0),
        ({"rubric": CLARITY}, 5, 1.0),
        ({"rubric": CLARITY}, 2, 0.25),
        ({"rubric": SCALE, "keywords": ["fox", "dog"]}, 4, 0.7),
    ]:
        with subtests.test(contract=contract, judge=judge):
            judges = ScriptedJudge([{"score": judge, "rationale": "So."}]) if judge is not None else None

            assert report_score(report(judge=judges, **contract)) == (score and pytest.approx(score))
