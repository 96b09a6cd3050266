import logging
import threading

import pytest
from langchain_core.tools import StructuredTool

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent, load_model
from agents.testing import ScriptedChatModel
from orchestrator import Budget, LangGraphOrchestrator, RetryPolicy
from orchestrator.events import (
    RunInterrupted,
    RunStarted,
    StepJudged,
    StepRetried,
    StepStarted,
    TextStreamed,
    ToolStarted,
)
from tests.fakes.chat_server import plan
from tests.fakes.compressor import FakeCompressor
from tests.fakes.executor import FakeExecutor, WaitingExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner, steps
from tests.fakes.protocol_server import encode
from tests.fakes.runs import agent, call
from tests.fakes.runs import build as build_run

UNREADABLE = {"success": False, "feedback": "Failed to parse monitoring response: hmm"}
STEP = ["StepStarted", "StepExecuted", "StepJudged"]
RETRIED = [*STEP, "StepRetried", *STEP]
ANEW = RetryPolicy(judge_attempts=1, strategies=[{"use": "feedback", "after": "unverified"}])


def build(plan=1, **options):
    return build_run(plan=steps(plan), **options)


def names(events):
    return [type(event).__name__ for event in events]


ORDERS = [
    ({}, ["Planned", *STEP]),
    ({"monitor": FakeMonitor(refuse(), accept())}, ["Planned", *RETRIED]),
    ({"planner": FakePlanner([])}, []),
    ({"planner": FakePlanner(ValueError("no"))}, []),
    ({"executor": FakeExecutor(ValueError("no"))}, ["Planned", *STEP[:2]]),
    ({"monitor": FakeMonitor(ValueError("no"))}, ["Planned", *STEP]),
    ({"monitor": FakeMonitor(UNREADABLE, accept()), "retry_policy": ANEW}, ["Planned", *RETRIED]),
    ({"plan": 2, "compressor": FakeCompressor(ValueError("no"))}, ["Planned", *STEP, "StepStarted"]),
    ({"executor": WaitingExecutor(), "budget": Budget(max_seconds=0.3)}, ["Planned", *STEP[:2]]),
]


def test_the_events_of_a_run_in_order(subtests):
    for options, between in ORDERS:
        with subtests.test(options=options, between=between):
            assert names(build(**options).stream("x")) == ["RunStarted", *between, "RunFinished"]


def test_events_carry_what_happened():
    monitor = FakeMonitor(refuse("short"), accept("right"))
    events = list(build(executor=FakeExecutor("a", "b"), monitor=monitor).stream("the task", "thread"))
    started, planned, first, executed, judged, retried, second, *_, finished = events

    assert {event.thread_id for event in events} == {"thread"}
    assert started == RunStarted(thread_id="thread", task="the task")
    assert planned.plan == ("step 1",)
    assert first == StepStarted(thread_id="thread", step_index=0, step="step 1", attempt=1)
    assert (executed.record["result"], executed.record["status"]) == ("a", "pending_validation")
    assert (judged.record["status"], judged.verdict) == ("failed", {"success": False, "feedback": "short"})
    assert retried == StepRetried(
        thread_id="thread", step_index=0, attempt=2, feedback="short", decision=judged.record["decision"]
    )
    assert second == StepStarted(thread_id="thread", step_index=0, step="step 1", attempt=2)
    assert (finished.status, finished.state["status"]) == ("success", "success")


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
@pytest.mark.parametrize("is_awaited", [False, True])
def test_a_hook_that_raises_is_logged_and_ends_nothing(error, is_awaited, caplog):
    def fail(event):
        raise error("the hook is broken")

    async def fail_later(event):
        fail(event)

    after = RecordingHook()
    with caplog.at_level(logging.ERROR, logger="orchestrator"):
        state = build(hooks=[fail_later if is_awaited else fail, after]).run("x")

    assert (state["status"], len(after.events), len(caplog.records)) == ("success", 6, 6)
    assert caplog.records[0].message.startswith("a hook failed on RunStarted; the run continues\nTraceback")
    assert "the hook is broken" in caplog.text


