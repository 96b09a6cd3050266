"""Agents that call interrupt() by themselves."""

from __future__ import annotations

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from orchestrator import (
    LangGraphOrchestrator,
    Question,
)
from tests.fakes.executor import ExecutorCall, FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import (
    FakeSupervisor,
    SpeakingExecutor,
    missed,
)
from tests.orchestrator.supervision.supervised_runs import (
    PARALLEL_PLAN,
    start_human,
    statuses,
)


class AskingPlanner(FakePlanner):
    def generate_plan(self, task):
        return [interrupt("Which way?")]


class AskingMonitor(FakeMonitor):
    def evaluate(self, objective, result):
        return {"success": interrupt("Is it good?"), "feedback": "said"}


class AwaitedMonitor(FakeMonitor):
    async def evaluate(self, objective, result):
        return {"success": interrupt("Is it good?"), "feedback": "said"}


class AskingExecutor(FakeExecutor):
    def execute_step(self, step_description, context=""):
        self.calls.append(ExecutorCall(step_description, context))
        return f"{step_description}: {interrupt(f'May I {step_description}?')}"


class AskingJudge:
    async def ajudge(self, request):
        return {"score": interrupt("What is it worth?"), "rationale": "said"}


class AskingSupervisor(FakeSupervisor):
    def supervise(self, request):
        return {"verdict": interrupt("How on?"), "reason": "said"}


def test_an_agents_own_question_is_answered_with_anything(subtests):
    for agents, text, answer in [
        ({"planner": AskingPlanner()}, "Which way?", "north"),
        ({"executor": AskingExecutor()}, "May I one?", {"any": ["thing"]}),
        ({"monitor": AskingMonitor()}, "Is it good?", True),
        ({"monitor": AwaitedMonitor()}, "Is it good?", True),
        ({"judge": AskingJudge()}, "What is it worth?", 5),
        (
            {
                "supervisor": AskingSupervisor(),
                "executor": SpeakingExecutor(said=[missed()]),
                "supervision": "llm",
            },
            "How on?",
            "continue",
        ),
    ]:
        with subtests.test(agents=agents):
            fakes = {"planner": FakePlanner(["one"]), "executor": FakeExecutor(), "monitor": FakeMonitor()}
            orchestrator = LangGraphOrchestrator(**{**fakes, **agents}, checkpointer=InMemorySaver())
            waiting = orchestrator.run("x", "thread")
            state = orchestrator.resume("thread", answer)

            assert (waiting["question"]["kind"], waiting["question"]["text"]) == ("agent", text)
            assert (state["status"], statuses(state)) == ("success", ["validated"])


class Forger(FakeExecutor):
    """Asks what looks like a question of the supervision, in which nothing can be read."""

    def execute_step(self, step_description, context=""):
        question = dict.fromkeys(Question.__annotations__, "approve!")
        return f"{step_description}: {interrupt(question)}"


def test_an_agent_cannot_pass_its_question_off_as_one_of_the_supervision():
    orchestrator, state = start_human(Forger(), plan=["one"], supervision="none")

    assert (state["question"]["kind"], state["question"]["step"]) == ("agent", "one")
    assert orchestrator.resume("thread", "yes")["results"][0]["result"] == "one: yes"


def test_resume_without_an_answer_asks_no_agent_beside_one_that_was_answered():
    executor = AskingExecutor()
    orchestrator, _ = start_human(executor, plan=PARALLEL_PLAN, supervision="none")
    before = orchestrator.resume("thread", "yes")
    calls = len(executor.calls)

    assert orchestrator.resume("thread") == before
    assert len(executor.calls) == calls
