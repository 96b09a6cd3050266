import asyncio
import re

import pytest
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate, run_from_state
from orchestrator import ConfigurationError, ResumeError
from tests.fakes.acting import APPROVE, DENY, Office, approve, ask, build_acting, list_outcomes, list_texts
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import THREAD, delegate_to
from tests.fakes.runs import build as build_run

SEND, READ_AND_SEND = ask(("send", "Bob")), ask(("read", "a"), ("send", "Bob"))


def build(tools, *replies, **options):
    options = {"checkpointer": InMemorySaver(), "acting_tools": approve("send"), **options}
    return build_acting(tools, *replies, **options)


def start(tools, *replies, **options):
    orchestrator, model = build(tools, *replies, **options)
    return orchestrator, model, orchestrator.run("x", "thread")


def test_a_forbidden_tool_does_not_run_and_the_executor_goes_on_without_it(subtests):
    for contract in [
        {"trajectory": {"forbidden_tools": ["send"]}},
        {"audit": {"rules": [{"id": "r", "forbidden_tools": ["send"]}]}},
        {"audit": {"rules": [{"id": "r", "allowed_tools": ["read", "post"]}]}},
    ]:
        with subtests.test(contract=contract):
            office = Office()
            orchestrator, model = build_acting(office, READ_AND_SEND, "not sent", contract=contract)
            state = orchestrator.run("x")

            refusal = ("Tool 'send' is forbidden in this step.", "forbidden")
            assert (office.done, refusal in list_outcomes(state)) == (["read a"], True)
            assert refusal[0] in list_texts(model)
            warning = "step 1: the contract forbids these calls, which did not run: send"
            assert (state["status"], state["warnings"]) == ("success", [warning])
            assert evaluate({"agent_run": run_from_state(state), **contract})["status"] != "failed"


# ------------------------------------------------------------------------------------------ a person approves


def test_the_person_who_approves_a_call_of_a_forked_run_is_told_of_that_of_the_copied_run():
    orchestrator, _, _ = start(Office(), SEND, "sent", SEND)
    orchestrator.resume("thread", APPROVE)
    forked = orchestrator.fork("thread", 0, "new")

    told = "the run that was copied called send in step 1 (acted); this run may call it again"
    assert (forked["warnings"], forked["question"]["findings"]) == ([told], [told])


def test_a_tool_runs_after_a_person_has_approved_the_call_and_no_other_call_before():
    office = Office()
    orchestrator, model, waiting = start(office, READ_AND_SEND, "sent")
    done_before = [*office.done]
    state = orchestrator.resume("thread", APPROVE)

    question = waiting["question"]
    assert (question["kind"], question["text"]) == ("tool", "May the tool send run?")
    assert question["accepts"] == ["approve", "deny", "halt"]
    assert [(call["name"], call["args"]) for call in question["tool_calls"]] == [("send", {"to": "Bob"})]
    assert (done_before, sorted(office.done)) == ([], ["read a", "send Bob"])
    assert (state["status"], len(model.prompts)) == ("success", 2)
    [answer] = [call["answer"] for call in state["results"][0]["tool_calls"] if call["name"] == "send"]
    assert {**APPROVE, "text": ""}.items() <= answer.items()
    assert answer["answered_at"]


def test_each_call_is_asked_about_with_an_id_of_its_own():
    office, ids = Office(), []
    orchestrator, _, state = start(office, ask(("send", "A"), ("send", "B")), ask(("send", "A")), "sent")
    while (question := state["question"]) is not None:
        ids.append(question["id"])
        state = orchestrator.resume("thread", {**APPROVE, "question": question["id"]})

    assert (len(ids), len(set(ids))) == (3, 3)
    assert sorted(office.done) == ["send A", "send A", "send B"]


def test_an_answer_that_cannot_be_read_runs_nothing():
    office = Office()
    orchestrator, _, _ = start(office, SEND, "sent")

    with pytest.raises(ResumeError, match="give"):
        orchestrator.resume("thread", {"answer": "correct", "text": "send it to Eve"})
    asked_again = asyncio.run(orchestrator.graph.ainvoke(Command(resume="yes"), THREAD))
    assert "'yes'" in asked_again["__interrupt__"][0].value["problem"]
    assert office.done == []


def test_a_denied_call_is_told_as_denied_and_not_as_an_error(subtests):
    for contract, told in [
        ({"must_call": ["send"]}, "1 time, was denied 1 time; go on without it, and say so"),
        ({"expected_trajectory": ["send"]}, "missing send"),
        ({"checks": [{"check": "tool_calls", "tool": "send", "min": 1}]}, "1 time, was denied 1 time"),
    ]:
        with subtests.test(contract=contract):
            options = {"contract": EvaluationContract(**contract), "max_retries": 0}
            orchestrator, _, _ = start(Office(), SEND, "not sent", **options)
            state = orchestrator.resume("thread", DENY)

            reported = f"{state['failure']['message']} {state['results'][0]['report']['alerts']}"
            assert (told in reported, "ended in an error" in reported) == (True, False)


