"""The gate before each tool call of a step: what contracts forbid, and what a person approves."""

from __future__ import annotations

import asyncio
import re

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate, run_from_state
from orchestrator import ConfigurationError, LangGraphOrchestrator, ResumeError
from tests.fakes.acting import approve
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

THREAD = {"configurable": {"thread_id": "thread"}}


class Office:
    """Tools that note what they did."""

    def __init__(self):
        self.done: list[str] = []

    def tools(self):
        def send(to: str) -> str:
            """Send the letter."""
            self.done.append(f"send {to}")
            return f"sent to {to}"

        def read(name: str) -> str:
            """Read a file."""
            self.done.append(f"read {name}")
            return f"text of {name}"

        async def post(to: str) -> str:
            """Post the letter."""
            self.done.append(f"post {to}")
            return f"posted to {to}"

        return [send, read, post]


def ask(*calls):
    """A reply that calls tools by name and first argument."""
    names = {"send": "to", "read": "name", "post": "to"}
    made = [{"name": name, "args": {names[name]: value}, "id": f"{name}-{value}"} for name, value in calls]
    return AIMessage("", tool_calls=made)


def run(office, *replies, **options):
    model = ScriptedChatModel(replies)
    executor = ExecutionAgent(model, office.tools())
    orchestrator = LangGraphOrchestrator(FakePlanner(["write"]), executor, FakeMonitor(), **options)
    return orchestrator.run("x"), model


FORBIDDING = [
    {"trajectory": {"forbidden_tools": ["send"]}},
    {"audit": {"rules": [{"id": "r", "forbidden_tools": ["send"]}]}},
    {"audit": {"rules": [{"id": "r", "allowed_tools": ["read", "post"]}]}},
]


def test_a_forbidden_tool_does_not_run_and_the_executor_goes_on_without_it(subtests):
    for contract in FORBIDDING:
        with subtests.test(contract=contract):
            office = Office()
            state, model = run(
                office,
                *(ask(("send", "Ada"), ("read", "a")), "not sent"),
                contract=EvaluationContract.model_validate(contract),
            )

            [record] = state["results"]
            call = record["tool_calls"][0]
            assert office.done == ["read a"]
            assert (call["error"], call["gate"]) == (
                "Tool 'send' is forbidden in this step.",
                "forbidden",
            )
            assert "Tool 'send' is forbidden in this step." in [message.text for message in model.prompts[1]]
            assert (state["status"], state["warnings"]) == (
                "success",
                ["step 1: the contract forbids these calls, which did not run: send"],
            )
            assert evaluate({"agent_run": run_from_state(state), **contract})["status"] != "failed"


# ------------------------------------------------------------------------------------------ a person approves


def build(office, *replies, plan=("write",), monitor=None, **options):
    model = ScriptedChatModel(replies)
    agents = FakePlanner(list(plan)), ExecutionAgent(model, office.tools()), monitor or FakeMonitor()
    defaults = {"checkpointer": InMemorySaver(), "synthesis": False}
    return LangGraphOrchestrator(*agents, **{**defaults, **options}), model


APPROVE = {"answer": "approve", "answered_by": "Ada"}
DENY = {"answer": "deny", "text": "too early", "answered_by": "Ada"}


def test_a_tool_runs_after_a_person_has_approved_the_call():
    office = Office()
    orchestrator, model = build(office, ask(("send", "Bob")), "sent", acting_tools=approve("send"))
    waiting = orchestrator.run("x", "thread")
    done_before = list(office.done)
    state = orchestrator.resume("thread", APPROVE)

    question = waiting["question"]
    assert (question["kind"], question["accepts"], question["text"]) == (
        "tool",
        ["approve", "deny", "halt"],
        "May the tool send run?",
    )
    assert [(call["name"], call["args"]) for call in question["tool_calls"]] == [("send", {"to": "Bob"})]
    assert (done_before, office.done) == ([], ["send Bob"])
    assert (state["status"], len(model.prompts)) == ("success", 2)
    answer = state["results"][0]["tool_calls"][0]["answer"]
    assert {**APPROVE, "text": ""}.items() <= answer.items()
    assert answer["answered_at"]


