import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import Question, ResumeError
from tests.fakes.acting import ask
from tests.fakes.executor import ExecutorCall, FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build, failure_kind, statuses
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, missed
from tests.orchestrator.supervision.supervised_runs import start_human


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
    supervised = {"supervisor": AskingSupervisor(), "executor": SpeakingExecutor(said=[missed()])}
    for agents, text, answer in [
        ({"planner": AskingPlanner()}, "Which way?", "north"),
        ({"executor": AskingExecutor()}, "May I one?", {"any": ["thing"]}),
        ({"monitor": AskingMonitor()}, "Is it good?", True),
        ({"monitor": AwaitedMonitor()}, "Is it good?", True),
        ({"judge": AskingJudge()}, "What is it worth?", 5),
        ({**supervised, "supervision": "llm"}, "How on?", "continue"),
    ]:
        with subtests.test(agents=agents):
            orchestrator = build(**{"plan": ["one"], **agents}, checkpointer=InMemorySaver())
            waiting = orchestrator.run("x", "thread")
            state = orchestrator.resume("thread", answer)

            assert (waiting["question"]["kind"], waiting["question"]["text"]) == ("agent", text)
            assert (state["status"], statuses(state)) == ("success", ["validated"])


class AwaitedExecutor(FakeExecutor):
    async def execute_step(self, step_description, context=""):
        return interrupt("May I?")


class AskingCompressor:
    async def invoke(self, text):
        return interrupt("May I?")


def test_a_question_without_a_checkpointer_ends_the_run_as_failed(subtests):
    for agents, kind in [
        ({"executor": AskingExecutor()}, "executor_error"),
        ({"executor": AwaitedExecutor()}, "executor_error"),
        ({"planner": AskingPlanner()}, "planner_error"),
        ({"monitor": AwaitedMonitor()}, "monitor_error"),
        ({"compressor": AskingCompressor()}, "compressor_error"),
    ]:
        with subtests.test(agents=agents):
            state = build(**agents).run("x")

            assert (state["status"], failure_kind(state)) == ("failed", kind)
            assert state["failure"]["error_type"] == "InterruptError"
            assert "called interrupt(), which needs a checkpointer; give" in state["failure"]["message"]


class ChoosingExecutor(FakeExecutor):
    def execute_step(self, step_description, context=""):
        return str(interrupt("How many?", response_schema={"type": "integer", "minimum": 1}))


def test_an_answer_that_does_not_fit_the_schema_of_a_question_is_refused():
    orchestrator = build(plan=["one"], executor=ChoosingExecutor(), checkpointer=InMemorySaver())
    orchestrator.run("x", "thread")
    for answer in ["two", 0, {"answer": "approve"}, {1}]:
        with pytest.raises(ResumeError, match=r"the answer is .*; give a value that fits the schema .* open"):
            orchestrator.resume("thread", answer)

    assert orchestrator.resume("thread", 2)["status"] == "success"


def ask_by_langchain(mode, *names, **config):
    """A run that waits for the approval of calls by the middleware of LangChain."""
    made = []

    def move(to: str) -> str:
        """Move."""
        made.append(f"move {to}")
        return f"moved {to}"

    def stamp(to: str) -> str:
        """Stamp."""
        made.append(f"stamp {to}")
        return f"stamped {to}"

    model = ScriptedChatModel([ask(*((name, "Ada") for name in names)), "done"])
    asking = HumanInTheLoopMiddleware(dict.fromkeys(names, config or True), interrupt_mode=mode)
    orchestrator = build(
        executor=ExecutionAgent(model, [move, stamp], middleware=[asking]),
        plan=["one"],
        checkpointer=InMemorySaver(),
        acting_tools=["move", "stamp"],
    )
    return orchestrator, orchestrator.run("x", "thread")["question"], made


def only(kind, **fields):
    return {"type": kind, **fields}


EDIT = only("edit", edited_action={"name": "move", "args": {"to": "Bob"}})
BOTH = ("move", "stamp")
LIMITED = {"allowed_decisions": ["approve", "edit"]}


