"""Builds the case of an execution: its ``agent_run``, and the rule that every execution has to keep."""

from __future__ import annotations

from typing import Final, cast

from agents.prompts import find_marks
from evaluation.inputs.run_state import convert_calls, convert_usage, run_from_state
from orchestrator.state.evaluation_report import mapping
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import CallOrigin, Json, PlainContract, StepRecord
from orchestrator.state.reducers import merge_records

MAX_CONTEXT: Final = 4000
"""Most characters of the context in a run: the last ones, which are the newest results."""
REPEATED_PROMPT: Final = "repeated_prompt"
"""Id of the audit rule that an output breaks if it repeats our request."""
_ADVICE: Final = "Reply with the result alone, without the marked lines of the request"


def build_agent_run(record: StepRecord, context: str) -> dict[str, object]:
    """Build the ``agent_run`` of one execution of a step.

    Args:
        record: The execution.
        context: The context of the executor; its last ``MAX_CONTEXT`` characters are kept.

    Returns:
        The fields of an ``AgentRun``. A value that was not measured is absent: unknown tokens and cost, and
        the number of model calls if none was seen, for instance of an agent that uses another library. An
        execution that ended in an error has no ``final_output``.
    """
    output = record["result"] if record["error"] is None else None
    own = CallOrigin(step_index=record["step_index"], attempt=record["attempt"])
    # Not those answered from a call of this execution; one of another execution need not be made again.
    calls = [call for call in record["tool_calls"] if call.get("made_in") != own]
    known = {"final_output": output, "error": record["error"], "model": record["model"]}
    return {
        "input": record["step"],
        **convert_calls(calls),
        "messages": _build_messages(context, record, output),
        **{name: value for name, value in known.items() if value is not None},
        **convert_usage(record["usage"]),
        "retries": record["transport_retries"],
        "metadata": {
            "step_index": record["step_index"],
            "attempt": record["attempt"],
            "timestamp": record["started_at"],
        },
    }


def build_whole_run(state: OrchestratorState, record: StepRecord) -> dict[str, object]:
    """Build the ``agent_run`` of the whole run so far, as if it ended with this execution.

    It is the run that ``evaluation.run_from_state`` reads from the end of the run, so that a contract decides
    the same about a live and a recorded run. Raises nothing for a state of the orchestrator.
    """
    records = merge_records(state["results"], [{**record, "status": "validated"}])
    status, output = ("success", record["result"]) if record["error"] is None else ("failed", None)
    execution = build_agent_run(record, state["context"])
    run = run_from_state({**state, "results": records, "status": status, "output": output})
    # A judge reads the context of this execution in the messages.
    return {**run, "messages": execution["messages"], "metadata": execution["metadata"]}


def _build_messages(context: str, record: StepRecord, output: str | None) -> list[dict[str, str]]:
    requests = [_cut_context(context), record["step"]] if context else [record["step"]]
    messages = [{"role": "user", "content": text} for text in requests]
    if output is None:
        return messages
    reason = {"finish_reason": record["cut_off"]} if "cut_off" in record else {}
    return [*messages, {"role": "assistant", "content": output, **reason}]


def _cut_context(context: str) -> str:
    left_out = len(context) - MAX_CONTEXT
    if left_out <= 0:
        return context
    return f"[the first {left_out} characters of the context are left out]\n{context[left_out:]}"


def add_own_checks(contract: PlainContract, state: OrchestratorState, record: StepRecord) -> PlainContract:
    """Returns the contract with a rule for each of our checks that the execution does not pass."""
    rules = [_forbid_mark(mark) for mark in find_repeated_marks(state, record)]
    audit = mapping(contract.get("audit"))
    own = cast("list[Json]", audit.get("rules", []))
    return {**contract, "audit": {**audit, "rules": [*own, *rules]}} if rules else contract


def find_repeated_marks(state: OrchestratorState, record: StepRecord) -> list[str]:
    """Finds the marks of our prompts in an output. A mark is in no text that it fences.

    So one that the task, the step, the context or a tool holds is no mark of this request, and may be quoted.
    """
    marks = find_marks(record["result"])
    if not marks:
        return []
    tools = [f"{call['args']}{call['result']}{call['error']}" for call in record["tool_calls"]]
    texts = (state["task"], record["step"], state["context"], *tools)
    return [mark for mark in marks if not any(mark in text for text in texts)]


def _forbid_mark(mark: str) -> dict[str, Json]:
    return {
        "id": REPEATED_PROMPT,
        "category": "contract",
        "forbidden": {"text": mark, "where": "final_output"},
        "recommended_action": _ADVICE,
    }
