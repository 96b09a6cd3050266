"""Compares the contracts of a stored run with the tools of the executor that goes on with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from orchestrator.judging.tools.names import ToolNames
from orchestrator.state.current_step import list_accepted
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import PlainContract, Question


def find_stored_problem(state: OrchestratorState, tools: ToolNames) -> str | None:
    """Return why the contracts of the open steps cannot be met with these tools; None if they can."""
    for place, contract in _list_open(state):
        if (problem := tools.find_problem(contract)) is not None:
            return f"{place}: contract.{problem}"
    return None


def _list_open(state: OrchestratorState) -> Iterator[tuple[str, PlainContract]]:
    """List the stored contracts of the steps that are not accepted yet, and of the final output."""
    declared, done = state["declared"], {record["step_index"] for record in list_accepted(state["results"])}
    derived = declared.get("derived")
    steps = [] if derived is None else [each and each["contract"] for each in derived["steps"]]
    for contracts in (declared["contracts"] or [], steps):
        for index, contract in enumerate(contracts):
            if contract is not None and index not in done:
                yield f"step {index + 1}", contract
    if derived is not None and derived["output"] is not None:
        yield "the output", derived["output"]["contract"]


def find_unasked(
    questions: Sequence[Question], approve_tools: Collection[str], once_tools: Collection[str]
) -> str | None:
    """Returns why a run cannot go on: it waits for the approval of a tool that would run without one."""
    for question in (each for each in questions if each["kind"] == "tool"):
        # A question with a finding asks whether the tool may run again, which once_tools asks for.
        option, names = (
            ("once_tools", once_tools) if question["findings"] else ("approve_tools", approve_tools)
        )
        for call in question.get("tool_calls", []):
            if names != "all" and call["name"] not in names:
                name = call["name"]
                return f"it waits for the approval of tool {name!r}; give {option} this name"
    return None
