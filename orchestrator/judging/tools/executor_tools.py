"""The tools of an executor: their annotations, and the names in contracts and options compared with them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from langchain_core.tools import BaseTool
from pydantic import ValidationError

from agents import ExecutionAgent
from agents.calls.planned_call import ToolArguments, read_arguments
from evaluation import EvaluationContract
from evaluation.inputs.named_tools import NamedTools, list_named_tools
from evaluation.metrics.trajectory.idle_rules import is_other_spelling
from evaluation.results.alerts import join_names
from evaluation.sensitive.quoting import quote_text
from orchestrator.errors import ConfigurationError
from orchestrator.state.current_step import list_accepted
from orchestrator.state.graph_state import DerivedContracts, OrchestratorState
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Json, PlainContract, Question, StepRecord, ToolCallRecord

Contract: TypeAlias = EvaluationContract | Mapping[str, Json] | None
_LISTS: Final = ("writing_tools", "reading_tools")


@dataclass(frozen=True, slots=True)
class ExecutorTools:
    """The LangChain tools of an executor.

    Attributes:
        known: Their names; None if the executor may have others.
        writing: The names of the tools that write by their annotations.
        reading: The names of those that only read; a tool without annotations is in neither list.
        once: The tools of which each call has a further effect.
        tools: The tools by their names.
        readers: How each tool reads its arguments, by its name.
    """

    known: tuple[str, ...] | None = None
    writing: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    once: frozenset[str] = frozenset()
    tools: Mapping[str, BaseTool] = field(default_factory=dict)
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
            for name in () if self.known is None else {*named.names} - {*known}:
                if is_missing or any(is_other_spelling(name, tool) for tool in others):
                    return f"{named.field} names {quote_text(name)}; {self.describe_tools()}"
        return None

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

    def describe_tools(self) -> str:
        """Return a sentence that says which tools the executor has."""
        if not self.known:
            return "the executor has no tools; give it this tool, or leave the name out"
        return f"the tools of the executor are {join_names(list(self.known))}"

    def add_to(self, contract: PlainContract) -> PlainContract:
        """Add both lists to a contract that expects actions and names neither writing nor reading tools."""
        rules = contract.get("trajectory") or {}
        is_open = isinstance(rules, Mapping) and all(rules.get(name) is None for name in _LISTS)
        is_asked = contract.get("expected_trajectory") is not None
        if not isinstance(rules, Mapping) or not (is_open and is_asked and (self.writing or self.reading)):
            return contract
        # Both, so that a tool without annotations counts neither as reading nor as writing.
        lists: Mapping[str, Json] = {"writing_tools": list(self.writing), "reading_tools": list(self.reading)}
        return {**contract, "trajectory": {**rules, **lists}}

    def complete_calls(self, records: Sequence[StepRecord]) -> list[StepRecord]:
        """Returns the records of executions with ``received`` and ``writes`` in their calls."""
        return [
            {**record, "tool_calls": [self._complete_call(call) for call in record["tool_calls"]]}
            for record in records
        ]

    def _complete_call(self, call: ToolCallRecord) -> ToolCallRecord:
        reader = self.readers.get(call["name"])
        if call["name"] in self.writing:
            call = {**call, "writes": True}
        if reader is None:
            return call
        received = plain_json(reader.read_values(call["args"]))
        # As text, since Python takes True for 1.
        texts = {json.dumps(args, sort_keys=True) for args in (received, call["args"])}
        return call if len(texts) == 1 else {**call, "received": received}


def read_executor_tools(executor: object) -> ExecutorTools:
    """Reads the tools of an executor, with the annotations of MCP in their metadata.

    ``readOnlyHint: True`` says that a tool only reads; ``readOnlyHint: False`` and ``destructiveHint: True``
    say that it writes, which also decides if they contradict each other. The tools of
    ``langchain-mcp-adapters`` have them; other tools can: ``metadata={"readOnlyHint": True}``.
    """
    listed = getattr(executor, "tools", None)
    listed = listed if isinstance(listed, Sequence) else ()
    tools = {tool.name: tool for tool in listed if isinstance(tool, BaseTool)}
    hints = [(tool.name, tool.metadata or {}) for tool in listed if isinstance(tool, BaseTool)]
    # Two tools may share a name, and a record does not say which of them was called.
    writing = dict.fromkeys(name for name, metadata in hints if _is_writing(metadata))
    unclear = {name for name, metadata in hints if metadata.get("readOnlyHint") is not True}
    # An empty list of an object of another kind may be a default that says nothing.
    is_known = len(hints) == len(listed) and (hints or isinstance(executor, ExecutionAgent))
    return ExecutorTools(
        tuple(tools) if is_known else None,
        tuple(writing),
        tuple(name for name in tools if name not in writing and name not in unclear),
        frozenset(name for name, metadata in hints if _acts_each_time(metadata)),
        tools,
        read_arguments([*tools.values()]),
    )


def _acts_each_time(metadata: Mapping[str, object]) -> bool:
    # MCP: the hint means nothing for a tool that only reads.
    return metadata.get("idempotentHint") is False and metadata.get("readOnlyHint") is not True


def _is_writing(metadata: Mapping[str, object]) -> bool:
    return metadata.get("readOnlyHint") is False or metadata.get("destructiveHint") is True


def check_tool_options(
    executor: object,
    tools: ExecutorTools,
    approve_tools: Collection[str],
    once_tools: Collection[str],
    *,
    can_ask: bool,
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
