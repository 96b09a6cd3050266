"""Compares the tools that a contract or an option names with the tools that the executor has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from langchain_core.tools import BaseTool
from pydantic import ValidationError

from agents import ExecutionAgent
from agents.calls.planned_call import ToolArguments, read_arguments
from evaluation import EvaluationContract
from evaluation.inputs.named_tools import NamedTools, list_named_tools
from evaluation.metrics.trajectory.match_result import list_names
from evaluation.metrics.trajectory.rules.misspellings import is_other_spelling
from evaluation.sensitive.quoting import quote_text
from orchestrator.errors import ConfigurationError
from orchestrator.judging.tools.effects import read_tool_effects
from orchestrator.state.records import Json


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

    def find_problem(self, contract: EvaluationContract | Mapping[str, Json] | None) -> str | None:
        """Return why a contract cannot be met or is misspelt, beginning with its field; None if it is fine.

        A name is a problem if a tool of that name has to be called, or if it is another spelling of a tool.
        """
        if (problem := self._find_writing_probe(contract)) is not None:
            return problem
        for named, name in self._list_unknown(contract):
            meant = self._find_misspelt(name, named)
            is_missing = named.is_required and not self._has_any(named)
            if meant is not None or is_missing:
                return f"{named.field} names {quote_text(name)}; {self._describe_lack(name, meant)}"
        return None

    def _find_writing_probe(self, contract: EvaluationContract | Mapping[str, Json] | None) -> str | None:
        checked = _read_contract(contract) if self.writing else None
        for named in [] if checked is None else list_named_tools(checked):
            if named.only_reads and (wrong := set(named.names).intersection(self.writing)):
                shown = quote_text(wrong.pop())
                return f"{named.field} names {shown}, which writes; name a tool that only reads"
        return None

    def find_option_problem(self, option: str, names: Collection[str]) -> str | None:
        """Return why an option that names tools is not accepted; None if the executor has all of them."""
        unknown = [] if names == "all" else sorted(set(names) - set(self.known or ()))
        if not unknown:
            return None
        return f"{option} names {quote_text(unknown[0])}; {self._describe_lack(unknown[0], None)}"

    def list_warnings(self, contract: EvaluationContract | Mapping[str, Json] | None) -> list[str]:
        """Return a sentence for each name that has no effect, because the executor has no such tool."""
        return [
            f"{named.field} names {quote_text(name)}, without effect: {self._describe_lack(name, None)}"
            for named, name in self._list_unknown(contract)
        ]

    def _list_unknown(
        self, contract: EvaluationContract | Mapping[str, Json] | None
    ) -> Iterator[tuple[NamedTools, str]]:
        known = self.known
        checked = None if known is None else _read_contract(contract)
        if known is None or checked is None:
            return
        for named in list_named_tools(checked):
            yield from ((named, name) for name in named.names if name not in known)

    def _has_any(self, named: NamedTools) -> bool:
        return not set(self.known or ()).isdisjoint(named.names)

    def _find_misspelt(self, name: str, named: NamedTools) -> str | None:
        """Return the tool that a name misspells, and that the field does not name besides."""
        others = [tool for tool in self.known or () if tool not in named.names]
        return next((tool for tool in others if is_other_spelling(name, tool)), None)

    def _describe_lack(self, name: str, meant: str | None) -> str:
        known = list(self.known or ())
        if not known:
            return "the executor has no tools; give it this tool, or leave the name out"
        similar = [meant] if meant is not None else get_close_matches(name, known, 1)
        return f"the tools of the executor are {list_names(known)}; {_suggest(similar)}"


def _suggest(similar: Sequence[str]) -> str:
    return f"did you mean {quote_text(similar[0])}?" if similar else "name one of them, or none"


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
        if (problem := read_tool_names(executor).find_option_problem(option, names)) is not None:
            raise ConfigurationError(problem)
    if approve_tools and not can_ask:
        raise ConfigurationError(
            f"{_describe('approve_tools', approve_tools)}, but there is no checkpointer to store "
            "the question; give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
        )


def _describe(option: str, names: Collection[str]) -> str:
    return f"{option} is {names if isinstance(names, str) else sorted(names)!r}"


def read_planned_tools(executor: object, contract: object) -> ToolNames:
    """Read the tools that the contracts of a plan may name: any, if the caller's contract replaces theirs."""
    return read_tool_names(executor) if contract is None else ToolNames()


def _read_contract(contract: EvaluationContract | Mapping[str, Json] | None) -> EvaluationContract | None:
    if contract is None or isinstance(contract, EvaluationContract):
        return contract
    try:
        return EvaluationContract.model_validate(contract)
    except ValidationError:
        # A contract from a store may have any form; its evaluation refuses it.
        return None
