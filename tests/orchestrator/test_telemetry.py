import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.callbacks import BaseCallbackManager
from langgraph.checkpoint.memory import InMemorySaver
from opentelemetry.instrumentation.langchain import LangchainInstrumentor
from opentelemetry.instrumentation.utils import unwrap
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents import EffectsMiddleware
from agents.testing import ScriptedChatModel
from evaluation.recordings.run_files import read_runs
from orchestrator import ContractMiddleware, LangGraphOrchestrator
from orchestrator.study.recorded_evaluation import RecordedEvaluation
from orchestrator.telemetry import RunTracer, VerdictTracer
from tests.fakes.acting import approve
from tests.fakes.runs import call, price_of

LOOKED_UP = call("price_of", title="Moby Dick")
PEERS = Path(__file__).parents[1] / "data" / "peers"
CONTRACT = {"must_call": ["price_of"], "required_content": [{"number": 12.5}]}


@pytest.fixture(autouse=True)
def enabled_sdk(monkeypatch):
    """The benchmarks of peers, which other tests import, switch OpenTelemetry's SDK off for the process."""
    monkeypatch.delenv("OTEL_SDK_DISABLED", raising=False)


class Recorded:
    def __init__(self) -> None:
        self.exporter, self.provider = InMemorySpanExporter(), TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = RunTracer(tracer_provider=self.provider)

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)


def run_retried(recorded: Recorded) -> None:
    """Runs a step whose first attempt fails a check."""
    replies = ['{"plan": ["Look it up"]}', "It costs 9.99.", LOOKED_UP, "Moby Dick costs 12.50 euros."]
    options = {"hooks": [recorded.tracer], "planning": "always", "contract": CONTRACT}
    orchestrator = LangGraphOrchestrator.from_model(ScriptedChatModel(replies), tools=[price_of], **options)
    orchestrator.run("What does Moby Dick cost?", "thread-1")


def test_a_run_is_a_span_with_a_span_of_each_attempt_and_its_verdicts_and_without_texts() -> None:
    recorded = Recorded()
    run_retried(recorded)
    run, *attempts = recorded.spans
    assert [span.name for span in attempts] == ["step 1, attempt 1", "step 1, attempt 2"]
    assert {span.parent and span.parent.span_id for span in attempts} == {run.context.span_id}
    assert [span.status.is_ok for span in attempts] == [False, True]
    attributes = {name.removeprefix("plan_execute_monitor."): each for name, each in run.attributes.items()}
    known = {"status": "success", "basis": "checked", "evidence.content": "code", "thread_id": "thread-1"}
    assert known.items() <= attributes.items()
    for span, labels in zip(attempts, [("failed", "failed"), ("validated", "passed")], strict=True):
        results = read_results(span)
        names = ("monitor", "required_content")
        assert tuple(results[name]["evaluation.score.label"] for name in names) == labels
    sent = "".join(span.to_json() for span in recorded.spans)
    assert [text for text in ("Moby", "euros") if text in sent] == []


def read_results(span: ReadableSpan) -> dict[str, dict[str, object]]:
    """Returns the attributes of the events of a span by the name of the evaluation, without their prefix."""
    events = [
        {name.split(".", 1)[1]: each for name, each in event.attributes.items()} for event in span.events
    ]
    return {str(event["evaluation.name"]): event for event in events}


def test_an_event_names_who_judged_and_the_score() -> None:
    recorded = Recorded()
    run_retried(recorded)
    replies = ["Blue", '{"success": true, "feedback": "It is a colour."}']
    LangGraphOrchestrator.from_model(ScriptedChatModel(replies), hooks=[recorded.tracer]).run("Name a colour")
    _, failed, _, _, judged = recorded.spans

    assert read_results(failed)["required_content"]["evaluator"] == "code"
    assert read_results(failed)["monitor"] == {
        "evaluation.name": "monitor",
        "evaluation.score.label": "failed",
        "evaluation.score.value": 0.0,
        "evaluator": "code",
    }
    assert read_results(judged)["judge"]["evaluation.score.value"] == 5.0
    assert {read_results(judged)[name]["evaluator"] for name in ("monitor", "judge")} == {"model"}


def test_the_verdict_on_a_recorded_run_stands_below_the_span_that_it_was_read_from(subtests) -> None:
    [run] = read_runs(PEERS / "otel" / "genai-openai.json")
    evaluation = RecordedEvaluation({"required_content": [{"number": 12.5}]})
    [result] = evaluation.evaluate([run])
    strange = result.model_copy(update={"operation": {"trace_id": "x", "span_id": "7"}})
    for each, parent in [(result, run.operation["span_id"]), (strange, None)]:
        with subtests.test(operation=each.operation):
            recorded = Recorded()
            VerdictTracer(tracer_provider=recorded.provider).record(each)
            [span] = recorded.spans
            event = read_results(span)["evaluation"]

            assert (span.parent and f"{span.parent.span_id:016x}") == parent
            assert span.attributes["plan_execute_monitor.attempt"] == 1
            assert (event["evaluation.score.label"], event["evaluator"]) == ("passed", "code")
            assert event.get("response.id") == each.operation.get("response_id")