def test_a_wrong_answer_about_calls_is_refused_with_the_accepted_ones_and_the_run_waits(subtests):
    for mode, names, config, answer, told in [
        ("batched", ("move",), {}, "approve", "the answer is 'approve'; give .* approve, correct, deny"),
        ("batched", ("move",), {}, {"answer": "deny"}, "the answer 'deny' has no 'text'; give"),
        ("batched", ("move",), {}, {"decisions": [only("respond")]}, "a decision for each call .move: app"),
        ("batched", ("move",), {}, {"decisions": [only("edit", edited_action="Bob")]}, "decision for each"),
        ("batched", BOTH, {}, {"decisions": [only("approve")]}, "for each call .move: .*; stamp: approve"),
        ("batched", BOTH, {}, {"answer": "correct", "text": "moved"}, "the answers approve, deny; "),
        ("batched", ("move",), LIMITED, {"decisions": [only("reject")]}, "move: approve, edit"),
        ("per_call", ("move",), {}, {"decisions": [only("approve")]}, "fits the schema"),
        ("per_call", ("move",), LIMITED, {"answer": "deny", "text": "no"}, "one of the answers approve; "),
        ("per_call", ("move",), {}, {**EDIT, "edited_action": {"name": "stamp"}}, "fits the schema"),
    ]:
        with subtests.test(mode=mode, names=names, config=config, answer=answer):
            orchestrator, question, made = ask_by_langchain(mode, *names, **config)
            with pytest.raises(ResumeError, match=told) as refused:
                orchestrator.resume("thread", answer)

            assert str(refused.value).endswith("; the question is still open")
            assert (question["kind"], orchestrator.resume("thread")["question"]) == ("agent", question)
            assert orchestrator.resume("thread", {"answer": "approve"})["status"] == "success"
            assert sorted(made) == sorted(f"{name} Ada" for name in names)


def test_calls_are_decided_about_in_our_words_or_in_the_decisions_of_langchain(subtests):
    for answer, decision, done, outcome in [
        ({"answer": "approve"}, only("approve"), ["move Ada"], "acted"),
        ({"answer": "deny", "text": "no"}, only("reject", message="no"), [], "denied"),
        ({"answer": "correct", "text": "moved by hand"}, only("respond", message="by hand"), [], "stated"),
        (EDIT, EDIT, ["move Bob"], "acted"),
    ]:
        for mode in ("batched", "per_call"):
            for given in (answer, decision):
                with subtests.test(mode=mode, given=given):
                    orchestrator, _, made = ask_by_langchain(mode, "move")
                    is_batch = mode == "batched" and "type" in given
                    state = orchestrator.resume("thread", {"decisions": [given]} if is_batch else given)

                    assert (state["status"], made) == ("success", done)
                    assert [each["outcome"] for each in state["effects"]] == [outcome]


def test_calls_that_are_asked_about_one_by_one_are_stated_one_by_one():
    orchestrator, first, made = ask_by_langchain("per_call", *BOTH)
    # Two tools that run at once ask in any order.
    answers = {"move": {"answer": "correct", "text": "moved by hand"}, "stamp": {"answer": "approve"}}
    second = orchestrator.resume("thread", answers[first["tool_calls"][0]["name"]])["question"]
    state = orchestrator.resume("thread", answers[second["tool_calls"][0]["name"]])

    names = [call["name"] for question in (first, second) for call in question["tool_calls"]]
    assert (sorted(names), made) == (["move", "stamp"], ["stamp Ada"])
    outcomes = {each["name"]: each["outcome"] for each in state["effects"]}
    assert outcomes == {"move": "stated", "stamp": "acted"}


class Forger(FakeExecutor):
    """Asks what looks like a question of the supervision, in which nothing can be read."""

    def execute_step(self, step_description, context=""):
        question = dict.fromkeys(Question.__annotations__, "approve!")
        return f"{step_description}: {interrupt(question)}"


def test_an_agent_cannot_pass_its_question_off_as_one_of_the_supervision():
    orchestrator, state = start_human(Forger(), plan=["one"], supervision="none")

    assert (state["question"]["kind"], state["question"]["step"]) == ("agent", "one")
    assert orchestrator.resume("thread", "yes")["results"][0]["result"] == "one: yes"
