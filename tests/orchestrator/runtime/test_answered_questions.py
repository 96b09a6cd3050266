"""A question that was answered before a crash is not shown again."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from agents import ActingTool, ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator, ResumeError
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner

APPROVE = {"answer": "approve", "answered_by": "Ada"}
BESIDE = [{"step": "pay Ada", "needs": []}, {"step": "wait", "needs": []}]


class Crash(KeyboardInterrupt):
    """Ends the process, as far as a test can."""


class MortalSaver(InMemorySaver):
    """Ends the process before it stores the next checkpoint of an agent, if ``dies`` is set."""

    dies = False

    def put(self, config, *args):
        if self.dies and "executor_node" in config["configurable"]["checkpoint_ns"]:
            self.dies = False
            raise Crash
        return super().put(config, *args)


def build(pay, monitor=None, saver=None, plan=("pay Ada",)):
    def reply(messages):
        is_done = messages[-1].type == "tool" or messages[-1].text.endswith("wait")
        call = {"name": "pay", "args": {"to": "Ada"}, "id": f"call {len(messages)}"}
        return "done" if is_done else AIMessage("", tool_calls=[call])

    executor = ExecutionAgent(ScriptedChatModel(reply), [pay])
    acting = {"pay": ActingTool(repeat="allow")}
    options = {"acting_tools": acting, "synthesis": False, "checkpointer": saver or InMemorySaver()}
    return LangGraphOrchestrator(FakePlanner(list(plan)), executor, monitor or FakeMonitor(), **options)


class Bank:
    """A bank in some of whose payments the process dies, by default in the first."""

    def __init__(self, dies_at=(1,)):
        self.paid, self.dies_at = [], dies_at

    def pay(self, to: str) -> str:
        """Pay."""
        self.paid.append(to)
        if len(self.paid) in self.dies_at:
            raise Crash
        return f"paid {to}"


def crash(call, *args):
    with pytest.raises(KeyboardInterrupt):
        call(*args)


def test_a_call_that_ended_after_its_approval_is_not_asked_about_again():
    bank, saver = Bank(), MortalSaver()
    orchestrator = build(bank.pay, saver=saver)
    crash(orchestrator.run, "x", "thread")
    asked = orchestrator.resume("thread")["question"]
    saver.dies = True
    crash(orchestrator.resume, "thread", APPROVE)
    state = orchestrator.resume("thread")

    assert (asked["kind"], state["question"], state["status"]) == ("tool", None, "success")
    assert bank.paid == ["Ada", "Ada"]


def test_a_call_of_a_parallel_step_that_has_gone_on_is_not_asked_about_again():
    bank = Bank(dies_at=(1, 3))
    monitor = FakeMonitor(lambda step, _: refuse() if (step, len(bank.paid)) == ("pay Ada", 2) else accept())
    orchestrator = build(bank.pay, monitor, plan=BESIDE)
    crash(orchestrator.run, "x", "thread")
    asked = orchestrator.resume("thread")["question"]
    crash(orchestrator.resume, "thread", APPROVE)
    again = orchestrator.resume("thread")["question"]
    state = orchestrator.resume("thread", APPROVE)

    assert [(each["step"], each["attempt"]) for each in (asked, again)] == [("pay Ada", 1), ("pay Ada", 2)]
    assert (state["status"], len(bank.paid)) == ("success", 4)


class AskingBank(Bank):
    """A bank that asks before each payment, and in whose first payment the process dies."""

    def pay(self, to: str) -> str:
        """Pay after a question."""
        interrupt(f"Pay {to}?")
        return super().pay(to)


def test_a_call_in_which_the_process_died_after_its_own_question_is_asked_about_and_not_its_question():
    bank = AskingBank()
    orchestrator = build(bank.pay)
    asked = [orchestrator.run("x", "thread")["question"]["text"]]
    crash(orchestrator.resume, "thread", "yes")
    with pytest.raises(ResumeError, match="no question that waits"):
        orchestrator.resume("thread", "yes")
    asked.append(orchestrator.resume("thread")["question"]["text"])
    asked.append(orchestrator.resume("thread", APPROVE)["question"]["text"])
    paid = list(bank.paid)
    state = orchestrator.resume("thread", "yes")

    assert [text.split("?")[0] for text in asked] == ["Pay Ada", "May the tool pay run again", "Pay Ada"]
    assert (paid, bank.paid, state["status"]) == (["Ada"], ["Ada", "Ada"], "success")
