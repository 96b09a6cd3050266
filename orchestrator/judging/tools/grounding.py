"""Sends back an output with a fact that stands in no source, once or always."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

from evaluation.checks.check_model import CheckContext, ToolUse
from evaluation.checks.kinds.tools import SourcedFacts, find_claimed_actions
from orchestrator.judging.output import merge_contracts
from orchestrator.judging.plain_contracts import list_checks
from orchestrator.state.current_step import current_records, list_corrections
from orchestrator.state.evaluation_report import checks_of, mapping
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Grounding, Json, PlainContract, StepRecord

_NAME: Final = SourcedFacts.get_name()


def refuse_unsourced(
    contract: PlainContract,
    state: OrchestratorState,
    record: StepRecord,
    grounding: Grounding,
    tools: Collection[str],
) -> PlainContract:
    """Returns the contract with a check that fails if a fact of the output has no source.

    Args:
        contract: The contract of the execution. One that has the check itself decides for itself.
        state: The state of the run. Without an answered call, there is nothing to compare facts with.
        record: The execution.
        grounding: "strict" refuses each such output; "facts" refuses it once, and then warns.
        tools: Names of the executor's tools that may write, which an output may say to have used.
    """
    is_stated = any(mapping(each).get("check") == _NAME for each in list_checks(contract))
    if grounding == "off" or is_stated or record["error"] is not None:
        return contract
    # A step in parallel is not told the calls of the steps that it needs.
    tools = [] if state["declared"].get("count") else [*tools]
    calls = [call for each in state["results"] for call in each["tool_calls"] if call["error"] is None]
    is_claimed = bool(find_claimed_actions(record["result"], tools, [call["name"] for call in calls]))
    if not (is_claimed or any(call["result"] for call in calls)):
        return contract
    check = SourcedFacts(tools=tools)
    context = CheckContext(
        record["result"],
        state["task"],
        tuple(
            ToolUse(call["name"], call["args"] if isinstance(call["args"], dict) else None, call["result"])
            for call in calls
        ),
        given=tuple(list_sources(state)),
    )
    # Only to an output that fails it: facts with a source prove nothing.
    if not context.text or check.evaluate(context).passed is not False:
        return contract
    has_retry = state["attempts"] < state["max_retries"]
    is_last = grounding == "facts" and (_was_refused(state, record) or not has_retry)
    severity = "warning" if is_last else "critical"
    stated: list[Json] = [{"check": _NAME, "tools": [*tools], "severity": severity}]
    # A judge is not asked about an output that is refused anyway.
    judge: PlainContract = {} if is_last or "judge" in contract else {"judge": {"when": "if_checks_pass"}}
    return merge_contracts(contract, {"checks": stated, **judge})


def list_sources(state: OrchestratorState) -> list[str]:
    """Lists the texts that an output may take facts from, besides the calls of its own execution."""
    calls = [call for record in state["results"] for call in record["tool_calls"] if call["error"] is None]
    results = [text for call in calls for text in (call["result"], json.dumps(call["args"])) if text]
    own = current_records(state)
    asked = [*(record["step"] for record in own[-1:]), *list_corrections(own)]
    return [state["task"], state["context"], *asked, *results]


def _was_refused(state: OrchestratorState, record: StepRecord) -> bool:
    earlier = [each for each in current_records(state) if each["attempt"] < record["attempt"]]
    return any(
        check["check"] == _NAME and check["passed"] is False
        for each in earlier
        for check in checks_of(each["report"] or {})
    )
