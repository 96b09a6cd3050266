"""Questions of agents that call interrupt(), and questions about parallel steps."""

import threading

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from orchestrator import Question
from tests.fakes.executor import ExecutorCall, FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build, failure_kind, statuses, stored_state
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, missed
from tests.orchestrator.supervision.supervised_runs import (
    APPROVE,
    CORRECT,
    DENY,
    PARALLEL_PLAN,
    answer_all,
    start_human,
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
            orchestrator = build(**{"plan": ["one"], **agents}, checkpointer=InMemorySaver())
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


class LateFirst(SpeakingExecutor):
    """The first of two steps ends after the second."""

    def __init__(self):
        super().__init__()
        self._second = threading.Event()

    def execute_step(self, step_description, context=""):
        if step_description == "one":
            self._second.wait(20)
        return super().execute_step(step_description, context)

    def assess_step(self, step, commitment, output):
        if step == "two":
            self._second.set()
        return super().assess_step(step, commitment, output)


def test_questions_of_steps_side_by_side_come_one_after_the_other_by_the_plan():
    executor = LateFirst()
    orchestrator, state = start_human(executor, plan=PARALLEL_PLAN)
    steps, ended = answer_all(orchestrator, state, APPROVE)

    assert steps == ["one", "two", "end"]
    assert (ended["status"], statuses(ended)) == ("success", ["validated"] * 3)
    assert sorted(call.step for call in executor.calls) == ["end", "one", "two"]


def test_steps_side_by_side_are_corrected_each_by_itself():
    executor = SpeakingExecutor()
    orchestrator, state = start_human(executor, plan=PARALLEL_PLAN)
    corrected = []

    def answer(question):
        if question["step"] == "two" and not corrected:
            corrected.append(question)
            return CORRECT
        return APPROVE

    steps, ended = answer_all(orchestrator, state, answer)

    assert steps == ["one", "two", "two", "end"]
    attempts = [(record["step_index"], record["attempt"]) for record in ended["results"]]
    assert attempts == [(0, 1), (1, 1), (1, 2), (2, 1)]


def test_a_denial_withdraws_the_questions_of_the_steps_beside():
    executor = SpeakingExecutor()
    orchestrator, _ = start_human(executor, plan=PARALLEL_PLAN)
    state = orchestrator.resume("thread", DENY)

    assert (state["status"], failure_kind(state), state["question"]) == ("failed", "denied", None)
    assert [(record["step"], record["status"]) for record in state["results"]] == [
        ("one", "failed"),
        ("two", "pending_validation"),
    ]
    assert stored_state(orchestrator) == state