def test_a_denied_tool_does_not_run_and_the_model_is_told_why():
    office = Office()
    orchestrator, model = build(
        office, ask(("send", "Bob"), ("read", "a")), "not sent", acting_tools=approve("send")
    )
    orchestrator.run("x", "thread")
    state = orchestrator.resume("thread", DENY)

    calls = {call["name"]: call for call in state["results"][0]["tool_calls"]}
    assert (office.done, state["status"]) == (["read a"], "success")
    assert (calls["send"]["gate"], calls["send"]["result"]) == ("denied", None)
    assert DENY.items() <= calls["send"]["answer"].items()
    assert "answer" not in calls["read"]
    told = [message.text for message in model.prompts[-1]]
    assert "The call was denied: Ada said: too early. Go on without it." in told


def test_each_call_is_asked_about_with_an_id_of_its_own():
    office = Office()
    orchestrator, _ = build(
        office, ask(("send", "A"), ("send", "B")), ask(("send", "A")), "sent", acting_tools=approve("send")
    )
    state, ids = orchestrator.run("x", "thread"), []
    while (question := state["question"]) is not None:
        ids.append(question["id"])
        state = orchestrator.resume("thread", {**APPROVE, "question": question["id"]})

    assert (len(ids), len(set(ids))) == (3, 3)
    assert sorted(office.done) == ["send A", "send A", "send B"]


def test_an_answer_that_cannot_be_read_runs_nothing():
    office = Office()
    orchestrator, _ = build(
        office, ask(("send", "Bob")), "sent", acting_tools=approve("send", "read", "post")
    )
    orchestrator.run("x", "thread")

    with pytest.raises(ResumeError, match="give"):
        orchestrator.resume("thread", {"answer": "correct", "text": "send it to Eve"})
    asked_again = asyncio.run(orchestrator.graph.ainvoke(Command(resume="yes"), THREAD))
    assert "'yes'" in asked_again["__interrupt__"][0].value["problem"]
    assert office.done == []


@pytest.mark.parametrize(
    ("contract", "told"),
    [
        (
            {"must_call": ["send"]},
            "1 time, was denied 1 time; go on without it, and say so",
        ),
        ({"expected_trajectory": ["send"]}, "missing send"),
        (
            {"checks": [{"check": "tool_calls", "tool": "send", "min": 1}]},
            "1 time, was denied 1 time",
        ),
    ],
)
def test_a_denied_call_is_told_as_denied_and_not_as_an_error(contract, told):
    contract = EvaluationContract(**contract)
    orchestrator, _ = build(
        Office(),
        ask(("send", "Bob")),
        "not sent",
        acting_tools=approve("send"),
        contract=contract,
        max_retries=0,
    )
    orchestrator.run("x", "thread")
    state = orchestrator.resume("thread", DENY)

    reported = f"{state['failure']['message']} {state['results'][0]['report']['alerts']}"
    assert (told in reported, "ended in an error" in reported) == (True, False)


def test_names_that_would_let_a_call_through_are_refused(subtests):
    for options, message in [
        (
            {"checkpointer": None},
            'acting_tools has approve=True for "send", but there is no checkpointer to store the question',
        ),
        (
            {"acting_tools": approve("sned")},
            'acting_tools names "sned"; the tools of the executor are send, read, post',
        ),
        ({"acting_tools": ["sned"]}, 'acting_tools names "sned"; the tools of the executor are'),
        ({"acting_tools": "send"}, "acting_tools is 'send'; give a list of tool names, or a dict such as"),
        ({"acting_tools": {"send": "approve"}}, "acting_tools is {'send': 'approve'}; give a list"),
    ]:
        with (
            subtests.test(options=options),
            pytest.raises(ConfigurationError, match=re.escape(message)),
        ):
            build(Office(), "x", **{"acting_tools": approve("send"), **options})


def test_an_executor_that_calls_its_tools_by_itself_is_refused():
    with pytest.raises(ConfigurationError, match="but FakeExecutor calls its tools by itself; give an"):
        LangGraphOrchestrator(
            FakePlanner(["one"]),
            FakeExecutor(),
            FakeMonitor(),
            acting_tools=approve("send", "read", "post"),
            checkpointer=InMemorySaver(),
        )


def test_an_approval_counts_for_no_other_arguments_of_a_graph_that_is_not_awaited():
    office = Office()
    orchestrator, _ = build(office, ask(("send", "Bob")), ask(("send", "Eve")), acting_tools=approve("send"))
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


