"""What users write has the types that they expect. ``python -m tests.typing`` checks it; nothing runs it."""

from collections.abc import Iterator
from typing import Any, assert_type

from evaluation import (
    AgentRun,
    Alert,
    EvaluationCase,
    EvaluationContract,
    EvaluationReport,
    Rubric,
    ToolCall,
    build_evaluation_graph,
    evaluate,
    evaluate_many,
    read_cases,
    run_from_messages,
)
from evaluation.checks.kinds.wording import WordCount
from evaluation.contract.contract import ContentRule, ExpectedAction, Threshold, TrajectoryRules
from evaluation.contract.rubric import Criterion
from orchestrator import Attempt, LangGraphOrchestrator, OrchestratorState, Question, RetryPolicy, TuneSpec
from orchestrator.events import Event, RunFinished, StepJudged
from orchestrator.retry import FeedbackRule, ResampleRule


def write_contracts(names: list[str], rules: list[ContentRule]) -> None:
    """A contract takes models; a dict of plain JSON is validated at run time."""
    EvaluationContract(required_content=rules, must_call=names)
    EvaluationContract(
        checks=[WordCount(max=5)], rubric=Rubric(criteria=[Criterion(name="tone")]), keywords=["light"]
    )
    EvaluationContract(expected_trajectory=[ExpectedAction(name="search")])
    EvaluationContract(trajectory=TrajectoryRules(acting_tools=names), trajectory_match_mode="any_order")
    EvaluationContract(thresholds={"latency_ms": 1500, "x": Threshold(max=1.0)})
    EvaluationContract.model_validate({"required_content": [{"text": "world"}, {"pattern": "^H"}]})


def write_cases(data: Any, names: list[str]) -> None:
    """A case may be a dict, a model, or data that was read from a file."""
    evaluate(EvaluationCase(agent_run=AgentRun(final_output="Hi", tool_calls=[ToolCall(name="a")])))
    evaluate({"agent_run": {"final_output": "Hi", "tool_calls": ["search", {"name": "book", "args": {}}]}})
    evaluate({"agent_run": {"user_input": "Hi", "final_output": "Hi", "tool_calls": names}})
    evaluate({"agent_run": run_from_messages([{"role": "user", "content": "Hi"}]), "must_call": ["search"]})
    evaluate(data)
    assert_type(evaluate_many(read_cases("runs.jsonl")), Iterator[EvaluationReport])


def read_report(report: EvaluationReport) -> None:
    """The parts of a report have their types by attribute."""
    assert_type(report.alerts, list[Alert])
    assert_type(report.failures, list[str])
    assert_type(report.alerts[0]["reason"], str)
    assert_type(report.checks[0]["passed"], bool | None)
    assert_type(report.audit_findings[0]["where"], str)
    assert_type(report.case_id, str | None)
    print(report.metrics.response["rouge_1"] > 0.8, report["metrics"]["operational"]["latency_ms"] < 1500)
    assert_type(report.judge.result, dict[str, Any] | None)


def read_graph(case: dict[str, object]) -> None:
    """The graph takes the same cases."""
    print(build_evaluation_graph().invoke(case)["evaluation_report"])
    print(build_evaluation_graph().invoke({"agent_run": {"final_output": "Hi"}, "keywords": ["Hi"]}))


def write_policies() -> None:
    """Rules, policies and searches are models; YAML and ``model_validate`` take dicts."""
    RetryPolicy(strategies=[FeedbackRule(after=("format",), times=1), ResampleRule()])
    RetryPolicy.model_validate({"strategies": [{"use": "resample"}]})
    TuneSpec(tasks="tasks.yaml", space={"max_retries": [0, 5]}, trials=3)


def read_run(orchestrator: LangGraphOrchestrator) -> None:
    """The state, its records and the events of a run have their types."""
    RetryPolicy(max_retries=3, strategies=[ResampleRule()])
    state = orchestrator.run("Greet the world")
    assert_type(state, OrchestratorState)
    assert_type(state["results"], list[Attempt])
    assert_type(state["output"], str | None)
    assert_type(state["question"], Question | None)
    for record in state["results"]:
        if record["report"] is not None:
            EvaluationReport.model_validate(record["report"])
        if record["verdict"] is not None:
            assert_type(record["verdict"]["feedback"], str)
    for event in orchestrator.stream("Greet the world"):
        assert_type(event, Event)
        if isinstance(event, StepJudged):
            assert_type(event.record["attempt"], int)
        if isinstance(event, RunFinished):
            assert_type(event.state, OrchestratorState)
