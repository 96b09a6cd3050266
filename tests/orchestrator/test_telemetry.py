"""RunTracer: the spans of runs and attempts, as an OpenTelemetry SDK receives them."""

import subprocess
import sys

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from opentelemetry.instrumentation.langchain import LangchainInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.telemetry import RunTracer
from tests.fakes.acting import approve
from tests.fakes.runs import price_of

LOOKED_UP = AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "Moby Dick"}, "id": "1"}])
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


def test_a_run_is_a_span_with_a_span_of_each_attempt() -> None:
    recorded = Recorded()
    run_retried(recorded)
    run, *attempts = recorded.spans
    assert [span.name for span in attempts] == ["step 1, attempt 1", "step 1, attempt 2"]
    assert {span.parent and span.parent.span_id for span in attempts} == {run.context.span_id}
    assert [span.status.is_ok for span in attempts] == [False, True]
    attributes = {name.removeprefix("plan_execute_monitor."): each for name, each in run.attributes.items()}
    assert attributes["status"] == "success"
    assert attributes["basis"] == "checked"
    assert attributes["evidence.content"] == "code"
    assert attributes["thread_id"] == "thread-1"


def test_each_verdict_and_each_check_is_an_event_of_its_attempt() -> None:
    recorded = Recorded()
    run_retried(recorded)
    first, second = (
        {
            (each.attributes["gen_ai.evaluation.name"], each.attributes["gen_ai.evaluation.score.label"])
            for each in span.events
        }
        for span in recorded.spans[1:]
    )
    assert first >= {("monitor", "failed"), ("required_content", "failed")}
    assert second >= {("monitor", "validated"), ("required_content", "passed")}


def test_no_text_of_a_user_a_model_or_a_tool_is_recorded() -> None:
    recorded = Recorded()
    run_retried(recorded)
    sent = "".join(span.to_json() for span in recorded.spans)
    assert "Moby" not in sent
    assert "euros" not in sent


def test_the_calls_that_langchain_s_instrumentation_records_are_below_the_run(monkeypatch) -> None:
    monkeypatch.setenv("TRACELOOP_TRACE_CONTENT", "false")
    recorded, instrumentor = Recorded(), LangchainInstrumentor()
    instrumentor.instrument(tracer_provider=recorded.provider)
    try:
        run_retried(recorded)
    finally:
        instrumentor.uninstrument()
    (run, *others) = recorded.spans
    assert {span.context.trace_id for span in others} == {run.context.trace_id}
    assert {"execute_tool price_of", "ScriptedChatModel.chat"} <= {span.name for span in others}
    assert "Moby" not in "".join(span.to_json() for span in recorded.spans)


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
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={})
    assert ended.stdout.splitlines() == ["[] False", "['RunTracer'] True"]