def build_delegating(office, *replies):
    """An orchestrator whose executor hands the work to an agent in a tool, which gives these replies."""
    inner = ExecutionAgent(ScriptedChatModel(replies), office.tools())

    def delegate(text: str) -> str:
        """Hand the work on."""
        return inner.execute_step(text)

    asked = AIMessage("", tool_calls=[{"name": "delegate", "args": {"text": "write"}, "id": "1"}])
    executor = ExecutionAgent(ScriptedChatModel([asked, "done"]), [delegate, *office.tools()])
    agents = FakePlanner(["write"]), executor, FakeMonitor()
    return LangGraphOrchestrator(*agents, acting_tools=approve("send"), checkpointer=InMemorySaver())


def test_an_approval_of_an_agent_in_a_tool_counts_for_no_other_arguments():
    office = Office()
    orchestrator = build_delegating(office, ask(("send", "Bob")), ask(("send", "Eve")), "sent")
    first = orchestrator.run("x", "thread")["question"]
    question = orchestrator.resume("thread", APPROVE)["question"]
    done_before = list(office.done)
    with pytest.raises(ResumeError, match="the answer is for another question"):
        orchestrator.resume("thread", {**APPROVE, "question": first["id"]})
    state = orchestrator.resume("thread", APPROVE)

    # The agent in the tool goes on with its conversation, so that its first reply is not asked for again.
    assert question["tool_calls"][0]["args"] == {"to": "Eve"}
    assert (done_before, office.done, state["status"]) == (["send Bob"], ["send Bob", "send Eve"], "success")


def test_a_denied_call_does_not_run_if_the_server_sends_no_ids_of_its_own(subtests):
    for call_id in [None, "1"]:
        with subtests.test(call_id=call_id):
            office = Office()
            reply = ask(("send", "Bob"), ("send", "Eve"))
            calls = [{**call, "id": call_id} for call in reply.tool_calls]
            orchestrator, model = build(
                office,
                reply.model_copy(update={"tool_calls": calls}),
                "sent",
                acting_tools=approve("send", "read", "post"),
            )
            orchestrator.run("x", "thread")
            orchestrator.resume("thread", DENY)
            state = orchestrator.resume("thread", APPROVE)

            asked, *answers = model.prompts[-1][-3:]
            assert (office.done, state["status"]) == (["send Eve"], "success")
            assert [call["args"]["to"] for call in state["results"][0]["tool_calls"]] == ["Bob", "Eve"]
            assert [call["id"] for call in asked.tool_calls] == [answer.tool_call_id for answer in answers]


def test_a_denied_call_does_not_run_if_the_run_goes_on_without_its_approval(subtests):
    for approved in [["send"], approve("read")]:
        with subtests.test(approved=approved):
            office, saver = Office(), InMemorySaver()
            orchestrator, _ = build(
                office, ask(("send", "Bob")), acting_tools=approve("send"), checkpointer=saver
            )
            orchestrator.run("x", "thread")
            other, _ = build(office, "not sent", acting_tools=approved, checkpointer=saver)
            told = "waits for the approval of tool 'send'; give acting_tools this name with approve=True"
            with pytest.raises(ResumeError, match=told):
                other.resume("thread", DENY)
            same, _ = build(office, "not sent", acting_tools=approve("send"), checkpointer=saver)

            assert (same.resume("thread", DENY)["status"], office.done) == ("success", [])


def test_an_approval_counts_for_no_other_tool_if_the_run_goes_on_with_other_options():
    office, saver = Office(), InMemorySaver()
    reply = ask(("send", "Bob"), ("read", "a"), ("post", "Bob"))
    orchestrator, _ = build(office, reply, acting_tools=approve("send", "read", "post"), checkpointer=saver)
    orchestrator.run("x", "thread")
    orchestrator.resume("thread", APPROVE)
    other, _ = build(office, "done", acting_tools=approve("read", "post"), checkpointer=saver)
    with pytest.raises(ResumeError, match="acting_tools is"):
        other.resume("thread", APPROVE)
    state = other.resume("thread", APPROVE, accept_changes=True)

    # The answer for "read" has its question, and the one for "send" is taken for no other call.
    assert [call["name"] for call in state["question"]["tool_calls"]] == ["post"]
    assert office.done == []


def test_a_denial_of_an_excluded_call_is_not_lost_if_the_run_goes_on_without_its_approval():
    office, saver = Office(), InMemorySaver()
    contract = EvaluationContract(trajectory={"forbidden_tools": ["send"]})
    orchestrator, _ = build(
        office, ask(("send", "Bob")), acting_tools=approve("send"), contract=contract, checkpointer=saver
    )
    orchestrator.run("x", "thread")
    other, _ = build(office, "not sent", acting_tools=["send"], checkpointer=saver)

    with pytest.raises(ResumeError, match="waits for the approval of tool 'send'"):
        other.resume("thread", DENY, accept_changes=True)


