"""Calling a judge gives an answer or a failure, even if the judge raises."""

from __future__ import annotations

import asyncio

from agents.sync import arun_conversation, run_conversation
from evaluation.errors import JudgeError
from evaluation.judges.judge_call import build_request
from evaluation.nodes.rubric_judging import run_rubric_judge
from evaluation.plugins import Plugins
from evaluation.testing import FailingJudge, ScriptedJudge
from tests.evaluation.judges.asking import state


class OnlyAsync:
    async def ajudge(self, request):
        await asyncio.sleep(0)
        return '{"score": 4}'


class AsyncByMistake:
    async def judge(self, request):
        return '{"score": 4}'


class OnlySync:
    def __init__(self, error=None):
        self.error = error

    def judge(self, request):
        if self.error is not None:
            raise self.error
        return '{"score": 4}'


JUDGES = [OnlyAsync(), AsyncByMistake(), OnlySync(), ScriptedJudge(lambda _: '{"score": 4}')]
DECIDED = {"needed": True, "called": False, "reason": "a rubric is configured"}


def ask(judge):
    return run_rubric_judge({**state(), "judge_decision": DECIDED}, Plugins(judge=judge))


def fail(judge):
    return run_conversation(ask(judge))["judge_result"]["failure"]


async def test_every_kind_of_judge_answers_also_within_a_running_loop(subtests):
    for judge in JUDGES:
        with subtests.test(judge=judge):
            assert (await arun_conversation(ask(judge)))["judge_result"] == {"answer": '{"score": 4}'}
            assert run_conversation(ask(judge))["judge_result"] == {"answer": '{"score": 4}'}


def test_what_a_judge_raises_is_a_failure_of_its_kind(subtests):
    for error, kind, reason in [
        (ConnectionError("refused"), "provider_failure", "ConnectionError: refused"),
        (StopIteration("early"), "provider_failure", "StopIteration: early"),
        (JudgeError("filtered", "blocked"), "blocked", "filtered"),
        (ValueError("a\n\n  b"), "provider_failure", "ValueError: a b"),
    ]:
        with subtests.test(error=error):
            failure = fail(OnlySync(error))
            assert (failure["kind"], failure["message"]) == (kind, reason)


def test_an_error_keeps_what_the_call_cost_and_its_details_as_plain_json():
    error = JudgeError("odd", "blocked", usage={"input_tokens": 3}, details={"votes": 1})
    failure = {"kind": "blocked", "message": "odd", "usage": {"input_tokens": 3}, "details": {"votes": 1}}
    assert fail(FailingJudge(error)) == failure
    assert fail(FailingJudge(JudgeError("odd", "blocked", details={"raw": object()})))["details"] == {}


def test_the_text_of_an_error_is_bounded_even_where_the_bound_cuts_a_key():
    key = "sk-proj-" + "Ab3dE6gH9jK2mN5pQ8sT" * 2
    failure = fail(OnlySync(ConnectionError("x " * 142 + key + " y" * 10**6)))
    assert len(failure["message"]) < 400
    assert "Ab3d" not in failure["message"]


def test_no_judge_is_a_failure_of_its_own():
    assert fail(None)["kind"] == "not_configured"


def test_a_judge_is_shown_what_the_state_holds():
    asked = build_request(
        state(
            agent_run={"input": "Hi", "final_output": "Hello!", "tool_calls": ["greet"]},
            reference_output="Good day!",
            subjective_criteria=["clarity"],
        )
    )
    assert (asked.input, asked.output, asked.reference) == ("Hi", "Hello!", "Good day!")
    assert [action["name"] for action in asked.actions] == ["greet"]
    assert [criterion.name for criterion in asked.rubric.criteria] == ["clarity"]


def test_a_judge_cannot_change_the_record():
    run = {"final_output": "Hello!", "tool_calls": [{"name": "greet", "args": {"whom": "you"}}]}
    before = state(agent_run=run)
    build_request(before).actions[0]["args"].clear()
    assert before == state(agent_run=run)


SAID = [
    {"role": "user", "content": "Hi."},
    {"role": "assistant", "content": "You fool."},
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": "Done."},
]


def conversation(messages, **run):
    return build_request(state(agent_run={"messages": messages, **run})).conversation


def test_a_request_has_the_messages_before_the_output():
    turns = conversation(SAID)
    assert [(turn["role"], turn["content"]) for turn in turns] == [
        ("user", "Hi."), ("assistant", "You fool."), ("user", "And now?")
    ]  # fmt: skip
    assert len(conversation(SAID, final_output="Something else.")) == 4


def test_a_conversation_that_says_no_more_than_the_input_and_the_output_is_left_out():
    assert conversation(SAID[2:], input="And now?", final_output="Done.") == ()
    assert conversation([], final_output="Done.") == ()
    assert len(conversation(SAID, input="And now?")) == 3


def test_the_answers_of_tools_are_among_the_actions_and_not_in_the_conversation():
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        SAID[0],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "found"},
        SAID[3],
    ]
    asked = build_request(state(agent_run={"messages": messages}))
    assert [turn["role"] for turn in asked.conversation] == ["user"]
    assert [action["result"] for action in asked.actions] == ["found"]


def test_parts_that_are_no_text_are_named(subtests):
    for part, media in [
        ({"type": "image_url", "image_url": {"url": "x"}}, ["image_url"]),
        ({"type": "input_file", "file_id": "1"}, ["input_file"]),
        ({"type": "text", "text": "the profile image"}, []),
    ]:
        with subtests.test(part=part):
            assert conversation([{"role": "user", "content": [part]}, SAID[3]])[0]["media"] == media