def test_names_that_would_let_a_call_through_are_refused(subtests):
    tools = "the tools of the executor are pay, send, read, post"
    for options, message in [
        ({"checkpointer": None}, 'acting_tools has approve=True for "send", but there is no checkpointer'),
        ({"acting_tools": approve("sned")}, f'acting_tools names "sned"; {tools}'),
        ({"acting_tools": ["sned"]}, f'acting_tools names "sned"; {tools}'),
        ({"acting_tools": "send"}, "acting_tools is 'send'; give a list of tool names, or a dict such as"),
        ({"acting_tools": {"send": "approve"}}, "acting_tools is {'send': 'approve'}; give a list"),
    ]:
        with subtests.test(options=options), pytest.raises(ConfigurationError, match=re.escape(message)):
            build(Office(), "x", **options)
    for acting, option in [
        (approve("send"), 'acting_tools has approve=True for "send"'),
        (["send", "pay"], "acting_tools is given"),
        (["send"], "acting_tools is given"),
    ]:
        told = f"{option}, but FakeExecutor calls its tools by itself; give an ExecutionAgent as the executor"
        with subtests.test(acting=acting), pytest.raises(ConfigurationError, match=told):
            build_run(FakeExecutor(), acting_tools=acting, checkpointer=InMemorySaver())
    build_run(FakeExecutor(), acting_tools=[], checkpointer=InMemorySaver())


def test_an_approval_counts_for_no_other_arguments_of_a_graph_that_is_not_awaited():
    office = Office()
    orchestrator, _ = build(office, SEND, ask(("send", "Eve")))
    [waiting] = orchestrator.graph.invoke({"task": "x"}, THREAD)["__interrupt__"]
    answer = {**APPROVE, "question": waiting.value["id"]}
    [asked] = orchestrator.graph.invoke(Command(resume={waiting.id: answer}), THREAD)["__interrupt__"]
    [refused] = orchestrator.graph.invoke(Command(resume={asked.id: answer}), THREAD)["__interrupt__"]

    assert [each.value["tool_calls"][0]["args"] for each in (asked, refused)] == [{"to": "Eve"}] * 2
    assert asked.value["problem"] is None
    assert refused.value["problem"] == (
        "the answer is for another question; "
        'read and answer the one that waits: step 1, attempt 1, "May the tool send run?"'
    )
    assert office.done == ["send Bob"]


def test_an_approval_of_an_agent_in_a_tool_counts_for_no_other_arguments():
    office = Office()
    inner = ExecutionAgent(ScriptedChatModel([SEND, ask(("send", "Eve")), "sent"]), office.tools())
    tools = [delegate_to(inner), *office.tools()]
    orchestrator, _, first = start(tools, ask(("delegate", "write")), "done")
    question = orchestrator.resume("thread", APPROVE)["question"]
    done_before = [*office.done]
    with pytest.raises(ResumeError, match="the answer is for another question"):
        orchestrator.resume("thread", {**APPROVE, "question": first["question"]["id"]})
    state = orchestrator.resume("thread", APPROVE)

    # The agent in the tool goes on with its conversation, so that its first reply is not asked for again.
    assert question["tool_calls"][0]["args"] == {"to": "Eve"}
    assert (done_before, office.done, state["status"]) == (["send Bob"], ["send Bob", "send Eve"], "success")


def test_a_denied_call_does_not_run_if_the_server_sends_no_ids_of_its_own(subtests):
    reply = ask(("send", "Bob"), ("send", "Eve"))
    for call_id in [None, "1"]:
        with subtests.test(call_id=call_id):
            office, calls = Office(), [{**call, "id": call_id} for call in reply.tool_calls]
            orchestrator, model, _ = start(office, reply.model_copy(update={"tool_calls": calls}), "sent")
            orchestrator.resume("thread", DENY)
            state = orchestrator.resume("thread", APPROVE)

            asked, *answers = model.prompts[-1][-3:]
            assert (office.done, state["status"]) == (["send Eve"], "success")
            assert [call["args"]["to"] for call in state["results"][0]["tool_calls"]] == ["Bob", "Eve"]
            assert [call["id"] for call in asked.tool_calls] == [answer.tool_call_id for answer in answers]


