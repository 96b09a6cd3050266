import threading
import time
from contextlib import nullcontext
from functools import partial

import pytest
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from agents import ActingTool, ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import ResumeError
from orchestrator.persistence import open_store
from tests.fakes.acting import APPROVE, Crash, Office, ask, build_acting
from tests.fakes.runs import build, delegate_to


class PlainAgent(ExecutionAgent):
    def execute_step(self, step_description, context="", **options):
        return super().execute_step(step_description, context, **options)


def build_asking(kind, office, names, *replies):
    """A run of an agent of this kind with these tools, of which ``ask`` and ``ask_twice`` ask a person."""

    def ask(to: str) -> str:
        """Ask a person."""
        answer = interrupt(to)
        return office.act(f"heard {answer}", f"said {answer}")

    def ask_twice(to: str) -> str:
        """Ask a person two questions."""
        return f"{interrupt(to)} and {interrupt(f'{to}, really')}"

    tools = [StructuredTool.from_function(each) for each in (ask, ask_twice, *office.tools()[1:3])]
    tools.append(StructuredTool.from_function(coroutine=office.tools()[3]))
    model = ScriptedChatModel(list(replies), usage=(3, 2))
    executor = kind(model, [each for each in tools if each.name in names])
    return build(executor, plan=["one"], checkpointer=InMemorySaver()), model


def test_an_interrupt_in_a_tool_gets_its_answer_and_nothing_is_repeated(subtests):
    two, three = {"send", "ask"}, {"send", "ask", "post"}
    for kind, names in [(ExecutionAgent, two), (PlainAgent, two), (PlainAgent, three)]:
        with subtests.test(kind=kind, names=names):
            office, calls = Office(), ask(("send", "b"), ("ask", "May I?"), ("send", "c"))
            orchestrator, model = build_asking(kind, office, names, ask(("send", "a")), calls, "done")
            waiting = orchestrator.run("x", "thread")
            [record] = (state := orchestrator.resume("thread", "yes"))["results"]

            assert waiting["question"]["text"] == "May I?"
            assert (state["status"], record["result"]) == ("success", "done")
            assert sorted(office.done) == ["heard yes", "send a", "send b", "send c"]
            assert (len(model.prompts), record["usage"]["total_tokens"]) == (3, 15)


def test_several_questions_of_a_round_and_of_a_tool_are_answered_one_after_the_other():
    office, asked = Office(), []
    calls = ask(("ask", "A"), ("ask_twice", "B"), ("ask", "C"))
    orchestrator, _ = build_asking(ExecutionAgent, office, {"ask", "ask_twice"}, calls, "done")
    state = orchestrator.run("x", "thread")
    while (question := state["question"]) is not None:
        asked.append(question["text"])
        state = orchestrator.resume("thread", f"<{question['text']}>")

    results = [each["result"] for each in state["results"][0]["tool_calls"]]
    assert sorted(asked) == ["A", "B", "B, really", "C"]
    assert asked.index("B") < asked.index("B, really")
    assert sorted(results) == ["<B> and <B, really>", "said <A>", "said <C>"]
    assert sorted(office.done) == ["heard <A>", "heard <C>"]


def test_after_a_stop_between_two_tools_the_first_does_not_run_again():
    office, started, free = Office(), threading.Event(), threading.Event()

    def hang(to: str) -> str:
        """Hang the first time."""
        if not started.is_set():
            started.set()
            free.wait(300)
        return office.act(f"hang {to}", "hung")

    model = ScriptedChatModel([ask(("send", "a")), ask(("hang", "b")), "done"])
    executor = PlainAgent(model, [office.tools()[1], hang])
    orchestrator = build(executor, plan=["one"], checkpointer=InMemorySaver())
    threading.Thread(target=lambda: started.wait(20) and orchestrator.interrupt("thread")).start()
    stopped = orchestrator.run("x", "thread")
    # It may have acted before the stop, and neither its name nor an option says that it only reads.
    question = orchestrator.resume("thread")["question"]
    state = orchestrator.resume("thread", {"answer": "approve"})
    # The thread of the stopped call acts as soon as it is free.
    done = [*office.done]
    free.set()

    assert (stopped["status"], state["status"], len(model.prompts)) == ("executing", "success", 3)
    assert [call["name"] for call in question["tool_calls"]] == ["hang"]
    assert done == ["send a", "hang b"]


# ------------------------------------------------------------------- nothing is repeated after a crash


@pytest.fixture(params=["memory", "SQLite"])
def stores(request, tmp_path):
    """A function that opens the same store again, as another process would."""
    if request.param == "memory":
        saver = InMemorySaver()
        return lambda: nullcontext(saver)
    return lambda: open_store(str(tmp_path / "runs.sqlite"))


def crash_and_resume(tools, stores, *replies, **options):
    """Runs until a tool ends the process, and resumes in another orchestrator with the replies left."""
    left, asked = list(replies), []
    build_one = partial(build_acting, tools, reply=lambda _: left.pop(0), **options)
    with stores() as store, pytest.raises(KeyboardInterrupt):
        build_one(checkpointer=store)[0].run("x", "thread")
    with stores() as store:
        orchestrator, model = build_one(checkpointer=store)
        state = orchestrator.resume("thread")
        while (question := state["question"]) is not None:
            asked.append(question)
            state = orchestrator.resume("thread", {"answer": "approve"})
    return state, asked, model


SEND_AND_PAY, PAID = (ask(("send", "a")), ask(("pay", "b")), "done"), "pay b 1.0"


