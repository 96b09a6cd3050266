"""RunTracer: the spans, events and metrics of runs, as an OpenTelemetry SDK receives them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents import ExecutionAgent, MonitoringAgent
from agents.testing import ScriptedChatModel
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import read_runs
from orchestrator import LangGraphOrchestrator
from orchestrator.telemetry.run_tracer import RunTracer
from tests.fakes.acting import approve

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3eF5"
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
LOOKED_UP = AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "Moby Dick"}, "id": "1"}])
NAME = "ScriptedChatModel"
CONTRACT = {"must_call": ["price_of"], "required_content": [{"number": 12.5}]}


def price_of(title: str) -> float:
    """Return the price of a book in euros."""
    if title == "Unknown":
        raise ValueError("no such book")
    return 12.5


class Recorded:
    """Receives what a tracer sends."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.events = InMemoryLogRecordExporter()
        self.reader = InMemoryMetricReader()
        spans, logs = TracerProvider(), LoggerProvider()
        spans.add_span_processor(SimpleSpanProcessor(self.exporter))
        logs.add_log_record_processor(SimpleLogRecordProcessor(self.events))
        self.tracer = RunTracer(
            tracer_provider=spans, logger_provider=logs, meter_provider=MeterProvider([self.reader])
        )

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def draw(self) -> list[str]:
        """Draws the tree of the spans, one line each."""
        children: dict[int | None, list[ReadableSpan]] = {}
        for span in self.spans:
            children.setdefault(span.parent.span_id if span.parent else None, []).append(span)

        def lines(parent: int | None, depth: int) -> list[str]:
            return [
                line
                for span in children.get(parent, [])
                for line in ("  " * depth + span.name, *lines(span.context.span_id, depth + 1))
            ]

        return lines(None, 0)

    def find(self, name: str) -> ReadableSpan:
        return next(span for span in self.spans if span.name == name)


def build(replies: list[str | AIMessage], recorded: Recorded, **options: object) -> LangGraphOrchestrator:
    return LangGraphOrchestrator.from_model(
        ScriptedChatModel(replies), tools=[price_of], hooks=[recorded.tracer], planning="always", **options
    )


def run_retried(recorded: Recorded) -> None:
    replies = ['{"plan": ["Look it up"]}', "It costs 9.99.", LOOKED_UP, "Moby Dick costs 12.50 euros."]
    build(replies, recorded, contract=CONTRACT).run("What does Moby Dick cost?", "thread-1")


def test_a_run_is_a_tree_of_its_plan_steps_attempts_agents_and_calls() -> None:
    recorded = Recorded()
    run_retried(recorded)
    assert recorded.draw() == [
        "invoke_workflow plan_execute_monitor",
        "  plan",
        "    invoke_agent planner",
        "      chat",
        "  step 1",
        "    attempt 1",
        "      invoke_agent executor",
        "        chat",
        "    attempt 2",
        "      invoke_agent executor",
        "        chat",
        "        execute_tool price_of",
        "        chat",
    ]


def test_a_run_says_what_its_success_rests_on() -> None:
    recorded = Recorded()
    run_retried(recorded)
    workflow = recorded.find("invoke_workflow plan_execute_monitor").attributes or {}
    assert workflow["plan_execute_monitor.status"] == "success"
    assert workflow["plan_execute_monitor.basis"] == "checked"
    assert workflow["plan_execute_monitor.evidence.content"] == "code"
    assert workflow["plan_execute_monitor.thread_id"] == "thread-1"


def test_a_refused_attempt_is_an_error_and_an_accepted_one_is_none() -> None:
    recorded = Recorded()
    run_retried(recorded)
    statuses = [span.status.is_ok for span in recorded.spans if span.name.startswith("attempt")]
    assert statuses == [False, True]


def test_each_verdict_and_each_check_is_an_event_of_its_attempt() -> None:
    recorded = Recorded()
    run_retried(recorded)
    logs = [item.log_record for item in recorded.events.get_finished_logs()]
    results = [log for log in logs if log.event_name == "gen_ai.evaluation.result"]
    found = [
        (values["gen_ai.evaluation.name"], values["gen_ai.evaluation.score.label"])
        for log in results
        if (values := log.attributes) is not None
    ]
    assert ("monitor", "failed") in found
    assert ("monitor", "validated") in found
    assert ("required_content", "failed") in found
    attempts = {span.context.span_id for span in recorded.spans if span.name.startswith("attempt")}
    assert {log.span_id for log in results} == attempts


