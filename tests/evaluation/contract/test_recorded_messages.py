from evaluation import evaluate, run_from_messages
from tests.evaluation.importers.conversations import ANSWER, ANTHROPIC, CHAT, FORMATS, REPLY, tool_use

EXPECTED = {"expected_trajectory": ["find_order"]}
CALLS = run_from_messages(CHAT)["tool_calls"]


def judge_run(messages, contract=EXPECTED, **fields):
    return evaluate({"agent_run": {"messages": messages, **fields}, **contract})


def doubts(report):
    return [alert["reason"] for alert in report.alerts if alert["kind"] == "record"]


AGREEING = {
    "the same calls": CALLS,
    "their names alone": ["cancel_order", "find_order"],
    "more detail": [{**call, "latency_ms": 3.0, "agent": "a", "id": "x"} for call in CALLS],
    "arguments as an object": [{**call, "args": {"order": 7}} for call in CALLS],
    "an error that the messages do not mark": [{**CALLS[0], "error": "too late"}, CALLS[1]],
    "a result that was cut": [{**CALLS[0], "result": "Error: too…"}, CALLS[1]],
    "a result that was parsed": [{**CALLS[0], "result": {"error": "too late"}}, CALLS[1]],
    "a hand-off": [{**CALLS[0], "kind": "handoff"}, CALLS[1]],
    "a step that is no call": [*CALLS, {"name": "think", "kind": "reasoning"}],
    "calls of several agents": [
        {**CALLS[0], "agent": "a"}, {**CALLS[1], "agent": "a"}, {"name": "look", "agent": "b"},
    ],
}  # fmt: skip


def test_tool_calls_may_say_more_or_less_than_the_messages(subtests):
    for name, calls in AGREEING.items():
        with subtests.test(name=name):
            report = judge_run(CHAT, tool_calls=calls)

            assert doubts(report) == []
            assert report.status in {"passed", "warning"}


def test_tool_calls_that_lack_a_call_of_the_messages_do_not_pass(subtests):
    for calls, lost in [([], "cancel_order"), (CALLS[:1], "find_order")]:
        with subtests.test(calls=calls):
            report = judge_run(CHAT, {"reference_output": REPLY}, tool_calls=calls)
            (doubt,) = doubts(report)

            assert f"messages hold a call of {lost} that tool_calls lacks" in doubt
            assert report.status == "needs_review"


PARALLEL = [
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": [tool_use("1", "a"), tool_use("2", "b")]},
    {"role": "assistant", "content": "Done."},
]
WHOLE = {"tool_calls": CALLS, "final_output": REPLY}
BOTH = {"tool_calls": ["cancel_order", "find_order"]}
NEVER = {"audit": {"rules": [{"id": "r", "forbidden_tools": ["cancel_order"]}]}}
UNCALLED = "messages[1] answers a tool call that no message before it makes"
ENDING = {**EXPECTED, "trajectory": {"final_tools": ["find_order"]}}
RECORDS = {
    "calls in another order than the parallel ones of the messages": (
        PARALLEL, {"tool_calls": ["b", "a"]}, {"expected_trajectory": ["b", "a"]}, "passed", ""),
    "messages without their beginning": (CHAT[3:], WHOLE, EXPECTED, "passed", ""),
    "messages without their end": (CHAT[:3], WHOLE, EXPECTED, "passed", ""),
    "messages that record no tools": ([CHAT[0], ANSWER], {"tool_calls": CALLS}, EXPECTED, "passed", ""),
    "an answer whose call is not recorded": (
        [CHAT[0], CHAT[2], ANSWER], {"tool_calls": []}, NEVER, "needs_review", UNCALLED),
    "a conversation without calls where none is expected": (
        [CHAT[0], ANSWER], {}, {"expected_trajectory": []}, "passed", ""),
    "a conversation without calls": ([CHAT[0], ANSWER], {}, {"must_call": ["find_order"]}, "failed", ""),
    "an error that only the message has": (
        ANTHROPIC, BOTH, {"must_call": ["cancel_order"]}, "failed", ""),
    "a text beside the last call": (
        ANTHROPIC[:2], {}, {"required_content": [{"text": "Let me see"}]}, "needs_review", "without a reply"),
    "the user after the answer": (
        [*CHAT[:-1], {"role": "user", "content": "Hello?"}], {}, EXPECTED, "needs_review", "without a reply"),
    "a final output beside messages without a reply": (
        CHAT[:-1], {"final_output": REPLY}, EXPECTED, "passed", ""),
    "a tool that may end a run": (CHAT[:-1], {}, ENDING, "passed", ""),
}  # fmt: skip


def test_what_messages_record_beside_the_calls_and_the_output_decides(subtests):
    for name, (messages, fields, contract, status, doubt) in RECORDS.items():
        with subtests.test(name=name):
            report = judge_run(messages, contract, **fields)

            assert report.status == status
            assert doubt in " ".join(doubts(report))
            assert doubt or not doubts(report)


def test_messages_alone_are_a_run_without_a_contract():
    assert evaluate([CHAT[0], ANSWER]).status == "passed"
    lie = {"role": "assistant", "content": "I have cancelled order 7 and refunded it."}
    assert evaluate([*CHAT[:3], lie]).status == "failed"


def test_a_run_that_ends_with_a_call_or_an_answer_has_not_finished(subtests):
    for name in FORMATS:
        for dropped in [1, 2]:
            with subtests.test(name=name, dropped=dropped):
                report = judge_run(FORMATS[name][:-dropped])

                assert report.status == "needs_review"
                assert (
                    "The run ends with a call of find_order and without a reply of the assistant"
                    in doubts(report)[0]
                )


EFFECTS = {"acting_tools": ["cancel_order"]}


def test_a_run_that_ends_with_a_change_or_is_to_read_alone_has_to_reply(subtests):
    for messages, expected in [(CHAT[:3], ["cancel_order"]), ([CHAT[0], *CHAT[3:5]], ["find_order"])]:
        with subtests.test(messages=messages):
            report = judge_run(messages, {"expected_trajectory": expected, "trajectory": EFFECTS})

            assert report.status in {"needs_review", "failed"}
            assert "record the reply" in doubts(report)[0]