def test_all_calls_of_a_reply_are_decided_about_before_any_is_made():
    office = Office()
    orchestrator, _ = build(office, ask(("read", "a"), ("send", "Bob")), "sent", acting_tools=approve("send"))
    orchestrator.run("x", "thread")
    done_before = list(office.done)
    orchestrator.resume("thread", APPROVE)

    assert (done_before, sorted(office.done)) == ([], ["read a", "send Bob"])


# ------------------------------------------------------------------------------------------ repeated calls


def refused_once():
    return FakeMonitor({"success": False, "feedback": "shorter"}, {"success": True, "feedback": "good"})


@pytest.mark.parametrize(
    ("hints", "times"),
    [
        ({"idempotentHint": False}, 1),
        ({"readOnlyHint": False}, 1),
        ({"destructiveHint": True, "readOnlyHint": True}, 1),
        ({"idempotentHint": True}, 2),
        ({"idempotentHint": True, "readOnlyHint": False}, 2),
        ({}, 2),
        ({"idempotentHint": False, "readOnlyHint": True}, 2),
    ],
)
def test_a_retry_does_not_repeat_a_call_of_a_tool_whose_annotations_say_that_each_call_has_an_effect(
    hints, times
):
    done = []

    @tool
    def send(to: str) -> str:
        """Send the letter."""
        done.append(to)
        return "sent"

    send.metadata = hints
    model = ScriptedChatModel([ask(("send", "Bob")), "sent", ask(("send", "Bob")), "sent"])
    agents = FakePlanner(["write"]), ExecutionAgent(model, [send]), refused_once()
    state = LangGraphOrchestrator(*agents).run("x")

    assert (state["status"], done) == ("success", ["Bob"] * times)


def test_equal_calls_of_an_attempt_are_calls_that_the_model_wants(subtests):
    for saver in [InMemorySaver(), None]:
        for replies in [[ask(("send", "Bob"), ("send", "Bob"), ("send", "Bob"))], [ask(("send", "Bob"))] * 3]:
            with subtests.test(saver=saver, replies=replies):
                office = Office()
                orchestrator, _ = build(office, *replies, "sent", acting_tools=["send"], checkpointer=saver)
                state = orchestrator.run("x")

                calls = [(call["result"], call.get("gate")) for call in state["results"][0]["tool_calls"]]
                assert (office.done, state["status"]) == (["send Bob"] * 3, "success")
                assert calls == [("sent to Bob", None)] * 3


def test_a_denial_holds_for_the_same_call_in_the_rest_of_the_step(subtests):
    for replies in [["not sent", ask(("send", "Bob"))], [ask(("send", "Bob"))]]:
        with subtests.test(replies=replies):
            office = Office()
            monitor = refused_once() if len(replies) > 1 else FakeMonitor()
            orchestrator, model = build(
                office,
                ask(("send", "Bob")),
                *replies,
                "not sent",
                monitor=monitor,
                acting_tools=approve("send"),
            )
            orchestrator.run("x", "thread")
            state = orchestrator.resume("thread", DENY)

            told = "The same call was denied before in this step: Ada said: too early. Go on without it."
            assert (state["status"], state["question"], office.done) == ("success", None, [])
            assert told in [message.text for message in model.prompts[-1]]


HALT = {"answer": "halt", "text": "stop all", "answered_by": "Ada"}


def test_a_person_ends_the_run_at_a_tool_call():
    office = Office()
    orchestrator, model = build(office, ask(("read", "a"), ("send", "Bob")), acting_tools=approve("send"))
    orchestrator.run("x", "thread")
    state = orchestrator.resume("thread", HALT)

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

    model = ScriptedChatModel([ask(("send", "Bob")), "done"])
    agents = FakePlanner(["write"]), ExecutionAgent(model, [send]), FakeMonitor()
    orchestrator = LangGraphOrchestrator(*agents, acting_tools=approve("send"), checkpointer=InMemorySaver())
    orchestrator.run("x", "thread")
    calls = orchestrator.resume("thread", APPROVE)["results"][0]["tool_calls"]

    assert [(call["name"], "answer" in call) for call in calls] == [("send", True), ("stamp", False)]
