"""The tools of an executor: their annotations, and the names in contracts and options compared with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast, get_type_hints

from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import InjectedState, InjectedStore

from agents import ExecutionAgent
from agents.base import overrides_invoke
from agents.loop.acting_tools import (
    DEFAULT,
    ActingTools,
    ToolUse,
    describe_tool,
    read_acting_tools,
    tell_error,
)
from agents.loop.effects import LASTING
from agents.loop.executor_graph import AgentGraph, find_effects_middleware, find_tools
from agents.loop.langgraph_internals import find_order_problem, list_graphs
from agents.loop.read_back import find_name_problem
from agents.loop.tool_arguments import ToolArguments, read_arguments
from agents.reply_types import EffectOutcome
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.contract.contract import AuditRule
from evaluation.contract.requirements import Contract
from evaluation.findings import join_names
from evaluation.measures.action_differences import is_other_spelling
from evaluation.sensitive.scanner import quote_text
from orchestrator.errors import ConfigurationError
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Attempt, Question, ToolCallRecord

ExecutorKind: TypeAlias = Literal["agent", "graph", "object"]
_TRAJECTORY_LISTS: Final = ("forbidden_tools", "ignored_tools", "acting_tools", "final_tools", "tools")


def _list_named_tools(contract: Contract) -> Iterator[tuple[str, Sequence[str], bool]]:
    """Yields the fields of a contract that name tools, the names, and whether one has to be called."""
    for each in contract.requirements:
        match each.check:
            case ToolCalls(tool=tool, exactly=exactly, min=least):
                path = each.field if each.name == "must_call" else f"{each.field}.tool"
                yield path, [tool], bool(exactly or least)
            case AuditRule(allowed_tools=allowed, forbidden_tools=forbidden):
                yield f"{each.field}.allowed_tools", allowed or (), False
                yield f"{each.field}.forbidden_tools", forbidden or (), False
    is_partial = contract.rules.trajectory_match_mode in ("subset", "precision_recall")
    for place, action in enumerate(contract.rules.expected_trajectory or ()):
        if action.kind in {None, "tool"}:
            yield f"expected_trajectory[{place}]", sorted(action.names), not is_partial
    for name in _TRAJECTORY_LISTS:
        yield f"trajectory.{name}", [*(getattr(contract.rules.trajectory, name) or ())], False


@dataclass(frozen=True, slots=True)
class ExecutorTools:
    """The tools of an executor.

    Attributes:
        known: Their names; None if the executor may have others.
        acting: Which of them act, and how their calls are treated.
        tools: The LangChain tools by their names.
        is_foreign: Whether the executor decides about its calls by itself.
        readers: How each tool reads its arguments, by its name.
        kind: Who stores its calls: "agent" for one with ``EffectsMiddleware``, "graph" for one without, and
            "object" for an executor that calls its tools by itself.
    """

    known: tuple[str, ...] | None = None
    acting: ActingTools = field(default_factory=ActingTools)
    tools: Mapping[str, BaseTool] = field(default_factory=dict)
    is_foreign: bool = False
    readers: Mapping[str, ToolArguments] = field(default_factory=dict)
    kind: ExecutorKind = "agent"

    @property
    def writing(self) -> tuple[str, ...]:
        """The tools that act by the caller's word or by their annotations, and not only by their names."""
        names = dict.fromkeys([*self.tools, *self.acting.stated])
        uses = ((name, self.describe(name)) for name in names)
        return tuple(name for name, use in uses if use.kind == "acting" and use.is_stated)

    def describe(self, name: str) -> ToolUse:
        """Returns the use of a tool before it is called."""
        return describe_tool(self.acting, name)

    def tell_outcome(self, call: ToolCallRecord) -> EffectOutcome:
        """Returns the outcome of a recorded call, also of a tool that does not act."""
        if "outcome" in call:
            return call["outcome"]
        if call["error"] is not None:
            return tell_error(call["name"], call["error"])
        tool = self.describe(call["name"]).treatment or DEFAULT
        return tool.tell_outcome(call["name"], call["result"])

    def find_problem(self, contract: Contract) -> str | None:
        """Return why a contract cannot be met or is misspelt, beginning with its field; None if it is fine.

        A name is a problem if a tool of that name has to be called, or if it is another spelling of a tool.
        """
        known = {*(self.known or ())}
        for path, names, is_required in () if self.known is None else _list_named_tools(contract):
            is_missing = is_required and known.isdisjoint(names)
            for name in {*names} - known:
                if is_missing or any(is_other_spelling(name, tool) for tool in known.difference(names)):
                    return f"{path} names {quote_text(name)}; {self.describe_tools()}"
        return None

    def describe_tools(self) -> str:
        """Return a sentence that says which tools the executor has."""
        if not self.known:
            return "the executor has no tools; give it this tool, or leave the name out"
        return f"the tools of the executor are {join_names(list(self.known))}"

    def complete_call(self, call: ToolCallRecord) -> ToolCallRecord:
        """Returns the record of a call with ``received``, ``writes`` and ``outcome``."""
        use, reader, args = self.describe(call["name"]), self.readers.get(call["name"]), call["args"]
        fields: dict[str, object] = {name: value for name, value in call.items() if name != "outcome"}
        if use.kind == "acting" and use.is_stated:
            fields["writes"] = True
        # A graph may state its own tools, in its middleware.
        if use.kind == "acting" or "writes" in call:
            fields["outcome"] = self.tell_outcome(call)
        received = args if reader is None else plain_json(reader.read_values(args))
        # As text, since Python takes True for 1.
        if json.dumps(received, sort_keys=True) != json.dumps(args, sort_keys=True):
            fields["received"] = received
        return cast("ToolCallRecord", fields)

    def warn_of_calls(self, earlier: Sequence[Attempt], record: Attempt) -> list[str]:
        """Returns warnings of repeated tools that act by their names alone, and of failed read-backs."""
        guesses = [call for call in record["tool_calls"] if self._is_guess(call)]
        made = [call for each in earlier if guesses for call in each["tool_calls"]]
        lasting = [call for call in made if call.get("outcome") in LASTING]
        repeated = {call["name"] for call in guesses if any(self.are_equal(call, each) for each in lasting)}
        unread = [
            f"{call['name']} was not read back, since {read['name']} failed: {read['error']}"
            for call in record["tool_calls"]
            if (read := call.get("read_back")) is not None and read["error"] is not None
        ]
        warnings = [*map(self._describe_repeat, sorted(repeated)), *unread]
        return [f"step {record['step_index'] + 1}: {each}" for each in warnings]

    def _describe_repeat(self, name: str) -> str:
        """Describes a repeated call, with what prevents it in this executor."""
        middleware = f"EffectsMiddleware([{name!r}])"
        if self.kind == "object":
            option = f"an ExecutionAgent, or a graph whose agent has {middleware}, as the executor"
        elif self.kind == "graph" or name not in (self.known or (name,)):
            option = f"its agent {middleware}, as create_agent takes it,"
        else:
            option = f"acting_tools=[{name!r}]"
        return describe_repeat(name, option)

    def _is_guess(self, call: ToolCallRecord) -> bool:
        """Returns whether a call was made of a tool that only its name makes acting."""
        # A graph may state its own tools, and the answer of an earlier call may be reused.
        return self.describe(call["name"]).is_guessed and not {"writes", "gate"} & call.keys()

    def are_equal(self, call: ToolCallRecord, other: ToolCallRecord) -> bool:
        """Returns whether two calls are of one tool, which reads their arguments alike."""
        describe = self.readers.get(call["name"], ToolArguments()).describe
        known = [other[name] for name in ("args", "written") if name in other]
        return call["name"] == other["name"] and describe(call["args"]) in map(describe, known)