@pytest.mark.parametrize(
    ("names", "made"),
    [(("send", "pay"), PAID), (("post", "post"), "post b")],
    ids=["sync tools", "async tools"],
)
def test_answered_calls_and_replies_before_a_crash_are_not_repeated(stores, names, made):
    office, replies = Office(None, Crash()), [ask((name, to)) for name, to in zip(names, "ab", strict=True)]
    state, [question], model = crash_and_resume(office, stores, *replies, "done")

    [record] = state["results"]
    assert [each["args"]["to"] for each in question["tool_calls"]] == ["b"]
    assert office.done == [f"{names[0]} a", made, made]
    assert (state["status"], len(model.prompts)) == ("success", 1)
    # The start in which the process died has a record of its own: it may have acted, too.
    assert [each["result"] is None for each in record["tool_calls"]] == [False, True, False]
    assert (record["usage"]["model_calls"], record["usage"]["total_tokens"]) == (3, 15)


def test_an_answered_call_beside_the_one_that_ended_the_process_is_not_made_again(stores):
    office, answered = Office(None, Crash()), threading.Event()
    act = office.act

    def act_in_order(effect, answer):
        # The crash comes after the answer of the other call.
        if effect == PAID:
            answered.wait(20)
            time.sleep(0.3)
        try:
            return act(effect, answer)
        finally:
            answered.set()

    office.act = act_in_order
    state, [question], _ = crash_and_resume(office, stores, ask(("send", "a"), ("pay", "b")), "done")

    assert [each["name"] for each in question["tool_calls"]] == ["pay"]
    assert (state["status"], sorted(office.done)) == ("success", [PAID, PAID, "send a"])
    results = {each["result"] for each in state["results"][0]["tool_calls"]}
    assert results == {"paid 1.0 to b", "sent to a", None}


def test_a_tool_whose_name_says_that_it_reads_is_called_again_without_a_question(stores):
    office, replies = Office(None, Crash()), (ask(("send", "a")), ask(("read", "b")), "done")
    state, asked, _ = crash_and_resume(office, stores, *replies)

    assert (asked, state["status"]) == ([], "success")
    assert office.done == ["send a", "read b", "read b"]


@pytest.mark.parametrize("acting_tools", [None, [], ["pay"]], ids=["guessed", "no guesses", "stated"])
def test_a_call_that_the_process_left_without_an_answer_is_asked_about_whatever_the_options(
    acting_tools, stores
):
    office = Office(None, Crash())
    _, [asked], _ = crash_and_resume(office, stores, *SEND_AND_PAY, acting_tools=acting_tools)

    assert (asked["kind"], asked["tool_calls"][0]["name"]) == ("tool", "pay")
    [finding] = asked["findings"]
    assert finding == (
        "The same call was made before, and it is not known whether it had its effect: "
        "the run was interrupted while the call was under way"
    )


def test_an_agent_in_a_tool_goes_on_with_its_stored_conversation(stores):
    office, inner = Office(None, Crash()), ScriptedChatModel(list(SEND_AND_PAY), usage=(3, 2))
    tools = [delegate_to(ExecutionAgent(inner, office.tools()))]
    state, asked, outer = crash_and_resume(tools, stores, ask(("delegate", "write")), "done")

    assert [question["tool_calls"][0]["name"] for question in asked] == ["delegate", "pay"]
    assert (state["status"], office.done) == ("success", ["send a", PAID, PAID])
    assert (len(inner.prompts), len(outer.prompts)) == (3, 1)
    assert state["results"][0]["usage"]["model_calls"] == 5


# ------------------------------------------------------------------- an answered question is not shown again


class MortalSaver(InMemorySaver):
    """Ends the process before it stores the next checkpoint of an agent, if ``dies`` is set."""

    dies = False

    def put(self, config, *args):
        if self.dies and "executor_node" in config["configurable"]["checkpoint_ns"]:
            self.dies = False
            raise Crash
        return super().put(config, *args)


def build_paying(tools, saver=None):
    def reply(messages):
        is_paid = messages[-1].type == "tool" or messages[-1].text.endswith("wait")
        return "done" if is_paid else ask(("pay", "Ada"))

    acting = {"pay": ActingTool(repeat="allow")}
    return build_acting(tools, reply=reply, acting_tools=acting, checkpointer=saver or InMemorySaver())[0]


def crash(call, *args):
    with pytest.raises(KeyboardInterrupt):
        call(*args)


def test_a_call_that_ended_after_its_approval_is_not_asked_about_again():
    office, saver = Office(Crash()), MortalSaver()
    orchestrator = build_paying(office, saver)
    crash(orchestrator.run, "x", "thread")
    asked = orchestrator.resume("thread")["question"]
    saver.dies = True
    crash(orchestrator.resume, "thread", APPROVE)
    state = orchestrator.resume("thread")

    assert (asked["kind"], state["question"], state["status"]) == ("tool", None, "success")
    assert len(office.done) == 2


def test_a_call_in_which_the_process_died_after_its_own_question_is_asked_about_and_not_its_question():
    office = Office(Crash())

    def pay(to: str) -> str:
        """Pay after a question."""
        interrupt(f"Pay {to}?")
        return office.act(f"pay {to}", "paid")

    orchestrator = build_paying([pay])
    asked = [orchestrator.run("x", "thread")["question"]["text"]]
    crash(orchestrator.resume, "thread", "yes")
    with pytest.raises(ResumeError, match="no question that waits"):
        orchestrator.resume("thread", "yes")
    asked.append(orchestrator.resume("thread")["question"]["text"])
    asked.append(orchestrator.resume("thread", APPROVE)["question"]["text"])
    done_before = [*office.done]
    state = orchestrator.resume("thread", "yes")

    assert [text.split("?")[0] for text in asked] == ["Pay Ada", "May the tool pay run again", "Pay Ada"]
    assert (done_before, office.done, state["status"]) == (["pay Ada"], ["pay Ada"] * 2, "success")
