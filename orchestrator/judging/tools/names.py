"""Compares the tools that a contract or an option names with the tools that the executor has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from langchain_core.tools import BaseTool
from pydantic import ValidationError

from agents import ExecutionAgent
from agents.calls.planned_call import ToolArguments, read_arguments
from evaluation import EvaluationContract
from evaluation.inputs.named_tools import NamedTools, list_named_tools
from evaluation.metrics.trajectory.misspellings import is_other_spelling
from evaluation.results.alerts import join_names
from evaluation.sensitive.quoting import quote_text
from orchestrator.errors import ConfigurationError
from orchestrator.judging.tools.effects import read_tool_effects
from orchestrator.state.current_step import list_accepted
from orchestrator.state.graph_state import DerivedContracts, OrchestratorState
from orchestrator.state.records import Json, Question

Contract: TypeAlias = EvaluationContract | Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of the executor's tools.

    Attributes:
        known: The names; None if they are unknown, so that every name is accepted.
        writing: Those that are known to write.
        readers: How each tool reads its arguments.
    """

    known: tuple[str, ...] | None = None
    writing: tuple[str, ...] = ()
    readers: Mapping[str, ToolArguments] = field(default_factory=dict)

    def find_problem(self, contract: Contract) -> str | None:
        """Return why a contract cannot be met or is misspelt, beginning with its field; None if it is fine.

        A name is a problem if a tool of that name has to be called, if it is another spelling of a tool, or
        if a check would ask a tool that writes.
        """
        known = self.known or ()
        for named in _list_named(contract):
            if named.only_reads and (writing := sorted({*named.names} & {*self.writing})):
                return f"{named.field} names {quote_text(writing[0])}, which writes; name one that only reads"
            others = [tool for tool in known if tool not in named.names]
            is_missing = named.is_required and len(others) == len(known)
            for name in self._list_unknown(named.names):
                if is_missing or any(is_other_spelling(name, tool) for tool in others):
                    return f"{named.field} names {quote_text(name)}; {self.describe_tools()}"
        return None

    def list_warnings(self, contract: Contract) -> list[str]:
        """Return a sentence for each name that has no effect, because the executor has no such tool."""
        return [
            f"{named.field} names {quote_text(name)}, without effect: {self.describe_tools()}"
            for named in _list_named(contract)
            for name in self._list_unknown(named.names)
        ]

    def find_stored_problem(self, state: OrchestratorState) -> str | None:
        """Return why the stored contracts of the open steps cannot be met; None if they can."""
        declared, done = state["declared"], {each["step_index"] for each in list_accepted(state["results"])}
        derived = declared.get("derived") or DerivedContracts(output=None, steps=[])
        lists = declared["contracts"] or [], [each and each["contract"] for each in derived["steps"]]
        open_steps = [
            (f"step {index + 1}", contract)
            for contracts in lists
            for index, contract in enumerate(contracts)
            if index not in done
        ]
        output = derived["output"] and derived["output"]["contract"]
        found = ((place, self.find_problem(each)) for place, each in [*open_steps, ("the output", output)])
        return next((f"{place}: contract.{problem}" for place, problem in found if problem), None)

    def _list_unknown(self, names: Iterable[str]) -> list[str]:
        return [] if self.known is None else [name for name in names if name not in self.known]

    def describe_tools(self) -> str:
        """Return a sentence that says which tools the executor has."""
        if not self.known:
            return "the executor has no tools; give it this tool, or leave the name out"
        return f"the tools of the executor are {join_names(list(self.known))}"


def read_tool_names(executor: object) -> ToolNames:
    """Read the names of an executor's tools, if it is an ExecutionAgent or has a list of LangChain tools."""
    tools = getattr(executor, "tools", None)
    if not isinstance(tools, Sequence) or not all(isinstance(tool, BaseTool) for tool in tools):
        return ToolNames()
    # An empty list of an object of another kind may be a default that says nothing.
    if not tools and not isinstance(executor, ExecutionAgent):
        return ToolNames()
    return ToolNames(
        tuple(dict.fromkeys(tool.name for tool in tools)),
        read_tool_effects(executor).writing,
        read_arguments(tools),
    )


def check_tool_options(
    executor: object, approve_tools: Collection[str], once_tools: Collection[str], *, can_ask: bool
) -> None:
    """Check that the executor has the named tools, and that there is a person to approve them.

    Raises:
        ConfigurationError: It has not, it calls its tools by itself, or nothing can store a question.
    """
    for option, names in (("approve_tools", approve_tools), ("once_tools", once_tools)):
        if names and not isinstance(executor, ExecutionAgent):
            raise ConfigurationError(
                f"{_describe(option, names)}, but {type(executor).__name__} calls its tools by itself; "
                "give an ExecutionAgent as the executor"
            )
        tools = read_tool_names(executor)
        unknown = [] if names == "all" else sorted(set(names) - set(tools.known or ()))
        if unknown:
            problem = f"{option} names {quote_text(unknown[0])}; {tools.describe_tools()}"
            raise ConfigurationError(problem)
    if approve_tools and not can_ask:
        raise ConfigurationError(
            f"{_describe('approve_tools', approve_tools)}, but there is no checkpointer to store "
            "the question; give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
        )


def _describe(option: str, names: Collection[str]) -> str:
    return f"{option} is {names if isinstance(names, str) else sorted(names)!r}"


def _list_named(contract: Contract) -> list[NamedTools]:
    """Returns the tools that the fields of a contract name."""
    if contract is None:
        return []
    try:
        return [*list_named_tools(EvaluationContract.model_validate(contract))]
    except ValidationError:
        # A contract from a store may have any form; its evaluation refuses it.
        return []


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