def describe_repeat(name: str, option: str) -> str:
    """Returns a sentence about a tool that acts by its name alone, and was called as before.

    Args:
        name: The tool.
        option: What prevents the repeated call.
    """
    return (
        f"{name} was called as before, which may have acted twice; "
        f"give {option} to prevent it, or acting_tools=[] if it does not act"
    )


def read_executor_tools(executor: object, acting_tools: object = None) -> ExecutorTools:
    """Reads the tools of an executor, with the annotations of MCP in their metadata.

    ``readOnlyHint: True`` says that a tool only reads; ``readOnlyHint: False`` and ``destructiveHint: True``
    say that it acts, which also decides if they contradict each other. The tools of
    ``langchain-mcp-adapters`` have them; other tools can: ``metadata={"readOnlyHint": True}``.

    Args:
        executor: The executor.
        acting_tools: The option of the orchestrator.

    Raises:
        ConfigurationError: ``acting_tools`` is not accepted, or does not fit the tools.
    """
    listed = getattr(executor, "tools", None)
    listed = listed if isinstance(listed, Sequence) else ()
    tools = _index_tools([tool for tool in listed if isinstance(tool, BaseTool)])
    is_foreign = not isinstance(executor, ExecutionAgent)
    # An empty list of an object of another kind may be a default that says nothing.
    is_known = all(isinstance(tool, BaseTool) for tool in listed) and (listed or not is_foreign)
    try:
        acting = read_acting_tools(acting_tools, {name: tool.metadata for name, tool in tools.items()})
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    known, readers = tuple(tools) if is_known else None, read_arguments([*tools.values()])
    read = ExecutorTools(known, acting, tools, is_foreign, readers, _name_kind(executor))
    problem = None if known is None else find_name_problem(acting, tools, read.describe_tools())
    if problem is not None:
        raise ConfigurationError(problem)
    _check_injected(executor, tools)
    return read


def _index_tools(tools: Sequence[BaseTool]) -> dict[str, BaseTool]:
    """Returns tools by their names; of several with one name, one that acts if any does."""
    ranked = {tool.name: tool for tool in sorted(tools, key=_rank_annotations)}
    return {name: ranked[name] for name in dict.fromkeys(tool.name for tool in tools)}


def _rank_annotations(tool: BaseTool) -> int:
    annotated = ActingTools(metadata={tool.name: tool.metadata}, guesses=False)
    return ("reading", "open", "acting").index(describe_tool(annotated, tool.name).kind)


