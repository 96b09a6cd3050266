"""Makes a case of a stored run."""

from __future__ import annotations

from evaluation import TaskCase, run_from_state
from evaluation.evalset.case_result import describe_run
from evaluation.values import as_list, as_object
from orchestrator.state.current_step import find_derived_output
from orchestrator.state.graph_state import OrchestratorState


def build_case(name: str, state: OrchestratorState) -> TaskCase:
    """Builds a case with the task of a run, what its contract stated, and the calls that succeeded.

    Checks that follow from the words of the task are left out: they follow again. Sensitive data is redacted.

    Raises:
        ContractError: The run has not ended.
    """
    run = run_from_state(state)
    stated = dict((find_derived_output(state) or {"contract": {}})["contract"])
    checks = [check for check in as_list(stated.pop("checks", [])) if "quote" not in as_object(check)]
    calls = [
        {"name": call["name"], "args": as_object(call.get("args"))}
        for call in map(as_object, as_list(run["tool_calls"]))
        if call.get("error") is None
    ]
    demands = {"checks": checks, "expected_trajectory": calls}
    contract = {**stated, **{field: value for field, value in demands.items() if value}}
    parts = describe_run({**contract, "agent_run": {"input": run["input"]}})
    return TaskCase.model_validate(
        {"name": name, "task": parts["task"], "contract": parts["expected"] or "from_task"}
    )
