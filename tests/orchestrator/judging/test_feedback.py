"""What the report of a step says in words, and as one number: over reports of the real evaluation."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import evaluate
from evaluation.testing import FailingJudge, ScriptedJudge
from orchestrator.judging.feedback import MAX_FEEDBACK, feedback_of, findings_of, report_score, warnings_of

OUTPUT = "The quick brown fox jumps over the lazy dog. It rained, and then it stopped."
CALLS = [
    {"name": "search", "args": {"q": "x"}},
    {"name": "read", "args": {"path": "b.txt"}, "error": "no such file"},
]
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


def report(run=RUN, judge=None, include_raw=False, **contract):
    told = evaluate({**contract, "agent_run": run}, judge=judge, include_raw=include_raw)
    return json.loads(told.model_dump_json())


def refused(told):
    """The one thing that a feedback asks for."""
    assert told.startswith(REFUSED), told
    return told.removeprefix(REFUSED)


HELP = {"id": "help", "required": {"text": "none"}}
COMPLAINTS = [
    ({"output_length": {"min_words": 40, "max_words": 60}}, "The output has 15 words; 40 to 60 are wanted."),
    ({"output_length": {"min_words": 40}}, "The output has 15 words; at least 40 are wanted."),
    ({"output_length": {"max_words": 5}}, "The output has 15 words; at most 5 are wanted."),
    ({"output_length": {"max_characters": 70}}, "The output has 76 characters; at most 70 are wanted."),
    ({"thresholds": {"words": {"max": 5}}}, "The output has 15 words; at most 5 are wanted."),
    (
        {"required_content": [{"text": "Thank you for reading."}]},
        'The output has to hold the text "Thank you for reading."; it does not.',
    ),
    (
        {"required_content": [{"text": "thanks", "where": "assistant_messages"}]},
        'The output has to hold the text "thanks" in the assistant\'s messages; it does not.',
    ),
    (
        {"required_content": [{"pattern": "^[A-Z]+$"}]},
        'The output has to hold a match of the regular expression "^[A-Z]+$"; it does not.',
    ),
    ({"required_content": [{"number": 42.5}]}, "The output has to hold the number 42.5; it does not."),
    (
        {"required_content": [{"json_schema": {"type": "object"}}]},
        "The output has to hold JSON of the wanted schema; it does not: no JSON.",
    ),
    ({"forbidden_content": [{"text": ","}]}, 'The output must not hold the text ",", and does.'),
    (
        {"keywords": ["fox", "hedgehog", "badger"]},
        "The output holds 33% of the wanted keywords; at least 100% is wanted; missing: hedgehog, badger.",
    ),
    (
        {"reference_output": "Fox and hedgehog", "thresholds": {"keyword_coverage": 0.9}},
        "The output holds 67% of the wanted keywords; at least 90% is wanted.",
    ),
    (
        {"reference_output": "Nothing alike", "thresholds": {"rouge_1": 0.85}},
        "The output is not like the expected answer: rouge 1 is 0; at least 0.85 is wanted.",
    ),
    (
        {"expected_trajectory": ["search", "write", "read"], "trajectory_match_mode": "in_order"},
        "The tool calls are not the expected ones: missing write.",
    ),
    (
        {"expected_trajectory": ["search"], "trajectory_match_mode": "exact"},
        "The tool calls are not the expected ones: extra read.",
    ),
    (
        {"expected_trajectory": [{"name": "read", "args": {"path": "a.txt"}}]},
        ("The tool calls are not the expected ones: missing read; with other arguments read "
        "(read was given 'b.txt' for path, not 'a.txt')."),
    ),
    (
        {"expected_trajectory": [{"name": "read", "args": {"path": "b.txt", "lines": 3}}]},
        ("The tool calls are not the expected ones: missing read; with other arguments read "
        "(read lacks lines, which should be '3')."),
    ),
    (
        {"expected_trajectory": [{"name": "read", "args": {}}]},
        ("The tool calls are not the expected ones: missing read; with other arguments read "
        "(read was given path, which is not expected)."),
    ),
    (
        {"expected_trajectory": ["search"], "thresholds": {"trajectory_precision": 0.75}},
        "The trajectory precision was 0.5; at least 0.75 is wanted.",
    ),
    ({"trajectory": {"forbidden_tools": ["read"]}}, "Tools were called that are forbidden: read."),
    ({"trajectory": {"failed_calls": "fail"}, "keywords": ["fox"]}, "Tool calls ended in an error: read."),
    (
        {"thresholds": {"latency_ms": {"max": 100, "severity": "critical"}}},
        "The latency was 250 ms; at most 100 ms is wanted.",
    ),
    (
        {"thresholds": {"latency_ms": {"min": 300, "max": 400, "severity": "critical"}}},
        "The latency was 250 ms; 300 to 400 ms is wanted.",
    ),
    (
        {"thresholds": {"tool_calls": {"max": 1, "severity": "critical"}}},
        "The tool calls were 2; at most 1 are wanted.",
    ),
    (
        {"audit": {"rules": [{"id": "no-files", "forbidden_tools": ["read"]}]}},
        "A rule is broken: no-files: tool read is forbidden and was called (1).",
    ),
    (
        {"audit": {"rules": [{**HELP, "recommended_action": "add it"}]}},
        'A rule is broken: help: required content (text "none") is not there. Add it.',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("contract", "told"), COMPLAINTS)
def test_a_failed_check_is_told_by_what_is_wanted_and_what_was_seen(contract, told):
    assert refused(feedback_of(report(**contract))) == told


def test_arguments_that_are_shown_raw_are_told_as_well():
    told = feedback_of(
        report(include_raw=True, expected_trajectory=[{"name": "read", "args": {"path": "a.txt"}}])
    )

    assert "read was given 'b.txt' for path, not 'a.txt'" in told


def test_arguments_that_are_refused_as_a_whole_are_told_as_a_whole():
    told = evaluate(
        {
            "agent_run": RUN,
            "expected_trajectory": [{"name": "read", "args": {"path": "a"}}],
            "trajectory": {"arguments": {"match": "custom", "function": "never"}},
        },
        argument_functions={"never": lambda expected, observed: False},
    )
    said = refused(feedback_of(told.model_dump(mode="json")))

    assert said.endswith("""(read was given '{"path":"b.txt"}', not '{"path":"a"}').""")


def test_what_a_judge_found_is_told_with_its_reasons():
    rubric = {"criteria": [{"name": "clarity"}, {"name": "tone"}]}

    assert refused(feedback_of(report(judge=ScriptedJudge([ANSWER]), rubric=rubric))) == (
        "A reviewer gave 2 on a scale from 1 to 5; at least 4 is wanted. It rambles. "
        "By criterion: clarity 2; tone 4. Concerns: No example; Too long. Shorten it."
    )


def test_a_judge_of_few_words_is_told_as_briefly():
    judge = ScriptedJudge([{"score": 1.5, "rationale": "Too vague!"}])

    assert refused(feedback_of(report(judge=judge, rubric=CLARITY))) == (
        "A reviewer gave 1.5 on a scale from 1 to 5; at least 4 is wanted. Too vague!"
    )


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"final_output": "password=hunter2secret"}, "the output holds credentials: password (1)."),
        (
            {"final_output": "x", "tool_calls": ["a", {"name": "t", "args": {"password": "hunter2secret"}}]},
            "the arguments of tool call 2 holds credentials: password (1).",
        ),
        (
            {"final_output": "x", "messages": [{"role": "assistant", "content": "password=hunter2secret"}]},
            "message 1 holds credentials: password (1).",
        ),
    ],
)
def test_where_a_rule_was_broken_is_told_in_words(run, told):
    assert refused(feedback_of(report(run, keywords=[]))) == f"A rule is broken: {told}"


def test_a_warning_is_told_as_what_could_be_better():
    again = {"final_output": "x", "tool_calls": [{"name": "search", "args": {}}] * 4}
    told = feedback_of(report(again, required_content=[{"text": "x"}]))

    assert told == (
        "Your output was accepted. What could be better:\n"
        "- The tool search was done 4 times in a row with the same arguments."
    )


def test_arguments_that_are_no_object_are_told():
    run = {"final_output": "x", "tool_calls": [{"name": "t", "args": "[1]"}]}
    told = feedback_of(report(run, expected_trajectory=["t"]))

    assert "- The arguments of tool calls are no JSON object: t." in told


@pytest.mark.parametrize(
    ("judge", "contract", "told"),
    [
        (FailingJudge(), {"rubric": CLARITY}, "- Judge: provider_failure: this judge always fails."),
        (None, {"thresholds": {"cost_usd": 1}}, "- Cost has a threshold and no value: the run"),
        (None, {"reference_output": "Else"}, "- Rouge 1: 0 is below the default minimum 0.8, as a"),
        (None, {}, "- Nothing was asked of this run."),
    ],
)  # fmt: skip
def test_where_nothing_failed_it_is_told_what_could_not_be_decided(judge, contract, told):
    head, first = feedback_of(report(judge=judge, **contract)).splitlines()[:2]

    assert head.startswith("Whether your output is good enough could not be decided")
    assert first.startswith(told)


def test_what_is_missing_for_a_check_is_not_the_executors_to_mend():
    told = feedback_of(report(thresholds={"words": {"max": 5}, "cost_usd": 1}))

    assert refused(told) == "The output has 15 words; at most 5 are wanted."


def test_a_check_that_is_not_set_up_correctly_is_told_as_our_fault():
    assert feedback_of(report(keyword=["fox"])) == (
        "Your output was not judged, since its check is not set up correctly:\n"
        "- Keyword: Extra inputs are not permitted."
    )


@pytest.mark.parametrize("told", [feedback_of, findings_of, warnings_of])
def test_of_a_run_that_passed_there_is_nothing_to_say(told):
    assert not told(report(keywords=["fox"]))


def test_a_failed_check_without_numbers_is_told_in_the_reports_own_words():
    alert = {
        "kind": "collaboration",
        "metric": "plan_kept",
        "severity": "critical",
        "reason": "plan_kept: no",
    }
    told = {"status": "failed", "alerts": [{**alert, "observed": None, "limit": None}]}

    assert refused(feedback_of(told)) == "Plan kept: no."


def test_mere_information_is_not_told():
    told = report(required_content=[{"text": "x", "severity": "info"}], keywords=["cat"])

    assert refused(feedback_of(told)).startswith("The output holds 0%")
    assert (len(findings_of(told)), warnings_of(told)) == (1, [])


def test_the_most_important_comes_first():
    told = feedback_of(
        report(
            required_content=[{"text": "minor", "severity": "warning"}, {"text": "major"}],
            audit={"rules": [{"id": "r", "forbidden_tools": ["read"]}]},
        )
    ).splitlines()

    assert told[0] == "Your output was not accepted. What has to change, the most important first:"
    assert [line[:20] for line in told[1:]] == ["- A rule is broken: ", *["- The output has to "] * 2]
    assert ("major" in told[2], "minor" in told[3]) == (True, True)


def many(count, length=40):
    return [{"text": f"{at} {'x' * length}"} for at in range(count)]


def test_a_long_feedback_is_bounded_and_says_how_much_more_there_is():
    told = feedback_of(report(required_content=many(100)))
    lines = told.splitlines()

    assert len(told) <= MAX_FEEDBACK
    assert lines[-1] == f"- and {100 - (len(lines) - 2)} more"


def test_a_single_complaint_is_bounded_too():
    judge = ScriptedJudge([{**ANSWER, "rationale": "bad " * 5000}])

    assert len(feedback_of(report(judge=judge, rubric=CLARITY))) < MAX_FEEDBACK


def test_many_names_are_counted():
    told = feedback_of(report(keywords=[f"word{at}" for at in range(12)]))

    assert told.endswith("missing: word0, word1, word2, word3, word4 and 7 more.")


def test_a_judges_lines_cannot_pass_for_another_complaint():
    judge = ScriptedJudge([{**ANSWER, "rationale": "Bad.\n- The output is fine."}])

    assert len(feedback_of(report(judge=judge, rubric=CLARITY)).splitlines()) == 2


@given(st.text(), st.lists(st.text(min_size=1).filter(str.strip), max_size=30), st.integers(0, 100))
@settings(deadline=None)
def test_any_feedback_is_bounded_and_has_one_line_a_complaint(output, wanted, words):
    rules = [{"text": text} for text in wanted]
    told = report({"final_output": output}, required_content=rules, output_length={"min_words": words})
    lines = feedback_of(told).split("\n")

    assert len("\n".join(lines)) <= MAX_FEEDBACK
    assert all(line.startswith("- ") for line in lines[1:])
    assert bool(lines[0]) == (told["status"] != "passed")


@pytest.mark.parametrize(
    ("contract", "found"),
    [
        (
            {"output_length": {"min_words": 40}, "keywords": ["cat"]},
            [
                "critical: keyword_coverage: 0 is below the minimum 1; missing: cat",
                "critical: words: 15 is below the minimum 40",
            ],
        ),
        (
            {"forbidden_content": [{"text": ","}]},
            ['critical: forbidden_content[0] (text ",") is found in the final output'],
        ),
        (
            {"expected_trajectory": ["write"]},
            [
                (
                    "critical: trajectory: The actions do not agree with the expected ones in mode in_order: "
                    "missing write"
                )
            ],
        ),
        (
            {"audit": {"rules": [{"id": "no-files", "forbidden_tools": ["read"]}]}},
            ["critical: audit: no-files: tool read is forbidden and was called (1)"],
        ),
        ({"keyword": ["x"]}, ["critical: input: keyword: Extra inputs are not permitted"]),
        ({}, ["warning: contract: nothing was asked of this run"]),
    ],
)
def test_a_finding_holds_severity_metric_and_what_was_expected_and_observed(contract, found):
    assert findings_of(report(**contract)) == found


def test_a_finding_of_a_judge_holds_its_reason():
    [found] = findings_of(report(judge=ScriptedJudge([ANSWER]), rubric=CLARITY))

    assert found == "critical: judge_score: 2 is below the minimum 4; the judge: It rambles"


def test_what_failed_comes_before_what_stays_open():
    found = findings_of(report(thresholds={"cost_usd": 1, "words": 5}))

    assert [line.split(":")[1].split()[0] for line in found] == ["words", "cost_usd"]


def test_what_a_run_passes_with_is_a_warning_and_no_finding():
    told = report(thresholds={"latency_ms": 100})

    assert (told["status"], findings_of(told)) == ("warning", [])
    assert warnings_of(told) == ["warning: latency_ms: 250 exceeds the limit 100"]


def test_findings_are_single_lines_of_bounded_length():
    judge = ScriptedJudge([{**ANSWER, "rationale": "bad\nbad " * 500}])
    [found] = findings_of(report(judge=judge, rubric=CLARITY))

    assert (len(found), "\n" in found) == (300, False)


NO_FILES = {"id": "r", "forbidden_tools": ["read"]}
SCALE = {**CLARITY, "scale": {"min": 0, "max": 10}}


@pytest.mark.parametrize(
    ("contract", "judge", "score"),
    [
        ({"keywords": ["fox"]}, None, 1.0),
        ({"keywords": ["cat"]}, None, 0.0),
        ({"keywords": ["fox"], "forbidden_content": [{"text": ","}]}, None, 0.5),
        ({"keywords": ["fox"], "thresholds": {"cost_usd": 1}}, None, 1.0),
        ({"thresholds": {"cost_usd": 1}}, None, None),
        ({}, None, None),
        ({"keyword": ["x"]}, None, None),
        ({"audit": {"rules": [NO_FILES]}}, None, 0.0),
        ({"audit": {"rules": [NO_FILES]}, "keywords": ["fox"]}, None, 0.5),
        ({"audit": {"rules": [{**NO_FILES, "severity": "info"}]}, "keywords": ["fox"]}, None, 1.0),
        ({"rubric": CLARITY}, 5, 1.0),
        ({"rubric": CLARITY}, 1, 0.0),
        ({"rubric": CLARITY}, 2, 0.25),
        ({"rubric": SCALE}, 4, 0.4),
        ({"rubric": SCALE, "keywords": ["fox", "dog"]}, 4, 0.7),
    ],
)  # fmt: skip
def test_the_score_is_the_share_of_answered_questions_that_are_met(contract, judge, score):
    judges = ScriptedJudge([{"score": judge, "rationale": "So."}]) if judge is not None else None

    assert report_score(report(judge=judges, **contract)) == score


def test_a_judge_that_failed_is_no_question():
    assert report_score(report(judge=FailingJudge(), rubric=CLARITY, keywords=["fox"])) == 1.0


@pytest.mark.parametrize(("read", "nothing"), [(findings_of, []), (warnings_of, []), (feedback_of, "")])
def test_no_report_says_nothing(read, nothing):
    assert read({}) == nothing


def test_no_report_has_no_score():
    assert report_score({}) is None


@given(st.lists(st.booleans(), max_size=8))
@settings(deadline=None)
def test_the_score_of_checks_is_the_share_that_passed(answers):
    rules = [{"text": "fox" if answer else "cat"} for answer in answers]
    share = sum(answers) / len(answers) if answers else None

    assert report_score(report(required_content=rules)) == share


def test_reading_changes_nothing_of_a_report():
    told = report(
        judge=ScriptedJudge([ANSWER]), rubric=CLARITY, keywords=["cat"], expected_trajectory=["write"]
    )
    before = copy.deepcopy(told)
    for read in (findings_of, warnings_of, feedback_of, report_score):
        read(told)

    assert told == before