async def test_hooks_are_told_of_the_end_of_a_stream_that_was_left_early():
    hook = RecordingHook()
    stream = build(2, hooks=[hook]).astream("x")
    async for event in stream:
        if isinstance(event, StepJudged):
            break
    await stream.aclose()

    assert isinstance(hook.events[-1], RunInterrupted)
    assert hook.events[-1].state["failure"] is None


def test_a_tool_that_outlives_a_stream_that_was_left_writes_no_error(caplog):
    left, ended = threading.Event(), threading.Event()

    class Slow(StructuredTool):
        def run(self, *args, **options):
            try:
                return super().run(*args, **options)
            finally:
                ended.set()

    tool = Slow.from_function(lambda: left.wait(20), name="wait_long", description="Wait.")
    for event in build_run(agent(call("wait_long"), "done", tools=[tool]), plan=["one"]).stream("x"):
        if isinstance(event, ToolStarted):
            break
    left.set()

    assert ended.wait(20)
    assert caplog.messages == []


REFUSED = {"error": "request (1301 tokens) exceeds the available context size (1000 tokens)"}


def test_a_task_that_does_not_fit_needs_review(loopback):
    server = loopback(answer=lambda body: encode(REFUSED, 400))
    llm = load_model("ollama:m", base_url=server.url, num_ctx=1000)
    state = build_run(ExecutionAgent(llm), plan=["word " * 1200]).run("x")
    (record,) = state["results"]

    assert (state["failure"]["kind"], record["status"]) == ("needs_review", "needs_review")
    assert "does not fit" in record["warnings"][0]
    assert state["warnings"] == [f"step 1: {record['warnings'][0]}"]


# The events of a stream while an agent works: pieces of text, and tool calls


@pytest.fixture
def streaming(served) -> LangGraphOrchestrator:
    """An orchestrator whose model is a server that streams."""
    served(plans=[plan("one")], steps=["three short words"])
    llm = load_model("openai:scripted")
    agents = PlanningAgent(llm), ExecutionAgent(llm), MonitoringAgent(llm)
    return LangGraphOrchestrator(*agents, budget=Budget(max_total_tokens=10_000))


def test_the_text_of_the_models_streams_piece_by_piece(streaming):
    pieces = [event for event in streaming.stream("x", tokens=True) if isinstance(event, TextStreamed)]
    written = [event.text for event in pieces if event.agent == "executor"]

    assert len(written) > 1
    assert "".join(written) == "three short words"
    assert "".join(event.text for event in pieces if event.agent == "planner") == plan("one")
    assert {event.step_index for event in pieces if event.agent == "executor"} == {0}


class UnaskedStream(ScriptedChatModel):
    """Streams whether or not anybody asks, as ``ChatOllama`` does."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        result = super()._generate(messages, stop, run_manager, **kwargs)
        if run_manager is not None:
            run_manager.on_llm_new_token(result.generations[0].text)
        return result


def test_text_streams_only_if_it_is_asked_for(subtests):
    for tokens in [False, True]:
        with subtests.test(tokens=tokens):
            heard = []
            executor = ExecutionAgent(UnaskedStream(["three words"]))
            orchestrator = build_run(executor, plan=["one"], hooks=[heard.append])
            events = list(orchestrator.stream("x", tokens=tokens))

            for listed in (events, heard):
                assert any(isinstance(event, TextStreamed) for event in listed) is tokens


def test_the_hooks_of_a_run_get_the_text_without_a_stream():
    heard = []
    executor = ExecutionAgent(UnaskedStream(["three words"]))
    build_run(executor, plan=["one"], hooks=[heard.append]).run("x", tokens=True)

    assert "".join(event.text for event in heard if isinstance(event, TextStreamed)) == "three words"