def test_explanations_are_recorded_only_with_the_texts(monkeypatch) -> None:
    [run] = read_runs(PEERS / "otel" / "genai-openai.json")
    [result] = RecordedEvaluation({"required_content": [{"number": 99}]}).evaluate([run])
    for value in ("false", "true"):
        monkeypatch.setenv("TRACELOOP_TRACE_CONTENT", value)
        recorded = Recorded()
        VerdictTracer(tracer_provider=recorded.provider).record(result)

        is_told = "evaluation.explanation" in read_results(recorded.spans[0])["evaluation"]
        assert is_told == (value == "true")


@contextmanager
def instrument(provider: TracerProvider) -> Iterator[None]:
    """Records LangChain's calls, and undoes what ``uninstrument`` leaves: the next test sees no wrapper."""
    LangchainInstrumentor().instrument(tracer_provider=provider)
    try:
        yield
    finally:
        LangchainInstrumentor().uninstrument()
        unwrap(BaseCallbackManager, "__init__")
        for hook in ("before_model", "after_model", "before_agent", "after_agent"):
            unwrap(AgentMiddleware, hook)
            unwrap(AgentMiddleware, f"a{hook}")


def test_the_calls_that_langchain_s_instrumentation_records_are_below_the_run(monkeypatch) -> None:
    monkeypatch.setenv("TRACELOOP_TRACE_CONTENT", "false")
    recorded = Recorded()
    with instrument(recorded.provider):
        run_retried(recorded)
    (run, *others) = recorded.spans
    assert {span.context.trace_id for span in others} == {run.context.trace_id}
    assert {"execute_tool price_of", "ScriptedChatModel.chat"} <= {span.name for span in others}
    assert "Moby" not in "".join(span.to_json() for span in recorded.spans)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_contract_holds_in_an_agent_that_is_instrumented(is_async) -> None:
    # The instrumentation makes each hook of the base class look like one of the middleware's own.
    with instrument(Recorded().provider):
        contract = ContractMiddleware({"trajectory": {"forbidden_tools": ["price_of"]}}, max_retries=0)
        model = ScriptedChatModel([LOOKED_UP, "It costs 12.50 euros."])
        agent = create_agent(model, [price_of], middleware=[EffectsMiddleware(), contract])
        asked = {"messages": [("user", "What does Moby Dick cost?")]}
        state = asyncio.run(agent.ainvoke(asked)) if is_async else agent.invoke(asked)

    [effect] = state["effects"].values()
    assert effect["outcome"] == "refused"


def test_a_run_that_waits_ends_its_span_and_its_resumption_begins_another() -> None:
    recorded = Recorded()
    replies = ['{"plan": ["Look"]}', LOOKED_UP, "It costs 12.50.", '{"success": true, "feedback": ""}']
    options = {"acting_tools": approve("price_of"), "checkpointer": InMemorySaver(), "planning": "always"}
    orchestrator = LangGraphOrchestrator.from_model(
        ScriptedChatModel(replies), tools=[price_of], hooks=[recorded.tracer], **options
    )
    orchestrator.run("Look", "t")
    orchestrator.resume("t", {"answer": "approve"})
    runs = [span.attributes for span in recorded.spans if span.name == "run"]
    kept = [(run["plan_execute_monitor.status"], run["plan_execute_monitor.resumed"]) for run in runs]
    assert kept == [("waiting", False), ("success", True)]


def test_a_command_exports_to_the_endpoint_of_the_environment_and_imports_nothing_without_one() -> None:
    code = (
        "import os, sys\n"
        "from orchestrator.cli.run_options import _build_hooks\n"
        "for endpoint in ({}, {'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://127.0.0.1:9'}):\n"
        "    os.environ.update(endpoint)\n"
        "    hooks = [type(each).__name__ for each in _build_hooks()]\n"
        "    print(hooks, 'orchestrator.telemetry' in sys.modules)\n"
        "from langchain.agents.middleware.types import AgentMiddleware\n"
        "print(AgentMiddleware.aafter_model is AgentMiddleware.aafter_model)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={})
    # A hook that stays wrapped would count as one of every middleware.
    assert ended.stdout.splitlines() == ["[] False", "['RunTracer'] True", "True"]