def _check_injected(executor: object, tools: Mapping[str, BaseTool]) -> None:
    """Checks that a run gives the values of a tool's arguments that the model does not see."""
    graph = executor.graph if isinstance(executor, ExecutionAgent) else None
    for name, tool in tools.items():
        schema = tool.get_input_schema()
        fields = getattr(schema, "model_fields", {})  # a model of pydantic 1 has none
        for argument, hint in get_type_hints(schema, include_extras=True).items():
            is_required = argument not in fields or fields[argument].is_required()
            for mark in getattr(hint, "__metadata__", ()):
                if missing := _find_missing(mark, graph, is_required=is_required):
                    raise ConfigurationError(
                        f"argument {quote_text(argument)} of tool {quote_text(name)} takes {missing}; "
                        "let the tool hold what it needs itself"
                    )


def _find_missing(mark: object, graph: AgentGraph | None, *, is_required: bool) -> str | None:
    """Returns the value that a mark asks for if a run does not have it; a foreign graph has its own."""
    kind = mark if isinstance(mark, type) else type(mark)
    if issubclass(kind, InjectedStore):
        return "LangGraph's store, which a run does not have"
    is_given = graph is None or not is_required or issubclass(kind, InjectedToolCallId)
    if is_given or not issubclass(kind, InjectedToolArg):
        return None
    if not issubclass(kind, InjectedState):
        return f"a value that is injected ({kind.__name__}), and nothing gives one"
    field, known = getattr(mark, "field", None), [*graph.channels] if graph else []
    names = join_names(name for name in known if name.isidentifier() and not name.startswith("_"))
    return None if field is None or field in known else f"{quote_text(field)} of a state that has {names}"


def check_approvals(executor: object, tools: ExecutorTools, *, can_ask: bool) -> None:
    """Checks that calls of acting tools are written down, and that a person can approve those that need it.

    Raises:
        ConfigurationError: The executor calls its tools by itself, or nothing can store a question.
    """
    names = [name for name, tool in tools.acting.stated.items() if tool.approve]
    is_graph = isinstance(getattr(executor, "graph", None), CompiledStateGraph)
    own = not isinstance(executor, ExecutionAgent) or overrides_invoke(executor)
    option = f"acting_tools has approve=True for {quote_text(names[0])}" if names else "acting_tools is given"
    if own and (names or (tools.acting.stated and not is_graph)):
        raise ConfigurationError(
            f"{option}, but {type(executor).__name__} calls its tools by itself; "
            "give an ExecutionAgent as the executor"
        )
    _check_graph(executor, tools, is_stored=can_ask)
    if names and not can_ask:
        raise ConfigurationError(
            f"{option}, but there is no checkpointer to store the question; "
            "give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
        )


def _name_kind(executor: object) -> ExecutorKind:
    graph = getattr(executor, "graph", None)
    if isinstance(executor, ExecutionAgent) and not overrides_invoke(executor):
        return "agent"
    if not isinstance(graph, CompiledStateGraph):
        return "object"
    return "agent" if any(map(find_effects_middleware, list_graphs(graph))) else "graph"


def _check_graph(executor: object, tools: ExecutorTools, *, is_stored: bool) -> None:
    """Checks that the graph of an executor, and each graph in it, writes the calls of tools that act down.

    Without a store, nothing is resumed, and a tool that acts by its name alone may be called again.
    """
    graph = getattr(executor, "graph", None)
    if not isinstance(graph, CompiledStateGraph):
        return
    own = {each: find_effects_middleware(each) for each in list_graphs(graph)}
    for each, name in own.items():
        if name and (problem := find_order_problem(name, each.nodes)):
            raise ConfigurationError(f"executor is a graph in which {problem}")
    bare = {tool.name for each, middleware in own.items() for tool in find_tools(each) if not middleware}
    is_bare = not any(own.values())
    is_denied = not tools.acting.guesses and not tools.acting.stated
    other = [name for name in tools.tools if not tools.describe(name).only_reads]
    acting = [*tools.writing, *(other if is_stored and not is_denied else ())]
    for name in (each for each in acting if is_bare or each in bare):
        raise ConfigurationError(
            f"executor is a graph whose tool {quote_text(name)} may act, and which could call it twice after "
            "a crash or in a retry; build each agent that has it with EffectsMiddleware() first in its "
            "middleware, or give acting_tools=[] if none of the tools acts"
        )


def find_unasked(questions: Sequence[Question], tools: ExecutorTools) -> str | None:
    """Returns why a run cannot go on: it waits for the approval of a tool that would run without one."""
    # A person can state the result only of a call that may have acted, which is asked about in any case.
    if tools.is_foreign:
        return None
    asked = (each for each in questions if each["kind"] == "tool" and "correct" not in each["accepts"])
    for call in (call for question in asked for call in question.get("tool_calls", [])):
        tool, name = tools.acting.stated.get(call["name"]), call["name"]
        if tool is None or not tool.approve:
            return (
                f"it waits for the approval of tool {name!r}; give acting_tools this name with approve=True"
            )
    return None
