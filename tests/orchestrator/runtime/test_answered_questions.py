"""A question that was answered before a crash is not shown again."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from agents import ActingTool
from orchestrator import ResumeError
from tests.fakes.acting import APPROVE, Crash, Office, ask, build_acting


class MortalSaver(InMemorySaver):
    """Ends the process before it stores the next checkpoint of an agent, if ``dies`` is set."""

    dies = False

    def put(self, config, *args):
        if self.dies and "executor_node" in config["configurable"]["checkpoint_ns"]:
            self.dies = False
            raise Crash
        return super().put(config, *args)


def reply(messages):
    return (
        "done" if messages[-1].type == "tool" or messages[-1].text.endswith("wait") else ask(("pay", "Ada"))
    )


def build(tools, saver=None, **options):
    acting = {"pay": ActingTool(repeat="allow")}
    saver = saver or InMemorySaver()
    return build_acting(tools, reply=reply, acting_tools=acting, checkpointer=saver, **options)[0]


def crash(call, *args):
    with pytest.raises(KeyboardInterrupt):
        call(*args)


def test_a_call_that_ended_after_its_approval_is_not_asked_about_again():
    office, saver = Office(Crash()), MortalSaver()
    orchestrator = build(office, saver)
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

    orchestrator = build([pay])
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