def test_a_denied_call_does_not_run_if_the_run_goes_on_without_its_approval(subtests):
    forbidding = EvaluationContract(trajectory={"forbidden_tools": ["send"]})
    for approved, contract in [(["send"], None), (approve("read"), None), (["send"], forbidding)]:
        with subtests.test(approved=approved, contract=contract):
            office, saver = Office(), InMemorySaver()
            _, _, waiting = start(office, SEND, contract=contract, checkpointer=saver)
            other, _ = build(office, "not sent", acting_tools=approved, checkpointer=saver)
            told = "waits for the approval of tool 'send'; give acting_tools this name with approve=True"
            with pytest.raises(ResumeError, match=told):
                other.resume("thread", DENY, accept_changes=True)
            same, _ = build(office, "not sent", contract=contract, checkpointer=saver)

            is_excluded = "Tool 'send' is forbidden in this step." in waiting["question"]["findings"]
            assert is_excluded is (contract is not None)
            assert (same.resume("thread", DENY)["status"], office.done) == ("success", [])


def test_an_approval_counts_for_no_other_tool_if_the_run_goes_on_with_other_options():
    office, saver = Office(), InMemorySaver()
    reply = ask(("read", "a"), ("send", "Bob"), ("post", "Bob"))
    start(office, reply, acting_tools=approve("send", "read", "post"), checkpointer=saver)
    other, _ = build(office, "done", acting_tools=approve("read", "post"), checkpointer=saver)
    with pytest.raises(ResumeError, match="acting_tools is"):
        other.resume("thread", APPROVE)
    state = other.resume("thread", APPROVE, accept_changes=True)

    # The answer for "read" has its question, and the one for "send" is taken for no other call.
    assert [call["name"] for call in state["question"]["tool_calls"]] == ["post"]
    assert office.done == []


def test_a_person_ends_the_run_at_a_tool_call():
    office = Office()
    orchestrator, model, _ = start(office, READ_AND_SEND)
    state = orchestrator.resume("thread", {"answer": "halt", "text": "stop all", "answered_by": "Ada"})

    assert (state["status"], state["failure"]["kind"]) == ("failed", "denied")
    assert state["failure"]["message"] == "step 1: denied by Ada: stop all"
    assert (office.done, len(model.prompts), len(state["results"])) == ([], 1, 1)


def test_calls_that_an_approved_tool_makes_are_not_recorded_as_approved():
    @tool
    def stamp(text: str) -> str:
        """Stamp."""
        return text

    def send(to: str) -> str:
        """Send."""
        return str(stamp.invoke({"text": to}))

    orchestrator, _, _ = start([send], SEND, "done")
    calls = orchestrator.resume("thread", APPROVE)["results"][0]["tool_calls"]

    assert [(call["name"], "answer" in call) for call in calls] == [("send", True), ("stamp", False)]


# ------------------------------------------------------------------------------------------ repeated calls


def test_a_retry_does_not_repeat_a_call_whose_annotations_say_that_each_call_has_an_effect(subtests):
    for hints, times in [
        ({"idempotentHint": False}, 1),
        ({"readOnlyHint": False}, 1),
        ({"destructiveHint": True, "readOnlyHint": True}, 1),
        ({"idempotentHint": True, "readOnlyHint": False}, 2),
        ({}, 2),
        ({"idempotentHint": False, "readOnlyHint": True}, 2),
    ]:
        with subtests.test(hints=hints):
            office = Office()
            send = StructuredTool.from_function(office.tools()[1], metadata=hints)
            monitor = FakeMonitor(refuse(), accept())
            state = build_acting([send], SEND, "sent", SEND, "sent", monitor=monitor)[0].run("x")

            assert (state["status"], office.done) == ("success", ["send Bob"] * times)


def test_equal_calls_of_an_attempt_are_calls_that_the_model_wants(subtests):
    for saver in [InMemorySaver(), None]:
        for replies in [[ask(*[("send", "Bob")] * 3)], [SEND] * 3]:
            with subtests.test(saver=saver, replies=replies):
                office = Office()
                orchestrator, _ = build(office, *replies, "sent", acting_tools=["send"], checkpointer=saver)
                state = orchestrator.run("x")

                assert (office.done, state["status"]) == (["send Bob"] * 3, "success")
                assert list_outcomes(state) == [("sent to Bob", None)] * 3


def test_a_denial_holds_for_the_same_call_in_the_rest_of_the_step(subtests):
    for replies, verdicts in [(["not sent", SEND], [refuse(), accept()]), ([SEND], [accept()])]:
        with subtests.test(replies=replies):
            office, options = Office(), {"monitor": FakeMonitor(*verdicts)}
            orchestrator, model, _ = start(office, SEND, *replies, "not sent", **options)
            state = orchestrator.resume("thread", DENY)

            told = "The same call was denied before in this step: Ada said: too early. Go on without it."
            assert (state["status"], state["question"], office.done) == ("success", None, [])
            assert told in list_texts(model)
