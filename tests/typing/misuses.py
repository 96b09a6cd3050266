"""Mistakes that are type errors: each line that is ignored has one, or both checkers complain of the comment.

``python -m tests.typing`` checks it; nothing runs it.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from evaluation import AgentRun, EvaluationContract, EvaluationReport, Rubric, evaluate
from evaluation.contract.contract import ContentRule
from orchestrator import LangGraphOrchestrator, OrchestratorState, RetryPolicy
from orchestrator.retry import FeedbackRule

EvaluationContract(required_contents=[])  # type: ignore[call-arg]
EvaluationContract(required_content={"text": "world"})  # type: ignore[arg-type]
EvaluationContract(keywords="light")  # type: ignore[arg-type]
EvaluationContract(must_call=["search", {"name": "book"}])  # type: ignore[list-item]
EvaluationContract(thresholds={"latency_ms": "1500"})  # type: ignore[dict-item]
EvaluationContract(trajectory={"writing_tool": []})  # type: ignore[arg-type]
EvaluationContract(rubric={"criterions": ["tone"]})  # type: ignore[arg-type]
Rubric(criteria=[{"title": "tone"}])  # type: ignore[list-item]
ContentRule(txt="world")  # type: ignore[call-arg]
AgentRun(final_output=5)  # type: ignore[arg-type]
AgentRun(tool_calls=[{"tool": "search"}])  # type: ignore[list-item]

evaluate("runs.json")  # type: ignore[arg-type]
evaluate({"agent_run": {"final_output": "Hi"}}, judge="gpt-4")  # type: ignore[arg-type]

RetryPolicy(max_retry=3)  # type: ignore[call-arg]
FeedbackRule(after="formats")  # type: ignore[arg-type]


def read(report: EvaluationReport, state: OrchestratorState, orchestrator: LangGraphOrchestrator) -> None:
    """Misspelt parts of a report and of a state."""
    print(report.alarms)  # type: ignore[attr-defined]
    print(report.alerts[0]["reasons"])  # type: ignore[typeddict-item]
    print(report.failures[0]["reason"])  # type: ignore[index]
    print(state["result"])  # type: ignore[typeddict-item]
    print(state["results"][0]["outcome"])  # type: ignore[typeddict-item]
    orchestrator.run(["Greet the world"])  # type: ignore[arg-type]