def test_no_text_of_a_user_a_model_or_a_tool_is_recorded_by_default() -> None:
    recorded = Recorded()
    run_retried(recorded)
    sent = "".join(span.to_json() for span in recorded.spans)
    sent += "".join(str(item.log_record.attributes) for item in recorded.events.get_finished_logs())
    assert "Moby" not in sent
    assert "euros" not in sent


def test_another_tool_reads_the_run_from_the_trace_if_texts_are_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(CONTENT, "SPAN_ONLY")
    recorded = Recorded()
    run_retried(recorded)
    sent = TracesData.FromString(encode_spans(recorded.spans).SerializeToString())
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(MessageToDict(sent)))
    (run,) = read_runs(file)
    assert isinstance(run, RecordedRun)
    assert run.case["agent_run"]["final_output"] == "Moby Dick costs 12.50 euros."
    assert [call["name"] for call in run.case["agent_run"]["tool_calls"]] == ["price_of"]


def test_a_tool_that_raises_is_an_error_span() -> None:
    recorded = Recorded()
    failing = AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "Unknown"}, "id": "1"}])
    build(['{"plan": ["Look"]}', failing, "I do not know.", '{"success": true}'], recorded).run("Price?")
    assert not recorded.find("execute_tool price_of").status.is_ok


def run_with_errors(recorded: Recorded) -> str:
    """Runs a tool and then a model that raise, and returns the spans as JSON."""
    failing = AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "Unknown"}, "id": "1"}])
    refused = ValueError(f"401 {TOKEN}: the account of Nora Field is closed")
    replies = ['{"plan": ["Look"]}', failing, refused]
    build(replies, recorded, max_retries=0).run("Price?")
    return " ".join(span.to_json() for span in recorded.spans)


def test_without_captured_content_the_spans_have_the_type_of_an_error_and_not_its_text() -> None:
    spans = run_with_errors(Recorded())
    assert '"error.type": "ValueError"' in spans
    assert "no such book" not in spans
    assert "Nora Field" not in spans


def test_with_captured_content_the_error_of_a_span_has_its_text_without_credentials(monkeypatch) -> None:
    monkeypatch.setenv(CONTENT, "span_only")
    spans = run_with_errors(Recorded())
    assert "no such book" in spans
    assert "401 [github_token]: the account of Nora Field is closed" in spans


class ParallelPlanner:
    """Plans two steps that need nothing."""

    def generate_plan(self, task: str, /) -> list[dict[str, object]]:
        return [{"step": "A", "needs": []}, {"step": "B", "needs": []}]


def test_the_calls_of_parallel_steps_stand_below_their_own_steps() -> None:
    recorded = Recorded()
    model = ScriptedChatModel(['{"success": true, "feedback": ""}'] * 6)
    agents = (ParallelPlanner(), ExecutionAgent(model), MonitoringAgent(model))
    LangGraphOrchestrator(*agents, hooks=[recorded.tracer], synthesis=False).run("Do both")
    calls = ["    attempt 1", "      invoke_agent executor", "        chat", "      invoke_agent monitor"]
    drawn = [line for line in recorded.draw() if line != "  plan"]
    assert drawn[0] == "invoke_workflow plan_execute_monitor"
    assert drawn[1:] == ["  step 1", *calls, "        chat", "  step 2", *calls, "        chat"]


def test_a_run_that_waits_ends_its_trace_and_its_resumption_begins_another() -> None:
    recorded = Recorded()
    options = {"acting_tools": approve("price_of"), "checkpointer": InMemorySaver()}
    replies = ['{"plan": ["Look"]}', LOOKED_UP, "It costs 12.50.", '{"success": true, "feedback": ""}']
    orchestrator = build(replies, recorded, **options)
    orchestrator.run("Look", "t")
    orchestrator.resume("t", {"answer": "approve"})
    runs = [span.attributes for span in recorded.spans if span.name.startswith("invoke_workflow")]
    kept = [(run["plan_execute_monitor.status"], run["plan_execute_monitor.resumed"]) for run in runs if run]
    assert kept == [("waiting", False), ("success", True)]


def test_without_a_tracer_nothing_of_opentelemetry_is_imported() -> None:
    code = (
        "import sys\n"
        "from agents.testing import ScriptedChatModel\n"
        "from orchestrator import LangGraphOrchestrator\n"
        "model = ScriptedChatModel(['Hello.', '{\"success\": true}'])\n"
        "LangGraphOrchestrator.from_model(model).run('Greet')\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.util.genai')])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
